"""The worked examples of the line games, E1-E39 and E50-E63, put to the referee itself."""

from __future__ import annotations

import random

import pytest

from . import line
from .line import parse
from .tables import (
    DRAW,
    PASS,
    act,
    blocked,
    first,
    hand_of,
    last_of,
    line_deal,
    play_hand,
    spread,
    standing,
    table,
    then,
    tied,
    won,
)

DECIDER = {"decider": True}
BOTH = {"decider": True, "tie": "escalate"}


# Line play


def test_e01_two_playable_tiles_and_no_pass() -> None:
    match = table("block", hands=["6-2 3-3 4-1 5-0", "1-0"], board="6-3")
    assert match.legal() == sorted([act(0, "6-2"), act(1, "3-3")])


def test_e02_only_a_pass() -> None:
    match = table("block", hands=["6-4 2-1 0-0", "1-0"], board="5-5")
    assert match.legal() == [PASS]


SIXES_OUT = "6-6 6-0 0-1 1-6 6-2 2-3 3-6 6-4 4-5 5-6"


def test_e03_all_sixes_out_blocks() -> None:
    hands = ["0-0 1-1 2-2", "3-3 4-4", "5-5 5-1", "2-1 3-1"]
    match = table("cutthroat", hands=hands, board=SIXES_OUT)
    for _ in range(4):
        assert match.legal() == [PASS]
        match.step(PASS)
    assert last_of(match)["reason"] == "block"


def test_e04_out_beats_a_count_of_nothing() -> None:
    match = table("cutthroat", hands=["6-2", "0-0", "1-1", "2-1"], board="6-3")
    match.step(act(0, "6-2"))
    assert (last_of(match)["reason"], last_of(match)["winner"]) == ("out", 0)


# Partnership

E5 = ["0-2", "1-4", "5-6 4-4", "2-2"]


def test_e05_the_lowest_player_wins_a_block() -> None:
    match = blocked("partnership", hands=E5)
    assert standing(match) == ([1, 0], 1, False, 0)
    assert last_of(match)["seat"] == 0


def test_e06_partners_share_the_lowest() -> None:
    match = table("partnership", hands=["2-1", "4-3", "3-0", "6-3"], board="5-5")
    match.opener = match.turn = 1
    for _ in range(4):
        match.step(PASS)
    assert (last_of(match)["winner"], match.next_poser) == (0, 2)


def test_e07_a_tie_resets() -> None:
    match = blocked("partnership", hands=["2-1", "3-0", "5-3", "6-3"], scores=[4, 0])
    assert standing(match) == ([0, 0], 1, False, None)
    assert (last_of(match)["effect"], last_of(match)["points"]) == ("reset", 0)


def test_e08_an_escalating_tie() -> None:
    options = {"tie": "escalate"}
    match = first(tied, "partnership", options, scores=[4, 0])
    assert standing(match) == ([4, 0], 2, False, None)
    match = then(match, won(0))
    assert (match.scores, match.over, match.winners) == ([6, 0], True, [0])


def test_e09_a_break_gives_no_point() -> None:
    match = first(won(1), "partnership", scores=[5, 0])
    assert standing(match) == ([0, 0], 1, False, None)
    assert (last_of(match)["effect"], last_of(match)["points"]) == ("reset", 1)


def test_e10_a_point_and_a_match() -> None:
    match = first(won(1), "partnership")
    assert standing(match) == ([0, 1], 1, False, last_of(match)["seat"])
    match = first(won(0), "partnership", scores=[5, 0])
    assert (match.scores, match.over, last_of(match)["effect"]) == ([6, 0], True, "match")


def test_e11_one_all() -> None:
    assert standing(first(won(1), "partnership", scores=[1, 0]))[0] == [0, 0]
    match = first(won(1), "partnership", DECIDER, scores=[1, 0])
    assert standing(match) == ([1, 0], 2, True, None)
    assert last_of(match)["effect"] == "decider"


@pytest.mark.parametrize("side", [0, 1])
def test_e12_the_decider_is_worth_two(side: int) -> None:
    match = then(first(won(1), "partnership", DECIDER, scores=[1, 0]), won(side))
    scores = [0, 0]
    scores[side] = 2
    assert standing(match) == (scores, 1, False, last_of(match)["seat"])


