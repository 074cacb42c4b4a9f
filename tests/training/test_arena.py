"""The arena: duplicate deals cancel luck, results are repeatable, bad input is refused in one line."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from typer.testing import CliRunner

import dominozoo
from dominozoo.bots import BOTS
from dominozoo.bots.shipping import SHIPPED
from dominozoo.fields import LINE_LAYOUT
from dominozoo.line.table import TABLE
from dominozoo.rules import RulesError, parse
from dominozoo_training.cli import app
from dominozoo_training.evaluation import asking, tournament
from dominozoo_training.evaluation.arena import (
    ArenaError,
    Setting,
    evaluate,
    make_setting,
    play_pair,
    run_arena,
)
from dominozoo_training.evaluation.entrants import (
    Entrant,
    EntrantError,
    load_entrant,
    policy_entrant,
    scripted,
    split_players,
)
from dominozoo_training.evaluation.intervals import bootstrap_interval
from dominozoo_training.evaluation.setting import posers, shares
from dominozoo_training.evaluation.tournament import make_plan, play_tournament

Array = npt.NDArray[Any]
GAMES = {
    "block": 2,
    "block(players=3)": 3,
    "draw(players=4)": 4,
    "partnership": 2,
    "cutthroat(players=2)": 2,
    "cutthroat(players=3)": 3,
    "six_love": 4,
    "chiva": 2,
    "french": 4,
}


class Even:
    """A policy that likes every legal action as well as the next."""

    def probabilities(self, observation: Array, mask: Array) -> Array:
        chances: Array = mask / mask.sum(axis=1, keepdims=True)
        return chances


def last_legal(observation: Array, mask: Array, u: Array | None = None) -> Array:
    """Plays the legal action with the highest id."""
    actions: Array = mask.shape[1] - 1 - mask[:, ::-1].argmax(axis=1)
    return actions


OUTSIDE_PLAYER = Entrant("last", act=last_legal)


def rate(game: str, a: Entrant, b: Entrant, deals: int, seed: int = 1, **more: Any) -> float:
    return run_arena(game, [a, b], deals, seed, **more)[0].win_rate


@pytest.mark.parametrize(("game", "sides"), GAMES.items())
@pytest.mark.parametrize("player", ["random", "hard"])
def test_a_bot_against_itself_gives_exactly_the_even_share(
    game: str, sides: int, player: str
) -> None:
    result = run_arena(game, [scripted(player)] * 2, 300, seed=5)[0]
    assert result.win_rate == pytest.approx(1 / sides, abs=1e-12)
    assert result.high - result.low < 0.02  # all deals alike: what unseen ones might add
    assert result.points == pytest.approx(0, abs=1e-6)
    assert result.games == 300 * sides


def test_outside_players_cancel_out_too() -> None:
    sampled = policy_entrant("even", Even(), sample=True)
    for player in (OUTSIDE_PLAYER, sampled):
        assert rate("partnership", player, player, 200) == 0.5
    assert rate("chiva", sampled, sampled, 10, unit="match") == 0.5


def test_two_sides_share_every_game() -> None:
    for a, b in (("hard", "random"), ("normal", "mobility")):
        there, back = (rate("chiva", scripted(x), scripted(y), 500) for x, y in ((a, b), (b, a)))
        assert there + back == pytest.approx(1, abs=1e-12)
        assert there != 0.5


@pytest.mark.parametrize(
    ("game", "opponent", "least"),
    [
        ("block", "random", 0.60),
        ("block", "normal", 0.53),
        ("block", "mobility", 0.55),
        ("partnership", "random", 0.65),
        ("partnership", "normal", 0.575),
        ("partnership", "mobility", 0.55),
        ("chiva", "random", 0.66),
    ],
)
def test_hard_is_as_strong_as_promised(game: str, opponent: str, least: float) -> None:
    won = rate(game, scripted("hard"), scripted(opponent), 20000, opening="rule")
    assert least <= won < least + 0.05


@pytest.mark.parametrize(("game", "sides"), GAMES.items())
def test_the_levels_stand_in_order_in_every_game(game: str, sides: int) -> None:
    hard, normal, easy = (
        rate(game, scripted(a), scripted(b), 3000)
        for a, b in (("hard", "normal"), ("normal", "random"), ("easy", "random"))
    )
    assert hard > 1 / sides + 0.02
    assert normal > 1 / sides + 0.01
    assert easy == pytest.approx(1 / sides, abs=0.04)


def test_the_interval_is_over_deals_not_games() -> None:
    setting = make_setting("block", 50, 1)
    plan = make_plan(setting, [scripted("hard"), scripted("random")])
    found = play_tournament(plan, [scripted("hard"), scripted("random")])
    result, by_deal = found.results()[0], found.games[0, 1].by_deal(0)
    assert by_deal.shape == (50,)
    assert {0.0, 0.5, 1.0} <= set(by_deal.tolist())
    assert (result.win_rate, result.low, result.high) == bootstrap_interval(by_deal)


def test_rotations_make_the_interval_narrower_than_independent_games_would() -> None:
    result = play_pair(make_setting("block", 4000, 1), scripted("hard"), scripted("mobility"))
    independent = 2 * 1.96 * math.sqrt(0.25 / result.games)
    assert 0.5 * independent < result.high - result.low < 0.95 * independent


def records(count: int, **fields: Any) -> Array:
    made = np.zeros(count, TABLE)
    for name, value in fields.items():
        made[name] = value
    return made


def test_ties_and_joint_winners_share() -> None:
    block = shares(parse("block(players=3)"), records(2, last_winner=[2, -1]), "hand")
    assert block.tolist() == [[0, 0, 1], pytest.approx([1 / 3] * 3)]
    penalties = [[5, 0, 7, 9], [4, 3, 3, 9]]
    french = shares(parse("french"), records(2, last_winner=-1, last_points=penalties), "hand")
    assert french.tolist() == [[0, 1, 0, 0], [0, 0.5, 0.5, 0]]
    match = shares(parse("french"), records(3, winners=[0b1000, 0b0101, 0]), "match")
    assert match.tolist() == [[0, 0, 0, 1], [0.5, 0, 0.5, 0], [0.25] * 4]


def test_openings_alternate_between_the_rule_and_every_seat_in_turn() -> None:
    def seats(opening: str) -> list[int]:
        return list(posers(make_setting("partnership", 12, 1, opening=opening), 0, 10))

    assert seats("rule") == [-1] * 10
    assert seats("free") == [0, 1, 2, 3, 0, 1, 2, 3, 0, 1]
    assert seats("both") == [-1, 0, -1, 1, -1, 2, -1, 3, -1, 0]


@pytest.mark.parametrize(("opening", "by_rule"), [("rule", {1}), ("free", {0}), ("both", {0, 1})])
def test_the_opening_is_what_players_meet(opening: str, by_rule: set[int]) -> None:
    met: set[int] = set()

    def watch(observation: Array, mask: Array, u: Array) -> Array:
        met.update(np.unique(observation[:, LINE_LAYOUT.offset("by_rule")]).tolist())
        return last_legal(observation, mask)

    rate("cutthroat", Entrant("watch", act=watch), scripted("random"), 30, opening=opening)
    assert met == by_rule


def test_the_default_opening_is_both_only_where_winners_pose() -> None:
    assert make_setting("partnership", 1, 1).opening == "both"
    assert make_setting("partnership", 1, 1, unit="match").opening == "rule"
    for game in ("block", "draw", "french"):
        assert make_setting(game, 1, 1).opening == "rule"
        assert make_setting(game, 1, 1, opening="both").opening == "rule"


def test_a_hand_starts_from_nothing_and_a_match_carries_on() -> None:
    scores: dict[str, set[int]] = {"hand": set(), "match": set()}
    at = LINE_LAYOUT.offset("scores")
    for unit, seen in scores.items():

        def watch(observation: Array, mask: Array, u: Array, seen: set[int] = seen) -> Array:
            seen.update(np.unique(observation[:, at]).tolist())
            return last_legal(observation, mask)

        rate("chiva", Entrant("watch", act=watch), scripted("random"), 10, unit=unit)
    assert scores["hand"] == {0}
    assert scores["match"] == {0, 1, 2, 3}


def test_a_match_magnifies_an_edge() -> None:
    hand, match = (
        rate("block", scripted("hard"), scripted("random"), 1000, unit=u) for u in ("hand", "match")
    )
    assert match > hand + 0.05


def test_points_are_rewards_of_a_hand() -> None:
    # One hand of two sides is worth a point, so points and rate agree up to ties.
    result = run_arena("partnership", [scripted("hard"), scripted("random")], 2000, 1)[0]
    assert result.points == pytest.approx(2 * result.win_rate - 1, abs=1e-6)
    result = run_arena("cutthroat", [scripted("hard"), scripted("random")], 2000, 1)[0]
    assert result.points == pytest.approx((4 * result.win_rate - 1) / 3, abs=1e-6)
    match = run_arena("chiva", [scripted("hard"), scripted("random")], 60, 1, unit="match")[0]
    assert 0.2 < match.points < 0.6 < match.win_rate


def test_the_seed_decides_everything() -> None:
    players = [scripted("easy"), policy_entrant("even", Even(), sample=True)]
    results = [run_arena("draw(players=3)", players, 200, seed) for seed in (1, 1, 2, 1 << 40)]
    assert results[0] == results[1]
    assert len({result[0].win_rate for result in results}) == 3


def test_a_sampling_policy_draws_by_its_chances() -> None:
    class Biased:
        def probabilities(self, observation: Array, mask: Array) -> Array:
            return np.tile(np.array([0.0, 0.3, 0.0, 0.7]), (len(mask), 1))

    act = policy_entrant("x", Biased(), sample=True).act
    assert act is not None
    u = np.array([0.0, 0.29, 0.31, 0.999999])
    assert act(np.zeros((4, 1)), np.ones((4, 4)), u).tolist() == [1, 1, 3, 3]
    greedy = policy_entrant("x", Biased()).act
    assert greedy is not None
    assert greedy(np.zeros((4, 1)), np.ones((4, 4)), u).tolist() == [3, 3, 3, 3]


def test_the_size_of_a_chunk_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    players = [scripted("easy"), policy_entrant("even", Even(), sample=True)]
    whole = run_arena("partnership", players, 50, 3)
    monkeypatch.setattr(tournament, "DEALS", 7)
    monkeypatch.setattr(asking, "ROWS", 3)
    assert run_arena("partnership", players, 50, 3) == whole


def test_more_than_two_players_meet_all_and_progress_is_told() -> None:
    told: list[tuple[int, int]] = []
    results = run_arena(
        "block",
        [scripted(name) for name in ("hard", "easy", "random")],
        100,
        1,
        progress=lambda done, total: told.append((done, total)),
    )
    assert [(r.a, r.b) for r in results] == [
        ("hard", "easy"),
        ("hard", "random"),
        ("easy", "random"),
    ]
    assert told == [(100, 300), (200, 300), (300, 300)]


def test_a_policy_is_evaluated_against_the_bots() -> None:
    results = evaluate(Even(), "block", ["random", "hard"], 2000, seed=4)
    assert list(results) == ["random", "hard"]
    assert results["random"].win_rate == pytest.approx(0.5, abs=0.04)
    assert results["hard"].win_rate < 0.42
    assert results["hard"] == evaluate(Even(), "block", ["hard"], 2000, seed=4)["hard"]


@pytest.mark.parametrize(
    ("moves", "message"),
    [
        (lambda o, m, u: m.argmin(axis=1), "bad: move .* is illegal; legal: "),
        (lambda o, m, u: np.full(len(m), 58), "bad: move 58 is illegal"),
        (lambda o, m, u: np.full(len(m), -1), "bad: move -1 is illegal"),
        (lambda o, m, u: m.argmax(axis=1)[:-1], "bad: moves must be integers of shape"),
        (lambda o, m, u: m.argmax(axis=1) * 1.0, "bad: moves must be .* not float64"),
    ],
)
def test_illegal_moves_of_outside_players_are_refused(moves: Any, message: str) -> None:
    with pytest.raises(ArenaError, match=message):
        rate("block", Entrant("bad", act=moves), scripted("random"), 20)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"deals": 0}, "deals must be an integer from 1"),
        ({"deals": True}, "deals must be"),
        ({"deals": 2.5}, "deals must be"),
        ({"seed": -1}, "seed must lie in"),
        ({"unit": "game"}, "unit must be one of hand, match"),
        ({"opening": "any"}, "opening must be one of both, rule, free"),
        ({"opening": "free"}, "opening=free: block opens every hand by rule"),
        ({"unit": "match", "opening": "both"}, "opening=both is for hands"),
    ],
)
def test_settings_out_of_range_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ArenaError, match=message):
        make_setting("block", **{"deals": 10, "seed": 1, **arguments})


def test_games_and_players_that_are_not_there_are_refused() -> None:
    with pytest.raises(RulesError, match="did you mean 'block'"):
        make_setting("blok", 10, 1)
    with pytest.raises(ArenaError, match="players: an arena needs two or more, not 1"):
        run_arena("block", [scripted("hard")], 10, 1)


def test_players_split_at_commas_outside_brackets() -> None:
    assert split_players("a, b(x=1,y=(2,3)) ,runs/c") == ["a", "b(x=1,y=(2,3))", "runs/c"]


def test_short_codes_name_the_bots() -> None:
    for name, code in BOTS.items():
        assert load_entrant(name, parse("block")) == Entrant(name, code)


def test_a_function_takes_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "some_bot.py").write_text(
        "def act(observation, mask):\n    return mask.argmax(axis=1)\nvalue = 3\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    rules = parse("block")
    player = load_entrant("some_bot:act", rules)
    assert player.name == "some_bot:act"
    assert 0.4 < rate("block", player, scripted("random"), 500) < 0.6
    with pytest.raises(EntrantError, match="some_bot:value can't be called"):
        load_entrant("some_bot:value", rules)
    with pytest.raises(EntrantError, match=r"some_bot:nothing: .*no attribute 'nothing'"):
        load_entrant("some_bot:nothing", rules)
    with pytest.raises(EntrantError, match="no_such_module:f: No module named"):
        load_entrant("no_such_module:f", rules)


class Loaded(Even):
    """What a checkpoint or a bundle is loaded as."""

    def __init__(self, game: str) -> None:
        self.rules = parse(game)


@pytest.mark.parametrize(
    ("module", "function", "spec"),
    [
        ("dominozoo_training.policy.checkpoint", "load_policy", "kept"),
        ("dominozoo.bots.bundle", "load_bot", "kept.dombot"),
    ],
)
def test_policies_take_part_in_the_game_that_they_were_made_for(
    module: str, function: str, spec: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stub = ModuleType(module)
    setattr(stub, function, lambda path: Loaded("block"))
    monkeypatch.setattr(stub, "policy_folder", Path, raising=False)
    monkeypatch.setitem(sys.modules, module, stub)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kept").mkdir()
    player = load_entrant(spec, parse("block(target=50)"))
    assert rate("block", player, scripted("hard"), 200) < 0.45
    for game in ("block(players=3)", "french"):
        with pytest.raises(EntrantError, match=f"{spec} was made for block, it can't play"):
            load_entrant(spec, parse(game))

    def broken(path: Path) -> None:
        raise ValueError(f"{path}: it is damaged")

    setattr(stub, function, broken)
    with pytest.raises(EntrantError, match=f"players: {spec}: it is damaged"):
        load_entrant(spec, parse("block"))


def test_a_checkpoint_without_torch_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "dominozoo_training.policy.checkpoint", None)
    with pytest.raises(EntrantError, match="pip install 'dominozoo\\[train\\]'"):
        load_entrant(str(tmp_path), parse("block"))


def run(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["arena", *arguments])


def test_the_json_is_the_contract(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["dominozoo", "arena", "chiva(target=5)"])
    path = tmp_path / "result.json"
    arguments = ("chiva(target=5)", "--players", "hard,easy,random", "--deals", "40", "--seed", "7")
    result = run(*arguments, "--json", str(path))
    assert result.exit_code == 0, result.output
    written = json.loads(path.read_text())
    apart = ("results", "entrants", "ratings", "command", "machine")
    assert {k: v for k, v in written.items() if k not in apart} == {
        "game": "chiva(target=5)",
        "unit": "hand",
        "opening": "both",
        "deals": 40,
        "rotations": 2,
        "seed": 7,
        "format": "all",
        "rounds": None,
        "until_ci": None,
        "version": dominozoo.__version__,
    }
    assert written["entrants"][1] == {
        "name": "easy",
        "cheats": False,
        "decisions": 0,
        "seconds_per_decision": None,
        "fallbacks": {"illegal": 0, "crashed": 0, "late": 0},
        "style": None,
    }
    assert [row["name"] for row in written["ratings"]["rows"]] == ["hard", "easy", "random"]
    assert list(written["ratings"]) == ["method", "scale", "rows"]
    assert written["command"] == "dominozoo arena 'chiva(target=5)'"
    assert "cores" in written["machine"]
    assert len(written["results"]) == 3
    for row in written["results"]:
        assert list(row) == ["a", "b", "games", "win_rate", "low", "high", "points"]
        assert row["games"] == 80
        assert 0 <= row["low"] <= row["win_rate"] <= row["high"] <= 1
    assert "hard" in result.stdout
    assert [file.name for file in tmp_path.iterdir()] == ["result.json"]
    alone = run(*arguments, "--json", "-")
    assert json.loads(alone.stdout) == written


def test_the_title_names_what_was_played() -> None:
    for unit, several in (("hand", "hands"), ("match", "matches")):
        result = run("block", "--players", "hard,random", "--deals", "4", "--unit", unit)
        assert f"block: {several}, opening" in " ".join(result.stdout.split())


def test_the_list_tells_how_each_bot_plays_in_both_families() -> None:
    result = CliRunner().invoke(app, ["list"])
    assert "Domino Le Truc" in result.stdout
    assert "counts" in result.stdout
    assert "bluffs" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("blok", "--players", "hard,hard"), "did you mean 'block'"),
        (("block(players=7)", "--players", "hard,hard"), "players=7 is not taken"),
        (("block", "--players", "hrad,hard"), "players: 'hrad' is nobody (did you mean 'hard'?)"),
        (("block", "--players", "hard"), "players: an arena needs two or more"),
        (("block", "--players", "hard,"), "players: '' is nobody"),
        (("block", "--players", "hard,none.dombot"), "none.dombot"),
        (("block", "--players", "hard,hard", "--deals", "0"), "deals must be"),
        (("block", "--players", "hard,hard", "--seed", "-4"), "seed must lie in"),
        (("block", "--players", "hard,hard", "--unit", "x"), "unit must be one of"),
        (("block", "--players", "hard,hard", "--opening", "free"), "opening=free"),
        (("block", "--players", "hard,hard", "--json", "nowhere/x.json"), "json: the folder"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(
    arguments: tuple[str, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run(*arguments, *([] if "--json" in arguments else ["--json", "x.json"]))
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""
    assert not list(tmp_path.iterdir())


def test_a_file_that_cannot_be_replaced_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    result = run(
        "block", "--players", "hard,easy", "--deals", "5", "--json", str(tmp_path / "taken")
    )
    assert result.exit_code == 2
    assert "can't be written" in result.stderr


def test_the_arena_of_scripted_bots_needs_no_torch(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "sys.modules.update(dict.fromkeys(['torch', 'yaml', 'safetensors', 'onnx']))\n"
        "sys.argv = ['dominozoo', 'arena', 'block', '--players', 'hard,random', '--deals', '50',"
        " '--json', '-']\n"
        "from dominozoo_training.cli import main\nmain()"
    )
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["results"][0]["games"] == 100


def test_settings_do_not_change() -> None:
    setting = make_setting("block", 3, 1)
    assert setting == Setting(parse("block"), 3, 1, "hand", "rule")
    with pytest.raises(AttributeError):
        setting.deals = 4  # type: ignore[misc]


def test_a_player_that_fails_is_named_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "faulty.py").write_text("def play(observation, mask):\n    return 1 / 0\n")
    monkeypatch.chdir(tmp_path)
    words = ["arena", "block", "--players", "faulty:play,hard", "--deals", "20", "--strict"]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 2
    assert "faulty:play failed: ZeroDivisionError" in result.output


def test_a_bot_plays_its_own_game_alone() -> None:
    path = str(SHIPPED / "block_v0.dombot")
    with pytest.raises(EntrantError, match="was made for block, it can't play draw"):
        load_entrant(path, parse("draw"))
    assert load_entrant(path, parse("block(target=50)")).name == path
