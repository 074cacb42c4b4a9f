"""Compiled entry points of the line games: many tables in one call, or one table for AEC.

All take ``tables`` (dtype ``TABLE``, shape (B,)) and ``packed`` (dtype ``LINE_RULES``, shape (1,)).
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dominozoo.bits import bits, fetch_ahead, nth, row_of
from dominozoo.compiler import njit
from dominozoo.fields import MAX_PLY
from dominozoo.line.play import (
    FITTING,
    SPLIT,
    TAKES,
    apply,
    end_code,
    forced_action,
    is_key,
    is_legal,
    legal_ids,
    legal_poses,
    may_leave_pose,
    nth_legal,
)
from dominozoo.line.score import (
    CUT,
    HAND_ENDED,
    MATCH_OVER,
    end_hand,
    finish,
)
from dominozoo.line.table import (
    BLOCK,
    NOBODY,
    OUT,
    POSE,
    clear_hand,
    clear_match,
    deck_size,
    next_hand,
    open_hand,
    take_hands,
)
from dominozoo.line.view import observe, write_mask
from dominozoo.onehot import expand_line
from dominozoo.tiles import HIGH, LOW, TILE_COUNT, TILES, WITH_NUMBER

_WORD: Final = 0xFFFFFFFF

# Tables that the check of actions asks for in advance: it sees one line of cache of each, too
# little for the processor to go by, and most of the time it would wait for memory.
AHEAD: Final = 16


@njit(cache=True, nogil=True)
def start_tables(tables: Any, packed: Any, where: Any, posers: Any) -> None:
    """Start a new match on the tables where ``where`` is true; posers: seat or -1 by table."""
    for i in range(tables.shape[0]):
        if where[i]:
            clear_match(tables[i], posers[i])
            next_hand(tables[i], packed[0])


@njit(cache=True, inline="always")
def write_row(t: Any, rules: Any, observation: Any, i: Any, one_hot: Any) -> None:
    """Write row i of ``observation``; given ``one_hot``, float32 (B, columns), its row i.

    ``observation`` has a single row then, to work in: the same type, so nothing is compiled twice.
    """
    if one_hot is None:
        observe(t, rules, t.turn, row_of(observation, i))
    else:
        row = row_of(observation, 0)
        observe(t, rules, t.turn, row)
        expand_line(row, row_of(one_hot, i))


@njit(cache=True, nogil=True)
def observe_tables(
    tables: Any, packed: Any, observation: Any, mask: Any, turn: Any, one_hot: Any = None
) -> None:
    """Write observation and mask of each table's seat to move, and that seat."""
    rules = packed[0]
    for i in range(tables.shape[0]):
        t = tables[i]
        turn[i] = t.turn
        write_row(t, rules, observation, i, one_hot)
        write_mask(t, rules, row_of(mask, i))


@njit(cache=True, nogil=True)
def first_illegal(tables: Any, packed: Any, actions: Any) -> Any:
    """Index of the first table whose action is illegal, or -1."""
    for i in range(tables.shape[0]):
        fetch_ahead(tables, i + AHEAD)
        if not is_legal(tables[i], packed[0], np.int64(actions[i])):
            return i
    return -1


@njit(cache=True, inline="always")
def deal_on(t: Any, rules: Any, status: Any) -> None:
    """Deal what follows a hand that ended: a new match, or the next hand."""
    if status & (MATCH_OVER | CUT) != 0:
        clear_match(t, NOBODY)
    next_hand(t, rules)


@njit(cache=True, inline="always")
def play_on(t: Any, rules: Any, action: Any, max_hands: Any, by_match: Any, reward: Any) -> Any:
    """Make a move and deal what comes next: the next hand, or a new match."""
    status = finish(t, rules, action, max_hands, by_match, reward)
    if status != 0:
        deal_on(t, rules, status)
    return status