def test_e13_two_nil_is_no_decider() -> None:
    match = first(won(1), "partnership", DECIDER, scores=[2, 0])
    assert standing(match) == ([0, 0], 1, False, None)


def test_e14_a_tied_decider() -> None:
    match = first(tied, "partnership", BOTH, scores=[1, 0], decider=True)
    assert standing(match) == ([1, 0], 3, True, None)
    assert then(match, won(0)).scores == [3, 0]
    assert then(match, won(1)).scores == [0, 3]


def test_a07_a_tied_decider_without_escalation() -> None:
    kept = {**DECIDER, "tie": "void"}
    match = first(tied, "partnership", kept, scores=[1, 0], decider=True)
    assert standing(match) == ([1, 0], 2, True, None)
    match = first(tied, "partnership", DECIDER, scores=[1, 0], decider=True)
    assert standing(match) == ([0, 0], 1, False, None)


def test_e15_two_ties() -> None:
    options = {"tie": "escalate"}
    match = then(first(tied, "partnership", options, stake=2), won(0))
    assert standing(match)[:2] == ([3, 0], 1)


def test_e16_a_stake_over_the_target() -> None:
    match = first(won(0), "partnership", {"tie": "escalate"}, scores=[5, 0], stake=2)
    assert (match.scores, match.over) == ([7, 0], True)


def test_e17_a_raised_stake_starts_no_decider() -> None:
    match = first(won(1), "partnership", BOTH, scores=[1, 0], stake=2)
    assert standing(match) == ([0, 0], 1, False, None)


def test_e18_formal_and_informal_start() -> None:
    for opening, choices in (("formal", 1), ("informal", 7)):
        rules = line.Rules("partnership", {"opening": opening})
        deal = line_deal(rules, random.Random(1))
        match = line.start("partnership", {"opening": opening}, deal=deal)
        assert match.turn is not None
        assert (6, 6) in match.hands[match.turn]
        assert len(match.legal()) == choices


def test_a11_the_winner_may_leave_the_pose_to_his_partner() -> None:
    rules = line.Rules("partnership", {"poser": "team"})
    deal = line_deal(rules, random.Random(1))
    match = line.start("partnership", {"poser": "team"}, deal=deal, opener=1)
    assert len(match.legal()) == 8
    match.step(PASS)
    assert (match.turn, match.phase, match.passes, match.ply) == (3, "pose", 0, 1)
    assert (match.poser, match.opener, PASS in match.legal()) == (1, None, False)
    match.step(match.legal()[0])
    assert (match.turn, match.poser, match.opener) == (0, 1, 3)
    assert not any(map(any, match.lacks))


# Cutthroat


def test_e19_deals() -> None:
    sizes = {players: line.Rules("cutthroat", {"players": players}).each for players in (2, 3, 4)}
    assert sizes == {2: 14, 3: 9, 4: 7}
    three = line.Rules("cutthroat", {"players": 3})
    assert (len(three.tiles), (0, 0) in three.tiles) == (27, False)


def test_e20_leader_loss() -> None:
    match = first(won(2), "cutthroat", {"broken": "leader_loss"}, scores=[3, 0, 0, 0])
    assert standing(match) == ([0, 0, 0, 0], 1, False, None)


def test_e21_all_scored() -> None:
    assert first(won(1), "cutthroat", scores=[3, 1, 2, 0]).scores == [3, 2, 2, 0]
    assert first(won(3), "cutthroat", scores=[3, 1, 2, 0]).scores == [0, 0, 0, 0]


def test_e22_six_while_one_has_none() -> None:
    match = first(won(0), "cutthroat", scores=[5, 0, 2, 1])
    assert (match.scores, match.winners) == ([6, 0, 2, 1], [0])


def test_e23_all_at_one() -> None:
    match = first(won(3), "cutthroat", DECIDER, scores=[1, 1, 1, 0])
    assert standing(match) == ([1, 1, 1, 0], 2, True, None)


