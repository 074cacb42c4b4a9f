"""Legal moves and what a move does to the table of a line game.

Actions: ``end * 28 + tile``; ``ends * 28`` draws, ``ends * 28 + 1`` passes.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dominozoo.bits import bits, lowest, nth
from dominozoo.compiler import helper, njit
from dominozoo.line.table import (
    ANY_TILE,
    BLOCK,
    OUT,
    OVER,
    PLAY,
    POSE,
    deck_size,
)
from dominozoo.tiles import ALL_TILES, DOUBLES, HIGH, LOW, TILE_COUNT, WITH_NUMBER

CAN_DRAW: Final = 1
CAN_PASS: Final = 2

# Legal actions are masks of ids in two words of int64. A line needs one: the ids 0..57. French
# has 0..55 in the first, from SPLIT on in the second.
SPLIT: Final = 2 * TILE_COUNT
EXTRA: Final = SPLIT  # bit of a draw, then of a pass, in the last word

# By an end's mark, number + 1 or 0: the tiles that it takes.
TAKES: Final[npt.NDArray[np.int64]] = np.array([0, *WITH_NUMBER], np.int64)
# By the marks of a line's ends, left + 8 * right: the plays that fit, as action ids.
FITTING: Final[npt.NDArray[np.int64]] = np.array(
    [TAKES[code & 7] | TAKES[code >> 3] << TILE_COUNT for code in range(64)], np.int64
)
# What a tile's end turns the mark of the end that it is laid at into, by exclusive or.
FLIP: Final[npt.NDArray[np.uint8]] = ((HIGH + 1) ^ (LOW + 1)).astype(np.uint8)


@njit(cache=True, inline="always")
def action_count(rules: Any) -> Any:
    """Size of the action space: 58, French 114."""
    return rules.ends * TILE_COUNT + 2


@helper()
def fits(t: Any, end: Any) -> Any:
    """Mask of all tiles that an end takes: those with its number; a locked arm only its double."""
    tiles = TAKES[t.ends[end]]
    return tiles & DOUBLES if np.int64(t.locked) >> end & 1 else tiles


@njit(cache=True, inline="always")
def fits_both(t: Any) -> Any:
    """Mask of all tiles that both ends of a line take."""
    return TAKES[t.ends[0]] & TAKES[t.ends[1]]


@njit(cache=True, inline="always")
def arms_begun(t: Any) -> Any:
    """French: how many of the four sides of 0-0 have a tile, 0..4."""
    begun = 0
    for end in range(4):
        if t.ends[end] != 0:
            begun += 1
    return begun


@njit(cache=True, inline="always")
def end_code(t: Any) -> Any:
    """The marks of a line's ends as an index into FITTING."""
    return np.int64(t.ends[0]) | np.int64(t.ends[1]) << 3


@njit(cache=True, inline="always")
def fitting(hand: Any, code: Any) -> Any:
    """The plays of a hand's tiles at the ends of a line, as action ids."""
    return (hand | hand << TILE_COUNT) & FITTING[np.uint64(code)]


@helper()
def fitting_arms(t: Any, hand: Any) -> Any:
    """The same in French, two words: the next free arm takes blanks until all four are begun."""
    arm = arms_begun(t)
    if arm == 4:
        low = fits(t, np.int64(0)) | fits(t, np.int64(1)) << TILE_COUNT
        high = fits(t, np.int64(2)) | fits(t, np.int64(3)) << TILE_COUNT
        both = hand | hand << TILE_COUNT
        return both & low, both & high
    blanks = (hand & TAKES[1]) << (TILE_COUNT * (arm & 1))
    return (blanks, np.int64(0)) if arm < 2 else (np.int64(0), blanks)


@njit(cache=True, inline="always")
def may_leave_pose(t: Any, rules: Any) -> Any:
    """True while the winner may leave the pose to his partner (poser="team", A11)."""
    return rules.team_poser != 0 and t.by_rule == 0 and t.ply == 0


