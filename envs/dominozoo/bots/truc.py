"""Scripted players of Domino Le Truc: random, easy, normal, hard and mobility.

A bot decides for the seat to move from what that seat may know: its own tiles, those turned up,
what was called and proposed, the score. It never reads the other hand, a tile face down, the deck
or the table's generator. It draws from words of its own, ``rng``: uint32 (4,), an sfc32.

``hard`` deals the unseen tiles to the other many times over, plays each deal out with all tiles
open, and takes the share that it wins as its chance. From that chance and the score it weighs
calls, answers and exchanges, and it chooses among near-equals by lot, so that its calls tell little.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dominozoo.bits import bits, lowest, row_of
from dominozoo.bots.codes import EASY, HARD, NORMAL, OUTSIDE, RANDOM
from dominozoo.bots.heuristic import EASY_CARE, roll
from dominozoo.compiler import njit
from dominozoo.tiles import ALL_TILES, TILE_COUNT
from dominozoo.truc.play import ACCEPT, CALLING, PROPOSE, REJECT, STAND, legal
from dominozoo.truc.score import HAND_ENDED, finish, next_hand
from dominozoo.truc.strength import BEATS, HIS, MINE, OPEN, POWER, TIED, VERDICT
from dominozoo.truc.table import (
    ANSWER,
    CALL,
    EXCHANGE,
    HAND_SIZE,
    NOBODY,
    OVER,
)

# Worth of a verdict to me, in halves of a round.
WORTH: Final[npt.NDArray[np.int64]] = np.array([0, 2, 0, 1], np.int64)

DEALS: Final = 48  # deals that `hard` imagines for a decision

# What `hard` goes by: indices into HARD_WEIGHTS, found by playing against each other.
FOLD: Final = 0  # share of its calls that it expects to be refused
SOBER: Final = 1  # what an accepted call takes off its chance
WARY: Final = 2  # what a call of the other's takes off its chance
NOISE: Final = 3  # how near two choices must be to be made by lot
TILT_CALL: Final = 4  # how much stronger it takes a hand to be that has called
TILT_WORD: Final = 5  # the same for an exchange refused, the opposite for one proposed
ASK: Final = 6  # it proposes below this chance
GRANT: Final = 7  # it accepts a proposal below this chance
RACE: Final = 8  # how much a lead in points counts: exponent of the points to go
HARD_WEIGHTS: Final[npt.NDArray[np.float64]] = np.array(
    [0.3, 0.08, 0.1, 0.08, 0.4, 1.7, 0.42, 0.44, 1.0]
)

NORMAL_CALL: Final = 0.8  # normal calls with a tile left as strong as this
NORMAL_ACCEPT: Final = 0.6
MOBILITY_ACCEPT: Final = 0.7


@njit(cache=True)
def random_move(t: Any, rules: Any, rng: Any) -> Any:
    """One of the legal actions, each with the same chance."""
    tiles, calls, words = legal(t, rules)
    both = tiles | calls << CALLING | words << PROPOSE
    for _ in range(roll(rng, bits(both))):
        both &= both - 1
    return lowest(both)


@njit(cache=True)
def trick_goes(led: Any, followed: Any, my_lead: Any) -> Any:
    """How a trick goes: MINE, HIS or TIED."""
    if BEATS[led] >> followed & 1:
        return np.int64(MINE if my_lead else HIS)
    if BEATS[followed] >> led & 1:
        return np.int64(HIS if my_lead else MINE)
    return np.int64(TIED)


@njit(cache=True)
def verdict_with(first: Any, second: Any, latest: Any) -> Any:
    """The verdict once the first open trick has gone ``latest``."""
    if first == OPEN:
        return VERDICT[latest, OPEN, OPEN]
    if second == OPEN:
        return VERDICT[first, latest, OPEN]
    return VERDICT[first, second, latest]


@njit(cache=True)
def duel(mine: Any, his: Any, led: Any, my_lead: Any, first: Any, second: Any) -> Any:
    """What a round is worth to me in halves, 0..2, if both play on with all tiles open.

    Args:
        mine: mask of my tiles in hand.
        his: mask of his.
        led: the tile that lies in this trick, -1 = none.
        my_lead: this trick is led by me.
        first: how the first trick went: OPEN, MINE, HIS or TIED.
        second: the same for the second.
    """
    my_turn = my_lead == (led < 0)
    best = np.int64(0 if my_turn else 2)
    wanted = 2 - best
    rest = mine if my_turn else his
    while rest != 0 and best != wanted:
        tile = lowest(rest)
        bit = np.int64(1) << tile
        rest &= rest - 1
        if my_turn:
            mine_left, his_left = mine & ~bit, his
        else:
            mine_left, his_left = mine, his & ~bit
        if led < 0:
            worth = duel(mine_left, his_left, tile, my_lead, first, second)
        else:
            went = trick_goes(led, tile, my_lead)
            verdict = verdict_with(first, second, went)
            if verdict != OPEN:
                worth = WORTH[verdict]
            else:
                leads = my_lead if went == TIED else went == MINE
                after = (went, second) if first == OPEN else (first, went)
                worth = duel(mine_left, his_left, np.int64(-1), leads, after[0], after[1])
        best = max(best, worth) if my_turn else min(best, worth)
    return best


@njit(cache=True)
def outcome(t: Any, k: Any, me: Any) -> Any:
    """How trick ``k`` of the table went for a seat."""
    if k >= t.tricks:
        return np.int64(OPEN)
    if t.won[k] == NOBODY:
        return np.int64(TIED)
    return np.int64(MINE if t.won[k] == me else HIS)


@njit(cache=True)
def unseen_tiles(t: Any, me: Any) -> Any:
    """Mask of the tiles that a seat neither holds, nor has discarded, nor has seen turned up."""
    known = np.int64(t.hands[me]) | np.int64(t.discards[me])
    for k in range(t.plays):
        if t.played_by[k] == me or t.face_down == 0 or k < t.plays - 1:
            known |= np.int64(1) << np.int64(t.played[k])
    return ALL_TILES & ~known


@njit(cache=True)
def hidden_count(t: Any, me: Any) -> Any:
    """How many tiles the other holds that a seat hasn't seen, one face down included."""
    count = HAND_SIZE
    for k in range(t.plays):
        if t.played_by[k] != me:
            count -= 1
    return count + 1 if t.face_down != 0 else count


