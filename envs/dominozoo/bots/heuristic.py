"""Scripted players of the line games: random, easy, normal, hard and mobility.

A bot decides for the seat to move from what that seat may know: its own hand, what lies, who
lacks what, sizes, scores. It never reads another hand, the deck or the table's generator. It
draws from words of its own, ``rng``: uint32 (4,), the state of an sfc32.

Source of easy, normal and hard: the line-dominoes rules page (S3), which says in words what each
level minds. ``mobility`` is a fixed reference: doubles first, then what keeps one's hand playable.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dominozoo.bits import bits, lowest
from dominozoo.compiler import njit
from dominozoo.line.play import arms_begun, fits, forced_action, legal
from dominozoo.line.score import penalty, pip_count
from dominozoo.line.table import POSE, sfc32
from dominozoo.tiles import (
    ALL_TILES,
    DOUBLE_OF,
    HIGH,
    LOW,
    NUMBERS,
    PIPS,
    TILE_COUNT,
    WITH_NUMBER,
)

RANDOM: Final = 0
EASY: Final = 1
NORMAL: Final = 2
HARD: Final = 3
MOBILITY: Final = 4

EASY_CARE: Final = 5  # easy minds the weight in one move out of this many
FEW_TILES: Final = 2  # hard minds opponents with so few tiles twice

# What `hard` weighs, in pips: columns of WEIGHTS.
SHED: Final = 0  # each pip that the move takes off one's own count
DOUBLE: Final = 1  # the tile is a double
FIT: Final = 2  # each tile left that the new ends take
VARIETY: Final = 3  # each number among the tiles left
BLOCK: Final = 4  # chance that the next seat is stuck; then the seats after it
CLOSE: Final = 7  # times the edge in pips that a closed table gives

# Rows of WEIGHTS. In pairs the seat after the next is the partner: to stop him counts against.
# A seat that draws when stuck loses more by it, so stopping others weighs more there.
SOLO: Final = 0
DRAWING: Final = 1
PAIRS: Final = 2
CROSS: Final = 3
WEIGHTS: Final[npt.NDArray[np.float64]] = np.array(
    [
        [1.0, 6.0, 2.5, 1.0, 20.0, 15.0, 15.0, 3.0],
        [1.0, 15.0, 5.0, 5.0, 60.0, 30.0, 20.0, 4.0],
        [1.0, 8.0, 3.0, 1.0, 20.0, -10.0, 20.0, 6.0],
        [1.0, 5.0, 8.0, 10.0, 30.0, 30.0, 30.0, 1.0],
    ]
)


def _tiles_of_numbers(numbers: int) -> int:
    tiles = 0
    for number in range(NUMBERS):
        if numbers >> number & 1:
            tiles |= int(WITH_NUMBER[number])
    return tiles


def _doubles_of_numbers(numbers: int) -> int:
    return sum(1 << int(DOUBLE_OF[n]) for n in range(NUMBERS) if numbers >> n & 1)


# All tiles, and all doubles, of a set of numbers given as 7 bits.
OF_NUMBERS: Final[npt.NDArray[np.int64]] = np.array(
    [_tiles_of_numbers(k) for k in range(1 << NUMBERS)], np.int64
)
DOUBLES_OF_NUMBERS: Final[npt.NDArray[np.int64]] = np.array(
    [_doubles_of_numbers(k) for k in range(1 << NUMBERS)], np.int64
)


@njit(cache=True)
def roll(rng: Any, n: Any) -> Any:
    """A random integer below ``n``; moves ``rng``, uint32 (4,), one step on."""
    word, a, b, c, d = sfc32(np.int64(rng[0]), np.int64(rng[1]), np.int64(rng[2]), np.int64(rng[3]))
    rng[0], rng[1], rng[2], rng[3] = a, b, c, d
    return (word * n) >> 32


@njit(cache=True)
def open_after(t: Any, rules: Any, tile: Any, end: Any) -> Any:
    """Mask of all tiles that some end takes once ``tile`` lies at ``end``."""
    if t.phase == POSE:
        if rules.cross:
            return WITH_NUMBER[0]
        return WITH_NUMBER[HIGH[tile]] | WITH_NUMBER[LOW[tile]]
    mark = np.int64(t.ends[end])
    if mark == 0:  # French: a new arm, which takes its double only, after the fourth
        if arms_begun(t) < 3:
            return WITH_NUMBER[0]
        after = np.int64(1) << DOUBLE_OF[HIGH[tile] + LOW[tile]]
    else:
        after = WITH_NUMBER[HIGH[tile] + LOW[tile] + 1 - mark]
    for other in range(rules.ends):
        if other != end:
            after |= fits(t, other)
    return after


@njit(cache=True)
def unseen_tiles(t: Any, rules: Any) -> Any:
    """Mask of the tiles that the seat to move neither holds nor sees on the table."""
    seen = np.int64(t.laid) | np.int64(t.hands[t.turn]) | rules.no_blank
    return ALL_TILES & ~seen


@njit(cache=True)
def may_hold(t: Any, seat: Any, unseen: Any) -> Any:
    """The unseen tiles that another seat hasn't shown to lack."""
    return unseen & ~(OF_NUMBERS[t.lacks[seat]] | DOUBLES_OF_NUMBERS[t.lacks_double[seat]])


