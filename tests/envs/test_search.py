"""Players that search: honest, repeatable, and right about what they solve."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from dominozoo.bots import deals, kernels, search, seed_bots, solver
from dominozoo.bots.codes import HARD, OUTSIDE
from dominozoo.bots.search import Omniscient, Player, Search, parse_bot
from dominozoo.line.play import is_legal
from dominozoo.records import copied, taken
from dominozoo.rules import pack_line, parse
from dominozoo.tables import Tables

pytestmark = pytest.mark.once  # its kernels take minutes to compile

Records = npt.NDArray[Any]

GAMES = [
    "block",
    "block(players=3)",
    "draw",
    "draw(players=3)",
    "partnership(poser=team)",
    "cutthroat(players=2)",
    "cutthroat(players=2, draw=True)",
    "cutthroat(players=3)",
    "six_love",
    "chiva",
    "chiva(players=3)",
    "french",
]
PLAYERS: list[Player] = [Search(3, 500), Search(3, 0), Search(3, 5), Omniscient()]


def tables_of(game: str, count: int = 6, steps: int = 5) -> tuple[Records, Records]:
    """Tables some moves into a hand, all with a choice, and the packed rules."""
    tables = Tables(game, count, seed=8)
    if game.startswith("partnership"):
        tables.reset(8, posers=np.arange(count) % 4)
        steps = 0
    rng = np.random.default_rng(2)
    for _ in range(steps):
        tables.step((tables.mask * rng.random(tables.mask.shape)).argmax(axis=1))
    while tables.mask.sum(axis=1).min() == 1:
        tables.step(tables.mask.argmax(axis=1))
    return copied(tables.records), tables.packed


def generators(count: int, seed: int = 3) -> npt.NDArray[np.uint32]:
    rng = np.zeros((count, 4), np.uint32)
    seed_bots(rng, seed, 0, 0)
    return rng


def choose(
    player: Player, game: str, records: Records, where: Records | None = None, seed: int = 3
) -> Records:
    rows = np.arange(len(records)) if where is None else where
    packed = pack_line(parse(game))
    return player.choose(parse(game), records, packed, generators(len(records), seed), rows)


def shuffled(records: Records, game: str, seed: int) -> Records:
    """The tables with their hidden tiles dealt anew as the seat to move can't tell, other seeds."""
    packed, other, work = pack_line(parse(game)), copied(records), deals.make_work()
    rng = generators(len(records), seed)
    for k in range(len(records)):
        deals.prepare(records[k], packed[0], work)
        deals.sample_deal(records[k], packed[0], rng[k], work, other[k])
    other["seed"] += 17
    other["table"] += 5
    other["deals"] += 3
    return other


@pytest.mark.parametrize("game", GAMES)
def test_moves_are_legal_repeatable_and_change_nothing(game: str) -> None:
    records, packed = tables_of(game)
    before = records.tobytes()
    for player in PLAYERS:
        actions = choose(player, game, records)
        assert actions.dtype == np.int64
        assert actions.shape == (len(records),)
        for k, action in enumerate(actions):
            assert is_legal(records[k], packed[0], action)
        assert actions.tolist() == choose(player, game, records).tolist()
        assert records.tobytes() == before


@pytest.mark.parametrize("game", GAMES)
def test_a_move_depends_on_its_own_table_and_generator_alone(game: str) -> None:
    records, packed = tables_of(game)
    players: list[Player] = [Search(4, 300), Omniscient()]
    for player in players:
        together = choose(player, game, records)
        where = np.array([4, 1])
        assert choose(player, game, records, where).tolist() == together[where].tolist()
        alone = player.choose(
            parse(game),
            taken(records, where[:1]),
            packed,
            generators(6)[4:5],
            np.zeros(1, np.int64),
        )
        assert alone[0] == together[4]


@pytest.mark.parametrize("game", GAMES)
def test_search_does_not_see_what_its_seat_does_not_see(game: str) -> None:
    records, _ = tables_of(game)
    changed = 0
    for seed in range(3):
        other = shuffled(records, game, seed)
        changed += int((other["hands"] != records["hands"]).any(axis=1).sum())
        for player in (Search(5, 300), Search(5, 0)):
            assert choose(player, game, other).tolist() == choose(player, game, records).tolist()
    assert changed > 6 or game == "cutthroat(players=2)"  # there a seat knows every tile
    assert not Search.cheats


def test_omniscient_sees_what_its_seat_does_not_see() -> None:
    records, _ = tables_of("partnership", 40)
    other = shuffled(records, "partnership", 1)
    player = Omniscient()
    assert Omniscient.cheats
    moves = choose(player, "partnership", records)
    assert moves.tolist() != choose(player, "partnership", other).tolist()


def test_a_forced_move_costs_no_chance() -> None:
    tables = Tables("block", 4, seed=8)  # the pose is by rule
    rng = generators(4)
    players: list[Player] = [Search(), Omniscient()]
    for player in players:
        actions = player.choose(tables.rules, tables.records, tables.packed, rng, np.arange(4))
        assert actions.tolist() == tables.mask.argmax(axis=1).tolist()
        assert (rng == generators(4)).all()


