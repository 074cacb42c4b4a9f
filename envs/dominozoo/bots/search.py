"""Players of the line games that search: ``search(deals=50)`` and ``omniscient``.

``search`` doesn't see the others' tiles. For each decision it draws deals that agree with all that
its seat has seen (:mod:`dominozoo.bots.deals`), finds what each of its moves is worth in each deal
(:mod:`dominozoo.bots.solver`, or where that would take too long one hand played on by ``hard``) and
plays the move with the best mean: perfect-information Monte Carlo, known from Ginsberg's bridge
player ("GIB: Imperfect information in a computationally challenging game", 2001).

Where three sides or more play, the solver takes it that all others join against its seat, which
nobody does: it gives up most hands. There deals are only played on, which wins far more.

``omniscient`` cheats: it solves the true deal. It shows how much of a game skill could decide.

>>> parse_bot("search(deals=20)")
Search(deals=20, budget=None)
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Protocol

import numpy as np
import numpy.typing as npt

from dominozoo.bits import bits, row_of
from dominozoo.bots import deals as dealing
from dominozoo.bots import solver
from dominozoo.bots.codes import HARD
from dominozoo.bots.deals import copy_record, prepare, sample_deal
from dominozoo.bots.heuristic import decide, roll
from dominozoo.bots.solver import BOTH, UNSOLVED, WIN, as_points, as_share, solve_moves
from dominozoo.compiler import njit
from dominozoo.line.play import legal_ids, nth_legal
from dominozoo.line.score import PENALTIES, finish, side_of
from dominozoo.line.table import NOBODY, TABLE
from dominozoo.rules import TRUC, Rules

Array = npt.NDArray[Any]

DEALS: Final = range(1, 10_001)
BUDGETS: Final = range(1_000_000_001)
TRIES: Final = 2  # deals in succession beyond the budget, after which no more are solved
CLOSE: Final = 1e-3  # how much 1 of the hand's reward counts beside its share
EQUAL: Final = 1e-9  # means that differ by less are equal
ALL_SEEN: Final = 1_000_000  # positions that `omniscient` looks at in a move
SOLVING: Final = 20_000  # positions looked at in a deal, if nothing else is said
PLAYED: Final = (
    16  # times that `omniscient` plays the true deal on where there are more than two sides
)
SURE: Final = 1.0 - 1e-3  # of a hand that is won whatever the others do, at least


class Player(Protocol):
    """A player that decides on the records of its tables.

    Attributes:
        cheats: whether it reads what its seat doesn't see.
    """

    cheats: ClassVar[bool]

    def choose(
        self, rules: Rules, tables: Array, packed: Array, rng: Array, where: Array
    ) -> npt.NDArray[np.int64]:
        """The moves at some tables.

        Args:
            rules: the game.
            tables: records (B,); those to decide aren't over. Nothing is changed.
            packed: the packed rules, (1,).
            rng: uint32 (B, 4), the bots' generators, one a table; those used move on.
            where: int64 (k,), the tables to decide.

        Returns:
            A legal action id for each, int64 (k,).
        """
        ...


def make_work() -> tuple[Array, ...]:
    """Working memory of :func:`move_values`, to be used again: see there."""
    ids, values = np.zeros((2, solver.MOST_MOVES), np.int64)
    return (
        solver.make_work(),
        dealing.make_work(),
        np.zeros(2, TABLE),  # a deal, and the same played on
        ids,
        values,
        np.zeros(4, np.float64),
    )


@njit(cache=True)
def hand_share(t: Any, rules: Any, seat: Any) -> Any:
    """A seat's share of the finished hand, as the arena counts it: 0..1."""
    if rules.scoring != PENALTIES:
        if t.last_winner == NOBODY:
            return 1.0 / rules.sides
        return 1.0 if t.last_winner == side_of(rules, seat) else 0.0
    joint = 0
    for other in range(rules.players):
        if t.last_points[other] < t.last_points[seat]:
            return 0.0
        if t.last_points[other] == t.last_points[seat]:
            joint += 1
    return 1.0 / joint


@njit(cache=True)
def play_on(t: Any, rules: Any, action: Any, rng: Any, reward: Any) -> None:
    """Make a move and let ``hard`` play all seats to the hand's end; ``reward`` is set."""
    reward[:] = 0.0
    while finish(t, rules, action, 1, 0, reward) == 0:
        action = decide(t, rules, HARD, rng)


@njit(cache=True)
def worth(rules: Any, objective: Any, share: Any, points: Any) -> Any:
    """What a hand counts."""
    if objective == WIN:
        return share
    return points if objective != BOTH else share + CLOSE * points


