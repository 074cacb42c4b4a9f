"""Masked PPO in one file, in CleanRL's style, on Gymnasium's vector interface.

    pip install -e '.[train]' -c constraints.txt
    python examples/cleanrl_ppo.py --seed 1

Everything that learns is below, from the network to the update; only the game is imported.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass, fields

import gymnasium
import numpy as np
import torch
from torch import Tensor, nn
from torch.distributions import Categorical

import dominozoo  # noqa: F401  (registers the environments)
from dominozoo.fields import LINE_LAYOUT
from dominozoo.onehot import expand
from dominozoo.single import win_rate

TEST_SEED = 10_000_000  # of deals that training never sees


@dataclass
class Args:
    """Settings; each is an option of the command line."""

    seed: int = 1
    opponents: str = "random"
    total_steps: int = 2_000_000  # decisions
    num_envs: int = 256
    num_steps: int = 64
    width: int = 128
    learning_rate: float = 1e-3  # falls to 0
    gamma: float = 1.0  # a hand has an end
    gae_lambda: float = 0.95
    minibatch: int = 2048
    epochs: int = 4
    clip: float = 0.2
    entropy: float = 0.005
    value: float = 0.5
    max_grad_norm: float = 0.5
    deals: int = 20_000


class Agent(nn.Module):
    """Two networks on the one-hot form of the observation: logits, and the value of the hand."""

    def __init__(self, actions: int, width: int) -> None:
        """Make the networks."""
        super().__init__()

        def mlp(outputs: int) -> nn.Sequential:
            return nn.Sequential(
                nn.Linear(LINE_LAYOUT.columns, width),
                nn.Tanh(),
                nn.Linear(width, width),
                nn.Tanh(),
                nn.Linear(width, outputs),
            )

        self.actor, self.critic = mlp(actions), mlp(1)
        with torch.no_grad():  # start close to uniform choice
            self.actor[-1].weight.mul_(0.01)  # type: ignore[operator]

    def policy(self, seen: Tensor, mask: Tensor) -> Categorical:
        """The distribution over legal actions: what is illegal has no chance at all."""
        return Categorical(logits=self.actor(seen).masked_fill(~mask, -1e9))


class Rollout:
    """What happened on all tables in ``num_steps`` steps, as tensors (steps, tables, ...)."""

    def __init__(self, args: Args, actions: int) -> None:
        """Make room."""
        shape = (args.num_steps, args.num_envs)
        self.seen = torch.zeros((*shape, LINE_LAYOUT.columns))
        self.mask = torch.zeros((*shape, actions), dtype=torch.bool)
        self.action = torch.zeros(shape, dtype=torch.int64)
        self.logprob, self.reward, self.done, self.value = (torch.zeros(shape) for _ in range(4))

    def advantages(self, last: Tensor, gamma: float, lam: float) -> Tensor:
        """Generalised advantage estimates (steps, tables); ``last``: values after the last step."""
        found, running, following = torch.zeros_like(self.reward), torch.zeros_like(last), last
        for t in reversed(range(len(self.reward))):
            on = 1 - self.done[t]
            delta = self.reward[t] + gamma * following * on - self.value[t]
            running = delta + gamma * lam * on * running
            found[t], following = running, self.value[t]
        return found


def to_tensors(observation: dict[str, np.ndarray]) -> tuple[Tensor, Tensor]:
    """The one-hot form, float32 (tables, columns), and the mask, bool (tables, actions)."""
    seen = torch.from_numpy(expand(LINE_LAYOUT, observation["observation"]))
    return seen, torch.from_numpy(observation["action_mask"]).bool()


@torch.no_grad()
def collect(
    env: gymnasium.vector.VectorEnv, agent: Agent, data: Rollout, now: tuple[Tensor, Tensor]
) -> tuple[Tensor, Tensor]:
    """Play ``num_steps`` steps on all tables; returns what is seen after the last."""
    for t in range(len(data.reward)):
        data.seen[t], data.mask[t] = now
        policy = agent.policy(*now)
        action = policy.sample()
        data.action[t], data.logprob[t] = action, policy.log_prob(action)
        data.value[t] = agent.critic(now[0]).squeeze(1)
        observation, reward, terminated, truncated, _ = env.step(action.numpy())
        data.reward[t] = torch.from_numpy(reward)
        data.done[t] = torch.from_numpy(terminated | truncated)
        now = to_tensors(observation)
    return now


def update(
    agent: Agent, optimiser: torch.optim.Optimizer, data: Rollout, gain: Tensor, args: Args
) -> None:
    """PPO's clipped update on the rollout."""
    target = (gain + data.value).flatten()
    seen, mask, action, before, gain = (
        x.flatten(0, 1) for x in (data.seen, data.mask, data.action, data.logprob, gain)
    )
    for _ in range(args.epochs):
        for rows in torch.randperm(len(action)).split(args.minibatch):
            policy = agent.policy(seen[rows], mask[rows])
            ratio = (policy.log_prob(action[rows]) - before[rows]).exp()
            a = (gain[rows] - gain[rows].mean()) / (gain[rows].std() + 1e-8)
            clipped = ratio.clamp(1 - args.clip, 1 + args.clip)
            policy_loss = -torch.min(a * ratio, a * clipped).mean()
            value_loss = (agent.critic(seen[rows]).squeeze(1) - target[rows]).pow(2).mean()
            loss = policy_loss + args.value * value_loss - args.entropy * policy.entropy().mean()
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), args.max_grad_norm)
            optimiser.step()


