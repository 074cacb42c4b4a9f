"""Asking players for their moves, in time and checked; a seeded bot stands in for who fails.

A player from outside may crash, answer what is illegal, or come too late. Such decisions are played
by the ``random`` bot from the bots' own stream, so that a tournament goes on, and are counted.
"""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dominozoo.bots import BOTS, kernels, uniforms
from dominozoo.rules import Rules
from dominozoo.tables import FAMILIES
from dominozoo_training.evaluation.entrants import Entrant, EntrantError, failure
from dominozoo_training.evaluation.setting import ArenaError

Array = npt.NDArray[Any]

ROWS: Final = 4096  # positions asked of a player at a time
PATIENCE: Final = 10.0  # seconds that a batch may take where decisions are timed
WARM_UP: Final = 60.0  # seconds for a player's first answer, which isn't counted
GIVE_UP: Final = 3  # interrupted batches in a row after which a player isn't asked for the rest
FINE: Final = -1
KINDS: Final = ("illegal", "crashed", "late")  # in the order of their numbers
ILLEGAL, CRASHED, LATE = range(3)


class LateError(BaseException):
    """The time is up; no ``except Exception`` of a player's may swallow it."""


@dataclass(frozen=True, slots=True)
class Conduct:
    """How players are treated.

    Attributes:
        strict: a player's failure ends everything, with an error.
        move_time: seconds a decision may take, None: any time.
        style: count how they play.
    """

    strict: bool = False
    move_time: float | None = None
    style: bool = False


@dataclass(slots=True)
class Tally:
    """What was counted of the players of a line-up, by slot.

    Attributes:
        decisions: int64 (k,), choices that a player was asked for.
        seconds: float64 (k,), what it took for them.
        fallbacks: int64 (k, 3), decisions played by the stand-in, in the order of ``KINDS``.
    """

    decisions: npt.NDArray[np.int64]
    seconds: npt.NDArray[np.float64]
    fallbacks: npt.NDArray[np.int64]

    @classmethod
    def of(cls, players: int) -> Tally:
        """Nothing yet."""
        return cls(np.zeros(players, np.int64), np.zeros(players), np.zeros((players, 3), np.int64))