@njit(cache=True)
def add_solved(rules: Any, objective: Any, count: Any, values: Any, means: Any) -> None:
    """Add the values of a solved deal."""
    for k in range(count):
        share = 0.0 if objective == solver.POINTS else as_share(objective, values[k])
        points = 0.0 if objective == WIN else as_points(rules, objective, values[k])
        means[k] += worth(rules, objective, share, points)


@njit(cache=True)
def add_played(
    t: Any, rules: Any, rng: Any, objective: Any, count: Any, ids: Any, work: Any, means: Any
) -> None:
    """Add the values of a deal whose moves are played on."""
    played, reward, seat = work[2][1], work[5], np.int64(t.turn)
    for k in range(count):
        copy_record(played, t)
        play_on(played, rules, ids[k], rng, reward)
        share = hand_share(played, rules, seat)
        means[k] += worth(rules, objective, share, reward[seat])


@njit(cache=True)
def list_legal(t: Any, rules: Any, ids: Any) -> Any:
    """Write the legal action ids; returns their number."""
    low, high = legal_ids(t, rules)
    count = bits(low) + bits(high)
    for k in range(count):
        ids[k] = nth_legal(low, high, k)
    return count


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
        budget: positions with a choice that may be looked at to solve a deal; a deal that takes
            more is played on by ``hard``, and after two such in succession all that follow are.
        objective: ``solver.POINTS``, WIN, or BOTH: the share with a little of the points.
        work: from :func:`make_work`.
        ids: int64 (MOST_MOVES,); takes the legal action ids.
        means: float64 (MOST_MOVES,); takes the mean values.

    Returns:
        The number of legal moves.
    """
    count = list_legal(t, rules, ids)
    means[:count] = 0.0
    prepare(t, rules, work[1])
    beyond = 0
    for _ in range(deals):
        deal = work[2][0]
        sample_deal(t, rules, rng, work[1], deal)
        solved = np.int64(UNSOLVED)
        if beyond < TRIES and budget > 0:
            solved = solve_moves(deal, rules, work[0], objective, budget, work[3], work[4])
            beyond = 0 if solved != UNSOLVED else beyond + 1
        if solved != UNSOLVED:
            add_solved(rules, objective, count, work[4], means)
        else:
            add_played(deal, rules, rng, objective, count, ids, work, means)
    for k in range(count):
        means[k] /= deals
    return count


@njit(cache=True)
def true_values(t: Any, rules: Any, rng: Any, work: Any, ids: Any, means: Any) -> Any:
    """As :func:`move_values` with BOTH, of the true deal alone.

    With more than two sides a hand that can't be forced is played on, several times.
    """
    count = list_legal(t, rules, ids)
    means[:count] = 0.0
    most, times = (ALL_SEEN, 1) if rules.sides == 2 else (SOLVING, PLAYED)
    for objective in (BOTH, WIN):
        if solve_moves(t, rules, work[0], objective, most, work[3], work[4]) != UNSOLVED:
            add_solved(rules, objective, count, work[4], means)
            if rules.sides == 2 or means[:count].max() >= SURE:
                return count
            means[:count] = 0.0
            break
    for _ in range(times):
        add_played(t, rules, rng, np.int64(BOTH), count, ids, work, means)
    return count


@njit(cache=True)
def best_of(count: Any, ids: Any, means: Any, rng: Any) -> Any:
    """The move with the best mean, equal ones by lot."""
    best, equal, action = -1e9, 0, np.int64(-1)
    for k in range(count):
        if means[k] > best + EQUAL:
            best, equal, action = means[k], 1, ids[k]
        elif means[k] >= best - EQUAL:
            equal += 1
            if roll(rng, equal) == 0:
                action = ids[k]
    return action


@njit(cache=True)
def prefer(count: Any, ids: Any, means: Any, favourite: Any) -> None:
    """Put a move before those that equal it."""
    for k in range(count):
        if ids[k] == favourite:
            means[k] += 2 * EQUAL


@njit(cache=True, nogil=True)
def choose_tables(
    tables: Any,
    packed: Any,
    rng: Any,
    where: Any,
    deals: Any,
    budget: Any,
    work: Any,
    ids: Any,
    means: Any,
    actions: Any,
) -> None:
    """Write the moves at the tables ``where`` into ``actions``, int64 (k,).

    Without deals the true one is solved. Then moves are often equal, all of a lost hand's for one:
    of those the one that ``hard`` would play sets the most traps.
    """
    rules = packed[0]
    for k in range(where.shape[0]):
        t, generator = tables[where[k]], row_of(rng, where[k])
        count = list_legal(t, rules, ids)
        if count > 1 and deals > 0:
            move_values(t, rules, generator, deals, budget, WIN, work, ids, means)
        elif count > 1:
            true_values(t, rules, generator, work, ids, means)
            prefer(count, ids, means, decide(t, rules, HARD, generator))
        actions[k] = best_of(count, ids, means, generator) if count > 1 else ids[0]


def _choose(
    deals: int, budget: int, tables: Array, packed: Array, rng: Array, where: Array
) -> npt.NDArray[np.int64]:
    actions = np.zeros(len(where), np.int64)
    ids, means = np.zeros(solver.MOST_MOVES, np.int64), np.zeros(solver.MOST_MOVES)
    choose_tables(tables, packed, rng, where, deals, budget, make_work(), ids, means, actions)
    return actions


@dataclass(frozen=True, slots=True)
class Search:
    """Plays the move that is best on average over deals that its seat can't tell apart.

    Attributes:
        deals: deals imagined for each decision, 1..10000.
        budget: positions with a choice looked at to solve a deal, 0..10**9; beyond it the deal is
            played on by ``hard``; 0 solves none. None takes 20,000 with two sides, else 0.
    """

    deals: int = 50
    budget: int | None = None
    cheats: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """ValueError if a number is out of its range."""
        _check("deals", self.deals, DEALS)
        if self.budget is not None:
            _check("budget", self.budget, BUDGETS)

    def choose(
        self, rules: Rules, tables: Array, packed: Array, rng: Array, where: Array
    ) -> npt.NDArray[np.int64]:
        """As :class:`Player`; ``rules`` must be a line game."""
        budget = self.budget
        if budget is None:
            budget = SOLVING if rules.sides == 2 else 0
        return _choose(self.deals, budget, tables, packed, rng, where)


@dataclass(frozen=True, slots=True)
class Omniscient:
    """Sees all tiles and solves the true deal: the share of the hand first, then its points."""

    cheats: ClassVar[bool] = True

    def choose(
        self, rules: Rules, tables: Array, packed: Array, rng: Array, where: Array
    ) -> npt.NDArray[np.int64]:
        """As :class:`Player`; ``rules`` must be a line game."""
        return _choose(0, 0, tables, packed, rng, where)


RANGES: Final = {"deals": DEALS, "budget": BUDGETS}
NAMES: Final = ("search", "omniscient")


def parse_bot(text: str, rules: Rules | None = None) -> Player:
    """The player that a text names: ``search``, ``search(deals=50, budget=20000)``, ``omniscient``.

    Args:
        text: name and options; those left out take the defaults.
        rules: the game; None = a line game.

    Raises:
        ValueError: the text names no such player, or an option that it lacks or doesn't take.
    """
    match = re.fullmatch(r"\s*([\w-]+)\s*(?:\((.*)\))?\s*", text, re.DOTALL)
    if match is None or match[1] not in NAMES:
        name = text.partition("(")[0].strip()
        raise ValueError(f"players: {name!r} is nobody{_hint(name, NAMES)}; name {_list(NAMES)}")
    options = _read_options(match[1], match[2] or "")
    search, omniscient = _players_of(rules)
    player: Player = search(**options) if match[1] == "search" else omniscient()
    return player


def _players_of(rules: Rules | None) -> tuple[Any, Any]:
    """The classes of a family's two players."""
    if rules is None or rules.variant.family != TRUC:
        return Search, Omniscient
    from dominozoo.bots import truc_search

    return truc_search.TrucSearch, truc_search.TrucOmniscient


