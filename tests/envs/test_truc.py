"""Domino Le Truc: the worked examples E40-E49, the rules A27-A33, and what must hold always."""

from __future__ import annotations

import copy
import hashlib
import itertools
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from numba import njit

from dominozoo.bits import bits, lowest
from dominozoo.bots.heuristic import roll
from dominozoo.fields import TRUC_LAYOUT
from dominozoo.notation import read_record, record_of, replay, write_record
from dominozoo.render.text import draw
from dominozoo.rules import RulesError, make_rules, pack_line, pack_truc
from dominozoo.tables import Tables
from dominozoo.tiles import ALL_TILES, TRUC_NAMES, TRUC_TILES, mask_of, tiles_of, truc_slot
from dominozoo.truc import batch
from dominozoo.truc.game import TrucGame
from dominozoo.truc.illegal import why_illegal
from dominozoo.truc.play import legal
from dominozoo.truc.position import mask_from_view, observation_from_view
from dominozoo.truc.score import HAND_ENDED, finish, next_hand
from dominozoo.truc.table import BEATS, CLASS, TABLE

N, D = 0, 1  # in the examples seat 1 deals
WORDS = {"propose": 56, "stand": 57, "accept": 58, "reject": 59}
STRONG = ["8-4", "8-3", "6-4"]
TWINS = ["7-5", "7-4", "7-3"]  # each ties the strong tile of its place
WEAK = ["4-1", "4-0", "3-1"]


def action_of(word: str) -> int:
    """An action: a tile's name, "x" before it for a call, or a word."""
    if word in WORDS:
        return WORDS[word]
    return truc_slot(word.removeprefix("x")) + (28 if word.startswith("x") else 0)


class Kernel:
    """The examples' table, played on the kernels."""

    def __init__(self, setup: dict[str, Any], **options: Any) -> None:
        self.game = TrucGame(make_rules("truc", **options))
        self.game.reset((1, 0), setup)
        self.rewards = [0.0, 0.0]

    def act(self, action: int) -> None:
        self.rewards = [0.0, 0.0]
        code = self.game.step(action)
        if code >= batch.ENDED:
            self.rewards = self.game.rewards
            if code == batch.ENDED * HAND_ENDED:
                self.game.deal()

    def position(self) -> dict[str, Any]:
        return self.game.position()


class Environment:
    """The same through ``reset(options)`` and ``step``."""

    def __init__(self, setup: dict[str, Any], **options: Any) -> None:
        from dominozoo import truc_v0

        self.env = truc_v0.raw_env(**options)
        self.env.reset(seed=1, options=setup)
        self.rewards = [0.0, 0.0]

    def act(self, action: int) -> None:
        self.env.step(action)
        self.rewards = [float(reward) for reward in self.env.rewards.values()]

    def position(self) -> dict[str, Any]:
        return self.env.position()


class Round:
    """A round set up by its hands, seat 0 leading, played by words."""

    def __init__(
        self, kind: type[Kernel | Environment], n: list[str], d: list[str], **rest: Any
    ) -> None:
        options = {key: rest.pop(key) for key in ("target", "max_redeals") if key in rest}
        deal = {"hands": [n, d], **rest.pop("deal", {})}
        self.table = kind({"deal": deal, "dealer": D, **rest}, **options)

    def __getitem__(self, name: str) -> Any:
        return self.table.position()[name]

    @property
    def legal(self) -> set[str]:
        moves: list[dict[str, Any]] = self["legal"]
        assert moves == sorted(moves, key=lambda move: int(move["id"]))
        words = {"play": "", "double": "x"}
        return {f"{words.get(m['action'], m['action'])}{m['tile'] or ''}" for m in moves}

    def do(self, *words: str) -> Round:
        for word in words:
            self.table.act(action_of(word))
        return self

    @property
    def last(self) -> dict[str, Any]:
        last: dict[str, Any] = self["last_hand"]
        return last

    @property
    def end(self) -> tuple[str, int | None, int]:
        return self.last["reason"], self.last["winner"], self.last["points"]


@pytest.fixture(params=[Kernel, Environment])
def kind(request: pytest.FixtureRequest) -> type[Kernel | Environment]:
    kind: type[Kernel | Environment] = request.param
    return kind


Kind = type[Kernel | Environment]


def beats(one: str, other: str) -> bool:
    return bool(BEATS[truc_slot(one)] >> truc_slot(other) & 1)


def pattern(kind: Kind, results: str) -> Round:
    """A round whose tricks go as in E42: N, D or = for each of three, then ended or not."""
    hands: list[list[str]] = [[], []]
    for k, result in enumerate(results.ljust(3, "N")):
        one, other = STRONG[k], TWINS[k] if result == "=" else WEAK[k]
        hands[N].append(other if result == "D" else one)
        hands[D].append(one if result == "D" else other)
    table = Round(kind, hands[N], hands[D]).do("stand")
    for k in range(len(results)):
        assert table["hand_number"] == 1, "the round must last so long"
        first = table["turn"]
        table.do(hands[first][k], hands[1 - first][k])
    return table


# --- E40-E49 ---------------------------------------------------------------------------------


def test_e40_the_larger_sum_wins_and_equal_sums_tie() -> None:
    assert not beats("6-6", "4-8")
    assert not beats("4-8", "6-6")
    assert beats("6-6", "5-6")
    assert not beats("2-2", "0-4")
    assert not beats("0-4", "2-2")