@njit(cache=True, nogil=True)
def step_tables(
    tables: Any,
    packed: Any,
    actions: Any,
    max_hands: Any,
    by_match: Any,
    auto_forced: Any,
    observation: Any,
    mask: Any,
    turn: Any,
    reward: Any,
    hands_ended: Any,
    terminated: Any,
    truncated: Any,
    forced: Any,
    one_hot: Any = None,
) -> None:
    """Step every table by its action, deal, play forced moves, write what follows.

    ``actions`` must be legal. ``auto_forced`` plays on while there is no choice, but not past an
    episode's end; rewards and ended hands of all its moves are summed. ``one_hot`` as in
    ``write_row``.
    """
    rules = packed[0]
    for i in range(tables.shape[0]):
        t = tables[i]
        gained = row_of(reward, i)
        for seat in range(rules.players):
            gained[seat] = 0.0
        ended, moves = 0, 0
        action = np.int64(actions[i])
        status = 0
        while True:
            status = play_on(t, rules, action, max_hands, by_match, gained)
            ended += status & HAND_ENDED
            if auto_forced == 0 or status & (MATCH_OVER | CUT) != 0:
                break
            action = forced_action(t, rules)
            if action < 0:
                break
            moves += 1
        hands_ended[i] = ended
        forced[i] = moves
        cut = status & CUT != 0
        terminated[i] = status & MATCH_OVER != 0 or (cut and by_match == 0)
        truncated[i] = cut and by_match != 0
        turn[i] = t.turn
        write_row(t, rules, observation, i, one_hot)
        write_mask(t, rules, row_of(mask, i))


# What `random_play` counts, by index; reasons and seats follow these.
MOVES: Final = 0
HANDS: Final = 1
MATCHES: Final = 2
BY_REASON: Final = 2  # + OUT, BLOCK or TIED
BY_SEAT: Final = 6  # + the seat that won the hand
POINTS: Final = 10


@njit(cache=True)
def xorshift32(word: Any) -> Any:
    """The next word of Marsaglia's xorshift32, 32 bits in int64; 0 stays 0."""
    word ^= word << 13 & _WORD
    word ^= word >> 17
    return word ^ (word << 5 & _WORD)


@njit(cache=True)
def random_move(t: Any, rules: Any, word: Any) -> Any:
    """The legal action that a random word of 32 bits chooses, in the order of the ids."""
    low, high = legal_ids(t, rules)
    return nth_legal(low, high, (word * (bits(low) + bits(high))) >> 32)


# The plays that fit after the pose, by tile.
POSED: Final[npt.NDArray[np.int64]] = np.array(
    [TAKES[hi + 1] | TAKES[lo + 1] << TILE_COUNT for hi, lo in TILES], np.int64
)

NOTHING: Final = 64  # what `nth` finds where no tile fits

# By action id or NOTHING: the tile as a mask, and the plays that fit its end after it but not before
# it, or before it but not after it.
TILE_BIT: Final[npt.NDArray[np.int64]] = np.array(
    [1 << k % TILE_COUNT if k < SPLIT else 0 for k in range(NOTHING + 1)], np.int64
)
FITS_FLIPPED: Final[npt.NDArray[np.int64]] = np.array(
    [
        int(WITH_NUMBER[HIGH[k % TILE_COUNT]] ^ WITH_NUMBER[LOW[k % TILE_COUNT]])
        << k // TILE_COUNT * TILE_COUNT
        if k < SPLIT
        else 0
        for k in range(NOTHING + 1)
    ],
    np.int64,
)


@njit(cache=True)
def choose(ids: Any, word: Any) -> Any:
    """The action that a random word of 32 bits chooses from a mask; NOTHING from none."""
    return nth(ids, (word * bits(ids)) >> 32)


