"""The worked examples E40-E49 and the rules A27-A33."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from dominozoo import truc_v0
from dominozoo.rules import make_rules
from dominozoo.tables import Tables
from dominozoo.tiles import TRUC_NAMES, TRUC_TILES, truc_slot
from dominozoo.truc import batch
from dominozoo.truc.game import TrucGame
from dominozoo.truc.score import HAND_ENDED
from dominozoo.truc.strength import BEATS, CLASS

from .helpers import STOCK, STRONG, TWINS, WEAK, D, N, action_of


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