@pytest.mark.parametrize(
    ("led", "followed", "winner"),
    [("8-4", "6-6", None), ("6-5", "6-6", D), ("6-6", "6-5", N), ("4-0", "2-2", None)],
)
def test_e40_in_a_trick(kind: Kind, led: str, followed: str, winner: int | None) -> None:
    table = Round(kind, [led, "4-1", "3-2"], [followed, "7-3", "6-3"]).do("stand", led, followed)
    assert table["tricks"] == [winner]


def test_e41_0_0_beats_doubles_and_nothing_else() -> None:
    winners = [name for name in TRUC_NAMES if beats(name, "0-0")]
    losers = [name for name in TRUC_NAMES if beats("0-0", name)]
    assert losers == ["6-6", "5-5", "4-4", "3-3", "2-2"]
    assert len(winners) == 22
    assert not {*winners} & {*losers}


@pytest.mark.parametrize(
    ("led", "followed", "winner"),
    [
        ("0-0", "6-6", N),
        ("6-6", "0-0", D),
        ("5-5", "0-0", D),
        ("0-0", "3-1", D),
        ("0-0", "8-4", D),
        ("3-1", "0-0", N),
    ],
)
def test_e41_0_0_in_a_trick(kind: Kind, led: str, followed: str, winner: int) -> None:
    table = Round(kind, [led, "4-1", "3-2"], [followed, "7-3", "6-3"]).do("stand", led, followed)
    assert table["tricks"] == [winner]
    assert table["leader"] == table["turn"] == winner


@pytest.mark.parametrize(
    ("results", "winner"),
    [
        *(("=D", D), ("=N", N), ("N=", N), ("D=", D), ("ND=", N), ("DN=", D), ("==D", D)),
        *(("==N", N), ("NDD", D), ("NDN", N), ("DNN", N), ("DND", D), ("NN", N), ("DD", D)),
    ],
)
def test_e42_who_wins_the_round(kind: Kind, results: str, winner: int) -> None:
    table = pattern(kind, results)
    assert table.end == ("tricks", winner, 1)
    assert table["scores"] == [int(winner == N), int(winner == D)]
    assert table.table.rewards == pytest.approx([1 / 30, -1 / 30][:: 1 if winner == N else -1])


def test_e42_three_ties_are_void(kind: Kind) -> None:
    table = pattern(kind, "===")
    assert table.end == ("void", None, 0)
    assert table.last["seat"] is None
    assert table["scores"] == [0, 0]
    assert table.table.rewards == [0, 0]
    assert (table["hand_number"], table["dealer"]) == (2, N)


@pytest.mark.parametrize("results", ["N", "D", "=", "ND", "DN", "=="])
def test_e42_the_round_goes_on(kind: Kind, results: str) -> None:
    assert pattern(kind, results)["last_hand"] is None


def test_e43_the_first_lead_carries_no_call_and_every_other_play_may(kind: Kind) -> None:
    table = Round(kind, ["7-3", "8-4", "4-1"], ["6-6", "5-0", "3-1"]).do("stand")
    assert table.legal == {"7-3", "8-4", "4-1"}
    with pytest.raises(ValueError, match="no double with the first lead"):
        table.do("x7-3")
    assert table.do("7-3").legal == {"6-6", "5-0", "3-1", "x6-6", "x5-0", "x3-1"}
    assert table.do("5-0").legal == {"8-4", "4-1", "x8-4", "x4-1"}
    assert table.do("4-1").legal == {"6-6", "3-1", "x6-6", "x3-1"}
    assert table.do("6-6").legal == {"3-1", "x3-1"}


def test_e44_the_first_double_refused_scores_1_to_the_caller(kind: Kind) -> None:
    table = Round(kind, ["7-3", "8-4", "4-1"], ["6-6", "5-0", "3-1"]).do("stand", "7-3", "x3-1")
    assert (table["phase"], table["turn"], table["multiplier"]) == ("call", N, 1)
    assert table.legal == {"accept", "reject"}
    assert table["trick"] == {"led": "7-3", "called": {"seat": D, "tile": "3-1"}}
    table.do("reject")
    assert table.end == ("fold", D, 1)
    assert table["scores"] == [0, 1]


def test_e45_a_refused_redouble_scores_2(kind: Kind) -> None:
    table = Round(kind, ["7-3", "8-4", "4-1"], ["6-6", "5-0", "3-1"])
    table.do("stand", "7-3", "5-0", "x8-4", "accept")
    assert (table["multiplier"], table["phase"], table["turn"]) == (2, "follow", D)
    assert table["trick"] == {"led": "8-4", "called": None}
    table.do("x6-6", "reject")
    assert table.end == ("fold", D, 2)
    assert table["scores"] == [0, 2]


@pytest.mark.parametrize(
    ("answer", "end"), [("accept", ("tricks", N, 8)), ("reject", ("fold", N, 4))]
)
def test_e46_a_double_in_trick_3_on_top_of_a_redouble(kind: Kind, answer: str, end: Any) -> None:
    table = Round(kind, ["7-3", "8-4", "6-4"], ["6-6", "5-0", "3-1"])
    table.do("stand", "7-3", "6-6", "x5-0", "accept", "x8-4", "accept")
    assert (table["multiplier"], table["leader"]) == (4, N)
    table.do("x6-4", answer)
    if answer == "accept":
        table.do("3-1")
    assert table.end == end
    assert table["scores"] == [end[2], 0]


