"""How somebody plays: counters by table and seat, kept while bots and others play.

The play loops are those of ``dominozoo.bots.batch`` and ``dominozoo.bots.truc`` with the counting
beside them, in kernels of their own, so that who doesn't ask for it doesn't pay for it. Both leave
the same records, rewards and generators behind.

What is counted in the line games, of a seat in finished and unfinished hands:

* ``hands``: hands that ended;
* ``decisions``: moves with another legal move beside them;
* ``plays``: tiles laid, the pose among them; ``poses``: first tiles of a hand;
* ``passes``: own passes for want of a tile; a pose left to the partner is none;
* ``passes_forced``: passes of opponents at ends that this seat has left, whoever of them passes;
  ``passes_partner``: the same of the partner;
* ``draws``: tiles drawn; ``draws_forced``: by opponents at ends that this seat has left;
* ``blocks_made``: hands that were blocked after this seat's tile; ``blocks_won``: those that its
  side won (French: with the lowest penalty, alone or not);
* ``doubles_stuck``: doubles in hand when a hand ends;
* ``wins_out``: hands ended by laying its last tile; ``key_wins``: with the key card.

In Domino Le Truc, where every move is a decision:

* ``hands``, ``decisions``, ``plays`` as above, called tiles among the plays;
* ``calls``: doubles called; ``calls_accepted``, ``calls_refused``: what the other answered;
* ``accepts``, ``folds``: the other's calls that this seat accepted or refused;
* ``bluffs``: calls that lose the round if they are accepted and both play on without a mistake, all
  tiles open; ``bluffs_caught``: those that were accepted;
* ``proposals``: exchanges proposed; ``redeals``: those that were accepted;
* ``wins_tricks``, ``wins_fold``: hands won by tricks and by the other's fold.

>>> from dominozoo.rules import make_rules
>>> counters(make_rules("truc"))[:4]
('hands', 'decisions', 'plays', 'calls')
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dominozoo.bits import bits, row_of
from dominozoo.bots.codes import OUTSIDE
from dominozoo.bots.heuristic import decide
from dominozoo.bots.truc import decide as decide_truc
from dominozoo.bots.truc import lying_tile, outcome, play_out
from dominozoo.compiler import njit
from dominozoo.line.play import forced_action
from dominozoo.line.score import HAND_ENDED, PENALTIES, finish, side_of
from dominozoo.line.table import NOBODY, OUT, OVER, PLAY, POSE, next_hand
from dominozoo.rules import TRUC, Rules, pack_line
from dominozoo.tiles import DOUBLES, TILE_COUNT
from dominozoo.truc.play import ACCEPT, CALLING, PROPOSE, REJECT
from dominozoo.truc.score import finish as finish_truc
from dominozoo.truc.score import next_hand as next_hand_truc
from dominozoo.truc.table import ANSWER, BY_FOLD, BY_TRICKS, CALL
from dominozoo.truc.table import OVER as TRUC_OVER

LINE_COUNTERS: Final = (
    *("hands", "decisions", "plays", "poses", "passes", "passes_forced", "passes_partner"),
    *("draws", "draws_forced", "blocks_made", "blocks_won", "doubles_stuck", "wins_out"),
    "key_wins",
)
HANDS: Final = 0
DECISIONS: Final = 1
PLAYS: Final = 2
POSES: Final = 3
PASSES: Final = 4
PASSES_FORCED: Final = 5
PASSES_PARTNER: Final = 6
DRAWS: Final = 7
DRAWS_FORCED: Final = 8
BLOCKS_MADE: Final = 9
BLOCKS_WON: Final = 10
DOUBLES_STUCK: Final = 11
WINS_OUT: Final = 12
KEY_WINS: Final = 13

TRUC_COUNTERS: Final = (
    *("hands", "decisions", "plays", "calls", "calls_accepted", "calls_refused", "accepts"),
    *("folds", "bluffs", "bluffs_caught", "proposals", "redeals", "wins_tricks", "wins_fold"),
)
CALLS: Final = 3
CALLS_ACCEPTED: Final = 4
CALLS_REFUSED: Final = 5
ACCEPTS: Final = 6
FOLDS: Final = 7
BLUFFS: Final = 8
BLUFFS_CAUGHT: Final = 9
PROPOSALS: Final = 10
REDEALS: Final = 11
WINS_TRICKS: Final = 12
WINS_FOLD: Final = 13

# Rates by name: (counter, of what). A rate whose divisor is 0 is left out.
LINE_RATES: Final = {
    "decisions per hand": ("decisions", "hands"),
    "tiles laid per hand": ("plays", "hands"),
    "poses per hand": ("poses", "hands"),
    "passes per hand": ("passes", "hands"),
    "passes forced per hand": ("passes_forced", "hands"),
    "partner's passes per hand": ("passes_partner", "hands"),
    "tiles drawn per hand": ("draws", "hands"),
    "draws forced per hand": ("draws_forced", "hands"),
    "blocks made per hand": ("blocks_made", "hands"),
    "blocks won per block made": ("blocks_won", "blocks_made"),
    "doubles stuck per hand": ("doubles_stuck", "hands"),
    "went out per hand": ("wins_out", "hands"),
    "key wins per hand": ("key_wins", "hands"),
}
TRUC_RATES: Final = {
    "decisions per hand": ("decisions", "hands"),
    "calls per hand": ("calls", "hands"),
    "calls accepted per call": ("calls_accepted", "calls"),
    "bluffs per call": ("bluffs", "calls"),
    "bluffs caught per bluff": ("bluffs_caught", "bluffs"),
    "folds per call faced": ("folds", "calls_faced"),
    "proposals per hand": ("proposals", "hands"),
    "redeals per proposal": ("redeals", "proposals"),
    "won by tricks per hand": ("wins_tricks", "hands"),
    "won by a fold per hand": ("wins_fold", "hands"),
}


def counters(rules: Rules) -> tuple[str, ...]:
    """The counters of a game in the order of the last axis of ``counts``."""
    return TRUC_COUNTERS if rules.variant.family == TRUC else LINE_COUNTERS


def new_counts(rules: Rules, tables: int) -> npt.NDArray[np.int32]:
    """Counters at 0, int32 (tables, players, counters)."""
    return np.zeros((tables, rules.players, len(counters(rules))), np.int32)


def counting(rules: Rules) -> Callable[..., None]:
    """The kernel that plays a game's tables on and counts: :func:`advance`, as the game needs it."""
    kernel: Callable[..., None] = advance_truc if rules.variant.family == TRUC else advance
    return kernel


