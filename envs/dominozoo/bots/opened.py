"""A line game's hand with every tile open, as a few integers: how it goes on, what it is worth.

All that changes on the way: the tiles that lie, the open ends, the turn, the tiles drawn. A seat's
tiles are those it held at the start and has drawn, without those that lie. Ends are kept sorted,
and equal ends count once: where a tile lies is no matter for what follows. The rest stands in the
solver's working array ``w``, int64.

A value is a whole number, what the hand is worth to the root, the seat that the solver works for:
see :func:`total`; :func:`as_share` and :func:`as_points` turn it back.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dominozoo.bits import lowest
from dominozoo.compiler import njit
from dominozoo.line.play import FLIP, TAKES
from dominozoo.line.score import PENALTIES, PIPS_OF_OTHERS, WINS, penalty, pip_count, side_of
from dominozoo.tiles import DOUBLES, HIGH, LOW, WITH_NUMBER

# What a value counts.
POINTS: Final = 0  # the hand's points
WIN: Final = 1  # the share of the hand won
BOTH: Final = 2  # the share first, then the points
OBJECTIVES: Final = ("points", "win", "both")

WHOLE: Final = 12  # a won hand's share, so that it can be shared by 2, 3 and 4
WEIGHT: Final = 1 << 13  # of a twelfth of the share against points, in BOTH
NO_BOUND: Final = 1 << 20  # beyond every value

# Places in the working array.
HELD: Final = 0  # four: tiles held at the start and drawn since
ROOT: Final = 4  # the seat whose result is valued
OBJECTIVE: Final = 5
STAKE: Final = 6
FRONT: Final = 11  # place in the deck of the boneyard's first tile
BONEYARD: Final = 12  # its tiles
DECK: Final = 16  # 28: the deck

# An end is four bits: its mark (number + 1, 0 = a free side of 0-0), and a lock.
LOCK: Final = 8
NIBBLE: Final = 15
# By an end: the tiles that it takes.
FITS: Final[npt.NDArray[np.int64]] = np.array(
    [TAKES[1], *TAKES[1:8], 0, *(TAKES[mark] & DOUBLES for mark in range(1, 8))], np.int64
)
# What has been drawn: how many tiles in the lowest bits, above them who drew each.
DRAWN: Final = 31
DRAWN_BITS: Final = 5


# What a finished hand is worth to the root.


@njit(cache=True)
def total(w: Any, share: Any, points: Any) -> Any:
    """A value: the share in twelfths, the points in whole parts of :func:`unit`, or both."""
    if w[OBJECTIVE] == POINTS:
        return np.int64(points)
    if w[OBJECTIVE] == WIN:
        return np.int64(share)
    return np.int64(share) * WEIGHT + points


@njit(cache=True)
def unit(rules: Any) -> Any:
    """How many parts of a value's points make 1 of ``reward="hand"``."""
    if rules.scoring == PENALTIES:
        return np.int64(rules.players * rules.target)
    if rules.scoring == PIPS_OF_OTHERS:
        return np.int64((rules.sides - 1) * rules.target)
    return np.int64(rules.sides - 1)


