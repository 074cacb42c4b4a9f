"""Writing a bot bundle: one zip with all that another program needs to play a policy.

Nothing is written before the exported graph, the NumPy reader and PyTorch have given the same on
thousands of positions. The same policy gives the same bytes.
"""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import safetensors.torch
import torch

from dominozoo.bots.archive import CARD, GAMES, GRAPH, MANIFEST, VECTORS, WEIGHTS, read_weights
from dominozoo.bots.bundle import read_bundle
from dominozoo.bots.manifest import shape_of
from dominozoo.bots.network import Network
from dominozoo_training.export import games, graph
from dominozoo_training.export.describe import card, describe, slug
from dominozoo_training.export.onnx import to_onnx
from dominozoo_training.export.packing import (
    ExportError,
    entry,
    pack,
    require_writable,
    write_whole,
)
from dominozoo_training.export.parity import TOLERANCE, check_bundle, compare
from dominozoo_training.export.positions import Positions, positions
from dominozoo_training.export.readers import Reader
from dominozoo_training.export.strength import measure, unmeasured
from dominozoo_training.export.torch_reader import TorchReader
from dominozoo_training.export.vectors import as_lines, vectors
from dominozoo_training.policy.checkpoint import Policy
from dominozoo_training.policy.network import PolicyNetwork

POSITIONS: Final = 2048  # compared before anything is written
VECTOR_COUNT: Final = 128
HALF_TOLERANCE: Final = 1e-2  # what rounding the weights may change of a probability or a value


def export_policy(
    policy: Policy,
    path: str | Path,
    *,
    bot_id: str | None = None,
    version: str = "1",
    half: bool = False,
    deals: int = 0,
    report: Callable[[str], None] | None = None,
) -> dict[str, Any]:
    """Export a policy as a bundle.

    Args:
        policy: the policy, with its rules and its ``meta``.
        path: the file to write, ``NAME.dombot``; an old one is replaced.
        bot_id: the bot's name; by default the game and the start of the weights' checksum.
        version: the bot's version.
        half: keep the weights as 16-bit floats; graph, vectors and games are those of the weights
            so rounded, which are computed with in 32 bits.
        deals: that each level plays against each scripted bot, 0 = not measured.
        report: told in words what is being measured.

    Returns:
        The manifest.

    Raises:
        ExportError: if readers disagree, rounding changes too much, or the file can't be written;
            nothing is left behind.
        GraphError: if the graph is not what a bundle may hold.
    """
    require_writable(Path(path))
    where = positions(policy.rules, POSITIONS)
    network, rounding = policy.network.eval(), 0.0
    if half:
        network = rounded(network)
        rounding = rounding_of(policy.network, network, where)
    members = {GRAPH: to_onnx(network), WEIGHTS: weights_of(network, half)}
    reference = TorchReader(network)
    compare_readers(reference, members, policy, where)
    members[VECTORS] = as_lines(vectors(policy.rules, reference, VECTOR_COUNT))
    members[GAMES] = games.as_lines(games.golden_games(policy.rules, reference))
    played = Policy(network, policy.rules, policy.meta)
    levels = measure(played, deals, report) if deals else unmeasured(policy.rules)
    sha = hashlib.sha256(members[WEIGHTS]).hexdigest()
    bot_id = bot_id or f"{slug(policy.rules)}-{sha[:8]}"
    manifest = describe(played, members, bot_id, version, levels)
    if half:
        manifest["network"]["rounding"] = rounding
    members[CARD] = card(manifest, policy.meta).encode()
    manifest["files"] = {name: entry(data) for name, data in sorted(members.items())}
    members[MANIFEST] = (json.dumps(manifest, indent=1, sort_keys=True) + "\n").encode()
    write_whole(Path(path), pack(members), verify_file)
    return manifest


def rounded(network: PolicyNetwork) -> PolicyNetwork:
    """A copy of a network whose weights are 16-bit floats, kept as float32."""
    copied = copy.deepcopy(network)
    with torch.no_grad():
        for weight in copied.parameters():
            weight.copy_(weight.half().float())
    return copied


def rounding_of(network: PolicyNetwork, other: PolicyNetwork, where: Positions) -> float:
    """The largest difference that rounded weights make, to two digits; ExportError if too large."""
    worst = compare(TorchReader(network), {"rounded": TorchReader(other)}, where)["rounded"]
    if not worst <= HALF_TOLERANCE:
        raise ExportError(
            f"fp16: rounded weights change a probability or value by {worst:.1e}, at most "
            f"{HALF_TOLERANCE:g} is allowed: export without --fp16"
        )
    return float(f"{worst:.1e}")


def weights_of(network: PolicyNetwork, half: bool) -> bytes:
    """The weights as safetensors bytes, F16 or F32."""
    dtype = torch.float16 if half else torch.float32
    tensors = {name: w.to(dtype).contiguous() for name, w in network.state_dict().items()}
    data: bytes = safetensors.torch.save(tensors)
    return data


def compare_readers(
    reference: Reader, members: dict[str, bytes], policy: Policy, where: Positions
) -> None:
    """Hold graph and NumPy reader against PyTorch; ExportError if one differs."""
    shape = shape_of(policy.rules, policy.network.encoder.sizes)
    readers: dict[str, Reader] = {
        "onnxruntime": graph.GraphPolicy(members[GRAPH]),
        "NumPy": Network(read_weights(members[WEIGHTS]), shape),
    }
    for name, difference in compare(reference, readers, where).items():
        if not difference <= TOLERANCE:
            raise ExportError(f"{name} differs from PyTorch by {difference:.1e}; nothing written")


def verify_file(path: Path) -> None:
    """Read a written bundle as a stranger would, and run its vectors and golden games.

    Raises:
        ExportError: if one doesn't come out.
    """
    failed = check_bundle(read_bundle(path)).failed
    if failed:
        raise ExportError(f"what was written fails: {failed}")
