"""What a bundle says of itself: its manifest, and a card for people."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Final

import dominozoo
from dominozoo.bots.archive import GRAPH, WEIGHTS
from dominozoo.bots.levels import GREEDY, SAMPLED, UNMEASURED
from dominozoo.bots.levels import NAMES as LEVEL_NAMES
from dominozoo.bots.manifest import (
    ACTIONS,
    ARCHITECTURES,
    FORMAT,
    FORMAT_VERSION,
    READERS,
    field_table,
    rules_sha256,
)
from dominozoo.rules import TRUC, Rules
from dominozoo.tiles import NAMES, TILE_COUNT, TRUC_NAMES
from dominozoo_training.evaluation.entrants import samples
from dominozoo_training.export import graph
from dominozoo_training.export.parity import TOLERANCE, VECTOR_TOLERANCE
from dominozoo_training.policy.checkpoint import Policy

LICENCE: Final = "Apache-2.0"
LEVELS_MEAN: Final = (
    "take two numbers u, v in 0..1 from the seed; if u < blunder, the legal action at place "
    "floor(v * count) in the order of ids; else, with w = p ** (1 / temperature) of each legal action, "
    "the first at which the sum of w exceeds v times their whole sum; temperature 0 is the most "
    "probable action, of equals the first"
)
# What the value speaks of, by the goal that the policy was trained for.
VALUE_UNITS: Final = {
    "wins": "points of the hand won, negative if lost: reward='hand' of the environment",
    "pips": "points of the hand divided by the target: reward='hand' of the environment",
    "truc": "points of the round divided by the target: reward='hand' of the environment",
    "penalties": "(mean penalty - own penalty) / target: reward='hand' of the environment",
}
VALUE_GOALS: Final = {
    "win": "1 to the winner of the hand, shared out negatively among the others",
    "match": "1 to the winner of the match, shared out negatively among the others",
}


def describe(
    policy: Policy,
    members: dict[str, bytes],
    bot_id: str,
    version: str,
    levels: Mapping[str, Any],
) -> dict[str, Any]:
    """The manifest, but for ``files``."""
    rules, network, meta = policy.rules, policy.network, policy.meta
    encoder, family = network.encoder, rules.variant.family
    layout = encoder.layout
    return {
        "format": f"{FORMAT}/{FORMAT_VERSION}",
        "min_reader": READERS[family],
        "id": bot_id,
        "version": version,
        "licence": LICENCE,
        "made_with": f"dominozoo {dominozoo.__version__}",
        "game": {
            "name": rules.game,
            "text": str(rules),
            "title": rules.variant.title,
            "family": family,
            "rules": rules.options,
            "rules_sha256": rules_sha256(rules),
        },
        "observation": {
            "layout": layout.name,
            "version": layout.version,
            "size": layout.size,
            "seats": "relative: 0 = the observer, then in playing order",
            "fields": field_table(layout),
        },
        "actions": describe_actions(rules, network.action_count),
        "tensors": graph.interface(layout, network.action_count),
        "network": {
            "architecture": ARCHITECTURES[family],
            **encoder.sizes,
            "hidden": list(network.hidden),
            "value_hidden": list(network.value_hidden),
            "weights": stored(members[WEIGHTS]),
        },
        "onnx": {
            "opset": graph.OPSET,
            "ir_version": graph.IR_VERSION,
            "operators": graph.operators(members[GRAPH]),
        },
        "goal": goal_of(rules, meta),
        "value": describe_value(rules, meta),
        "select": describe_select(rules),
        "levels": levels,
        "tolerance": {"readers": TOLERANCE, "vectors": VECTOR_TOLERANCE},
        "strength": meta.get("strength"),
        "source": {
            "weights_sha256": hashlib.sha256(members[WEIGHTS]).hexdigest(),
            **{key: meta[key] for key in ("decisions", "seed", "goal") if key in meta},
        },
    }


def stored(weights: bytes) -> str:
    """How weights are kept, F32 or F16; they are computed with in 32 bits."""
    header = json.loads(weights[8 : 8 + int.from_bytes(weights[:8], "little")])
    return "/".join(sorted({entry["dtype"] for name, entry in header.items() if name[0] != "_"}))


def goal_of(rules: Rules, meta: dict[str, Any]) -> str:
    """What a policy was trained to do, in words."""
    unit = "round" if rules.variant.family == TRUC else "hand"
    known = {
        "win": f"maximises won {unit}s",
        "match": "maximises won matches",
        "points": f"maximises the points of a {unit}",
    }
    goal = str(meta.get("goal", "points"))
    return known.get(goal, goal)


def describe_select(rules: Rules) -> dict[str, str]:
    """How moves are chosen from the probabilities."""
    found = {
        "default": SAMPLED if samples(rules) else GREEDY,
        GREEDY: "the most probable action, of equals the first",
        "levels": LEVELS_MEAN,
    }
    if samples(rules):
        found[SAMPLED] = "drawn by the probabilities: the likeliest alone gives every bluff away"
    return found


def describe_actions(rules: Rules, count: int) -> dict[str, Any]:
    """What the action ids mean."""
    table = {"table": ACTIONS[rules.variant.family], "count": count}
    if rules.variant.family == TRUC:
        return table | {
            "tiles": list(TRUC_NAMES),
            "play": "index in tiles",
            "call": f"{TILE_COUNT} + index in tiles: face down, calling double",
            "propose": count - 4,
            "stand": count - 3,
            "accept": count - 2,
            "reject": count - 1,
        }
    return table | {
        "ends": count // TILE_COUNT,
        "tiles": list(NAMES),
        "play": f"end * {TILE_COUNT} + index in tiles; ends 0 left, 1 right, French arms 0..3",
        "draw": count - 2,
        "pass": count - 1,
        "pose": "the first tile uses end 0 and lies with its higher number left",
        "equal_ends": "where both ends show the same number both are legal",
    }


def describe_value(rules: Rules, meta: dict[str, Any]) -> dict[str, Any]:
    """What the value output means."""
    scoring = "truc" if rules.variant.family == TRUC else rules.variant.fixed.get("scoring", "wins")
    goal = str(meta.get("goal", "points"))
    return {
        "meaning": "expected result for the observer, from what it may know",
        "unit": VALUE_GOALS.get(goal, VALUE_UNITS[str(scoring)]),
        "horizon": "match" if goal == "match" else "hand",
    }


def card(manifest: dict[str, Any], meta: dict[str, Any]) -> str:
    """The card for people, in the form that model collections read."""
    game, files = manifest["game"], manifest["tensors"]
    training = {k: meta[k] for k in ("decisions", "seed", "goal", "versions") if k in meta}
    wide = files["inputs"][1]["shape"][1]
    return f"""---
