"""The solver against a search without any pruning, and what ``dominozoo.solve`` says and refuses."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import dominozoo
from dominozoo import french_v0, partnership_v0, truc_v0
from dominozoo.bots import solver
from dominozoo.bots.solver import BOTH, POINTS, UNSOLVED, WIN
from dominozoo.bots.solving import UnsolvedError
from dominozoo.line.game import LineGame
from dominozoo.line.play import legal_ids, nth_legal
from dominozoo.line.score import finish
from dominozoo.line.table import ANY_TILE, PLAY, REASONS
from dominozoo.records import copied
from dominozoo.rules import Rules, pack_line, parse
from dominozoo.tables import Tables
from dominozoo.tiles import ALL_TILES, mask_of, tile_id, tiles_of

pytestmark = pytest.mark.once  # its kernels take minutes to compile

Records = npt.NDArray[Any]
Values = tuple[float, float, tuple[float, float]]

GAMES = [
    "block",
    "block(players=3)",
    "block(players=4)",
    "draw",
    "draw(players=3)",
    "partnership(key_card=True, tie=escalate)",
    "partnership(poser=team)",
    "cutthroat(players=2, tie=double)",
    "cutthroat(players=2, draw=True)",
    "cutthroat(players=3, key_card=True)",
    "cutthroat",
    "six_love",
    "chiva",
    "chiva(players=2)",
    "chiva(players=3)",
    "french",
]
OBJECTIVES = (POINTS, WIN, BOTH)
NO_LIMIT = solver.NO_LIMIT


class TooBigError(Exception):
    """A tree with too many positions for a search without pruning."""


class Brute:
    """All lines of play to the hand's end, by the kernels that play the games."""

    def __init__(self, rules: Rules, seat: int, limit: int) -> None:
        self.rules, self.seat, self.left = rules, seat, limit
        self.packed = pack_line(rules)
        self.ends: set[tuple[str, bool]] = set()

    def after(self, records: Records, action: int) -> Values:
        """What the seat gets after a move: points, share, (share, points), each by its own play."""
        self.left -= 1
        if self.left < 0:
            raise TooBigError
        then, reward = copied(records), np.zeros(4)
        if finish(then[0], self.packed[0], action, 1, 0, reward) != 0:
            return self.result(then[0], float(reward[self.seat]))
        turn = int(then[0]["turn"])
        pick = max if self.rules.side_of(turn) == self.rules.side_of(self.seat) else min
        values = [self.after(then, move) for move in legal(then, self.packed)]
        return pick(v[0] for v in values), pick(v[1] for v in values), pick(v[2] for v in values)

    def result(self, t: Any, points: float) -> Values:
        """The finished hand, as the arena counts it."""
        self.ends.add((str(REASONS[t["last_reason"]]), bool(t["last_key"])))
        if self.rules.game == "french":
            penalties = t["last_points"].tolist()
            own, low = penalties[self.seat], min(penalties)
            share = 1 / penalties.count(low) if own == low else 0.0
        elif t["last_winner"] < 0:
            share = 1 / self.rules.sides
        else:
            share = float(t["last_winner"] == self.rules.side_of(self.seat))
        points = round(points, 9)
        return points, share, (share, points)


def legal(records: Records, packed: Records) -> list[int]:
    low, high = legal_ids(records[0], packed[0])
    count = int(low).bit_count() + int(high).bit_count()
    return [int(nth_legal(low, high, k)) for k in range(count)]


def small(rules: Rules, seed: int) -> Records:
    """A table at the pose with two or three tiles a hand and at most three to draw."""
    tables = Tables(rules, 1, seed=seed)
    if rules.value("always_by_rule", False) is False and seed % 3:
        tables.reset(seed, posers=np.array([seed % rules.players]))
    records = copied(tables.records)
    t, rng = records[0], np.random.default_rng(seed)
    for seat in range(rules.players):
        tiles = tiles_of(t["hands"][seat])
        if seat == t["turn"] and t["opening"] != ANY_TILE:
            tiles.sort(key=lambda tile: tile != t["opening"])
        else:
            rng.shuffle(tiles)
        kept = tiles[: 2 + int(rng.integers(2))]
        t["hands"][seat], t["sizes"][seat] = sum(1 << k for k in kept), len(kept)
    t["boneyard"] = min(t["boneyard"], rng.integers(4))
    if rules.value("tie", "reset") in ("escalate", "double"):
        t["stake"] = 1 + seed % 2
    return records