def test_e47_all_five_calls_accepted_make_32(kind: Kind) -> None:
    table = Round(kind, ["7-3", "8-4", "6-4"], ["6-6", "5-0", "3-1"]).do("stand", "7-3")
    for k, tile in enumerate(["6-6", "5-0", "8-4", "6-4", "3-1"]):
        assert table.legal >= {f"x{tile}"}
        assert table["multiplier"] == 2**k
        table.do(f"x{tile}", "accept")
    assert table.end == ("tricks", N, 32)
    assert table["winners"] == [N]
    assert table.table.rewards == pytest.approx([32 / 30, -32 / 30])


def test_e48_29_and_1_end_the_match_and_so_do_28_and_4(kind: Kind) -> None:
    table = Round(kind, ["7-3", "8-4", "4-1"], ["6-6", "5-0", "3-1"], scores=[0, 29])
    table.do("stand", "7-3", "x3-1", "reject")
    assert (table["scores"], table["over"], table["winners"]) == ([0, 30], True, [D])
    assert (table["phase"], table["turn"], table.legal) == ("over", None, set())
    assert table.last["effect"] == "match"
    table = Round(kind, ["7-3", "8-4", "6-4"], ["6-6", "5-0", "3-1"], scores=[28, 29])
    table.do("stand", "7-3", "6-6", "x5-0", "accept", "x8-4", "accept", "6-4", "3-1")
    assert table.end == ("tricks", N, 4)
    assert (table["scores"], table["over"], table["winners"]) == ([32, 29], True, [N])


STOCK = [n for n in TRUC_NAMES if n not in {"7-3", "8-4", "4-1", "6-6", "5-0", "3-1"}]


def test_e49_an_accepted_proposal_deals_anew(kind: Kind) -> None:
    deal = {"boneyard": STOCK}
    table = Round(kind, ["7-3", "8-4", "4-1"], ["6-6", "5-0", "3-1"], deal=deal)
    assert (table["phase"], table.legal) == ("exchange", {"propose", "stand"})
    table.do("propose")
    assert (table["phase"], table["turn"], table.legal) == ("answer", D, {"accept", "reject"})
    table.do("accept")
    assert [sorted(tiles) for tiles in table["discards"]] == [
        sorted(["7-3", "8-4", "4-1"]),
        sorted(["6-6", "5-0", "3-1"]),
    ]
    assert [{*tiles} for tiles in table["hands"]] == [{*STOCK[:3]}, {*STOCK[3:6]}]
    assert table["boneyard"] == STOCK[6:]
    assert len(table["boneyard"]) == 16
    assert (table["phase"], table["turn"], table["redeals"]) == ("lead", N, 1)
    assert [e["kind"] for e in table["events"]] == ["propose", "accept", "redeal"]
    assert table["events"][2]["seat"] == D


# --- A27-A33 and what hangs on them ----------------------------------------------------------


def test_a27_strength_is_pairwise_and_no_order() -> None:
    assert not beats("6-6", "8-4")
    assert beats("8-4", "0-0")
    assert beats("0-0", "6-6")
    for a, b in itertools.product(range(28), repeat=2):
        assert not (BEATS[a] >> b & 1 and BEATS[b] >> a & 1)
        if a != b and 0 not in (sum(TRUC_TILES[a]), sum(TRUC_TILES[b])):
            assert bool(BEATS[a] >> b & 1) == (sum(TRUC_TILES[a]) > sum(TRUC_TILES[b]))
        if CLASS[a] == CLASS[b]:
            assert BEATS[a] == BEATS[b]
    assert len(set(CLASS)) == 15


def test_a28_after_two_ties_the_third_trick_decides_and_the_same_seat_leads(kind: Kind) -> None:
    table = pattern(kind, "==")
    assert (table["tricks"], table["leader"], table["turn"]) == ([None, None], N, N)
    assert pattern(kind, "==D").end == ("tricks", D, 1)


def test_a29_a_leader_whose_tile_lies_cannot_redouble_in_that_trick(kind: Kind) -> None:
    table = Round(kind, ["7-3", "8-4", "4-1"], ["6-6", "5-0", "3-1"]).do("stand", "7-3", "x6-6")
    assert table.legal == {"accept", "reject"}
    table.do("accept")  # the follower called: the trick is settled at once
    assert (table["tricks"], table["turn"], table["multiplier"]) == ([D], D, 2)


def test_a29_the_same_player_may_call_twice_running(kind: Kind) -> None:
    table = Round(kind, ["7-3", "8-4", "4-1"], ["6-6", "5-0", "3-1"])
    table.do("stand", "7-3", "x6-6", "accept")
    assert "x5-0" in table.legal


def test_a30_an_unseen_tile_stays_unseen_and_the_multiplier_as_it_was(kind: Kind) -> None:
    table = Round(kind, ["7-3", "8-4", "4-1"], ["6-6", "5-0", "3-1"])
    table.do("stand", "7-3", "x6-6", "accept", "x5-0", "reject")
    assert table.end == ("fold", D, 2)
    assert [e["kind"] for e in table.last["events"]] == (
        ["stand", "play", "double", "accept", "reveal", "double", "fold"]
    )


def test_a31_each_round_starts_at_1(kind: Kind) -> None:
    table = Round(kind, ["7-3", "8-4", "4-1"], ["6-6", "5-0", "3-1"])
    table.do("stand", "7-3", "x6-6", "accept", "x5-0", "reject")
    assert table["multiplier"] == 1
    table = pattern(kind, "===")
    assert table["multiplier"] == 1


