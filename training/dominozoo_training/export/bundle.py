"""Writing a bot bundle: one zip with all that another program needs to play a policy.

Nothing is written before the exported graph, the NumPy reader and PyTorch have given the same on
thousands of positions. The same policy gives the same bytes.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import safetensors.torch

import dominozoo
from dominozoo.bots.archive import CARD, GRAPH, MANIFEST, VECTORS, WEIGHTS, read_weights
from dominozoo.bots.bundle import read_bundle
from dominozoo.bots.levels import GREEDY, SAMPLED
from dominozoo.bots.manifest import (
    ACTIONS,
    ARCHITECTURES,
    FORMAT,
    FORMAT_VERSION,
    READERS,
    field_table,
    rules_sha256,
    shape_of,
)
from dominozoo.bots.network import Network
from dominozoo.rules import TRUC, Rules
from dominozoo.tiles import NAMES, TILE_COUNT, TRUC_NAMES
from dominozoo_training.evaluation.entrants import samples
from dominozoo_training.export import graph
from dominozoo_training.export.onnx import TorchReader, to_onnx
from dominozoo_training.export.parity import TOLERANCE, VECTOR_TOLERANCE, compare, run_vectors
from dominozoo_training.export.positions import positions
from dominozoo_training.export.vectors import Reader, as_lines, vectors
from dominozoo_training.policy.checkpoint import Policy

LICENCE: Final = "Apache-2.0"
POSITIONS: Final = 2048  # compared before anything is written
VECTOR_COUNT: Final = 128
EARLIEST: Final = (1980, 1, 1, 0, 0, 0)  # the oldest time that a zip can hold
PLAIN_FILE: Final = 0o100644 << 16

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


class ExportError(ValueError):
    """A policy that cannot be exported, or a file that cannot be written; one line says why."""


def export_policy(
    policy: Policy,
    path: str | Path,
    *,
    bot_id: str | None = None,
    version: str = "1",
) -> dict[str, Any]:
    """Export a policy as a bundle.

    Args:
        policy: the policy, with its rules and its ``meta``.
        path: the file to write, ``NAME.dombot``; an old one is replaced.
        bot_id: the bot's name; by default the game and the start of the weights' checksum.
        version: the bot's version.

    Returns:
        The manifest.

    Raises:
        ExportError: if readers disagree, or the file can't be written; nothing is left behind.
        GraphError: if the graph is not what a bundle may hold.
    """
    require_writable(Path(path))
    network = policy.network.eval()
    members = {
        GRAPH: to_onnx(network),
        WEIGHTS: safetensors.torch.save(
            {k: v.contiguous() for k, v in network.state_dict().items()}
        ),
    }
    shape = shape_of(policy.rules, network.encoder.sizes)
    readers: dict[str, Reader] = {
        "onnxruntime": graph.GraphPolicy(members[GRAPH]),
        "NumPy": Network(read_weights(members[WEIGHTS]), shape),
    }
    reference = TorchReader(network)
    worst = compare(reference, readers, positions(policy.rules, POSITIONS))
    for name, difference in worst.items():
        if not difference <= TOLERANCE:
            raise ExportError(f"{name} differs from PyTorch by {difference:.1e}; nothing written")
    members[VECTORS] = as_lines(vectors(policy.rules, reference, VECTOR_COUNT))
    sha = hashlib.sha256(members[WEIGHTS]).hexdigest()
    manifest = describe(policy, members, bot_id or f"{slug(policy.rules)}-{sha[:8]}", version)
    members[CARD] = card(manifest, policy.meta).encode()
    manifest["files"] = {name: entry(data) for name, data in sorted(members.items())}
    members[MANIFEST] = (json.dumps(manifest, indent=1, sort_keys=True) + "\n").encode()
    write_whole(Path(path), pack(members), verify_file)
    return manifest


def verify_file(path: Path) -> None:
    """Read a written bundle as a stranger would, and run its vectors.

    Raises:
        ExportError: if a vector doesn't come out.
    """
    for name, run in run_vectors(read_bundle(path)).items():
        if run.failed:
            raise ExportError(f"the written vectors fail in {name}: {run.first}")


def slug(rules: Rules) -> str:
    """A game's text form as a name for files: ``draw-players-3``."""
    words = "".join(letter if letter.isalnum() else " " for letter in str(rules)).split()
    return "-".join(words).lower()