@dataclass(slots=True)
class Desk:
    """Where the players of one line-up are asked.

    Attributes:
        rules: the game.
        packed: its rules for the kernels.
        players: by slot.
        conduct: how they are treated.
        warmed: names of players who have answered before; shared between desks.
    """

    rules: Rules
    packed: Array
    players: Sequence[Entrant]
    conduct: Conduct
    warmed: set[str] = field(default_factory=set)
    tally: Tally = field(init=False)
    hung: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self.tally = Tally.of(len(self.players))
        self.hung = [0] * len(self.players)

    @property
    def batch(self) -> int:
        """How many positions a player is asked for at a time."""
        limit = self.conduct.move_time
        return ROWS if limit is None else int(min(ROWS, max(1, PATIENCE // limit)))

    def moves(self, tables: Array, rng: Array, rows: Array, slots: Array) -> Array:
        """The moves at some tables.

        Args:
            tables: all tables, (B,).
            rng: the bots' generators, uint32 (B, 4).
            rows: int64 (k,), the tables that wait for a move.
            slots: int (k,), the line-up's player who is to move there.

        Returns:
            Legal actions, int64 (k,).

        Raises:
            ArenaError, EntrantError: a player failed and the conduct is strict.
        """
        actions = np.zeros(len(rows), np.int64)
        for slot in np.unique(slots).tolist():
            mine = np.flatnonzero(slots == slot)
            for start in range(0, len(mine), self.batch):
                part = mine[start : start + self.batch]
                actions[part] = self._batch(slot, tables, rng, rows[part])
        return actions

    def _batch(self, slot: int, tables: Array, rng: Array, rows: Array) -> Array:
        """One player's moves, the stand-in's where it failed."""
        family, k = FAMILIES[self.rules.variant.family], len(rows)
        observation = np.zeros((k, family.layout.size), np.int16)
        mask = np.zeros((k, family.num_actions(self.rules)), np.int8)
        family.batch.observe_tables(
            tables[rows], self.packed, observation, mask, np.zeros(k, np.int8)
        )
        ask = self._question(slot, tables, rng, rows, observation, mask)
        self._warm_up(slot, tables, rng, rows, observation, mask)
        if self.hung[slot] >= GIVE_UP:
            moves, kinds = np.zeros(k, np.int64), np.full(k, LATE)
        else:
            start = time.perf_counter()
            moves, kinds = self._answers(slot, ask, mask, np.arange(k))
            self.tally.seconds[slot] += time.perf_counter() - start
        self.tally.decisions[slot] += k
        self.tally.fallbacks[slot] += np.bincount(kinds[kinds != FINE], minlength=len(KINDS))
        failed = kinds != FINE
        if failed.any():
            moves[failed] = self._stand_in(tables, rng, rows[failed])
        return moves

    def _question(
        self, slot: int, tables: Array, rng: Array, rows: Array, observation: Array, mask: Array
    ) -> Callable[[Array], Any]:
        """A function that asks for the moves of some of the rows."""
        player = self.players[slot]
        if player.choose is not None:
            choose = player.choose
            return lambda some: choose(self.rules, tables, self.packed, rng, rows[some])
        if player.act is None:
            raise ArenaError(f"{player.name} has neither a bot's code nor act nor choose")
        act, u = player.act, np.zeros(len(rows), np.float64)
        uniforms(rng, rows, u)
        # Indexing copies: what a player writes into its arrays is its own affair.
        return lambda some: act(observation[some], mask[some], u[some])

    def _warm_up(
        self, slot: int, tables: Array, rng: Array, rows: Array, observation: Array, mask: Array
    ) -> None:
        """Ask a player once for nothing, so that no decision's time holds what it compiles."""
        name = self.players[slot].name
        if name in self.warmed:
            return
        self.warmed.add(name)
        limit = None if self.conduct.move_time is None else WARM_UP
        ask = self._question(slot, tables[rows], rng[rows], np.arange(len(rows)), observation, mask)
        with contextlib.suppress(Exception, SystemExit, LateError):
            within(limit, lambda: ask(np.arange(1)))

    def _answers(
        self, slot: int, ask: Callable[[Array], Any], mask: Array, some: Array
    ) -> tuple[Array, Array]:
        """A player's moves for some of the rows, and by row what was wrong; both int64."""
        k, limit = len(some), self.conduct.move_time
        start = time.perf_counter()
        try:
            found = within(None if limit is None else limit * k, lambda: np.asarray(ask(some)))
        except LateError:
            self.hung[slot] += 1
            return self._failed(slot, k, LATE, self._too_late(k, time.perf_counter() - start))
        except (Exception, SystemExit) as error:
            if self.conduct.strict and isinstance(error, EntrantError | ArenaError):
                raise
            if k == 1 or self.conduct.strict:
                told = f"failed: {failure(error)}"
                return self._failed(slot, k, CRASHED, told, error)
            halves = [self._answers(slot, ask, mask, half) for half in np.array_split(some, 2)]
            return np.concatenate([h[0] for h in halves]), np.concatenate([h[1] for h in halves])
        taken = time.perf_counter() - start
        if limit is not None and taken > limit * k:
            return self._failed(slot, k, LATE, self._too_late(k, taken))
        self.hung[slot] = 0
        return self._checked(slot, found, mask[some])

    def _too_late(self, count: int, seconds: float) -> str:
        return (
            f"took {seconds:.3g} s for {count} decisions; --move-time is {self.conduct.move_time}"
        )

    def _failed(
        self, slot: int, count: int, kind: int, told: str, error: BaseException | None = None
    ) -> tuple[Array, Array]:
        """No usable move in ``count`` decisions."""
        if self.conduct.strict:
            raise ArenaError(f"players: {self.players[slot].name} {told}") from error
        return np.zeros(count, np.int64), np.full(count, kind, np.int64)

    def _checked(self, slot: int, found: Array, mask: Array) -> tuple[Array, Array]:
        """An answer, and by row whether it is illegal."""
        name, k = self.players[slot].name, len(mask)
        if found.shape != (k,) or found.dtype.kind not in "iu":
            if self.conduct.strict:
                raise ArenaError(
                    f"{name}: moves must be integers of shape {(k,)}, "
                    f"not {found.dtype} of shape {found.shape}"
                )
            return np.zeros(k, np.int64), np.full(k, ILLEGAL, np.int64)
        inside = (found >= 0) & (found < mask.shape[1])
        moves = np.where(inside, found, 0).astype(np.int64)
        legal = inside & (mask[np.arange(k), moves] != 0)
        if self.conduct.strict and not legal.all():
            row = int(np.argmin(legal))
            raise ArenaError(
                f"{name}: move {int(found[row])} is illegal; legal: "
                f"{np.flatnonzero(mask[row]).tolist()}"
            )
        return moves, np.where(legal, FINE, ILLEGAL)

    def _stand_in(self, tables: Array, rng: Array, rows: Array) -> Array:
        """Moves of the ``random`` bot, drawn from the tables' own streams of the bots."""
        k = len(rows)
        codes = np.full((k, self.rules.players), BOTS["random"], np.int8)
        actions, streams = np.zeros(k, np.int64), rng[rows]
        kernels(self.rules).choose(
            tables[rows], self.packed, codes, streams, actions, np.ones(k, np.bool_)
        )
        rng[rows] = streams
        return actions


def within(seconds: float | None, ask: Callable[[], Any]) -> Any:
    """Call a function, and interrupt it after some seconds where that is possible.

    It is in a process's main thread on systems with ``setitimer``, between two steps of Python: a
    call that hangs inside compiled code is only found to be late once it returns.

    Raises:
        LateError: it was interrupted.
    """
    main = threading.current_thread() is threading.main_thread()
    if seconds is None or not main or not hasattr(signal, "setitimer"):
        return ask()
    before = signal.signal(signal.SIGALRM, _ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            return ask()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    finally:
        signal.signal(signal.SIGALRM, before)


def _ring(number: int, frame: FrameType | None) -> None:
    raise LateError