@njit(cache=True)
def coast(t: Any, rules: Any, word: Any, moves: Any, played: Any) -> Any:
    """Make random moves of a line, up to ``moves`` or the hand's end.

    The same moves as by :func:`random_move` and ``apply``, in less time: the state stands in
    local variables, no branch depends on a choice, and what the next deal clears isn't kept up
    (``phase``, ``sizes``, ``ply``, who laid what when, who lacks what).

    Args:
        t: a table with a tile to lay, to draw or to pass, not French.
        rules: the packed rules.
        word: of xorshift32.
        moves: how many moves may be made, 1 or more.
        played: uint8 (MAX_PLY + 1,), for the moves made: action ids, NOTHING = no tile laid.

    Returns:
        The word, the number of moves made, and how the hand ended, to be scored: OUT or BLOCK. Or 0
        if it outlasts ``moves``: then the hands alone are as they should be, and :func:`replay`
        brings the rest on.
    """
    laid, seat, passes = np.int64(t.laid), np.int64(t.turn), np.int64(t.passes)
    stock = np.int64(t.boneyard) if rules.draw != 0 else np.int64(0)
    size, players, first = deck_size(rules), rules.players, 0
    if t.phase == POSE:
        word = xorshift32(word)
        tile = np.uint64(choose(legal_poses(t, rules), word))
        played[0], first = tile, 1
        fit, laid = POSED[tile], TILE_BIT[tile]
        t.hands[np.uint64(seat)] = np.int64(t.hands[np.uint64(seat)]) & ~laid
        t.opener = seat
        seat = seat + 1 if seat + 1 < players else np.int64(0)
    else:
        fit = FITTING[np.uint64(end_code(t))]
    for made in range(first, moves):
        hand = np.int64(t.hands[np.uint64(seat)])
        plays = (hand | hand << TILE_COUNT) & fit
        word = xorshift32(word)
        action = np.uint64(choose(plays, word))
        played[np.uint64(made)] = action
        after = hand & ~TILE_BIT[action]
        stuck = np.int64(plays == 0)
        passes = (passes + 1) * stuck
        following = seat + 1 if seat + 1 < players else np.int64(0)
        if stock > 0:
            after |= stuck << np.int64(t.deck[np.uint64(size - stock)])
            stock -= stuck
            passes = np.int64(0)
            following = seat if stuck else following
        if (after == 0) | (passes == players):
            t.hands[np.uint64(seat)], t.turn, t.last_key = after, seat, 0
            if rules.key_card != 0 and after == 0:
                t.last_key = is_key(rules, hand, fit & fit >> TILE_COUNT, laid)
            return word, made + 1, np.int64(OUT if after == 0 else BLOCK)
        t.hands[np.uint64(seat)] = after
        fit ^= FITS_FLIPPED[action]
        laid |= hand & ~after
        seat = following
    return word, moves, np.int64(0)


@njit(cache=True)
def replay(t: Any, rules: Any, played: Any, moves: Any) -> None:
    """Make the first ``moves`` moves that :func:`coast` wrote down; none of them ends the hand.

    That the hands have been through them already changes nothing: a tile is taken out twice.
    """
    for k in range(moves):
        action = np.int64(played[k])
        if action == NOTHING:
            action = np.int64(rules.ends * TILE_COUNT + (t.boneyard == 0 or rules.draw == 0))
        apply(t, rules, action)


@njit(cache=True)
def count_hand(t: Any, status: Any, counts: Any) -> None:
    """Add a finished hand to ``counts``."""
    counts[HANDS] += 1
    counts[MATCHES] += status >> 1 & 1
    counts[BY_REASON + t.last_reason] += 1
    if t.last_seat != NOBODY:
        counts[BY_SEAT + t.last_seat] += 1
    points = np.int64(0)
    for side in range(4):
        points += t.last_points[side]
    counts[POINTS] += points


@njit(cache=True, nogil=True)
def random_play(tables: Any, packed: Any, words: Any, moves: Any, counts: Any) -> None:
    """Make random legal moves on each table, one table after the other, inside one call.

    A move steps the table's word and takes the n-th of its ``count`` legal actions in the order of
    the ids, ``n = word * count >> 32``; where there is no choice the word is stepped all the same.
    Hands are dealt and matches started as in :func:`step_tables`.

    Args:
        tables: the tables.
        packed: the rules.
        words: uint32 (B,), an xorshift32 generator a table, never 0; written back.
        moves: the number of moves on each table.
        counts: int64 (16,), added to: 0 moves, 1 hands ended, 2 matches over; hands by how they
            ended: 3 out, 4 block, 5 tie; 6..9 hands won by seat; 10 points won (French: penalties).
    """
    rules, played = packed[0], np.empty(MAX_PLY + 1, np.uint8)
    for i in range(tables.shape[0]):
        t = tables[i]
        word, left = np.int64(words[i]), np.int64(moves)
        while left > 0:
            if rules.cross or (t.phase == POSE and may_leave_pose(t, rules)):
                word = xorshift32(word)
                how = apply(t, rules, random_move(t, rules, word))
                left -= 1
            else:
                word, made, how = coast(t, rules, word, left, played)
                left -= made
                if how == 0:
                    replay(t, rules, played, made)
            if how != 0:
                status = end_hand(t, rules, how)
                count_hand(t, status, counts)
                deal_on(t, rules, status)
        words[i] = word
        counts[MOVES] += moves


