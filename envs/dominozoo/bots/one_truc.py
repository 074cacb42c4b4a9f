"""One position of Domino Le Truc as the columns that ``truc_network`` tells of, in plain Python.

Why so, see ``one_line``; tests hold both readings equal.
"""

from __future__ import annotations

from itertools import compress
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from dominozoo.bots.truc_network import (
    ACTION_CLASS,
    AT,
    CLASS_OF,
    CLASS_POWER,
    FAR,
    FIXED,
    GOES,
    LATEST,
    MULTIPLIERS,
    NONE,
    ONE_CLASS,
    TILE_POWER,
)
from dominozoo.fields import TRUC_PLAYS
from dominozoo.tiles import TILE_COUNT
from dominozoo.truc.strength import HIS, MINE, TIED

# The tables of ``truc_network`` as lists, which plain Python looks up faster than arrays.
KINDS: Final[list[int]] = CLASS_OF.tolist()
POWERS: Final[list[float]] = CLASS_POWER.tolist()
TILE_POWERS: Final[list[float]] = TILE_POWER.tolist()
ALL_POWER: Final = sum(TILE_POWERS)
HOT: Final[list[list[float]]] = ONE_CLASS.tolist()
KIND_OF: Final[list[int]] = ACTION_CLASS.tolist()
ABOUT: Final[list[list[float]]] = FIXED.tolist()
WENT: Final[list[list[int]]] = GOES.tolist()
VERDICTS: Final[list[list[list[int]]]] = LATEST.tolist()
# By the class that lies: which classes win against it, and which tie.
WINNING: Final[list[list[bool]]] = (GOES[:-1] == MINE).T.tolist()
TYING: Final[list[list[bool]]] = (GOES[:-1] == TIED).T.tolist()
RESULTS: Final = np.eye(4)[:, 1:].tolist()  # mine, his, tied by the number; 0 is none of them
PHASES: Final = np.eye(6)[:, 1:].tolist()
STAKES: Final = {m: [float(m == other) for other in MULTIPLIERS] for m in MULTIPLIERS}
NO_STAKE: Final = [0.0] * len(MULTIPLIERS)


class Sight(NamedTuple):
    """What an observation says before any action is looked at."""

    hand: list[int]  # tiles held by class
    lying: int  # class of the tile that lies open in this trick, or NONE
    won: list[int]  # who won each trick, 0 = nobody yet
    summary: list[float]


def look(observation: npt.NDArray[Any]) -> Sight:
    """Read an observation: integers (139,)."""
    seen: list[int] = observation.tolist()
    hand, won, doubles = seen[AT["hand_classes"]], seen[AT["won"]], seen[AT["play_double"]]
    sums = seen[AT["play_sum"]]
    classes = [KINDS[2 * sums[k] + doubles[k]] for k in range(TRUC_PLAYS)]
    place = 2 * (len(won) - won.count(0))
    lying = classes[place] if place < TRUC_PLAYS else NONE
    seats = seen[AT["play_by"]]
    [multiplier], [target] = seen[AT["multiplier"]], seen[AT["target"]]
    to_go = [target - score for score in seen[AT["scores"]]]
    summary = [
        *hand,
        *HOT[lying],
        *[seat == MINE for seat in seats],
        *[seat == HIS for seat in seats],
        *[POWERS[kind] for kind in classes],
        *doubles,
        *seen[AT["play_called"]],
        *[winner == MINE for winner in won],
        *[winner == HIS for winner in won],
        *[winner == TIED for winner in won],
        *PHASES[seen[AT["phase"]][0]],
        seen[AT["leader"]][0] == MINE,
        *seen[AT["dealer"]],
        *seen[AT["proposed"]],
        *seen[AT["rejected"]],
        seen[AT["redeals"]][0] / 3,
        seen[AT["redeals_left"]][0] / 3,
        *STAKES.get(multiplier, NO_STAKE),
        *[min(points, FAR) / FAR for points in to_go],
        *[points <= multiplier for points in to_go],
        *[points <= 2 * multiplier for points in to_go],
        sum(compress(hand, WINNING[lying])) / 3,
        sum(compress(hand, TYING[lying])) / 3,
        _unseen(seen),
    ]
    return Sight(hand, lying, won, summary)


def _unseen(seen: list[int]) -> float:
    """Mean strength of the tiles that the observer hasn't seen."""
    left, power = TILE_COUNT, ALL_POWER
    for name in ("hand", "discards", "played_at"):
        tiles = seen[AT[name]]
        left -= TILE_COUNT - tiles.count(0)
        power -= sum(compress(TILE_POWERS, tiles))
    return power / max(left, 1)


def score_columns(sight: Sight, actions: list[int]) -> list[float]:
    """What the scores of some actions read, one after the other."""
    hand, lying, won, summary = sight
    latest, columns = VERDICTS[won[0]][won[1]], list[float]()
    for action in actions:
        kind = KIND_OF[action]
        goes = WENT[kind][lying]
        columns += ABOUT[action]
        columns += RESULTS[goes]
        columns += RESULTS[latest[goes]]
        rest = hand.copy()
        if kind != NONE:
            rest[kind] -= 1
        columns += rest
        columns += summary
    return columns


def value_columns(sight: Sight) -> list[float]:
    """What the value reads."""
    return sight.summary