def entry(data: bytes) -> dict[str, Any]:
    """Checksum and size of a file, as the manifest lists them."""
    return {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def describe(
    policy: Policy, members: dict[str, bytes], bot_id: str, version: str
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
        },
        "onnx": {
            "opset": graph.OPSET,
            "ir_version": graph.IR_VERSION,
            "operators": graph.operators(members[GRAPH]),
        },
        "value": describe_value(rules, meta),
        "select": describe_select(rules),
        "tolerance": {"readers": TOLERANCE, "vectors": VECTOR_TOLERANCE},
        "strength": meta.get("strength"),
        "source": {
            "weights_sha256": hashlib.sha256(members[WEIGHTS]).hexdigest(),
            **{key: meta[key] for key in ("decisions", "seed", "goal") if key in meta},
        },
    }


def describe_select(rules: Rules) -> dict[str, str]:
    """How moves are chosen from the probabilities."""
    greedy = "the most probable action, of equals the first"
    if not samples(rules):
        return {"default": GREEDY, GREEDY: greedy}
    drawn = "drawn by the probabilities: the most probable action alone gives every bluff away"
    return {"default": SAMPLED, SAMPLED: drawn, GREEDY: greedy}


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
    strength = (
        json.dumps(manifest["strength"], indent=1) if manifest["strength"] else "not measured"
    )
    training = {k: meta[k] for k in ("decisions", "seed", "goal", "versions") if k in meta}
    wide = files["inputs"][1]["shape"][1]
    return f"""---
license: {manifest["licence"].lower()}
library_name: dominozoo
tags: [dominoes, reinforcement-learning, self-play]
---
# {manifest["id"]}

A bot for {game["title"]}, `{game["text"]}`, learnt by self-play. It sees only what its seat may see.

- `policy.onnx` takes `observation` int32 (batch, {manifest["observation"]["size"]}) and `mask` int32
  (batch, {wide}); it gives `probabilities` float32 (batch, {wide}) and `value` float32 (batch,).
- `manifest.json` says what each number means. `vectors.jsonl` holds positions with the answers
  that come out if they are fed rightly: compare probabilities, not moves.
- Value: {manifest["value"]["meaning"]}; {manifest["value"]["unit"]}.

## Strength

{strength}

## Training

{json.dumps(training, indent=1) if training else "not recorded"}
"""


def pack(members: dict[str, bytes]) -> bytes:
    """Zip files so that the same contents give the same bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in (MANIFEST, *sorted(set(members) - {MANIFEST})):
            info = zipfile.ZipInfo(name, EARLIEST)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.create_system, info.external_attr = 3, PLAIN_FILE
            archive.writestr(info, members[name])
    return buffer.getvalue()


def require_writable(path: Path) -> None:
    """Refuse a place that can't be written, before minutes are spent on what goes there."""
    try:
        if path.is_dir():
            raise IsADirectoryError(21, "it is a folder")
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise _cannot_write(path, error) from error


def write_whole(path: Path, data: bytes, check: Callable[[Path], None]) -> None:
    """Write a file under another name, check it, then rename it: it is there whole or not at all."""
    temporary = None
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        temporary = Path(name)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        check(temporary)
        temporary.chmod(0o644)
        temporary.replace(path)
    except OSError as error:
        raise _cannot_write(path, error) from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def _cannot_write(path: Path, error: OSError) -> ExportError:
    return ExportError(f"cannot write {path}: {error.strerror or error}")
