"""The worked examples of the line games, one test each, named by number.

Where a position can be reached it is played through an environment; where an example is only about
legality, a count or a score and no deal leads there, its table is put into the record and the
kernels judge it.
"""

import copy
import importlib
import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from dominozoo.aec import TableEnv
from dominozoo.line.game import LineGame
from dominozoo.line.score import penalty, pip_count
from dominozoo.line.table import PLAY
from dominozoo.rules import parse
from dominozoo.tiles import DOUBLES, NAMES, PIPS, TILE_COUNT, mask_of, tile_id, tiles_of

Json = dict[str, Any]
Move = tuple[str, int | None]
LEFT, RIGHT = 0, 1
BOTH_FLAGS = "partnership(tie=escalate, decider=True)"


def start(text: str, seed: int = 1, **options: Any) -> TableEnv:
    """A bare environment of a text form, reset with options."""
    rules = parse(text)
    module = importlib.import_module(f"dominozoo.{rules.module}")
    env: TableEnv = module.raw_env(**rules.options)
    env.reset(seed=seed, options=options)
    return env


def moves(position: Json) -> list[Move]:
    """(tile or kind, end) of each legal action."""
    return [(move["tile"] or move["action"], move["end"]) for move in position["legal"]]


def play(env: TableEnv, *actions: str) -> None:
    """Make moves written "6-5 0" (tile and end) or "pass"."""
    for action in actions:
        name, _, end = action.partition(" ")
        wanted = (NAMES[tile_id(name)], int(end)) if end else (name, None)
        listed = env.position()["legal"]
        assert wanted in moves(env.position()), f"{action} is not among {listed}"
        env.step(listed[moves(env.position()).index(wanted)]["id"])


def dealt(hands: Sequence[str], size: int, avoid: int = 0) -> Json:
    """A deal from the tiles that matter, filled up with others; ``avoid`` masks those left out."""
    used = [[tile_id(tile) for tile in hand.split()] for hand in hands]
    taken = {tile for hand in used for tile in hand}
    free = [tile for tile in range(TILE_COUNT) if tile not in taken and not avoid >> tile & 1]
    for hand in used:
        while len(hand) < size:
            hand.append(free.pop(0))
    return {"hands": [[NAMES[tile] for tile in hand] for hand in used]}


def after_line(text: str, line: str, hand: str) -> TableEnv:
    """A game of four in which seats 0, 1, 2, 3, 0, ... made these moves without a pass.

    ``hand`` is what the seat to move holds then.
    """
    hands, plays = ["", "", "", ""], line.split(",")
    for k, move in enumerate(plays):
        hands[k % 4] += move.split()[0] + " "
    hands[len(plays) % 4] += hand
    env = start(text, deal=dealt(hands, 7))
    play(env, *plays)
    return env


def until(env: TableEnv, outcome: Callable[[Json], bool], tries: int = 6000) -> TableEnv:
    """Play the hand at random, again and again, until it ends as wanted."""
    for seed in range(tries):
        copied, rng = copy.deepcopy(env), random.Random(seed)
        # An earlier hand's info would stay until its agent acts.
        copied.infos = {agent: {} for agent in copied.agents}
        while not copied.infos["player_0"]:
            mask = copied.observe(copied.agent_selection)["action_mask"]
            copied.step(rng.choice(np.flatnonzero(mask).tolist()))
        if outcome(copied.position()["last_hand"]):
            return copied
    raise AssertionError("no such hand came up")


def side_wins(side: int) -> Callable[[Json], bool]:
    return lambda last: last["winner"] == side


def plain_win(seat: int) -> Callable[[Json], bool]:
    return lambda last: last["seat"] == seat and not last["key"]


def tied(last: Json) -> bool:
    return bool(last["reason"] == "tie")


def state(env: TableEnv) -> tuple[list[int], int, int | None]:
    """(scores, stake, poser)."""
    position = env.position()
    return position["scores"], position["stake"], position["poser"]


def opens_with_six_six(env: TableEnv) -> bool:
    position = env.position()
    return position["poser"] is None and moves(position) == [("6-6", LEFT)]


def winners(env: TableEnv) -> list[int] | None:
    """The sides that won the match, None while it goes on."""
    position = env.position()
    return position["winners"] if position["over"] else None


