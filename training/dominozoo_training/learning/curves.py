"""The strength of several runs over decisions or time, in one picture and one table."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml
from rich.markup import escape
from rich.table import Table

from dominozoo_training.evaluation import plots
from dominozoo_training.evaluation.curves import METRICS, WIN_RATE, read_lines
from dominozoo_training.evaluation.plots import Curve
from dominozoo_training.files import write_file

AXES: Final = {"decisions": ("million decisions", 1e6), "minutes": ("minutes", 1.0)}
PICTURES: Final = (".png", ".svg")
JUDGED: Final = ("eval", "final")


class CurvesError(ValueError):
    """Runs that have no such curve; the text says which, and what is there."""


@dataclass(frozen=True, slots=True)
class Point:
    """How a run did once.

    Attributes:
        kind: "eval" on the way, "final" at the end, on fresh deals.
        decisions: made until then.
        minutes: of training until then, None in logs of before they were kept.
        win_rate: 0..1, with its 95 % interval ``low``..``high``.
    """

    kind: str
    decisions: int
    minutes: float | None
    win_rate: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class RunCurve:
    """A run's strength against one opponent, in the order of its log; one point or more."""

    run: str
    game: str
    points: tuple[Point, ...]

    @property
    def best(self) -> Point:
        """The highest win rate on the way; the final one if it was never judged on the way."""
        return max(
            [p for p in self.points if p.kind == "eval"] or self.points, key=lambda p: p.win_rate
        )

    def curve(self, x: str) -> Curve:
        """For the picture, in per cent."""
        return Curve(
            plots.short(self.run),
            [getattr(p, x) for p in self.points],
            *([100 * getattr(p, key) for p in self.points] for key in ("win_rate", "low", "high")),
        )

    def as_json(self) -> dict[str, Any]:
        """As JSON types."""
        points = [{key: getattr(p, key) for key in Point.__slots__} for p in self.points]
        return {"run": self.run, "game": self.game, "points": points}


def load_curve(run: Path, opponent: str, x: str = "decisions") -> RunCurve:
    """Read a run's curve.

    Args:
        run: the run's folder.
        opponent: whom it was judged against.
        x: "decisions", or "minutes", which each point must have then.

    Raises:
        CurvesError: no log, not judged against that opponent, or no minutes.
    """
    if x not in AXES:
        raise CurvesError(f"x takes {' or '.join(AXES)}, not {x!r}")
    if not (run / METRICS).is_file():
        raise CurvesError(f"{run} is no run: it holds no {METRICS}")
    lines = [line for line in read_lines(run / METRICS) if line.get("kind") in JUDGED]
    keys = {"win_rate": opponent + WIN_RATE, "low": f"{opponent}_low", "high": f"{opponent}_high"}
    kept = [line for line in lines if all(key in line for key in keys.values())]
    if not kept:
        known = dict.fromkeys(
            k.removesuffix(WIN_RATE) for line in lines for k in line if k.endswith(WIN_RATE)
        )
        there = f"only against {', '.join(known)}" if known else "against nobody yet"
        raise CurvesError(f"opponent: {run} was not judged against {opponent!r}, {there}")
    if x == "minutes" and any("minutes" not in line for line in kept):
        raise CurvesError(f"x=minutes: the log of {run} doesn't tell them; take decisions")
    points = (
        Point(
            line["kind"],
            line["decisions"],
            line.get("minutes"),
            *(line[key] for key in keys.values()),
        )
        for line in kept
    )
    return RunCurve(str(run), game_of(run), tuple(points))


def game_of(run: Path) -> str:
    """The game of a run by its ``config.yaml``, empty without one."""
    try:
        data = yaml.safe_load((run / "config.yaml").read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError):
        return ""
    return str(data.get("game", "")) if isinstance(data, dict) else ""


def check_picture(path: Path) -> None:
    """Refuse a picture that can't be drawn, before anything is read.

    Raises:
        CurvesError: another ending.
        ModuleNotFoundError: no matplotlib; the text says how to get it.
    """
    if path.suffix not in PICTURES:
        raise CurvesError(f"out: {path} must end in {' or '.join(PICTURES)}")
    with plots.styled():
        pass


def write_picture(path: Path, curves: Sequence[RunCurve], opponent: str, x: str) -> None:
    """Draw all runs into one picture, ``.png`` or ``.svg``."""
    unit, scale = AXES[x]
    title = f"% won against {opponent}, 95 % intervals"
    with plots.styled():
        figure = plots.curves_figure({title: [c.curve(x) for c in curves]}, unit, scale)
        if path.suffix == ".svg":
            data = plots.svg_text(figure, path.stem).encode()
        else:
            file = io.BytesIO()
            figure.savefig(file, format="png", dpi=160, transparent=False, facecolor="white")
            data = file.getvalue()
    write_file(path, data)


def table(curves: Sequence[RunCurve], opponent: str) -> Table:
    """A row for each run: its last and its best value."""
    rows = Table(title=f"% won against {opponent}", caption="Intervals: 95 % over deals.")
    for heading in ("run", "game"):
        rows.add_column(heading)
    for heading in ("judged", "last", "at", "best on the way", "at"):
        rows.add_column(heading, justify="right")
    for c in curves:
        last, best = c.points[-1], c.best
        figures = (won(last), when(last), won(best), when(best))
        rows.add_row(escape(c.run), escape(c.game), str(len(c.points)), *figures)
    return rows


def won(point: Point) -> str:
    """``54.1 (53.7..54.5)``."""
    return f"{100 * point.win_rate:.1f} ({100 * point.low:.1f}..{100 * point.high:.1f})"


def when(point: Point) -> str:
    """``12.3 M, 4.5 min``."""
    text = f"{point.decisions / 1e6:.2f} M"
    return text if point.minutes is None else f"{text}, {point.minutes:.1f} min"