def train(args: Args) -> Agent:
    """Learn single hands of Block against bots."""
    torch.manual_seed(args.seed)
    env = gymnasium.make_vec(
        "dominozoo/Block-v0", num_envs=args.num_envs, opponents=args.opponents, max_hands=1
    )
    now = to_tensors(env.reset(seed=args.seed)[0])
    actions = now[1].shape[1]
    agent, data = Agent(actions, args.width), Rollout(args, actions)
    optimiser = torch.optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)
    updates = max(1, args.total_steps // (args.num_envs * args.num_steps))
    for k in range(updates):
        optimiser.param_groups[0]["lr"] = args.learning_rate * (1 - k / updates)
        now = collect(env, agent, data, now)
        with torch.no_grad():
            last = agent.critic(now[0]).squeeze(1)
        update(agent, optimiser, data, data.advantages(last, args.gamma, args.gae_lambda), args)
        if (k + 1) % max(1, updates // 10) == 0:
            steps, hands = (k + 1) * args.num_envs * args.num_steps, data.done.sum()
            print(f"step {steps}: {data.reward.sum() / hands:+.4f} points a hand", flush=True)
    return agent


def evaluate(agent: Agent, args: Args) -> None:
    """Print how the agent fares against each bot; it plays its likeliest action."""

    @torch.no_grad()
    def act(observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        seen, legal = to_tensors({"observation": observation, "action_mask": mask})
        return agent.policy(seen, legal).probs.argmax(dim=1).numpy()

    for rival in ("random", "normal", "hard"):
        found = win_rate(act, "block", opponents=rival, deals=args.deals, seed=TEST_SEED)
        print(f"against {rival}: {found}")


def main() -> None:
    """Read the settings, learn, measure."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    for field in fields(Args):
        option = "--" + field.name.replace("_", "-")
        parser.add_argument(option, type=type(field.default), default=field.default)
    parser.add_argument("--quick", action="store_true", help="a small run, to see that it works")
    given = vars(parser.parse_args())
    if given.pop("quick"):
        given.update(total_steps=65_536, num_envs=128, num_steps=32, minibatch=1024, deals=500)
    args = Args(**given)
    torch.set_num_threads(1)
    start = time.perf_counter()
    agent = train(args)
    print(f"seed {args.seed}: {args.total_steps} decisions in {time.perf_counter() - start:.0f} s")
    evaluate(agent, args)


if __name__ == "__main__":
    main()
