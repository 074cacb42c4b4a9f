"""Compiled entry points of the line games: many tables in one call, or one table for AEC.

All take ``tables`` (dtype ``TABLE``, shape (B,)) and ``packed`` (dtype ``LINE_RULES``, shape (1,)).
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from dominozoo.bits import bits, row_of
from dominozoo.compiler import njit
from dominozoo.line.play import apply, forced_action, is_legal, legal, nth_legal
from dominozoo.line.score import (
    CUT,
    HAND_ENDED,
    MATCH_OVER,
    finish,
    next_hand,
)
from dominozoo.line.table import (
    NOBODY,
    clear_hand,
    deck_size,
    open_hand,
    start_match,
    take_hands,
)
from dominozoo.line.view import observe, write_mask
from dominozoo.onehot import expand_line
from dominozoo.tiles import TILE_COUNT

_WORD: Final = 0xFFFFFFFF


@njit(cache=True, nogil=True)
def seed_tables(tables: Any, low: Any, high: Any, first: Any) -> None:
    """Give tables the streams (seed, first), (seed, first + 1), ...; nothing is dealt."""
    for i in range(tables.shape[0]):
        t = tables[i]
        t.seed[0] = low
        t.seed[1] = high
        t.table = first + i
        t.deals = 0


@njit(cache=True, nogil=True)
def start_tables(tables: Any, packed: Any, where: Any, posers: Any) -> None:
    """Start a new match on the tables where ``where`` is true; posers: seat or -1 by table."""
    for i in range(tables.shape[0]):
        if where[i]:
            start_match(tables[i], packed[0], posers[i])


@njit(cache=True)
def write_row(t: Any, rules: Any, observation: Any, i: Any, scratch: Any) -> None:
    """Write row i as it is; given a scratch, int16 (layout size,), as one-hot float32."""
    if scratch is None:
        observe(t, rules, t.turn, row_of(observation, i))
    else:
        observe(t, rules, t.turn, scratch)
        expand_line(scratch, row_of(observation, i))


@njit(cache=True, nogil=True)
def observe_tables(
    tables: Any, packed: Any, observation: Any, mask: Any, turn: Any, scratch: Any = None
) -> None:
    """Write observation and mask of each table's seat to move, and that seat."""
    rules = packed[0]
    for i in range(tables.shape[0]):
        t = tables[i]
        turn[i] = t.turn
        write_row(t, rules, observation, i, scratch)
        write_mask(t, rules, row_of(mask, i))


@njit(cache=True, nogil=True)
def first_illegal(tables: Any, packed: Any, actions: Any) -> Any:
    """Index of the first table whose action is illegal, or -1."""
    for i in range(tables.shape[0]):
        if not is_legal(tables[i], packed[0], np.int64(actions[i])):
            return i
    return -1


@njit(cache=True)
def play_on(t: Any, rules: Any, action: Any, max_hands: Any, by_match: Any, reward: Any) -> Any:
    """Make a move and deal what comes next: the next hand, or a new match."""
    status = finish(t, rules, action, max_hands, by_match, reward)
    if status & (MATCH_OVER | CUT) != 0:
        start_match(t, rules, NOBODY)
    elif status & HAND_ENDED != 0:
        next_hand(t, rules)
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
    scratch: Any = None,
) -> None:
    """Step every table by its action, deal, play forced moves, write what follows.

    ``actions`` must be legal. ``auto_forced`` plays on while there is no choice, but not past an
    episode's end; rewards and ended hands of all its moves are summed. ``scratch`` as in
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
        write_row(t, rules, observation, i, scratch)
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
    a, b, c, d, extra = legal(t, rules)
    count = bits(a) + bits(b) + bits(c) + bits(d) + bits(extra)
    return nth_legal(rules, a, b, c, d, extra, (word * count) >> 32)


@njit(cache=True)
def count_hand(t: Any, status: Any, counts: Any) -> None:
    """Add a finished hand to ``counts``."""
    counts[HANDS] += 1
    counts[MATCHES] += status >> 1 & 1
    counts[BY_REASON + t.last_reason] += 1
    if t.last_seat != NOBODY:
        counts[BY_SEAT + t.last_seat] += 1
    for side in range(4):
        counts[POINTS] += t.last_points[side]


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
    rules = packed[0]
    nothing = np.zeros(4, np.float64)
    for i in range(tables.shape[0]):
        t = tables[i]
        word = np.int64(words[i])
        for _ in range(moves):
            word = xorshift32(word)
            action = random_move(t, rules, word)
            status = finish(t, rules, action, 0, 0, nothing)
            if status != 0:
                count_hand(t, status, counts)
                if status & MATCH_OVER != 0:
                    start_match(t, rules, NOBODY)
                else:
                    next_hand(t, rules)
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
    """``score.next_hand`` for the first table."""
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
