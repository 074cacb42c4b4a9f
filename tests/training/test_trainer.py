import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from dominozoo_training.cli import app
from dominozoo_training.learning import trainer
from dominozoo_training.learning.config import Config, load_config
from dominozoo_training.learning.display import Display, keep_until
from dominozoo_training.learning.start import plan
from dominozoo_training.learning.state import GENERATOR, TABLES, TRAINING, snapshot
from dominozoo_training.learning.trainer import TrainingError, best_so_far, train
from dominozoo_training.policy.checkpoint import load_policy
from dominozoo_training.policy.folders import META, WEIGHTS, CheckpointError, checkpoints_of

TINY = [
    "rollout.tables=128",
    "ppo.minibatch=128",
    "rollout.steps=4",
    "evaluation.final_deals=50",
    "evaluation.deals=20",
    "evaluation.opponents=[random]",
    "evaluation.every_minutes=60",
]
BATCH = 128 * 4


def tiny(updates: int, *overrides: str) -> Config:
    """A run of so many updates."""
    return load_config(
        "block", overrides=[*TINY, f"budget.decisions={updates * BATCH}", *overrides]
    )


def quiet() -> Display:
    """A display that prints nowhere."""
    return Display("test", Console(quiet=True))


def test_a_run_leaves_a_policy_with_meta_and_card(tmp_path: Path) -> None:
    run = tmp_path / "run"
    found = train(tiny(3), run, display=quiet(), command="dominozoo train block")
    assert found == run / "policy"
    policy = load_policy(found)
    assert policy.meta["decisions"] == 3 * BATCH
    assert policy.meta["strength"][0]["games"] == 100
    card = (found / "card.md").read_text()
    assert "`dominozoo train block`" in card
    assert f"{3 * BATCH:,} decisions" in card
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    assert [line["kind"] for line in lines] == ["train"] * 3 + ["final"]
    assert list((run / "tensorboard").iterdir())
    assert load_policy(run).meta["decisions"] == 3 * BATCH


def test_matches_are_judged_at_the_end_where_they_are_asked_for(tmp_path: Path) -> None:
    run = tmp_path / "run"
    policy = load_policy(train(tiny(1, "evaluation.final_matches=8"), run, display=quiet()))
    assert [(s["unit"], s["games"]) for s in policy.meta["strength"]] == [
        ("hand", 100),
        ("match", 16),
    ]
    kinds = [json.loads(line)["kind"] for line in (run / "metrics.jsonl").read_text().splitlines()]
    assert kinds == ["train", "final", "final_matches"]
    card = (run / "policy" / "card.md").read_text()
    assert "--players FOLDER,random --unit match --deals 8 --seed 2000003`" in card
    assert "| random | matches |" in card


@pytest.mark.parametrize("game", ["draw(players=3)", "partnership", "french", "truc(target=12)"])
def test_other_games_train_too(game: str, tmp_path: Path) -> None:
    config = load_config(game, overrides=[*TINY, f"budget.decisions={2 * BATCH}"])
    assert str(load_policy(train(config, tmp_path / "run", display=quiet())).rules) == game


@pytest.mark.parametrize(
    "words",
    [
        ("rollout.goal=points",),
        ("rollout.goal=win",),
        ("rollout.goal=match",),
        ("game=truc", "ppo.magnet=0.5", "ppo.magnet_every=2"),
    ],
)
def test_a_resumed_run_equals_an_unbroken_one(words: tuple[str, ...], tmp_path: Path) -> None:
    train(tiny(6, *words), tmp_path / "whole", display=quiet())
    # The schedules run over the whole budget: stop in the middle of it as a signal would.
    broken = tmp_path / "broken"
    stopped = stop_after(3, tiny(6, *words), broken)
    assert stopped == broken / "checkpoints" / f"{3 * BATCH:012d}"
    config, run = plan(None, [], resume=broken)
    train(config, run, resume=True, display=quiet())
    ends = [checkpoints_of(tmp_path / name)[-1] for name in ("whole", "broken")]
    for file in (WEIGHTS, TRAINING, TABLES):
        assert (ends[0] / file).read_bytes() == (ends[1] / file).read_bytes(), file
    decisions = [
        json.loads(line)["decisions"]
        for line in (broken / "metrics.jsonl").read_text().splitlines()
        if json.loads(line)["kind"] == "train"
    ]
    assert decisions == [BATCH * k for k in range(1, 7)]


