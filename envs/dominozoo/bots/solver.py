"""Perfect play of a line game's hand with every tile open: alpha-beta, compiled.

The solver sees all hands and the boneyard's order. The side of the seat to move makes as much of
the hand as it can, everybody else as little of it as they can: with two sides that is perfect play,
with more it is the worst that the others could do to that seat together ("paranoid", Sturtevant and
Korf, "On pruning techniques for multi-player games", 2000).

A table of positions met before (Zobrist's idea, with exact keys) holds bounds of their values, whole
numbers as :mod:`dominozoo.bots.opened` has them.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dominozoo.bits import bits, lowest
from dominozoo.bots.opened import (
    BONEYARD,
    BOTH,
    DECK,
    FITS,
    FRONT,
    HELD,
    LOCK,
    NIBBLE,
    NO_BOUND,
    OBJECTIVE,
    POINTS,
    ROOT,
    STAKE,
    WIN,
    after,
    as_points,
    as_share,
    bounds,
    ends_open,
    forced,
    gone_out,
    put,
    put_back,
    taken,
    turned,
)
from dominozoo.compiler import njit
from dominozoo.line.play import legal_ids, nth_legal
from dominozoo.line.score import side_of
from dominozoo.line.table import PLAY, deck_size
from dominozoo.tiles import HIGH, LOW, PIPS, TILE_COUNT

__all__ = [
    "BOTH",
    "MOST_MOVES",
    "NO_LIMIT",
    "POINTS",
    "UNSOLVED",
    "WIN",
    "as_points",
    "as_share",
    "make_work",
    "solve_moves",
]

UNSOLVED: Final = -1
NO_LIMIT: Final = 1 << 62
MOST_MOVES: Final = 64

# Places in the working array, int64, beside those of ``opened``.
NODES: Final = 7  # positions with a choice met so far
BUDGET: Final = 8
GENERATION: Final = 9  # of the table of positions: a solve forgets the one before
TURN_SHIFT: Final = 10  # of the turn in a position's key
MASK: Final = 13  # slots of the table of positions, less one
FRAMES: Final = 48  # the way down: a frame for each position with a choice
FRAME: Final = 48  # words a frame
STORE: Final = FRAMES + TILE_COUNT * FRAME  # the table of positions: keys and values in turn

# Places in a frame.
LAID: Final = 0
ENDS: Final = 1
TURN: Final = 2
START: Final = 3  # what had been drawn when the frame was entered
NOW: Final = 4  # and once nothing was left to force
KEY: Final = 5
LEAST: Final = 6  # the window at the start
MOST: Final = 7
ALPHA: Final = 8  # and now
BETA: Final = 9
VALUE: Final = 10
BEST: Final = 11
TRIED: Final = 12
COUNT: Final = 13  # moves still to try
MINE: Final = 14  # the root's side moves
MOVES: Final = 16  # those moves, at most 28 that differ

SLOTS: Final = 1 << 14  # of the table: what the next cache of a processor holds
# A key's parts: tiles that lie, ends, turn, tiles drawn and by whom, generation.
ENDS_SHIFT: Final = 28
LINE_TURN_SHIFT: Final = 36
CROSS_TURN_SHIFT: Final = 44
DRAWN_SHIFT: Final = 38
GENERATION_SHIFT: Final = 57
GENERATIONS: Final = 1 << 6
_FOLD: Final = 31
_FOLDED: Final = (1 << _FOLD) - 1
_SPREAD: Final = 0x9E3779B1

# How a stored value bounds the true one.
EXACT: Final = 0
AT_LEAST: Final = 1
AT_MOST: Final = 2


def make_work(slots: int = SLOTS) -> npt.NDArray[np.int64]:
    """Working memory of the solver, int64 (n,); it may be used again and again.

    ``slots``, a power of two, is the size of the table of positions; long solves gain by more.
    """
    work = np.zeros(STORE + 2 * slots, np.int64)
    work[MASK] = slots - 1
    return work


@njit(cache=True)
def load(t: Any, rules: Any, w: Any, objective: Any, budget: Any) -> None:
    """Put a table into the working array."""
    for seat in range(4):
        w[HELD + seat] = t.hands[seat]
    for k in range(TILE_COUNT):
        w[DECK + k] = t.deck[k]
    w[ROOT], w[OBJECTIVE], w[STAKE] = t.turn, objective, t.stake
    w[NODES], w[BUDGET] = 0, budget
    w[FRONT], w[BONEYARD] = deck_size(rules) - t.boneyard, t.boneyard
    w[TURN_SHIFT] = CROSS_TURN_SHIFT if rules.cross != 0 else LINE_TURN_SHIFT
    w[GENERATION] += 1
    if w[GENERATION] == GENERATIONS:
        w[GENERATION] = 1
        w[STORE:] = 0


@njit(cache=True)
def promise(w: Any, rules: Any, laid: Any, ends: Any, turn: Any, tile: Any) -> Any:
    """How early a move should be tried: those that stop the next seat first, then heavy ones."""
    seat = after(rules, turn)
    fit = bits(w[seat] & ~laid & taken(rules, ends))
    return 256 - 16 * fit + PIPS[tile] + (8 if HIGH[tile] == LOW[tile] else 0)


@njit(cache=True)
def list_moves(w: Any, rules: Any, laid: Any, ends: Any, turn: Any, first: Any, base: Any) -> Any:
    """Write the moves that differ to ``base`` on, 7 bits each below their promise; their number."""
    hand, count = w[turn] & ~laid, 0
    before = np.int64(-1)
    for at in range(ends_open(rules, ends)):
        end = ends >> 4 * at & NIBBLE
        tiles = hand & FITS[end] if end != before else np.int64(0)
        before = end
        while tiles != 0:
            tile = lowest(tiles)
            bit = tiles & -tiles
            tiles ^= bit
            move = at << 5 | tile
            if move == first:
                early = np.int64(1 << 20)
            else:
                ends_then = put(rules, ends, at, turned(end, tile))
                early = promise(w, rules, laid | bit, ends_then, turn, tile)
            w[base + count] = early << 7 | move
            count += 1
    return count


@njit(cache=True)
def take_best(w: Any, base: Any, count: Any) -> Any:
    """Take the most promising of ``count`` moves out of the list; the last one fills its place."""
    best = base
    for k in range(base + 1, base + count):
        if w[k] > w[best]:
            best = k
    move = w[best]
    w[best] = w[base + count - 1]
    return move & 127


# The table of positions.


@njit(cache=True)
def key_of(w: Any, laid: Any, ends: Any, turn: Any, drawn: Any) -> Any:
    """A position as one number, with the solve that it belongs to."""
    key = laid | ends << ENDS_SHIFT | turn << w[TURN_SHIFT] | drawn << DRAWN_SHIFT
    return key | w[GENERATION] << GENERATION_SHIFT


@njit(cache=True)
def slot_of(w: Any, key: Any) -> Any:
    """Where a position is kept in the working array, whichever solve it belongs to.

    So what a solve forgets depends on nothing that was solved before.
    """
    key &= (np.int64(1) << GENERATION_SHIFT) - 1
    folded = (key ^ key >> _FOLD) & _FOLDED
    return STORE + 2 * (folded * _SPREAD >> 24 & w[MASK])


@njit(cache=True)
def store(w: Any, slot: Any, key: Any, value: Any, alpha: Any, beta: Any, move: Any) -> None:
    """Keep what a search in the window alpha..beta has found."""
    kind = AT_MOST if value <= alpha else AT_LEAST if value >= beta else EXACT
    w[slot] = key
    w[slot + 1] = ((value + NO_BOUND) << 2 | kind) << 7 | move


# The search. It keeps its way down in frames of the working array instead of calling itself: Numba
# can't bring a recursive function back from its cache.


@njit(cache=True)
def look_up(w: Any, slot: Any, key: Any, alpha: Any, beta: Any) -> Any:
    """(True if the table decides in the window, value, best move known or -1)."""
    if w[slot] != key:
        return False, np.int64(0), np.int64(-1)
    entry = w[slot + 1]
    kind, value = entry >> 7 & 3, (entry >> 9) - NO_BOUND
    decides = kind == EXACT
    decides |= kind == AT_LEAST and value >= beta
    decides |= kind == AT_MOST and value <= alpha
    return decides, value, entry & 127


@njit(cache=True)
def enter(
    w: Any,
    rules: Any,
    f: Any,
    laid: Any,
    ends: Any,
    turn: Any,
    passes: Any,
    drawn: Any,
    alpha: Any,
    beta: Any,
) -> Any:
    """Play on to the next choice and write its frame at ``f``; (True, 0), or (False, value)."""
    start = drawn
    over, value, laid, ends, turn, drawn = forced(w, rules, laid, ends, turn, passes, drawn)
    if not over:
        w[NODES] += 1
        key = key_of(w, laid, ends, turn, drawn)
        over, value, first = look_up(w, slot_of(w, key), key, alpha, beta)
        if not over:
            mine = side_of(rules, turn) == side_of(rules, w[ROOT])
            w[f + LAID], w[f + ENDS], w[f + TURN] = laid, ends, turn
            w[f + START], w[f + NOW], w[f + KEY] = start, drawn, key
            w[f + ALPHA], w[f + BETA], w[f + LEAST], w[f + MOST] = alpha, beta, alpha, beta
            w[f + VALUE] = -NO_BOUND if mine else NO_BOUND
            w[f + MINE], w[f + BEST] = mine, first
            w[f + COUNT] = list_moves(w, rules, laid, ends, turn, first, f + MOVES)
            return True, value
    if drawn != start:
        put_back(w, start, drawn)
    return False, value


@njit(cache=True)
def take(w: Any, f: Any, got: Any) -> None:
    """What the move tried last has brought to a frame."""
    if w[f + MINE] != 0:
        if got > w[f + VALUE]:
            w[f + VALUE], w[f + BEST] = got, w[f + TRIED]
            w[f + ALPHA] = max(w[f + ALPHA], got)
    elif got < w[f + VALUE]:
        w[f + VALUE], w[f + BEST] = got, w[f + TRIED]
        w[f + BETA] = min(w[f + BETA], got)


@njit(cache=True)
def leave(w: Any, f: Any) -> Any:
    """Keep a frame's result in the table; returns its value."""
    key, value = w[f + KEY], w[f + VALUE]
    store(w, slot_of(w, key), key, value, w[f + LEAST], w[f + MOST], w[f + BEST])
    if w[f + NOW] != w[f + START]:
        put_back(w, w[f + START], w[f + NOW])
    return value


