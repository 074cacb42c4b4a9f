"""RLlib: one policy plays both seats of Block against itself, through PettingZoo's interface.

    pip install -e '.[rllib]' -c constraints.txt
    python examples/rllib_self_play.py --seed 1

Ray pins its own Gymnasium, so give it an environment of its own. RLlib's module for masked actions
wants its observations under other names than PettingZoo's: `ForRLlib` renames them.
"""

# Ray needs an environment of its own, hence
# pyright: reportMissingImports=false

from __future__ import annotations

import argparse
import os
import time
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import torch
from gymnasium import spaces
from pettingzoo.utils.wrappers import BaseWrapper

from dominozoo import block_v0
from dominozoo.fields import LINE_LAYOUT
from dominozoo.onehot import expand
from dominozoo.single import win_rate

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # before ray is imported
os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")

import ray
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
from ray.tune.registry import register_env

Array = npt.NDArray[Any]
TEST_SEED = 10_000_000  # of deals that training never sees


class ForRLlib(BaseWrapper[str, Any, int]):
    """The one-hot form under "observations", and the mask as float32."""

    def observation_space(self, agent: str) -> spaces.Dict:
        """As :meth:`observe` gives it."""
        mask = cast(spaces.Dict, self.env.observation_space(agent))["action_mask"]
        return spaces.Dict(
            {
                "observations": spaces.Box(0, np.inf, (LINE_LAYOUT.columns,), np.float32),
                "action_mask": spaces.Box(0, 1, mask.shape, np.float32),
            }
        )

    def observe(self, agent: str) -> dict[str, Array]:
        """What an agent sees."""
        seen: Any = self.env.observe(agent)
        return {
            "observations": expand(LINE_LAYOUT, seen["observation"]),
            "action_mask": seen["action_mask"].astype(np.float32),
        }


def make_algorithm(seed: int, batch: int) -> Any:
    """PPO with one policy for all seats; everything runs in this process."""
    module = RLModuleSpec(
        module_class=ActionMaskingTorchRLModule,
        model_config=DefaultModelConfig(fcnet_hiddens=[128, 128]),
    )
    register_env("block", lambda _: PettingZooEnv(ForRLlib(block_v0.env(max_hands=1))))
    config = (
        PPOConfig()
        # RLlib's own check of environments plays without the masks, so it would see illegal moves.
        .environment("block", disable_env_checking=True)
        .env_runners(num_env_runners=0, num_envs_per_env_runner=16)
        .multi_agent(policies={"shared"}, policy_mapping_fn=lambda agent, episode, **_: "shared")
        .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs={"shared": module}))
        .training(
            train_batch_size_per_learner=batch,
            minibatch_size=min(1024, batch),
            num_epochs=4,
            lr=5e-4,
            gamma=1.0,
            lambda_=0.95,
            entropy_coeff=0.005,
        )
        .debugging(seed=seed, log_level="ERROR")
    )
    return config.build_algo()


def player(module: Any) -> Any:
    """RLlib's module as a policy of whole batches: the likeliest legal action."""

    @torch.no_grad()
    def act(observation: Array, mask: Array) -> Array:
        rows = {
            "observations": torch.from_numpy(expand(LINE_LAYOUT, observation)),
            "action_mask": torch.from_numpy(mask).float(),
        }
        logits = module.forward_inference({Columns.OBS: rows})[Columns.ACTION_DIST_INPUTS]
        chosen: Array = logits.argmax(dim=1).numpy()
        return chosen

    return act


def main() -> None:
    """Learn by self-play, then measure against the scripted bots."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--iterations", type=int, default=60)
    parser.add_argument("--batch", type=int, default=8192, help="decisions of an iteration")
    parser.add_argument("--deals", type=int, default=20_000)
    parser.add_argument("--quick", action="store_true", help="a small run, to see that it works")
    args = parser.parse_args()
    if args.quick:
        args.iterations, args.batch, args.deals = 2, 512, 500
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    start = time.perf_counter()
    algorithm = make_algorithm(args.seed, args.batch)
    for k in range(args.iterations):
        result = algorithm.train()
        if (k + 1) % max(1, args.iterations // 10) == 0:
            seconds = time.perf_counter() - start
            hands = result["env_runners"]["num_episodes_lifetime"]
            print(f"iteration {k + 1}: {hands:.0f} hands, {seconds:.0f} s", flush=True)
    act = player(algorithm.get_module("shared"))
    for rival in ("random", "hard"):
        found = win_rate(act, "block", opponents=rival, deals=args.deals, seed=TEST_SEED)
        print(f"against {rival}: {found}")
    algorithm.stop()
    ray.shutdown()


if __name__ == "__main__":
    main()