def test_a32_a_rejected_proposal_is_played_as_dealt(kind: Kind) -> None:
    table = Round(kind, ["7-3", "8-4", "4-1"], ["6-6", "5-0", "3-1"]).do("propose", "reject")
    assert (table["phase"], table["turn"], table["redeals"]) == ("lead", N, 0)
    assert {*table["hands"][N]} == {"7-3", "8-4", "4-1"}
    assert table["discards"] == [[], []]


@pytest.mark.parametrize("limit", [0, 1, 2, 3])
def test_a32_max_redeals(kind: Kind, limit: int) -> None:
    table = Round(kind, ["7-3", "8-4", "4-1"], ["6-6", "5-0", "3-1"], max_redeals=limit)
    for k in range(limit):
        assert (table["phase"], table["redeals"]) == ("exchange", k)
        table.do("propose", "accept")
    assert (table["phase"], table["turn"], table["redeals"]) == ("lead", N, limit)
    assert len(table["boneyard"]) == 22 - 6 * limit
    assert [len(tiles) for tiles in table["discards"]] == [3 * limit] * 2
    places = [*table["hands"], *table["discards"], table["boneyard"]]
    assert sorted(itertools.chain(*places)) == sorted(TRUC_NAMES)


def test_a33_the_deal_alternates_after_every_kind_of_round(kind: Kind) -> None:
    for table in (pattern(kind, "NN"), pattern(kind, "==="), pattern(kind, "=D")):
        assert (table["dealer"], table["leader"], table["turn"]) == (N, D, D)
    table = Round(kind, ["7-3", "8-4", "4-1"], ["6-6", "5-0", "3-1"])
    assert table.do("stand", "7-3", "x6-6", "reject")["dealer"] == N


def test_a33_the_first_dealer_is_drawn_at_random_from_the_deal_alone() -> None:
    tables = Tables("truc", 4000, seed=3)
    share = tables.records["dealer"].mean()
    assert 0.46 < share < 0.54
    hands = [
        tables.records["deck"][tables.records["dealer"] == dealer, 0].mean() for dealer in (0, 1)
    ]
    assert hands == pytest.approx([13.5, 13.5], abs=1)
    again = Tables("truc", 1, seed=3, first_table=1234)
    assert again.records[0] == tables.records[1234]
    tables.reset(posers=1)
    assert (tables.records["dealer"] == 1).all()
    assert (tables.turn == 0).all()


# --- What must hold always -------------------------------------------------------------------


@njit(cache=False)
def random_rounds(tables: Any, packed: Any, rounds: Any, rng: Any, rows: Any) -> None:
    """Play rounds by random legal moves; a row each: tricks won, their number, end, dealer."""
    t, rules = tables[0], packed[0]
    reward = np.zeros(2)
    for k in range(rounds):
        rows[k, 8] = t.dealer
        before = np.int64(t.scores[0]) - np.int64(t.scores[1])
        reward[:] = 0.0
        while True:
            plays, calls, words = legal(t, rules)
            both = plays | calls << 28 | words << 56
            for _ in range(roll(rng, bits(both))):
                both &= both - 1
            if finish(t, rules, lowest(both), 0, 0, reward) != 0:
                break
        for trick in range(3):
            rows[k, trick] = t.won[trick] if trick < t.tricks else 2
        rows[k, 3] = t.tricks
        rows[k, 4] = t.last_reason
        rows[k, 5] = t.last_seat
        rows[k, 6] = t.last_points.sum()
        rows[k, 7] = t.multiplier
        rows[k, 9] = t.scores[0] - t.scores[1] - before
        rows[k, 10] = round((reward[0] - reward[1]) * 500)
        rows[k, 11] = round((reward[0] + reward[1]) * 1e6)
        rows[k, 12] = t.called.sum() - t.folded
        t.scores[:] = 0
        next_hand(t, rules)


def winner_of(tricks: list[str]) -> str | None:
    """E42 and its likes, written out; None while the round is open."""
    text = "".join(tricks)
    table = {"=D": "D", "=N": "N", "N=": "N", "D=": "D", "NN": "N", "DD": "D", "===": "void"}
    table |= {"ND=": "N", "DN=": "D", "==D": "D", "==N": "N", "NDN": "N", "NDD": "D"}
    table |= {"DNN": "N", "DND": "D"}
    return table.get(text)


@pytest.mark.parametrize("redeals", [1, 3])
def test_100_000_random_rounds_pay_as_written(redeals: int) -> None:
    rounds = 100_000
    tables = np.zeros(1, TABLE)
    packed = pack_truc(make_rules("truc", target=1000, max_redeals=redeals))
    batch.seed_tables(tables, 5, 0, 0)
    batch.start_tables(tables, packed, np.ones(1, np.bool_), np.full(1, -1))
    rows = np.zeros((rounds, 13), np.int64)
    random_rounds(tables, packed, rounds, np.arange(1, 5, dtype=np.uint32), rows)
    assert rows[:, 7].max() == 32
    assert not rows[:, 11].any()
    assert (rows[:, 9] == rows[:, 10]).all()
    assert (rows[1:, 8] == 1 - rows[:-1, 8]).all()
    assert (rows[:, 7] == 2 ** rows[:, 12]).all()
    seen = set()
    for row in np.unique(rows[:, :10], axis=0).tolist():
        *won, tricks, reason, seat, points, multiplier, dealer, gain = row
        text = ["=" if seat < 0 else "D" if seat == dealer else "N" for seat in won[:tricks]]
        winner = winner_of(text)
        for k in range(2, tricks):
            assert winner_of(text[:k]) is None
        if reason == 2:  # refused: the round was open
            assert winner is None
        elif reason == 3:
            assert (winner, seat, points, gain) == ("void", -1, 0, 0)
        else:
            assert reason == 1
            assert winner == ("D" if seat == dealer else "N")
        if reason != 3:
            assert points == multiplier
            assert gain == (points if seat == 0 else -points)
        if reason != 2:
            seen.add("".join(text))
    assert seen == {
        *("=D", "=N", "N=", "D=", "NN", "DD", "===", "ND=", "DN=", "==D", "==N"),
        *("NDN", "NDD", "DNN", "DND"),
    }