def test_a08b_a_third_player_wins_the_decider() -> None:
    options = {**DECIDER, "broken": "leader_loss"}
    match = first(won(1), "cutthroat", options, scores=[1, 0, 0, 0])
    assert standing(match) == ([1, 0, 0, 0], 2, True, None)
    assert then(match, won(3)).scores == [0, 0, 0, 2]


def test_bruck_end_ends_the_match_without_a_winner() -> None:
    match = first(won(1), "cutthroat", {"players": 2, "bruck": "end"}, scores=[3, 0])
    assert (match.over, match.winners, match.scores) == (True, [], [0, 0])
    assert last_of(match)["effect"] == "bruck"


TWO_DRAW = {"players": 2, "draw": True}


def test_e24_drawing() -> None:
    hands = ["6-6 5-3", "1-0"]
    match = table("cutthroat", TWO_DRAW, hands=hands, board="4-2", boneyard="1-1 0-3 2-5 6-1")
    for _ in range(3):
        assert match.legal() == [DRAW]
        match.step(DRAW)
    assert match.legal() == [act(1, "5-2")]
    assert match.lacks[0] == [n in (2, 4) for n in range(7)]
    match.step(act(1, "5-2"))
    assert match.ends == [4, 5]
    assert match.hands[0] == hand_of("6-6 5-3 1-1 0-3")
    assert (match.sizes[0], len(match.boneyard), match.turn) == (4, 1, 1)
    assert [e["tile"] for e in line.view(match, 1)["events"]] == [None, None, None, "5-2"]


def test_e25_drawing_everything_and_passing() -> None:
    hands = ["0-0 1-1", "3-3 4-4"]
    match = table("cutthroat", TWO_DRAW, hands=hands, board=SIXES_OUT, boneyard="5-5 5-1 2-1 3-1")
    for _ in range(4):
        assert match.legal() == [DRAW]
        match.step(DRAW)
    assert match.legal() == [PASS]


@pytest.mark.parametrize(
    ("hands", "opens", "tile"),
    [
        (["5-5 6-3", "4-4 6-5"], 0, "5-5"),
        (["5-4 1-0", "6-3 2-0"], 1, "6-3"),
        (["6-5 2-1", "0-0 4-3"], 1, "0-0"),
    ],
)
def test_e26_opening_without_the_double_six(hands: list[str], opens: int, tile: str) -> None:
    held = [hand_of(tiles) for tiles in hands]
    assert line.opening_tile(held) == parse(tile)
    assert parse(tile) in held[opens]


# Chiva


def test_e27_pair_totals() -> None:
    match = blocked("chiva", hands=E5)
    assert standing(match) == ([0, 1], 1, False, 3)


def test_e28_equal_totals_tie() -> None:
    hands = ["0-2", "1-4", "0-3", "0-0"]
    match = blocked("chiva", hands=hands, scores=[2, 0])
    assert standing(match) == ([0, 0], 1, False, None)
    assert standing(blocked("partnership", hands=hands)) == ([0, 1], 1, False, 3)


def test_e29_out_is_not_weighed() -> None:
    hands = ["6-2", "1-4", "6-6 5-5 4-4", "5-0"]
    match = table("chiva", hands=hands, board="6-3", scores=[3, 0])
    match.step(act(0, "6-2"))
    assert (match.scores, match.winners, match.next_poser) == ([4, 0], [0], 0)


def test_e30_boneyards() -> None:
    for players, left in ((2, 14), (3, 7)):
        rules = line.Rules("chiva", {"players": players})
        assert len(line_deal(rules, random.Random(0))["boneyard"]) == left
        assert (0, 0) in rules.tiles
        assert rules.draws


# French


def arms(*wanted: str) -> list[str]:
    """Arms such as 1L (locked) and 4O (beyond its double)."""
    return [f"0-{a[0]}" + (f" {a[0]}-{a[0]}" if a[1:] == "O" else "") if a else "" for a in wanted]


def test_e31_only_blanks_in_phase_1() -> None:
    match = table("french", hands=["0-5 5-5 1-2"], cross=arms("1L", "2L", "", ""))
    assert match.legal() == [act(2, "0-5")]