@njit(cache=True, inline="always")
def legal_poses(t: Any, rules: Any) -> Any:
    """Legal actions of the seat to move in a hand that hasn't begun, or of nobody."""
    if t.phase == OVER:
        return np.int64(0)
    if t.opening != ANY_TILE:
        return np.int64(1) << np.int64(t.opening)
    leave = np.int64(CAN_PASS) if may_leave_pose(t, rules) else np.int64(0)
    return np.int64(t.hands[t.turn]) | leave << EXTRA


@njit(cache=True, forceinline=True)
def legal_ids(t: Any, rules: Any) -> Any:
    """Legal actions of the seat to move as two words, see SPLIT; 0 when the match is over."""
    none = np.int64(0)
    if t.phase != PLAY:
        return legal_poses(t, rules), none
    hand = np.int64(t.hands[np.uint8(t.turn)])
    if rules.cross:
        low, high = fitting_arms(t, hand)
        return low, high if low | high != 0 else np.int64(CAN_PASS) << EXTRA
    plays = fitting(hand, end_code(t))
    if plays == 0:
        plays = np.int64(CAN_DRAW if rules.draw != 0 and t.boneyard > 0 else CAN_PASS) << EXTRA
    return plays, none


@njit(cache=True)
def legal(t: Any, rules: Any) -> Any:
    """Legal moves of the seat to move: (tiles at end 0, 1, 2, 3, extra).

    ``extra`` has bit CAN_DRAW or CAN_PASS. All are 0 when the match is over.
    """
    low, high = legal_ids(t, rules)
    a, b = low & ALL_TILES, low >> TILE_COUNT & ALL_TILES
    c, d = high & ALL_TILES, high >> TILE_COUNT & ALL_TILES
    return a, b, c, d, (low | high) >> EXTRA


@njit(cache=True, inline="always")
def is_legal(t: Any, rules: Any, action: Any) -> Any:
    """True if the action id is a legal move now."""
    low, high = legal_ids(t, rules)
    if action < 0 or action >= action_count(rules):
        return False
    if rules.cross and action >= SPLIT:
        return high >> (action - SPLIT) & 1 != 0
    return low >> action & 1 != 0


@njit(cache=True)
def nth_legal(low: Any, high: Any, n: Any) -> Any:
    """Action id of the ``n``-th legal move, from 0, of what :func:`legal_ids` returned."""
    first = bits(low)
    return nth(low, n) if n < first else SPLIT + nth(high, n - first)


@njit(cache=True, inline="always")
def forced_action(t: Any, rules: Any) -> Any:
    """The only legal action, or -1 where there is a choice or the match is over."""
    low, high = legal_ids(t, rules)
    if bits(low) + bits(high) != 1:
        return np.int64(-1)
    return lowest(low) if low != 0 else SPLIT + lowest(high)


@njit(cache=True, inline="always")
def next_seat(t: Any, rules: Any) -> Any:
    """The seat after the one to move."""
    seat = t.turn + 1
    return 0 if seat == rules.players else seat


