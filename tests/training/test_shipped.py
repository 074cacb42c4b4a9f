"""The bots that come with the package: the checkpoints' own, and they play as they say."""

import json
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from typer.testing import CliRunner

from dominozoo import load_bot
from dominozoo.bots.bundle import read_bundle
from dominozoo.bots.shipping import SHIPPED, game_of, shipped_for, shipped_games, stem_of
from dominozoo.rules import parse
from dominozoo_training.cli import app
from dominozoo_training.evaluation.arena import evaluate
from dominozoo_training.evaluation.entrants import load_entrant
from dominozoo_training.export.parity import check_bundle
from dominozoo_training.policy.checkpoint import load_policy

CHECKPOINTS = Path(__file__).resolve().parents[2] / "checkpoints"
BUNDLES = sorted(SHIPPED.glob("*.dombot"))

pytestmark = pytest.mark.once


def test_every_game_and_number_of_players_ships_a_bot() -> None:
    assert set(shipped_games()) == {
        *("block", "block(players=3)", "block(players=4)"),
        *("draw", "draw(players=3)", "draw(players=4)"),
        *("cutthroat", "cutthroat(players=2)", "cutthroat(players=2, draw=True)"),
        *("cutthroat(players=3)", "chiva", "chiva(players=2)", "chiva(players=3)"),
        *("partnership", "six_love", "french", "truc"),
    }


@pytest.mark.parametrize("path", BUNDLES, ids=lambda p: p.stem)
def test_a_shipped_bot_is_its_checkpoints(path: Path) -> None:
    folder = CHECKPOINTS / path.stem
    assert path.read_bytes() == (folder / "bot.dombot").read_bytes()
    weights = load_bot(game_of(path.stem)).bundle.members["weights.safetensors"]
    assert weights == (folder / "weights.safetensors").read_bytes()


@pytest.mark.parametrize("path", BUNDLES, ids=lambda p: p.stem)
def test_a_shipped_bot_passes_its_vectors_in_every_reader(path: Path) -> None:
    report = check_bundle(read_bundle(path))
    assert set(report.vectors) == {"NumPy", "onnxruntime", "PyTorch", "views"}
    assert set(report.games) == {"NumPy", "onnxruntime", "PyTorch", "engine"}
    assert report.failed == ""
    assert report.count[:2] >= (128, 3)
    assert path.stat().st_size <= 600_000


@pytest.mark.parametrize("path", BUNDLES, ids=lambda p: p.stem)
def test_a_shipped_bot_plays_as_strongly_as_its_card_says(path: Path) -> None:
    bot = load_bot(path)
    strength = bot.bundle.manifest["strength"]
    claimed = {entry["opponent"]: entry for entry in strength if entry["unit"] == "hand"}
    results = evaluate(bot, bot.rules, ["random", "hard"], deals=1000, seed=77)
    for name, result in results.items():
        margin = 3 * (result.high - result.low) / 4
        assert abs(result.win_rate - claimed[name]["win_rate"]) < margin


@pytest.mark.parametrize("path", BUNDLES, ids=lambda p: p.stem)
def test_a_shipped_bot_and_its_checkpoint_choose_alike(path: Path) -> None:
    from dominozoo.tables import Tables

    bot, policy = load_bot(path), load_policy(CHECKPOINTS / path.stem)
    tables = Tables(bot.rules, 64, seed=3, auto_forced=True)
    for _ in range(10):
        chances = bot.probabilities(tables.observation, tables.mask)
        assert np.allclose(
            chances, policy.probabilities(tables.observation, tables.mask), atol=1e-5
        )
        tables.step(chances.argmax(axis=1))


@pytest.mark.parametrize("path", BUNDLES, ids=lambda p: p.stem)
def test_a_checkpoint_is_small_and_its_card_repeats_its_figures(path: Path) -> None:
    folder, policy = CHECKPOINTS / path.stem, load_policy(CHECKPOINTS / path.stem)
    assert (folder / "weights.safetensors").stat().st_size <= 300_000
    card = (folder / "card.md").read_text()
    assert f"`{policy.meta['command']}`" in card
    assert f"{policy.meta['decisions']:,} decisions" in card
    assert "## Weaknesses" in card
    for entry in policy.meta["strength"]:
        assert f"| {100 * entry['win_rate']:.2f} % | {100 * entry['low']:.2f}.." in card
    assert {entry["unit"] for entry in policy.meta["strength"]} == {"hand", "match"}


def test_le_truc_ships_a_bot_that_draws_and_beats_hard() -> None:
    bot = load_bot("truc")
    assert bot.bundle.sampled
    matches = {
        entry["opponent"]: entry
        for entry in bot.bundle.manifest["strength"]
        if entry["unit"] == "match"
    }
    assert set(matches) == {"random", "normal", "hard"}
    assert matches["hard"]["win_rate"] > 0.55


@pytest.mark.parametrize("path", BUNDLES, ids=lambda p: p.stem)
def test_a_shipped_bot_is_found_by_its_game(path: Path) -> None:
    game = game_of(path.stem)
    assert stem_of(parse(game)) == path.stem
    assert game in shipped_games()
    assert load_bot(game).rules == parse(game)


def test_info_and_verify_take_the_name_of_a_bot_that_ships() -> None:
    shown = CliRunner().invoke(app, ["info", "french"])
    assert json.loads(shown.output)["id"] == "french"
    assert CliRunner().invoke(app, ["verify", "french_v0"]).exit_code == 0
    assert CliRunner().invoke(app, ["info", "nobody"]).exit_code == 2


def test_of_other_options_the_most_alike_ships() -> None:
    found = {
        game: shipped_for(parse(game))
        for game in ("block(target=50)", "partnership(target=3)", "truc(target=12)")
    }
    assert [path.stem for path in found.values() if path] == [
        "block_v0",
        "partnership_v0",
        "truc_v0",
    ]


def test_the_shipped_bot_is_a_player_of_the_arena_and_an_opponent() -> None:
    bot = load_entrant("shipped", parse("block(target=50)"))
    assert (bot.name, bool(bot.mark)) == ("shipped", True)
    env = gymnasium.make("dominozoo/Block-v0", opponents="shipped")
    observation, _ = env.reset(seed=1)
    env.step(int(np.flatnonzero(observation["action_mask"])[0]))


def test_a_name_without_a_shipped_bot_is_read_as_a_path() -> None:
    with pytest.raises(ValueError, match="nobody"):
        load_bot("nobody")
    assert str(parse("block")) == str(load_bot("block").rules)
