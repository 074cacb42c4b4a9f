"""What is off by default: bfloat16, compiled networks, CUDA. No GPU is needed for most of it."""

import shutil
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch._dynamo.utils import counters

from dominozoo_training.learning import ppo, state
from dominozoo_training.learning.config import Config, Ppo, load_config
from dominozoo_training.learning.state import Learner, new_learner
from dominozoo_training.learning.trainer import all_finite, learn_once
from dominozoo_training.policy.folders import CheckpointError
from dominozoo_training.policy.network import Layers, layers

CXX = shutil.which("g++") or shutil.which("clang++")
SMALL = ["rollout.tables=64", "ppo.minibatch=64", "rollout.steps=4", "budget.decisions=4096"]


def small(*overrides: str) -> Config:
    """A configuration that learns in no time."""
    return load_config("block", overrides=[*SMALL, "device=cpu", *overrides])


def moment(learner: Learner) -> ppo.Minibatch:
    """A minibatch that was just played."""
    batch = learner.player().play(4, 0.9)
    return ppo.minibatches(batch, 64, np.random.default_rng(0))[0]


def test_bfloat16_multiplies_and_float32_remembers() -> None:
    learner = new_learner(small("ppo.bf16=true"))
    with torch.no_grad():
        list(learner.policy.score.parameters())[-2].mul_(100)  # fresh scores are all but equal
    batch = moment(learner)
    with torch.no_grad():
        half = ppo.policy_terms(learner.policy, batch, precise(learner, True))
        full = ppo.policy_terms(learner.policy, batch, precise(learner, False))
    assert 0 < abs(float(half.entropy - full.entropy)) < 1e-2, "rounded, but not far away"
    assert abs(float(half.kl)) < 1e-6, "played and learned with the same numbers"
    player = learner.player()
    for _ in range(2):
        assert all_finite(learn_once(learner, player))
    weights = [*learner.policy.parameters(), *learner.critic.parameters()]
    assert {weight.dtype for weight in weights} == {torch.float32}
    assert all(value.dtype == torch.float32 for value in (half.loss, half.entropy, batch.returns))


def precise(learner: Learner, bf16: bool) -> Ppo:
    """PPO's settings with another precision."""
    return learner.config.ppo.model_copy(update={"bf16": bf16})


def test_compiled_networks_are_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lists of legal actions are of all lengths; none of them may start the compiler again."""
    captured = Layers.compile

    def without_code(self: Layers, **options: Any) -> None:
        captured(self, backend="eager", **options)

    monkeypatch.setattr(Layers, "compile", without_code)
    counters.clear()
    learners = [new_learner(small(f"compile={how}", "ppo.magnet=0.1")) for how in (True, False)]
    assert learners[0].policy.state_dict().keys() == learners[1].policy.state_dict().keys()
    players = [learner.player() for learner in learners]
    for update in range(3):
        if update == 1:
            torch.compiler.set_stance("fail_on_recompile")
        try:
            compiled, plain = map(learn_once, learners, players)
        finally:
            torch.compiler.set_stance("default")
        assert compiled["policy_loss"] == pytest.approx(plain["policy_loss"], abs=1e-4)
    assert counters["stats"]["unique_graphs"] >= 4, "score, value, critic, magnet"
    assert not counters["graph_break"]


@pytest.mark.skipif(CXX is None, reason="torch.compile needs a C++ compiler: none is found")
@pytest.mark.filterwarnings("ignore:`torch.jit.script_method` is deprecated:DeprecationWarning")
def test_compiled_code_computes_the_same() -> None:
    network = layers(6, (8,), 1)
    inputs = torch.randn(50, 6)
    plain = network(inputs)
    state.compile_networks([network], torch.device("cpu"))
    assert network._compiled_call_impl is not None
    torch.testing.assert_close(network(inputs), plain)


def test_who_cannot_compile_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: Any, **options: Any) -> None:
        def fail(inputs: Tensor) -> Tensor:
            raise RuntimeError("no compiler\nat all")

        self = arguments[0]
        self.forward = fail

    monkeypatch.setattr(Layers, "compile", broken)
    with pytest.raises(CheckpointError, match=r"compile=true: torch\.compile fails") as caught:
        new_learner(small("compile=true"))
    assert "RuntimeError: no compiler)" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_resumed_run_may_be_compiled_but_not_change_its_precision() -> None:
    plain = {"config": small().model_dump(mode="json")}
    state.require_same(plain, small("compile=true"))
    with pytest.raises(CheckpointError, match=r"ppo\.bf16=False, not True"):
        state.require_same(plain, small("ppo.bf16=true"))


@pytest.mark.parametrize("words", [(), ("ppo.magnet=0.1",), ("ppo.bf16=true",)])
def test_nothing_is_made_on_a_device_of_its_own(words: tuple[str, ...]) -> None:
    """A tensor made without a device would be one without values here; on CUDA it would be the CPU's."""
    learner = new_learner(small(*words))
    with torch.device("meta"):
        figures = learn_once(learner, learner.player())
    assert all_finite(figures)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device: none is found")
@pytest.mark.parametrize("words", [(), ("ppo.bf16=true",), ("compile=true",)])
def test_cuda_learns_as_the_cpu_does(words: tuple[str, ...]) -> None:
    figures = []
    for device in ("cuda", "cpu"):
        learner = new_learner(small(f"device={device}", *words))
        figures.append(learn_once(learner, learner.player()))
        assert next(learner.policy.parameters()).device.type == device
    assert figures[0]["entropy"] == pytest.approx(figures[1]["entropy"], abs=1e-2)