def rates(rules: Rules, counts: npt.NDArray[Any]) -> dict[str, float]:
    """How somebody plays, in figures that name their unit.

    Args:
        rules: the game.
        counts: integers (..., counters): the counters of all that he has played.

    Returns:
        Rates by name, those alone that the game has and whose divisor isn't 0.

    Raises:
        ValueError: another number of counters.
    """
    names = counters(rules)
    if counts.shape[-1:] != (len(names),):
        raise ValueError(f"counts must be of shape (..., {len(names)}), not {counts.shape}")
    totals = counts.reshape(-1, len(names)).sum(axis=0, dtype=np.int64)
    count = dict(zip(names, totals.tolist(), strict=True))
    table = LINE_RATES
    if rules.variant.family == TRUC:
        table, count["calls_faced"] = TRUC_RATES, count["accepts"] + count["folds"]
    absent = _absent(rules)
    return {
        name: count[part] / count[whole]
        for name, (part, whole) in table.items()
        if count[whole] and part not in absent
    }


def _absent(rules: Rules) -> set[str]:
    """Counters that stay at 0 because the game lacks what they count."""
    if rules.variant.family == TRUC:
        return set() if rules.value("max_redeals", 0) else {"proposals", "redeals"}
    packed = pack_line(rules)[0]
    has = {
        "draws": packed["draw"],
        "draws_forced": packed["draw"],
        "passes_partner": packed["pairs"],
        "key_wins": packed["key_card"],
    }
    return {name for name, there in has.items() if not there}


@njit(cache=True)
def last_layer(t: Any) -> Any:
    """The seat whose tile was the last one laid in this hand, NOBODY before the pose."""
    latest, seat = np.int64(0), np.int64(NOBODY)
    for tile in range(TILE_COUNT):
        if t.laid_at[tile] > latest:
            latest, seat = np.int64(t.laid_at[tile]), np.int64(t.laid_by[tile]) - 1
    return seat


@njit(cache=True)
def count_stuck(t: Any, rules: Any, drawing: Any, counts: Any, i: Any) -> None:
    """Count a pass or a draw of the seat to move, and who has left it these ends."""
    seat, maker = np.int64(t.turn), last_layer(t)
    counts[i, seat, DRAWS if drawing else PASSES] += 1
    if side_of(rules, maker) != side_of(rules, seat):
        counts[i, maker, DRAWS_FORCED if drawing else PASSES_FORCED] += 1
    elif maker != seat:
        counts[i, maker, PASSES_PARTNER] += 1


@njit(cache=True)
def count_move(t: Any, rules: Any, action: Any, counts: Any, i: Any) -> None:
    """Count a legal move of the seat to move, before it is made."""
    seat = np.int64(t.turn)
    if forced_action(t, rules) < 0:
        counts[i, seat, DECISIONS] += 1
    if action < rules.ends * TILE_COUNT:
        counts[i, seat, PLAYS] += 1
        if t.phase == POSE:
            counts[i, seat, POSES] += 1
    elif t.phase == PLAY:
        count_stuck(t, rules, action == rules.ends * TILE_COUNT, counts, i)


@njit(cache=True)
def has_won(t: Any, rules: Any, seat: Any) -> Any:
    """True if a seat's side won the last hand; French: with the lowest penalty of the hand."""
    if rules.scoring != PENALTIES:
        return t.last_winner == side_of(rules, seat)
    for other in range(rules.players):
        if t.last_points[other] < t.last_points[seat]:
            return False
    return True