@njit(cache=True)
def as_share(objective: Any, value: Any) -> Any:
    """The share of the hand won, 0..1, in a value of WIN or BOTH."""
    return (value if objective == WIN else (value + WEIGHT // 2) // WEIGHT) / WHOLE


@njit(cache=True)
def as_points(rules: Any, objective: Any, value: Any) -> Any:
    """The root's ``reward="hand"`` in a value of POINTS or BOTH."""
    if objective == BOTH:
        value = value - (value + WEIGHT // 2) // WEIGHT * WEIGHT
    return value / unit(rules)


@njit(cache=True)
def won(w: Any, rules: Any, seat: Any, worth: Any) -> Any:
    """A hand that a seat's side wins."""
    if side_of(rules, seat) == side_of(rules, w[ROOT]):
        return total(w, WHOLE, worth * (rules.sides - 1))
    return total(w, 0, -worth)


@njit(cache=True)
def others_pips(w: Any, rules: Any, laid: Any, seat: Any) -> Any:
    """The pips that all but one seat hold."""
    pips = np.int64(0)
    for other in range(rules.players):
        if other != seat:
            pips += pip_count(w[other] & ~laid)
    return pips


@njit(cache=True)
def penalties(w: Any, rules: Any, laid: Any) -> Any:
    """French: the hand's lowest penalty wins; points are the distance from the mean."""
    own, most, joint, fewest = np.int64(0), np.int64(0), 0, np.int64(1 << 20)
    for seat in range(rules.players):
        pips = penalty(w[seat] & ~laid)
        most += pips
        if seat == w[ROOT]:
            own = pips
        if pips < fewest:
            fewest, joint = pips, 0
        if pips == fewest:
            joint += 1
    share = WHOLE // joint if own == fewest else 0
    return total(w, share, most - rules.players * own)


@njit(cache=True)
def key_card(rules: Any, laid: Any, ends: Any, tile: Any) -> Any:
    """True if a last tile would be Six-Love's key card, as ``line.play.is_key``."""
    bit = np.int64(1) << tile
    if HIGH[tile] == LOW[tile] or FITS[ends & NIBBLE] & FITS[ends >> 4] & bit == 0:
        return False
    kin = (WITH_NUMBER[HIGH[tile]] | WITH_NUMBER[LOW[tile]]) & ~(bit | rules.no_blank)
    return kin & ~laid == 0


@njit(cache=True)
def gone_out(w: Any, rules: Any, laid: Any, ends: Any, seat: Any, tile: Any) -> Any:
    """A hand that ends when a seat lays its last tile; ``laid`` and ``ends`` before that."""
    if rules.scoring == PENALTIES:
        return penalties(w, rules, laid | np.int64(1) << tile)
    if rules.scoring == PIPS_OF_OTHERS:
        return won(w, rules, seat, others_pips(w, rules, laid, seat))
    worth = w[STAKE]
    if rules.key_card != 0 and worth < 2 and key_card(rules, laid, ends, tile):
        worth = np.int64(2)
    return won(w, rules, seat, worth)


@njit(cache=True)
def blocked(w: Any, rules: Any, laid: Any) -> Any:
    """A hand in which all seats have passed, as ``line.score.block_winner``."""
    if rules.scoring == PENALTIES:
        return penalties(w, rules, laid)
    fewest, winner, tied = np.int64(1 << 20), np.int64(0), False
    for seat in range(rules.players):
        pips = pip_count(w[seat] & ~laid)
        if rules.pair_totals != 0:
            pips += pip_count(w[(seat + 2) % 4] & ~laid)
        if pips < fewest:
            fewest, winner, tied = pips, np.int64(seat), False
        elif pips == fewest and side_of(rules, seat) != side_of(rules, winner):
            tied = True
    if tied:
        return total(w, WHOLE // rules.sides, 0)
    if rules.scoring == WINS:
        return won(w, rules, winner, w[STAKE])
    return won(w, rules, winner, others_pips(w, rules, laid, winner))


@njit(cache=True)
def bounds(w: Any, rules: Any, laid: Any) -> Any:
    """(least, most) that the hand can be worth to the root."""
    if rules.scoring == WINS:
        worth = max(w[STAKE], 2) if rules.key_card != 0 else w[STAKE]
        return total(w, 0, -worth), total(w, WHOLE, worth * (rules.sides - 1))
    if w[OBJECTIVE] == WIN:
        return np.int64(0), np.int64(WHOLE)
    return np.int64(-NO_BOUND), np.int64(NO_BOUND)


# Moves.


@njit(cache=True)
def taken(rules: Any, ends: Any) -> Any:
    """The tiles that some end takes; French: blanks alone until all four sides are begun."""
    tiles = FITS[ends & NIBBLE]
    if rules.cross == 0:
        return tiles | FITS[ends >> 4]
    if ends & NIBBLE == 0:
        return tiles
    return tiles | FITS[ends >> 4 & NIBBLE] | FITS[ends >> 8 & NIBBLE] | FITS[ends >> 12]


@njit(cache=True)
def ends_open(rules: Any, ends: Any) -> Any:
    """How many ends can be played at; the free sides of 0-0 one after the other."""
    if rules.cross == 0:
        return 2
    return 1 if ends & NIBBLE == 0 else 4


@njit(cache=True)
def turned(end: Any, tile: Any) -> Any:
    """An end after a tile: a free side's first tile locks it, any other unlocks."""
    return ((LOCK | 1) if end == 0 else end & 7) ^ FLIP[tile]


@njit(cache=True)
def put(rules: Any, ends: Any, at: Any, end: Any) -> Any:
    """All ends after the one at place ``at`` has become ``end``, sorted again."""
    if rules.cross == 0:
        other = ends & NIBBLE if at == 1 else ends >> 4
        return min(other, end) | max(other, end) << 4
    below = (np.int64(1) << 4 * at) - 1
    rest = ends & below | (ends >> 4 & ~below)  # the three others
    at = np.int64(0)
    while at < 12 and rest >> at & NIBBLE < end:
        at += 4
    below = (np.int64(1) << at) - 1
    return rest & below | end << at | (rest & ~below) << 4


@njit(cache=True)
def place_of(rules: Any, ends: Any, bit: Any) -> Any:
    """The one place where a tile fits, -1 if there are several that differ."""
    found, before = np.int64(-1), np.int64(-1)
    for at in range(ends_open(rules, ends)):
        end = ends >> 4 * at & NIBBLE
        if end != before and FITS[end] & bit != 0:
            if found >= 0:
                return np.int64(-1)
            found = np.int64(at)
        before = end
    return found


@njit(cache=True)
def after(rules: Any, turn: Any) -> Any:
    """The next seat."""
    return np.int64(0) if turn + 1 == rules.players else turn + 1


@njit(cache=True)
def draw(w: Any, rules: Any, turn: Any, drawn: Any) -> Any:
    """Take the next tile of the boneyard; returns ``drawn`` with it."""
    place = drawn & DRAWN
    w[turn] |= np.int64(1) << w[DECK + w[FRONT] + place]
    wide = 1 if rules.players == 2 else 2
    return drawn + 1 | turn << (DRAWN_BITS + wide * place)


@njit(cache=True)
def put_back(w: Any, before: Any, drawn: Any) -> None:
    """Take the draws back that were made since ``before``."""
    for place in range(before & DRAWN, drawn & DRAWN):
        bit = np.int64(1) << w[DECK + w[FRONT] + place]
        for seat in range(4):
            w[seat] &= ~bit


@njit(cache=True)
def forced(w: Any, rules: Any, laid: Any, ends: Any, turn: Any, passes: Any, drawn: Any) -> Any:
    """Play on while there is nothing to choose.

    Returns:
        (over, value if over, laid, ends, turn, drawn).
    """
    while True:
        hand = w[np.uint64(turn)] & ~laid
        fit = hand & taken(rules, ends)
        if fit == 0:
            if rules.draw != 0 and drawn & DRAWN < w[BONEYARD]:
                drawn = draw(w, rules, turn, drawn)
                continue
            passes += 1
            if passes == rules.players:
                return True, blocked(w, rules, laid), laid, ends, turn, drawn
            turn = after(rules, turn)
            continue
        tile = lowest(fit)
        if hand & (hand - 1) == 0:
            return True, gone_out(w, rules, laid, ends, turn, tile), laid, ends, turn, drawn
        at = place_of(rules, ends, fit) if fit & (fit - 1) == 0 else np.int64(-1)
        if at < 0:
            return False, np.int64(0), laid, ends, turn, drawn
        ends = put(rules, ends, at, turned(ends >> 4 * at & NIBBLE, tile))
        laid |= fit
        turn = after(rules, turn)
        passes = 0
