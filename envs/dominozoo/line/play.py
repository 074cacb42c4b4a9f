"""Legal moves and what a move does to the table of a line game.

Actions: ``end * 28 + tile``; ``ends * 28`` draws, ``ends * 28 + 1`` passes.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from dominozoo.bits import bits, lowest
from dominozoo.compiler import njit
from dominozoo.line.table import (
    ANY_TILE,
    BLOCK,
    OUT,
    OVER,
    PLAY,
    POSE,
    deck_size,
)
from dominozoo.tiles import DOUBLE_OF, HIGH, LOW, TILE_COUNT, WITH_NUMBER

CAN_DRAW: Final = 1
CAN_PASS: Final = 2


@njit(cache=True)
def action_count(rules: Any) -> Any:
    """Size of the action space: 58, French 114."""
    return rules.ends * TILE_COUNT + 2


@njit(cache=True)
def fits(t: Any, end: Any) -> Any:
    """Mask of all tiles that an end takes: those with its number; a locked arm only its double."""
    mark = np.int64(t.ends[end])
    if mark == 0:
        return np.int64(0)
    if np.int64(t.locked) >> end & 1:
        return np.int64(1) << DOUBLE_OF[mark - 1]
    return np.int64(WITH_NUMBER[mark - 1])


@njit(cache=True)
def arms_begun(t: Any) -> Any:
    """French: how many of the four sides of 0-0 have a tile, 0..4."""
    begun = 0
    for end in range(4):
        if t.ends[end] != 0:
            begun += 1
    return begun


@njit(cache=True)
def playable(t: Any, rules: Any, hand: Any) -> Any:
    """Masks of the tiles of ``hand`` that each of the four ends takes, in the play phase."""
    if rules.cross:
        arm = arms_begun(t)
        if arm < 4:
            blanks = hand & WITH_NUMBER[0]
            return (
                blanks if arm == 0 else 0,
                blanks if arm == 1 else 0,
                blanks if arm == 2 else 0,
                blanks if arm == 3 else 0,
            )
        return hand & fits(t, 0), hand & fits(t, 1), hand & fits(t, 2), hand & fits(t, 3)
    return hand & fits(t, 0), hand & fits(t, 1), np.int64(0), np.int64(0)


@njit(cache=True)
def may_leave_pose(t: Any, rules: Any) -> Any:
    """True while the winner may leave the pose to his partner (poser="team", A11)."""
    return rules.team_poser != 0 and t.by_rule == 0 and t.ply == 0


@njit(cache=True)
def legal(t: Any, rules: Any) -> Any:
    """Legal moves of the seat to move: (tiles at end 0, 1, 2, 3, extra).

    ``extra`` has bit CAN_DRAW or CAN_PASS. All are 0 when the match is over.
    """
    none = np.int64(0)
    if t.phase == OVER:
        return none, none, none, none, none
    hand = np.int64(t.hands[t.turn])
    if t.phase == POSE:
        extra = np.int64(CAN_PASS) if may_leave_pose(t, rules) else none
        if t.opening != ANY_TILE:
            hand = np.int64(1) << np.int64(t.opening)
        return hand, none, none, none, extra
    a, b, c, d = playable(t, rules, hand)
    extra = none
    if a | b | c | d == 0:
        extra = np.int64(CAN_DRAW if rules.draw != 0 and t.boneyard > 0 else CAN_PASS)
    return np.int64(a), np.int64(b), np.int64(c), np.int64(d), extra


@njit(cache=True)
def is_legal(t: Any, rules: Any, action: Any) -> Any:
    """True if the action id is a legal move now."""
    if action < 0 or action >= action_count(rules):
        return False
    a, b, c, d, extra = legal(t, rules)
    end = action // TILE_COUNT
    bit = action % TILE_COUNT
    if end == rules.ends:
        return extra >> bit & 1 != 0
    tiles = a
    if end == 1:
        tiles = b
    elif end == 2:
        tiles = c
    elif end == 3:
        tiles = d
    return tiles >> bit & 1 != 0


@njit(cache=True)
def forced_action(t: Any, rules: Any) -> Any:
    """The only legal action, or -1 where there is a choice or the match is over."""
    a, b, c, d, extra = legal(t, rules)
    if bits(a) + bits(b) + bits(c) + bits(d) + bits(extra) != 1:
        return np.int64(-1)
    if extra != 0:
        return rules.ends * TILE_COUNT + (extra >> 1)
    if a != 0:
        return lowest(a)
    if b != 0:
        return TILE_COUNT + lowest(b)
    if c != 0:
        return 2 * TILE_COUNT + lowest(c)
    return 3 * TILE_COUNT + lowest(d)


@njit(cache=True)
def nth_legal(rules: Any, a: Any, b: Any, c: Any, d: Any, extra: Any, n: Any) -> Any:
    """Action id of the ``n``-th legal move, from 0, of what :func:`legal` returned."""
    masks = (a, b, c, d, extra)
    for end in range(5):
        mask = masks[end]
        if n < bits(mask):
            for _ in range(n):
                mask &= mask - 1
            return min(end, rules.ends) * TILE_COUNT + lowest(mask)
        n -= bits(mask)
    return np.int64(-1)


@njit(cache=True)
def next_seat(t: Any, rules: Any) -> Any:
    """The seat after the one to move."""
    seat = t.turn + 1
    return 0 if seat == rules.players else seat


@njit(cache=True)
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


@njit(cache=True)
def draw_tile(t: Any, rules: Any) -> None:
    """Take the front tile of the boneyard; the turn stays.

    Of what the seat was known to lack, only the numbers at the two ends remain certain: the tiles
    it drew without playing don't fit, everything else may have come.
    """
    seat = t.turn
    tile = np.int64(t.deck[deck_size(rules) - t.boneyard])
    t.boneyard -= 1
    t.hands[seat] |= np.int64(1) << tile
    t.sizes[seat] += 1
    t.lacks[seat] = numbers_at_ends(t)


@njit(cache=True)
def numbers_at_ends(t: Any) -> Any:
    """Mask of the numbers at the two ends of a line."""
    return (np.int64(1) << (np.int64(t.ends[0]) - 1)) | (np.int64(1) << (np.int64(t.ends[1]) - 1))


@njit(cache=True)
def pass_turn(t: Any, rules: Any) -> Any:
    """Pass; returns BLOCK when all seats have passed in succession, else 0."""
    seat = t.turn
    if t.phase == POSE:
        t.turn = (seat + 2) % 4
        return 0
    show_lacks(t, rules, seat)
    t.passes += 1
    if t.passes == rules.players:
        return BLOCK
    t.turn = next_seat(t, rules)
    return 0


@njit(cache=True)
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


@njit(cache=True)
def lay(t: Any, rules: Any, tile: Any, end: Any) -> Any:
    """Lay a tile at an end; returns OUT when it was the seat's last tile, else 0."""
    seat = t.turn
    bit = np.int64(1) << tile
    posing = t.phase == POSE
    t.last_key = 0
    if rules.key_card != 0 and not posing and t.sizes[seat] == 1:
        t.last_key = is_key(t, rules, tile)
    if posing:
        pose(t, rules, tile)
    else:
        extend(t, rules, tile, end)
    t.hands[seat] &= ~bit
    t.sizes[seat] -= 1
    t.laid |= bit
    t.laid_by[tile] = seat + 1
    t.laid_at[tile] = t.ply
    t.laid_end[tile] = end
    t.passes = 0
    if t.sizes[seat] == 0:
        return OUT
    t.turn = next_seat(t, rules)
    return 0


