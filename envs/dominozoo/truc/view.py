"""The observation of one seat, written from the table record (layout: ``fields.TRUC_LAYOUT``)."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dominozoo.bits import lowest, spread_actions, spread_tiles
from dominozoo.compiler import njit
from dominozoo.fields import TRUC_LAYOUT
from dominozoo.tiles import TILE_COUNT
from dominozoo.truc.lanes import word_of, write_word
from dominozoo.truc.play import ACTIONS, legal_mask
from dominozoo.truc.strength import CLASS, CLASSES, IS_DOUBLE, SUM_RANK
from dominozoo.truc.table import (
    HAND_SIZE,
    NOBODY,
    OVER,
    PLAYS,
    TRICKS,
)

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

# Rank of the sum and, 8 bits above, whether it is a double, by slot.
_SHOWN: Final[npt.NDArray[np.int64]] = SUM_RANK | IS_DOUBLE << 8
# Three slots more stand for tiles that a hand no longer has; their column is written over.
_NONE: Final = 0b111 << TILE_COUNT
_CLASS_COLUMN: Final[npt.NDArray[np.int64]] = HAND_CLASSES + np.append(CLASS, [CLASSES] * HAND_SIZE)
_ONES: Final = 0x010101010101


@njit(cache=True)
def observe(t: Any, rules: Any, me: Any, row: Any) -> None:
    """Write what seat ``me`` may know into ``row``, int16 of length ``TRUC_LAYOUT.size``."""
    me = np.int64(me)
    observe_hand(t, me, row)
    observe_plays(t, me, row)
    row[PHASE] = 0 if t.phase == OVER else 1 + t.phase
    row[TURN] = relative(t.turn, me)
    row[LEADER] = relative(t.leader, me)
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
    seat = np.int64(seat)
    return (seat ^ me) + 1 if seat >= 0 else np.int64(0)


@njit(cache=True, inline="always")
def observe_hand(t: Any, me: Any, row: Any) -> None:
    """The observer's tiles left and his own discards."""
    hand = np.int64(t.hands[me])
    spread_tiles(hand, row, HAND)
    for kind in range(CLASSES):
        row[HAND_CLASSES + kind] = 0
    hand |= _NONE
    for _ in range(HAND_SIZE):
        row[_CLASS_COLUMN[lowest(hand)]] += 1
        hand &= hand - 1
    spread_tiles(np.int64(t.discards[me]), row, DISCARDS)


@njit(cache=True, inline="always")
def observe_plays(t: Any, me: Any, row: Any) -> None:
    """The plays in order; the other seat's face-down tile shows that it lies there, no more."""
    plays = np.int64(t.plays)
    last = np.int64(t.played_by[plays - 1 if plays > 0 else 0])
    hidden = np.int64(t.face_down) & np.int64(last != me)
    row[CALL_BY] = t.face_down * relative(last, me)
    for slot in range(TILE_COUNT):
        row[PLAYED_AT + slot] = 0
    ranks = np.int64(0)
    doubles = np.int64(0)
    for k in range(PLAYS):
        tile = np.int64(t.played[k])
        # What isn't shown is written where `write_word` writes over it: no branch to guess.
        row[PLAYED_AT + tile if k < plays - hidden else PLAY_SUM + k] = k + 1
        ranks |= (_SHOWN[tile] & 255) << (8 * k)
        doubles |= (_SHOWN[tile] >> 8) << (8 * k)
    shown = (np.int64(1) << (8 * (plays - hidden))) - 1
    there = (np.int64(1) << (8 * plays)) - 1
    seats = (word_of(t.played_by) & there ^ me * _ONES) + _ONES & there
    # Six of the eight lanes count; what follows writes over the other two.
    write_word(ranks & shown, row, PLAY_SUM)
    write_word(doubles & shown, row, PLAY_DOUBLE)
    write_word(seats, row, PLAY_BY)
    write_word(word_of(t.called) & there, row, PLAY_CALLED)
    for k in range(TRICKS):
        won = TIED if t.won[k] == NOBODY else relative(t.won[k], me)
        row[WON + k] = won if k < t.tricks else 0


@njit(cache=True)
def write_mask(t: Any, rules: Any, row: Any) -> None:
    """Write the legal actions of the seat to move into ``row``, int8 (60,)."""
    spread_actions(legal_mask(t, rules), row, 0, ACTIONS)
