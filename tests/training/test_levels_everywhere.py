"""A level is the same in every reader and at the server; export measures it; weights of 16 bits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from typer.testing import CliRunner

from dominozoo.bots.archive import CARD, GAMES, GRAPH, VECTORS, WEIGHTS
from dominozoo.bots.bundle import Bundle, load_bot, read_bundle
from dominozoo.bots.levels import UNMEASURED, at_level, choose
from dominozoo.bots.shipping import SHIPPED
from dominozoo_training.cli import app
from dominozoo_training.evaluation.arena import make_setting, play_pair
from dominozoo_training.evaluation.entrants import EntrantError, load_entrant, scripted
from dominozoo_training.export import bundle as exporting
from dominozoo_training.export.games import read_games
from dominozoo_training.export.packing import ExportError
from dominozoo_training.export.parity import check_bundle
from dominozoo_training.export.positions import positions
from dominozoo_training.export.protocol import Desk, uniforms
from dominozoo_training.export.readers import readers_of
from dominozoo_training.export.strength import SEED, in_order, remark, unmeasured
from dominozoo_training.policy.checkpoint import Policy

Array = npt.NDArray[Any]


def clear(chances: Array, temperature: float) -> Array:
    """Where the last bit of a probability can't change what is played; bool (B,)."""
    best = np.sort(chances, axis=1)[:, -2:]
    found: Array = np.full(len(chances), temperature > 0) | (best[:, 1] - best[:, 0] > 1e-4)
    return found


@pytest.mark.parametrize("game", ["block", "truc"])
def test_every_reader_has_the_same_chances_at_every_level(game: str) -> None:
    bundle = read_bundle(SHIPPED / f"{game}_v0.dombot")
    where = positions(bundle.rules, 512, seed=4)
    answers = {
        name: reader.evaluate(where.observation, where.mask)[0]
        for name, reader in readers_of(bundle).items()
    }
    assert set(answers) == {"NumPy", "onnxruntime", "PyTorch"}
    for level in bundle.levels.values():
        sure = clear(answers["PyTorch"], level.temperature)
        assert sure.sum() > 300
        right = at_level(answers["PyTorch"], where.mask, level)[sure]
        for found in answers.values():
            np.testing.assert_allclose(at_level(found, where.mask, level)[sure], right, atol=1e-5)


def decisions(bundle: Bundle) -> list[tuple[dict[str, Any], Array, Array]]:
    """Views of a bundle's golden games with more than one legal move, their masks and chances."""
    found = []
    for game in read_games(bundle.members[GAMES], bundle):
        some = game.decisions
        for k, view in enumerate(some.views):
            if some.mask[k].sum() > 1 and clear(some.probabilities[k : k + 1], 0)[0]:
                assert view is not None
                found.append((view, some.mask[k : k + 1], some.probabilities[k : k + 1]))
    return found[::4]


@pytest.mark.parametrize("game", ["block", "truc"])
def test_the_server_plays_a_level_as_the_bundle_says(game: str) -> None:
    bot = load_bot(game)
    desk, played = Desk([bot]), set()
    for view, mask, chances in decisions(bot.bundle):
        for name, level in bot.bundle.levels.items():
            for seed in range(12):
                ask = {"op": "ask", "view": view, "level": name, "seed": seed, "time_ms": 10_000}
                answer = json.loads(desk.answer(json.dumps(ask).encode()).model_dump_json())
                first, second = (np.array([u]) for u in uniforms(seed))
                assert answer["action"] == choose(chances, mask, level, first, second)[0]
                played.add((name, answer["action"] == chances.argmax()))
    assert {("easy", False), ("easy", True), ("normal", False), ("hard", True)} <= played


def test_hello_tells_the_levels_and_their_strength() -> None:
    bot = load_bot("block")
    hello = json.loads(Desk([bot]).answer(b'{"op": "hello"}').model_dump_json())
    assert hello["bots"][0]["levels"] == bot.bundle.manifest["levels"]