def test_e32_a_locked_arm_takes_its_double() -> None:
    match = table("french", hands=["4-4 4-1 3-3"], cross=arms("1L", "2L", "4L", "6L"))
    assert match.legal() == [act(2, "4-4")]
    assert match.locked == [True] * 4


def test_e33_arms_do_not_wait_for_each_other() -> None:
    match = table("french", hands=["4-1 1-1 2-6"], cross=arms("1L", "2L", "4O", "6L"))
    assert match.legal() == sorted([act(2, "4-1"), act(0, "1-1")])


def test_e34_e35_a_dead_arm() -> None:
    cross = ["0-1", "0-2", "0-4 4-4 4-1", "0-6"]
    match = table("french", hands=["1-1 1-5", "1-5 1-6"], cross=cross)
    assert match.legal() == sorted([act(0, "1-1"), act(2, "1-1"), act(2, "1-5")])
    match.step(act(2, "1-1"))
    assert match.legal() == sorted([act(2, "1-5"), act(2, "1-6")])


def test_a_french_pass_shows_doubles_at_locked_arms() -> None:
    match = table("french", hands=["3-3", "3-3"], cross=arms("1L", "2L", "4O", "6L"))
    match.step(113)
    assert match.lacks[0] == [n == 4 for n in range(7)]
    assert match.lacks_double[0] == [n in (1, 2, 6) for n in range(7)]
    match = table("french", hands=["3-3"], cross=arms("1L", "", "", ""))
    match.step(113)
    assert match.lacks[0] == [n == 0 for n in range(7)]


def test_e36_penalties() -> None:
    hands = {"4-4 2-1": 22, "6-5 3-2": 16, "5-5 6-6": 44, "1-1 0-6": 16, "": 0}
    assert {tiles: line.french_penalty(hand_of(tiles)) for tiles in hands} == hands


@pytest.mark.parametrize(
    ("scores", "left", "result", "winners"),
    [
        ([92, 40, 55, 88], ["5-4", "2-2", "3-4"], [101, 40, 63, 95], [1]),
        ([95, 52, 60, 47], ["3-3", "1-0", "1-4"], [107, 52, 61, 52], [1, 3]),
    ],
)
def test_e37_e38_a_french_match_ends(
    scores: list[int], left: list[str], result: list[int], winners: list[int]
) -> None:
    hands = [left[0], "6-4", *left[1:]]
    match = table("french", hands=hands, cross=arms("1L", "2L", "4O", "6L"), scores=scores)
    match.turn = 1
    rewards = match.step(act(2, "6-4"))
    assert (match.scores, match.winners) == (result, winners)
    assert sum(rewards["hand"]) == pytest.approx(0)
    share = (4 - len(winners)) / (3 * len(winners))
    assert rewards["match"] == [share if seat in winners else -1 / 3 for seat in range(4)]


def test_e39_the_double_blank_opens_every_french_hand() -> None:
    match = first(lambda last: last["seat"] == 2, "french")
    match.deal_next(**line_deal(match.rules, random.Random(5)))
    assert match.turn is not None
    assert (0, 0) in match.hands[match.turn]
    assert match.legal() == [0]
    match.step(0)
    assert (match.ends, match.shown_board()) == ([None] * 4, [[], [], [], []])


# Line dominoes

THREE = {"players": 3}


def test_e50_out_scores_the_other_hands() -> None:
    match = table("block", THREE, hands=["6-2", "6-4 2-1", "5-5"], board="6-3")
    rewards = match.step(act(0, "6-2"))
    assert match.scores == [23, 0, 0]
    assert rewards["hand"] == [0.23, -0.115, -0.115]


def test_e51_a_block_scores_the_other_hands() -> None:
    assert blocked("block", THREE, hands=["1-4", "6-6", "4-5"]).scores == [21, 0, 0]


def test_e52_a_tie_scores_nothing() -> None:
    match = blocked("block", THREE, hands=["1-4", "5-0", "6-6"])
    assert (match.scores, last_of(match)["reason"]) == ([0, 0, 0], "tie")
    assert last_of(match)["effect"] is None