def table(
    text: str,
    hands: Sequence[str],
    ends: str,
    *,
    turn: int = 0,
    scores: Sequence[int] = (),
    laid: str = "",
    boneyard: str = "",
    opener: int = 0,
) -> LineGame:
    """A table in mid-hand that no deal need lead to."""
    game = LineGame(parse(text))
    game.reset((1, 0), {})
    record = game.tables[0]
    record["phase"], record["turn"], record["opener"], record["ply"] = PLAY, turn, opener, 1
    record["hands"] = 0
    for seat, hand in enumerate(hands):
        record["hands"][seat] = mask_of(map(tile_id, hand.split()))
        record["sizes"][seat] = len(hand.split())
    for end, number in enumerate(ends.split()):
        record["ends"][end] = int(number) + 1
    record["scores"][: len(scores)] = scores
    record["laid"] = mask_of(map(tile_id, laid.split()))
    tiles = [tile_id(tile) for tile in boneyard.split()]
    record["boneyard"] = len(tiles)
    record["deck"][TILE_COUNT - len(tiles) :] = tiles
    return game


def step(game: LineGame, tile: str, end: int) -> None:
    game.step(end * TILE_COUNT + tile_id(tile))


def ended(game: LineGame) -> Json:
    last = game.last_hand()
    assert last is not None
    return last


def blocked(text: str, *hands: str, **arguments: Any) -> LineGame:
    """A table on which nobody can play, passed to the hand's end."""
    shown = {int(number) for hand in hands for number in hand if number.isdigit()}
    number = min(set(range(7)) - shown)
    game = table(text, hands, f"{number} {number}", **arguments)
    for _ in range(game.rules.players):
        assert moves(game.position()) == [("pass", None)]
        game.step(57)
    return game


FIVE = ("2-0", "4-1", "6-5 4-4", "2-2")


def test_e1_both_ends() -> None:
    line = "6-6 0,6-5 1,5-5 1,5-4 1,4-4 1,4-2 1,2-2 1,2-1 1,1-1 1,1-0 1,0-0 1,3-0 1"
    env = after_line("partnership", line, "6-2 3-3 4-1 5-0")
    assert env.position()["ends"] == [6, 3]
    assert set(moves(env.position())) == {("6-2", LEFT), ("3-3", RIGHT)}


def test_e2_only_pass() -> None:
    line = "6-6 0,6-5 0,6-3 1,3-3 1,3-2 1,2-2 1,4-2 1,4-4 1,4-1 1,1-1 1,1-0 1,2-0 1,6-2 1,6-1 1"
    env = after_line("partnership", f"{line},3-1 1,5-3 1", "6-4 2-1 0-0")
    assert env.position()["ends"] == [5, 5]
    assert moves(env.position()) == [("pass", None)]


def test_e3_seven_sixes_block() -> None:
    line = "6-6 0,6-0 1,1-0 1,6-1 1,6-2 1,3-2 1,6-3 1,6-4 1,5-4 1,6-5 1"
    env = after_line("partnership", line, "")
    assert env.position()["ends"] == [6, 6]
    play(env, "pass", "pass", "pass", "pass")
    assert env.position()["last_hand"]["reason"] == "block"


def test_e4_out_has_precedence() -> None:
    game = table("cutthroat(players=2)", ["6-5", "0-0"], "5 1")
    step(game, "6-5", LEFT)
    assert (ended(game)["winner"], ended(game)["reason"]) == (0, "out")


def test_e5_individual_lowest_wins_the_block() -> None:
    last = ended(game := blocked("partnership", *FIVE))
    assert (last["winner"], last["seat"], last["points"], last["scores"]) == (0, 0, 1, [1, 0])
    game.deal()
    assert (game.position()["turn"], game.position()["poser"]) == (0, 0)


def test_e6_partners_share_the_lowest() -> None:
    game = blocked("partnership", "2-1", "5-2", "3-0", "6-3", opener=1)
    assert (ended(game)["winner"], ended(game)["seat"]) == (0, 2)
    game.deal()
    assert game.position()["turn"] == 2


def test_e7_tied_block_resets() -> None:
    game = blocked("partnership", "2-1", "3-0", "5-3", "6-3", scores=[4, 0])
    last = ended(game)
    assert (last["reason"], last["effect"], last["winner"]) == ("tie", "reset", None)
    assert last["scores"] == [0, 0]
    game.deal()
    assert moves(game.position()) == [("6-6", LEFT)]


