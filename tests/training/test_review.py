"""Reviews: what moves were worth, what the played ones lost, and whose games can be looked at."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from dominozoo import block_v0, french_v0, truc_v0
from dominozoo.notation import replay, write_record
from dominozoo.rules import parse
from dominozoo_training.cli import app
from dominozoo_training.evaluation.entrants import load_entrant, scripted
from dominozoo_training.evaluation.review import judge, mean_by_group
from dominozoo_training.evaluation.review_command import prepare
from dominozoo_training.evaluation.review_games import (
    ReviewError,
    from_games,
    game_of,
    play_hands,
    read_games,
    retrace,
)
from dominozoo_training.evaluation.review_opinions import expected
from dominozoo_training.evaluation.review_page import write_page

RUN = CliRunner()
HARD, RANDOM = scripted("hard"), scripted("random")


def record(module: Any, seed: int, moves: int) -> list[dict[str, Any]]:
    """The record of a game of random moves."""
    env, rng = module.raw_env(), np.random.default_rng(seed)
    env.reset(seed=seed)
    for _ in range(moves):
        if any(env.terminations.values()):
            break
        mask = env.observe(env.agent_selection)["action_mask"]
        env.step(int(rng.choice(np.flatnonzero(mask))))
    lines: list[dict[str, Any]] = env.record()
    return lines


def test_who_plays_worse_loses_more_and_repeats_so() -> None:
    for game in ("block", "partnership", "truc"):
        played = play_hands(parse(game), [HARD, RANDOM], hands=40, seed=3)
        review = judge(played, deals=8, budget=2000)
        again = judge(play_hands(parse(game), [HARD, RANDOM], hands=40, seed=3), 8, 2000)
        hard, fool = review.summary()
        assert hard.loss < fool.loss
        assert hard.low <= hard.loss <= hard.high
        assert review.as_json(every=True) == again.as_json(every=True)
        assert review.losses.min() >= 0
        worst = review.costliest()
        assert worst[0] == int(review.losses.argmax())


def test_a_search_by_the_same_deals_loses_little() -> None:
    rules = parse("block")
    played = play_hands(rules, [load_entrant("search(deals=40)", rules), RANDOM], hands=30, seed=1)
    search, fool = judge(played, deals=40, objective="win").summary()
    assert search.best > 0.8
    assert search.loss < 0.02 < fool.loss


def test_the_last_decision_is_valued_exactly() -> None:
    """Where all deals lead to the same, values are what the hand then scores."""
    played = play_hands(parse("partnership"), [RANDOM], hands=30, seed=2)
    review = judge(played, deals=4)
    one = np.flatnonzero(
        [(t["sizes"] == 1).sum() == 4 or t["sizes"].sum() <= 2 for t in played.tables]
    )
    for k in one.tolist():
        assert set(np.unique(review.values[k, : review.counts[k]])) <= {-1.0, 0.0, 1.0}


def test_a_policy_tells_its_chances_and_what_it_expects() -> None:
    rules = parse("block")
    bot = load_entrant("checkpoints/block_v0", rules)
    review = judge(play_hands(rules, [bot, HARD], hands=6, seed=1), deals=5)
    mine = review.played.player == 0
    assert np.allclose(np.nansum(review.chances[mine], axis=1), 1, atol=1e-4)
    assert np.isnan(review.chances[~mine]).all()
    assert np.isfinite(review.worth[mine]).all()
    decision = review.decision(int(np.flatnonzero(mine)[0]))
    assert sum(move["probability"] for move in decision["moves"]) == pytest.approx(1, abs=1e-4)
    assert review.decision(int(np.flatnonzero(~mine)[0]))["policy_value"] is None


@pytest.mark.parametrize("game", ["block", "chiva(players=3)", "french", "truc"])
def test_the_hand_played_can_be_played_again(game: str) -> None:
    played = play_hands(parse(game), [HARD], hands=3, seed=5)
    again = from_games([game_of(played)])
    first = played.game == 0
    assert again.action.tolist() == played.action[first].tolist()
    for name in ("hands", "turn"):
        assert np.array_equal(again.tables[name], played.tables[name][first])


@pytest.mark.parametrize("module", [block_v0, truc_v0])
def test_records_are_read_several_a_file_and_over_several_hands(
    module: Any, tmp_path: Path
) -> None:
    lines = [record(module, seed, 60) for seed in (1, 2)]
    write_record(tmp_path / "games.jsonl", [*lines[0], *lines[1]])
    games = read_games([tmp_path / "games.jsonl"])
    assert len(games) == 2
    assert games[1].actions() == replay(lines[1]).actions()
    played = from_games(games, [HARD])
    assert played.tables["hand_number"].max() > 1
    assert played.names == [f"seat {seat}" for seat in range(2)]
    assert played.asked == ["hard"] * 2  # one name for all seats is repeated
    choices = [action for game in games for _, action in retrace(game)]
    assert played.action.tolist() == choices
    review = judge(played, deals=3)
    assert len(review.as_json(every=True)["decisions"]) == len(choices)
    with pytest.raises(ReviewError, match="can't be reviewed together"):
        from_games([games[0], replay(record(truc_v0 if module is block_v0 else block_v0, 1, 5))])


def test_the_interval_counts_hands_and_not_decisions() -> None:
    values = np.repeat([0.0, 1.0, 2.0, 3.0], 50)
    low, mean, high = mean_by_group(values, np.repeat(np.arange(4), 50))
    assert mean == 1.5
    assert high - mean > 1.9  # Student's 3.18 * 1.29 / 2
    assert low == 0.0
    assert mean_by_group(np.ones(3), np.zeros(3))[0] == 1.0


def test_command_prints_and_writes(tmp_path: Path) -> None:
    page, result = tmp_path / "page.html", tmp_path / "result.json"
    words = ["review", "truc", "--players", "hard", "--games", "1", "--deals", "4"]
    told = RUN.invoke(app, [*words, "--html", str(page), "--json", str(result)])
    assert told.exit_code == 0, told.output
    assert "mean loss" in told.output
    data = json.loads(result.read_text())
    text = page.read_text()
    assert text.count("<svg") == len(data["decisions"]) == text.count('class="played"')
    assert "not solved" in text
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")
    assert math.isclose(
        data["players"][0]["mean_loss"], np.mean([d["loss"] for d in data["decisions"]])
    )
    write_record(tmp_path / "one.jsonl", record(block_v0, 4, 30))
    told = RUN.invoke(app, ["review", str(tmp_path / "one.jsonl"), "--deals", "3", "--json", "-"])
    assert [p["name"] for p in json.loads(told.output)["players"]] == ["seat 0", "seat 1"]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["one.jsonl", "page.html", "result.json"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["blok"], "did you mean 'block'"),
        (["gone.jsonl"], "no file gone.jsonl"),
        (["block", "gone.jsonl"], "no file block"),
        (["tests"], "tests is a folder; name the files in it"),
        (["block", "tests"], "no file block"),
        (["README.md", "tests"], "tests is a folder; name the files in it"),
        (["block", "--games", "0"], "games: must be at least 1"),
        (["block", "--games", "2", "--html", "x.html"], "html: a page shows one game"),
        (["block", "--games", "1", "--deals", "0"], "deals: must be an integer in 1..10000"),
        (["block", "--games", "1", "--objective", "luck"], "objective: must be points or win"),
        (["block", "--players", "hard,hard,hard"], "block has 2 seats, not 3"),
        (["block", "--players", "hart"], "did you mean 'hard'"),
    ],
)
def test_errors_are_one_line_that_names_the_field(words: list[str], told: str) -> None:
    result = RUN.invoke(app, ["review", *words])
    assert result.exit_code == 2
    assert told in result.output
    assert len(result.output.strip().splitlines()) == 1


def test_a_record_that_lies_is_refused_with_file_and_line(tmp_path: Path) -> None:
    lines = record(block_v0, 1, 8)
    lines[3]["seat"] = 1 - lines[3]["seat"]
    write_record(tmp_path / "bad.jsonl", lines)
    with pytest.raises(ReviewError, match=r"bad\.jsonl: line 4: seat"):
        read_games([tmp_path / "bad.jsonl"])
    (tmp_path / "empty.jsonl").write_text("")
    with pytest.raises(ReviewError, match="holds no game"):
        read_games([tmp_path / "empty.jsonl"])
    (tmp_path / "bytes.jsonl").write_bytes(b'{"kind":\xff}')
    with pytest.raises(ReviewError, match=r"bytes\.jsonl: is no game record: byte 9 is no UTF-8"):
        read_games([tmp_path / "bytes.jsonl"])
    with pytest.raises(ReviewError, match="is a folder"):
        read_games([tmp_path])


def test_the_moves_of_a_record_are_its_seats_and_opinions_are_told_apart(tmp_path: Path) -> None:
    game = replay(record(block_v0, 4, 30))
    asked = [HARD, load_entrant("checkpoints/block_v0", parse("block"))]
    review, nobody = judge(from_games([game], asked), deals=3), judge(from_games([game]), deals=3)
    data = review.as_json(every=True)
    assert data["players"] == nobody.as_json(every=True)["players"]
    assert [p["name"] for p in data["players"]] == ["seat 0", "seat 1"]
    assert data["asked"] == ["hard", "checkpoints/block_v0"]
    for decision in data["decisions"]:
        assert decision["player"] == f"seat {decision['seat']}"
        assert decision["opinion"]["of"] == data["asked"][decision["seat"]]
        assert decision["opinion"]["id"] in [move["id"] for move in decision["moves"]]
        if decision["seat"] == 1:  # a policy's opinion is its likeliest move
            best = max(decision["moves"], key=lambda move: float(move["probability"]))
            assert decision["opinion"]["id"] == best["id"]
    assert nobody.decision(0)["opinion"] is None
    write_page(tmp_path / "page.html", review, game)
    text = (tmp_path / "page.html").read_text()
    told = text.replace("Opinion of hard: ", "").replace("Opinion of block_v0: ", "")
    assert "hard" not in told.replace("played on by hard", "")
    assert "block_v0" not in told.replace("chance by block_v0", "")
    assert "It expects " in text
    assert "at end" not in text
    words = ["review", str(tmp_path / "one.jsonl"), "--deals", "2", "--players", "hard"]
    write_record(tmp_path / "one.jsonl", record(block_v0, 4, 30))
    shown = RUN.invoke(app, words).output
    assert "opinion of" in shown
    assert "hard: " in shown
    rows = [line for line in shown.splitlines() if " seat 0 " in line]
    assert rows
    assert not any(line.startswith("│ hard") for line in shown.splitlines())


def test_what_a_policy_expects_is_told_in_the_unit_of_the_values() -> None:
    assert expected(parse("block"), "points", 0.25) == (25.0, "points")
    assert expected(parse("partnership"), "points", 1.5) == (1.5, "points")
    assert expected(parse("block"), "win", 0.5) == (0.75, "share of the hand")
    assert expected(parse("chiva(players=3)"), "win", -0.5) == (0.0, "share of the hand")
    assert expected(parse("truc"), "match", 1.0) == (1.0, "share of the match")
    assert expected(parse("french"), "win", 0.5)[0] == 0.5  # losers' shares differ there


def test_arms_and_sides_are_named_as_in_the_picture(tmp_path: Path) -> None:
    for module, told, never in ((french_v0, "on arm 2", " left<"), (block_v0, " left<", "arm")):
        game = replay(record(module, 4, 40))
        write_page(tmp_path / "page.html", judge(from_games([game]), 2, 500), game)
        tables = (tmp_path / "page.html").read_text().split("<table>")
        cells = "".join(part.split("</table>")[0] for part in tables)
        assert told in cells
        assert never not in cells


def test_a_record_that_stops_in_mid_hand_is_reviewed_with_a_note(tmp_path: Path) -> None:
    write_record(tmp_path / "cut.jsonl", record(block_v0, 1, 9))
    page = tmp_path / "page.html"
    words = ["review", str(tmp_path / "cut.jsonl"), "--deals", "2", "--html", str(page)]
    told = RUN.invoke(app, words)
    assert told.exit_code == 0, told.output
    for text in (told.output, page.read_text()):
        assert "stops in mid-hand: game 1, hand 1." in text
    assert from_games(read_games([tmp_path / "cut.jsonl"])).unfinished == [(0, 1)]
    whole = from_games([game_of(play_hands(parse("block"), [HARD], hands=1, seed=5))])
    assert whole.unfinished == []


@pytest.mark.parametrize(
    ("game", "budget", "told"),
    [
        ("block(players=3)", 50, True),
        ("block(players=3)", 0, False),
        ("block", 50, False),
        ("partnership", 50, False),
    ],
)
def test_what_is_solved_against_all_others_together_is_told(
    game: str, budget: int, told: bool, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    words = ["review", game, "--games", "1", "--deals", "1", "--budget", str(budget)]
    shown = RUN.invoke(app, [*words, "--html", str(page)])
    assert shown.exit_code == 0, shown.output
    for text in (" ".join(shown.output.split()), page.read_text()):
        assert ("all others join against the seat" in text) == told
        assert ("solved or played on by hard" in text) == (budget > 0)


def test_options_are_checked_before_anything_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    def compiling(*_: object) -> None:
        raise AssertionError("too late")

    monkeypatch.setattr("dominozoo_training.cli.say_if_compiling", compiling)
    for words in (["--games", "20", "--html", "x.html"], ["--deals", "0"], ["--players", "hart"]):
        assert RUN.invoke(app, ["review", "block", *words]).exit_code == 2
    assert prepare(["block"], None, 1, page=True).hands == 1
