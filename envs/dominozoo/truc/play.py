"""Legal moves and what a move does to the table of Domino Le Truc.

Actions: 0..27 play the tile, 28..55 play it face down and call double, 56 propose, 57 stand,
58 accept, 59 reject; the last two answer a proposal or a call.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dominozoo.bits import bits, nth
from dominozoo.compiler import njit
from dominozoo.tiles import ALL_TILES, TILE_COUNT
from dominozoo.truc.strength import BEATS
from dominozoo.truc.table import (
    ANSWER,
    BY_FOLD,
    BY_TRICKS,
    CALL,
    EXCHANGE,
    FOLLOW,
    LEAD,
    NOBODY,
    PHASES,
    TRICKS,
    VOID,
    open_play,
    take_hands,
)

CALLING: Final = TILE_COUNT
PROPOSE: Final = 56
STAND: Final = 57
ACCEPT: Final = 58
REJECT: Final = 59
ACTIONS: Final = 60

# What may be said in each phase, as a mask of actions.
WORDS: Final[npt.NDArray[np.int64]] = np.zeros(len(PHASES), np.int64)
WORDS[EXCHANGE] = 1 << PROPOSE | 1 << STAND
WORDS[ANSWER] = WORDS[CALL] = 1 << ACCEPT | 1 << REJECT


@njit(cache=True)
def legal_mask(t: Any, rules: Any) -> Any:
    """Legal moves of the seat to move: bit = action id; 0 when the match is over."""
    if t.phase == LEAD or t.phase == FOLLOW:
        hand = np.int64(t.hands[t.turn])
        # Every play may carry a call but the very first, the non-dealer's lead (S2 18, A29).
        return hand | hand << CALLING if t.plays > 0 else hand
    return WORDS[t.phase]


@njit(cache=True)
def legal(t: Any, rules: Any) -> Any:
    """Legal moves of the seat to move: (tiles to play, tiles to call with, words).

    The first two are masks of slots; ``words`` has bit k for action 56 + k. All are 0 when the
    match is over.
    """
    mask = legal_mask(t, rules)
    return mask & ALL_TILES, mask >> CALLING & ALL_TILES, mask >> PROPOSE


@njit(cache=True)
def is_legal(t: Any, rules: Any, action: Any) -> Any:
    """True if the action id is a legal move now."""
    return 0 <= action < ACTIONS and legal_mask(t, rules) >> action & 1 != 0


@njit(cache=True)
def random_legal(t: Any, rules: Any, word: Any) -> Any:
    """The legal action that a random word of 32 bits chooses, in the order of the ids."""
    mask = legal_mask(t, rules)
    return nth(mask, (word * bits(mask)) >> 32)


@njit(cache=True)
def apply(t: Any, rules: Any, action: Any) -> Any:
    """Make a legal move; returns 0, or how the hand ended: BY_TRICKS, BY_FOLD or VOID.

    The action isn't checked: see :func:`is_legal`. At the hand's end ``turn`` stays with the seat
    that moved last.
    """
    if action < PROPOSE:
        return lay(t, action % TILE_COUNT, action >= CALLING)
    if t.phase == CALL:
        return answer_call(t, action == ACCEPT)
    if t.phase == ANSWER:
        answer_proposal(t, rules, action == ACCEPT)
    elif action == PROPOSE:
        t.proposed = 1
        t.phase = ANSWER
        t.turn = t.dealer
    else:
        t.phase = LEAD
    return 0


@njit(cache=True, inline="always")
def answer_proposal(t: Any, rules: Any, accepted: Any) -> None:
    """Discard all six tiles and deal anew (S2 17), or go on with the tiles held."""
    if accepted:
        t.redeals += 1
        t.discards[0] |= t.hands[0]
        t.discards[1] |= t.hands[1]
        take_hands(t)
        open_play(t, rules)
    else:
        t.rejected = 1
        t.phase = LEAD
        t.turn = t.leader


@njit(cache=True, inline="always")
def lay(t: Any, tile: Any, calling: Any) -> Any:
    """Play a tile face up, or face down with a call; returns how the hand ended, or 0."""
    seat = t.turn
    t.hands[seat] &= ~(np.int64(1) << tile)
    t.played[t.plays] = tile
    t.played_by[t.plays] = seat
    t.called[t.plays] = 1 if calling else 0
    t.plays += 1
    if calling:
        t.face_down = 1
        t.phase = CALL
        t.turn = 1 - seat
        return 0
    return turn_up(t)


@njit(cache=True, inline="always")
def answer_call(t: Any, accepted: Any) -> Any:
    """Double and turn the tile up, or throw the tiles in; returns how the hand ended, or 0."""
    if not accepted:
        t.folded = 1
        return BY_FOLD  # for the multiplier as it was before the call (S2 20, A30)
    t.multiplier *= 2
    t.face_down = 0
    return turn_up(t)


@njit(cache=True, inline="always")
def turn_up(t: Any) -> Any:
    """The last tile played lies open: the other seat follows, or the trick is settled."""
    if t.plays % 2 == 1:
        t.phase = FOLLOW
        t.turn = 1 - t.leader
        return 0
    return settle(t)


@njit(cache=True, inline="always")
def settle(t: Any) -> Any:
    """Give the trick to its winner; returns how the hand ended, or 0."""
    led, followed = np.int64(t.played[t.plays - 2]), np.int64(t.played[t.plays - 1])
    winner = np.int64(NOBODY)
    if BEATS[led] >> followed & 1:
        winner = np.int64(t.leader)
    elif BEATS[followed] >> led & 1:
        winner = np.int64(1 - t.leader)
    t.won[t.tricks] = winner
    t.tricks += 1
    if round_winner(t) != NOBODY:
        return BY_TRICKS
    if t.tricks == TRICKS:
        return VOID
    if winner != NOBODY:  # after a tie the same seat leads again (S2 09)
        t.leader = winner
    t.turn = t.leader
    t.phase = LEAD
    return 0


@njit(cache=True, inline="always")
def round_winner(t: Any) -> Any:
    """The seat that has won the hand by tricks, or NOBODY (S2 07-13, A28).

    Two tricks win. A tied trick counts for the winner of the other of the first two; a tied third
    for the winner of the first. After two ties the third decides; three ties are void.
    """
    first, second, third = np.int64(t.won[0]), np.int64(t.won[1]), np.int64(t.won[2])
    if t.tricks < 2:
        return np.int64(NOBODY)
    if t.tricks == TRICKS:
        return first if third == NOBODY else third
    if first == NOBODY:
        return second
    if second in (NOBODY, first):
        return first
    return np.int64(NOBODY)
