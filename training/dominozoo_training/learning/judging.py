"""How strong a policy in training is: measured on the way and at the end, shown, and its card."""

from __future__ import annotations

import shlex
from typing import Any, Final

from dominozoo_training.evaluation.arena import Result, make_setting, play_pair
from dominozoo_training.evaluation.entrants import policy_entrant, samples, scripted
from dominozoo_training.learning.display import Display, Metrics
from dominozoo_training.learning.state import Learner, frozen_policy

UNITS: Final = {"hand": "hands", "match": "matches"}
HOW: Final = {"hand": "--opening rule", "match": "--unit match"}  # as measure() has it
GOALS: Final = {"points": "the points of a hand", "win": "won hands", "match": "won matches"}


def measure(learner: Learner, deals: int, seed: int, unit: str) -> list[Result]:
    """Judge the policy against every opponent of the configuration, opened by rule."""
    rules, opening = learner.config.rules, "rule" if unit == "hand" else None
    setting = make_setting(rules, deals, seed, unit, opening)
    player = policy_entrant("policy", frozen_policy(learner), sample=samples(rules))
    opponents = learner.config.evaluation.opponents
    return [play_pair(setting, player, scripted(name)) for name in opponents]


def strengths(results: list[Result], seed: int, unit: str) -> list[dict[str, Any]]:
    """Measured strength as it stands in ``meta.json``: what was won, opened by rule."""
    return [
        {
            "opponent": result.b,
            "games": result.games,
            "win_rate": round(result.win_rate, 4),
            "low": round(result.low, 4),
            "high": round(result.high, 4),
            "points": round(result.points, 4),
            "unit": unit,
            "opening": "rule",
            "seed": seed,
        }
        for result in results
    ]


def report(
    learner: Learner, metrics: Metrics, display: Display, kind: str, results: list[Result]
) -> None:
    """Write and show win rates."""
    figures: dict[str, float] = {}
    for result in results:
        figures[f"{result.b}_win_rate"] = result.win_rate
        figures[f"{result.b}_low"] = result.low
        figures[f"{result.b}_high"] = result.high
    metrics.write(kind, learner.decisions, {"minutes": learner.seconds / 60, **figures})
    even = 1 / learner.config.rules.sides
    display.judged(results, even, final=kind.startswith("final"))


def began(learner: Learner) -> str:
    """Where training began, for the card."""
    if learner.start is None:
        return "from scratch"
    return "on from the policy of `{game}` after {decisions:,} decisions".format(**learner.start)


def card(learner: Learner, measured: list[dict[str, Any]], command: str) -> str:
    """What people should know about a policy, Markdown."""
    config = learner.config
    rules, even = config.rules, 100 / config.rules.sides
    settings = config.evaluation
    checks = "`,\n`".join(
        f"dominozoo arena {shlex.quote(str(rules))} --players FOLDER,{settings.opponents[-1]} "
        f"{HOW[unit]} --deals {deals} --seed {settings.final_seed}"
        for unit, deals in settings.finals.items()
    )
    rows = "\n".join(
        f"| {s['opponent']} | {UNITS[s['unit']]} | {100 * s['win_rate']:.2f} % | "
        f"{100 * s['low']:.2f}..{100 * s['high']:.2f} | {s['games']} | {s['points']:+.4f} | "
        f"{s['seed']} |"
        for s in measured
    )
    plays = "draws its moves by their chances" if samples(rules) else "plays the likeliest move"
    aims = "it was rewarded for matches, not for\npoints"
    if config.rollout.goal != "match":
        aims = "the score of the match is seen but\nsingle hands are what it was rewarded for"
    return f"""# {rules.variant.title}: `{rules}`

A policy that scores each legal action from what it leads to, trained by self-play (PPO) {began(learner)};
no game of people or of scripted bots was seen. It maximises {GOALS[config.rollout.goal]}.

- Training: {learner.decisions:,} decisions, seed {config.seed}; {learner.seconds / 60:.1f} minutes
  by the clock, device {learner.device.type}, threads {config.threads}.
- Command: `{command or "dominozoo train"}`
- Licence: Apache-2.0, as the project.

## Strength

Duplicate deals, each played from every side, single hands opened by rule; 95 % interval over deals.
Even is {even:.4g} %. Points are the reward of a hand. The deals' seed was used for nothing else. To check:
`{checks}`

| Opponent | Unit | Won | Interval | Games | Points a hand | Seed |
|---|---|---|---|---|---|---|
{rows}

## Weaknesses

It {plays} and doesn't adapt to its opponent; {aims}. How far a player made to beat it
gets wasn't measured.
"""