def test_a_killed_run_goes_on_as_if_nothing_had_been(tmp_path: Path) -> None:
    """SIGKILL in the middle of play, of learning or of saving: the last whole checkpoint counts."""
    updates = 40
    train(tiny(updates), tmp_path / "whole", display=quiet())
    broken = tmp_path / "broken"
    words = [*TINY, f"budget.decisions={updates * BATCH}", "checkpoints.every_minutes=1e-9"]
    command = [sys.executable, "-m", "dominozoo_training.cli", "train", "block", *words]
    process = subprocess.Popen(
        [*command, "--out", str(broken)], cwd=tmp_path, stderr=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 120
    while len(checkpoints_of(broken)) < 3 and time.monotonic() < deadline:
        time.sleep(0.002)
    process.kill()
    assert process.wait(timeout=60) == -signal.SIGKILL, "killed before it was done"
    assert not (broken / "policy").exists()
    config, run = plan(None, [], resume=broken)
    train(config, run, resume=True, display=quiet())
    ends = [checkpoints_of(tmp_path / name)[-1] for name in ("whole", "broken")]
    for file in (WEIGHTS, TRAINING, TABLES, GENERATOR):
        assert (ends[0] / file).read_bytes() == (ends[1] / file).read_bytes(), file
    log = [json.loads(line) for line in (broken / "metrics.jsonl").read_text().splitlines()]
    decisions = [line["decisions"] for line in log if line["kind"] == "train"]
    assert decisions == [BATCH * k for k in range(1, updates + 1)]


def test_a_run_of_another_version_is_not_resumed(tmp_path: Path) -> None:
    train(tiny(1), tmp_path, display=quiet())
    config, run = plan(None, [f"budget.decisions={2 * BATCH}"], resume=tmp_path)
    file = checkpoints_of(tmp_path)[-1] / META
    meta = json.loads(file.read_text())
    file.write_text(json.dumps({**meta, "encoding": 99}))
    with pytest.raises(CheckpointError, match=r"made for encoding 99; block has \d+ in this"):
        train(config, run, resume=True, display=quiet())


class Stopping(Display):
    """A display that sends a signal to its own process after some updates."""

    def __init__(self, updates: int, number: signal.Signals) -> None:
        super().__init__("test", Console(quiet=True))
        self.left = updates
        self.number = number

    def show(self, figures: dict[str, float]) -> None:
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), self.number)


def stop_after(
    updates: int, config: Config, run: Path, number: signal.Signals = signal.SIGTERM
) -> Path:
    """Train and be stopped by a signal."""
    before = signal.getsignal(number)
    folder = train(config, run, display=Stopping(updates, number))
    assert signal.getsignal(number) is before
    return folder


def test_ctrl_c_saves_and_returns(tmp_path: Path) -> None:
    folder = stop_after(2, tiny(9), tmp_path, signal.SIGINT)
    assert load_policy(folder).meta["decisions"] == 2 * BATCH
    assert not (tmp_path / "policy").exists()


def test_a_signal_saves_and_ends_cleanly(tmp_path: Path) -> None:
    run = tmp_path / "run"
    command = [sys.executable, "-m", "dominozoo_training.cli", "train", "block", *TINY]
    process = subprocess.Popen(
        [*command, "budget.minutes=5", "--out", str(run)],
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        text=True,
    )
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        if (run / "metrics.jsonl").exists() and (run / "metrics.jsonl").stat().st_size:
            break
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    _, text = process.communicate(timeout=60)
    assert process.returncode == 0, text
    assert f"stopped by SIGTERM; to go on: dominozoo train --resume {run}" in text
    assert load_policy(run).meta["decisions"] > 0
    assert not list((run / "checkpoints").glob(".*")), "nothing half written"


