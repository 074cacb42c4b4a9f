"""One position of a line game as the columns that ``network`` tells of, in plain Python.

A move needs a handful of actions described, for which NumPy's calls cost more than what they compute.
A set of tiles is an integer of 28 bits here, the first tile's the highest, so that it can be read off
the observation's entries and counted at once. Tests hold both readings equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from dominozoo.fields import LINE_LAYOUT, SEATS
from dominozoo.tiles import NUMBERS, TILE_COUNT, TILES

_AT: Final = {f.name: LINE_LAYOUT.offset(f.name) for f in LINE_LAYOUT.fields}
HAND, LAID_BY, ENDS, LOCKED = _AT["hand"], _AT["laid_by"], _AT["ends"], _AT["locked"]
LACKS, LACKS_DOUBLE, NO_BLANK = _AT["lacks"], _AT["lacks_double"], _AT["no_blank"]
# What may be larger than a byte, and what lies between: read as numbers.
SIZES, PLY = _AT["sizes"], _AT["ply"]
BONEYARD, SCORES, TARGET = _AT["boneyard"] - SIZES, _AT["scores"] - SIZES, _AT["target"] - SIZES
STAKE, DECIDER, BY_RULE = _AT["stake"] - SIZES, _AT["decider"] - SIZES, _AT["by_rule"] - SIZES


def _tiles(wanted: Sequence[bool]) -> int:
    """The set of the tiles for which it is true."""
    return int("".join("01"[want] for want in wanted), 2)


def _ruled_out(by_number: Sequence[int]) -> dict[bytes, int]:
    """By a seat's seven flags the tiles that it can't hold."""
    found = {}
    for flags in product((0, 1), repeat=NUMBERS):
        tiles = 0
        for number, flag in enumerate(flags):
            tiles |= by_number[number] if flag else 0
        found[bytes(flags)] = tiles
    return found


WITH: Final = [_tiles([n in tile for tile in TILES]) for n in range(NUMBERS)]
DOUBLES: Final = [_tiles([tile == (n, n) for tile in TILES]) for n in range(NUMBERS)]
# What an end takes: by mark, then by mark + 7 where a French arm takes only its double.
FITS: Final = (0, *WITH, *DOUBLES)
LACKING: Final = _ruled_out(WITH)
LACKING_DOUBLES: Final = _ruled_out(DOUBLES)
# The tiles whose pips have 1, 2, 4 and 8 in them.
PIP_BITS: Final = [_tiles([bool(sum(tile) >> k & 1) for tile in TILES]) for k in range(4)]
ALL: Final = _tiles([True] * TILE_COUNT)
# Digits of a set: "1" for the entries that aren't 0, and for those that say 1 + seat.
ANY: Final = bytes(b"01"[entry > 0] for entry in range(256))
OF_SEAT: Final = [bytes(b"01"[entry == seat + 1] for entry in range(256)) for seat in range(SEATS)]
SEVENTHS: Final = [k / NUMBERS for k in range(TILE_COUNT + 1)]
# By tile: its set, high and low number, and the columns of its kind and itself.
TILE: Final = [
    (1 << TILE_COUNT - 1 - t, high, low, [1.0, (high + low) / 12, float(high == low)])
    for t, (high, low) in enumerate(TILES)
]
NO_TILE: Final = [0.0, 0.0, 0.0]


class Sight(NamedTuple):
    """What an observation says before any action is looked at; sets of tiles as integers."""

    hand: int
    marks: list[int]  # number + 1 at each open end, 0 = none
    locked: list[int]
    others: list[tuple[int, int, int]]  # by other seat: what it could hold, how many, its size
    numbers: list[list[float]]  # a row for no number, then 0..6
    summary: list[float]


def pips(tiles: int) -> int:
    """The pips of a set of tiles."""
    ones, twos, fours, eights = PIP_BITS
    return (
        (tiles & ones).bit_count()
        + 2 * (tiles & twos).bit_count()
        + 4 * (tiles & fours).bit_count()
        + 8 * (tiles & eights).bit_count()
    )


def look(observation: npt.NDArray[Any], ends: int, seats: int) -> Sight:
    """Read an observation: integers (178,); open ends and seats as the network's shape has them."""
    seen = observation.astype(np.uint8).tobytes()
    told = observation[SIZES : PLY + 1].tolist()
    sizes, by = told[:seats], seen[LAID_BY : LAID_BY + TILE_COUNT]
    hand, laid = int(seen[HAND : HAND + TILE_COUNT].translate(ANY), 2), int(by.translate(ANY), 2)
    unseen = (ALL >> seen[NO_BLANK]) & ~(hand | laid)  # 0-0 is the first tile
    masks = [hand, laid, unseen]
    masks += [int(by.translate(digits), 2) for digits in OF_SEAT[:seats]]
    others = []
    for seat in range(1, seats):
        out = LACKING[seen[LACKS + NUMBERS * seat : LACKS + NUMBERS * (seat + 1)]]
        if ends == 4:
            at = LACKS_DOUBLE + NUMBERS * seat
            out |= LACKING_DOUBLES[seen[at : at + NUMBERS]]
        could = unseen & ~out if sizes[seat] else 0
        others.append((could, max(could.bit_count(), 1), sizes[seat]))
        masks.append(could)
    numbers = [[0.0] * (len(masks) + seats * (2 if ends == 4 else 1))]
    for n, tiles in enumerate(WITH):
        row = [SEVENTHS[(mask & tiles).bit_count()] for mask in masks]
        row += seen[LACKS + n : LACKS + NUMBERS * seats : NUMBERS]
        if ends == 4:
            row += seen[LACKS_DOUBLE + n : LACKS_DOUBLE + NUMBERS * seats : NUMBERS]
        numbers.append(row)
    marks, locked = list(seen[ENDS : ENDS + ends]), list(seen[LOCKED : LOCKED + ends])
    return Sight(hand, marks, locked, others, numbers, _summary(told, sizes, hand, others))


