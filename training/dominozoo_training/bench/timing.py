"""What every measurement shares: rows, medians, and how long is measured."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

REPEATS: Final = 5
SECONDS: Final = 0.5  # a measurement's timed part, all repeats together

# A chunk does some work and tells (how much, in how many seconds); it does its own timing, so that
# what it prepares doesn't count.
Chunk = Callable[[], tuple[int, float]]


class Unavailable(Exception):
    """A case that can't be measured here; the text says why, and what to install."""


@dataclass(frozen=True, slots=True)
class Row:
    """One figure.

    Attributes:
        game: text form.
        case: what was measured.
        batch: tables side by side, or None.
        median: of the repeats.
        unit: "1/s", "s", or "B" (bytes).
        spread: (max - min) / median.
    """

    game: str
    case: str
    batch: int | None
    median: float
    unit: str
    spread: float


def summarise(game: str, case: str, batch: int | None, unit: str, figures: Sequence[float]) -> Row:
    """The median of repeated figures and their spread."""
    median = statistics.median(figures)
    return Row(game, case, batch, median, unit, (max(figures) - min(figures)) / median)


def rates(*chunks: Chunk, seconds: float = SECONDS, repeats: int = REPEATS) -> list[list[float]]:
    """Things a second, ``repeats`` figures a chunk.

    The chunks take turns, so that what slows the machine for a while slows all of them: their
    ratios hold where the figures don't.

    Args:
        *chunks: what to measure; each is called once beforehand.
        seconds: the timed part of each chunk's repeats together, at least one call a repeat.
        repeats: figures a chunk.
    """
    for chunk in chunks:
        chunk()
    figures: list[list[float]] = [[] for _ in chunks]
    for _ in range(repeats):
        for chunk, found in zip(chunks, figures, strict=True):
            done, busy = chunk()
            while busy < seconds / repeats:
                more, longer = chunk()
                done, busy = done + more, busy + longer
            found.append(done / busy)
    return figures


def timed(
    work: Callable[[], int], clock: Callable[[], float] = time.process_time
) -> tuple[int, float]:
    """Call what returns a count; return it with the seconds it took."""
    start = clock()
    count = work()
    return count, max(clock() - start, 1e-9)
