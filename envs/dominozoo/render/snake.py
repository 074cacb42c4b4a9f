"""Where the tiles of a board lie: a line that bends like a snake, or French's cross of four.

Lengths are in half tiles ("units"). Each arm is walked in its own frame: ``a`` runs outward, ``b``
is the way its rows follow each other. A row that would pass its limit turns by a tile standing
across, and the next row runs back three units further:

    [6-4][4-2][2-5]
               5
               1
          [1-3]        <- the standing tile's end is met from the side

No two doubles lie side by side, so a row can always turn at a tile that is none.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

Numbers = tuple[int, int]

SLACK: Final = 2.0  # left free beyond a row's limit: the label of an open end
NEAREST: Final = 2.6  # French: rows that come back keep so far from the neighbouring arm
SHRINK: Final = 0.97
TOUCH: Final = 1e-6


@dataclass(frozen=True, slots=True)
class Spot:
    """A rectangle in units; of a tile with its numbers from left to right or top to bottom."""

    x: float
    y: float
    width: float
    height: float
    numbers: Numbers = (0, 0)


Laid = tuple[list[list[Spot]], list[Spot]]


@dataclass(frozen=True, slots=True)
class Board:
    """A laid out board.

    Attributes:
        unit: pixels of a half tile.
        left: where the board's origin stands in the area, pixels.
        top: likewise.
        tiles: by arm, outward; the first arm holds only the tile in the middle.
        ends: where the next tile of each arm would begin: the place of its label.
    """

    unit: float
    left: float
    top: float
    tiles: list[list[Spot]]
    ends: list[Spot]


@dataclass(frozen=True, slots=True)
class _Frame:
    """How an arm's frame lies in the picture: the directions of a and b, right-handed."""

    ax: int
    ay: int

    def spot(self, a: float, b: float, along: float, across: float, numbers: Numbers) -> Spot:
        """A rectangle given by its middle and size; numbers run with growing a, or b."""
        x, y = self.point(a, b)
        width, height = (along, across) if self.ax else (across, along)
        # Whether the axis of the longer side points right or down in the picture.
        sign = self.ax + self.ay if along > across else self.ax - self.ay
        ordered = numbers if sign > 0 else (numbers[1], numbers[0])
        return Spot(x - width / 2, y - height / 2, width, height, ordered)

    def point(self, a: float, b: float) -> tuple[float, float]:
        """A point of the picture."""
        return self.ax * a - self.ay * b, self.ay * a + self.ax * b


RIGHT: Final = _Frame(1, 0)
DOWN: Final = _Frame(0, 1)
LEFT: Final = _Frame(-1, 0)
UP: Final = _Frame(0, -1)


def walk(
    tiles: Sequence[Numbers], frame: _Frame, start: float, low: float, high: float
) -> tuple[list[Spot], Spot]:
    """Lay an arm.

    Args:
        tiles: outward, each (near, far).
        frame: of the arm.
        start: a of the first edge, on row b = 0.
        low: rows that come back turn before this a.
        high: rows that go out turn before this a.

    Returns:
        The tiles' places, and the place of the label of the open end.
    """
    spots: list[Spot] = []
    edge, row, way, half = start, 0.0, 1, 0.5  # half: of the last tile, across the row
    k = 0
    while k < len(tiles):
        near, far = tiles[k]
        double = near == far
        follows_double = k + 1 < len(tiles) and tiles[k + 1][0] == tiles[k + 1][1]
        length = 1.0 if double else 2.0
        reach = way * edge + length + follows_double
        if double or reach <= (high if way > 0 else -low):
            numbers = (near, far) if way > 0 else (far, near)
            across = 2.0 if double else 1.0
            spots.append(frame.spot(edge + way * length / 2, row, length, across, numbers))
            edge, half, k = edge + way * length, across / 2, k + 1
            continue
        column, top = edge - way / 2, row + half
        spots.append(frame.spot(column, top + 1, 1, 2, (near, far)))
        if k + 1 == len(tiles):
            return spots, frame.spot(column, top + 2 + SLACK / 2, SLACK, SLACK, (0, 0))
        near, far = tiles[k + 1]
        way, row = -way, top + 2.5
        centre = column if near == far else column + way / 2
        spots.append(frame.spot(centre, row, 2, 1, (near, far) if way > 0 else (far, near)))
        edge, half, k = centre + way, 0.5, k + 2
    return spots, frame.spot(edge + way * SLACK / 2, row, SLACK, SLACK, (0, 0))


def lay_line(tiles: Sequence[Numbers], pose: int, width: float, height: float) -> Laid:
    """Lay a line whose first tile, number ``pose``, lies in the middle; sizes in units.

    Returns:
        The tiles by arm (the pose, the right arm, the left arm), and the two labels, left first.
    """
    near, far = tiles[pose]
    double = near == far
    middle = Spot(-0.5, -1, 1, 2, (near, far)) if double else Spot(-1, -0.5, 2, 1, (near, far))
    start, limit = (0.5 if double else 1.0), width / 2 - SLACK
    right, right_end = walk(tiles[pose + 1 :], RIGHT, start, -limit, limit)
    outward = [(far, near) for near, far in reversed(tiles[:pose])]
    left, left_end = walk(outward, LEFT, start, -limit, limit)
    return [[middle], right, left], [left_end, right_end]


def lay_cross(arms: Sequence[Sequence[Numbers]], width: float, height: float) -> Laid:
    """Lay French's cross: 0-0 in the middle, the arms to the right, down, left and up."""
    tiles, ends = [[Spot(-0.5, -1, 1, 2, (0, 0))]], []
    for arm, frame in zip(arms, (RIGHT, DOWN, LEFT, UP), strict=True):
        room = width if frame.ax else height
        start = 0.5 if frame.ax else 1.0
        spots, end = walk(arm, frame, start, NEAREST, room / 2 - SLACK)
        tiles.append(spots)
        ends.append(end)
    return tiles, ends


def fit(lay: Callable[[float, float], Laid], width: float, height: float, largest: float) -> Board:
    """Lay a board as large as it fits into a picture's area, at most ``largest`` pixels a unit.

    The middle stays in the middle while it can, so that tiles stay where they are from move to
    move.
    """
    unit = largest
    while True:
        tiles, ends = lay(width / unit, height / unit)
        spots = [*ends, *(spot for arm in tiles for spot in arm)]
        left, right = min(s.x for s in spots), max(s.x + s.width for s in spots)
        top, bottom = min(s.y for s in spots), max(s.y + s.height for s in spots)
        fits = (right - left) * unit <= width and (bottom - top) * unit <= height
        if fits and not _clash(spots):
            break
        unit *= SHRINK
    shift_x = _between(width / 2, -left * unit, width - right * unit)
    shift_y = _between(height / 2, -top * unit, height - bottom * unit)
    return Board(unit, shift_x, shift_y, tiles, ends)


def _clash(spots: Sequence[Spot]) -> bool:
    """Whether two rectangles overlap: arms of the cross may meet where its rows are short.

    A label keeps its whole space, so that it stands clear of other arms' tiles.
    """
    return any(
        min(one.x + one.width, two.x + two.width) - max(one.x, two.x) > TOUCH
        and min(one.y + one.height, two.y + two.height) - max(one.y, two.y) > TOUCH
        for one, two in itertools.combinations(spots, 2)
    )


def _between(value: float, low: float, high: float) -> float:
    return min(max(value, low), high)
