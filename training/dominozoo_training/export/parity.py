"""Holding the readers of a policy against each other, and a bundle against its vectors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt
import torch

from dominozoo.bots.archive import GRAPH, VECTORS
from dominozoo.bots.bundle import Bundle
from dominozoo_training.export import graph
from dominozoo_training.export.positions import Positions
from dominozoo_training.export.vectors import Vectors, read_vectors, view_error
from dominozoo_training.policy.checkpoint import Policy

TOLERANCE: Final = 1e-5  # between readers of the same weights
VECTOR_TOLERANCE: Final = 1e-4  # whatever the manifest says, no vector may be off by more
BATCHES: Final = (1, 64)

Floats = npt.NDArray[np.float32]


class Reader(Protocol):
    """What computes a policy: (B, size) and (B, actions) to probabilities and values."""

    def evaluate(
        self, observation: npt.NDArray[Any], mask: npt.NDArray[Any], /
    ) -> tuple[Floats, Floats]:
        """Probabilities (B, actions) and values (B,)."""
        ...


class TorchReader:
    """The trained network itself, as it is exported: all actions under the mask."""

    def __init__(self, policy: Policy) -> None:
        self.network = policy.network.eval()

    @torch.inference_mode()
    def evaluate(
        self, observation: npt.NDArray[Any], mask: npt.NDArray[Any]
    ) -> tuple[Floats, Floats]:
        """Probabilities (B, actions) and values (B,)."""
        inputs = (torch.from_numpy(array.astype(np.int32)) for array in (observation, mask))
        probabilities, value = self.network(*inputs)
        return probabilities.numpy(), value.numpy()


def compare(policy: Policy, readers: Mapping[str, Reader], where: Positions) -> dict[str, float]:
    """The worst difference of each reader from PyTorch, over batches of 1 and 64.

    Returns:
        By reader, the largest difference of a probability or a value; infinite if an illegal action
        has any probability.
    """
    with graph.one_thread():
        worst = dict.fromkeys(readers, 0.0)
        reference = TorchReader(policy)
        for size in BATCHES:
            for at in range(0, len(where), size):
                observation = where.observation[at : at + size]
                mask = where.mask[at : at + size]
                expected = reference.evaluate(observation, mask)
                for name, reader in readers.items():
                    found = reader.evaluate(observation, mask)
                    worst[name] = max(worst[name], difference(found, expected, mask))
    return worst


def difference(
    found: tuple[Floats, Floats], expected: tuple[Floats, Floats], mask: npt.NDArray[Any]
) -> float:
    """The largest difference of a probability or a value, float.

    Infinite for a wrong shape, for what is no number, and if an illegal action has any probability.
    """
    if any(a.shape != b.shape for a, b in zip(found, expected, strict=True)):
        return float("inf")
    if (found[0][mask == 0] != 0).any() or not all(np.isfinite(part).all() for part in found):
        return float("inf")
    return max(float(np.abs(a - b).max()) for a, b in zip(found, expected, strict=True))


@dataclass
class Run:
    """What came of a bundle's vectors in one reader.

    Attributes:
        worst: the largest difference of a probability or a value.
        failed: how many vectors are off by more than the tolerance.
        first: the first of them in words, or "".
    """

    worst: float = 0.0
    failed: int = 0
    first: str = ""

    def fail(self, words: str) -> None:
        """Count a vector that failed."""
        self.failed += 1
        self.first = self.first or words


def run_vectors(bundle: Bundle, network: Reader) -> dict[str, Run]:
    """Run a bundle's vectors in every reader.

    Args:
        bundle: the bundle.
        network: its NumPy reader.

    Returns:
        A run for ``onnxruntime``, ``NumPy`` and, where the vectors have views, ``views``.

    Raises:
        BundleError: if the vectors can't be read.
        GraphError: if the graph isn't one that a bundle may hold.
    """
    vectors = read_vectors(bundle.members[VECTORS], bundle)
    data = bundle.members[GRAPH]
    graph.check(data, bundle.action_count)
    runs = {
        "onnxruntime": _run(vectors, graph.GraphPolicy(data)),
        "NumPy": _run(vectors, network),
    }
    if any(vectors.views):
        runs["views"] = _run_views(vectors, bundle)
    return runs


def _run(vectors: Vectors, reader: Reader) -> Run:
    run = Run()
    for k in range(len(vectors)):
        part = slice(k, k + 1)
        mask = vectors.mask[part]
        found = reader.evaluate(vectors.observation[part], mask)
        off = difference(found, (vectors.probabilities[part], vectors.value[part]), mask)
        run.worst = max(run.worst, off)
        if not off <= VECTOR_TOLERANCE:
            run.fail(f"vector {k} is off by {off:.1e}")
    return run


def _run_views(vectors: Vectors, bundle: Bundle) -> Run:
    """Build observation and mask from each view: they must be those of the vector."""
    run = Run()
    for k, view in enumerate(vectors.views):
        wrong = None if view is None else view_error(vectors, k, view, bundle.rules)
        if wrong:
            run.worst = 1.0
            run.fail(f"vector {k}: {wrong}")
    return run