def _summary(
    told: list[int], sizes: list[int], hand: int, others: list[tuple[int, int, int]]
) -> list[float]:
    target = max(told[TARGET], 1)
    return [
        *[size / 7 for size in sizes],
        *[score / target for score in told[SCORES : SCORES + len(sizes)]],
        *[size == 1 for size in sizes],
        told[BONEYARD] / 14,
        told[STAKE] / 2,
        told[DECIDER],
        told[BY_RULE],
        told[-1] / 32,
        pips(hand) / 42,
        *[pips(could) / pool * size / 42 for could, pool, size in others],
    ]


def score_columns(sight: Sight, actions: list[int]) -> list[float]:
    """What the scores of some actions read, one after the other."""
    columns: list[float] = []
    for action in actions:
        _describe(sight, action, columns)
        columns += sight.summary
    return columns


def _describe(sight: Sight, action: int, columns: list[float]) -> None:
    """Describe an action by what it leads to."""
    hand, marks, locked, others, numbers, _ = sight
    after, kinds, end = marks.copy(), locked.copy(), action // TILE_COUNT
    if end < len(marks):
        tile, high, low, about = TILE[action % TILE_COUNT]
        covered = marks[end]
        # A tile that doesn't fit leaves no number.
        left = min(max(high + low + 2 - covered, 0), NUMBERS) if covered else high + 1
        after[end] = left
        kinds[end] = 0
        if not covered and len(marks) == 4:
            kinds[end] = 1  # a French arm begins locked
        elif not covered and end == 0:
            after[1] = low + 1  # a pose opens the right end too, with its lower number
        rest, elsewhere = hand & ~tile, [mark for k, mark in enumerate(after) if k != end]
    else:
        about, covered, left, rest, elsewhere = NO_TILE, 0, 0, hand, after
    touch = 0
    for mark, lock in zip(after, kinds):  # noqa: B905 - as many as there are ends
        touch |= FITS[mark + NUMBERS if lock and mark else mark]
    own, held = (rest & touch).bit_count(), rest.bit_count()
    columns += numbers[left]
    columns += numbers[covered]
    first, *more = [numbers[mark] for mark in elsewhere]
    columns += map(sum, zip(first, *more)) if more else first  # noqa: B905 - rows of one width
    columns += about
    columns += (own / 7, own == 0, own / held if held else 0.0, not held, pips(rest) / 42)
    columns.append(after[0] == after[1])
    answered, stuck, soon = [], [], []
    for could, pool, size in others:
        count = (could & touch).bit_count()
        # The chance of no answer, which a seat without tiles isn't asked for.
        chance = max(1 - count / pool, 1e-3) ** size if size else 0.0
        answered.append(count / 7)
        stuck.append(chance)
        soon.append(chance if size <= 2 else 0.0)
    columns += answered
    columns += stuck
    columns += soon


def value_columns(sight: Sight) -> list[float]:
    """What the value reads."""
    columns = list(sight.summary)
    for row in sight.numbers[1:]:
        columns += row
    for mark in sight.marks:
        columns += sight.numbers[mark]
    return columns
