"""The update: clipped PPO on the legal actions alone (Schulman et al. 2017).

With a magnet, a policy that follows slowly, the divergence from it is a loss, too: magnetic mirror
descent, whose last policy comes near an equilibrium where bare self-play circles (Sokota et al. 2023).

A minibatch is one decision of many tables: neighbours in time are never in the same one, and
nothing has to be shuffled or copied.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from dominozoo_training.learning.config import Ppo
from dominozoo_training.learning.distributed import SOLO, Team
from dominozoo_training.learning.rollout import Batch, Seen, outputs
from dominozoo_training.policy.network import Critic, PolicyNetwork, spread

REPORTED = (
    *(
        "policy_loss",
        "critic_loss",
        "value_loss",
        "entropy",
        "magnet",
        "kl",
        "clipped",
        "grad_norm",
    ),
)


@dataclass(frozen=True, slots=True)
class Minibatch:
    """N decisions; fields as in ``rollout.Batch``, one moment and some of its tables."""

    seen: Seen
    chosen: Tensor
    log_probs: Tensor
    advantages: Tensor
    returns: Tensor


def minibatches(batch: Batch, size: int, rng: np.random.Generator) -> list[Minibatch]:
    """Cut a batch into minibatches of ``size`` tables at one moment, in random order."""
    steps, tables = batch.chosen.shape
    parts = tables // size
    cut = []
    for number in rng.permutation(steps * parts).tolist():
        t, first = number // parts, number % parts * size
        last = first + size
        seen = batch.seen[t] if parts == 1 else batch.seen[t].part(first, last)
        fields = (batch.chosen, batch.log_probs, batch.advantages, batch.returns)
        cut.append(Minibatch(seen, *(field[t, first:last] for field in fields)))
    return cut


@dataclass(frozen=True, slots=True)
class Terms:
    """What the policy's loss is made of, means over the decisions with a choice.

    Attributes:
        loss: clipped policy loss.
        entropy: of the policy.
        magnet: divergence from the magnet, 0 without one.
        kl: divergence from the policy that played.
        clipped: share of clipped decisions.
    """

    loss: Tensor
    entropy: Tensor
    magnet: Tensor
    kl: Tensor
    clipped: Tensor


def log_probs_of(policy: PolicyNetwork, seen: Seen, count: int, bf16: bool = False) -> Tensor:
    """Log probabilities of the legal actions of ``count`` decisions, (count, W), else MASKED."""
    logits = outputs(policy.score, seen.actions, bf16).squeeze(-1)
    return torch.log_softmax(spread(logits, seen.rows, seen.columns, count), dim=1)


def policy_terms(
    policy: PolicyNetwork,
    batch: Minibatch,
    settings: Ppo,
    magnet: PolicyNetwork | None = None,
    team: Team = SOLO,
) -> Terms:
    """The terms of the policy's loss; decisions without a choice are not learned from."""
    count, clip, bf16 = len(batch.chosen), settings.clip, settings.bf16
    log_probs = log_probs_of(policy, batch.seen, count, bf16)
    choice = torch.bincount(batch.seen.rows, minlength=count) > 1
    weight = choice.float() / team.mean(choice.sum().float()).clamp(min=1)
    advantages = normalised(batch.advantages, weight, team)
    change = log_probs.gather(1, batch.chosen.unsqueeze(1)).squeeze(1) - batch.log_probs
    ratio = change.exp()
    gain = torch.minimum(ratio * advantages, ratio.clamp(1 - clip, 1 + clip) * advantages)
    chances = log_probs.exp()
    pull = log_probs.new_zeros(())
    if magnet is not None:
        with torch.no_grad():
            slow = log_probs_of(magnet, batch.seen, count, bf16)
        pull = (weight * (chances * (log_probs - slow)).sum(dim=1)).sum()
    with torch.no_grad():
        kl = (weight * (ratio - 1 - change)).sum()  # Schulman's low-variance estimate
        clipped = (weight * ((ratio - 1).abs() > clip)).sum()
    entropy = (weight * -(chances * log_probs).sum(dim=1)).sum()
    return Terms(-(weight * gain).sum(), entropy, pull, kl, clipped)


def normalised(advantages: Tensor, weight: Tensor, team: Team = SOLO) -> Tensor:
    """Advantages with mean 0 and deviation 1 under the weights, over all processes."""
    centred = advantages - team.mean((weight * advantages).sum())
    return centred / (team.mean((weight * centred.square()).sum()).sqrt() + 1e-8)


def step(
    policy: PolicyNetwork,
    critic: Critic,
    optimiser: torch.optim.Optimizer,
    batch: Minibatch,
    settings: Ppo,
    entropy_weight: float,
    magnet: PolicyNetwork | None = None,
    team: Team = SOLO,
) -> Tensor:
    """One gradient step; returns the figures of ``REPORTED`` as a tensor."""
    terms = policy_terms(policy, batch, settings, magnet, team)
    values = outputs(critic.net, batch.seen.critic, settings.bf16)
    critic_loss = nn.functional.mse_loss(values, batch.returns)
    worth = outputs(policy.worth, batch.seen.values, settings.bf16).squeeze(-1)
    value_loss = nn.functional.mse_loss(worth, batch.returns[:, 0])
    loss = (
        terms.loss
        - entropy_weight * terms.entropy
        + settings.magnet * terms.magnet
        + settings.critic_weight * critic_loss
        + settings.value_weight * value_loss
    )
    optimiser.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    weights = [weight for group in optimiser.param_groups for weight in group["params"]]
    team.average_gradients(weights)
    norm = nn.utils.clip_grad_norm_(weights, settings.max_grad_norm)
    optimiser.step()
    losses = (terms.loss, critic_loss, value_loss, terms.entropy, terms.magnet)
    figures = (*losses, terms.kl, terms.clipped, norm)
    return torch.stack([figure.detach() for figure in figures])


def update(
    policy: PolicyNetwork,
    critic: Critic,
    optimiser: torch.optim.Optimizer,
    batch: Batch,
    settings: Ppo,
    rng: np.random.Generator,
    progress: float,
    magnet: PolicyNetwork | None = None,
    team: Team = SOLO,
) -> dict[str, float]:
    """Learn from a batch.

    Args:
        policy: its ``score`` and ``worth`` are changed.
        critic: changed, too.
        optimiser: of both.
        batch: what was just played with these networks.
        settings: of PPO.
        rng: orders the minibatches.
        progress: 0..1, how much of the budget is used, for the schedules.
        magnet: the policy to stay near, with the weight ``settings.magnet``.
        team: the processes that learn together, each from its own batch of the same size.

    Returns:
        Means over the minibatches of the figures of ``REPORTED``; ``explained`` and the schedules.
    """
    rate = between(settings.learning_rate, settings.learning_rate_end, progress)
    entropy_weight = between(settings.entropy, settings.entropy_end, progress)
    for group in optimiser.param_groups:
        group["lr"] = rate
    figures = [
        step(policy, critic, optimiser, minibatch, settings, entropy_weight, magnet, team)
        for _ in range(settings.epochs)
        for minibatch in minibatches(batch, settings.minibatch, rng)
    ]
    means = torch.stack(figures).mean(dim=0).tolist()
    return {
        **dict(zip(REPORTED, means, strict=True)),
        "explained": batch.explained,
        "learning_rate": rate,
        "entropy_weight": entropy_weight,
    }


def between(first: float, last: float, progress: float) -> float:
    """Linear schedule: ``first`` at progress 0, ``last`` at 1."""
    return first + (last - first) * min(max(progress, 0.0), 1.0)