def random_step(game: TrucGame, rng: np.random.Generator) -> int:
    """A random legal action, made; the code that ``step`` returns."""
    _, mask = game.observe(int(game.tables[0]["turn"]))
    code = game.step(int(rng.choice(np.flatnonzero(mask))))
    if code == batch.ENDED * HAND_ENDED:
        game.deal()
    return code


def positions(count: int, seed: int = 0, **options: Any) -> list[TrucGame]:
    """Tables in mid-hand, one after another of the same random matches."""
    game, rng = TrucGame(make_rules("truc", **options)), np.random.default_rng(seed)
    found = []
    game.reset((seed, 0), {})
    for _ in range(count):
        if random_step(game, rng) >= batch.ENDED * 2:
            game.reset(None, {})
        twin = TrucGame(game.rules)
        twin.tables, twin.history = game.tables.copy(), game.history[-1:]
        found.append(twin)
    return found


def unseen(record: Any, seat: int) -> int:
    """The tiles that a seat can't know the place of."""
    plays = [
        int(slot)
        for k, slot in enumerate(record["played"][: record["plays"]])
        if record["played_by"][k] == seat or not (record["face_down"] and k == record["plays"] - 1)
    ]
    known = mask_of(plays) | int(record["hands"][seat]) | int(record["discards"][seat])
    return ALL_TILES & ~known


def shuffled(game: TrucGame, seat: int, rng: np.random.Generator) -> TrucGame:
    """The same table with the tiles that a seat can't see permuted among themselves."""
    tables = game.tables.copy()
    record = tables[0]
    hidden = tiles_of(unseen(record, seat))
    new = list(range(28))
    for slot, other in zip(hidden, rng.permutation(hidden).tolist(), strict=True):
        new[slot] = other
    for name in ("hands", "held", "discards"):
        record[name][1 - seat] = mask_of(new[s] for s in tiles_of(record[name][1 - seat]))
    record["deck"] = [new[s] for s in record["deck"].tolist()]
    for k in range(int(record["plays"])):
        record["played"][k] = new[record["played"][k]]
    twin = TrucGame(game.rules)
    twin.tables, twin.history = tables, game.history
    return twin


@pytest.mark.plain
@pytest.mark.parametrize("redeals", [0, 1, 3])
def test_hidden_tiles_leave_observation_and_view_unchanged(redeals: int) -> None:
    rng = np.random.default_rng(2)
    changed = 0
    for game in positions(150, max_redeals=redeals):
        for seat in range(2):
            twin = shuffled(game, seat, rng)
            changed += not np.array_equal(twin.observe(1 - seat)[0], game.observe(1 - seat)[0])
            assert np.array_equal(twin.observe(seat)[0], game.observe(seat)[0])
            assert twin.view(seat) == game.view(seat)
    assert changed > 100


@pytest.mark.plain
@pytest.mark.parametrize("redeals", [0, 1, 3])
def test_tiles_are_conserved_and_scores_are_zero_sum(redeals: int) -> None:
    tables = Tables(f"truc(max_redeals={redeals})", 4, seed=9)
    rng = np.random.default_rng(1)
    for _ in range(150):
        tables.step((tables.mask * rng.random(tables.mask.shape)).argmax(axis=1))
        assert not tables.reward.sum(axis=1).any()
        assert (tables.observation >= 0).all()
        assert (tables.observation <= tables.layout.high()).all()
        for record in tables.records:
            stock = record["deck"].tolist()[28 - int(record["stock"]) :]
            played = record["played"].tolist()[: int(record["plays"])]
            every = [*stock, *played]
            for name in ("hands", "discards"):
                every += [slot for mask in record[name] for slot in tiles_of(mask)]
            assert sorted(every) == list(range(28))


def test_the_deal_depends_on_seed_table_and_hand_alone() -> None:
    one, other = (Tables("truc", 3, seed=11) for _ in range(2))
    rng = np.random.default_rng(5)
    decks: list[dict[tuple[int, int], list[int]]] = [{}, {}]
    for tables, found in zip((one, other), decks, strict=True):
        for _ in range(300):
            tables.step((tables.mask * rng.random(tables.mask.shape)).argmax(axis=1))
            for record in tables.records:
                found[int(record["table"]), int(record["deals"])] = record["deck"].tolist()
    common = {*decks[0]} & {*decks[1]}
    assert len(common) > 100
    assert all(decks[0][key] == decks[1][key] for key in common)


def test_a_copied_table_plays_on_identically() -> None:
    rng = np.random.default_rng(8)
    for game in positions(40):
        twin = TrucGame(game.rules)
        twin.tables, twin.history = game.tables.copy(), game.history
        for _ in range(12):
            seed = int(rng.integers(1 << 30))
            codes = [random_step(g, np.random.default_rng(seed)) for g in (game, twin)]
            assert codes[0] == codes[1]
            assert game.tables == twin.tables
            if codes[0] >= 2 * batch.ENDED:
                break