@njit(cache=True)
def pose(t: Any, rules: Any, tile: Any) -> None:
    """Lay the first tile of a hand: ends = [high, low]; French: 0-0 with four free sides."""
    t.phase = PLAY
    t.opener = t.turn
    if not rules.cross:
        t.ends[0] = HIGH[tile] + 1
        t.ends[1] = LOW[tile] + 1


@njit(cache=True)
def extend(t: Any, rules: Any, tile: Any, end: Any) -> None:
    """Turn an end into the tile's other number; lock a French arm's first link, unlock by a double."""
    mark = np.int64(t.ends[end])
    if rules.cross:
        if mark == 0:
            t.locked |= np.int64(1) << end
            mark = np.int64(1)
        else:
            t.locked &= ~(np.int64(1) << end)
    t.ends[end] = HIGH[tile] + LOW[tile] + 2 - mark


@njit(cache=True)
def is_key(t: Any, rules: Any, tile: Any) -> Any:
    """Six-Love's key card (A18): two different numbers, fits both ends, all their kin laid."""
    bit = np.int64(1) << tile
    if HIGH[tile] == LOW[tile] or fits(t, 0) & fits(t, 1) & bit == 0:
        return False
    kin = (WITH_NUMBER[HIGH[tile]] | WITH_NUMBER[LOW[tile]]) & ~bit
    if rules.no_blank:
        kin &= ~np.int64(1)
    return kin & ~np.int64(t.laid) == 0