@njit(cache=True)
def count_end(t: Any, rules: Any, counts: Any, i: Any) -> None:
    """Count the hand that has just ended, before the next one is dealt."""
    for seat in range(rules.players):
        counts[i, seat, HANDS] += 1
        counts[i, seat, DOUBLES_STUCK] += bits(np.int64(t.hands[seat]) & DOUBLES)
    if t.last_reason == OUT:
        counts[i, t.last_seat, WINS_OUT] += 1
        if t.last_key != 0:
            counts[i, t.last_seat, KEY_WINS] += 1
        return
    maker = last_layer(t)
    counts[i, maker, BLOCKS_MADE] += 1
    if has_won(t, rules, maker):
        counts[i, maker, BLOCKS_WON] += 1


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
    counts: Any,
) -> None:
    """As ``dominozoo.bots.batch.advance``, and count.

    Args:
        tables: the tables; one that is over stays as it is.
        packed: the rules.
        codes: the bots by seat.
        rng: the bots' generators.
        actions: int64 (B,), the move of the outside seat to move, legal; -1 = it has none to make.
        max_hands: hands after which a table is over, 0 = when its match is.
        reward: float32 (B, players); the hands' rewards are added.
        hands: int32 (B,); the hands that ended are added.
        counts: int32 (B, players, counters); what happens is added.
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
            count_move(t, rules, action, counts, i)
            if finish(t, rules, action, max_hands, 0, row_of(reward, i)) & HAND_ENDED != 0:
                hands[i] += 1
                count_end(t, rules, counts, i)
                if t.phase != OVER:
                    next_hand(t, rules)
            action = np.int64(-1)


@njit(cache=True)
def is_bluff(t: Any, me: Any, tile: Any) -> Any:
    """True if seat ``me`` loses the round by perfect play, all tiles open, after ``tile``."""
    mine, his = np.int64(t.hands[me]), np.int64(t.hands[1 - me])
    led, my_lead = lying_tile(t), t.leader == me
    return play_out(mine, his, tile, led, my_lead, outcome(t, 0, me), outcome(t, 1, me)) == 0


@njit(cache=True)
def count_truc_answer(t: Any, action: Any, counts: Any, i: Any) -> None:
    """Count an answer to a call or to a proposal, before it is made; called tiles lie face down."""
    seat, other = np.int64(t.turn), 1 - np.int64(t.turn)
    if t.phase == ANSWER:
        if action == ACCEPT:
            counts[i, other, REDEALS] += 1
    elif action == REJECT:
        counts[i, seat, FOLDS] += 1
        counts[i, other, CALLS_REFUSED] += 1
    else:
        counts[i, seat, ACCEPTS] += 1
        counts[i, other, CALLS_ACCEPTED] += 1
        if is_bluff(t, other, np.int64(t.played[t.plays - 1])):  # the call that waits for it
            counts[i, other, BLUFFS_CAUGHT] += 1


@njit(cache=True)
def count_truc_move(t: Any, action: Any, counts: Any, i: Any) -> None:
    """Count a legal move of the seat to move, before it is made."""
    seat = np.int64(t.turn)
    counts[i, seat, DECISIONS] += 1
    if action < PROPOSE:
        counts[i, seat, PLAYS] += 1
        if action >= CALLING:
            counts[i, seat, CALLS] += 1
            if is_bluff(t, seat, action - CALLING):
                counts[i, seat, BLUFFS] += 1
    elif action == PROPOSE:
        counts[i, seat, PROPOSALS] += 1
    elif t.phase == ANSWER or t.phase == CALL:
        count_truc_answer(t, action, counts, i)


@njit(cache=True)
def count_truc_end(t: Any, counts: Any, i: Any) -> None:
    """Count the hand that has just ended."""
    counts[i, 0, HANDS] += 1
    counts[i, 1, HANDS] += 1
    if t.last_reason == BY_TRICKS:
        counts[i, t.last_seat, WINS_TRICKS] += 1
    elif t.last_reason == BY_FOLD:
        counts[i, t.last_seat, WINS_FOLD] += 1


@njit(cache=True, nogil=True)
def advance_truc(
    tables: Any,
    packed: Any,
    codes: Any,
    rng: Any,
    actions: Any,
    max_hands: Any,
    reward: Any,
    hands: Any,
    counts: Any,
) -> None:
    """As ``dominozoo.bots.truc.advance``, and count: see :func:`advance`."""
    rules = packed[0]
    for i in range(tables.shape[0]):
        t = tables[i]
        action = np.int64(actions[i])
        while t.phase != TRUC_OVER:
            if action < 0:
                if codes[i, t.turn] == OUTSIDE:
                    break
                action = decide_truc(t, rules, codes[i, t.turn], row_of(rng, i))
            count_truc_move(t, action, counts, i)
            if finish_truc(t, rules, action, max_hands, 0, row_of(reward, i)) & HAND_ENDED != 0:
                hands[i] += 1
                count_truc_end(t, counts, i)
                if t.phase != TRUC_OVER:
                    next_hand_truc(t, rules)
            action = np.int64(-1)
