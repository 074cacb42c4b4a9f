"""Bots against each other, to look at: text in the terminal, pictures in files."""

from __future__ import annotations

import itertools
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import numpy as np

from dominozoo.bots import OUTSIDE, kernels, seed_bots
from dominozoo.line.batch import ENDED
from dominozoo.line.score import CUT, MATCH_OVER
from dominozoo.notation import new_game
from dominozoo.render.svg import draw_svg
from dominozoo.render.text import draw
from dominozoo.render.words import result
from dominozoo.rules import Rules
from dominozoo.tables import split_seed
from dominozoo_training.evaluation.entrants import Entrant, chosen

Json = dict[str, Any]

GIF: Final = ".gif"
GIF_SCALE: Final = 0.75
GIF_COLOURS: Final = 256
SHORTEST: Final = 0.1  # seconds a frame; readers of GIF slow down what is shorter
LAST_FRAME: Final = 3.0  # seconds


class Show:
    """A game between bots, frame by frame.

    Args:
        rules: the game.
        entrants: one a seat, or fewer: they are repeated.
        seed: of deals and bots.
        hands: how many hands, 0 = until the match is over.

    Raises:
        ValueError: if there are more entrants than seats.
    """

    def __init__(self, rules: Rules, entrants: Sequence[Entrant], seed: int, hands: int) -> None:
        if len(entrants) > rules.players:
            raise ValueError(f"players: {rules} has {rules.players} seats, not {len(entrants)}")
        self.entrants = [entrants[seat % len(entrants)] for seat in range(rules.players)]
        self.names = [
            f"{seat}: {Path(entrant.name).name}" for seat, entrant in enumerate(self.entrants)
        ]
        self.table: Any = new_game(rules, hands)
        self.kernels = kernels(rules)
        self.codes = np.array([[entrant.code for entrant in self.entrants]], np.int8)
        self.stream = np.zeros((1, 4), np.uint32)
        seed_bots(self.stream, *split_seed(seed), 0)
        self.rng = np.random.default_rng(seed)
        self.seat: int = self.table.reset(split_seed(seed), {})

    def frames(self) -> Iterator[Json]:
        """The position at the start, after each move, and after each deal."""
        yield self.table.position()
        while True:
            code = self.table.step(self.choice())
            if code < ENDED:
                self.seat = code
                yield self.table.position()
                continue
            # Between two hands the table lies as it was left, though nobody is to move.
            yield {**self.table.position(), "phase": "over", "turn": None, "legal": []}
            if code // ENDED & (MATCH_OVER | CUT):
                return
            self.seat = self.table.deal()
            yield self.table.position()

    def choice(self) -> int:
        """The move of the seat to move."""
        entrant = self.entrants[self.seat]
        if entrant.choose is not None:
            return chosen(entrant, self.table, self.stream)
        if entrant.code != OUTSIDE or entrant.act is None:
            actions, where = np.zeros(1, np.int64), np.ones(1, np.bool_)
            table = self.table
            self.kernels.choose(table.tables, table.packed, self.codes, self.stream, actions, where)
            return int(actions[0])
        observation, mask = self.table.observe(self.seat)
        return int(entrant.act(observation[None], mask[None], self.rng.random(1))[0])


@contextmanager
def written(path: Path) -> Iterator[Path]:
    """A temporary path that becomes ``path`` when the block has ended well: all or nothing."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    os.close(handle)
    try:
        yield Path(name)
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def check_outputs(svg: Path | None, gif: Path | None) -> None:
    """Refuse what could not be written before anything is played; makes the folder of frames.

    Raises:
        ValueError: a file that isn't named .gif.
        OSError: a folder that is missing, or holds frames already.
        ImportError: a GIF without Pillow.
    """
    if gif is not None:
        import dominozoo.render.pixels  # noqa: F401  its error names the extra

        if not gif.parent.is_dir():
            raise FileNotFoundError(f"gif: the folder {gif.parent} does not exist; make it first")
        if gif.is_dir() or not os.access(gif.parent, os.W_OK):
            raise PermissionError(f"gif: {gif} can't be written; name a file in a writable folder")
        if gif.suffix.lower() != GIF:
            raise ValueError(f"gif: {gif} must end in {GIF}; no other format is written")
    if svg is not None:
        if not svg.parent.is_dir():
            raise FileNotFoundError(f"svg: the folder {svg.parent} does not exist; make it first")
        svg.mkdir(exist_ok=True)
        if any(svg.glob("*.svg")):
            raise FileExistsError(f"svg: {svg} holds pictures already; name an empty folder")


def write_frame(folder: Path, number: int, frame: Json, names: Sequence[str]) -> None:
    """Write a frame as ``frame_0001.svg``, whole or not at all."""
    with written(folder / f"frame_{number:04}.svg") as path:
        path.write_text(draw_svg(frame, names), encoding="utf-8")


def write_gif(path: Path, frames: Sequence[Json], names: Sequence[str], delay: float) -> None:
    """Write frames as an animation, whole or not at all; the last stays longer."""
    from PIL import Image

    from dominozoo.render.pixels import image_of
    from dominozoo.render.scene import scene_of

    colours = Image.new("P", (1, 1))
    colours.putpalette(palette(frames, names))

    def image(frame: Json) -> Image.Image:
        picture = image_of(scene_of(frame, names), GIF_SCALE)
        return picture.quantize(palette=colours, dither=Image.Dither.NONE)

    durations = [round(1000 * max(delay, SHORTEST))] * len(frames)
    durations[-1] = max(durations[-1], round(1000 * LAST_FRAME))
    with written(path) as target:
        image(frames[0]).save(
            target,
            format="GIF",
            save_all=True,
            append_images=map(image, frames[1:]),
            duration=durations,
            loop=0,
        )


def palette(frames: Sequence[Json], names: Sequence[str]) -> list[int]:
    """The colours of an animation, one list for all frames so that nothing flickers.

    All that the scenes name, then the shades halfway between two of them, for smooth edges.
    """
    from PIL import ImageColor

    from dominozoo.render.scene import scene_of

    named = {
        colour
        for frame in (frames[0], frames[len(frames) // 2], frames[-1])
        for shape in scene_of(frame, names).shapes()
        for colour in (shape.fill, getattr(shape, "stroke", None))
        if colour
    }
    pure = [ImageColor.getrgb(colour)[:3] for colour in sorted(named)]
    mixed = [
        tuple((a + b) // 2 for a, b in zip(*pair, strict=True))
        for pair in itertools.combinations(pure, 2)
    ]
    return [level for colour in [*pure, *mixed][:GIF_COLOURS] for level in colour]


def text_of(frame: Json) -> str:
    """A frame for the terminal; after a hand's last move with its result."""
    last = frame["last_hand"]
    if frame["turn"] is not None or last is None:
        return draw(frame)
    players = [f"player_{seat}" for seat in range(len(frame["hands"]))]
    return f"{draw(frame)}\n  {result(last, players)}"


def watch(
    show: Show,
    say: Callable[[Json], None],
    svg: Path | None,
    gif: Path | None,
    delay: float,
) -> int:
    """Play a game: ``say`` shows each frame, pictures go into files; returns how many frames.

    Ctrl-C ends the game early; what was played is kept.
    """
    frames: list[Json] = []
    count = 0
    try:
        for count, frame in enumerate(show.frames(), 1):
            if svg is not None:
                write_frame(svg, count, frame, show.names)
            if gif is not None:
                frames.append(frame)
            say(frame)
    except KeyboardInterrupt:
        pass
    if gif is not None and frames:
        write_gif(gif, frames, show.names, delay)
    return count
