"""Le Truc's scripted bots: legal, honest, repeatable, and minding what they are said to mind."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from dominozoo.bots import BOTS, OUTSIDE, descriptions, kernels, seed_bots
from dominozoo.bots.truc import WORTH, duel, trick_goes, unseen_tiles, verdict_with
from dominozoo.rules import make_rules
from dominozoo.tables import Tables
from dominozoo.tiles import mask_of, truc_slot
from dominozoo.truc.game import TrucGame
from dominozoo.truc.play import ACCEPT, CALLING, PROPOSE
from dominozoo.truc.strength import HIS, MINE, OPEN, POWER, TIED, VERDICT

from .helpers import D, positions, shuffled, start, unseen

RULES = make_rules("truc")


def moves(game: TrucGame, name: str, times: int = 1, seed: int = 3) -> npt.NDArray[np.int64]:
    """What a bot does at a table, with so many different generators."""
    records = np.repeat(game.tables, times)
    rng, actions = np.zeros((times, 4), np.uint32), np.full(times, -7, np.int64)
    seed_bots(rng, seed, 0, 0)
    codes = np.full((times, 2), BOTS[name], np.int8)
    kernels(RULES).choose(records, game.packed, codes, rng, actions, np.ones(times, np.bool_))
    return actions


def arena(one: str, other: str, deals: int, seed: int = 1) -> tuple[float, float]:
    """Share of rounds won and points a round of ``one``, every deal from both seats."""
    tables = Tables("truc", deals, seed=seed)
    points = []
    for seat in range(2):
        codes = np.zeros((deals, 2), np.int8)
        codes[:, seat], codes[:, 1 - seat] = BOTS[one], BOTS[other]
        rng, reward = np.zeros((deals, 4), np.uint32), np.zeros((deals, 2), np.float32)
        seed_bots(rng, seed, 1, 0)
        hands = np.zeros(deals, np.int32)
        records, nothing = tables.records.copy(), np.full(deals, -1, np.int64)
        kernels(RULES).advance(records, tables.packed, codes, rng, nothing, 1, reward, hands)
        assert (hands == 1).all()
        points.append(reward[:, seat] * 30)
    both = np.concatenate(points)
    return float((both > 0).mean() + (both == 0).mean() / 2), float(both.mean())


@pytest.mark.parametrize("redeals", [0, 1, 3])
def test_bots_play_legal_moves_to_the_end_of_hands(redeals: int) -> None:
    tables = Tables(f"truc(max_redeals={redeals})", 20, seed=2)  # checked: an illegal move raises
    codes = np.zeros((20, 2), np.int8)
    codes[:] = np.arange(20)[:, None] % len(BOTS)
    rng, actions = np.zeros((20, 4), np.uint32), np.zeros(20, np.int64)
    seed_bots(rng, 4, 0, 0)
    ended = np.zeros(20, np.int64)
    for _ in range(150):
        kernels(tables.rules).choose(
            tables.records, tables.packed, codes, rng, actions, np.ones(20, np.bool_)
        )
        tables.step(actions)
        ended += tables.hands_ended
    assert ended.min() >= 5


def test_an_outside_seat_is_waited_for() -> None:
    tables = Tables("truc", 50, seed=2)
    codes = np.full((50, 2), BOTS["normal"], np.int8)
    codes[:, 1] = OUTSIDE
    rng, hands = np.zeros((50, 4), np.uint32), np.zeros(50, np.int32)
    seed_bots(rng, 4, 0, 0)
    actions, reward = np.full(50, -1, np.int64), np.zeros((50, 2), np.float32)
    for _ in range(30):
        kernels(RULES).advance(tables.records, tables.packed, codes, rng, actions, 0, reward, hands)
        assert (tables.records["turn"] == 1).all()
        tables.refresh()
        actions[:] = tables.mask.argmax(axis=1)
    assert hands.min() > 0


@pytest.mark.plain
@pytest.mark.parametrize("name", list(BOTS))
def test_bots_know_only_what_their_seat_may_know(name: str) -> None:
    rng = np.random.default_rng(1)
    for game in positions(30, max_redeals=2):
        seat = int(game.tables[0]["turn"])
        assert unseen_tiles(game.tables[0], seat) == unseen(game.tables[0], seat)
        twin = shuffled(game, seat, rng)
        twin.tables["seed"], twin.tables["deals"] = 5, 6
        assert moves(twin, name)[0] == moves(game, name)[0]


def test_a_seed_repeats_moves_and_another_changes_them() -> None:
    game = start(["7-3", "6-3", "4-1"], ["6-6", "5-0", "3-1"], "stand", "6-3")
    first = moves(game, "hard", 200)
    assert (first == moves(game, "hard", 200)).all()
    assert (first != moves(game, "hard", 200, seed=4)).any()


def brute_duel(mine: list[int], his: list[int], led: int, my_lead: bool, tricks: list[int]) -> int:
    """``duel`` without short cuts."""
    mine_to_move = my_lead == (led < 0)
    found = []
    for tile in mine if mine_to_move else his:
        left = [[t for t in hand if t != tile] for hand in (mine, his)]
        if led < 0:
            found.append(brute_duel(left[0], left[1], tile, my_lead, tricks))
            continue
        went = int(trick_goes(led, tile, my_lead))
        after = [*tricks, went]
        verdict = int(VERDICT[tuple([*after, OPEN, OPEN][:3])])
        lead = my_lead if went == TIED else went == MINE
        found.append(
            int(WORTH[verdict]) if verdict else brute_duel(left[0], left[1], -1, lead, after)
        )
    return max(found) if mine_to_move else min(found)


def test_duel_is_the_value_with_all_tiles_open() -> None:
    rng = np.random.default_rng(2)
    worths = set()
    for _ in range(60):
        tiles = rng.permutation(28)[:6].tolist()
        mine, his, lead = tiles[:3], tiles[3:], bool(rng.integers(2))
        worth = int(duel(mask_of(mine), mask_of(his), np.int64(-1), lead, OPEN, OPEN))
        assert worth == brute_duel(mine, his, -1, lead, [])
        worths.add(worth)
    assert {0, 2} <= worths


@pytest.mark.parametrize(
    ("tricks", "verdict"),
    [
        *(((MINE,), OPEN), ((MINE, TIED), MINE), ((TIED, HIS), HIS), ((TIED, TIED), OPEN)),
        *(((MINE, HIS), OPEN), ((MINE, HIS, TIED), MINE), ((HIS, MINE, TIED), HIS)),
        *(((TIED, TIED, TIED), TIED), ((MINE, HIS, HIS), HIS), ((HIS, HIS), HIS)),
    ],
)
def test_verdicts_are_those_of_e42(tricks: tuple[int, ...], verdict: int) -> None:
    first, second = [*tricks[:-1], OPEN, OPEN][:2]
    assert verdict_with(first, second, tricks[-1]) == verdict


def test_every_bot_is_described() -> None:
    assert list(descriptions(RULES)) == list(BOTS)
    assert descriptions(RULES)["hard"] != descriptions(make_rules("block"))["hard"]


def test_power_is_the_share_of_tiles_beaten() -> None:
    assert POWER[truc_slot("8-4")] == pytest.approx((25 + 2 / 2) / 27)
    assert POWER[truc_slot("0-0")] == pytest.approx(5 / 27)
    assert POWER.mean() == pytest.approx(0.5)


@pytest.mark.parametrize("name", ["normal", "mobility", "hard"])
def test_strong_tiles_stand_and_weak_ones_ask_for_others(name: str) -> None:
    strong = start(["8-4", "7-5", "8-3"], ["4-0", "3-1", "4-1"])
    weak = start(["4-0", "3-1", "2-2"], ["8-4", "7-5", "8-3"])
    asks = [(moves(game, name, 200) == PROPOSE).mean() for game in (strong, weak)]
    assert asks[0] < 0.1
    assert asks[1] > 0.9


@pytest.mark.parametrize("name", ["normal", "mobility"])
def test_plain_bots_win_a_trick_as_cheaply_as_they_can(name: str) -> None:
    game = start(["7-3", "6-3", "4-1"], ["8-4", "6-5", "3-1"], "stand", "7-3")
    assert moves(game, name)[0] % CALLING == truc_slot("6-5")
    game = start(["8-4", "6-3", "4-1"], ["7-4", "6-5", "3-1"], "stand", "8-4")
    assert moves(game, name)[0] % CALLING == truc_slot("3-1")
    game = start(["8-4", "6-3", "4-1"], ["7-5", "6-5", "3-1"], "stand", "8-4")
    assert moves(game, name)[0] % CALLING == truc_slot("7-5")


def test_mobility_calls_only_what_wins_at_once() -> None:
    called = 0
    for game in positions(1500):
        if game.tables[0]["phase"] not in (2, 3):
            continue
        action = int(moves(game, "mobility")[0])
        if action >= CALLING:
            called += 1
            assert game.tables[0]["tricks"] > 0
            game.step(action % CALLING)
            assert game.last_hand() is not None
    assert called > 5


def test_hard_mixes_its_calls_and_answers() -> None:
    game = start(["7-3", "6-3", "4-1"], ["6-5", "5-4", "3-1"], "stand", "7-3")
    calls = (moves(game, "hard", 300) >= CALLING).mean()
    assert 0.05 < calls < 0.999
    hopeless = start(["8-4", "7-5", "8-3"], ["3-1", "4-0", "3-2"], "stand", "8-4")
    bluffs = (moves(hopeless, "hard", 500) >= CALLING).mean()
    assert 0.0 < bluffs < 0.9


def answers(scores: list[int], name: str = "hard") -> float:
    """How often a weak hand accepts a first call at these scores."""
    game = TrucGame(RULES)
    deal = {"hands": [["4-1", "3-2", "8-4"], ["6-6", "7-5", "3-1"]]}
    game.reset((1, 0), {"deal": deal, "dealer": D, "scores": scores})
    for action in (57, truc_slot("4-1"), CALLING + truc_slot("6-6")):
        game.step(action)
    return float((moves(game, name, 400) == ACCEPT).mean())


def test_hard_minds_the_score() -> None:
    assert answers([10, 29]) == 1.0  # a refusal would lose the match
    assert answers([10, 10]) < 0.8


@pytest.mark.parametrize(
    ("better", "worse", "share"),
    [
        *(("hard", "normal", 0.53), ("hard", "random", 0.61), ("hard", "easy", 0.58)),
        *(("hard", "mobility", 0.53), ("normal", "random", 0.57), ("normal", "easy", 0.54)),
    ],
)
def test_who_wins_more(better: str, worse: str, share: float) -> None:
    rate, points = arena(better, worse, 2000)
    assert rate > share
    assert points > 0


def test_a_bot_against_itself_is_even() -> None:
    for name in BOTS:
        rate, points = arena(name, name, 100)
        assert rate == 0.5
        assert points == pytest.approx(0.0)
