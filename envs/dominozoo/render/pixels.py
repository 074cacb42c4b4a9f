"""A scene as pixels, by Pillow (``pip install 'dominozoo[render]'``); no screen is needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dominozoo.render.scene import scene_of
from dominozoo.render.shapes import Box, Dot, Scene, Shape, Text

try:
    from PIL import Image, ImageDraw, ImageFont
except ModuleNotFoundError as error:
    raise ImportError("drawing pixels needs Pillow: pip install 'dominozoo[render]'") from error

FINE: Final = 2  # painted larger, then shrunk: Pillow draws no smooth edges by itself
ANCHORS: Final = {"start": "ls", "middle": "ms", "end": "rs"}
FONT_SCALE: Final = 1.08  # Pillow's own font is a little smaller than the SVG's


def draw_pixels(
    table: Mapping[str, Any], names: Sequence[str] | None = None
) -> npt.NDArray[np.uint8]:
    """Draw a position or a view; arguments and errors as ``draw_svg``.

    Returns:
        A new array of shape (height, width, 3).
    """
    return np.array(image_of(scene_of(table, names)), np.uint8)


def image_of(scene: Scene, scale: float = 1.0) -> Image.Image:
    """A scene as a Pillow image in RGB, ``scale`` times its size."""
    fine = FINE * scale
    size = round(scene.width * scale), round(scene.height * scale)
    large = Image.new("RGB", (round(scene.width * fine), round(scene.height * fine)), "white")
    brush = ImageDraw.Draw(large)
    for shape in scene.shapes():
        _paint(brush, shape, fine)
    return large.resize(size, Image.Resampling.BOX)


def _paint(brush: ImageDraw.ImageDraw, shape: Shape, fine: float) -> None:
    if isinstance(shape, Dot):
        x, y, radius = shape.x * fine, shape.y * fine, shape.radius * fine
        brush.ellipse((x - radius, y - radius, x + radius, y + radius), fill=shape.fill)
    elif isinstance(shape, Box):
        _paint_box(brush, shape, fine)
    else:
        _paint_text(brush, shape, fine)


def _paint_box(brush: ImageDraw.ImageDraw, box: Box, fine: float) -> None:
    # SVG's outline lies half outside the box, Pillow's inside.
    half = box.line / 2 if box.stroke else 0
    left, top = round((box.x - half) * fine), round((box.y - half) * fine)
    right = round((box.x + box.width + half) * fine) - 1
    bottom = round((box.y + box.height + half) * fine) - 1
    brush.rounded_rectangle(
        (left, top, max(left, right), max(top, bottom)),
        radius=(box.radius + half if box.radius else 0) * fine,
        fill=box.fill,
        outline=box.stroke,
        width=max(1, round(box.line * fine)) if box.stroke else 1,
    )


def _paint_text(brush: ImageDraw.ImageDraw, text: Text, fine: float) -> None:
    font = ImageFont.load_default(round(text.size * FONT_SCALE * fine))
    brush.text(
        (text.x * fine, text.y * fine),
        text.text,
        fill=text.fill,
        font=font,
        anchor=ANCHORS[text.anchor],
        stroke_width=text.size * fine * 0.02 if text.bold else 0,
    )