def test_e8_escalating_tie_replayed_for_two() -> None:
    env = until(start("partnership(tie=escalate)", scores=[4, 0]), tied)
    assert state(env) == ([4, 0], 2, None)
    assert opens_with_six_six(env)
    env = until(env, side_wins(0))
    assert (env.position()["scores"], winners(env)) == ([6, 0], [0])


def test_e9_breaking_the_lead_scores_nothing() -> None:
    env = until(start("partnership", scores=[5, 0]), side_wins(1))
    assert env.position()["scores"] == [0, 0]
    assert opens_with_six_six(env)


def test_e10_a_point_and_six_love() -> None:
    env = until(start("partnership"), side_wins(1))
    assert state(env) == ([0, 1], 1, env.position()["last_hand"]["seat"])
    env = until(start("partnership", scores=[5, 0]), side_wins(0))
    assert (env.position()["scores"], winners(env)) == ([6, 0], [0])


def test_e11_one_one() -> None:
    env = until(start("partnership", scores=[1, 0]), side_wins(1))
    assert state(env) == ([0, 0], 1, None)
    env = until(start("partnership(decider=True)", scores=[1, 0]), side_wins(1))
    assert state(env) == ([1, 0], 2, None)
    assert env.position()["decider"]
    assert env.position()["last_hand"]["effect"] == "decider"
    assert opens_with_six_six(env)


@pytest.mark.parametrize(("side", "scores"), [(1, [0, 2]), (0, [2, 0])])
def test_e12_decider_sets_two(side: int, scores: list[int]) -> None:
    env = until(start("partnership(decider=True)", scores=[1, 0]), side_wins(1))
    env = until(env, side_wins(side))
    assert state(env) == (scores, 1, env.position()["last_hand"]["seat"])
    assert not env.position()["decider"]


def test_e13_no_decider_at_two_love() -> None:
    env = until(start("partnership(decider=True)", scores=[2, 0]), side_wins(1))
    assert state(env) == ([0, 0], 1, None)
    assert not env.position()["decider"]


def test_e14_tied_decider_is_worth_three() -> None:
    env = until(until(start(BOTH_FLAGS, scores=[1, 0]), side_wins(1)), tied)
    assert state(env) == ([1, 0], 3, None)
    assert env.position()["decider"]
    assert state(until(env, side_wins(0)))[0] == [3, 0]


def test_e15_two_ties_make_three() -> None:
    env = until(start("partnership(tie=escalate)"), tied)
    assert state(env) == ([0, 0], 2, None)
    env = until(env, tied)
    assert state(env) == ([0, 0], 3, None)
    assert state(until(env, side_wins(0)))[:2] == ([3, 0], 1)


def test_e16_stake_beyond_the_target() -> None:
    env = until(start("partnership(tie=escalate)", scores=[5, 0], stake=2), side_wins(0))
    assert (env.position()["scores"], winners(env)) == ([7, 0], [0])


def test_e17_stake_two_is_no_one_one() -> None:
    env = until(start(BOTH_FLAGS, scores=[1, 0], stake=2), side_wins(1))
    assert state(env) == ([0, 0], 1, None)
    assert not env.position()["decider"]


@pytest.mark.parametrize(("opening", "choices"), [("formal", 1), ("informal", 7)])
def test_e18_opening(opening: str, choices: int) -> None:
    env = start(f"partnership(opening={opening})")
    position = env.position()
    assert "6-6" in position["hands"][position["turn"]]
    assert len(moves(position)) == choices


@pytest.mark.parametrize(("players", "size"), [(2, 14), (3, 9), (4, 7)])
def test_e19_everything_is_dealt(players: int, size: int) -> None:
    position = start(f"cutthroat(players={players})").position()
    assert [len(hand) for hand in position["hands"]] == [size] * players
    assert position["boneyard"] == []
    assert any("0-0" in hand for hand in position["hands"]) == (players != 3)


def test_e20_leader_loss() -> None:
    env = until(start("cutthroat(broken=leader_loss)", scores=[3, 0, 0, 0]), side_wins(2))
    assert env.position()["scores"] == [0, 0, 0, 0]
    assert opens_with_six_six(env)


@pytest.mark.parametrize(("seat", "scores"), [(1, [3, 2, 2, 0]), (3, [0, 0, 0, 0])])
def test_e21_all_scored(seat: int, scores: list[int]) -> None:
    env = until(start("cutthroat", scores=[3, 1, 2, 0]), side_wins(seat))
    assert env.position()["scores"] == scores