def test_ctrl_c_ends_the_command_with_130(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(trainer, "Display", lambda title: Stopping(1, signal.SIGINT))
    result = CliRunner().invoke(app, ["train", "block", *TINY, "budget.minutes=5", "--out", "run"])
    assert result.exit_code == 130
    assert load_policy(tmp_path / "run").meta["decisions"] == BATCH


def test_a_finished_run_is_not_judged_again(tmp_path: Path) -> None:
    for game, even in (("block", "even is 50 %"), ("french", "even is 25 %")):
        run = tmp_path / game
        config = load_config(game, overrides=[*TINY, f"budget.decisions={BATCH}"])
        policy = train(config, run, display=quiet())
        files = {path: path.stat().st_mtime_ns for path in run.rglob("*") if path.is_file()}
        with (tmp_path / "out").open("w+") as file:
            display = Display("again", Console(file=file, width=200))
            assert train(config, run, resume=True, display=display) == policy
            file.seek(0)
            assert file.read() == f"finished already: {policy}; a larger budget goes on\n"
        assert files == {path: path.stat().st_mtime_ns for path in run.rglob("*") if path.is_file()}
        larger = load_config(game, overrides=[*TINY, f"budget.decisions={2 * BATCH}"])
        with (tmp_path / "out").open("w+") as file:
            train(larger, run, resume=True, display=Display("on", Console(file=file, width=200)))
            file.seek(0)
            assert even in file.read()


def test_divergence_stops_with_the_last_good_state(tmp_path: Path) -> None:
    run = tmp_path / "run"
    config = tiny(50, "ppo.learning_rate=1e35", "ppo.learning_rate_end=1")
    with pytest.raises(TrainingError, match=r"the last good state is .*smaller ppo\.learning_rate"):
        train(config, run, display=quiet())
    assert not (run / "policy").exists()
    load_policy(run)


def test_a_second_run_needs_another_folder_or_force(tmp_path: Path) -> None:
    train(tiny(1), tmp_path, display=quiet())
    with pytest.raises(CheckpointError, match="already holds a run"):
        train(tiny(1), tmp_path, display=quiet())
    train(tiny(2), tmp_path, display=quiet(), force=True)
    assert [path.name for path in checkpoints_of(tmp_path)] == [f"{2 * BATCH:012d}"]


def test_only_the_newest_checkpoints_are_kept(tmp_path: Path) -> None:
    config = tiny(5, "checkpoints.every_minutes=1e-9", "checkpoints.keep=2")
    train(config, tmp_path, display=quiet())
    assert [int(path.name) for path in checkpoints_of(tmp_path)] == [4 * BATCH, 5 * BATCH]


def test_the_best_is_kept(tmp_path: Path) -> None:
    train(tiny(3, "evaluation.every_minutes=1e-9"), tmp_path, display=quiet())
    rates = [
        line["random_win_rate"]
        for line in map(json.loads, (tmp_path / "metrics.jsonl").read_text().splitlines())
        if line["kind"] == "eval"
    ]
    assert len(rates) == 3
    best = load_policy(f"{tmp_path}@best").meta["strength"][0]["win_rate"]
    assert best == pytest.approx(max(rates), abs=1e-4)
    assert best_so_far(tmp_path) == best, "a resumed run goes on from there"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["rollout.steps=5"], "started with rollout.steps=4, not 5"),
        (["seed=9"], "started with seed=0, not 9"),
        (["network.hidden=[8]"], "started with network.hidden"),
    ],
)
def test_a_resume_with_other_settings_is_refused(
    words: list[str], message: str, tmp_path: Path
) -> None:
    train(tiny(1), tmp_path, display=quiet())
    config, run = plan(None, words, resume=tmp_path)
    with pytest.raises(CheckpointError, match=message):
        train(config, run, resume=True, display=quiet())


def test_a_run_of_before_a_setting_was_there_goes_on(tmp_path: Path) -> None:
    train(tiny(1), tmp_path, display=quiet())
    file = checkpoints_of(tmp_path)[-1] / "state.json"
    state = json.loads(file.read_text())
    del state["config"]["ppo"]["magnet"], state["config"]["ppo"]["magnet_every"]
    del state["processes"]
    state["rng"] = json.loads((file.parent / GENERATOR).read_text())
    (file.parent / GENERATOR).unlink()
    file.write_text(json.dumps(state))
    config, run = plan(None, [f"budget.decisions={2 * BATCH}"], resume=tmp_path)
    train(config, run, resume=True, display=quiet())
    assert load_policy(tmp_path).meta["decisions"] == 2 * BATCH
    magnetic, run = plan(None, ["ppo.magnet=0.1"], resume=tmp_path)
    with pytest.raises(CheckpointError, match=r"started with ppo\.magnet=0\.0, not 0\.1"):
        train(magnetic, run, resume=True, display=quiet())


