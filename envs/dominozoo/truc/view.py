"""The observation of one seat, written from the table record (layout: ``fields.TRUC_LAYOUT``)."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from dominozoo.bits import lowest, spread_tiles8, spread_tiles16
from dominozoo.compiler import njit
from dominozoo.fields import TRUC_LAYOUT
from dominozoo.truc.play import CALLING, PROPOSE, legal
from dominozoo.truc.table import CLASS, CLASSES, IS_DOUBLE, NOBODY, OVER, PLAYS, SUM_RANK, TRICKS

HAND: Final = TRUC_LAYOUT.offset("hand")
HAND_CLASSES: Final = TRUC_LAYOUT.offset("hand_classes")
DISCARDS: Final = TRUC_LAYOUT.offset("discards")
PLAYED_AT: Final = TRUC_LAYOUT.offset("played_at")
PLAY_SUM: Final = TRUC_LAYOUT.offset("play_sum")
PLAY_DOUBLE: Final = TRUC_LAYOUT.offset("play_double")
PLAY_BY: Final = TRUC_LAYOUT.offset("play_by")
PLAY_CALLED: Final = TRUC_LAYOUT.offset("play_called")
WON: Final = TRUC_LAYOUT.offset("won")
PHASE: Final = TRUC_LAYOUT.offset("phase")
TURN: Final = TRUC_LAYOUT.offset("turn")
LEADER: Final = TRUC_LAYOUT.offset("leader")
CALL_BY: Final = TRUC_LAYOUT.offset("call_by")
DEALER: Final = TRUC_LAYOUT.offset("dealer")
PROPOSED: Final = TRUC_LAYOUT.offset("proposed")
REJECTED: Final = TRUC_LAYOUT.offset("rejected")
REDEALS: Final = TRUC_LAYOUT.offset("redeals")
REDEALS_LEFT: Final = TRUC_LAYOUT.offset("redeals_left")
MULTIPLIER: Final = TRUC_LAYOUT.offset("multiplier")
SCORES: Final = TRUC_LAYOUT.offset("scores")
TARGET: Final = TRUC_LAYOUT.offset("target")

TIED: Final = 3


@njit(cache=True)
def observe(t: Any, rules: Any, me: Any, row: Any) -> None:
    """Write what seat ``me`` may know into ``row``, int16 of length ``TRUC_LAYOUT.size``."""
    me = np.int64(me)
    observe_hand(t, me, row)
    observe_plays(t, me, row)
    row[PHASE] = 0 if t.phase == OVER else 1 + t.phase
    row[TURN] = relative(t.turn, me)
    row[LEADER] = relative(t.leader, me)
    row[CALL_BY] = relative(t.played_by[t.plays - 1], me) if t.face_down else 0
    row[DEALER] = t.dealer == me
    row[PROPOSED] = t.proposed
    row[REJECTED] = t.rejected
    row[REDEALS] = t.redeals
    row[REDEALS_LEFT] = rules.max_redeals - t.redeals
    row[MULTIPLIER] = t.multiplier
    row[SCORES] = t.scores[me]
    row[SCORES + 1] = t.scores[1 - me]
    row[TARGET] = rules.target


@njit(cache=True)
def relative(seat: Any, me: Any) -> Any:
    """1 for the observer, 2 for the other seat, 0 for nobody."""
    if seat == NOBODY:
        return 0
    return 1 if seat == me else 2


@njit(cache=True)
def observe_hand(t: Any, me: Any, row: Any) -> None:
    """The observer's tiles left and his own discards."""
    hand = np.int64(t.hands[me])
    spread_tiles16(hand, row, HAND)
    spread_tiles16(np.int64(t.discards[me]), row, DISCARDS)
    for kind in range(CLASSES):
        row[HAND_CLASSES + kind] = 0
    while hand != 0:
        row[HAND_CLASSES + CLASS[lowest(hand)]] += 1
        hand &= hand - 1


@njit(cache=True)
def observe_plays(t: Any, me: Any, row: Any) -> None:
    """The plays in order; the other seat's face-down tile shows that it lies there, no more."""
    spread_tiles16(np.int64(0), row, PLAYED_AT)
    for k in range(PLAYS):
        there = k < t.plays
        hidden = t.face_down != 0 and k == t.plays - 1 and t.played_by[k] != me
        open_to_me = there and not hidden
        tile = np.int64(t.played[k])
        row[PLAY_SUM + k] = SUM_RANK[tile] if open_to_me else 0
        row[PLAY_DOUBLE + k] = IS_DOUBLE[tile] if open_to_me else 0
        row[PLAY_BY + k] = relative(t.played_by[k], me)
        row[PLAY_CALLED + k] = t.called[k]
        if open_to_me:
            row[PLAYED_AT + tile] = k + 1
    for k in range(TRICKS):
        won = TIED if t.won[k] == NOBODY else relative(t.won[k], me)
        row[WON + k] = won if k < t.tricks else 0


@njit(cache=True)
def write_mask(t: Any, rules: Any, row: Any) -> None:
    """Write the legal actions of the seat to move into ``row``, int8 (60,)."""
    tiles, calls, words = legal(t, rules)
    spread_tiles8(tiles, row, 0)
    spread_tiles8(calls, row, CALLING)
    for k in range(4):
        row[PROPOSE + k] = words >> k & 1
