"""The events of a view made again on its table, compiled: all in one call."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from dominozoo.compiler import njit
from dominozoo.line.play import apply, is_legal
from dominozoo.tiles import TILE_COUNT

DONE: Final = -1
NOT_TO_MOVE, LAID, HELD, NOT_LEGAL, ENDS_HAND = range(5)
REASONS: Final = 8  # a failure is REASONS * event + reason


@njit(cache=True, nogil=True)
def replay(
    tables: Any, packed: Any, actions: Any, seats: Any, me: Any, mine: Any, kept: Any, after: Any
) -> Any:
    """Make the moves of a hand from its start, each checked as far as one seat can tell.

    Of the others nothing is known but what they do: to lay a tile they had it, and one more; to draw
    or pass they had none that fits.

    Args:
        tables: the table before the first event, shape (1,); changed in place.
        packed: the packed rules, shape (1,).
        actions: int64 (k,), action ids in range.
        seats: int64 (k,), who made them.
        me: the seat.
        mine: int64 (1,), its hand as it was dealt, a mask; then as it is after the events.
        kept: its hand at the end, a mask: nobody else can lay these.
        after: uint8 (k, 4), the marks of the ends after each event; written.

    Returns:
        DONE, or REASONS * index + reason of the first event that can't be.
    """
    t, rules = tables[0], packed[0]
    for k in range(actions.shape[0]):
        seat, action = seats[k], actions[k]
        turn = np.int64(t.turn) if t.ply > 0 else np.int64(t.poser)
        t.turn = seat if turn < 0 else turn
        if t.turn != seat:
            return REASONS * k + NOT_TO_MOVE
        held = np.int64(0)
        if action < np.int64(rules.ends) * TILE_COUNT:
            tile = action % TILE_COUNT
            held = np.int64(1) << tile | np.int64(2 if tile == 0 else 1)
            if np.int64(t.laid) >> tile & 1:
                return REASONS * k + LAID
            if seat != me and kept >> tile & 1:
                return REASONS * k + HELD
        t.hands[seat] = mine[0] if seat == me else held
        if not is_legal(t, rules, action):
            return REASONS * k + NOT_LEGAL
        apply(t, rules, action)
        if seat == me:
            mine[0] = t.hands[seat]
        if t.sizes[seat] == 0 or t.passes >= rules.players:
            return REASONS * k + ENDS_HAND
        for end in range(4):
            after[k, end] = t.ends[end]
    return np.int64(DONE)