@njit(cache=True)
def finish_one(
    tables: Any, packed: Any, action: Any, max_hands: Any, by_match: Any, reward: Any
) -> Any:
    """``score.finish`` for the first table; the action must be legal."""
    return finish(tables[0], packed[0], action, max_hands, by_match, reward)


@njit(cache=True)
def next_hand_one(tables: Any, packed: Any) -> None:
    """``table.next_hand`` for the first table."""
    next_hand(tables[0], packed[0])


@njit(cache=True)
def observe_one(tables: Any, packed: Any, seat: Any, row: Any) -> None:
    """``view.observe`` for the first table, for any seat."""
    observe(tables[0], packed[0], seat, row)


@njit(cache=True)
def mask_one(tables: Any, packed: Any, row: Any) -> None:
    """``view.write_mask`` for the first table; all zeros when the match is over."""
    write_mask(tables[0], packed[0], row)


# What a row of an event log holds; `log` has shape (MAX_PLY + 1, LOG_COLUMNS), int8, a row a ply.
LOG_COLUMNS: Final = 8
LOG_PLAY: Final = 0
LOG_DRAW: Final = 1
LOG_PASS: Final = 2
ILLEGAL: Final = -1
ENDED: Final = 4  # `step_one` returns ENDED * status when the hand ended


@njit(cache=True)
def log_move(t: Any, rules: Any, action: Any, row: Any) -> None:
    """Write kind, seat, tile and end (-1 = none) of a legal move that is about to be made."""
    kind = action - rules.ends * TILE_COUNT + 1
    row[0] = kind if kind > 0 else LOG_PLAY
    row[1] = t.turn
    row[2] = NOBODY
    row[3] = NOBODY
    if kind <= 0:
        row[2] = action % TILE_COUNT
        row[3] = action // TILE_COUNT
    elif kind == LOG_DRAW:
        row[2] = t.deck[deck_size(rules) - t.boneyard]


@njit(cache=True)
def step_one(
    tables: Any, packed: Any, action: Any, max_hands: Any, by_match: Any, log: Any, reward: Any
) -> Any:
    """Make and log a move on the first table; nothing is dealt.

    Args:
        tables: the table, shape (1,).
        packed: the packed rules, shape (1,).
        action: any integer.
        max_hands: as in ``score.finish``.
        by_match: as in ``score.finish``.
        log: the hand's event log; row ``ply`` is written: kind, seat, tile, end, four ends after.
        reward: float64 by seat; the move's rewards are added.

    Returns:
        The seat to move next, or ENDED * status when the hand ended, or ILLEGAL and nothing moved.
    """
    t, rules = tables[0], packed[0]
    if not is_legal(t, rules, action):
        return ILLEGAL
    row = log[t.ply]
    log_move(t, rules, action, row)
    status = finish(t, rules, action, max_hands, by_match, reward)
    for end in range(4):
        row[4 + end] = t.ends[end]
    return np.int64(t.turn) if status == 0 else np.int64(ENDED * status)


@njit(cache=True)
def look_one(tables: Any, packed: Any, seat: Any, row: Any, mask: Any) -> None:
    """Write a seat's observation and its mask, all zeros if it isn't to move."""
    t, rules = tables[0], packed[0]
    observe(t, rules, seat, row)
    if t.turn == seat:
        write_mask(t, rules, mask)
    else:
        for action in range(mask.shape[0]):
            mask[action] = 0


@njit(cache=True)
def reopen_one(tables: Any, packed: Any) -> None:
    """Give out the first table's ``deck`` anew and decide who opens, by its ``poser``."""
    t, rules = tables[0], packed[0]
    clear_hand(t, rules)
    take_hands(t, rules)
    open_hand(t, rules)


@njit(cache=True)
def apply_one(tables: Any, packed: Any, action: Any) -> None:
    """``play.apply`` for the first table: neither checked nor scored."""
    apply(tables[0], packed[0], action)
