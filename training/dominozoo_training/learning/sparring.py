"""Tables at which one side learns and a frozen player holds all others.

They look like :class:`dominozoo.tables.Tables`, so that rollouts and PPO take them as they are: a
step makes the learner's move, plays the frozen seats, and stops at the learner's next choice. What
the others do is part of the game that is learned.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dominozoo.bots import OUTSIDE, kernels, seed_bots
from dominozoo.tables import Tables, split_seed
from dominozoo_training.evaluation.asking import Conduct, Desk
from dominozoo_training.evaluation.entrants import Entrant
from dominozoo_training.evaluation.setting import Setting, posers

LEARNER: Final = -1  # who holds a seat; the frozen player is the desk's slot 0


class SparringTables(Tables):
    """B tables of single hands from scores 0 and stake 1; the learner holds side i % sides at table i.

    ``turn`` is always a seat of the learner that has a choice. ``reward`` is what the hand brought in
    which the learner moved: a hand that ends before the learner has had a choice counts for nothing.

    Args:
        setting: the game, the seed of deals and bots, how hands open.
        num_tables: B.
        frozen: the player of all other sides.

    Raises:
        ArenaError, EntrantError: in a step, too, if the frozen player fails.
    """

    def __init__(self, setting: Setting, num_tables: int, frozen: Entrant) -> None:
        super().__init__(setting.rules, num_tables, seed=setting.seed, checked=False)
        rules = setting.rules
        sides = np.arange(num_tables)[:, None] % rules.sides
        mine = np.arange(rules.players) % rules.sides == sides
        self.started = np.zeros(num_tables, np.int64)
        self._posers = posers(setting, 0, 2 * rules.players)  # by deal; then they come again
        self.seats: npt.NDArray[np.bool_] = mine
        self._codes = np.where(mine, OUTSIDE, frozen.code).astype(np.int8)
        self._rng = np.zeros((num_tables, 4), np.uint32)
        seed_bots(self._rng, *split_seed(setting.seed), 0)
        self._desk = Desk(rules, self.packed, [frozen], Conduct(strict=True))
        self._start(np.ones(num_tables, np.bool_))
        self._play(np.full(num_tables, -1, np.int64))
        self.refresh()

    def step(self, actions: npt.NDArray[Any], **into: Any) -> None:
        """Make the learner's moves and play to its next choices; no other arrays are taken."""
        if into:
            raise TypeError(
                f"unexpected argument {next(iter(into))!r}: sparring tables keep theirs"
            )
        self._play(np.array(actions, np.int64))
        self.refresh()

    def _play(self, actions: npt.NDArray[np.int64]) -> None:
        """Play on until the learner has a choice everywhere; ``actions`` is used up."""
        advance, b = kernels(self.rules).advance, len(self)
        ended = np.zeros(b, np.int32)
        self.reward[:] = 0
        while True:
            gained = np.zeros_like(self.reward)
            earlier = ended > 0
            advance(self.records, self.packed, self._codes, self._rng, actions, 1, gained, ended)
            self.reward += np.where(earlier[:, None], 0, gained)
            turn = self.records["turn"]
            over = turn < 0
            waiting = np.flatnonzero(~over & ~self.seats[np.arange(b), turn])
            if not len(waiting) and not over.any():
                break
            actions[:] = -1
            if len(waiting):
                slots = np.zeros(len(waiting), np.int64)
                actions[waiting] = self._desk.moves(self.records, self._rng, waiting, slots)
            self._start(over)
        self.hands_ended[:] = ended
        self.terminated[:] = ended > 0

    def _start(self, where: npt.NDArray[np.bool_]) -> None:
        """Deal new hands; who poses goes round, as in the arena, at each table by itself."""
        numbers = np.arange(len(self)) + self.started
        seats = self._posers[numbers % len(self._posers)]
        self._batch.start_tables(self.records, self.packed, where, seats)
        self.started += where
