"""A picture as a list of shapes: what :mod:`svg` writes and :mod:`pixels` paints.

Both draw the same list, so both show the same picture. A tile is one item of a scene, so that
its place and its numbers can be read; :func:`Tile.shapes` says what it looks like.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

IVORY: Final = "#fbf6e6"
VEILED: Final = "#b9c4d4"
BACK: Final = "#3a5a8c"
BACK_LINE: Final = "#7d9ac4"
INK: Final = "#1f2328"
EDGE: Final = "#6b6455"
MARK: Final = "#ff9f1c"

# Pips of a half that points up: (across, along) in steps from the middle, so that 6 is two columns
# of three along the tile.
_CORNERS: Final = ((-1, -1), (-1, 1), (1, -1), (1, 1))
_SIX: Final = (*_CORNERS, (-1, 0), (1, 0))
PIPS: Final[dict[int, tuple[tuple[int, int], ...]]] = {
    0: (),
    1: ((0, 0),),
    2: ((-1, -1), (1, 1)),
    3: ((-1, -1), (0, 0), (1, 1)),
    4: _CORNERS,
    5: (*_CORNERS, (0, 0)),
    6: _SIX,
    7: (*_SIX, (0, 0)),
    8: (*_SIX, (0, -1), (0, 1)),
    9: (*_SIX, (0, -1), (0, 0), (0, 1)),
}


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle, its corners rounded by ``radius``; ``line`` is the width of its outline."""

    x: float
    y: float
    width: float
    height: float
    fill: str | None = None
    stroke: str | None = None
    line: float = 1.0
    radius: float = 0.0


@dataclass(frozen=True, slots=True)
class Dot:
    """A filled circle."""

    x: float
    y: float
    radius: float
    fill: str


@dataclass(frozen=True, slots=True)
class Text:
    """One line of text; ``y`` is its base line, ``anchor`` where ``x`` stands in it."""

    x: float
    y: float
    text: str
    size: float
    fill: str = INK
    anchor: str = "start"  # or middle, end
    bold: bool = False


Shape = Box | Dot | Text


@dataclass(frozen=True, slots=True)
class Area:
    """A part of the picture in pixels; nothing of it is drawn."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Tile:
    """A tile; it lies along its longer side.

    Attributes:
        x: left.
        y: top.
        width: of the whole tile.
        height: of the whole tile.
        numbers: from left to right or from top to bottom; None = face down.
        marked: the last move.
        veiled: lies face down, but the reader knows it.
    """

    x: float
    y: float
    width: float
    height: float
    numbers: tuple[int, int] | None
    marked: bool = False
    veiled: bool = False

    def shapes(self) -> list[Shape]:
        """What the tile looks like."""
        unit = min(self.width, self.height)
        rim = unit * 0.03
        shapes: list[Shape] = []
        if self.marked:
            shapes.append(_inset(self, -unit * 0.07, MARK, None, unit * 0.22))
        if self.numbers is None:
            shapes.append(_inset(self, rim, BACK, INK, unit * 0.16))
            shapes.append(_inset(self, unit * 0.16, None, BACK_LINE, unit * 0.08))
            return shapes
        fill = VEILED if self.veiled else IVORY
        shapes.append(_inset(self, rim, fill, EDGE, unit * 0.16))
        lies = self.width > self.height
        length, thin = unit * 0.7, max(1.0, unit * 0.04)
        x, y = self.x + self.width / 2, self.y + self.height / 2
        box = (x - thin / 2, y - length / 2, thin, length)
        shapes.append(Box(*(box if lies else (x - length / 2, y - thin / 2, length, thin)), EDGE))
        for number, side in zip(self.numbers, (-1, 1), strict=True):
            shift = side * unit / 2
            centre = (x + shift, y) if lies else (x, y + shift)
            shapes += _pips(number, *centre, unit, lies)
        return shapes


def _inset(tile: Tile, by: float, fill: str | None, stroke: str | None, radius: float) -> Box:
    width, height = tile.width - 2 * by, tile.height - 2 * by
    return Box(tile.x + by, tile.y + by, width, height, fill, stroke, 1.0, radius)


def _pips(number: int, x: float, y: float, unit: float, lies: bool) -> list[Shape]:
    step, radius = unit * 0.26, unit * 0.095
    places = PIPS[number]
    if lies:
        places = tuple((-along, across) for across, along in places)
    return [Dot(x + across * step, y + along * step, radius, INK) for across, along in places]


@dataclass(frozen=True, slots=True)
class Scene:
    """A picture.

    Attributes:
        width: in pixels.
        height: in pixels.
        title: what the picture shows, in a sentence.
        items: from back to front.
    """

    width: int
    height: int
    title: str
    items: tuple[Shape | Tile, ...]

    @property
    def tiles(self) -> list[Tile]:
        """The tiles of the picture, hands included."""
        return [item for item in self.items if isinstance(item, Tile)]

    def shapes(self) -> list[Shape]:
        """Everything as simple shapes, from back to front."""
        shapes: list[Shape] = []
        for item in self.items:
            shapes += item.shapes() if isinstance(item, Tile) else [item]
        return shapes