@njit(cache=True)
def lying_tile(t: Any) -> Any:
    """The tile that lies open in this trick, -1 = none."""
    lying = t.plays - 2 * t.tricks
    if t.face_down != 0:
        lying -= 1
    return np.int64(t.played[2 * t.tricks]) if lying == 1 else np.int64(-1)


@njit(cache=True)
def tilt(t: Any, me: Any, weights: Any) -> Any:
    """How strong the other's hidden tiles look by his calls and by what he said before play."""
    calls = 0
    for k in range(t.plays):
        if t.called[k] != 0 and t.played_by[k] != me:
            calls += 1
    word = 0
    if t.dealer == me:
        if t.phase == ANSWER or t.rejected != 0:
            word = -1
        elif t.proposed == 0 and t.phase != EXCHANGE:
            word = 1
    elif t.rejected != 0:
        word = 1
    return weights[TILT_CALL] * calls + weights[TILT_WORD] * word


@njit(cache=True)
def draw_tiles(pool: Any, size: Any, count: Any, rng: Any) -> Any:
    """Mask of ``count`` of the first ``size`` tiles in ``pool``, each set with the same chance."""
    drawn = np.int64(0)
    for k in range(count):
        j = k + roll(rng, size - k)
        pool[k], pool[j] = pool[j], pool[k]
        drawn |= np.int64(1) << pool[k]
    return drawn


@njit(cache=True)
def power(tiles: Any) -> Any:
    """How much stronger a set of tiles is than so many tiles on average."""
    total = 0.0
    while tiles != 0:
        total += POWER[lowest(tiles)] - 0.5
        tiles &= tiles - 1
    return total


