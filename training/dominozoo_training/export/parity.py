"""Holding the readers of a policy against each other, and a bundle against its vectors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dominozoo.bots.archive import GRAPH, VECTORS, BundleError
from dominozoo.bots.bundle import Bot, Bundle
from dominozoo_training.export.positions import Positions
from dominozoo_training.export.vectors import Reader, Vectors, read_vectors, view_error

TOLERANCE: Final = 1e-5  # between readers of the same weights
VECTOR_TOLERANCE: Final = 1e-4  # whatever the manifest says, no vector may be off by more
BATCHES: Final = (1, 64)

Floats = npt.NDArray[np.float32]


def compare(reference: Reader, readers: Mapping[str, Reader], where: Positions) -> dict[str, float]:
    """The worst difference of each reader, in batches of 1 and 64, from a reference.

    Returns:
        By reader, the largest difference of a probability or a value; infinite if an illegal action
        has any probability.
    """
    worst = dict.fromkeys(readers, 0.0)
    expected = _in_batches(reference, where, max(BATCHES))
    for name, reader in readers.items():
        for size in BATCHES:
            found = _in_batches(reader, where, size)
            worst[name] = max(worst[name], difference(found, expected, where.mask))
    return worst


def _in_batches(reader: Reader, where: Positions, size: int) -> tuple[Floats, Floats]:
    starts = range(0, len(where), size)
    found = [
        reader.evaluate(where.observation[at : at + size], where.mask[at : at + size])
        for at in starts
    ]
    probabilities, value = zip(*found, strict=True)
    return np.concatenate(probabilities), np.concatenate(value)


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


def run_vectors(bundle: Bundle) -> dict[str, Run]:
    """Run a bundle's vectors in every reader that is installed.

    Returns:
        A run for ``NumPy``, for ``onnxruntime`` if that is installed, and for ``views`` where the
        vectors have them: do they lead to the observation?

    Raises:
        BundleError: if vectors, weights or graph are not what a bundle may hold.
    """
    vectors = read_vectors(bundle.members[VECTORS], bundle)
    runs = {"NumPy": _run(vectors, Bot(bundle).network)}
    graph = graph_reader(bundle)
    if graph is not None:
        runs["onnxruntime"] = _run(vectors, graph)
    if any(vectors.views):
        runs["views"] = _run_views(vectors, bundle)
    return runs


def graph_reader(bundle: Bundle) -> Reader | None:
    """A bundle's checked graph in onnxruntime; None if onnx or onnxruntime is not installed.

    Raises:
        BundleError: if the graph is not one that a bundle may hold.
    """
    try:
        from dominozoo_training.export import graph
    except ModuleNotFoundError:
        return None
    try:
        graph.check(bundle.members[GRAPH], bundle.shape.layout, bundle.action_count)
        return graph.GraphPolicy(bundle.members[GRAPH])
    except graph.GraphError as error:
        raise BundleError(f"{bundle.path}: {GRAPH}: {error}") from None


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
