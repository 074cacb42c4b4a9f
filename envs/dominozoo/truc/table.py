"""The table record of Domino Le Truc, its deal and what beats what.

A table is one NumPy record, as in the line games: copying it copies the game. Kernels take ``t``,
a record of dtype ``TABLE``, and ``rules``, a record of dtype ``TRUC_RULES``; with
``NUMBA_DISABLE_JIT=1`` the same functions run as plain Python. A hand is one round.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from dominozoo.compiler import njit
from dominozoo.line.table import sfc32, shuffle
from dominozoo.records import record_type
from dominozoo.tiles import TILE_COUNT

HAND_SIZE: Final = 3
TRICKS: Final = 3
PLAYS: Final = 6
NOBODY: Final = -1

PHASES: Final = ("exchange", "answer", "lead", "follow", "call", "over")
EXCHANGE: Final = 0  # the non-dealer stands or proposes
ANSWER: Final = 1  # the dealer accepts or rejects a proposal
LEAD: Final = 2
FOLLOW: Final = 3
CALL: Final = 4  # a tile lies face down: accept or refuse the double
OVER: Final = 5

# How a hand ended, and what it did to the match.
REASONS: Final = (None, "tricks", "fold", "void")
BY_TRICKS: Final = 1
BY_FOLD: Final = 2
VOID: Final = 3
EFFECTS: Final = (None, "match")
MATCH: Final = 1

TABLE: Final = record_type(
    # The deal depends on these alone: (seed, table, number of earlier deals).
    ("seed", np.uint32, 2),
    ("table", np.uint32),
    ("deals", np.uint32),
    ("hand_number", np.uint32),  # from 1
    # Tiles.
    ("hands", np.uint32, 2),  # bit = slot; a tile face down has left its hand
    ("held", np.uint32, 2),  # the three tiles of each since the last deal
    ("discards", np.uint32, 2),
    ("scores", np.int16, 2),
    ("last_points", np.int16, 2),
    ("last_scores", np.int16, 2),  # before any new match
    # The hand.
    ("dealer", np.int8),
    ("phase", np.uint8),
    ("turn", np.int8),  # seat to move, NOBODY when over
    ("leader", np.int8),  # of the trick being played
    ("multiplier", np.uint8),
    ("stock", np.uint8),  # tiles left to deal, the last ones of the deck
    ("redeals", np.uint8),  # accepted proposals
    ("proposed", np.uint8),  # there was a proposal in this hand
    ("rejected", np.uint8),  # and the last one was rejected
    ("plays", np.uint8),  # tiles laid, one face down included
    ("face_down", np.uint8),  # the last of them lies face down
    ("folded", np.uint8),  # its call was refused: nobody sees it
    ("deck", np.uint8, 28),  # the deal: three to the non-dealer, the dealer, and so on
    ("played", np.uint8, 6),  # slots in the order of play
    ("played_by", np.int8, 6),
    ("called", np.uint8, 6),  # laid face down with a call
    ("tricks", np.uint8),  # tricks settled
    ("won", np.int8, 3),  # a winner's seat for each, NOBODY = tied
    # The last finished hand.
    ("last_reason", np.uint8),  # 0 = there is none yet
    ("last_effect", np.uint8),
    ("last_winner", np.int8),  # side, which is a seat here
    ("last_seat", np.int8),
    ("winners", np.uint8),  # bit = side that won the last finished match
    ("filler", np.uint8),
)


@njit(cache=True)
def first_dealer(t: Any) -> Any:
    """The dealer of a match's first hand, drawn from (seed, table, deals) alone (A33).

    It is the top bit of the last word that the shuffle of the same deal throws away.
    """
    a, b = np.int64(t.seed[0]), np.int64(t.seed[1])
    c, d = np.int64(t.table), np.int64(t.deals)
    word = np.int64(0)
    for _ in range(15):
        word, a, b, c, d = sfc32(a, b, c, d)
    return word >> 31


@njit(cache=True)
def clear_hand(t: Any) -> None:
    """Empty the table before a deal; what belongs to the match stays."""
    t.multiplier = 1  # each hand starts at 1 again (A31)
    t.redeals = 0
    t.proposed = 0
    t.rejected = 0
    t.plays = 0
    t.face_down = 0
    t.folded = 0
    t.tricks = 0
    for seat in range(2):
        t.hands[seat] = 0
        t.held[seat] = 0
        t.discards[seat] = 0
    for k in range(PLAYS):
        t.played[k] = 0
        t.played_by[k] = NOBODY
        t.called[k] = 0
    for k in range(TRICKS):
        t.won[k] = NOBODY


@njit(cache=True)
def take_hands(t: Any) -> None:
    """Give the non-dealer, then the dealer, three tiles from the front of the stock."""
    at = TILE_COUNT - np.int64(t.stock)
    for k in range(2):
        seat = 1 - t.dealer if k == 0 else np.int64(t.dealer)
        hand = np.int64(0)
        for _ in range(HAND_SIZE):
            hand |= np.int64(1) << np.int64(t.deck[at])
            at += 1
        t.hands[seat] = hand
        t.held[seat] = hand
    t.stock -= 2 * HAND_SIZE


@njit(cache=True)
def open_play(t: Any, rules: Any) -> None:
    """Ask the non-dealer for an exchange, or for the first lead when none is left (A32)."""
    t.turn = 1 - t.dealer
    t.leader = t.turn
    t.phase = EXCHANGE if t.redeals < rules.max_redeals else LEAD


@njit(cache=True)
def deal_out(t: Any, rules: Any) -> None:
    """Give out the tiles of ``t.deck`` for a new hand."""
    clear_hand(t)
    t.stock = TILE_COUNT
    take_hands(t)
    open_play(t, rules)


@njit(cache=True)
def deal(t: Any, rules: Any) -> None:
    """Deal the next hand of the table's stream."""
    shuffle(t, 0)
    t.deals += 1
    deal_out(t, rules)


@njit(cache=True)
def start_match(t: Any, rules: Any, dealer: Any) -> None:
    """Set the scores to 0 and deal the first hand; ``dealer`` NOBODY draws him (A33)."""
    t.scores[0] = 0
    t.scores[1] = 0
    t.hand_number = 1
    t.dealer = first_dealer(t) if dealer == NOBODY else dealer
    deal(t, rules)
