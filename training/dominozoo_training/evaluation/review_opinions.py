"""What players think of decisions: chances, what they expect of the hand, the move they would play.

A policy's value speaks of what it was trained for. Here it is told on the scale on which reviews
count where that can be: points, or a share; elsewhere its unit is named.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dominozoo.bots import seed_bots
from dominozoo.line.score import PENALTIES, WINS
from dominozoo.records import copied
from dominozoo.rules import TRUC, Rules, pack_line
from dominozoo.tables import FAMILIES, split_seed
from dominozoo_training.evaluation.asking import Conduct, Desk
from dominozoo_training.evaluation.review_games import Played, moves_at

Array = npt.NDArray[Any]

ROWS: Final = 4096  # positions of which a policy is asked at a time
UNITS: Final = {"win": "share of the hand", "match": "share of the match"}


def unit_of(rules: Rules, objective: str) -> str:
    """What values are counted in."""
    if objective == "win":
        return UNITS["win"]
    return "penalty points" if rules.value("scoring", "") == "penalties" else "points"


def scale_of(rules: Rules, objective: str) -> float:
    """By what rewards are multiplied to make points."""
    wins = rules.variant.family != TRUC and pack_line(rules)[0]["scoring"] == WINS
    return 1.0 if objective == "win" or wins else float(rules.target)


def goal_of(policy: Any) -> str:
    """What a checkpoint or a bundle was trained for: points, win or match."""
    meta = getattr(policy, "meta", None)
    if meta is None:
        manifest = getattr(getattr(policy, "bundle", None), "manifest", {})
        meta = manifest.get("source") or {}
    return str(meta.get("goal") or "points")


def expected(rules: Rules, goal: str, value: float) -> tuple[float, str]:
    """A policy's value in the unit of reviews, and that unit.

    A goal of 1 to the winner, shared out negatively among the others, becomes a share of 0..1.

    Args:
        rules: the game.
        goal: "points", "win" or "match".
        value: as the policy gives it.
    """
    if goal == "points":
        return value * scale_of(rules, goal), unit_of(rules, goal)
    if rules.variant.family != TRUC and pack_line(rules)[0]["scoring"] == PENALTIES:
        what = "hand" if goal == "win" else "match"
        return value, f"1 to the winner of the {what}, shared out negatively among the others"
    sides = rules.sides
    return (value * (sides - 1) + 1) / sides, UNITS[goal]


def opinions(
    played: Played, counts: Array, ids: Array
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """What the policies give the moves, and the hand: NaN where there is no opinion."""
    chances, worth = np.full(ids.shape, np.nan), np.full(len(ids), np.nan)
    family = FAMILIES[played.rules.variant.family]
    for number, entrant in enumerate(played.entrants or ()):
        if entrant.policy is None:
            continue
        mine = np.flatnonzero(played.player == number)
        for first in range(0, len(mine), ROWS):
            rows = mine[first : first + ROWS]
            observation = np.zeros((len(rows), family.layout.size), np.int16)
            mask = np.zeros((len(rows), family.num_actions(played.rules)), np.int8)
            turn = np.zeros(len(rows), np.int8)
            family.batch.observe_tables(played.tables[rows], played.packed, observation, mask, turn)
            found = np.asarray(entrant.policy.probabilities(observation, mask), np.float64)
            chances[rows] = np.take_along_axis(found, ids[rows], axis=1)
            if hasattr(entrant.policy, "value"):
                worth[rows] = entrant.policy.value(observation)
    chances[np.arange(ids.shape[1]) >= counts[:, None]] = np.nan
    return chances, worth


def expectation(played: Played, k: int, worth: float) -> tuple[float | None, str | None]:
    """What a decision's policy expects, and in what unit; (None, None) if it has no opinion."""
    if math.isnan(worth) or played.entrants is None:
        return None, None
    policy = played.entrants[int(played.player[k])].policy
    return expected(played.rules, goal_of(policy), worth)


def would_play(played: Played, seed: int) -> npt.NDArray[np.int64] | None:
    """The moves that those who were asked about a record would play, (k,); None if nobody was.

    Raises:
        ArenaError, EntrantError: a player failed.
    """
    if not played.read or played.entrants is None:
        return None
    rng = np.zeros((len(played.action), 4), np.uint32)
    seed_bots(rng, *split_seed(seed), 0)
    desk = Desk(played.rules, played.packed, played.entrants, Conduct(strict=True))
    every = np.arange(len(played.action))
    seats = np.broadcast_to(np.arange(played.rules.players), (len(every), played.rules.players))
    moves: npt.NDArray[np.int64] = moves_at(
        desk, copied(played.tables), np.ascontiguousarray(seats), rng, every, played.player
    )
    return moves