@njit(cache=True)
def stuck_chance(candidates: Any, wanted: Any, size: Any) -> Any:
    """Chance that ``size`` tiles drawn from ``candidates`` hold none of ``wanted``."""
    pool = bits(candidates)
    chance = 1.0
    for k in range(bits(candidates & wanted)):
        if pool - size <= k:
            return 0.0
        chance *= (pool - size - k) / (pool - k)
    return chance


@njit(cache=True)
def expected_pips(candidates: Any, size: Any) -> Any:
    """Mean pip count of ``size`` tiles drawn from ``candidates``."""
    pool = bits(candidates)
    if pool == 0:
        return 0.0
    return pip_count(candidates) * np.float64(size) / pool


@njit(cache=True)
def close_edge(t: Any, rules: Any, left: Any, unseen: Any) -> Any:
    """Pips by which a table closed now is won (above 0) or lost, as far as can be expected.

    Compares lowest hands, in Chiva pairs the pairs' totals. A stuck next seat draws the boneyard.
    """
    ours, theirs = np.float64(pip_count(left)), 1000.0
    total = 0.0
    for away in range(1, rules.players):
        seat = (t.turn + away) % rules.players
        size = np.int64(t.sizes[seat])
        if away == 1 and rules.draw != 0:
            size += t.boneyard
        pips = expected_pips(may_hold(t, seat, unseen), size)
        if rules.pairs == 0 or away != 2:
            theirs = min(theirs, pips)
            total += pips
        elif rules.pair_totals != 0:
            ours += pips
        else:
            ours = min(ours, pips)
    return (total if rules.pair_totals != 0 else theirs) - ours


@njit(cache=True)
def variety(hand: Any) -> Any:
    """How many different numbers a hand holds."""
    numbers = 0
    for number in range(NUMBERS):
        if hand & WITH_NUMBER[number] != 0:
            numbers += 1
    return numbers


@njit(cache=True)
def rate_hard(t: Any, rules: Any, tile: Any, end: Any, weights: Any) -> Any:
    """What ``hard`` thinks a move is worth, in pips; ``weights`` is a row of ``WEIGHTS``."""
    hand = np.int64(t.hands[t.turn])
    left = hand & ~(np.int64(1) << tile)
    opened = open_after(t, rules, tile, end)
    unseen = unseen_tiles(t, rules)
    fit = bits(left & opened)
    shed = penalty(hand) - penalty(left) if rules.cross else PIPS[tile]
    value = weights[SHED] * shed + weights[FIT] * fit + weights[VARIETY] * variety(left)
    if HIGH[tile] == LOW[tile]:
        value += weights[DOUBLE]
    closed, hold = 1.0, 0.0
    for away in range(1, rules.players):
        seat = (t.turn + away) % rules.players
        chance = stuck_chance(may_hold(t, seat, unseen), opened, np.int64(t.sizes[seat]))
        closed *= chance
        partner = rules.pairs != 0 and away == 2
        if t.sizes[seat] <= FEW_TILES and not partner:
            chance *= 2
        hold += weights[BLOCK + away - 1] * chance
    if rules.draw != 0 and t.boneyard > 0:  # who is stuck draws until something fits
        closed = 1.0 if opened & unseen == 0 else 0.0
    if fit == 0 and closed > 0.0:
        value += weights[CLOSE] * closed * close_edge(t, rules, left, unseen)
    return value + hold