@njit(cache=True)
def estimate(t: Any, weights: Any, rng: Any) -> Any:
    """The chance of the seat to move, by imagined deals: (chance, tile).

    Where a tile is to be played it is the best tile and the chance with it; else the tile is -1.
    """
    me = np.int64(t.turn)
    mine, unseen = np.int64(t.hands[me]), unseen_tiles(t, me)
    first, second = outcome(t, 0, me), outcome(t, 1, me)
    led, my_lead, count = lying_tile(t), t.leader == me, hidden_count(t, me)
    playing = t.phase != EXCHANGE and t.phase != ANSWER and t.phase != CALL
    options = bits(mine) if playing else 1
    slant = tilt(t, me, weights)
    pool, gains = np.empty(TILE_COUNT, np.int64), np.zeros(HAND_SIZE, np.float64)
    size = 0
    while unseen != 0:
        pool[size] = lowest(unseen)
        unseen &= unseen - 1
        size += 1
    total = 0.0
    for _ in range(DEALS):
        his = draw_tiles(pool, size, count, rng)
        weight = np.exp(slant * power(his))
        total += weight
        rest = mine
        for k in range(options):
            worth = np.int64(0)
            if playing:
                worth = play_out(mine, his, lowest(rest), led, my_lead, first, second)
                rest &= rest - 1
            else:
                worth = duel(mine, his, led, my_lead, first, second)
            gains[k] += weight * worth
    best = np.argmax(gains[:options])
    tile = np.int64(-1)
    if playing:
        rest = mine
        for _ in range(best):
            rest &= rest - 1
        tile = lowest(rest)
    return gains[best] / (2 * total), tile


@njit(cache=True)
def play_out(
    mine: Any, his: Any, tile: Any, led: Any, my_lead: Any, first: Any, second: Any
) -> Any:
    """What the round is worth to me in halves once I have played ``tile``."""
    left = mine & ~(np.int64(1) << tile)
    if led < 0:
        return duel(left, his, tile, my_lead, first, second)
    went = trick_goes(led, tile, my_lead)
    verdict = verdict_with(first, second, went)
    if verdict != OPEN:
        return WORTH[verdict]
    leads = my_lead if went == TIED else went == MINE
    if first == OPEN:
        return duel(left, his, np.int64(-1), leads, went, second)
    return duel(left, his, np.int64(-1), leads, first, went)


@njit(cache=True)
def equity(t: Any, rules: Any, gain: Any, race: Any) -> Any:
    """Chance of the seat to move to win the match if it gains (or loses, below 0) so many points.

    Guessed from the points that each has to go; ``race`` is the exponent.
    """
    to_go = np.float64(rules.target - t.scores[t.turn])
    his_to_go = np.float64(rules.target - t.scores[1 - t.turn])
    if gain > 0:
        to_go -= gain
    else:
        his_to_go += gain
    if to_go <= 0.0:
        return 1.0
    if his_to_go <= 0.0:
        return 0.0
    mine, his = his_to_go**race, to_go**race
    return mine / (mine + his)


@njit(cache=True)
def by_lot(edge: Any, noise: Any, rng: Any) -> Any:
    """True more often the larger the edge; even at 0, nearly sure beyond a few times ``noise``."""
    chance = 1.0 / (1.0 + np.exp(-edge / noise))
    return roll(rng, 1 << 20) < chance * (1 << 20)


@njit(cache=True)
def hard_move(t: Any, rules: Any, weights: Any, rng: Any) -> Any:
    """The move of ``hard``; ``weights`` as ``HARD_WEIGHTS``."""
    chance, tile = estimate(t, weights, rng)
    noise = weights[NOISE]
    if t.phase == EXCHANGE:
        return PROPOSE if by_lot(weights[ASK] - chance, noise, rng) else STAND
    if t.phase == ANSWER:
        return ACCEPT if by_lot(weights[GRANT] - chance, noise, rng) else REJECT
    worth = np.int64(t.multiplier)
    race = weights[RACE]
    won, lost = equity(t, rules, worth, race), equity(t, rules, -worth, race)
    won_more = equity(t, rules, 2 * worth, race)
    lost_more = equity(t, rules, -2 * worth, race)
    unit = won - lost
    if t.phase == CALL:
        chance -= weights[WARY]
        accepted = chance * won_more + (1.0 - chance) * lost_more
        if lost == 0.0 or by_lot((accepted - lost) / unit, noise, rng):
            return ACCEPT  # where a refusal loses the match there is nothing left to save
        return REJECT
    if t.plays == 0:
        return tile
    quiet = chance * won + (1.0 - chance) * lost
    chance -= weights[SOBER]
    accepted = chance * won_more + (1.0 - chance) * lost_more
    loud = weights[FOLD] * won + (1.0 - weights[FOLD]) * accepted
    return tile + CALLING if by_lot((loud - quiet) / unit, noise, rng) else tile