def test_e22_one_zero_is_enough() -> None:
    env = until(start("cutthroat", scores=[5, 0, 2, 1]), side_wins(0))
    assert (env.position()["scores"], winners(env)) == ([6, 0, 2, 1], [0])


def test_e23_all_at_one() -> None:
    env = until(start("cutthroat(decider=True)", scores=[1, 1, 1, 0]), side_wins(3))
    assert state(env) == ([1, 1, 1, 0], 2, None)
    assert opens_with_six_six(env)


def test_e24_drawing_until_one_fits() -> None:
    text = "cutthroat(players=2, draw=True)"
    game = table(text, ["6-6 5-3", "4-4"], "4 2", boneyard="1-1 3-0 5-2 6-1")
    for _ in range(3):
        assert moves(game.position()) == [("draw", None)]
        game.step(56)
    assert moves(game.position()) == [("5-2", RIGHT)]
    step(game, "5-2", RIGHT)
    position = game.position()
    assert (position["ends"], position["boneyard"]) == ([4, 5], ["6-1"])
    assert set(position["hands"][0]) == {"6-6", "5-3", "1-1", "3-0"}


def test_e25_draws_everything_then_passes() -> None:
    text = "cutthroat(players=2, draw=True)"
    game = table(text, ["5-0", "4-4"], "6 6", boneyard="1-1 3-0 5-2 4-1")
    for _ in range(4):
        assert moves(game.position()) == [("draw", None)]
        game.step(56)
    assert moves(game.position()) == [("pass", None)]
    game.step(57)
    assert game.position()["turn"] == 1


def heavier_than(pips: int) -> int:
    return mask_of(tile for tile in range(TILE_COUNT) if PIPS[tile] > pips)


@pytest.mark.parametrize(
    ("hands", "avoid", "turn", "tile"),
    [
        (["5-5 6-3", "4-4 6-5"], mask_of([tile_id("6-6")]), 0, "5-5"),
        (["5-4 1-0", "6-3 2-0"], DOUBLES | heavier_than(9), 1, "6-3"),
        (["0-0", "6-5"], DOUBLES, 0, "0-0"),
    ],
)
def test_e26_opening_without_six_six(hands: list[str], avoid: int, turn: int, tile: str) -> None:
    env = start("cutthroat(players=2, draw=True)", deal=dealt(hands, 7, avoid))
    assert (env.position()["turn"], moves(env.position())) == (turn, [(tile, LEFT)])


def test_e27_pair_totals() -> None:
    game = blocked("chiva", *FIVE)
    assert (ended(game)["winner"], ended(game)["seat"]) == (1, 3)
    game.deal()
    assert game.position()["turn"] == 3


def test_e28_equal_totals_tie() -> None:
    hands = ("2-0", "4-1", "3-0", "0-0")
    last = ended(game := blocked("chiva", *hands, scores=[2, 0]))
    assert (last["reason"], last["effect"], last["scores"]) == ("tie", "reset", [0, 0])
    game.deal()
    assert moves(game.position()) == [("6-6", LEFT)]
    last = ended(blocked("partnership", *hands))
    assert (last["winner"], last["seat"]) == (1, 3)


def test_e29_out_whatever_the_totals() -> None:
    hands = ["6-5", "3-2", "6-6 5-5 4-4", "4-1"]
    game = table("chiva", hands, "6 0", scores=[3, 0])
    step(game, "6-5", LEFT)
    last = ended(game)
    assert (last["winner"], last["seat"], last["scores"]) == (0, 0, [4, 0])
    assert (last["effect"], game.position()["winners"]) == ("match", [0])


@pytest.mark.parametrize(("players", "boneyard"), [(2, 14), (3, 7), (4, 0)])
def test_e30_boneyards(players: int, boneyard: int) -> None:
    position = start(f"chiva(players={players})").position()
    assert len(position["boneyard"]) == boneyard
    tiles = [tile for hand in (*position["hands"], position["boneyard"]) for tile in hand]
    assert sorted(tiles) == sorted(NAMES)


def french(hands: Sequence[str], *plays: str) -> TableEnv:
    env = start("french", deal=dealt(hands, 7))
    play(env, *plays)
    return env


CROSS = ("0-0 0", "1-0 0", "2-0 1", "4-0 2", "6-0 3")


def test_e31_only_blanks_at_first() -> None:
    hands = ["0-0 3-0 4-0 6-0", "1-0", "2-0", "5-0 5-5 2-1 3-3 6-5 4-3 6-6"]
    env = french(hands, *CROSS[:3])
    assert env.position()["ends"] == [1, 2, None, None]
    assert moves(env.position()) == [("5-0", 2)]