def test_a_resume_in_another_game_is_refused(tmp_path: Path) -> None:
    train(tiny(1), tmp_path, display=quiet())
    config, run = plan("draw", [], resume=tmp_path)
    with pytest.raises(CheckpointError, match="started with game=block, not draw"):
        train(config, run, resume=True, display=quiet())


@pytest.mark.parametrize("name", [TRAINING, TABLES, GENERATOR, WEIGHTS, META, "state.json"])
def test_a_damaged_checkpoint_is_not_resumed(name: str, tmp_path: Path) -> None:
    train(tiny(1), tmp_path, display=quiet())
    config, run = plan(None, [], resume=tmp_path)
    file = checkpoints_of(tmp_path)[-1] / name
    file.write_bytes(file.read_bytes()[:-50])
    with pytest.raises(CheckpointError) as caught:
        train(config, run, resume=True, display=quiet())
    assert "\n" not in str(caught.value)


def test_a_resumed_budget_may_grow(tmp_path: Path) -> None:
    train(tiny(1), tmp_path, display=quiet())
    config, run = plan(None, [f"budget.decisions={2 * BATCH}"], resume=tmp_path)
    train(config, run, resume=True, display=quiet())
    assert load_policy(tmp_path).meta["decisions"] == 2 * BATCH


def test_metrics_behind_the_checkpoint_are_dropped(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    path.write_text('{"decisions": 1}\n{"decisions": 3}\n{"decisions": 2}\n{"deci')
    keep_until(path, 2)
    assert path.read_text() == '{"decisions": 1}\n{"decisions": 2}\n'


def test_a_terminal_gets_a_table_and_a_pipe_gets_lines(tmp_path: Path) -> None:
    for terminal in (True, False):
        with (tmp_path / "out").open("w+") as file:
            console = Console(file=file, force_terminal=terminal, width=100)
            train(tiny(2), tmp_path / f"{terminal}", display=Display("block here", console))
            file.seek(0)
            text = file.read()
        assert "done:" in text
        shares = re.findall(r"(encoding|policy|tables|critic|update) (\d+)%", text)
        assert len(shares) == 5
        assert 97 <= sum(int(share) for _, share in shares) <= 103
        assert "k decisions per CPU second" in text
        assert ("Ctrl-C saves and ends" in text) == terminal
        assert ("k/s, entropy" in text) == (not terminal)
        assert "random" in text


def test_no_pickle_is_written(tmp_path: Path) -> None:
    from dominozoo_training.learning.state import new_learner

    for name, data in snapshot(new_learner(tiny(1))).items():
        assert name.endswith((".safetensors", ".json", ".npy"))
        assert not data.startswith(b"\x80"), name


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["block", "sede=1"], "did you mean 'seed'?"),
        (["blok"], "did you mean 'block'?"),
        (["block", "--config", "none.yaml"], "none.yaml: No such file"),
        (["--resume", "nowhere"], "holds no checkpoint"),
        (["block", "--name", "a", "--out", "b"], "not both"),
        (["block", "--name", "../../x"], "name: '../../x' is no folder below runs/"),
        (["block", "--name", "/tmp/x"], "name: '/tmp/x' is no folder below runs/"),
        (["block", "--name", ""], "name: '' is no folder below runs/"),
        (["block", "--device", "tpu"], "device takes 'auto', 'cpu' or 'cuda'"),
    ],
)
def test_the_command_line_refuses_in_one_line(
    words: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["train", *words])
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_the_command_line_trains(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["train", "block", *TINY, f"budget.decisions={BATCH}", "--name", "x", "--seed", "3"]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.stderr
    assert load_policy(tmp_path / "runs" / "x").meta["seed"] == 3
    again = CliRunner().invoke(app, ["train", "budget.decisions=2000", "--resume", "runs/x"])
    assert again.exit_code == 0, again.stderr
    assert load_policy(tmp_path / "runs" / "x").meta["decisions"] >= 2000