@njit(cache=True)
def search(
    w: Any,
    rules: Any,
    laid: Any,
    ends: Any,
    turn: Any,
    passes: Any,
    drawn: Any,
    alpha: Any,
    beta: Any,
) -> Any:
    """The value of a position to the root, exact inside alpha..beta, else a bound.

    It stops above the budget, which NODES then shows; the result means nothing then.

    Args:
        w: the working array.
        rules: the packed rules.
        laid: tiles that lie.
        ends: the ends, sorted, four bits each.
        turn: the seat to move.
        passes: made in succession until now.
        drawn: what has been drawn since the root.
        alpha: the root has this much elsewhere.
        beta: the others can hold it to this elsewhere.
    """
    top = np.int64(FRAMES)  # where the next frame goes
    while True:
        deeper, got = enter(w, rules, top, laid, ends, turn, passes, drawn, alpha, beta)
        if w[NODES] > w[BUDGET]:
            return np.int64(0)
        if deeper:
            top += FRAME
        elif top == FRAMES:
            return got
        else:
            take(w, top - FRAME, got)
        f = top - FRAME
        while w[f + COUNT] == 0 or w[f + ALPHA] >= w[f + BETA]:
            got = leave(w, f)
            if f == FRAMES:
                return got
            f -= FRAME
            take(w, f, got)
        top = f + FRAME
        move = take_best(w, f + MOVES, w[f + COUNT])
        w[f + COUNT] -= 1
        w[f + TRIED] = move
        at, tile, ends = move >> 5, move & 31, w[f + ENDS]
        ends = put(rules, ends, at, turned(ends >> 4 * at & NIBBLE, tile))
        laid = w[f + LAID] | np.int64(1) << tile
        turn, passes, drawn = after(rules, w[f + TURN]), np.int64(0), w[f + NOW]
        alpha, beta = w[f + ALPHA], w[f + BETA]


