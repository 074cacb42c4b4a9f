"""Positions of real games, to hold readers of a policy against each other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dominozoo.bots import BOTS, kernels, seed_bots
from dominozoo.line.batch import ENDED
from dominozoo.line.score import MATCH_OVER
from dominozoo.notation import new_game
from dominozoo.rules import Rules
from dominozoo.tables import Tables, split_seed

RANDOM_SHARE: Final = 0.3  # of the moves, so that odd positions come up too


@dataclass(frozen=True)
class Positions:
    """Positions where a seat is to move.

    Attributes:
        observation: int16 (N, layout size).
        mask: int8 (N, actions).
    """

    observation: npt.NDArray[np.int16]
    mask: npt.NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.observation)


def positions(rules: Rules, count: int, seed: int = 0, tables: int = 64) -> Positions:
    """Positions of matches between `hard` bots that sometimes move at random.

    Forced moves are among them: draws and passes are part of what a reader must get right.
    """
    played = Tables(rules, tables, seed=seed)
    rng = np.random.default_rng(seed)
    bots = kernels(rules)
    streams = np.zeros((tables, 4), np.uint32)
    seed_bots(streams, *split_seed(seed), 0)
    codes = np.full((tables, rules.players), BOTS["hard"], np.int8)
    actions = np.zeros(tables, np.int64)
    everywhere = np.ones(tables, np.bool_)
    observation, mask = [], []
    for _ in range(-(-count // tables)):
        observation.append(played.observation.copy())
        mask.append(played.mask.copy())
        bots.choose(played.records, played.packed, codes, streams, actions, everywhere)
        odd = rng.random(tables) < RANDOM_SHARE
        any_legal = (played.mask * rng.random(played.mask.shape)).argmax(axis=1)
        played.step(np.where(odd, any_legal, actions))
    return Positions(np.concatenate(observation)[:count], np.concatenate(mask)[:count])


def matches(rules: Rules, seed: int) -> Iterator[tuple[Any, int, int]]:
    """Matches without end between the same players, one table and one move after another.

    Yields:
        The table, the seat to move, and the action that it takes when the next is asked for.
    """
    table: Any = new_game(rules)
    rng, bots = np.random.default_rng(seed), kernels(rules)
    stream = np.zeros((1, 4), np.uint32)
    seed_bots(stream, *split_seed(seed), 0)
    codes = np.full((1, rules.players), BOTS["hard"], np.int8)
    chosen, here = np.zeros(1, np.int64), np.ones(1, np.bool_)
    seat = table.reset(split_seed(seed), {})
    while True:
        bots.choose(table.tables, table.packed, codes, stream, chosen, here)
        if rng.random() < RANDOM_SHARE:
            chosen[0] = rng.choice(np.flatnonzero(table.observe(seat)[1]))
        yield table, seat, int(chosen[0])
        code = table.step(int(chosen[0]))
        if code < ENDED:
            seat = code
        else:
            over = code // ENDED & MATCH_OVER
            seat = table.reset(None, {}) if over else table.deal()