license: {manifest["licence"].lower()}
library_name: dominozoo
tags: [dominoes, reinforcement-learning, self-play]
---
# {manifest["id"]}

A bot for {game["title"]}, `{game["text"]}`, learnt by self-play; it {manifest["goal"]}. It sees only
what its seat may see.

- `policy.onnx` takes `observation` int32 (batch, {manifest["observation"]["size"]}) and `mask` int32
  (batch, {wide}); it gives `probabilities` float32 (batch, {wide}) and `value` float32 (batch,).
- `manifest.json` says what each number means. `vectors.jsonl` holds positions with the answers
  that come out if they are fed rightly: compare probabilities, not moves.
- `games.jsonl` holds whole hands with what each seat saw at every decision, and the answers.
- Value: {manifest["value"]["meaning"]}; {manifest["value"]["unit"]}.

## Strength

{strength_table(manifest["strength"])}

## Levels

{levels_table(manifest["levels"])}

## Training

{json.dumps(training, indent=1) if training else "not recorded"}
"""


def strength_table(strength: Any) -> str:
    """Results against other players, as a table."""
    if not isinstance(strength, list):
        return json.dumps(strength) if strength else UNMEASURED
    head = "| opponent | won | 95 % interval | games | unit |\n|---|---|---|---|---|"
    return "\n".join([head, *("| " + result_cells(row) + " |" for row in strength)])


def levels_table(levels: Mapping[str, Any]) -> str:
    """How each level is spoilt, and its results if they were measured."""
    head = "| level | blunders | temperature | opponent | won | 95 % interval | games | unit |"
    rows = [head, "|---" * 8 + "|"]
    for name in LEVEL_NAMES:
        level = levels[name]
        first = f"| {name} | {level['blunder']:g} | {level['temperature']:g} | "
        if level["strength"] == UNMEASURED:
            rows.append(f"{first}{UNMEASURED} | | | | |")
        else:
            rows += [f"{first}{result_cells(row)} |" for row in level["strength"]]
    return "\n".join(rows)


def result_cells(row: Mapping[str, Any]) -> str:
    """One result in a table's cells."""
    rate, low, high = (100 * row[key] for key in ("win_rate", "low", "high"))
    interval = f"{low:.2f}..{high:.2f}"
    return f"{row['opponent']} | {rate:.2f} % | {interval} | {row['games']} | {row['unit']}"


def slug(rules: Rules) -> str:
    """A game's text form as a name for files: ``draw-players-3``."""
    words = "".join(letter if letter.isalnum() else " " for letter in str(rules)).split()
    return "-".join(words).lower()
