"""How a hand ends, what it scores, and what that does to the match."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from dominozoo.bits import bits, lowest
from dominozoo.compiler import helper, njit
from dominozoo.line.play import apply
from dominozoo.line.table import (
    BLOCK,
    BRUCK,
    DECIDER,
    MATCH,
    NOBODY,
    OUT,
    OVER,
    RESET,
    TIED,
)
from dominozoo.tiles import DOUBLES, PIPS

WINS: Final = 0
PIPS_OF_OTHERS: Final = 1
PENALTIES: Final = 2

TIE_RESET: Final = 0
TIE_VOID: Final = 1
TIE_ESCALATE: Final = 2
TIE_DOUBLE: Final = 3

# What `finish` and `play` report.
HAND_ENDED: Final = 1
MATCH_OVER: Final = 2
CUT: Final = 4  # the episode ends with this hand by max_hands; the match isn't over


# By bit k of a pip count: the tiles whose count has it.
_PIPS_1, _PIPS_2, _PIPS_4, _PIPS_8 = (
    sum(1 << tile for tile, pips in enumerate(PIPS.tolist()) if pips >> k & 1) for k in range(4)
)

_PAIR: Final = 0b0101  # seats 0 and 2


@njit(cache=True)
def pip_count(hand: Any) -> Any:
    """Sum of all numbers on the tiles of a mask, bit by bit of the sum instead of tile by tile."""
    low = bits(hand & _PIPS_1) + 2 * bits(hand & _PIPS_2)
    return low + 4 * bits(hand & _PIPS_4) + 8 * bits(hand & _PIPS_8)


@njit(cache=True, inline="always")
def side_of(rules: Any, seat: Any) -> Any:
    """The side that a seat plays for; a remainder takes longer than all else here."""
    return seat & 1 if rules.pairs else seat


@njit(cache=True, inline="always")
def penalty(hand: Any) -> Any:
    """French: the pips left, twice if a double is among them (A25)."""
    pips = pip_count(hand)
    return 2 * pips if hand & DOUBLES != 0 else pips


@njit(cache=True, inline="always")
def block_count(t: Any, rules: Any, seat: Any) -> Any:
    """What a block compares: the seat's pips, or in Chiva pairs its side's."""
    count = pip_count(np.int64(t.hands[seat]))
    if rules.pair_totals != 0:
        count += pip_count(np.int64(t.hands[(seat + 2) % 4]))
    return count


@helper()
def block_winner(t: Any, rules: Any) -> Any:
    """Seat that wins a block, NOBODY for a tie between sides.

    Partners who share the lowest count win (A4). Of the winning side it is the one with fewer
    pips, equal: the first in playing order from the opener (A5).
    """
    best, seats = np.int64(1 << 20), np.int64(0)
    for seat in range(rules.players):
        count = block_count(t, rules, seat)
        seats = np.int64(0) if count < best else seats
        best = min(best, count)
        seats |= np.int64(count == best) << seat
    if not rules.pairs:
        return lowest(seats) if bits(seats) == 1 else np.int64(NOBODY)
    side = lowest(seats) & 1
    if seats & (_PAIR << (1 - side)) != 0:
        return np.int64(NOBODY)
    partner = side + 2
    mine, other = pip_count(np.int64(t.hands[side])), pip_count(np.int64(t.hands[partner]))
    first = (partner - t.opener) & 3 > (side - t.opener) & 3  # in playing order
    return side if mine < other or (mine == other and first) else partner


@njit(cache=True, inline="always")
def set_score(t: Any, side: Any, score: Any) -> None:
    """Write a side's score, and what the hand's end shows of it.

    Both at once: to copy four scores in one piece just after one was written costs fifteen cycles,
    until the piece has come out of the processor's store buffer.
    """
    t.scores[side] = score
    t.last_scores[side] = score


@njit(cache=True, inline="always")
def zero_scores(t: Any) -> None:
    """Put the run back to the start: no points, stake 1, no decider, the next hand by rule."""
    for side in range(4):
        set_score(t, side, 0)
    t.stake = 1
    t.decider = 0
    t.poser = NOBODY


@njit(cache=True, inline="always")
def score_tie(t: Any, rules: Any) -> None:
    """A tied block of the win-count games (A3, A8c)."""
    t.poser = NOBODY
    if rules.tie == TIE_ESCALATE:
        t.stake += 1
    elif rules.tie == TIE_DOUBLE:
        t.stake = 2
    elif rules.tie == TIE_RESET:
        zero_scores(t)
        t.last_effect = RESET


@helper()
def sides_above(t: Any, score: Any) -> Any:
    """How many sides have more points than that; those that the game lacks have none."""
    above = np.int64(0)
    for side in range(4):  # a number that the compiler knows makes shorter code, and sooner
        above += np.int64(t.scores[side] > score)
    return above


@njit(cache=True, inline="always")
def is_broken(t: Any, rules: Any, winner: Any) -> Any:
    """True if this win breaks the run: another side, or every other side, has points (A1)."""
    scored = sides_above(t, 0) - np.int64(t.scores[winner] > 0)
    return scored > 0 if rules.leader_loss != 0 else scored == rules.sides - 1


@njit(cache=True, inline="always")
def starts_decider(t: Any, rules: Any, winner: Any, points: Any) -> Any:
    """True if a break would read 1-1 and is replayed for 2 instead (A7, A8b)."""
    even = t.stake == 1 and points == 1 and t.scores[winner] == 0
    return rules.decider != 0 and even and sides_above(t, 1) == 0


@njit(cache=True, inline="always")
def add_points(t: Any, rules: Any, side: Any, seat: Any, points: Any) -> None:
    """Give a side its points; the match ends at the target."""
    set_score(t, side, t.scores[side] + points)
    t.poser = seat
    t.stake = 1
    t.decider = 0
    if t.scores[side] >= rules.target:
        t.last_effect = MATCH
        t.winners = 1 << side


@helper()
def score_win(t: Any, rules: Any, seat: Any) -> None:
    """A won hand of the win-count games: points, a break, a decider."""
    side = side_of(rules, seat)
    points = np.int64(t.stake)
    if t.last_key != 0 and points < 2:
        points = np.int64(2)
    t.last_points[side] = points
    if t.decider != 0:
        zero_scores(t)
        add_points(t, rules, side, seat, points)
    elif not is_broken(t, rules, side):
        add_points(t, rules, side, seat, points)
    elif starts_decider(t, rules, side, points):
        t.stake = 2
        t.decider = 1
        t.poser = NOBODY
        t.last_effect = DECIDER
    else:
        zero_scores(t)
        t.last_effect = BRUCK if rules.bruck_end != 0 else RESET


@njit(cache=True, inline="always")
def score_pips(t: Any, rules: Any, seat: Any) -> None:
    """Line dominoes: the winner scores all pips of the other hands (A36, A37)."""
    held = np.int64(t.hands[0]) | np.int64(t.hands[1])
    held |= np.int64(t.hands[2]) | np.int64(t.hands[3])
    points = pip_count(held & ~np.int64(t.hands[seat]))
    t.last_points[seat] = points
    set_score(t, seat, t.scores[seat] + points)
    if t.scores[seat] >= rules.target:
        t.last_effect = MATCH
        t.winners = 1 << seat


@njit(cache=True, inline="always")
def score_penalties(t: Any, rules: Any) -> None:
    """French: each adds his own penalty; at the target the lowest win, jointly if tied (A26)."""
    over, lowest_score = False, np.int64(1 << 20)
    for seat in range(rules.players):
        t.last_points[seat] = penalty(np.int64(t.hands[seat]))
        set_score(t, seat, t.scores[seat] + t.last_points[seat])
        over = over or t.scores[seat] >= rules.target
        lowest_score = min(lowest_score, np.int64(t.scores[seat]))
    if over:
        t.last_effect = MATCH
        for seat in range(rules.players):
            if t.scores[seat] == lowest_score:
                t.winners |= 1 << seat


@helper()
def end_hand(t: Any, rules: Any, how: Any) -> Any:
    """Score a hand that ended by ``how`` (OUT or BLOCK); returns HAND_ENDED, with MATCH_OVER."""
    seat = np.int64(t.turn) if how == OUT else np.int64(NOBODY)
    if how == BLOCK and rules.scoring != PENALTIES:
        seat = block_winner(t, rules)
        if seat == NOBODY:
            how = TIED
    if how != OUT:
        t.last_key = 0
    t.last_reason = how
    t.last_effect = 0
    t.last_seat = seat
    t.last_winner = NOBODY
    t.winners = 0
    for side in range(4):
        t.last_points[side] = 0
        t.last_scores[side] = t.scores[side]
    if rules.scoring == PENALTIES:
        score_penalties(t, rules)
    elif seat == NOBODY:
        if rules.scoring == WINS:
            score_tie(t, rules)
    else:
        t.last_winner = side_of(rules, seat)
        if rules.scoring == WINS:
            score_win(t, rules, seat)
        else:
            score_pips(t, rules, seat)
    if t.last_effect == MATCH or t.last_effect == BRUCK:
        return HAND_ENDED | MATCH_OVER
    return HAND_ENDED


@njit(cache=True, inline="always")
def hand_reward(t: Any, rules: Any, reward: Any) -> None:
    """Add the rewards of the finished hand to ``reward`` (float32, by seat); zero-sum."""
    n = rules.players
    if rules.scoring == PENALTIES:
        total = np.float64(0)
        for seat in range(n):
            total += t.last_points[seat]
        for seat in range(n):
            reward[seat] += (total / n - t.last_points[seat]) / rules.target
    elif t.last_winner != NOBODY:
        worth = np.float64(t.last_points[t.last_winner])
        if rules.scoring == PIPS_OF_OTHERS:
            worth /= rules.target
        for seat in range(n):
            if side_of(rules, seat) == t.last_winner:
                reward[seat] += worth
            else:
                reward[seat] -= worth / (rules.sides - 1)


@njit(cache=True, inline="always")
def match_reward(t: Any, rules: Any, reward: Any) -> None:
    """Add the rewards of the finished match: +1 and -1/(sides-1), joint winners share."""
    sides = rules.sides
    joint = bits(np.int64(t.winners))
    if joint == 0:
        return
    for seat in range(rules.players):
        if np.int64(t.winners) >> side_of(rules, seat) & 1:
            reward[seat] += (sides - joint) / (joint * (sides - 1))
        else:
            reward[seat] -= 1.0 / (sides - 1)


@njit(cache=True, inline="always")
def settle(t: Any, rules: Any, how: Any, max_hands: Any, by_match: Any, reward: Any) -> Any:
    """Score a hand that ended by ``how`` (OUT or BLOCK); the rest as :func:`finish`."""
    status = end_hand(t, rules, how)
    if by_match == 0:
        hand_reward(t, rules, reward)
    elif status & MATCH_OVER != 0:
        match_reward(t, rules, reward)
    if status & MATCH_OVER == 0 and max_hands > 0 and t.hand_number >= max_hands:
        status |= CUT
    if status & (MATCH_OVER | CUT) != 0:
        t.phase = OVER
        t.turn = NOBODY
    return status


@njit(cache=True, inline="always")
def finish(t: Any, rules: Any, action: Any, max_hands: Any, by_match: Any, reward: Any) -> Any:
    """Make a legal move and score the hand if it ended; nothing is dealt.

    Args:
        t: the table.
        rules: the packed rules.
        action: a legal action id.
        max_hands: hands after which the episode ends, 0 = never.
        by_match: 1 rewards the match, 0 each hand.
        reward: float32 by seat; the move's rewards are added.

    Returns:
        0, or HAND_ENDED with MATCH_OVER or CUT when the episode ends; then ``phase`` is OVER.
    """
    how = apply(t, rules, action)
    return 0 if how == 0 else settle(t, rules, how, max_hands, by_match, reward)
