"""Who can take part beside the scripted bots: searchers, models of other libraries, samplers."""

from __future__ import annotations

import io
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
import pytest
from typer.testing import CliRunner

import dominozoo  # noqa: F401  (registers the environments)
from dominozoo.rules import parse
from dominozoo_training.cli import app
from dominozoo_training.evaluation.arena import run_arena
from dominozoo_training.evaluation.entrants import (
    KINDS,
    Entrant,
    EntrantError,
    Kind,
    load_entrant,
    scripted,
)
from dominozoo_training.play import load_player
from dominozoo_training.watch import Show

Array = npt.NDArray[Any]


def test_a_searcher_is_loaded_with_its_options() -> None:
    player = load_entrant("search(deals=3,budget=50)", parse("block"))
    assert (player.name, player.cheats, player.slow) == ("search(deals=3,budget=50)", False, True)
    assert load_entrant("omniscient", parse("block")).cheats
    assert load_entrant("omniscient", parse("block")).label == "omniscient (sees all tiles)"
    for spec, told in (
        ("search(deal=3)", "search has no option 'deal' .did you mean 'deals'"),
        ("search(deals=0)", "deals must be an integer in 1"),
        ("serach(deals=3)", "'serach.deals=3.' is nobody .did you mean 'search'"),
        ("omnicient", "did you mean 'omniscient'"),
        ("search(", "nobody|closing|search"),
    ):
        with pytest.raises(EntrantError, match=told) as error:
            load_entrant(spec, parse("block"))
        assert str(error.value).startswith("players: ")
        assert str(error.value).count("players: ") == 1


def test_who_sees_all_tiles_wins_more_than_any_bot() -> None:
    players = [load_entrant("omniscient", parse("block")), scripted("hard")]
    assert run_arena("block", players, 150, 1)[0].low > 0.62


def test_a_searcher_plays_in_the_terminal_and_is_watched() -> None:
    rules = parse("block")
    player = load_entrant("search(deals=2,budget=10)", rules)
    frames = list(Show(rules, [player, scripted("random")], 3, 1).frames())
    assert frames == list(Show(rules, [player, scripted("random")], 3, 1).frames())
    assert load_player("search(deals=2,budget=10)", rules).policy is None
    result = CliRunner().invoke(
        app,
        ["play", "block", "--against", "search(deals=2,budget=10)", "--hands", "1", "--seed", "3"],
        input="\n".join([*(f"{k} l" for k in range(1, 8)), "p"] * 40),
    )
    assert result.exit_code == 0, result.output
    assert "The hands are played." in result.output


class Sure:
    """A policy that likes the first legal action three times as well as the last one."""

    rules = parse("truc")

    def probabilities(self, observation: Array, mask: Array) -> Array:
        rows, chances = np.arange(len(mask)), np.zeros(mask.shape)
        chances[rows, mask.argmax(axis=1)] += 0.75
        chances[rows, mask.shape[1] - 1 - mask[:, ::-1].argmax(axis=1)] += 0.25
        return chances


