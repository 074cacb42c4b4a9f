"""What beats what in Domino Le Truc and who wins a round: tables in plain NumPy, no kernels."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from dominozoo.tiles import TILE_COUNT, TRUC_TILES


def _class_of(slot: int) -> int:
    """Doubles and the other tiles of a sum are classes of their own: 15, the strongest first."""
    kinds = [(sum(tile), tile[0] != tile[1]) for tile in TRUC_TILES]
    return list(dict.fromkeys(kinds)).index(kinds[slot])


def _beats(one: int, other: int) -> bool:
    """The larger sum wins, but 0-0 wins against a double (S2 04, A27)."""
    double = [hi == lo for hi, lo in TRUC_TILES]
    if double[one] and double[other] and 0 in (sum(TRUC_TILES[one]), sum(TRUC_TILES[other])):
        return sum(TRUC_TILES[one]) == 0 < sum(TRUC_TILES[other])
    return sum(TRUC_TILES[one]) > sum(TRUC_TILES[other])


# Look-up tables for the kernels; Numba treats module-level arrays as constants.
CLASS: Final[npt.NDArray[np.int64]] = np.array([_class_of(s) for s in range(TILE_COUNT)], np.int64)
CLASSES: Final = 15
# Sums by rank: 1 = 12, 2 = 11, ... 9 = 4, 10 = 0.
SUM_RANK: Final[npt.NDArray[np.int64]] = np.arange(TILE_COUNT, dtype=np.int64) // 3 + 1
IS_DOUBLE: Final[npt.NDArray[np.int64]] = np.array([hi == lo for hi, lo in TRUC_TILES], np.int64)
# Strength is no order: 6-6 ties 8-4, 8-4 beats 0-0, 0-0 beats 6-6. So compare pairwise (A27):
# the tiles that each tile beats, as a mask.
BEATS: Final[npt.NDArray[np.int64]] = np.array(
    [sum(1 << b for b in range(TILE_COUNT) if _beats(a, b)) for a in range(TILE_COUNT)], np.int64
)
# Chance to beat another tile of the set, ties counted half.
POWER: Final[npt.NDArray[np.float64]] = np.array(
    [
        sum(
            0.5 * (1 + (int(BEATS[a]) >> b & 1) - (int(BEATS[b]) >> a & 1))
            for b in range(TILE_COUNT)
            if b != a
        )
        / (TILE_COUNT - 1)
        for a in range(TILE_COUNT)
    ]
)

# How a trick or a round went, for whoever looks.
OPEN: Final = 0
MINE: Final = 1
HIS: Final = 2
TIED: Final = 3


def _verdict(first: int, second: int, third: int) -> int:
    """Who has won a round after these tricks (S2 07-13, A28): MINE, HIS, TIED = void, or OPEN."""
    if third != OPEN:
        return first if third == TIED else third
    if OPEN in (first, second):
        return OPEN
    if first == TIED:
        return OPEN if second == TIED else second
    return first if second in (first, TIED) else OPEN


# VERDICT[first, second, third]: the round after tricks that went so.
VERDICT: Final[npt.NDArray[np.int64]] = np.array(
    [[[_verdict(a, b, c) for c in range(4)] for b in range(4)] for a in range(4)], np.int64
)
