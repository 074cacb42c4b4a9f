"""How a hand of Domino Le Truc ends, what it scores, and what that does to the match."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from dominozoo.compiler import njit
from dominozoo.truc.play import apply, round_winner
from dominozoo.truc.table import BY_FOLD, BY_TRICKS, MATCH, NOBODY, OVER, deal

# What `finish` reports.
HAND_ENDED: Final = 1
MATCH_OVER: Final = 2
CUT: Final = 4  # the episode ends with this hand by max_hands; the match isn't over


@njit(cache=True)
def end_hand(t: Any, rules: Any, how: Any) -> Any:
    """Score a hand that ended by ``how``; returns HAND_ENDED, with MATCH_OVER at the target."""
    seat = np.int64(NOBODY)
    if how == BY_TRICKS:
        seat = round_winner(t)
    elif how == BY_FOLD:
        seat = np.int64(1 - t.turn)
    t.last_reason = how
    t.last_effect = 0
    t.last_seat = seat
    t.last_winner = seat
    t.winners = 0
    t.last_points[0] = 0
    t.last_points[1] = 0
    if seat != NOBODY:
        t.last_points[seat] = t.multiplier
        t.scores[seat] += t.multiplier
        if t.scores[seat] >= rules.target:
            t.last_effect = MATCH
            t.winners = 1 << seat
    t.last_scores[0] = t.scores[0]
    t.last_scores[1] = t.scores[1]
    return HAND_ENDED | MATCH_OVER if t.last_effect == MATCH else HAND_ENDED


@njit(cache=True)
def give(reward: Any, seat: Any, worth: Any) -> None:
    """Add ``worth`` to a seat's reward and take it from the other's."""
    reward[seat] += worth
    reward[1 - seat] -= worth


@njit(cache=True)
def finish(t: Any, rules: Any, action: Any, max_hands: Any, by_match: Any, reward: Any) -> Any:
    """Make a legal move and score the hand if it ended; nothing is dealt.

    Args:
        t: the table.
        rules: the packed rules.
        action: a legal action id.
        max_hands: hands after which the episode ends, 0 = never.
        by_match: 1 rewards the match with +-1, 0 each hand with +-points/target.
        reward: float32 by seat; the move's rewards are added.

    Returns:
        0, or HAND_ENDED with MATCH_OVER or CUT when the episode ends; then ``phase`` is OVER.
    """
    how = apply(t, rules, action)
    if how == 0:
        return 0
    status = end_hand(t, rules, how)
    if t.last_seat != NOBODY:
        if by_match == 0:
            give(reward, t.last_seat, np.float64(t.last_points[t.last_seat]) / rules.target)
        elif status & MATCH_OVER != 0:
            give(reward, t.last_seat, 1.0)
    if status & MATCH_OVER == 0 and max_hands > 0 and t.hand_number >= max_hands:
        status |= CUT
    if status & (MATCH_OVER | CUT) != 0:
        t.phase = OVER
        t.turn = NOBODY
    return status


@njit(cache=True)
def next_hand(t: Any, rules: Any) -> None:
    """Deal the next hand of a match that goes on; the deal alternates (A33)."""
    t.hand_number += 1
    t.dealer = 1 - t.dealer
    deal(t, rules)