def test_policies_draw_their_moves_in_le_truc(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stub = ModuleType("dominozoo.bots.bundle")
    monkeypatch.setattr(stub, "load_bot", lambda path: Sure(), raising=False)
    monkeypatch.setitem(sys.modules, "dominozoo.bots.bundle", stub)
    act = load_entrant("x.dombot", parse("truc")).act
    assert act is not None
    moves = act(np.zeros((4, 1)), np.ones((4, 5)), np.array([0.1, 0.7, 0.8, 0.99]))
    assert moves.tolist() == [0, 0, 4, 4]


def test_kinds_can_be_added_in_one_place(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = Kind(
        "a lodger",
        lambda spec: spec.startswith("lodger:"),
        lambda spec, rules: Entrant(spec, act=lambda o, m, u: m.argmax(axis=1)),
    )
    monkeypatch.setattr("dominozoo_training.evaluation.entrants.KINDS", [kind, *KINDS])
    assert load_entrant("lodger:1", parse("block")).loaded
    with pytest.raises(EntrantError, match=r"name a lodger, a bot .random, .* or module:callable"):
        load_entrant("nobody", parse("block"))


# Models of Stable-Baselines3


def model_of(kind: str, path: Path, seed: int = 1) -> Any:
    """An untrained model that saw what ``kind`` says, saved."""
    contrib = pytest.importorskip("sb3_contrib")
    baselines = pytest.importorskip("stable_baselines3")
    from dominozoo.single.sb3 import SeatVecEnv

    more: dict[str, Any] = {"n_steps": 8, "batch_size": 8, "seed": seed, "device": "cpu"}
    if kind == "dict":
        env = gymnasium.make("dominozoo/Block-v0", opponents="random", max_hands=1)
        model = baselines.PPO("MultiInputPolicy", env, **more)
    else:
        tables = gymnasium.make_vec("dominozoo/Block-v0", num_envs=2, opponents="random")
        algorithm = contrib.MaskablePPO if kind == "masked" else baselines.PPO
        model = algorithm("MlpPolicy", SeatVecEnv(tables), learning_rate=lambda left: left, **more)
    model.save(path)
    return model


@pytest.fixture
def one_thread() -> Iterator[None]:
    """Small networks in one thread: more only wait for each other."""
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("one_thread")
@pytest.mark.parametrize("kind", ["masked", "onehot", "dict"])
def test_a_model_takes_part(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "model.zip"
    model_of(kind, path)
    player = load_entrant(str(path), parse("block"))
    result = run_arena("block", [player, scripted("random")], 60, 1)[0]  # legal moves alone
    assert 0.2 < result.win_rate < 0.8
    assert run_arena("block", [player, player], 10, 1)[0].win_rate == 0.5
    other = tmp_path / "other.zip"
    model_of(kind, other, seed=2)
    assert load_entrant(str(other), parse("block")).mark != player.mark


def test_a_model_plays_what_it_would_predict(tmp_path: Path) -> None:
    path = tmp_path / "model.zip"
    model = model_of("masked", path)
    from dominozoo.fields import LINE_LAYOUT
    from dominozoo.onehot import expand
    from dominozoo.tables import Tables

    tables = Tables("block", 200, seed=4)
    for _ in range(5):
        tables.step(tables.mask.argmax(axis=1))
    act = load_entrant(str(path), parse("block")).act
    assert act is not None
    seen = expand(LINE_LAYOUT, tables.observation)
    wanted, _ = model.predict(seen, action_masks=tables.mask, deterministic=True)
    found = act(tables.observation, tables.mask, np.zeros(200))
    assert (found == wanted).all()


def test_models_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.zip"
    model_of("masked", path)
    with pytest.raises(EntrantError, match="was made for 58 actions, french has 114"):
        load_entrant(str(path), parse("french"))
    with pytest.raises(EntrantError, match="was made for 58 actions, truc has 60"):
        load_entrant(str(path), parse("truc"))


def test_files_that_are_no_models_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.zip"
    with pytest.raises(EntrantError, match="No such file"):
        load_entrant(str(path), parse("block"))
    path.write_bytes(b"what?")
    with pytest.raises(EntrantError, match="is no model of Stable-Baselines3"):
        load_entrant(str(path), parse("block"))
    for text in ("{}", "[]", "what?", '{"policy_class": {"__module__": "stable_baselines3.dqn"}}'):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as file:
            file.writestr("data", text)
        path.write_bytes(buffer.getvalue())
        with pytest.raises(EntrantError, match=r"is no model of|only models of PPO"):
            load_entrant(str(path), parse("block"))


def test_a_model_without_its_library_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model.zip"
    data = '{"policy_class": {"__module__": "x.maskable.y"}, "n_epochs": 1, "clip_range": 0}'
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("data", data)
    monkeypatch.setitem(sys.modules, "sb3_contrib", None)
    with pytest.raises(EntrantError, match="pip install stable-baselines3 sb3-contrib"):
        load_entrant(str(path), parse("block"))


@pytest.mark.parametrize("text", ["import sys; sys.exit(3)", "raise ValueError('bad\\nworse')"])
def test_a_module_that_ends_the_program_is_refused_in_one_line(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "leaver.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    result = CliRunner().invoke(app, ["arena", "block", "--players", "leaver:x,hard"])
    assert result.exit_code == 2
    told = "SystemExit: 3" if "exit" in text else "ValueError: bad"
    assert result.stderr == f"dominozoo: players: leaver:x: {told}\n"


@pytest.mark.parametrize("end", ["raise ValueError('bad\\nworse')", "raise SystemExit('bad')"])
def test_a_strict_arena_tells_the_first_line_of_a_crash(
    end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "raiser.py").write_text(f"def play(observation, mask):\n    {end}\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.delitem(sys.modules, "raiser", raising=False)
    words = ["arena", "block", "--players", "raiser:play,hard", "--deals", "5", "--strict"]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 2
    kind = "ValueError" if "Value" in end else "SystemExit"
    assert result.stderr == f"dominozoo: players: raiser:play failed: {kind}: bad\n"