def test_e32_then_only_the_double() -> None:
    hands = ["0-0 6-0 1-1 2-2 6-6", "1-0 4-4 4-1 3-3", "2-0", "4-0"]
    env = french(hands, *CROSS)
    assert env.position()["locked"] == [True] * 4
    assert moves(env.position()) == [("4-4", 2)]


def test_e33_an_arm_beyond_its_double_is_open() -> None:
    hands = ["0-0 6-0 2-2 6-6", "1-0 4-4", "2-0 4-1 1-1 6-2 3-3 5-3 5-5", "4-0"]
    env = french(hands, *CROSS, "4-4 2")
    assert env.position()["locked"] == [True, True, False, True]
    assert set(moves(env.position())) == {("4-1", 2), ("1-1", 0)}


ONES = ("0-0 6-0 5-1 6-1", "1-0 4-4", "2-0 4-1", "4-0 1-1 3-3 5-5 5-3 6-5 6-3")


def test_e34_locked_and_open_arms_of_one_number() -> None:
    hands = ["0-0 6-0", "1-0 4-4", "2-0 4-1", "4-0 1-1 5-1 3-3 5-5 5-3 6-5"]
    env = french(hands, *CROSS, "4-4 2", "4-1 2")
    assert env.position()["ends"] == [1, 2, 1, 6]
    assert set(moves(env.position())) == {("1-1", 0), ("1-1", 2), ("5-1", 2)}


def test_e35_a_dead_arm() -> None:
    env = french(ONES, *CROSS, "4-4 2", "4-1 2", "1-1 2")
    assert env.position()["locked"] == [True, True, False, True]
    assert {m for m in moves(env.position()) if m[0] in ("5-1", "6-1")} == {("5-1", 2), ("6-1", 2)}


@pytest.mark.parametrize(
    ("hand", "worth"), [("4-4 2-1", 22), ("6-5 3-2", 16), ("5-5 6-6", 44), ("1-1 6-0", 16), ("", 0)]
)
def test_e36_penalties(hand: str, worth: int) -> None:
    assert penalty(mask_of(map(tile_id, hand.split()))) == worth


@pytest.mark.parametrize(
    ("hands", "before", "points", "after", "won"),
    [
        (
            ["5-4", "6-1", "2-2", "4-3"],
            *([92, 40, 55, 88], [9, 0, 8, 7], [101, 40, 63, 95], [1]),
        ),
        (
            ["3-3", "6-1", "1-0", "4-1"],
            *([95, 52, 60, 47], [12, 0, 1, 5], [107, 52, 61, 52], [1, 3]),
        ),
    ],
    ids=["e37", "e38"],
)
def test_e37_e38_the_lowest_penalty_wins(
    hands: list[str], before: list[int], points: list[int], after: list[int], won: list[int]
) -> None:
    game = table("french", hands, "6 3 5 2", turn=1, scores=before)
    step(game, "6-1", 0)
    last = ended(game)
    assert (last["points"], last["scores"], last["winner"], last["seat"]) == (
        points,
        after,
        None,
        1,
    )
    assert (game.position()["over"], game.position()["winners"]) == (True, won)


def test_e39_zero_zero_opens_whoever_won() -> None:
    second = (until(start("french", s), lambda last: last["seat"] == 2) for s in range(200))
    position = next(env.position() for env in second if env.position()["turn"] == 3)
    assert (position["hand_number"], position["poser"]) == (2, None)
    assert moves(position) == [("0-0", 0)]


def test_e50_out_scores_the_other_hands() -> None:
    game = table("block(players=3)", ["6-5", "6-4 2-1", "5-5"], "5 0")
    step(game, "6-5", LEFT)
    assert (ended(game)["points"], ended(game)["scores"]) == (23, [23, 0, 0])


def test_e51_a_block_scores_the_others_in_full() -> None:
    last = ended(blocked("block(players=3)", "4-1", "6-6", "5-4"))
    assert (last["seat"], last["points"], last["scores"]) == (0, 21, [21, 0, 0])


def test_e52_a_tied_block_scores_nothing() -> None:
    last = ended(blocked("block(players=3)", "4-1", "3-2", "6-6"))
    assert (last["reason"], last["points"], last["scores"]) == ("tie", 0, [0, 0, 0])


