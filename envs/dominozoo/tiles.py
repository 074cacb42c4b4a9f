"""The two sets of 28 tiles: double-six, and Domino Le Truc's choice out of double-nine.

A double-six tile is its id, ``hi * (hi + 1) / 2 + lo``: 0-0 is 0, 1-0 is 1, 6-6 is 27. A Le Truc
tile is its slot 0..27, strongest sum first. Both are written with the higher number first.
A hand is a bit mask, bit = id or slot.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np
import numpy.typing as npt

NUMBERS: Final = 7
TILE_COUNT: Final = 28
ALL_TILES: Final = (1 << TILE_COUNT) - 1

TILES: Final[tuple[tuple[int, int], ...]] = tuple(
    (hi, lo) for hi in range(NUMBERS) for lo in range(hi + 1)
)
NAMES: Final[tuple[str, ...]] = tuple(f"{hi}-{lo}" for hi, lo in TILES)

TRUC_TILES: Final[tuple[tuple[int, int], ...]] = (
    *((6, 6), (8, 4), (7, 5)),
    *((6, 5), (8, 3), (7, 4)),
    *((5, 5), (6, 4), (7, 3)),
    *((5, 4), (6, 3), (7, 2)),
    *((4, 4), (6, 2), (5, 3)),
    *((6, 1), (5, 2), (4, 3)),
    *((3, 3), (5, 1), (4, 2)),
    *((5, 0), (4, 1), (3, 2)),
    *((2, 2), (4, 0), (3, 1)),
    (0, 0),
)
TRUC_NAMES: Final[tuple[str, ...]] = tuple(f"{hi}-{lo}" for hi, lo in TRUC_TILES)


def _spelt(names: tuple[str, ...]) -> dict[str, int]:
    """Where names stand, in both spellings; first as they are."""
    places = {name: place for place, name in enumerate(names)}
    return places | {name[::-1]: place for name, place in places.items()}


# Ids and slots by "6-5" and "5-6".
TILE_IDS: Final[dict[str, int]] = _spelt(NAMES)
TRUC_SLOTS: Final[dict[str, int]] = _spelt(TRUC_NAMES)

# Look-up tables for the kernels; Numba treats module-level arrays as constants.
HIGH: Final[npt.NDArray[np.int64]] = np.array([hi for hi, _ in TILES], np.int64)
LOW: Final[npt.NDArray[np.int64]] = np.array([lo for _, lo in TILES], np.int64)
PIPS: Final[npt.NDArray[np.int64]] = HIGH + LOW
WITH_NUMBER: Final[npt.NDArray[np.int64]] = np.array(
    [sum(1 << t for t, tile in enumerate(TILES) if n in tile) for n in range(NUMBERS)], np.int64
)
DOUBLE_OF: Final[npt.NDArray[np.int64]] = np.array(
    [n * (n + 1) // 2 + n for n in range(NUMBERS)], np.int64
)
DOUBLES: Final[int] = sum(1 << int(t) for t in DOUBLE_OF)


def tile_id(name: str) -> int:
    """Return the id 0..27 of a double-six tile written "6-5" or "5-6".

    Raises:
        ValueError: if the text names no tile of the set.

    >>> tile_id("6-5"), tile_id("5-6")
    (26, 26)
    """
    return _find(name, TILE_IDS)


def truc_slot(name: str) -> int:
    """Return the slot 0..27 of a Le Truc tile written "8-4" or "4-8"; ValueError otherwise."""
    return _find(name, TRUC_SLOTS)


def _find(name: str, known: dict[str, int]) -> int:
    if isinstance(name, str) and name in known:
        return known[name]
    names = list(known)
    raise ValueError(
        f"{name!r} is no tile of this set; tiles are written like {names[0]!r} or "
        f"{names[TILE_COUNT - 1]!r}"
    )


def tiles_of(mask: int) -> list[int]:
    """Return the ids in a bit mask, ascending.

    >>> tiles_of(0b1011)
    [0, 1, 3]
    """
    rest, tiles = int(mask), []
    while rest:
        lowest = rest & -rest
        tiles.append(lowest.bit_length() - 1)
        rest ^= lowest
    return tiles


def mask_of(tiles: Iterable[int]) -> int:
    """Return the bit mask of some tile ids.

    >>> mask_of([0, 1, 3])
    11
    """
    mask = 0
    for tile in tiles:
        mask |= 1 << int(tile)
    return mask
