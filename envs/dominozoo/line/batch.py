"""Compiled entry points of the line games: many tables in one call, or one table for AEC.

All take ``tables`` (dtype ``TABLE``, shape (B,)) and ``packed`` (dtype ``LINE_RULES``, shape (1,)).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from dominozoo.line.play import forced_action, is_legal
from dominozoo.line.score import (
    CUT,
    HAND_ENDED,
    MATCH_OVER,
    finish,
    next_hand,
)
from dominozoo.line.table import NOBODY, start_match
from dominozoo.line.view import observe, write_mask


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


@njit(cache=True, nogil=True)
def observe_tables(tables: Any, packed: Any, observation: Any, mask: Any, turn: Any) -> None:
    """Write observation and mask of each table's seat to move, and that seat."""
    rules = packed[0]
    for i in range(tables.shape[0]):
        t = tables[i]
        turn[i] = t.turn
        observe(t, rules, t.turn, observation[i])
        write_mask(t, rules, mask[i])


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
) -> None:
    """Step every table by its action, deal, play forced moves, write what follows.

    ``actions`` must be legal. ``auto_forced`` plays on while there is no choice, but not past an
    episode's end; rewards and ended hands of all its moves are summed.
    """
    rules = packed[0]
    for i in range(tables.shape[0]):
        t = tables[i]
        for seat in range(rules.players):
            reward[i, seat] = 0.0
        ended, moves = 0, 0
        action = np.int64(actions[i])
        status = 0
        while True:
            status = play_on(t, rules, action, max_hands, by_match, reward[i])
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
        observe(t, rules, t.turn, observation[i])
        write_mask(t, rules, mask[i])


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
