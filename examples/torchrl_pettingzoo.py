"""TorchRL: PettingZoo's environment with its masks, trained by TorchRL's own PPO loss.

    pip install -e '.[examples]' -c constraints.txt
    python examples/torchrl_pettingzoo.py --seed 1

One network plays both seats of Block. Each step holds what both seats see, and a "mask" that says
who acts; the other's action is a dummy that no loss is computed on.
"""

from __future__ import annotations

import argparse
import math
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy.typing as npt
import torch
from tensordict import TensorDict
from tensordict.nn import TensorDictModule
from torch import Tensor, nn
from torchrl.envs.libs.pettingzoo import PettingZooWrapper
from torchrl.envs.utils import MarlGroupMapType
from torchrl.modules import MaskedCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

from dominozoo import block_v0
from dominozoo.fields import LINE_LAYOUT
from dominozoo.onehot import expand
from dominozoo.single import win_rate

Array = npt.NDArray[Any]
ACTIONS = 58
GROUP = "agents"
SEEN = ("observation", "observation")
TEST_SEED = 10_000_000  # of deals that training never sees


class OneHot(nn.Module):
    """The int16 observation (..., 178) as float32 columns (..., 295)."""

    def forward(self, seen: Tensor) -> Tensor:
        """Expand."""
        return torch.from_numpy(expand(LINE_LAYOUT, seen.numpy()))


def mlp(outputs: int, gain: float, width: int = 128) -> nn.Sequential:
    """Two layers; the last one starts at ``gain`` times its usual size."""
    last = nn.Linear(width, outputs)
    with torch.no_grad():
        last.weight.mul_(gain)
    return nn.Sequential(
        OneHot(),
        nn.Linear(LINE_LAYOUT.columns, width),
        nn.Tanh(),
        nn.Linear(width, width),
        nn.Tanh(),
        last,
    )


def make_actor(net: nn.Module, *prefix: str) -> ProbabilisticActor:
    """The policy; its keys stand below GROUP in the environment, at the top in the loss."""
    logits = TensorDictModule(net, in_keys=[(*prefix, *SEEN)], out_keys=[(*prefix, "logits")])
    distribution: Any = {"logits": (*prefix, "logits"), "mask": (*prefix, "action_mask")}
    return ProbabilisticActor(
        logits,
        in_keys=distribution,
        out_keys=[(*prefix, "action")],
        distribution_class=MaskedCategorical,
        return_log_prob=True,
        log_prob_key=(*prefix, "sample_log_prob"),
    )


def make_critic(net: nn.Module, *prefix: str) -> ValueOperator:
    """The value of the hand for who looks, be it their turn or not."""
    return ValueOperator(net, in_keys=[(*prefix, *SEEN)], out_keys=[(*prefix, "state_value")])


def make_env(seed: int) -> PettingZooWrapper:
    """Single hands of Block; both seats in one group, so that one network plays them."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PettingZoo in TorchRL is tested using version")
        return PettingZooWrapper(
            block_v0.env(max_hands=1),
            use_mask=True,
            categorical_actions=True,
            group_map=MarlGroupMapType.ALL_IN_ONE_GROUP,
            seed=seed,
        )


def make_gae(critic: ValueOperator) -> GAE:
    """Advantages of each seat over all steps: a step of the other is a step of the world."""
    gae = GAE(gamma=1.0, lmbda=0.95, value_network=critic, deactivate_vmap=True)
    gae.set_keys(
        **{
            name: (GROUP, key)
            for name, key in {
                "value": "state_value",
                "advantage": "advantage",
                "value_target": "value_target",
                "reward": "reward",
                "done": "done",
                "terminated": "terminated",
            }.items()
        }
    )
    return gae


class Learner:
    """The networks, and how they learn."""

    def __init__(self, seed: int, horizon: int) -> None:
        """Make environment, networks and loss."""
        torch.manual_seed(seed)
        self.horizon = horizon
        self.env = make_env(seed)
        self.logits, value = mlp(ACTIONS, 0.01), mlp(1, 1.0)
        self.actor = make_actor(self.logits, GROUP)
        self.gae = make_gae(make_critic(value, GROUP))
        self.loss = ClipPPOLoss(
            make_actor(self.logits),
            make_critic(value),
            entropy_coeff=0.005,
            normalize_advantage=True,
        )
        self.loss.set_keys(sample_log_prob="sample_log_prob")
        self.optimiser = torch.optim.Adam(self.loss.parameters(), lr=1e-3)

    def collect(self) -> tuple[TensorDict, float]:
        """Play; returns the decisions made, as (decisions,), and how many hands these were."""
        with torch.no_grad():
            steps = self.env.rollout(self.horizon, self.actor, break_when_any_done=False)
            self.gae(steps)
        acting = steps[GROUP, "mask"]
        chosen = steps[GROUP, "action"].unsqueeze(-1)
        legal = steps[GROUP, "action_mask"].gather(-1, chosen).squeeze(-1)
        if not legal[acting].all():
            raise RuntimeError("an illegal action was made")
        return steps[GROUP][acting], float(steps["next", "done"].sum())

    def update(self, decisions: TensorDict) -> None:
        """PPO's update: some passes over the decisions in random minibatches."""
        for _ in range(4):
            for rows in torch.randperm(len(decisions)).split(512):
                losses = self.loss(decisions[rows])
                total = losses["loss_objective"] + losses["loss_critic"] + losses["loss_entropy"]
                self.optimiser.zero_grad()
                total.backward()
                nn.utils.clip_grad_norm_(self.loss.parameters(), 0.5)
                self.optimiser.step()


def player(logits: nn.Module) -> Callable[[Array, Array], Array]:
    """The network as a policy of whole batches: its likeliest legal action."""

    @torch.no_grad()
    def act(observation: Array, mask: Array) -> Array:
        scores = logits(torch.from_numpy(observation))
        legal = torch.from_numpy(mask).bool()
        chosen: Array = scores.masked_fill(~legal, -math.inf).argmax(dim=1).numpy()
        return chosen

    return act


def main() -> None:
    """Learn by self-play, then measure against the scripted bots."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--updates", type=int, default=20)
    parser.add_argument("--horizon", type=int, default=2048, help="steps of an update")
    parser.add_argument("--deals", type=int, default=20_000, help="of the measurement")
    parser.add_argument("--quick", action="store_true", help="a small run, to see that it works")
    args = parser.parse_args()
    if args.quick:
        args.updates, args.horizon, args.deals = 3, 512, 500
    torch.set_num_threads(1)  # the network is small
    start = time.perf_counter()
    learner = Learner(args.seed, args.horizon)
    for k in range(args.updates):
        decisions, hands = learner.collect()
        learner.update(decisions)
        seconds = time.perf_counter() - start
        print(f"update {k + 1}: {len(decisions)} decisions in {hands:.0f} hands, {seconds:.0f} s")
    for rival in ("random", "hard"):
        act = player(learner.logits)
        found = win_rate(act, "block", opponents=rival, deals=args.deals, seed=TEST_SEED)
        print(f"against {rival}: {found}")


if __name__ == "__main__":
    main()