def test_no_action_outside_the_mask_is_taken_and_each_has_its_reason() -> None:
    for game in positions(200):
        record = game.tables[0]
        mask = game.observe(int(record["turn"]))[1]
        for action in range(-1, 61):
            fine = 0 <= action < 60 and bool(mask[action])
            assert (why_illegal(record, game.rules, action) == "") == fine
            if not fine:
                with pytest.raises(ValueError, match=f"action {action} is illegal: ."):
                    game.step(action)


def play(options: str, steps: int = 80) -> str:
    """Pseudo-random legal moves on three tables; the digest of everything seen."""
    tables = Tables(options, 3, seed=5)
    digest = hashlib.sha256()
    rng = np.random.default_rng(0)
    for _ in range(steps):
        tables.step((tables.mask * rng.random(tables.mask.shape)).argmax(axis=1))
        for array in (tables.observation, tables.mask, tables.turn, tables.reward):
            digest.update(array.tobytes())
        digest.update(tables.records.tobytes())
    return digest.hexdigest()


PLAIN = ["truc", "truc(max_redeals=3)", "truc(target=2)", "truc(max_redeals=0)"]


def test_compiled_and_plain_kernels_play_the_same_rounds(tmp_path: Path) -> None:
    code = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n" + (
        "import numba\nfrom test_truc import PLAIN, play\n"
        "assert numba.config.DISABLE_JIT\nprint(*map(play, PLAIN))"
    )
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=tmp_path,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout.split() == [play(game) for game in PLAIN]


# --- Observation, view, position -------------------------------------------------------------


def fields_of(game: TrucGame, seat: int) -> dict[str, Any]:
    row, _ = game.observe(seat)
    return {name: part.tolist() for name, part in TRUC_LAYOUT.split(row).items()}


def start(n: list[str], d: list[str], *words: str, **options: Any) -> TrucGame:
    game = TrucGame(make_rules("truc", **options))
    game.reset((1, 0), {"deal": {"hands": [n, d]}, "dealer": D})
    for word in words:
        game.step(action_of(word))
    return game


def test_the_observation_is_small_and_within_bounds() -> None:
    assert TRUC_LAYOUT.columns <= 400
    assert TABLE.itemsize <= 256


def test_one_hot_form_counts_a_tile_by_sum_and_double() -> None:
    rows = []
    for tile in ("8-4", "7-5", "6-6"):
        game = start([tile, "7-3", "4-1"], ["6-4", "5-0", "3-1"], "stand", tile)
        kinds = ("hand_classes", "play_sum", "play_double")
        parts = fields_of(game, D)
        rows.append([parts[name] for name in kinds])
    assert rows[0] == rows[1] != rows[2]


def test_what_an_observer_sees_of_a_call() -> None:
    game = start(["7-3", "8-4", "4-1"], ["6-6", "5-0", "3-1"], "stand", "7-3", "x6-6")
    caller, other = fields_of(game, D), fields_of(game, N)
    assert caller["play_sum"][:3] == [3, 1, 0]
    assert caller["play_double"][:2] == [0, 1]
    assert other["play_sum"][:3] == [3, 0, 0]
    assert other["play_by"][:3] == [1, 2, 0]
    assert caller["play_called"] == other["play_called"] == [0, 1, 0, 0, 0, 0]
    assert (caller["call_by"], other["call_by"]) == ([1], [2])
    assert (caller["dealer"], other["dealer"]) == ([1], [0])
    assert (caller["turn"], other["turn"]) == ([2], [1])
    assert sum(caller["hand"]) == 2
    game.step(action_of("accept"))
    assert fields_of(game, N)["play_sum"][:2] == [3, 1]
    assert fields_of(game, N)["won"] == [2, 0, 0]
    assert fields_of(game, N)["multiplier"] == [2]
    assert fields_of(game, N)["call_by"] == [0]


def test_what_an_observer_sees_of_an_exchange() -> None:
    game = start(["7-3", "8-4", "4-1"], ["6-6", "5-0", "3-1"], "propose", max_redeals=2)
    seen = fields_of(game, D)
    assert [seen[name] for name in ("proposed", "rejected", "redeals", "redeals_left")] == [
        [1],
        [0],
        [0],
        [2],
    ]
    game.step(action_of("accept"))
    seen = fields_of(game, D)
    assert (seen["redeals"], seen["redeals_left"]) == ([1], [1])
    assert sorted(np.flatnonzero(seen["discards"]).tolist()) == sorted(
        map(truc_slot, ["6-6", "5-0", "3-1"])
    )
    game.step(action_of("propose"))
    game.step(action_of("reject"))
    assert fields_of(game, N)["rejected"] == [1]


@pytest.mark.parametrize("redeals", [0, 1, 3])
def test_the_observation_is_told_by_the_view(redeals: int) -> None:
    for game in positions(200, max_redeals=redeals):
        for seat in range(2):
            row, mask = game.observe(seat)
            view = json.loads(json.dumps(game.view(seat)))
            assert np.array_equal(observation_from_view(view), row)
            assert np.array_equal(mask_from_view(view), mask)


def test_a_view_that_disagrees_with_itself_is_refused() -> None:
    game = start(["7-3", "8-4", "4-1"], ["6-6", "5-0", "3-1"], "stand", "7-3")
    view = game.view(D)
    with pytest.raises(ValueError, match="trick"):
        observation_from_view({**view, "trick": {"led": "8-4", "called": None}})
    with pytest.raises(ValueError, match="hand is missing"):
        observation_from_view({k: v for k, v in view.items() if k != "hand"})


