"""Compiled entry points of Domino Le Truc: many tables in one call, or one table for AEC.

All take ``tables`` (dtype ``TABLE``, shape (B,)) and ``packed`` (dtype ``TRUC_RULES``, shape (1,)).
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from dominozoo.bits import row_of
from dominozoo.compiler import njit
from dominozoo.line.batch import BY_REASON, BY_SEAT, HANDS, MATCHES, MOVES, POINTS, xorshift32
from dominozoo.onehot import expand_truc
from dominozoo.truc.play import is_legal, random_legal
from dominozoo.truc.score import (
    CUT,
    HAND_ENDED,
    MATCH_OVER,
    finish,
    next_hand,
)
from dominozoo.truc.table import NOBODY, deal_out, start_match
from dominozoo.truc.view import observe, write_mask


@njit(cache=True, nogil=True)
def start_tables(tables: Any, packed: Any, where: Any, posers: Any) -> None:
    """Start a new match on the tables where ``where`` is true; posers: dealer or -1 by table."""
    for i in range(tables.shape[0]):
        if where[i]:
            start_match(tables[i], packed[0], posers[i])


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
        expand_truc(row, row_of(one_hot, i))


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
        if not is_legal(tables[i], packed[0], np.int64(actions[i])):
            return i
    return -1


@njit(cache=True, inline="always")
def play_on(t: Any, rules: Any, action: Any, max_hands: Any, by_match: Any, reward: Any) -> Any:
    """Make a move and deal what comes next: the next hand, or a new match."""
    status = finish(t, rules, action, max_hands, by_match, reward)
    if status & (MATCH_OVER | CUT) != 0:
        start_match(t, rules, np.int64(NOBODY))  # of the type in `start_tables`: compiled once
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
    one_hot: Any = None,
) -> None:
    """Step every table by its action, deal, write what follows.

    ``actions`` must be legal. The parameters are those of the line games; ``auto_forced`` changes
    nothing, since in Le Truc every move is a choice.
    """
    rules = packed[0]
    for i in range(tables.shape[0]):
        t = tables[i]
        gained = row_of(reward, i)
        gained[0] = 0.0
        gained[1] = 0.0
        status = play_on(t, rules, np.int64(actions[i]), max_hands, by_match, gained)
        hands_ended[i] = status & HAND_ENDED
        forced[i] = 0
        cut = status & CUT != 0
        terminated[i] = status & MATCH_OVER != 0 or (cut and by_match == 0)
        truncated[i] = cut and by_match != 0
        turn[i] = t.turn
        write_row(t, rules, observation, i, one_hot)
        write_mask(t, rules, row_of(mask, i))


@njit(cache=True)
def count_hand(t: Any, status: Any, counts: Any) -> None:
    """Add a finished hand to ``counts``."""
    counts[HANDS] += 1
    counts[MATCHES] += status >> 1 & 1
    counts[BY_REASON + t.last_reason] += 1
    if t.last_seat != NOBODY:
        counts[BY_SEAT + t.last_seat] += 1
        counts[POINTS] += t.last_points[t.last_seat]


@njit(cache=True, nogil=True)
def random_play(tables: Any, packed: Any, words: Any, moves: Any, counts: Any) -> None:
    """Make random legal moves on each table, one table after the other, inside one call.

    The choices are those of the line games' ``random_play``.

    Args:
        tables: the tables.
        packed: the rules.
        words: uint32 (B,), an xorshift32 generator a table, never 0; written back.
        moves: the number of moves on each table.
        counts: int64 (16,), added to: 0 moves, 1 hands ended, 2 matches over; hands by how they
            ended: 3 tricks, 4 fold, 5 void; 6 and 7 hands won by seat; 10 points won.
    """
    rules = packed[0]
    nothing = np.zeros(2, np.float64)
    for i in range(tables.shape[0]):
        t = tables[i]
        word = np.int64(words[i])
        for _ in range(moves):
            word = xorshift32(word)
            status = play_on(t, rules, random_legal(t, rules, word), 0, 0, nothing)
            if status != 0:
                count_hand(t, status, counts)
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


ILLEGAL: Final = -1
ENDED: Final = 4  # `step_one` returns ENDED * status when the hand ended


@njit(cache=True)
def step_one(
    tables: Any, packed: Any, action: Any, max_hands: Any, by_match: Any, reward: Any
) -> Any:
    """Make a move on the first table; nothing is dealt.

    Args:
        tables: the table, shape (1,).
        packed: the packed rules, shape (1,).
        action: any integer.
        max_hands: as in ``score.finish``.
        by_match: as in ``score.finish``.
        reward: float64 by seat; the move's rewards are added.

    Returns:
        The seat to move next, or ENDED * status when the hand ended, or ILLEGAL and nothing moved.
    """
    t, rules = tables[0], packed[0]
    if not is_legal(t, rules, action):
        return ILLEGAL
    status = finish(t, rules, action, max_hands, by_match, reward)
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
    """Give out the first table's ``deck`` anew, by its ``dealer``."""
    deal_out(tables[0], packed[0])
