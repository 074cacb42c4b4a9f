"""A scene as SVG: text alone, no library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final
from xml.sax.saxutils import escape

from dominozoo.render.scene import scene_of
from dominozoo.render.shapes import Box, Dot, Scene, Shape, Text

FONT: Final = "DejaVu Sans, Verdana, Helvetica, Arial, sans-serif"


def draw_svg(table: Mapping[str, Any], names: Sequence[str] | None = None) -> str:
    """Draw a position with every hand open, or a view with the others' tiles face down.

    Args:
        table: as ``position()`` or ``view(agent)`` gives it.
        names: of the seats; default player_0, player_1, ...

    Returns:
        An SVG document; the same table gives the same text.

    Raises:
        ValueError: if the table is incomplete, or the names are not one a seat.
    """
    return svg_of(scene_of(table, names))


def svg_of(scene: Scene) -> str:
    """A scene as an SVG document."""
    width, height = scene.width, scene.height
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"'
    head += f' viewBox="0 0 {width} {height}" role="img" font-family="{FONT}">'
    title = f"<title>{escape(scene.title)}</title>"
    return "\n".join([head, title, *map(_element, scene.shapes()), "</svg>", ""])


def _element(shape: Shape) -> str:
    if isinstance(shape, Box):
        return _box(shape)
    return _dot(shape) if isinstance(shape, Dot) else _text(shape)


def _dot(dot: Dot) -> str:
    place = f'cx="{_n(dot.x)}" cy="{_n(dot.y)}" r="{_n(dot.radius)}"'
    return f'<circle {place} fill="{dot.fill}"/>'


def _box(box: Box) -> str:
    words = [
        f'<rect x="{_n(box.x)}" y="{_n(box.y)}" width="{_n(box.width)}" height="{_n(box.height)}"'
    ]
    if box.radius:
        words.append(f'rx="{_n(box.radius)}"')
    words.append(f'fill="{box.fill or "none"}"')
    if box.stroke:
        words.append(f'stroke="{box.stroke}"')
        if box.line != 1:
            words.append(f'stroke-width="{_n(box.line)}"')
    return " ".join(words) + "/>"


def _text(text: Text) -> str:
    words = [f'<text x="{_n(text.x)}" y="{_n(text.y)}" font-size="{_n(text.size)}"']
    words.append(f'fill="{text.fill}"')
    if text.anchor != "start":
        words.append(f'text-anchor="{text.anchor}"')
    if text.bold:
        words.append('font-weight="bold"')
    return " ".join(words) + f">{escape(text.text)}</text>"


def _n(value: float) -> str:
    """A number, short."""
    return f"{value:.2f}".rstrip("0").rstrip(".")