@njit(cache=True)
def kind(rules: Any) -> Any:
    """The row of ``WEIGHTS`` for a game."""
    if rules.cross:
        return CROSS
    if rules.pairs:
        return PAIRS
    return DRAWING if rules.draw else SOLO


@njit(cache=True)
def rate(t: Any, rules: Any, code: Any, tile: Any, end: Any, weights: Any) -> Any:
    """What a bot thinks of laying ``tile`` at ``end``; more is better."""
    if code == HARD:
        return rate_hard(t, rules, tile, end, weights)
    left = np.int64(t.hands[t.turn]) & ~(np.int64(1) << tile)
    fit = bits(left & open_after(t, rules, tile, end))
    double = HIGH[tile] == LOW[tile]
    if code == MOBILITY:
        return (100.0 if double else 0.0) + fit
    if code == NORMAL:
        return PIPS[tile] + (5.0 if double else 0.0) + 1.5 * fit
    return np.float64(PIPS[tile])


@njit(cache=True)
def random_move(t: Any, rules: Any, rng: Any) -> Any:
    """One of the legal actions, each with the same chance."""
    a, b, c, d, extra = legal(t, rules)
    skip = roll(rng, bits(a) + bits(b) + bits(c) + bits(d) + bits(extra))
    for end in range(rules.ends + 1):
        tiles = a
        if end == rules.ends:
            tiles = extra
        elif end == 1:
            tiles = b
        elif end == 2:
            tiles = c
        elif end == 3:
            tiles = d
        while tiles != 0:
            if skip == 0:
                return end * TILE_COUNT + lowest(tiles)
            skip -= 1
            tiles &= tiles - 1
    return np.int64(-1)


@njit(cache=True)
def best_move(t: Any, rules: Any, code: Any, weights: Any, rng: Any) -> Any:
    """The tile and end that the bot rates highest, equal ones by lot.

    A bot that may leave the pose to its partner poses itself.
    """
    a, b, c, d, _ = legal(t, rules)
    best, equal, action = -1e9, 0, np.int64(-1)
    for end in range(rules.ends):
        tiles = a
        if end == 1:
            tiles = b
        elif end == 2:
            tiles = c
        elif end == 3:
            tiles = d
        while tiles != 0:
            tile = lowest(tiles)
            tiles &= tiles - 1
            value = rate(t, rules, code, tile, end, weights)
            equal = equal + 1 if value == best else 1
            if value > best or (value == best and roll(rng, equal) == 0):
                best, action = value, end * TILE_COUNT + tile
    return action


@njit(cache=True)
def decide(t: Any, rules: Any, code: Any, rng: Any) -> Any:
    """The action of the bot ``code`` for the seat to move.

    Args:
        t: a table record that isn't over.
        rules: the packed rules.
        code: RANDOM, EASY, NORMAL, HARD or MOBILITY.
        rng: uint32 (4,), the bot's generator; a forced move leaves it as it is.

    Returns:
        A legal action id, int64.
    """
    action = forced_action(t, rules)
    if action >= 0:
        return action
    if code == RANDOM or (code == EASY and roll(rng, EASY_CARE) != 0):
        return random_move(t, rules, rng)
    return best_move(t, rules, code, WEIGHTS[kind(rules)], rng)
