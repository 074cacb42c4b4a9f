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
from dominozoo.bots.codes import EASY, HARD, MOBILITY, NORMAL, RANDOM
from dominozoo.compiler import njit
from dominozoo.line.play import arms_begun, fits, legal, legal_ids, nth_legal
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


def _stuck_chances() -> npt.NDArray[np.float64]:
    """Chances that tiles drawn from a pool hold none of some wanted: a row a pool and a size."""
    span = np.arange(TILE_COUNT + 1)
    pool, size = span[:, None], span[None, :]
    chances = np.ones((len(span), len(span), len(span)))
    for k in range(TILE_COUNT):  # the k-th wanted tile isn't drawn either
        spared = np.maximum(pool - size - k, 0) / np.maximum(pool - k, 1)
        chances[:, :, k + 1] = chances[:, :, k] * spared
    return chances.reshape(-1, len(span))


# By pool * 29 + size, and by the number of wanted tiles in the pool.
STUCK: Final[npt.NDArray[np.float64]] = _stuck_chances()
# The numbers on a tile, as 7 bits.
NUMBERS_OF: Final[npt.NDArray[np.int64]] = (1 << HIGH) | (1 << LOW)


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
    return STUCK[stuck_row(candidates, size), bits(candidates & wanted)]


@njit(cache=True)
def stuck_row(candidates: Any, size: Any) -> Any:
    """The row of ``STUCK`` for ``size`` tiles drawn from ``candidates``."""
    return bits(candidates) * (TILE_COUNT + 1) + np.int64(size)


@njit(cache=True)
def expected_pips(candidates: Any, size: Any) -> Any:
    """Mean pip count of ``size`` tiles drawn from ``candidates``."""
    pool = bits(candidates)
    if pool == 0:
        return 0.0
    return pip_count(candidates) * np.float64(size) / pool


@njit(cache=True)
def closed_pips(t: Any, rules: Any, unseen: Any) -> Any:
    """What a closed table is expected to show: (the rivals' pips, the partner's).

    The rivals' are the lowest hand's, in Chiva pairs their total. A stuck next seat draws the
    boneyard.
    """
    lowest_hand, total, partner = 1000.0, 0.0, 0.0
    for away in range(1, rules.players):
        seat = (t.turn + away) % rules.players
        size = np.int64(t.sizes[seat])
        if away == 1 and rules.draw != 0:
            size += t.boneyard
        pips = expected_pips(may_hold(t, seat, unseen), size)
        if rules.pairs == 0 or away != 2:
            lowest_hand = min(lowest_hand, pips)
            total += pips
        else:
            partner = pips
    return total if rules.pair_totals != 0 else lowest_hand, partner


@njit(cache=True)
def close_edge(rules: Any, own: Any, rivals: Any, partner: Any) -> Any:
    """Pips by which a table closed now is won (above 0) or lost, as far as can be expected."""
    ours = np.float64(own)
    if rules.pairs != 0:
        ours = ours + partner if rules.pair_totals != 0 else min(ours, partner)
    return rivals - ours


@njit(cache=True)
def numbers_held(hand: Any) -> Any:
    """Masks of the numbers on a hand's tiles: (on any, on two or more)."""
    held, twice, rest = np.int64(0), np.int64(0), hand
    while rest != 0:
        numbers = NUMBERS_OF[lowest(rest)]
        rest &= rest - 1
        twice |= held & numbers
        held |= numbers
    return held, twice


@njit(cache=True)
def watch(t: Any, rules: Any, away: Any, unseen: Any) -> Any:
    """What ``hard`` minds about a seat: (tiles it may hold, its row of ``STUCK``, weight).

    A seat that the game lacks is always stuck and weighs nothing.
    """
    if away >= rules.players:
        return np.int64(0), np.int64(0), 0.0
    seat = (t.turn + away) % rules.players
    candidates = may_hold(t, seat, unseen)
    weight = WEIGHTS[kind(rules), BLOCK + away - 1]
    partner = rules.pairs != 0 and away == 2
    if t.sizes[seat] <= FEW_TILES and not partner:
        weight *= 2
    return candidates, stuck_row(candidates, t.sizes[seat]), weight


@njit(cache=True)
def stop(first: Any, second: Any, third: Any, opened: Any) -> Any:
    """(Chance that all three other seats are stuck, what stopping them is worth)."""
    one = STUCK[first[1], bits(first[0] & opened)]
    two = STUCK[second[1], bits(second[0] & opened)]
    three = STUCK[third[1], bits(third[0] & opened)]
    return one * two * three, first[2] * one + second[2] * two + third[2] * three