# From a table.


@njit(cache=True)
def ends_of(t: Any, rules: Any) -> Any:
    """A table's ends, sorted, four bits each."""
    ends = np.int64(0)
    for k in range(rules.ends):
        end = np.int64(t.ends[k]) | (np.int64(t.locked) >> k & 1) * LOCK
        at = 0
        while at < 4 * k and ends >> at & NIBBLE < end:
            at += 4
        below = (np.int64(1) << at) - 1
        ends = ends & below | end << at | (ends & ~below) << 4
    return ends


@njit(cache=True)
def pose_value(w: Any, rules: Any, seat: Any, tile: Any, alpha: Any, beta: Any) -> Any:
    """The value of posing a tile."""
    ends = np.int64(0)
    if rules.cross == 0:
        ends = LOW[tile] + 1 | (HIGH[tile] + 1) << 4
    laid = np.int64(1) << tile
    return search(w, rules, laid, ends, after(rules, seat), 0, np.int64(0), alpha, beta)


@njit(cache=True)
def left_to_partner(w: Any, rules: Any, seat: Any, alpha: Any, beta: Any) -> Any:
    """The value of leaving the pose to the partner: his best one."""
    best, tiles = alpha, w[(seat + 2) % 4]
    while tiles != 0 and best < beta:
        best = max(best, pose_value(w, rules, (seat + 2) % 4, lowest(tiles), best, beta))
        tiles &= tiles - 1
    return best