def test_e53_a_hundred_ends_the_match() -> None:
    game = table("block", ["6-5", "4-3"], "5 0", scores=[96, 50])
    step(game, "6-5", LEFT)
    assert (ended(game)["scores"], game.position()["winners"]) == ([103, 50], [0])


def test_e54_the_highest_double_opens_every_round() -> None:
    avoid = DOUBLES
    env = start("draw(players=3)", deal=dealt(["3-3", "5-5", "6-5"], 7, avoid))
    for _ in range(4):
        position = env.position()
        held = [tile_id(tile) for hand in position["hands"] for tile in hand]
        top = max(set(held) & set(tiles_of(DOUBLES)))
        assert moves(position) == [(NAMES[top], LEFT)]
        assert NAMES[top] in position["hands"][position["turn"]]
        if position["hand_number"] == 1:
            assert (position["turn"], NAMES[top]) == (1, "5-5")
        env = until(env, lambda last: last["effect"] is None)


def test_e55_must_play_and_block_passes() -> None:
    five = "1-1 3-0 5-3 4-1 6-5"
    game = table("draw", ["4-2 6-6", "5-5"], "2 2", boneyard=five)
    assert moves(game.position()) == [("4-2", LEFT), ("4-2", RIGHT)]
    for action in (56, 57):
        with pytest.raises(ValueError, match="4-2 can be played"):
            game.step(action)
    free = [name for name in NAMES if "2" not in name and name not in ("6-6", "5-5")]
    game = table("block", ["6-6", "5-5"], "2 2", boneyard=" ".join(free[:14]))
    assert len(game.position()["boneyard"]) == 14
    assert moves(game.position()) == [("pass", None)]


@pytest.mark.parametrize(
    ("line", "ends", "tile", "points"),
    [
        ("4-0 3-0 3-1 4-1 4-4 4-2 3-2 3-3 5-3 5-4 6-4 6-3", "4 3", "4-3", 2),
        ("6-4 6-3 3-1 4-1 4-2 3-2 3-3", "4 3", "4-3", 1),
        ("4-0 1-0 4-1 4-2 5-2 5-4 6-4 6-3 4-3", "4 4", "4-4", 1),
    ],
    ids=["e56", "e57", "e58"],
)
def test_e56_e57_e58_the_key_card(line: str, ends: str, tile: str, points: int) -> None:
    game = table("six_love", [tile, "5-5", "6-6", "1-1"], ends, laid=line)
    step(game, tile, LEFT)
    assert (ended(game)["points"], ended(game)["key"]) == (points, points == 2)


def test_e59_a_tied_block_doubles_the_next_hand() -> None:
    env = until(start("six_love"), tied)
    assert state(env) == ([0, 0, 0, 0], 2, None)
    assert opens_with_six_six(env)
    assert state(until(env, plain_win(1))) == ([0, 2, 0, 0], 1, 1)
    env = until(env, lambda last: last["seat"] == 1 and last["key"])
    assert state(env) == ([0, 2, 0, 0], 1, 1)


def test_e60_two_tied_blocks_stay_at_two() -> None:
    env = until(until(start("six_love"), tied), tied)
    assert state(env) == ([0, 0, 0, 0], 2, None)


def test_e61_set_won_or_bruck() -> None:
    env = until(start("six_love", scores=[5, 2, 1, 0]), plain_win(0))
    assert (env.position()["scores"], winners(env)) == ([6, 2, 1, 0], [0])
    env = until(start("six_love", scores=[5, 2, 1, 0]), side_wins(3))
    assert (env.position()["scores"], winners(env)) == ([0, 0, 0, 0], None)
    assert env.position()["last_hand"]["effect"] == "reset"
    assert opens_with_six_six(env)


def test_e62_a_point_and_a_key_to_six() -> None:
    env = until(start("six_love", scores=[5, 2, 0, 0]), plain_win(2))
    assert state(env) == ([5, 2, 1, 0], 1, 2)
    env = until(start("six_love", scores=[4, 0, 0, 0]), lambda x: x["seat"] == 0 and x["key"])
    assert (env.position()["scores"], winners(env)) == ([6, 0, 0, 0], [0])


def test_e63_stake_two_and_a_count() -> None:
    env = until(start("six_love", scores=[5, 1, 1, 0], stake=2), plain_win(0))
    assert (env.position()["scores"], winners(env)) == ([7, 1, 1, 0], [0])
    assert pip_count(mask_of(map(tile_id, ("3-2", "5-5")))) == 15