@njit(cache=True)
def cheap_tile(t: Any) -> Any:
    """The tile that wins this trick as cheaply as can be, else ties it, else the weakest.

    Who leads plays his strongest: the first trick counts most (S2 14).
    """
    led = lying_tile(t)
    best, choice = -10.0, np.int64(-1)
    rest = np.int64(t.hands[t.turn])
    while rest != 0:
        tile = lowest(rest)
        rest &= rest - 1
        value = POWER[tile]
        if led >= 0:
            value = -POWER[tile]
            if BEATS[tile] >> led & 1:
                value += 4.0
            elif BEATS[led] >> tile & 1 == 0:
                value += 2.0
        if value > best:
            best, choice = value, tile
    return choice


@njit(cache=True)
def best_power(tiles: Any) -> Any:
    """Strength of the strongest tile, 0 without any."""
    best = 0.0
    while tiles != 0:
        best = max(best, POWER[lowest(tiles)])
        tiles &= tiles - 1
    return best


@njit(cache=True)
def is_won(t: Any, tile: Any) -> Any:
    """True if playing ``tile`` wins the round at once, whatever the other holds."""
    led = lying_tile(t)
    if led < 0:
        return False
    me = np.int64(t.turn)
    went = trick_goes(led, tile, False)
    return verdict_with(outcome(t, 0, me), outcome(t, 1, me), went) == MINE


@njit(cache=True)
def plain_move(t: Any, code: Any) -> Any:
    """The move of ``normal`` and ``mobility``: by the strength of the tiles alone, no bluffs."""
    hand = np.int64(t.hands[t.turn])
    if t.phase == EXCHANGE:
        return PROPOSE if power(hand) < 0.0 else STAND
    if t.phase == ANSWER:
        return ACCEPT if power(hand) < 0.0 else REJECT
    if t.phase == CALL:
        needed = NORMAL_ACCEPT if code == NORMAL else MOBILITY_ACCEPT
        ahead = outcome(t, 0, t.turn) == MINE
        return ACCEPT if ahead or best_power(hand) >= needed else REJECT
    tile = cheap_tile(t)
    calls = is_won(t, tile)
    if code == NORMAL:
        calls = calls or POWER[tile] >= NORMAL_CALL
    return tile + CALLING if calls and t.plays > 0 else tile


@njit(cache=True)
def decide(t: Any, rules: Any, code: Any, rng: Any) -> Any:
    """The action of the bot ``code`` for the seat to move; a legal action id, int64.

    Args:
        t: a table record that isn't over.
        rules: the packed rules.
        code: RANDOM, EASY, NORMAL, HARD or MOBILITY.
        rng: uint32 (4,), the bot's generator.
    """
    if code == RANDOM or (code == EASY and roll(rng, EASY_CARE) != 0):
        return np.int64(random_move(t, rules, rng))
    if code == HARD:
        return np.int64(hard_move(t, rules, HARD_WEIGHTS, rng))
    return np.int64(plain_move(t, NORMAL if code == EASY else code))


@njit(cache=True, nogil=True)
def choose(tables: Any, packed: Any, codes: Any, rng: Any, actions: Any, where: Any) -> None:
    """As ``dominozoo.bots.batch.choose``."""
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
    """As ``dominozoo.bots.batch.advance``; every move of Le Truc is a choice."""
    rules = packed[0]
    for i in range(tables.shape[0]):
        t = tables[i]
        action = np.int64(actions[i])
        while t.phase != OVER:
            if action < 0:
                if codes[i, t.turn] == OUTSIDE:
                    break
                action = decide(t, rules, codes[i, t.turn], row_of(rng, i))
            if finish(t, rules, action, max_hands, 0, row_of(reward, i)) & HAND_ENDED != 0:
                hands[i] += 1
                if t.phase != OVER:
                    next_hand(t, rules)
            action = np.int64(-1)