def test_the_view_hides_the_other_hand_and_a_tile_face_down() -> None:
    game = start(["7-3", "8-4", "4-1"], ["6-6", "5-0", "3-1"], "stand", "7-3", "x6-6")
    caller, other = game.view(D), game.view(N)
    assert caller["trick"] == {"led": "7-3", "called": {"seat": D, "tile": "6-6"}}
    assert other["trick"] == {"led": "7-3", "called": {"seat": D, "tile": None}}
    assert [e["tile"] for e in other["events"]] == [None, "7-3", None]
    assert (other["hand"], other["sizes"]) == (["8-4", "4-1"], [2, 2])
    assert other["boneyard_size"] == 22
    assert caller["legal"] == []
    assert not {"hands", "boneyard", "rng"} & {*other}
    assert "6-6" not in json.dumps(other)


def test_last_hand_shows_an_agent_only_what_was_turned_up() -> None:
    game = start(["7-3", "8-4", "4-1"], ["6-6", "5-0", "3-1"], "stand", "7-3", "5-0")
    game.step(action_of("x4-1"))
    game.step(action_of("reject"))
    full, n, d = game.last_hand(), *game.last_hands()
    assert full is not None
    assert full["hands"] == [["8-4", "7-3", "4-1"], ["6-6", "5-0", "3-1"]]
    assert n["hands"] == [["8-4", "7-3", "4-1"], ["5-0", None, None]]
    assert d["hands"] == [["7-3", None, None], ["6-6", "5-0", "3-1"]]
    assert n["events"][-2]["tile"] == "4-1"
    assert d["events"][-2]["tile"] is None
    assert [full[name] for name in ("winner", "seat", "reason", "effect", "points", "key")] == [
        *(N, N, "fold", None, 1, False)
    ]


@pytest.mark.parametrize("redeals", [0, 1, 3])
def test_going_on_from_a_position(redeals: int) -> None:
    rng = np.random.default_rng(4)
    for game in positions(200, max_redeals=redeals):
        before = json.loads(json.dumps(game.position()))
        twin = TrucGame(game.rules)
        assert twin.reset((77, 0), {"position": before}) == before["turn"]
        assert twin.position() == before
        for _ in range(12):
            seed = int(rng.integers(1 << 30))
            codes = [random_step(g, np.random.default_rng(seed)) for g in (game, twin)]
            assert codes[0] == codes[1]
            assert [game.view(s) for s in range(2)] == [twin.view(s) for s in range(2)]
            if codes[0] >= batch.ENDED:
                break


BAD_POSITIONS: list[tuple[str, Any, str]] = [
    ("multiplier", 4, "multiplier: the events lead to 2"),
    ("turn", 0, "turn: the events lead to 1"),
    ("tricks", [], "tricks"),
    ("dealer", 2, "dealer: must be an integer in 0..1"),
    ("scores", [30, 0], "scores"),
    ("hands", [["8-4", "4-1"], ["5-0", "3-2"]], "boneyard: 3-2 is already in hands"),
    ("boneyard", [], "boneyard"),
    ("game", "block_v0", "game"),
    ("rules", {"players": 2, "target": 10, "max_redeals": 1}, "rules"),
    ("phase", "over", "phase"),
    ("stake", 2, "stake"),
    ("discards", [["6-6"], []], "discards"),
    ("luck", 1, "luck: is unknown"),
]


@pytest.mark.parametrize(("field", "value", "reason"), BAD_POSITIONS)
def test_a_position_that_disagrees_is_refused(field: str, value: Any, reason: str) -> None:
    game = start(["7-3", "8-4", "4-1"], ["6-6", "5-0", "3-1"], "stand", "7-3", "x6-6", "accept")
    position = game.position()
    before = game.tables.copy()
    with pytest.raises(ValueError, match=f"position.{reason}"):
        game.reset(None, {"position": {**position, field: value}})
    assert game.tables == before


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda e: e.pop(), r"events\[4\]"),
        (lambda e: e.pop(0), r"events\[0\]"),
        (lambda e: e[1].update(tile="6-6"), r"hands\[0\]|discards|hands|already"),
        (lambda e: e[2].update(kind="play"), r"events\[3\]"),
        (lambda e: e[4].update(tile="5-0"), r"events\[4\].tile"),
        (lambda e: e[3].update(seat=1), r"events\[3\].seat"),
        (lambda e: e[3].update(kind="pass"), r"events\[3\].kind"),
        (lambda e: e.append(dict(e[0])), r"events\[5\].seat"),
    ],
)
def test_events_that_do_not_lead_there_are_refused(change: Any, reason: str) -> None:
    game = start(["7-3", "8-4", "4-1"], ["6-6", "5-0", "3-1"], "stand", "7-3", "x6-6", "accept")
    position = game.position()
    change(position["events"])
    with pytest.raises(ValueError, match=reason):
        game.reset(None, {"position": position})


