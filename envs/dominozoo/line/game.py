"""One table of a line game with its history, as the environments and game records need it."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dominozoo.fields import LINE_LAYOUT, LINE_STATE_LAYOUT, Layout
from dominozoo.line import batch
from dominozoo.line.batch import ENDED, ILLEGAL, LOG_DRAW, LOG_PLAY
from dominozoo.line.illegal import why_illegal
from dominozoo.line.position import (
    action_of,
    boneyard_of,
    last_hand_of,
    last_hand_shown,
    new_log,
    position_of,
    seen_by,
    view_of,
)
from dominozoo.line.resume import go_on
from dominozoo.line.setup import set_up
from dominozoo.line.table import OVER, TABLE
from dominozoo.records import copied, plain, seed_tables
from dominozoo.rules import IllegalActionError, Rules, pack_line
from dominozoo.tiles import TILE_COUNT

Json = dict[str, Any]

ROW_SIZE: Final = LINE_LAYOUT.size


class LineGame:
    """One table: its record, the log of its hand, and what has been played since the reset.

    Everything that is handed out is built anew, so nothing outside can change the table.

    Attributes:
        rules: the game.
        layout: of the observation.
        state_layout: of the state.
        num_actions: size of the action space.
        tables: the record, shape (1,), dtype ``TABLE``.
        rewards: by seat, of the hand that ended in the last :meth:`step`.
        history: a (record, log) for each hand finished since the reset.
        origin: record and log at the reset.
    """

    layout: Layout = LINE_LAYOUT
    state_layout: Layout = LINE_STATE_LAYOUT

    def __init__(self, rules: Rules, max_hands: int = 0, by_match: int = 0) -> None:
        """Set up an empty table; ``max_hands`` and ``by_match`` as in ``score.finish``."""
        self.rules = rules
        self.max_hands, self.by_match = max_hands, by_match
        self.packed = pack_line(rules)
        self.num_actions = int(self.packed[0]["ends"]) * TILE_COUNT + 2
        self.tables: npt.NDArray[Any] = np.zeros(1, TABLE)
        self.log = new_log()
        self.history: list[tuple[npt.NDArray[Any], npt.NDArray[np.int8]]] = []
        self.rewards: list[float] = [0.0] * rules.players
        self._reward = np.zeros(rules.players, np.float64)
        self._earlier: Json | None = None
        self.origin = self.tables, self.log

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
        log, earlier = self._set_up(tables, setup)
        self.tables, self.log, self._earlier = tables, log, earlier
        self.history = []
        self.origin = copied(tables), log.copy()
        return int(tables["turn"][0])

    def _set_up(
        self, tables: npt.NDArray[Any], setup: Mapping[str, Any]
    ) -> tuple[npt.NDArray[np.int8], Json | None]:
        position = setup.get("position")
        if position is None:
            set_up(tables, self.packed, self.rules, setup)
            return new_log(), None
        others = [key for key in setup if key != "position" and setup[key] is not None]
        if others:
            raise ValueError(f"position: says all; leave {', '.join(others)} out")
        return go_on(tables, self.packed, self.rules, position)

    def step(self, action: int) -> int:
        """Make a move; returns the seat to move next, or ENDED * status when the hand ended.

        Raises:
            IllegalActionError: if the action is illegal; the text says why.
        """
        code = batch.step_one(
            self.tables,
            self.packed,
            action,
            self.max_hands,
            self.by_match,
            self.log,
            self._reward,
        )
        if code >= ENDED:
            self._keep_hand()
        elif code == ILLEGAL:
            reason = why_illegal(self.tables[0], self.rules, action)
            raise IllegalActionError(f"action {action} is illegal: {reason}")
        result: int = code
        return result

    def _keep_hand(self) -> None:
        plies = int(self.tables["ply"][0])
        self.history.append((copied(self.tables), self.log[:plies].copy()))
        self.rewards = self._reward.tolist()
        self._reward[:] = 0

    def deal(self) -> int:
        """Deal the next hand; returns the seat to move."""
        batch.next_hand_one(self.tables, self.packed)
        return int(self.tables["turn"][0])

    def observe(self, seat: int) -> tuple[npt.NDArray[np.int16], npt.NDArray[np.int8]]:
        """New arrays: a seat's observation, and its mask, all zeros if it isn't to move."""
        row = np.empty(ROW_SIZE, np.int16)
        mask = np.empty(self.num_actions, np.int8)
        batch.look_one(self.tables, self.packed, seat, row, mask)
        return row, mask

    def state(self) -> npt.NDArray[np.int16]:
        """The whole table as a vector, laid out as ``state_layout`` says."""
        record, seats = self.tables[0], np.zeros(LINE_LAYOUT.size, np.int16)
        batch.observe_one(self.tables, self.packed, 0, seats)
        hands = record["hands"][:, None] >> np.arange(TILE_COUNT, dtype=np.uint32) & 1
        drawing = np.zeros(14, np.int16)
        tiles = boneyard_of(record, self.packed)
        drawing[: len(tiles)] = np.array(tiles, np.int16) + 1
        return np.concatenate([hands.ravel().astype(np.int16), seats[TILE_COUNT:], drawing])

    def last_hand(self) -> Json | None:
        """The last finished hand with every tile, or None in the first hand."""
        if not self.history:
            return copy.deepcopy(self._earlier)
        tables, log = self.history[-1]
        return last_hand_of(plain(tables), self.packed, self.rules, log)

    def last_hands(self) -> list[Json]:
        """The last finished hand as each seat knows it; seats that know the same share a dict."""
        last = self.last_hand()
        if last is None:
            return []
        seats = range(self.rules.players)
        if not any(event["kind"] == "draw" for event in last["events"]):
            return [last for _ in seats]
        return [last_hand_shown(last, seat) for seat in seats]

    def position(self) -> Json:
        """The whole table as JSON types."""
        return position_of(self.tables, self.packed, self.rules, self.log, self.last_hand())

    def start(self) -> Json:
        """The position at the reset."""
        tables, log = self.origin
        return position_of(tables, self.packed, self.rules, log, copy.deepcopy(self._earlier))

    def actions(self) -> list[int]:
        """Every action since the reset."""
        plies = int(self.tables[0]["ply"])
        logs = [log for _, log in self.history]
        if self.tables[0]["phase"] != OVER:
            logs.append(self.log[:plies])
        rows = [row for log in logs for row in log.tolist()][int(self.origin[0][0]["ply"]) :]
        draw = self.num_actions - 2
        return [
            end * TILE_COUNT + tile if kind == LOG_PLAY else draw + kind - LOG_DRAW
            for kind, _, tile, end, *_ in rows
        ]

    def view(self, seat: int) -> Json:
        """What a seat may know, as JSON types."""
        last = self.last_hand()
        shown = None if last is None else last_hand_shown(last, seat)
        seen, log = seen_by(self.tables, self.log, seat)
        return view_of(seen, self.packed, self.rules, log, shown, seat)

    def action_of(self, event: Mapping[str, Any]) -> int | None:
        """The action id of an event; ValueError naming the field otherwise."""
        return action_of(event, int(self.packed[0]["ends"]))