def late(rules: Rules, seed: int) -> Records:
    """A table late in a hand played at random: nobody has more than three tiles, or nearly so."""
    packed, rng = pack_line(rules), np.random.default_rng(seed)
    records = copied(Tables(rules, 1, seed=seed).records)
    while True:
        then = copied(records)
        move = int(rng.choice(legal(records, packed)))
        if finish(then[0], packed[0], move, 1, 0, np.zeros(4)) != 0:
            return records
        records = then
        if sum(records[0]["sizes"].tolist()) <= 2 * rules.players + rng.integers(4):
            return records


def solved(records: Records, packed: Records, objective: int, work: Records) -> dict[int, int]:
    """The solver's value of each legal move."""
    ids, values = np.zeros((2, solver.MOST_MOVES), np.int64)
    before = records.tobytes()
    count = solver.solve_moves(records[0], packed[0], work, objective, NO_LIMIT, ids, values)
    assert records.tobytes() == before
    return {int(ids[k]): int(values[k]) for k in range(count)}


def read(rules: Any, objective: int, value: int) -> Any:
    """A value of the solver as the brute search has it."""
    if objective == POINTS:
        return pytest.approx(solver.as_points(rules, POINTS, value))
    share = float(solver.as_share(objective, value))
    if objective == WIN:
        return share
    return share, pytest.approx(solver.as_points(rules, BOTH, value))


def check(rules: Rules, records: Records, work: Records, limit: int) -> set[tuple[str, bool]]:
    """Compare all moves of a table; the ways in which its hands end, nothing if it is too big."""
    packed = pack_line(rules)
    brute = Brute(rules, int(records[0]["turn"]), limit)
    try:
        wanted = {move: brute.after(records, move) for move in legal(records, packed)}
    except TooBigError:
        return set()
    for objective in OBJECTIVES:
        found = solved(records, packed, objective, work)
        assert list(found) == list(wanted)
        for move, value in found.items():
            assert wanted[move][objective] == read(packed[0], objective, value), (objective, move)
    return brute.ends


@pytest.mark.parametrize("game", GAMES)
def test_the_solver_equals_a_search_without_pruning(game: str) -> None:
    rules, work = parse(game), solver.make_work()
    ends: set[tuple[str, bool]] = set()
    for seed in range(16):
        for make in (small, late):
            ends |= check(rules, make(rules, seed), work, 400)
    reasons = {reason for reason, _ in ends}
    assert {"out", "block"} <= reasons
    if game in ("block(players=4)", "partnership(poser=team)", "six_love", "chiva"):
        assert "tie" in reasons


@pytest.mark.plain
@pytest.mark.parametrize("game", ["draw(players=3)", "partnership(poser=team)", "french"])
def test_the_solver_equals_a_search_without_pruning_in_plain_python(game: str) -> None:
    rules, work = parse(game), solver.make_work()
    assert any(check(rules, small(rules, seed), work, 100) for seed in range(12))


@pytest.mark.parametrize(("stake", "points"), [(1, 2), (2, 2), (3, 3)])
def test_the_key_card_makes_a_hand_worth_two(stake: int, points: int) -> None:
    """Seat 0 lays 2-1 last, at ends 2 and 1, when all their kin lie."""
    records = copied(Tables("six_love", 1, seed=1).records)
    t, packed = records[0], pack_line(parse("six_love"))
    held = [mask_of(map(tile_id, hand)) for hand in (["2-1"], ["3-3"], ["6-6", "5-5"], ["6-5"])]
    t["hands"], t["stake"], t["laid"] = held, stake, ALL_TILES & ~sum(held)
    t["phase"], t["turn"], t["opener"], t["ends"] = PLAY, 0, 0, [3, 2, 0, 0]
    assert set(solved(records, packed, POINTS, solver.make_work()).values()) == {points * 3}
    t["laid"] = int(t["laid"]) & ~mask_of([tile_id("1-1")])  # now 1-1 doesn't lie: no key
    assert set(solved(records, packed, POINTS, solver.make_work()).values()) == {stake * 3}


