"""How strong a policy is at each level: measured in the arena when it is exported."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any, Final

from dominozoo.bots.levels import GREEDY, NAMES, SAMPLED, UNMEASURED, AtLevel, Level
from dominozoo.rules import TRUC, Rules
from dominozoo_training.evaluation.arena import make_setting, play_pair
from dominozoo_training.evaluation.entrants import policy_entrant, samples, scripted
from dominozoo_training.policy.checkpoint import Policy

OPPONENTS: Final = ("random", "normal", "hard")
JUDGE: Final = "normal"  # whoever is between the levels tells them apart best
SEED: Final = 3000017  # of deals that nothing else is measured with
DIGITS: Final = 4

# Chosen by measurement: each level wins clearly more than the one below, and its moves are still
# those of a player. A policy that draws its moves goes on drawing them.
LEVELS: Final[dict[str, dict[str, Level]]] = {
    GREEDY: {"easy": Level(0.6, 0.0), "normal": Level(0.25, 0.0), "hard": Level(0.0, 0.0)},
    SAMPLED: {"easy": Level(0.6, 1.0), "normal": Level(0.25, 1.0), "hard": Level(0.0, 1.0)},
}

Json = dict[str, Any]


def levels_of(rules: Rules) -> dict[str, Level]:
    """The levels that a policy for a game is exported with."""
    return LEVELS[SAMPLED if samples(rules) else GREEDY]


def unmeasured(rules: Rules) -> dict[str, Json]:
    """The levels as a manifest has them, marked as not measured."""
    return {
        name: {**level._asdict(), "strength": UNMEASURED}
        for name, level in levels_of(rules).items()
    }


def measure(
    policy: Policy, deals: int, report: Callable[[str], None] | None = None
) -> dict[str, Json]:
    """The levels as a manifest has them, each with its results against scripted bots.

    Args:
        policy: the policy that is exported.
        deals: duplicate deals against each; in Le Truc, where single rounds tell little, matches.
        report: told in words what has been measured.
    """
    rules = policy.rules
    unit = "match" if rules.variant.family == TRUC else "hand"
    setting = make_setting(rules, deals, SEED, unit, "rule")
    levels = unmeasured(rules)
    for name, level in levels_of(rules).items():
        player = policy_entrant(name, AtLevel(policy, level), sample=True)
        rows = []
        for opponent in OPPONENTS:
            result = asdict(play_pair(setting, player, scripted(opponent)))
            row = {key: result[key] for key in ("games", "win_rate", "low", "high", "points")}
            figures = {k: round(v, DIGITS) for k, v in row.items()}
            told = {"unit": unit, "opening": setting.opening, "seed": SEED}
            rows.append({"opponent": opponent, **figures, **told})
            if report is not None:
                rate, low, high = (100 * row[key] for key in ("win_rate", "low", "high"))
                report(
                    f"{name} against {opponent}: {rate:.2f} % ({low:.2f}..{high:.2f}) of {unit}s"
                )
        levels[name]["strength"] = rows
    return levels


def in_order(levels: Mapping[str, Json]) -> bool:
    """Whether each level is clearly stronger than the one below: intervals that don't overlap.

    Args:
        levels: measured, as a manifest has them.
    """
    rows = [
        next(row for row in levels[name]["strength"] if row["opponent"] == JUDGE) for name in NAMES
    ]
    return all(lower["high"] < upper["low"] for lower, upper in itertools.pairwise(rows))


def remark(levels: Mapping[str, Json]) -> str:
    """What there is to say of a bundle's levels once it is exported."""
    if any(level["strength"] == UNMEASURED for level in levels.values()):
        return f"{UNMEASURED}; --deals 20000 measures them"
    told = f"easy < normal < hard against {JUDGE}"
    return f"{told}, intervals apart" if in_order(levels) else f"NOT clearly {told}: more deals?"