def kernel_of(rules: Rules) -> Any:
    """The compiled function behind a game's searching players."""
    if rules.variant.family != TRUC:
        return choose_tables
    from dominozoo.bots import truc_search

    return truc_search.search_tables


def _read_options(name: str, inside: str) -> dict[str, int]:
    """What stands in the brackets, checked."""
    known = tuple(RANGES) if name == "search" else ()
    options: dict[str, int] = {}
    for item in filter(None, (part.strip() for part in inside.split(","))):
        key, _, value = (part.strip() for part in item.partition("="))
        if key not in known:
            takes = f"it takes {_list(known)}" if known else "it takes none"
            raise ValueError(f"players: {name} has no option {key!r}{_hint(key, known)}; {takes}")
        if key in options:
            raise ValueError(f"players: {name}: {key} is given twice")
        if not re.fullmatch(r"\d{1,12}", value):
            raise ValueError(f"players: {name}: {_range_of(key, value, RANGES[key])}")
        options[key] = int(value)
        _check(key, options[key], RANGES[key], f"players: {name}: ")
    return options


def _check(name: str, value: int, allowed: range, before: str = "") -> None:
    """ValueError if an option is out of its range."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or value not in allowed:
        raise ValueError(before + _range_of(name, value, allowed))


def _range_of(name: str, value: object, allowed: range) -> str:
    return f"{name} must be an integer in {allowed.start}..{allowed.stop - 1}, not {value!r}"


def _hint(word: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(word.casefold(), list(known), n=1)
    return f" (did you mean {near[0]!r}?)" if near else ""


def _list(names: Iterable[str]) -> str:
    return ", ".join(names)