@pytest.mark.parametrize("path", sorted(SHIPPED.glob("*.dombot")), ids=lambda path: path.stem)
def test_levels_that_ship_are_measured_and_clearly_apart(path: Path) -> None:
    bundle = read_bundle(path)
    levels = bundle.manifest["levels"]
    assert in_order(levels)
    card = bundle.members[CARD].decode()
    for level in levels.values():
        assert {row["opponent"] for row in level["strength"]} == {"random", "normal", "hard"}
        for row in level["strength"]:
            assert row["low"] < row["win_rate"] < row["high"]
            assert f"| {100 * row['win_rate']:.2f} % | {100 * row['low']:.2f}.." in card
    assert bundle.manifest["goal"].startswith("maximises ")
    assert f"it {bundle.manifest['goal']}." in card
    shown = json.loads(CliRunner().invoke(app, ["info", str(path)]).output)
    assert (shown["levels"], shown["goal"]) == (levels, bundle.manifest["goal"])


def test_a_level_in_the_arena_wins_what_its_manifest_says() -> None:
    path, setting = SHIPPED / "block_v0.dombot", make_setting("block", 4000, SEED, "hand", "rule")
    strength = read_bundle(path).manifest["levels"]["easy"]["strength"]
    claimed = next(row for row in strength if row["opponent"] == "random")
    player = load_entrant(f"{path}@easy", setting.rules)
    result = play_pair(setting, player, scripted("random"))
    assert result.games == claimed["games"]
    # The same draws; where both ends show the same number the last bit of two readers may differ.
    assert abs(result.win_rate - claimed["win_rate"]) < 0.002
    with pytest.raises(EntrantError, match="its levels are easy, normal, hard, not 'best'"):
        load_entrant(f"{path}@best", setting.rules)


# Exporting.


@pytest.fixture(scope="module")
def half(policy: Policy, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle with weights of 16 bits, its levels measured over a few deals."""
    path = tmp_path_factory.mktemp("half") / "half.dombot"
    told: list[str] = []
    exporting.export_policy(policy, path, half=True, deals=8, report=told.append)
    assert len(told) == 9
    assert told[0].startswith("easy against random: ")
    return path


def test_weights_of_16_bits_are_half_as_large_and_self_consistent(
    half: Path, exported: Path, policy: Policy
) -> None:
    bundle, whole = read_bundle(half), read_bundle(exported)
    network = bundle.manifest["network"]
    assert (network["weights"], whole.manifest["network"]["weights"]) == ("F16", "F32")
    sizes = [len(one.members[WEIGHTS]) for one in (bundle, whole)]
    assert sizes[0] < 0.6 * sizes[1]
    assert half.stat().st_size < exported.stat().st_size
    assert check_bundle(bundle).failed == ""  # to the same tolerance as any other
    where = positions(policy.rules, 512, seed=8)
    chances = load_bot(half).probabilities(where.observation, where.mask)
    off = np.abs(chances - policy.probabilities(where.observation, where.mask)).max()
    assert 0 < off < 1.5 * network["rounding"]
    assert "rounding" not in whole.manifest["network"]
    assert bundle.members[VECTORS] != whole.members[VECTORS]


def test_rounding_that_changes_too_much_is_refused(
    policy: Policy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporting, "HALF_TOLERANCE", 1e-9)
    with pytest.raises(ExportError, match=r"fp16: rounded weights change .* without --fp16"):
        exporting.export_policy(policy, tmp_path / "x.dombot", half=True)
    assert not list(tmp_path.iterdir())


def test_levels_are_measured_when_asked(half: Path, exported: Path) -> None:
    levels = read_bundle(half).manifest["levels"]
    assert [row["opponent"] for row in levels["easy"]["strength"]] == ["random", "normal", "hard"]
    row = levels["hard"]["strength"][0]
    assert (row["games"], row["unit"], row["opening"], row["seed"]) == (16, "hand", "rule", 3000017)
    assert remark(levels).startswith("NOT clearly easy < normal < hard")
    unmeasured_levels = read_bundle(exported).manifest["levels"]
    assert unmeasured_levels == unmeasured(read_bundle(exported).rules)
    assert {level["strength"] for level in unmeasured_levels.values()} == {UNMEASURED}
    assert remark(unmeasured_levels) == "not measured; --deals 20000 measures them"
    assert "| easy | 0.6 | 0 | not measured |" in read_bundle(exported).members[CARD].decode()
    assert read_bundle(half).members[GRAPH] != read_bundle(exported).members[GRAPH]
