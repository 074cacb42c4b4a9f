"""Perfect play of a line game's hand with every tile open: alpha-beta, compiled.

The solver sees all hands and the boneyard's order. The side of the seat to move makes as much of
the hand as it can, everybody else as little of it as they can: with two sides that is perfect play,
with more it is the worst that the others could do to that seat together ("paranoid", Sturtevant and
Korf, "On pruning techniques for multi-player games", 2000).

All that changes on the way stands in a few integers: the tiles that lie, the open ends, the turn,
the tiles drawn. A seat's tiles are those it held at the start and has drawn, without those that lie.
Ends are kept sorted, and equal ends count once: where a tile lies is no matter for what follows.
A table of positions met before (Zobrist's idea, with exact keys) holds bounds of their values.

Values are whole numbers, see :func:`total`; :func:`as_share` and :func:`as_points` turn them back.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dominozoo.bits import bits, lowest
from dominozoo.compiler import njit
from dominozoo.line.play import FLIP, TAKES, legal_ids, nth_legal
from dominozoo.line.score import PENALTIES, PIPS_OF_OTHERS, WINS, penalty, pip_count, side_of
from dominozoo.line.table import PLAY, deck_size
from dominozoo.tiles import DOUBLES, HIGH, LOW, PIPS, TILE_COUNT, WITH_NUMBER

# What a value counts.
POINTS: Final = 0  # the hand's points
WIN: Final = 1  # the share of the hand won
BOTH: Final = 2  # the share first, then the points
OBJECTIVES: Final = ("points", "win", "both")

WHOLE: Final = 12  # a won hand's share, so that it can be shared by 2, 3 and 4
WEIGHT: Final = 1 << 13  # of a twelfth of the share against points, in BOTH

UNSOLVED: Final = -1
NO_LIMIT: Final = 1 << 62
MOST_MOVES: Final = 64

# Places in the working array, int64.
HELD: Final = 0  # four: tiles held at the start and drawn since
ROOT: Final = 4  # the seat whose result is valued
OBJECTIVE: Final = 5
STAKE: Final = 6
NODES: Final = 7  # positions with a choice met so far
BUDGET: Final = 8
GENERATION: Final = 9  # of the table of positions: a solve forgets the one before
TURN_SHIFT: Final = 10  # of the turn in a position's key
FRONT: Final = 11  # place in the deck of the boneyard's first tile
BONEYARD: Final = 12  # its tiles
MASK: Final = 13  # slots of the table of positions, less one
DECK: Final = 16  # 28: the deck
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
_OFFSET: Final = 1 << 20

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
    return np.int64(-_OFFSET), np.int64(_OFFSET)


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
    w[slot + 1] = ((value + _OFFSET) << 2 | kind) << 7 | move


# The search. It keeps its way down in frames of the working array instead of calling itself: Numba
# can't bring a recursive function back from its cache.


@njit(cache=True)
def look_up(w: Any, slot: Any, key: Any, alpha: Any, beta: Any) -> Any:
    """(True if the table decides in the window, value, best move known or -1)."""
    if w[slot] != key:
        return False, np.int64(0), np.int64(-1)
    entry = w[slot + 1]
    kind, value = entry >> 7 & 3, (entry >> 9) - _OFFSET
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
            w[f + VALUE] = -_OFFSET if mine else _OFFSET
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