@pytest.mark.parametrize(
    ("setup", "reason"),
    [
        ({"opener": 0}, "opener: 0 can't be in truc_v0"),
        ({"stake": 2}, "stake: 2 can't be"),
        ({"decider": True}, "decider: True can't be"),
        ({"dealer": 2}, "dealer: must be an integer in 0..1"),
        ({"dealer": True}, "dealer: must be an integer"),
        ({"scores": [0, 30]}, "scores: must be an integer in 0..29"),
        ({"scores": [0]}, "scores: must have 2 entries"),
        (
            {"deal": {"hands": [["6-6", "8-4"], ["7-5", "6-5", "8-3"]]}},
            r"deal.hands\[0\]: must have 3",
        ),
        ({"deal": {"hands": [["6-6", "8-4", "9-9"], []]}}, "'9-9' is no tile"),
        ({"deal": {"hands": [["6-6", "8-4", "4-8"], ["7-5", "6-5", "8-3"]]}}, "8-4 is already in"),
        ({"deal": {"boneyard": ["6-6"]}}, "deal.boneyard: must have 22"),
        ({"deal": {"hand": []}}, "'hand' is unknown"),
        ({"deal": 3}, "deal: must be a mapping"),
        ({"position": {}, "dealer": 1}, "position: says all; leave dealer out"),
    ],
)
def test_a_set_up_that_can_not_be_is_refused(setup: dict[str, Any], reason: str) -> None:
    game = start(["7-3", "8-4", "4-1"], ["6-6", "5-0", "3-1"], "stand")
    before = game.tables.copy()
    with pytest.raises(ValueError, match=reason):
        game.reset(None, setup)
    assert game.tables == before


def test_a_set_up_may_leave_everything_out() -> None:
    game = TrucGame(make_rules("truc"))
    game.reset((9, 0), {"deal": {"boneyard": STOCK}, "dealer": 0, "scores": [3, 4]})
    position = game.position()
    assert position["boneyard"] == STOCK
    assert position["scores"] == [3, 4]
    assert position["turn"] == 1
    game.reset((9, 0), {"opener": None, "stake": 1, "decider": False})
    assert game.position()["hand_number"] == 1


def test_state_shows_every_tile() -> None:
    game = start(["7-3", "8-4", "4-1"], ["6-6", "5-0", "3-1"], "stand", "7-3", "x6-6")
    state = game.state()
    parts = game.state_layout.split(state)
    assert state.shape == (game.state_layout.size,)
    assert parts["hands"].sum(axis=1).tolist() == [2, 2]
    assert parts["play_sum"][:2].tolist() == [3, 1]
    assert parts["call_by"].tolist() == [2]
    assert (parts["drawing"] > 0).sum() == 22


def test_rules_are_packed_for_their_own_family() -> None:
    with pytest.raises(RulesError, match="truc is no line game"):
        pack_line(make_rules("truc"))
    with pytest.raises(RulesError, match="block is not Le Truc"):
        pack_truc(make_rules("block"))
    with pytest.raises(RulesError, match="max_redeals=4 is not taken"):
        make_rules("truc", max_redeals=4)


def test_tables_refuses_an_illegal_action_and_plays_matches() -> None:
    tables = Tables("truc(target=3)", 2, seed=1, reward="match", auto_forced=True)
    with pytest.raises(ValueError, match="table 0: action 3 is illegal"):
        tables.step(np.array([3, 57]))
    rng = np.random.default_rng(1)
    ends = 0
    for _ in range(400):
        tables.step((tables.mask * rng.random(tables.mask.shape)).argmax(axis=1))
        ended: npt.NDArray[np.bool_] = tables.terminated
        assert (np.abs(tables.reward[ended]) == 1).all()
        assert not tables.reward[~ended].any()
        assert (tables.records["scores"][ended] == 0).all()
        ends += int(ended.sum())
    assert ends > 5
    cut = Tables("truc", 2, seed=1, reward="match", max_hands=1)
    while not cut.truncated.any():
        cut.step(cut.mask.argmax(axis=1))
    assert not cut.terminated.any()
    assert cut.copy().records.tobytes() == cut.records.tobytes()


@pytest.mark.parametrize("redeals", [0, 1, 3])
def test_a_game_record_is_played_again(redeals: int, tmp_path: Path) -> None:
    game, rng = (
        TrucGame(make_rules("truc", target=6, max_redeals=redeals)),
        np.random.default_rng(3),
    )
    game.reset((4, 0), {})
    while random_step(game, rng) < 2 * batch.ENDED:
        pass
    write_record(tmp_path / "game.jsonl", record_of(game))
    lines = read_record(tmp_path / "game.jsonl")
    assert replay(lines).position() == game.position()
    follow = ("hand_end", "hand", "match_end", "redeal", "reveal")
    for stop in range(1, len(lines)):
        if lines[stop]["kind"] not in follow:
            replay(lines[:stop])
    spoilt = copy.deepcopy(lines)
    spoilt[-2]["points"] += 1
    with pytest.raises(ValueError, match="points: the game leads to"):
        replay(spoilt)


def test_the_table_as_text() -> None:
    game = start(["7-3", "8-4", "4-1"], ["6-6", "5-0", "3-1"], "stand", "7-3", "x6-6", "accept")
    game.step(action_of("x5-0"))
    assert draw(game.view(N)).splitlines() == [
        "Domino Le Truc, hand 1, target 30, worth 2",
        "> player_0:  2 tiles, score   0   8-4 4-1 (you)",
        "  player_1:   1 tile, score   0   ##",
        "  boneyard: 22",
        "  player_1 deals",
        "  trick 1: player_0 7-3, player_1 6-6 doubled: player_1 wins",
        "  trick 2: player_1 ## calls double",
        "  last: player_1 lays a tile face down: double",
        "  player_0 to move",
    ]
    for game in positions(60, max_redeals=2):
        assert draw(game.position())
        assert draw(game.view(0))
