"""Compiled entry points of the learning seat's environments: many tables in one call.

All take ``tables`` (B,) of the family's dtype and ``packed`` (1,), the rules. ``seats``, int8 (B,),
is the learning seat of each table; ``codes``, int8 (B, players), the bot in each seat, OUTSIDE for
the learner and for whoever isn't compiled; ``rng``, uint32 (B, 4), the bots' generators.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from dominozoo.bits import row_of
from dominozoo.bots.batch import seed_bots
from dominozoo.bots.codes import OUTSIDE
from dominozoo.bots.heuristic import decide as decide_line
from dominozoo.bots.heuristic import roll
from dominozoo.bots.truc import decide as decide_truc
from dominozoo.compiler import njit
from dominozoo.line import play as line_play
from dominozoo.line import score as line_score
from dominozoo.line import table as line_table
from dominozoo.line import view as line_view
from dominozoo.rules import LINE, TRUC
from dominozoo.truc import play as truc_play
from dominozoo.truc import score as truc_score
from dominozoo.truc import table as truc_table
from dominozoo.truc import view as truc_view

LINE_OVER: Final = line_table.OVER
TRUC_OVER: Final = truc_table.OVER
HAND_ENDED: Final = line_score.HAND_ENDED

# The kernels call these by their own names: Numba's cache knows no attributes of modules.
forced_action = line_play.forced_action
line_legal = line_play.is_legal
line_finish = line_score.finish
line_next = line_table.next_hand
line_observe = line_view.observe
line_mask = line_view.write_mask
truc_legal = truc_play.is_legal
truc_finish = truc_score.finish
truc_next = truc_score.next_hand
truc_observe = truc_view.observe
truc_mask = truc_view.write_mask


@njit(cache=True, nogil=True)
def start_streams(tables: Any, rng: Any, where: Any, low: Any, high: Any) -> None:
    """Begin the streams of deals and bots of the tables ``where``; nothing is dealt.

    Args:
        tables: of either family.
        rng: the bots' generators.
        where: bool (B,).
        low: uint32 (B,), the low half of each table's seed.
        high: uint32 (B,), its high half.
    """
    for i in range(tables.shape[0]):
        if where[i]:
            t = tables[i]
            t.seed[0] = low[i]
            t.seed[1] = high[i]
            t.table = 0
            t.deals = 0
            seed_bots(rng[i : i + 1], low[i], high[i], 0)


@njit(cache=True, nogil=True)
def draw_seats(rng: Any, where: Any, players: Any, seats: Any) -> None:
    """Draw the learning seat of the tables ``where`` from the bots' generators."""
    for i in range(rng.shape[0]):
        if where[i]:
            seats[i] = roll(row_of(rng, i), players)


@njit(cache=True, nogil=True)
def play_line(
    tables: Any,
    packed: Any,
    where: Any,
    codes: Any,
    rng: Any,
    seats: Any,
    fresh: Any,
    actions: Any,
    max_hands: Any,
    by_match: Any,
    reward: Any,
    hands: Any,
) -> None:
    """Play the tables ``where`` until somebody outside is asked, or until they are over.

    Args:
        tables: the tables.
        packed: the rules.
        where: bool (B,).
        codes: the bots by seat.
        rng: the bots' generators.
        seats: the learning seats.
        fresh: bool (B,), the learning seat's next turn is asked even if it is forced.
        actions: int64 (B,), the move of the seat to move, legal; -1 = none is at hand.
        max_hands: as in ``score.finish``.
        by_match: as in ``score.finish``.
        reward: float64 (B, players); rewards are added.
        hands: int64 (B,); the hands that ended are added.
    """
    rules = packed[0]
    for i in range(tables.shape[0]):
        if not where[i]:
            continue
        t = tables[i]
        action = np.int64(actions[i])
        while t.phase != LINE_OVER:
            if action < 0:
                if fresh[i] and t.turn == seats[i]:
                    break
                if codes[i, t.turn] != OUTSIDE:
                    action = decide_line(t, rules, codes[i, t.turn], row_of(rng, i))
                else:
                    action = forced_action(t, rules)
                    if action < 0:
                        break
            if line_finish(t, rules, action, max_hands, by_match, row_of(reward, i)) & HAND_ENDED:
                hands[i] += 1
                if t.phase != LINE_OVER:
                    line_next(t, rules)
            action = np.int64(-1)


@njit(cache=True, nogil=True)
def play_truc(
    tables: Any,
    packed: Any,
    where: Any,
    codes: Any,
    rng: Any,
    seats: Any,
    fresh: Any,
    actions: Any,
    max_hands: Any,
    by_match: Any,
    reward: Any,
    hands: Any,
) -> None:
    """As :func:`play_line`; every move of Le Truc is a choice."""
    rules = packed[0]
    for i in range(tables.shape[0]):
        if not where[i]:
            continue
        t = tables[i]
        action = np.int64(actions[i])
        while t.phase != TRUC_OVER:
            if action < 0:
                if codes[i, t.turn] == OUTSIDE:
                    break
                action = decide_truc(t, rules, codes[i, t.turn], row_of(rng, i))
            if truc_finish(t, rules, action, max_hands, by_match, row_of(reward, i)) & HAND_ENDED:
                hands[i] += 1
                if t.phase != TRUC_OVER:
                    truc_next(t, rules)
            action = np.int64(-1)


@njit(cache=True, nogil=True)
def look_line(tables: Any, packed: Any, seats: Any, observation: Any, mask: Any) -> None:
    """Write a seat's observation of each table and its mask, all zeros if it isn't to move."""
    rules = packed[0]
    for i in range(tables.shape[0]):
        t = tables[i]
        line_observe(t, rules, seats[i], row_of(observation, i))
        row = row_of(mask, i)
        if t.turn == seats[i]:
            line_mask(t, rules, row)
        else:
            row[:] = 0


@njit(cache=True, nogil=True)
def look_truc(tables: Any, packed: Any, seats: Any, observation: Any, mask: Any) -> None:
    """As :func:`look_line`."""
    rules = packed[0]
    for i in range(tables.shape[0]):
        t = tables[i]
        truc_observe(t, rules, seats[i], row_of(observation, i))
        row = row_of(mask, i)
        if t.turn == seats[i]:
            truc_mask(t, rules, row)
        else:
            row[:] = 0


@njit(cache=True, nogil=True)
def illegal_line(tables: Any, packed: Any, where: Any, actions: Any, out: Any) -> Any:
    """Mark in ``out``, bool (B,), the illegal actions of the tables ``where``; returns how many."""
    count = 0
    for i in range(tables.shape[0]):
        out[i] = where[i] and not line_legal(tables[i], packed[0], np.int64(actions[i]))
        count += out[i]
    return count


@njit(cache=True, nogil=True)
def illegal_truc(tables: Any, packed: Any, where: Any, actions: Any, out: Any) -> Any:
    """As :func:`illegal_line`."""
    count = 0
    for i in range(tables.shape[0]):
        out[i] = where[i] and not truc_legal(tables[i], packed[0], np.int64(actions[i]))
        count += out[i]
    return count


class Kernels(NamedTuple):
    """The compiled functions of a family of games; signatures as those of the line games."""

    play: Any
    look: Any
    illegal: Any


KERNELS: Final = {
    LINE: Kernels(play_line, look_line, illegal_line),
    TRUC: Kernels(play_truc, look_truc, illegal_truc),
}
