"""Stable-Baselines3: sb3-contrib's MaskablePPO, as it is, learns two-handed Block.

    pip install -e '.[examples]' -c constraints.txt
    python examples/sb3_maskable_ppo.py --seed 1 --out runs/sb3_block.zip

`SeatVecEnv` puts many tables behind SB3's own vector interface, and MaskablePPO finds the masks of
legal actions there. An episode is one hand, so `ep_rew_mean` is the mean of points / 100.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy.typing as npt
import torch
from sb3_contrib import MaskablePPO

import dominozoo  # noqa: F401  (registers the environments)
from dominozoo.fields import LINE_LAYOUT
from dominozoo.onehot import expand
from dominozoo.single import win_rate
from dominozoo.single.sb3 import SeatVecEnv

Array = npt.NDArray[Any]
GAME = "dominozoo/Block-v0"
TEST_SEED = 10_000_000  # of deals that training never sees


def train(args: argparse.Namespace) -> MaskablePPO:
    """Learn single hands; the hands are short and lucky, hence many tables and large batches."""
    tables = gymnasium.make_vec(GAME, num_envs=args.tables, opponents=args.opponents, max_hands=1)
    model = MaskablePPO(
        "MlpPolicy",
        SeatVecEnv(tables),
        learning_rate=lambda left: 1e-3 * left,  # falls to 0
        n_steps=64,
        batch_size=2048,
        n_epochs=4,
        gamma=1.0,  # a hand has an end
        gae_lambda=0.95,
        ent_coef=0.005,
        policy_kwargs={"net_arch": [128, 128]},
        seed=args.seed,
        device="cpu",
        verbose=1,
    )
    return model.learn(args.steps, log_interval=max(1, args.steps // (args.tables * 64) // 5))


def player(model: MaskablePPO) -> Callable[[Array, Array], Array]:
    """The model as a policy of whole batches: its likeliest legal action."""

    def act(observation: Array, mask: Array) -> Array:
        rows = expand(LINE_LAYOUT, observation)
        actions, _ = model.predict(rows, action_masks=mask, deterministic=True)
        return actions

    return act


def play_match(model: MaskablePPO, seed: int) -> None:
    """One match to 100 points against the strongest scripted bot."""
    act = player(model)
    env = gymnasium.make(GAME, opponents="hard", seat=0)
    observation, info = env.reset(seed=seed)
    over, hands = False, 0
    while not over:
        seen, mask = observation["observation"], observation["action_mask"]
        action = act(seen[None], mask[None])[0]
        observation, _, terminated, truncated, info = env.step(action)
        over, hands = terminated or truncated, hands + info["hands_ended"]
    mine, other = info["scores"]
    won = "won" if info["is_success"] else "lost"
    print(f"match against hard: {won} {mine}:{other} in {hands} hands")


def main() -> None:
    """Learn, save, load, measure, play."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=2_000_000, help="decisions to learn from")
    parser.add_argument("--tables", type=int, default=256)
    parser.add_argument("--opponents", default="random", help="whom it learns against")
    parser.add_argument("--deals", type=int, default=20_000, help="of the measurement")
    parser.add_argument("--out", type=Path, default=Path("runs/sb3_block.zip"))
    parser.add_argument("--quick", action="store_true", help="a small run, to see that it works")
    args = parser.parse_args()
    if args.quick:
        args.steps, args.tables, args.deals = 65_536, 64, 500
    torch.set_num_threads(1)  # the network is small
    start, used = time.perf_counter(), time.process_time()
    model = train(args)
    seconds, used = time.perf_counter() - start, time.process_time() - used
    print(
        f"seed {args.seed}: {args.steps} decisions in {seconds:.0f} s ({used:.0f} s of processor)"
    )

    args.out.parent.mkdir(parents=True, exist_ok=True)
    model.save(args.out)
    model = MaskablePPO.load(args.out, device="cpu")
    for rival in ("random", "normal", "hard"):
        found = win_rate(player(model), "block", opponents=rival, deals=args.deals, seed=TEST_SEED)
        print(f"against {rival}: {found}")
    play_match(model, args.seed)
    print(f"saved {args.out}")


if __name__ == "__main__":
    main()