@pytest.mark.parametrize("objective", [solver.POINTS, solver.WIN, solver.BOTH])
def test_values_are_means_of_solved_deals(objective: int) -> None:
    records, packed = tables_of("partnership", 2)
    t, rules, work = records[0], packed[0], search.make_work()
    ids, values = np.zeros((2, solver.MOST_MOVES), np.int64)
    means = np.zeros(solver.MOST_MOVES)
    count = search.move_values(t, rules, generators(1)[0], 7, 10**6, objective, work, ids, means)
    rng, dealt, total = generators(1)[0], copied(records), np.zeros(count)
    deal_work, solver_work = deals.make_work(), solver.make_work()
    deals.prepare(t, rules, deal_work)
    for _ in range(7):
        deals.sample_deal(t, rules, rng, deal_work, dealt[1])
        limit = solver.NO_LIMIT
        solver.solve_moves(dealt[1], rules, solver_work, objective, limit, ids, values)
        for k in range(count):
            if objective != solver.POINTS:
                total[k] += solver.as_share(objective, values[k])
            if objective != solver.WIN:
                close = search.CLOSE if objective == solver.BOTH else 1
                total[k] += close * solver.as_points(rules, objective, values[k])
    assert means[:count] == pytest.approx(total / 7)


def test_beyond_the_budget_hands_are_played_on() -> None:
    records, packed = tables_of("cutthroat(players=2)", 1)
    found = []
    for budget in (0, 1, 10**7):
        ids, means = np.zeros(solver.MOST_MOVES, np.int64), np.zeros(solver.MOST_MOVES)
        count = search.move_values(
            records[0], packed[0], generators(1)[0], 8, budget, solver.WIN, search.make_work(),
            ids, means,
        )  # fmt: skip
        assert ((means[:count] >= 0) & (means[:count] <= 1)).all()
        assert (means[:count] * 16 % 1 == 0).all()
        found.append(means[:count].tolist())
    assert found[0] == found[1] != found[2]


def test_equal_moves_are_chosen_by_lot() -> None:
    records, _ = tables_of("partnership", 12)
    seen: list[set[int]] = [set() for _ in range(12)]
    for seed in range(6):
        for k, move in enumerate(choose(Search(1), "partnership", records, seed=seed)):
            seen[k].add(int(move))
    assert any(len(moves) > 1 for moves in seen)


def win_rate(player: Player, game: str, count: int) -> float:
    """One side's against ``hard`` on all others, on duplicate deals."""
    rules, share = parse(game), 0.0
    for side in range(rules.sides):
        tables = Tables(rules, count, seed=11)
        records, rng = copied(tables.records), generators(count)
        codes = np.full((count, rules.players), HARD, np.int8)
        codes[:, side :: rules.sides] = OUTSIDE
        reward, hands = np.zeros((count, rules.players), np.float32), np.zeros(count, np.int32)
        actions = np.full(count, -1, np.int64)
        while True:
            kernels(rules).advance(records, tables.packed, codes, rng, actions, 1, reward, hands)
            where = np.flatnonzero(records["turn"] >= 0)
            if not len(where):
                break
            actions[:] = -1
            actions[where] = player.choose(rules, records, tables.packed, rng, where)
        won = records["last_winner"]
        share += float((won == side).mean() + (won < 0).mean() / rules.sides)
    return share / rules.sides


@pytest.mark.parametrize(
    ("player", "game", "count", "least"),
    [
        (Omniscient(), "block", 300, 0.68),
        (Omniscient(), "partnership", 60, 0.75),
        (Search(30), "block", 600, 0.51),
        (Omniscient(), "cutthroat", 100, 0.5),
        (Search(30), "cutthroat", 300, 0.265),
    ],
)
def test_searching_wins(player: Player, game: str, count: int, least: float) -> None:
    assert win_rate(player, game, count) > least


def test_players_are_named_by_text() -> None:
    assert parse_bot("search") == Search()
    assert parse_bot(" search( deals = 7 , budget=0 ) ") == Search(7, 0)
    assert parse_bot("search(budget=9)", parse("draw")) == Search(budget=9)
    assert parse_bot("omniscient") == parse_bot("omniscient()") == Omniscient()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("serach", r"^players: 'serach' is nobody \(did you mean 'search'\?\); name search, omni"),
        ("Omniscent", r"did you mean 'omniscient'\?"),
        ("search(deal=5)", r"^players: search has no option 'deal' \(did you mean 'deals'\?\)"),
        ("search(deals=0)", r"^players: search: deals must be an integer in 1\.\.10000, not 0"),
        ("search(deals=10001)", r"deals must be an integer in 1\.\.10000"),
        ("search(deals=x)", r"deals must be an integer in 1\.\.10000, not 'x'"),
        ("search(deals)", r"deals must be an integer in 1\.\.10000, not ''"),
        ("search(budget=-1)", r"budget must be an integer in 0\.\.1000000000, not '-1'"),
        ("search(deals=5, deals=6)", r"deals is given twice"),
        ("omniscient(deals=5)", r"omniscient has no option 'deals'; it takes none"),
        ("search(deals=5", r"is nobody|names no"),
    ],
)
def test_a_wrong_text_is_refused_with_what_is_taken(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        parse_bot(text)


def test_numbers_out_of_range_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^deals must be an integer in 1\.\.10000, not 0"):
        Search(deals=0)
    with pytest.raises(ValueError, match=r"^budget must be an integer"):
        Search(budget=True)
