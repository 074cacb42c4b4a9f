"""Scripted players on many tables of a line game at once.

All take ``tables`` (dtype ``dominozoo.line.table.TABLE``, shape (B,)), ``packed`` (dtype
``LINE_RULES``, shape (1,)), ``codes`` (int8 (B, players): the bot in each seat, ``OUTSIDE`` = the
seat is played by somebody else) and ``rng`` (uint32 (B, 4): the bots' generators, one a table).
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from dominozoo.bits import row_of
from dominozoo.bots.codes import OUTSIDE
from dominozoo.bots.heuristic import decide, roll
from dominozoo.compiler import njit
from dominozoo.line.play import forced_action
from dominozoo.line.score import HAND_ENDED, finish
from dominozoo.line.table import OVER, next_hand, sfc32

# Deals put a small counter where the bots have this word, so the streams never meet.
BOT_STREAM: Final = 0xB0750001


@njit(cache=True, nogil=True)
def seed_bots(rng: Any, low: Any, high: Any, first: Any) -> None:
    """Give the bots of tables first, first + 1, ... the streams of a seed's 32-bit halves."""
    for i in range(rng.shape[0]):
        a, b, c, d = np.int64(low), np.int64(high), np.int64(first) + i, np.int64(BOT_STREAM)
        for _ in range(15):
            _, a, b, c, d = sfc32(a, b, c, d)
        rng[i, 0], rng[i, 1], rng[i, 2], rng[i, 3] = a, b, c, d


@njit(cache=True, nogil=True)
def uniforms(rng: Any, where: Any, out: Any) -> None:
    """Draw a number in 0..1, 1 excluded, from each generator ``where`` (k,) into float64 (k,)."""
    for k in range(where.shape[0]):
        out[k] = roll(row_of(rng, where[k]), 1 << 30) / np.float64(1 << 30)


@njit(cache=True, nogil=True)
def choose(tables: Any, packed: Any, codes: Any, rng: Any, actions: Any, where: Any) -> None:
    """Write the bots' moves into ``actions`` (B,) of an integer type.

    Other entries stay: tables where ``where`` (bool (B,)) is false, that are over, or whose seat to
    move is ``OUTSIDE``.
    """
    rules = packed[0]
    for i in range(tables.shape[0]):
        t = tables[i]
        if where[i] and t.phase != OVER and codes[i, t.turn] != OUTSIDE:
            actions[i] = decide(t, rules, codes[i, t.turn], row_of(rng, i))


@njit(cache=True, nogil=True)
def advance(
    tables: Any,
    packed: Any,
    codes: Any,
    rng: Any,
    actions: Any,
    max_hands: Any,
    reward: Any,
    hands: Any,
) -> None:
    """Play on every table until an outside seat has a choice, or until it is over.

    Args:
        tables: the tables; one that is over stays as it is.
        packed: the rules.
        codes: the bots by seat.
        rng: the bots' generators.
        actions: int64 (B,), the move of the outside seat to move, legal; -1 = it has none to make.
        max_hands: hands after which a table is over, 0 = when its match is.
        reward: float32 (B, players); the hands' rewards are added.
        hands: int32 (B,); the hands that ended are added.
    """
    rules = packed[0]
    for i in range(tables.shape[0]):
        t = tables[i]
        action = np.int64(actions[i])
        while t.phase != OVER:
            if action < 0 and codes[i, t.turn] != OUTSIDE:
                action = decide(t, rules, codes[i, t.turn], row_of(rng, i))
            elif action < 0:
                action = forced_action(t, rules)
                if action < 0:
                    break
            if finish(t, rules, action, max_hands, 0, row_of(reward, i)) & HAND_ENDED != 0:
                hands[i] += 1
                if t.phase != OVER:
                    next_hand(t, rules)
            action = np.int64(-1)
