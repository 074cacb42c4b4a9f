"""Several processes that learn together, as ``torchrun`` starts them."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from dominozoo_training.learning import ppo
from dominozoo_training.learning.config import load_config
from dominozoo_training.learning.start import plan
from dominozoo_training.learning.state import TABLES, TRAINING, new_learner, of_rank
from dominozoo_training.learning.trainer import train
from dominozoo_training.policy.checkpoint import load_policy
from dominozoo_training.policy.folders import WEIGHTS, CheckpointError, checkpoints_of

SMALL = ["rollout.tables=64", "ppo.minibatch=64", "rollout.steps=4"]
TINY = [
    *SMALL,
    "evaluation.final_deals=20",
    "evaluation.deals=10",
    "evaluation.opponents=[random]",
    "evaluation.every_minutes=60",
]
BATCH = 64 * 4 * 2
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]

# Each process learns from its half of a minibatch; what comes out is that of the whole. Then a run
# of two is trained in one go, and once more, stopped by the second process alone, and resumed.
SCRIPT = """
import os
import sys
from pathlib import Path
import torch
from rich.console import Console
from dominozoo_training.learning import ppo, trainer
from dominozoo_training.learning.config import load_config
from dominozoo_training.learning.display import Display
from dominozoo_training.learning.distributed import joined
from dominozoo_training.learning.state import new_learner

words, budget = sys.argv[2:], int(sys.argv[1])
torch.set_num_threads(1)
with joined("cpu") as team:
    rank = team.rank
    config = load_config("partnership", overrides=words)
    learner = new_learner(config)
    batch = learner.player().play(2, 0.9)
    for whole in ppo.minibatches(batch, config.ppo.minibatch, learner.rng):
        half = len(whole.chosen) // 2
        a, b = rank * half, (rank + 1) * half
        fields = (whole.chosen, whole.log_probs, whole.advantages, whole.returns)
        part = ppo.Minibatch(whole.seen.part(a, b), *(field[a:b] for field in fields))
        networks = (learner.policy, learner.critic, learner.optimiser)
        ppo.step(*networks, part, config.ppo, 0.02, team=team)
    assert team.most(float(rank)) == 1.0
    assert team.any(rank == 1) and not team.any(False)
    torch.save(learner.policy.state_dict(), f"{rank}.pt")

    config = load_config("block", overrides=[*words, f"budget.decisions={budget}"])
    console = Console(file=open(f"{rank}.txt", "w"), width=200)
    trainer.train(config, Path("whole"), display=Display("x", console))
    learn_once, stop, calls = trainer.learn_once, trainer.Stop(), []

    def then_stop(*arguments):
        calls.append(1)
        if rank == 1 and len(calls) == 2:
            stop.by = "SIGTERM"
        return learn_once(*arguments)

    trainer.learn_once = then_stop
    trainer.train(config, Path("broken"), stop=stop)
    assert len(calls) == 2 and stop.by == ("another process", "SIGTERM")[rank]
    trainer.learn_once = learn_once
    trainer.train(config, Path("broken"), resume=True)
"""


@pytest.fixture(scope="module")
def done_in_two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where two processes have run the script."""
    folder = tmp_path_factory.mktemp("two")
    (folder / "script.py").write_text(SCRIPT)
    result = subprocess.run(
        [*TORCHRUN, "script.py", str(4 * BATCH), *TINY],
        cwd=folder,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return folder


def test_two_halves_are_one_whole(done_in_two: Path) -> None:
    config = load_config("partnership", overrides=SMALL)
    learner = new_learner(config)
    batch = learner.player().play(2, 0.9)
    for whole in ppo.minibatches(batch, config.ppo.minibatch, learner.rng):
        networks = (learner.policy, learner.critic, learner.optimiser)
        ppo.step(*networks, whole, config.ppo, 0.02)
    start = new_learner(config).policy.state_dict()
    found = [torch.load(done_in_two / f"{rank}.pt", weights_only=True) for rank in (0, 1)]
    moved = 0.0
    for key, expected in learner.policy.state_dict().items():
        assert torch.equal(found[0][key], found[1][key]), "processes stay equal"
        # A shift of all scores changes no chance: this gradient is rounding, which Adam blows up.
        close = 1e-3 if key == "score.4.bias" else 1e-6
        torch.testing.assert_close(found[0][key], expected, atol=close, rtol=0)
        moved = max(moved, float((expected - start[key]).abs().max()))
    assert moved > 1e-3


def test_a_run_of_two_stops_together_and_goes_on(done_in_two: Path) -> None:
    ends = [checkpoints_of(done_in_two / name)[-1] for name in ("whole", "broken")]
    for file in (WEIGHTS, TRAINING, TABLES, of_rank(TABLES, 1)):
        assert (ends[0] / file).read_bytes() == (ends[1] / file).read_bytes(), file
    assert (ends[0] / TABLES).read_bytes() != (ends[0] / of_rank(TABLES, 1)).read_bytes()
    assert load_policy(done_in_two / "broken").meta["decisions"] == 4 * BATCH
    log = (done_in_two / "broken" / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(line)["decisions"] for line in log if '"train"' in line] == [
        BATCH * k for k in range(1, 5)
    ], "one process writes"


def test_another_number_of_processes_is_refused(done_in_two: Path) -> None:
    config, run = plan(None, [f"budget.decisions={5 * BATCH}"], resume=done_in_two / "broken")
    with pytest.raises(CheckpointError, match="with 2 processes, not 1: go on by torchrun --nproc"):
        train(config, run, resume=True)


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="signals as on POSIX")
def test_the_command_line_stops_by_a_signal_and_goes_on(tmp_path: Path) -> None:
    """SIGTERM to torchrun reaches all processes: the run is saved, and torchrun goes on with it."""
    train_two = [*TORCHRUN, "-m", "dominozoo_training.cli", "train"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    log, told = tmp_path / "two" / "metrics.jsonl", tmp_path / "told.txt"
    words = [*TINY, "budget.minutes=60", "--out", "two"]
    with (
        told.open("w") as file,
        subprocess.Popen(
            [*train_two, "block", *words], cwd=tmp_path, env=environment, stdout=file, stderr=file
        ) as run,
    ):
        try:
            while run.poll() is None and not (log.exists() and log.stat().st_size):
                time.sleep(0.1)
            run.send_signal(signal.SIGTERM)
            run.wait(120)
        finally:
            run.kill()
    again = "to go on: torchrun --nproc-per-node=2 -m dominozoo_training.cli train --resume two"
    assert f"stopped by SIGTERM; {again}" in told.read_text()
    reached = int(checkpoints_of(tmp_path / "two")[-1].name)
    assert reached >= BATCH
    budget = f"budget.decisions={reached + BATCH}"
    result = subprocess.run(
        [*train_two, "--resume", "two", budget],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert load_policy(tmp_path / "two" / "policy").meta["decisions"] == reached + BATCH
    assert "done: two/policy" in result.stdout + result.stderr


def test_alone_there_is_nothing_to_agree_on() -> None:
    learner = new_learner(load_config("block", overrides=SMALL))
    value = torch.tensor([1.0])
    assert learner.team.mean(value) is value
    assert learner.team.most(3.0) == 3.0
    assert learner.team.gather(5) == [5]
    assert of_rank("tables.npy", 0) == "tables.npy"