@pytest.mark.parametrize(
    ("game", "objective"),
    [("block(players=4)", POINTS), ("draw(players=3)", POINTS), ("partnership", WIN)],
)
def test_values_do_not_depend_on_what_is_remembered(game: str, objective: int) -> None:
    packed = pack_line(parse(game))
    few, many = solver.make_work(1), solver.make_work(1 << 16)
    for seed in range(3):
        records = opened(game, seed)
        assert solved(records, packed, objective, few) == solved(records, packed, objective, many)


def opened(game: str, seed: int) -> Records:
    """A hand's first table with a choice."""
    packed = pack_line(parse(game))
    records = copied(Tables(game, 1, seed=seed).records)
    while len(legal(records, packed)) == 1:
        finish(records[0], packed[0], legal(records, packed)[0], 1, 0, np.zeros(4))
    return records


def test_many_solves_in_a_row_do_not_meet_each_others_memory() -> None:
    packed, work = pack_line(parse("partnership")), solver.make_work()
    tables = [opened("partnership", seed) for seed in range(5)]
    fresh = [solved(records, packed, WIN, solver.make_work()) for records in tables]
    for k in range(3 * solver.GENERATIONS):
        assert solved(tables[k % 5], packed, WIN, work) == fresh[k % 5]


def test_a_budget_that_does_not_last_is_reported_and_leaves_the_work_sound() -> None:
    packed, work, records = pack_line(parse("draw")), solver.make_work(), opened("draw", 3)
    ids, values = np.zeros((2, solver.MOST_MOVES), np.int64)
    wanted = solved(records, packed, WIN, solver.make_work())
    for budget in (1, 10, 50):
        count = solver.solve_moves(records[0], packed[0], work, WIN, budget, ids, values)
        assert count == UNSOLVED
        assert work[solver.NODES] <= budget + 1
    assert solved(records, packed, WIN, work) == wanted


def test_what_a_solve_costs_depends_on_nothing_solved_before() -> None:
    packed, work, records = pack_line(parse("draw")), solver.make_work(64), opened("draw", 3)
    costs = set()
    for _ in range(3):
        solved(records, packed, WIN, work)
        costs.add(int(work[solver.NODES]))
    assert len(costs) == 1


@pytest.mark.parametrize(
    ("game", "objective"),
    [
        ("block", POINTS),
        ("draw", WIN),
        ("partnership", WIN),
        ("partnership(key_card=True)", POINTS),
        ("cutthroat(players=2)", WIN),
        ("chiva", POINTS),
    ],
)
def test_the_best_move_keeps_what_it_promises(game: str, objective: int) -> None:
    rules, work = parse(game), solver.make_work()
    packed, rng = pack_line(rules), np.random.default_rng(5)
    for seed in range(2):
        records = opened(game, seed)
        seat, ended, reward = int(records[0]["turn"]), 0, np.zeros(4)
        promised = max(solved(records, packed, objective, work).values())
        while not ended:
            moves = legal(records, packed)
            if rules.side_of(int(records[0]["turn"])) == rules.side_of(seat):
                found = solved(records, packed, objective, work)
                assert max(found.values()) >= promised
                moves = [move for move in moves if found[move] == max(found.values())]
            ended = finish(records[0], packed[0], int(rng.choice(moves)), 1, 0, reward)
        points, share, _ = Brute(rules, seat, 0).result(records[0], float(reward[seat]))
        if objective == WIN:
            assert share >= solver.as_share(WIN, promised)
        else:
            assert points >= solver.as_points(packed[0], POINTS, promised) - 1e-6