@njit(cache=True)
def play_value(t: Any, rules: Any, w: Any, action: Any, alpha: Any, beta: Any) -> Any:
    """The value of laying a tile at an end of a table in play."""
    tile, arm = action % TILE_COUNT, action // TILE_COUNT
    seat, laid, bit = np.int64(t.turn), np.int64(t.laid), np.int64(1) << (action % TILE_COUNT)
    ends = ends_of(t, rules)
    if w[seat] & ~bit == 0:
        return gone_out(w, rules, laid, ends, seat, tile)
    end = np.int64(t.ends[arm]) | (np.int64(t.locked) >> arm & 1) * LOCK
    at = np.int64(0)
    while ends >> 4 * at & NIBBLE != end:
        at += 1
    ends = put(rules, ends, at, turned(end, tile))
    return search(w, rules, laid | bit, ends, after(rules, seat), 0, np.int64(0), alpha, beta)


@njit(cache=True)
def action_value(t: Any, rules: Any, w: Any, action: Any, alpha: Any, beta: Any) -> Any:
    """The value of an action of a loaded table, exact inside alpha..beta, else a bound."""
    seat = np.int64(t.turn)
    if t.phase == PLAY:
        if action < rules.ends * TILE_COUNT:
            return play_value(t, rules, w, action, alpha, beta)
        laid, passes = np.int64(t.laid), np.int64(t.passes)
        return search(w, rules, laid, ends_of(t, rules), seat, passes, np.int64(0), alpha, beta)
    if action < rules.ends * TILE_COUNT:
        return pose_value(w, rules, seat, action, alpha, beta)
    return left_to_partner(w, rules, seat, alpha, beta)


@njit(cache=True, nogil=True)
def solve_moves(
    t: Any, rules: Any, w: Any, objective: Any, budget: Any, ids: Any, values: Any
) -> Any:
    """Value every legal move of the seat to move.

    Args:
        t: the table record, not over; all of it is read, the boneyard's order too.
        rules: the packed rules.
        w: from :func:`make_work`.
        objective: POINTS, WIN or BOTH.
        budget: positions with a choice that may be looked at, for all moves together.
        ids: int64 (MOST_MOVES,); takes the legal action ids.
        values: int64 (MOST_MOVES,); takes their values.

    Returns:
        The number of legal moves, or UNSOLVED where the budget didn't last.
    """
    load(t, rules, w, objective, budget)
    low, high = legal_ids(t, rules)
    least, most = bounds(w, rules, np.int64(t.laid))
    count = bits(low) + bits(high)
    for k in range(count):
        ids[k] = nth_legal(low, high, k)
        values[k] = action_value(t, rules, w, ids[k], least, most)
        if w[NODES] > w[BUDGET]:
            return np.int64(UNSOLVED)
    return count
