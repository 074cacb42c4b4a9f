"""Holding the readers of a policy against each other, and a bundle against its vectors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dominozoo.bots.archive import GAMES, VECTORS
from dominozoo.bots.bundle import Bundle
from dominozoo_training.export.games import Golden, read_games
from dominozoo_training.export.positions import Positions
from dominozoo_training.export.readers import Reader, readers_of
from dominozoo_training.export.replaying import mistakes
from dominozoo_training.export.vectors import Vectors, read_vectors, view_error

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
    """What came of a bundle's vectors, or of its golden games, in one reader.

    Attributes:
        worst: the largest difference of a probability or a value.
        failed: how many positions are off by more than the tolerance.
        first: the first of them in words, or "".
    """

    worst: float = 0.0
    failed: int = 0
    first: str = ""

    def fail(self, words: str) -> None:
        """Count one that failed."""
        self.failed += 1
        self.first = self.first or words


@dataclass(frozen=True)
class Report:
    """What came of a bundle.

    Attributes:
        vectors: a run for each reader, and for ``views`` where the vectors have them: do they lead
            to the observation?
        games: a run for ``engine``, which plays the golden games again, and for each reader; empty
            for an older bundle, which has no golden games.
        count: how many vectors there are, golden games, and decisions in them.
    """

    vectors: dict[str, Run]
    games: dict[str, Run]
    count: tuple[int, int, int]

    @property
    def failed(self) -> str:
        """The first thing that is wrong, in words, or ""."""
        runs = {**self.vectors, **{f"games, {name}": run for name, run in self.games.items()}}
        return next((f"{name}: {run.first}" for name, run in runs.items() if run.failed), "")

    def lines(self) -> Iterator[str]:
        """What to tell of it."""
        vectors, games, decisions = self.count
        yield f"{vectors} vectors"
        yield from self._told(self.vectors, "vectors")
        if self.games:
            yield f"{games} golden games, {decisions} decisions"
            yield from self._told(self.games, "decisions")
        else:
            yield f"{GAMES} is missing: golden games are not checked; a new export brings them"

    def _told(self, runs: Mapping[str, Run], what: str) -> Iterator[str]:
        for name, run in runs.items():
            words = (
                f"{run.failed} {what} FAIL: {run.first}" if run.failed else f"all {what} are right"
            )
            yield f"{name:>11}: worst difference {run.worst:.1e}, {words}"


def check_bundle(bundle: Bundle) -> Report:
    """Run a bundle's vectors and golden games in every reader that is installed.

    Raises:
        BundleError: if vectors, games, weights or graph are not what a bundle may hold.
    """
    readers = readers_of(bundle)
    vectors = read_vectors(bundle.members[VECTORS], bundle)
    runs = {name: _run(vectors, reader, "vector") for name, reader in readers.items()}
    if any(vectors.views):
        runs["views"] = _run_views(vectors, bundle)
    if GAMES not in bundle.members:
        return Report(runs, {}, (len(vectors), 0, 0))
    games = read_games(bundle.members[GAMES], bundle)
    played = {"engine": _run_engine(games, bundle)}
    for name, reader in readers.items():
        played[name] = Run()
        for k, game in enumerate(games):
            _run(game.decisions, reader, f"game {k}, decision", played[name])
    return Report(runs, played, (len(vectors), len(games), sum(len(g.actions) for g in games)))


def _run_engine(games: list[Golden], bundle: Bundle) -> Run:
    """Play golden games again: the engine must come to the same."""
    run = Run()
    for k, game in enumerate(games):
        for words in mistakes(game, bundle.rules):
            run.worst = 1.0
            run.fail(f"game {k}: {words}")
    return run


def _run(vectors: Vectors, reader: Reader, what: str, run: Run | None = None) -> Run:
    """Ask a reader about each position by itself; goes on with ``run`` if it is given."""
    run = run or Run()
    for k in range(len(vectors)):
        part = slice(k, k + 1)
        mask = vectors.mask[part]
        found = reader.evaluate(vectors.observation[part], mask)
        off = difference(found, (vectors.probabilities[part], vectors.value[part]), mask)
        run.worst = max(run.worst, off)
        if not off <= VECTOR_TOLERANCE:
            run.fail(f"{what} {k} is off by {off:.1e}")
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
