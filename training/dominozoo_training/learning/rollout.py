"""Self-play: every seat of every table is played by the policy that learns.

A *moment* is one decision on every table. What the networks read is computed once, where the
decision is made, and kept for the update; there is no Python loop over tables.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from dominozoo.tables import Tables
from dominozoo_training.policy.compiled import describe
from dominozoo_training.policy.encoder import Encoder
from dominozoo_training.policy.network import Critic, PolicyNetwork, spread

SPENT: Final = ("encoding", "policy", "tables", "critic", "update")


@dataclass(frozen=True, slots=True)
class Seen:
    """``policy.compiled.Inputs`` as tensors: a decision on each of N tables, K legal actions in all.

    Attributes:
        actions: (K, columns) float32, for the policy's ``score``, table by table.
        rows: (K,) int64, the table of each legal action, ascending.
        columns: (K,) int64, its place among its table's legal actions, from 0.
        ids: (K,) int64, its action id.
        values: (N, columns) float32, for the policy's ``worth``.
        critic: (N, columns) float32, for the critic's ``net``.
    """

    actions: Tensor
    rows: Tensor
    columns: Tensor
    ids: Tensor
    values: Tensor
    critic: Tensor

    def part(self, first: int, last: int) -> Seen:
        """Tables first..last-1 alone."""
        a, b = torch.searchsorted(self.rows, self.rows.new_tensor([first, last])).tolist()
        return Seen(
            self.actions[a:b],
            self.rows[a:b] - first,
            self.columns[a:b],
            self.ids[a:b],
            self.values[first:last],
            self.critic[first:last],
        )


@dataclass(frozen=True, slots=True)
class Batch:
    """T decisions on each of B tables, and what they led to.

    Attributes:
        seen: T descriptions.
        chosen: (T, B) int64, the column of the action that was played.
        log_probs: (T, B) float32, its log probability then.
        advantages: (T, B) float32, of the seat that moved.
        returns: (T, B, players) float32, what the critic should have said, by relative seat.
        explained: share of the returns' variance that the critic's values explain.
        hands: hands that ended.
        forced: moves without a choice that were played on the way.
    """

    seen: list[Seen]
    chosen: Tensor
    log_probs: Tensor
    advantages: Tensor
    returns: Tensor
    explained: float
    hands: int
    forced: int


def outputs(network: nn.Module, inputs: Tensor, bf16: bool = False) -> Tensor:
    """What a network makes of its inputs, float32; with ``bf16`` it multiplies in bfloat16."""
    with torch.autocast(inputs.device.type, torch.bfloat16, enabled=bf16):
        found: Tensor = network(inputs)
    return found.float()


def look(tables: Tables, coder: Encoder, device: torch.device) -> Seen:
    """Describe the decisions that the tables wait for."""
    secrets = coder.secrets(tables.records, tables.turn)
    inputs = describe(coder, tables.observation, tables.mask, secrets)
    arrays = (getattr(inputs, field.name) for field in fields(inputs))
    return Seen(*(torch.from_numpy(array).to(device) for array in arrays))


def sample(logits: Tensor, chance: Tensor) -> tuple[Tensor, Tensor]:
    """Draw a column a row: (N,) int64, and its log probability, (N,) float32.

    Args:
        logits: (N, W), MASKED where there is no action.
        chance: (N,) in (0, 1]; the cumulative distribution is inverted at it.
    """
    log_probs = torch.log_softmax(logits, dim=1)
    total = log_probs.exp().cumsum(dim=1)
    chosen = (total < (chance * total[:, -1]).unsqueeze(1)).sum(dim=1)
    return chosen, log_probs.gather(1, chosen.unsqueeze(1)).squeeze(1)


def gae(
    rewards: npt.NDArray[np.float32],
    values: npt.NDArray[np.float32],
    ends: npt.NDArray[np.bool_],
    lam: float,
) -> npt.NDArray[np.float32]:
    """Generalised advantages of every seat, undiscounted (Schulman et al. 2016, eq. 16).

    A seat's advantage runs through the moves of the others; that is sound because the values know
    every hand, whoever moves.

    Args:
        rewards: (T, B, players), what decision t led to.
        values: (T + 1, B, players), by absolute seat.
        ends: (T, B), True where an episode ended after decision t.
        lam: 0 looks one decision ahead, 1 to the episode's end.

    Returns:
        (T, B, players) float32.
    """
    going = (~ends)[:, :, None].astype(np.float32)
    delta = rewards + going * values[1:] - values[:-1]
    advantages: npt.NDArray[np.float32] = np.empty(rewards.shape, np.float32)
    last = np.zeros_like(delta[0])
    for t in reversed(range(len(delta))):
        last = delta[t] + np.float32(lam) * going[t] * last
        advantages[t] = last
    return advantages


def turned(by_seat: npt.NDArray[Any], turn: npt.NDArray[np.int8], sign: int) -> npt.NDArray[Any]:
    """Reorder the last axis: sign 1 from absolute to relative seats, -1 back."""
    players = by_seat.shape[-1]
    away = np.arange(players)
    seats = (away + sign * turn[..., None].astype(np.int64)) % players
    return np.take_along_axis(by_seat, seats, axis=-1)


class Player:
    """Plays tables on and remembers; the tables themselves carry the last observation over.

    Args:
        tables: with ``auto_forced``, so that decisions are choices.
        policy: plays every seat.
        critic: values every hand.
        rng: draws the moves.
        device: where the networks are.
        bf16: the networks multiply in bfloat16.

    Attributes:
        spent: seconds so far by what was done; on CUDA they tell little, work is only queued there.
    """

    def __init__(
        self,
        tables: Tables,
        policy: PolicyNetwork,
        critic: Critic,
        rng: np.random.Generator,
        device: torch.device,
        bf16: bool = False,
    ) -> None:
        self.tables = tables
        self.policy = policy
        self.critic = critic
        self.rng = rng
        self.device = device
        self.bf16 = bf16
        self.spent: dict[str, float] = dict.fromkeys(SPENT, 0.0)

    @contextmanager
    def timed(self, what: str) -> Iterator[None]:
        """Add the seconds of what is done inside to ``spent``."""
        start = time.perf_counter()
        yield
        self.spent[what] += time.perf_counter() - start

    def decide(self, seen: Seen) -> tuple[Tensor, Tensor]:
        """Draw a move for every table: its column and its log probability."""
        logits = outputs(self.policy.score, seen.actions, self.bf16).squeeze(-1)
        grid = spread(logits, seen.rows, seen.columns, len(self.tables))
        chance = torch.from_numpy(1.0 - self.rng.random(len(self.tables), np.float32))
        return sample(grid, chance.to(self.device))

    def move(self, seen: Seen, chosen: Tensor) -> None:
        """Make the chosen moves."""
        first = torch.searchsorted(seen.rows, torch.arange(len(self.tables), device=self.device))
        self.tables.step(seen.ids[first + chosen].cpu().numpy())

    def result(self, goal: str) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.bool_]]:
        """Rewards (B, players) of the last step, and where it ended an episode (B,)."""
        tables = self.tables
        if goal == "match":
            return tables.reward, tables.terminated | tables.truncated
        if goal == "win":
            best = tables.reward.max(axis=1, keepdims=True)
            shares = tables.reward / np.where(best > 0, best, 1)
            return shares.astype(np.float32), tables.hands_ended > 0
        return tables.reward, tables.hands_ended > 0

    @torch.no_grad()
    def play(self, steps: int, lam: float, goal: str = "points") -> Batch:
        """Make ``steps`` decisions on every table.

        Args:
            steps: T.
            lam: of the advantages.
            goal: "points" of a hand, "win" (1 to a hand's winner, whatever it scores), or "match".
        """
        tables = self.tables
        shape = (steps, len(tables))
        rewards = np.empty((*shape, tables.rules.players), np.float32)
        ends, turn = np.empty(shape, np.bool_), np.empty((steps + 1, len(tables)), np.int8)
        moments, choices, log_probs = [], [], []
        hands = forced = 0
        for t in range(steps):
            with self.timed("encoding"):
                seen = look(tables, self.policy.encoder, self.device)
            with self.timed("policy"):
                chosen, log_prob = self.decide(seen)
            turn[t] = tables.turn
            with self.timed("tables"):
                self.move(seen, chosen)
            rewards[t], ends[t] = self.result(goal)
            hands += int(tables.hands_ended.sum())
            forced += int(tables.forced.sum())
            moments.append(seen)
            choices.append(chosen)
            log_probs.append(log_prob)
        turn[steps] = tables.turn
        with self.timed("critic"):
            values = self.values([*moments, look(tables, self.policy.encoder, self.device)])
        values = turned(values, turn, -1)
        advantages = gae(rewards, values, ends, lam)
        returns = turned(advantages + values[:-1], turn[:-1], 1)
        missed = turned(advantages, turn[:-1], 1)
        return Batch(
            moments,
            torch.stack(choices),
            torch.stack(log_probs),
            torch.from_numpy(missed[:, :, 0].copy()).to(self.device),
            torch.from_numpy(returns).to(self.device),
            1.0 - float(missed.var() / max(returns.var(), 1e-12)),
            hands,
            forced,
        )

    def values(self, moments: list[Seen]) -> npt.NDArray[np.float32]:
        """The critic's values of each moment, (T, B, players) float32, by relative seat."""
        return np.stack(
            [outputs(self.critic.net, seen.critic, self.bf16).cpu().numpy() for seen in moments]
        )
