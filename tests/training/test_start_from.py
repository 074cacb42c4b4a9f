"""Training that begins from another policy's weights."""

from pathlib import Path

import pytest
import torch
from rich.console import Console

from dominozoo_training.learning.config import Config, load_config
from dominozoo_training.learning.display import Display
from dominozoo_training.learning.start import plan
from dominozoo_training.learning.state import begin, new_learner
from dominozoo_training.learning.trainer import train
from dominozoo_training.policy.checkpoint import load_policy
from dominozoo_training.policy.folders import CheckpointError, checkpoints_of

BATCH = 128 * 4
TINY = [
    "rollout.tables=128",
    "ppo.minibatch=128",
    "rollout.steps=4",
    "evaluation.final_deals=50",
    "evaluation.opponents=[random]",
    "evaluation.every_minutes=60",
]


def quiet() -> Display:
    """A display that prints nowhere."""
    return Display("test", Console(quiet=True))


def small(game: str, updates: int, *overrides: str) -> Config:
    """A run of so many updates."""
    return load_config(game, overrides=[*TINY, f"budget.decisions={updates * BATCH}", *overrides])


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Partnership policy."""
    return train(small("partnership", 1), tmp_path_factory.mktemp("base"), display=quiet())


def test_weights_are_taken_over_by_policy_and_magnet_in_another_game(base: Path) -> None:
    learner = new_learner(small("chiva", 1, f"start={base}", "ppo.magnet=0.1"))
    before = {k: v.clone() for k, v in learner.policy.named_parameters()}
    begin(learner)
    wanted = load_policy(base).network.state_dict()
    for network in (learner.policy, learner.magnet):
        assert network is not None
        for name, value in network.state_dict().items():
            assert torch.equal(value, wanted[name])
    name = "score.0.weight"
    assert not torch.equal(learner.policy.get_parameter(name), before[name])


def test_meta_and_card_say_where_it_began_also_after_a_resume(base: Path, tmp_path: Path) -> None:
    whole = train(small("chiva", 2, f"start={base}"), tmp_path / "whole", display=quiet())
    assert load_policy(whole).meta["start"]["game"] == "partnership"
    assert load_policy(whole).meta["start"]["decisions"] == BATCH
    assert "on from the policy of `partnership`" in (whole / "card.md").read_text()

    train(small("chiva", 1, f"start={base}"), tmp_path / "cut", display=quiet())
    config, run = plan(None, [f"budget.decisions={2 * BATCH}"], resume=tmp_path / "cut")
    assert checkpoints_of(run)
    resumed = train(config, run, resume=True, display=quiet())
    assert load_policy(resumed).meta["start"] == load_policy(whole).meta["start"]
    assert "start" not in load_policy(base).meta


@pytest.mark.parametrize(
    ("game", "words", "reason"),
    [
        ("block", (), "seats or ends aren't those of block"),
        ("french", (), "seats or ends aren't those of french"),
        ("truc", (), "seats or ends aren't those of truc"),
        ("chiva", ("network.hidden=[32]",), r"give 'network.hidden=\[64, 64\]'"),
        ("chiva", ("network.value_hidden=[16]",), r"give 'network.value_hidden=\[32\]'"),
    ],
)
def test_weights_that_do_not_fit_are_refused(
    game: str, words: tuple[str, ...], reason: str, base: Path, tmp_path: Path
) -> None:
    config = small(game, 1, f"start={base}", *words)
    with pytest.raises(CheckpointError, match=reason):
        train(config, tmp_path / "run", display=quiet())
    assert not (tmp_path / "run").exists()


def test_a_start_that_is_no_policy_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="nowhere is no folder"):
        train(small("block", 1, f"start={tmp_path}/nowhere"), tmp_path / "run", display=quiet())
