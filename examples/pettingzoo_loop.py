"""PettingZoo's loop: a player of your own against the bot that comes with the package.

    pip install -e .
    python examples/pettingzoo_loop.py --hands 1000 --seed 1

Needs no torch. Copy `Heaviest` and let it choose as you would.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

import dominozoo
from dominozoo import block_v0

Observation = dict[str, npt.NDArray[Any]]
Player = Callable[[Observation], int]

# The layout of actions and tiles: `end * 28 + tile`, with tile = hi * (hi + 1) / 2 + lo.
TILES = [(hi, lo) for hi in range(7) for lo in range(hi + 1)]


class Heaviest:
    """Gets rid of its heaviest tile; where it may lie at both ends, of the two one at random."""

    def __init__(self, seed: int) -> None:
        """Seed its choices."""
        self.rng = np.random.default_rng(seed)

    def __call__(self, observation: Observation) -> int:
        """Choose one of the legal actions: where the mask is 1."""
        legal = np.flatnonzero(observation["action_mask"])
        pips = np.array([sum(TILES[action % 28]) if action < 56 else 0 for action in legal])
        return int(self.rng.choice(legal[pips == pips.max()]))


def play_hand(players: dict[str, Player], seed: int) -> dict[str, float]:
    """Play one hand; returns everybody's reward, positive for the winner."""
    env = block_v0.env(max_hands=1)
    env.reset(seed=seed)
    total = dict.fromkeys(env.possible_agents, 0.0)
    for agent in env.agent_iter():
        observation, reward, termination, truncation, _ = env.last()
        total[agent] += reward
        # An agent whose episode is over is stepped once more, with None.
        done = termination or truncation
        env.step(None if done else players[agent](observation))
    env.close()
    return total


def main() -> None:
    """Play each deal twice, with the seats changed, so that luck with tiles evens out."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--hands", type=int, default=2_000, help="an even number of hands")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="200 hands")
    args = parser.parse_args()
    deals = max(2, (200 if args.quick else args.hands) // 2)

    mine, bot = Heaviest(args.seed), dominozoo.load_bot("block")
    by_deal = []
    for deal in range(deals):
        seed = args.seed * 1_000_000 + deal
        first = play_hand({"player_0": mine, "player_1": bot.act}, seed)["player_0"]
        second = play_hand({"player_0": bot.act, "player_1": mine}, seed)["player_1"]
        by_deal.append((np.sign(first) + np.sign(second) + 2) / 4)  # a tie counts half
    rate, half = np.mean(by_deal), 1.96 * np.std(by_deal, ddof=1) / math.sqrt(deals)
    low, high = rate - half, rate + half
    print(f"Heaviest against the shipped bot: {rate:.1%} of {2 * deals} hands won", end=" ")
    print(f"(95 % interval {low:.1%}..{high:.1%})")


if __name__ == "__main__":
    main()
