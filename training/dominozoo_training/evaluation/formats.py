"""Who meets whom: all pairs, rounds of pairs by standing, tables of different players."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from dominozoo_training.evaluation.playing import Lineup

FORMATS: Final = ("all", "swiss", "tables")
MOST_TABLES: Final = 70  # all there are of 8 players at four seats
TRIES: Final = 200  # selections of tables that are compared


def all_pairs(players: int) -> list[Lineup]:
    """Every pair, the earlier player first."""
    return list(itertools.combinations(range(players), 2))


def tables_of(players: int, seats: int, seed: int) -> list[Lineup]:
    """Line-ups of ``seats`` different players: every one of them, or a fair selection.

    Above ``MOST_TABLES`` a few tables are moved round the circle of all players, who stand on it in
    an order drawn by ``seed``: so everybody sits down equally often. They are chosen so that
    everybody meets the others as evenly as possible.

    Args:
        players: number of players, at least ``seats``.
        seats: players a table.
        seed: of the selection.
    """
    if math.comb(players, seats) <= MOST_TABLES:
        return list(itertools.combinations(range(players), seats))
    rng = np.random.default_rng(seed)
    circle = rng.permutation(players)
    chosen: set[Lineup] = set()
    met = np.zeros(players, np.int64)  # how often those who stand d apart have met
    for _ in range(max(1, MOST_TABLES // players)):
        best: tuple[tuple[int, int], list[int]] | None = None
        for _ in range(TRIES):
            places = [0, *(1 + rng.choice(players - 1, seats - 1, replace=False)).tolist()]
            added = met + apart(places, players)
            worth = (int(added[1:].min()), -int((added[1:] ** 2).sum()))
            if best is not None and worth <= best[0]:
                continue
            tables = moved_round(places, circle.tolist())
            if len(tables) == players and chosen.isdisjoint(tables):
                best = (worth, places)
        if best is None:
            break
        met += apart(best[1], players)
        chosen |= moved_round(best[1], circle.tolist())
    return sorted(chosen)


def apart(places: Sequence[int], players: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """How many pairs of places on the circle stand d apart, either way; int64 (players,)."""
    ways = [(a - b) % players for a, b in itertools.permutations(places, 2)]
    return np.bincount(ways, minlength=players).astype(np.int64)


def moved_round(places: Sequence[int], circle: Sequence[int]) -> set[Lineup]:
    """The tables that a table becomes while it moves once round the circle."""
    n = len(circle)
    return {tuple(sorted(circle[(p + step) % n] for p in places)) for step in range(n)}


def most_rounds(players: int) -> int:
    """How many rounds there can be in which surely nobody meets anybody twice.

    While everybody has met fewer than half of the others, the rest can be paired (Dirac's theorem
    gives a circle through all players along pairs that haven't met).
    """
    return (players + players % 2) // 2


def usual_rounds(players: int) -> int:
    """Enough to find the best, and one more."""
    return min(most_rounds(players), math.ceil(math.log2(players)) + 1)


def swiss_round(standing: Sequence[int], met: set[Lineup]) -> list[Lineup]:
    """Pairs for a round: neighbours in the standing who haven't met; an odd player rests.

    Args:
        standing: players, best first; an odd number of them gets a place to rest at the end, which
            nobody takes twice.
        met: pairs that have met, smaller number first; a rest is a pair with number -1.

    Returns:
        Pairs, a rest among them, in the order of the standing.
    """
    left = [*standing, -1] if len(standing) % 2 else list(standing)
    pairs = _paired(left, met)
    assert pairs is not None, "see most_rounds"
    return pairs


def _paired(left: Sequence[int], met: set[Lineup]) -> list[Lineup] | None:
    """Pairs of all who are left, the nearest first; None if they can't be paired."""
    if not left:
        return []
    first = left[0]
    for other in left[1:]:
        pair = (min(first, other), max(first, other))
        if pair in met:
            continue
        rest = _paired([p for p in left[1:] if p != other], met)
        if rest is not None:
            return [pair, *rest]
    return None
