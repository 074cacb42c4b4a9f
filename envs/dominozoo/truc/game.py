"""One table of Domino Le Truc with its history, as environments and game records need it."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from dominozoo.fields import TRUC_LAYOUT, TRUC_STATE_LAYOUT, Layout
from dominozoo.records import copied, plain, seed_tables
from dominozoo.rules import IllegalActionError, Rules, pack_truc
from dominozoo.truc import batch
from dominozoo.truc.batch import ENDED, ILLEGAL
from dominozoo.truc.illegal import why_illegal
from dominozoo.truc.play import ACTIONS
from dominozoo.truc.position import (
    action_of,
    events_of,
    last_hand_of,
    last_hand_shown,
    position_of,
    seen_by,
    stock_of,
    view_of,
)
from dominozoo.truc.resume import go_on
from dominozoo.truc.setup import STOCK, set_up
from dominozoo.truc.table import OVER, TABLE

Json = dict[str, Any]

OWN: int = TRUC_LAYOUT.offset("played_at")  # what stands before is one seat's own


class TrucGame:
    """One table: its record, and what has been played since the reset.

    Everything that is handed out is built anew, so nothing outside can change the table.

    Attributes:
        rules: the game.
        layout: of the observation.
        state_layout: of the state.
        num_actions: size of the action space.
        tables: the record, shape (1,), dtype ``TABLE``.
        rewards: by seat, of the hand that ended in the last :meth:`step`.
        history: the final record of each hand finished since the reset.
        origin: the record at the reset.
    """

    layout: Layout = TRUC_LAYOUT
    state_layout: Layout = TRUC_STATE_LAYOUT
    num_actions: int = ACTIONS

    def __init__(self, rules: Rules, max_hands: int = 0, by_match: int = 0) -> None:
        """Set up an empty table; ``max_hands`` and ``by_match`` as in ``score.finish``."""
        self.rules = rules
        self.max_hands, self.by_match = max_hands, by_match
        self.packed = pack_truc(rules)
        self.tables: npt.NDArray[Any] = np.zeros(1, TABLE)
        self.history: list[npt.NDArray[Any]] = []
        self.rewards: list[float] = [0.0, 0.0]
        self._reward = np.zeros(2, np.float64)
        self._earlier: Json | None = None
        self.origin = self.tables

    def reset(self, seed: tuple[int, int] | None, setup: Mapping[str, Any]) -> int:
        """Start a match or go on from a position; returns the seat to move.

        Args:
            seed: low and high 32 bits; None goes on with the stream.
            setup: the known keys of ``reset(options=...)``.

        Raises:
            ValueError: if the set-up can't be; the table is as before then.
        """
        tables = copied(self.tables)
        if seed is not None:
            seed_tables(tables, *seed, 0)
        earlier = self._set_up(tables, setup)
        self.tables, self._earlier = tables, earlier
        self.history = []
        self.origin = copied(tables)
        return int(tables["turn"][0])

    def _set_up(self, tables: npt.NDArray[Any], setup: Mapping[str, Any]) -> Json | None:
        position = setup.get("position")
        if position is None:
            set_up(tables, self.packed, self.rules, setup)
            return None
        others = [key for key in setup if key != "position" and setup[key] is not None]
        if others:
            raise ValueError(f"position: says all; leave {', '.join(others)} out")
        return go_on(tables, self.packed, self.rules, position)

    def step(self, action: int) -> int:
        """Make a move; returns the seat to move next, or ENDED * status when the hand ended.

        Raises:
            IllegalActionError: if the action is illegal; the text says why.
        """
        code: int = batch.step_one(
            self.tables, self.packed, action, self.max_hands, self.by_match, self._reward
        )
        if code >= ENDED:
            self.history.append(copied(self.tables))
            self.rewards = self._reward.tolist()
            self._reward[:] = 0
        elif code == ILLEGAL:
            reason = why_illegal(self.tables[0], self.rules, action)
            raise IllegalActionError(f"action {action} is illegal: {reason}")
        return code

    def deal(self) -> int:
        """Deal the next hand; returns the seat to move."""
        batch.next_hand_one(self.tables, self.packed)
        return int(self.tables["turn"][0])

    def observe(self, seat: int) -> tuple[npt.NDArray[np.int16], npt.NDArray[np.int8]]:
        """New arrays: a seat's observation, and its mask, all zeros if it isn't to move."""
        row = np.empty(TRUC_LAYOUT.size, np.int16)
        mask = np.empty(ACTIONS, np.int8)
        batch.look_one(self.tables, self.packed, seat, row, mask)
        return row, mask

    def state(self) -> npt.NDArray[np.int16]:
        """The whole table as a vector, laid out as ``state_layout`` says."""
        record = self.tables[0]
        seats = np.zeros((2, TRUC_LAYOUT.size), np.int16)
        for seat in range(2):
            batch.observe_one(self.tables, self.packed, seat, seats[seat])
        parts = [TRUC_LAYOUT.split(row) for row in seats]
        for name in (
            "played_at",
            "play_sum",
            "play_double",
        ):  # one of the two sees a tile face down
            np.maximum(parts[0][name], parts[1][name], out=parts[0][name])
        own = [row[name] for name in ("hand", "discards") for row in parts]
        drawing = np.zeros(STOCK, np.int16)
        stock = stock_of(record)
        drawing[: len(stock)] = np.array(stock, np.int16) + 1
        return np.concatenate([*own, seats[0][OWN:], drawing])

    def last_hand(self) -> Json | None:
        """The last finished hand with every tile, or None in the first hand."""
        if not self.history:
            return copy.deepcopy(self._earlier)
        return last_hand_of(plain(self.history[-1]), plain(self.packed))

    def last_hands(self) -> list[Json]:
        """The last finished hand as each seat knows it."""
        last = self.last_hand()
        return [] if last is None else [last_hand_shown(last, seat) for seat in range(2)]

    def position(self) -> Json:
        """The whole table as JSON types."""
        return position_of(self.tables, self.packed, self.rules, self.last_hand())

    def view(self, seat: int) -> Json:
        """What a seat may know, as JSON types."""
        last = self.last_hand()
        shown = None if last is None else last_hand_shown(last, seat)
        return view_of(seen_by(self.tables, seat), self.packed, self.rules, shown, seat)

    def start(self) -> Json:
        """The position at the reset."""
        return position_of(self.origin, self.packed, self.rules, copy.deepcopy(self._earlier))

    def actions(self) -> list[int]:
        """Every action since the reset."""
        hands = list(self.history)
        if self.tables[0]["phase"] != OVER:
            hands.append(self.tables)
        made, before = self._actions_of(hands), self._actions_of([self.origin])
        return made[len(before) :]

    def _actions_of(self, hands: list[npt.NDArray[Any]]) -> list[int]:
        events = [each for tables in hands for each in events_of(tables[0], self.packed[0])]
        return [action for action in map(action_of, events) if action is not None]

    def action_of(self, event: Mapping[str, Any]) -> int | None:
        """The action of an event, None if it was no decision; ValueError names a wrong field."""
        return action_of(event)
