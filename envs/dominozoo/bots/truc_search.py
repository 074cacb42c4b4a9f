"""Players of Domino Le Truc that search: ``search(deals=50)`` and ``omniscient``.

To average over deals with all tiles open would mislead here: a bluff never works against one who
sees it. So ``search`` plays its moves on in deals that agree with what its seat has seen
(:mod:`dominozoo.bots.truc_deals`) with both seats as ``hard``, who sees his own tiles alone: calls
are refused as often as such a player refuses them. Each deal counts as much as ``hard`` believes
the other's tiles by what he has said and called.

``omniscient`` cheats: it does the same in the true deal, and plays its own tiles by it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np
import numpy.typing as npt

from dominozoo.bits import lowest, row_of
from dominozoo.bots import truc_deals
from dominozoo.bots.codes import HARD
from dominozoo.bots.deals import copy_record
from dominozoo.bots.search import BUDGETS, DEALS, best_of
from dominozoo.bots.truc import (
    HARD_WEIGHTS,
    decide,
    duel,
    equity,
    is_won,
    lying_tile,
    outcome,
    play_out,
    power,
    tilt,
)
from dominozoo.bots.truc_deals import prepare, sample_deal
from dominozoo.compiler import njit
from dominozoo.rules import Rules
from dominozoo.truc.play import ACCEPT, CALLING, PROPOSE, REJECT, STAND, legal_mask
from dominozoo.truc.score import finish
from dominozoo.truc.table import ANSWER, CALL, EXCHANGE, NOBODY, TABLE

Array = npt.NDArray[Any]

MOST_MOVES: Final = 6
POINTS: Final = 0
SHARE: Final = 1
MATCH: Final = 2
AIMS: Final = {"hand": SHARE, "match": MATCH}
TRUE_HANDS: Final = 24
EVEN_RACE: Final = 1.0  # exponent of `equity`
LITTLE: Final = 1e-3  # how much 1 of the hand's reward counts beside its share


def make_work() -> tuple[Array, ...]:
    """Working memory of :func:`move_values`, to be used again."""
    return truc_deals.make_work(), np.zeros(2, TABLE), np.zeros(2, np.float64)


@njit(cache=True)
def list_legal(t: Any, rules: Any, ids: Any) -> Any:
    """Write the legal action ids; returns their number."""
    rest, count = legal_mask(t, rules), 0
    while rest != 0:
        ids[count] = lowest(rest)
        rest &= rest - 1
        count += 1
    return count


@njit(cache=True)
def open_move(t: Any, rules: Any) -> Any:
    """A move that is sound with all tiles open: it calls only what wins at once."""
    me = np.int64(t.turn)
    mine, his = np.int64(t.hands[me]), np.int64(t.hands[1 - me])
    first, second = outcome(t, 0, me), outcome(t, 1, me)
    led, my_lead = lying_tile(t), t.leader == me
    if t.phase == EXCHANGE or t.phase == ANSWER or t.phase == CALL:
        if t.phase == CALL:
            his |= np.int64(1) << np.int64(t.played[t.plays - 1])
        wins = duel(mine, his, led, my_lead, first, second) == 2
        if t.phase == CALL:
            return ACCEPT if wins else REJECT
        if t.phase == EXCHANGE:
            return STAND if wins else PROPOSE
        return REJECT if wins else ACCEPT
    best, choice = np.int64(-1), np.int64(-1)
    rest = mine
    while rest != 0:
        tile = lowest(rest)
        rest &= rest - 1
        value = play_out(mine, his, tile, led, my_lead, first, second)
        if value > best:
            best, choice = value, tile
    return choice + CALLING if t.plays > 0 and is_won(t, choice) else choice


@njit(cache=True)
def play_on(t: Any, rules: Any, action: Any, seer: Any, rng: Any, reward: Any) -> None:
    """Make a move and play the hand to its end: ``seer`` with open tiles, others as ``hard``."""
    while finish(t, rules, action, 1, 0, reward) == 0:
        action = open_move(t, rules) if t.turn == seer else decide(t, rules, HARD, rng)


@njit(cache=True)
def worth(t: Any, rules: Any, played: Any, objective: Any) -> Any:
    """What a finished hand counts for the seat to move of the table ``t``."""
    points = np.int64(0)
    if played.last_seat != NOBODY:
        points = np.int64(played.last_points[played.last_seat])
        points = points if played.last_seat == t.turn else -points
    if objective == POINTS:
        return points / np.float64(rules.target)
    if objective == SHARE:
        return 0.5 + 0.5 * np.sign(points) + LITTLE * points / rules.target
    return equity(t, rules, points, EVEN_RACE)


@njit(cache=True)
def add_played(
    t: Any,
    deal: Any,
    rules: Any,
    rng: Any,
    seer: Any,
    weight: Any,
    objective: Any,
    count: Any,
    ids: Any,
    work: Any,
    means: Any,
) -> None:
    """Add what each move is worth in a deal, once played on."""
    played = work[1][1]
    for k in range(count):
        copy_record(played, deal)
        play_on(played, rules, ids[k], seer, rng, work[2])
        means[k] += weight * worth(t, rules, played, objective)


@njit(cache=True, nogil=True)
def move_values(
    t: Any,
    rules: Any,
    rng: Any,
    deals: Any,
    budget: Any,
    objective: Any,
    work: Any,
    ids: Any,
    means: Any,
) -> Any:
    """Value each legal move by deals that agree with what the seat to move has seen.

    Args:
        t: the table record, not over; hidden tiles are not minded.
        rules: the packed rules.
        rng: uint32 (4,); moves on.
        deals: how many, the same for all moves.
        budget: hands played on at most, one a deal and move; one deal is always imagined.
        objective: POINTS (the hand's reward), SHARE (1, 1/2 or 0 of the hand, with a little of the
            points) or MATCH (the guessed chance of the match after the hand).
        work: from :func:`make_work`.
        ids: int64 (MOST_MOVES,); takes the legal action ids.
        means: float64 (MOST_MOVES,); takes the mean values.

    Returns:
        The number of legal moves.
    """
    count = list_legal(t, rules, ids)
    means[:count] = 0.0
    prepare(t, rules, work[0])
    deal, me = work[1][0], np.int64(t.turn)
    slant, total = tilt(t, me, HARD_WEIGHTS), 0.0
    for _ in range(max(1, min(deals, budget // count))):
        sample_deal(t, rules, rng, work[0], deal)
        weight = np.exp(slant * power(np.int64(deal.held[1 - me]) & ~work[0][0].shown))
        total += weight
        add_played(t, deal, rules, rng, NOBODY, weight, objective, count, ids, work, means)
    for k in range(count):
        means[k] /= total
    return count


@njit(cache=True)
def true_values(t: Any, rules: Any, rng: Any, work: Any, ids: Any, means: Any) -> Any:
    """As :func:`move_values` with MATCH, of the true deal, played on ``TRUE_HANDS`` times."""
    count, me = list_legal(t, rules, ids), np.int64(t.turn)
    means[:count] = 0.0
    for _ in range(TRUE_HANDS):
        add_played(t, t, rules, rng, me, 1.0 / TRUE_HANDS, MATCH, count, ids, work, means)
    return count


@njit(cache=True, nogil=True)
def search_tables(
    tables: Any,
    packed: Any,
    rng: Any,
    where: Any,
    deals: Any,
    budget: Any,
    objective: Any,
    work: Any,
    ids: Any,
    means: Any,
    actions: Any,
) -> None:
    """Write the moves at the tables ``where`` into ``actions``, int64 (k,); 0 deals: ``omniscient``."""
    rules = packed[0]
    for k in range(where.shape[0]):
        t, generator = tables[where[k]], row_of(rng, where[k])
        if deals == 0:
            count = true_values(t, rules, generator, work, ids, means)
        else:
            count = move_values(t, rules, generator, deals, budget, objective, work, ids, means)
        actions[k] = best_of(count, ids, means, generator)


def _choose(
    tables: Array, packed: Array, rng: Array, where: Array, deals: int, budget: int, aim: str
) -> npt.NDArray[np.int64]:
    actions, work = np.zeros(len(where), np.int64), make_work()
    ids, means = np.zeros(MOST_MOVES, np.int64), np.zeros(MOST_MOVES)
    search_tables(tables, packed, rng, where, deals, budget, AIMS[aim], work, ids, means, actions)
    return actions


@dataclass(frozen=True, slots=True)
class TrucSearch:
    """Plays the move that does best on average over deals that its seat can't tell apart.

    Attributes:
        deals: deals imagined for each decision, 1..10000.
        budget: hands played on for a decision at most, one a deal and move, 0..10**9; with fewer
            than a deal takes it is one deal.
        aim: what a hand counts: "match" minds its points as the score makes them matter; "hand"
            minds who wins it, so never gives up a hand and calls whatever its worth.
    """

    deals: int = 50
    budget: int = 20_000
    aim: str = "match"
    cheats: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """ValueError if a number or the aim is none of those taken."""
        for name, value, allowed in (
            ("deals", self.deals, DEALS),
            ("budget", self.budget, BUDGETS),
        ):
            if type(value) is not int or value not in allowed:
                raise ValueError(
                    f"{name} must be an integer in {allowed.start}..{allowed.stop - 1}, "
                    f"not {value!r}"
                )
        if self.aim not in AIMS:
            raise ValueError(f"aim must be one of {', '.join(AIMS)}, not {self.aim!r}")

    def choose(
        self, rules: Rules, tables: Array, packed: Array, rng: Array, where: Array
    ) -> npt.NDArray[np.int64]:
        """As :class:`dominozoo.bots.search.Player`; ``rules`` must be Le Truc."""
        return _choose(tables, packed, rng, where, self.deals, self.budget, self.aim)


@dataclass(frozen=True, slots=True)
class TrucOmniscient:
    """Sees all tiles; doesn't know what the other will say, and plays on against ``hard``."""

    cheats: ClassVar[bool] = True

    def choose(
        self, rules: Rules, tables: Array, packed: Array, rng: Array, where: Array
    ) -> npt.NDArray[np.int64]:
        """As :class:`dominozoo.bots.search.Player`; ``rules`` must be Le Truc."""
        return _choose(tables, packed, rng, where, 0, 0, "match")