@helper(forceinline=True)
def apply(t: Any, rules: Any, action: Any) -> Any:
    """Make a legal move; returns 0, or how the hand ended: OUT or BLOCK.

    The action isn't checked: see :func:`is_legal`. At the hand's end ``turn`` stays with the seat
    that moved last.
    """
    t.ply += 1
    if action >= rules.ends * TILE_COUNT:
        if action == rules.ends * TILE_COUNT:
            draw_tile(t, rules)
            return 0
        return pass_turn(t, rules)
    return lay(t, rules, action % TILE_COUNT, action // TILE_COUNT)


@njit(cache=True, inline="always")
def draw_tile(t: Any, rules: Any) -> None:
    """Take the front tile of the boneyard; the turn stays.

    Of what the seat was known to lack, only the numbers at the two ends remain certain: the tiles
    it drew without playing don't fit, everything else may have come.
    """
    seat = np.uint8(t.turn)
    tile = np.int64(t.deck[deck_size(rules) - t.boneyard])
    t.boneyard -= 1
    t.hands[seat] |= np.int64(1) << tile
    t.sizes[seat] += 1
    t.lacks[seat] = numbers_at_ends(t)


@njit(cache=True, inline="always")
def numbers_at_ends(t: Any) -> Any:
    """Mask of the numbers at the two ends of a line."""
    return (np.int64(1) << (np.int64(t.ends[0]) - 1)) | (np.int64(1) << (np.int64(t.ends[1]) - 1))


@njit(cache=True, inline="always")
def pass_turn(t: Any, rules: Any) -> Any:
    """Pass; returns BLOCK when all seats have passed in succession, else 0."""
    if t.phase == POSE:
        t.turn = (t.turn + 2) % 4
        return 0
    show_lacks(t, rules, np.uint8(t.turn))
    t.passes += 1
    if t.passes == rules.players:
        return BLOCK
    t.turn = next_seat(t, rules)
    return 0


@helper()
def show_lacks(t: Any, rules: Any, seat: Any) -> None:
    """Note what a pass shows: no tile of an open number, no double of a locked arm."""
    if not rules.cross:
        t.lacks[seat] |= numbers_at_ends(t)
        return
    if arms_begun(t) < 4:
        t.lacks[seat] |= 1
        return
    for arm in range(4):
        number = np.int64(1) << (np.int64(t.ends[arm]) - 1)
        if np.int64(t.locked) >> arm & 1:
            t.lacks_double[seat] |= number
        else:
            t.lacks[seat] |= number


@njit(cache=True, inline="always")
def lay(t: Any, rules: Any, tile: Any, end: Any) -> Any:
    """Lay a tile at an end; returns OUT when it was the seat's last tile, else 0."""
    seat = np.uint8(t.turn)  # unsigned: no test for an index that counts from the end
    bit = np.int64(1) << tile
    left = np.int64(t.hands[seat]) & ~bit
    t.last_key = 0
    if t.phase == POSE:
        pose(t, rules, tile)
    else:
        if rules.key_card != 0 and left == 0:
            t.last_key = is_key(rules, bit, fits_both(t), np.int64(t.laid))
        extend(t, rules, tile, end)
    t.hands[seat] = left
    t.sizes[seat] -= 1
    t.laid |= bit
    t.laid_by[tile] = seat + 1
    t.laid_at[tile] = t.ply
    t.laid_end[tile] = end
    t.passes = 0
    if left == 0:
        return OUT
    t.turn = next_seat(t, rules)
    return 0


@njit(cache=True, inline="always")
def pose(t: Any, rules: Any, tile: Any) -> None:
    """Lay the first tile of a hand: ends = [high, low]; French: 0-0 with four free sides."""
    t.phase = PLAY
    t.opener = t.turn
    if not rules.cross:
        t.ends[0] = HIGH[tile] + 1
        t.ends[1] = LOW[tile] + 1


@njit(cache=True, inline="always")
def extend(t: Any, rules: Any, tile: Any, end: Any) -> None:
    """Turn an end into the tile's other number; lock a French arm's first link, unlock by a double."""
    mark = np.int64(t.ends[end])
    if rules.cross:
        if mark == 0:
            t.locked |= np.int64(1) << end
            mark = np.int64(1)
        else:
            t.locked &= ~(np.int64(1) << end)
    t.ends[end] = mark ^ FLIP[tile]


@njit(cache=True, inline="always")
def is_key(rules: Any, bit: Any, fits_both: Any, laid: Any) -> Any:
    """Six-Love's key card (A18): two different numbers, fits both ends, all their kin laid.

    Args:
        rules: the packed rules.
        bit: the tile as a mask.
        fits_both: the tiles that fit both ends.
        laid: the tiles on the table.
    """
    if bit & fits_both & ~DOUBLES == 0:
        return False
    tile = lowest(bit)
    kin = (WITH_NUMBER[HIGH[tile]] | WITH_NUMBER[LOW[tile]]) & ~bit
    if rules.no_blank:
        kin &= ~np.int64(1)
    return kin & ~laid == 0