def test_e53_past_a_hundred() -> None:
    match = table("block", hands=["6-2", "4-3"], board="6-3", scores=[96, 99])
    rewards = match.step(act(0, "6-2"))
    assert (match.scores, match.winners) == ([103, 99], [0])
    assert rewards["match"] == [1, -1]


def test_e54_the_highest_double_opens_every_round() -> None:
    deal = spread(["3-3", "5-5", "2-1"])
    match = line.start("block", THREE, deal=deal)
    assert (match.turn, match.legal()) == (1, [act(0, "5-5")])
    play_hand(match, random.Random(1))
    match.deal_next(**deal)
    assert (match.turn, match.legal(), match.poser) == (1, [act(0, "5-5")], None)


def test_e55_must_play_must_draw_never_draws() -> None:
    match = table("draw", hands=["2-4 6-6", "1-0"], board="2-2", boneyard="1-1 3-3 4-4 5-5 0-0")
    assert match.legal() == [act(0, "2-4"), act(1, "2-4")]
    match = table("block", hands=["6-6", "1-0"], board="2-2", boneyard="2-4 1-1")
    assert match.legal() == [PASS]


# Six-Love


@pytest.mark.parametrize(
    ("board", "last", "key"),
    [
        ("4-0 0-3 3-1 1-4 4-4 4-2 2-3 3-3 3-5 5-4 4-6 6-3", "4-3", True),
        ("4-6 6-3 3-1 1-4 4-2 2-3 3-3", "4-3", False),
        ("4-0 0-1 1-4 4-2 2-5 5-4 4-6 6-3 3-4", "4-4", False),
    ],
)
def test_e56_e57_e58_the_key_card(board: str, last: str, key: bool) -> None:
    lying = [(int(t[0]), int(t[2])) for t in board.split()]
    assert line.is_key(lying, parse(last), line.FULL_SET) is key
    hands = [last, "5-5", "5-5", "5-5"]
    match = table("six_love", hands=hands, board=board)
    match.step(match.legal()[0])
    assert (match.scores[0], last_of(match)["key"]) == ((2, True) if key else (1, False))


def test_a18_five_others_do_without_the_double_blank() -> None:
    board = "1-1 1-2 2-0 0-3 3-1 1-4 4-0 0-5 5-1 1-6 6-0"
    lying = [(int(t[0]), int(t[2])) for t in board.split()]
    assert line.is_key(lying, (1, 0), line.Rules("cutthroat", {"players": 3}).tiles)
    assert not line.is_key(lying, (1, 0), line.FULL_SET)


@pytest.mark.parametrize("key", [False, True])
def test_e59_a_tie_makes_two_and_no_more(key: bool) -> None:
    match = first(tied, "six_love")
    assert standing(match) == ([0, 0, 0, 0], 2, False, None)
    match = then(match, won(1, key))
    assert standing(match) == ([0, 2, 0, 0], 1, False, 1)


def test_e60_two_ties_stay_at_two() -> None:
    assert first(tied, "six_love", stake=2).stake == 2


def test_e61_set_won_and_bruck() -> None:
    match = first(won(0), "six_love", scores=[5, 2, 1, 0])
    assert (match.scores, match.winners) == ([6, 2, 1, 0], [0])
    match = first(won(3), "six_love", scores=[5, 2, 1, 0])
    assert standing(match) == ([0, 0, 0, 0], 1, False, None)
    assert last_of(match)["effect"] == "reset"


def test_e62_more_set_scores() -> None:
    match = first(won(2), "six_love", scores=[5, 2, 0, 0])
    assert (match.scores, match.next_poser) == ([5, 2, 1, 0], 2)
    match = first(won(0, key=True), "six_love", scores=[4, 0, 0, 0])
    assert (match.scores, match.winners) == ([6, 0, 0, 0], [0])


def test_e63_a_stake_over_six() -> None:
    match = first(won(0), "six_love", scores=[5, 1, 1, 0], stake=2)
    assert (match.scores, match.winners) == ([7, 1, 1, 0], [0])
    assert line.pips(hand_of("3-2 5-5")) == 15