@pytest.mark.parametrize("game", ["block", "partnership(key_card=True)", "cutthroat", "chiva"])
def test_values_lie_within_what_a_hand_can_be_worth(game: str) -> None:
    rules, work = parse(game), solver.make_work()
    packed = pack_line(rules)
    most = {"block": 1.68, "partnership": 2.0, "cutthroat": 1.0, "chiva": 1.0}[rules.game]
    for seed in range(5):
        records = opened(game, seed)
        points = solved(records, packed, POINTS, work)
        shares = solved(records, packed, WIN, work)
        for move, value in points.items():
            worth = float(solver.as_points(packed[0], POINTS, value))
            share = float(solver.as_share(WIN, shares[move]))
            assert -most <= worth <= most
            assert share in (0.0, 1 / rules.sides, 1.0)
            if rules.sides == 2 and worth > 0:  # who wins points by force wins the hand
                assert share == 1.0


# dominozoo.solve


def position(module: Any = partnership_v0, moves: int = 6, **options: Any) -> dict[str, Any]:
    env = module.env(**options)
    env.reset(seed=4)
    for _ in range(moves):
        env.step(env.unwrapped.position()["legal"][0]["id"])
    found: dict[str, Any] = env.unwrapped.position()
    return found


def test_solve_values_each_legal_move_best_first() -> None:
    here = position()
    for objective in ("points", "win"):
        moves = dominozoo.solve(here, objective=objective)
        assert sorted(move["id"] for move in moves) == [move["id"] for move in here["legal"]]
        for move in moves:
            assert {**move, "value": None} == {
                **next(legal for legal in here["legal"] if legal["id"] == move["id"]),
                "value": None,
            }
        values = [move["value"] for move in moves]
        assert values == sorted(values, reverse=True)
        assert all(-1 <= value <= 1 and isinstance(value, float) for value in values)
    assert all(move["value"] >= 0 for move in dominozoo.solve(here, objective="win"))


def test_solve_counts_points_as_the_reward_does() -> None:
    here = position(french_v0, 14)
    game = LineGame(parse("french"))
    game.reset(None, {"position": here})
    found = solved(copied(game.tables), game.packed, POINTS, solver.make_work())
    worth = {move: pytest.approx(value / 400) for move, value in found.items()}
    assert {move["id"]: move["value"] for move in dominozoo.solve(here)} == worth


def test_solve_refuses_what_it_cannot_solve() -> None:
    env: Any = partnership_v0.env()
    env.reset(seed=4)
    here = env.unwrapped.position()
    truc: Any = truc_v0.env()
    truc.reset(seed=1)
    cases: list[tuple[Any, dict[str, Any], str]] = [
        (
            env.unwrapped.view("player_0"),
            {},
            r"^position\.hands: are missing: this is a view.*tile",
        ),
        (truc.unwrapped.position(), {}, r"^position\.game: Le Truc"),
        ({**here, "phase": "over"}, {}, r"^position\.phase: the position is over"),
        ({**here, "stake": 5}, {}, r"^position\.stake: "),
        ({**here, "game": "bridge_v0"}, {}, r"^position\.rules: unknown game"),
        ({"game": "block_v0"}, {}, r"^position\.rules: is missing"),
        ({**here, "rules": 3}, {}, r"^position\.rules: must be a mapping"),
        ([], {}, r"^position: must be a mapping, not list"),
        (here, {"objective": "pips"}, r"^objective: must be one of points, win, not 'pips'"),
        (here, {"budget": 0}, r"^budget: must be None or an integer of at least 1, not 0"),
        (here, {"budget": True}, r"^budget: must be"),
    ]
    for given, options, text in cases:
        with pytest.raises(ValueError, match=text):
            dominozoo.solve(given, **options)
    with pytest.raises(UnsolvedError, match=r"^budget: 5 positions were too few"):
        dominozoo.solve(here, budget=5)


def test_solve_is_brought_only_when_asked_for(tmp_path: Path) -> None:
    code = (
        "import dominozoo, sys\n"
        "assert 'solve' in dir(dominozoo)\n"
        "print([m for m in sys.modules if m in ('numba', 'dominozoo.bots')])"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"