@njit(cache=True)
def shed_pips(rules: Any, hand: Any, tile: Any) -> Any:
    """What a move takes off one's own count."""
    if rules.cross == 0:
        return PIPS[tile]
    return penalty(hand) - penalty(hand & ~(np.int64(1) << tile))


@njit(cache=True)
def best_hard(t: Any, rules: Any, moves: Any, rng: Any) -> Any:
    """The move that ``hard`` rates highest, in pips, equal ones by lot.

    ``moves`` are the tiles that each end takes. What all moves share is reckoned once.
    """
    weights = WEIGHTS[kind(rules)]
    hand, unseen = np.int64(t.hands[t.turn]), unseen_tiles(t, rules)
    first, second = watch(t, rules, 1, unseen), watch(t, rules, 2, unseen)
    third = watch(t, rules, 3, unseen)
    held, twice = numbers_held(hand)
    drawing = rules.draw != 0 and t.boneyard > 0  # who is stuck draws until something fits
    own, rivals, partner = np.int64(-1), 0.0, 0.0  # reckoned when first needed
    best, equal, action = -1e9, 0, np.int64(-1)
    for end in range(rules.ends):
        tiles = moves[end]
        while tiles != 0:
            tile = lowest(tiles)
            tiles &= tiles - 1
            opened = open_after(t, rules, tile, end)
            fit = bits(hand & ~(np.int64(1) << tile) & opened)
            variety = bits(held & ~(NUMBERS_OF[tile] & ~twice))
            value = weights[SHED] * shed_pips(rules, hand, tile)
            value = value + weights[FIT] * fit + weights[VARIETY] * variety
            if HIGH[tile] == LOW[tile]:
                value += weights[DOUBLE]
            closed, hold = stop(first, second, third, opened)
            if drawing:
                closed = 1.0 if opened & unseen == 0 else 0.0
            if fit == 0 and closed > 0.0:
                if own < 0:
                    own = pip_count(hand)
                    rivals, partner = closed_pips(t, rules, unseen)
                value += (
                    weights[CLOSE] * closed * close_edge(rules, own - PIPS[tile], rivals, partner)
                )
            value += hold
            equal = equal + 1 if value == best else 1
            if value > best or (value == best and roll(rng, equal) == 0):
                best, action = value, end * TILE_COUNT + tile
    return action


@njit(cache=True)
def kind(rules: Any) -> Any:
    """The row of ``WEIGHTS`` for a game."""
    if rules.cross:
        return CROSS
    if rules.pairs:
        return PAIRS
    return DRAWING if rules.draw else SOLO


@njit(cache=True)
def rate(t: Any, rules: Any, code: Any, tile: Any, end: Any) -> Any:
    """What a simple bot thinks of laying ``tile`` at ``end``; more is better."""
    left = np.int64(t.hands[t.turn]) & ~(np.int64(1) << tile)
    fit = bits(left & open_after(t, rules, tile, end))
    double = HIGH[tile] == LOW[tile]
    if code == MOBILITY:
        return (100.0 if double else 0.0) + fit
    if code == NORMAL:
        return PIPS[tile] + (5.0 if double else 0.0) + 1.5 * fit
    return np.float64(PIPS[tile])


@njit(cache=True)
def best_move(t: Any, rules: Any, code: Any, moves: Any, rng: Any) -> Any:
    """The tile and end that a simple bot rates highest, equal ones by lot."""
    best, equal, action = -1e9, 0, np.int64(-1)
    for end in range(rules.ends):
        tiles = moves[end]
        while tiles != 0:
            tile = lowest(tiles)
            tiles &= tiles - 1
            value = rate(t, rules, code, tile, end)
            equal = equal + 1 if value == best else 1
            if value > best or (value == best and roll(rng, equal) == 0):
                best, action = value, end * TILE_COUNT + tile
    return action


@njit(cache=True)
def decide(t: Any, rules: Any, code: Any, rng: Any) -> Any:
    """The action of the bot ``code`` for the seat to move.

    A bot that may leave the pose to its partner poses itself, but for ``random``.

    Args:
        t: a table record that isn't over.
        rules: the packed rules.
        code: RANDOM, EASY, NORMAL, HARD or MOBILITY.
        rng: uint32 (4,), the bot's generator; a forced move leaves it as it is.

    Returns:
        A legal action id, int64.
    """
    low, high = legal_ids(t, rules)
    count = bits(low) + bits(high)
    if count == 1:
        return nth_legal(low, high, 0)
    if code == RANDOM or (code == EASY and roll(rng, EASY_CARE) != 0):
        return nth_legal(low, high, roll(rng, count))
    a, b, c, d, _ = legal(t, rules)
    if code == HARD:
        return best_hard(t, rules, (a, b, c, d), rng)
    return best_move(t, rules, code, (a, b, c, d), rng)
