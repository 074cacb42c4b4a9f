"""The table record of the line games, the deal and the opening.

A table is one NumPy record: copying it copies the game. Kernels take ``t``, a record of dtype
``TABLE``, and ``rules``, a record of dtype ``LINE_RULES``; with ``NUMBA_DISABLE_JIT=1`` the same
functions run as plain Python.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dominozoo.bits import LANES, copy_bytes, highest, seven_tiles
from dominozoo.compiler import helper, njit
from dominozoo.records import record_type
from dominozoo.tiles import DOUBLES, HIGH, NUMBERS, PIPS, TILE_COUNT

POSE: Final = 0
PLAY: Final = 1
OVER: Final = 2

ANY_TILE: Final = -1
NOBODY: Final = -1

# How a hand ended, and what it did to the match.
REASONS: Final = (None, "out", "block", "tie")
OUT: Final = 1
BLOCK: Final = 2
TIED: Final = 3
EFFECTS: Final = (None, "match", "bruck", "decider", "reset")
MATCH: Final = 1
BRUCK: Final = 2
DECIDER: Final = 3
RESET: Final = 4

# What a move and a look at the table need comes first, in as few lines of the processor's cache as
# can be, and each number at a multiple of its size, so that none lies across two of them: that alone
# makes random play 4 % faster. Kernels read `laid_by` and `laid_at` sixteen bytes at a time, which
# stay inside the record.
TABLE: Final = record_type(
    # The hand.
    ("hands", np.uint32, 4),  # bit = tile id
    ("laid", np.uint32),  # all tiles on the table
    ("ends", np.uint8, 4),  # number + 1, 0 = none
    ("turn", np.int8),  # seat to move, NOBODY when over
    ("phase", np.uint8),
    ("passes", np.uint8),  # in succession
    ("ply", np.uint8),  # plies made: plays, draws and passes
    ("boneyard", np.uint8),  # tiles left to draw
    ("locked", np.uint8),  # bit = French arm that takes only its double
    ("opening", np.int8),  # tile that must be posed, ANY_TILE if free
    ("by_rule", np.uint8),
    ("sizes", np.uint8, 4),
    ("lacks", np.uint8, 4),  # bit = number that the seat has shown to lack
    ("lacks_double", np.uint8, 4),
    ("opener", np.int8),  # seat that laid the first tile, NOBODY before
    # The match.
    ("poser", np.int8),  # seat that won the right to pose, NOBODY = by rule
    ("decider", np.uint8),
    ("last_key", np.uint8),  # of the last finished hand
    ("scores", np.int16, 4),  # by side
    ("hand_number", np.uint32),  # from 1
    ("stake", np.int16),
    # The last finished hand; what it scored stands at the end.
    ("last_reason", np.uint8),  # 0 = there is none yet
    ("last_effect", np.uint8),
    # The hand's tiles.
    ("laid_by", np.uint8, 28),  # seat + 1, 0 = not laid
    ("laid_at", np.uint8, 28),  # ply, from 1
    ("laid_end", np.uint8, 28),
    ("deck", np.uint8, 28),  # the deal: seat by seat, then the boneyard in drawing order
    # The deal depends on these alone: (seed, table, number of earlier deals).
    ("seed", np.uint32, 2),
    ("table", np.uint32),
    ("deals", np.uint32),
    # The last finished hand.
    ("last_winner", np.int8),  # side
    ("last_seat", np.int8),
    ("winners", np.uint8),  # bit = side that won the last finished match
    ("filler", np.uint8),
    ("last_points", np.int16, 4),  # by side: points won; French: penalties
    ("last_scores", np.int16, 4),  # by side, before any new match
)

_WORD: Final = 0xFFFFFFFF

# A new deck; without 0-0 it begins with the second tile, and its last place stays 0.
IN_ORDER: Final[npt.NDArray[np.uint8]] = np.array([*range(TILE_COUNT), 0], np.uint8)


@njit(cache=True, inline="always")
def deck_size(rules: Any) -> Any:
    """Number of tiles in the set: 28, or 27 without 0-0."""
    return TILE_COUNT - rules.no_blank


@njit(cache=True, inline="always")
def sfc32(a: Any, b: Any, c: Any, d: Any) -> Any:
    """One step of Chris Doty-Humphrey's sfc32: (output, a, b, c, d), words of 32 bits.

    Adds, shifts and xors only, so that JavaScript repeats it bit for bit. The state goes on as
    uint32, so that LLVM sees that 32 bits are enough for all of it; the output is int64.
    """
    a, b, c, d = np.int64(a), np.int64(b), np.int64(c), np.int64(d)
    out = (a + b + d) & _WORD
    turned = (c << 21 | c >> 11) & _WORD
    return (
        out,
        np.uint32(b ^ b >> 9),
        np.uint32((c + (c << 3)) & _WORD),
        np.uint32((turned + out) & _WORD),
        np.uint32((d + 1) & _WORD),
    )


@njit(cache=True, inline="always")
def shuffle(t: Any, first: Any) -> None:
    """Fill ``t.deck`` with the tiles first..27 in random order, from (seed, table, deals) alone."""
    a, b = np.uint32(t.seed[0]), np.uint32(t.seed[1])
    c, d = np.uint32(t.table), np.uint32(t.deals)
    for _ in range(15):
        _, a, b, c, d = sfc32(a, b, c, d)
    for part in (0, TILE_COUNT - LANES):  # two pieces of 16 tiles that overlap
        copy_bytes(t.deck, part, IN_ORDER, first + part)
    for k in range(TILE_COUNT - 1 - first, 0, -1):
        word, a, b, c, d = sfc32(a, b, c, d)
        j = np.uint32((word * (k + 1)) >> 32)
        swap = t.deck[k]
        t.deck[k] = t.deck[j]
        t.deck[j] = swap


@njit(cache=True, inline="always")
def clear_hand(t: Any, rules: Any) -> None:
    """Empty the table before a deal; what belongs to the match stays."""
    t.passes = 0
    t.ply = 0
    t.locked = 0
    t.laid = 0
    t.opener = NOBODY
    for k in range(4):
        t.hands[k] = 0
        t.sizes[k] = 0
        t.ends[k] = 0
        t.lacks[k] = 0
        t.lacks_double[k] = 0
    for k in range(TILE_COUNT):
        t.laid_by[k] = 0
        t.laid_at[k] = 0
        t.laid_end[k] = 0


@njit(cache=True, inline="always")
def take_hands(t: Any, rules: Any) -> None:
    """Give each seat its 7..14 tiles from the front of ``t.deck``; the rest is the boneyard."""
    size = rules.hand_size
    for seat in range(rules.players):
        hand = seven_tiles(t.deck, seat * size)
        if size > 7:  # 9 or 14: another seven, which may overlap
            hand |= seven_tiles(t.deck, seat * size + size - 7)
        t.hands[seat] = hand
        t.sizes[seat] = size
    t.boneyard = deck_size(rules) - rules.players * size


@njit(cache=True, inline="always")
def holder(t: Any, tile: Any) -> Any:
    """The seat that holds a tile which somebody holds.

    By sums: branches would guess wrong most of the time.
    """
    first, second = np.int64(t.hands[1]) >> tile & 1, np.int64(t.hands[2]) >> tile & 1
    return first + 2 * second + 3 * (np.int64(t.hands[3]) >> tile & 1)


@njit(cache=True, inline="always")
def opening_tile(t: Any, rules: Any) -> Any:
    """The tile that opens a hand by rule.

    The highest double dealt (all tiles dealt: 6-6), or without any double the heaviest tile, of
    equal sums the one with the larger single number (A12, A34, A35). French: 0-0.
    """
    if rules.cross:
        return np.int64(0)
    dealt = np.int64(t.hands[0]) | np.int64(t.hands[1])
    dealt |= np.int64(t.hands[2]) | np.int64(t.hands[3])
    if dealt & DOUBLES != 0:
        return highest(dealt & DOUBLES)
    best, heaviest = np.int64(-1), np.int64(0)
    for tile in range(TILE_COUNT):
        weight = PIPS[tile] * NUMBERS + HIGH[tile]
        if dealt >> tile & 1 and weight > best:
            best, heaviest = weight, np.int64(tile)
    return heaviest


@njit(cache=True, inline="always")
def open_hand(t: Any, rules: Any) -> None:
    """Decide who opens the hand that was dealt, and with which tile."""
    t.phase = POSE
    if rules.always_by_rule or t.poser == NOBODY:
        tile = opening_tile(t, rules)
        t.by_rule = 1
        t.turn = holder(t, tile)
        t.opening = ANY_TILE if rules.informal else tile
    else:
        t.by_rule = 0
        t.turn = t.poser
        t.opening = ANY_TILE


@helper()
def deal(t: Any, rules: Any) -> None:
    """Deal the next hand of the table's stream and decide who opens it."""
    clear_hand(t, rules)
    shuffle(t, rules.no_blank)
    t.deals += 1
    take_hands(t, rules)
    open_hand(t, rules)


@njit(cache=True, inline="always")
def clear_match(t: Any, poser: Any) -> None:
    """Set the scores to 0 before the first hand; ``poser`` NOBODY opens it by rule."""
    for k in range(4):
        t.scores[k] = 0
    t.stake = 1
    t.decider = 0
    t.poser = poser
    t.hand_number = 0


@njit(cache=True, inline="always")
def next_hand(t: Any, rules: Any) -> None:
    """Deal the next hand of the match."""
    t.hand_number += 1
    deal(t, rules)
