"""The arena's pictures: ratings with their intervals, win rates as a heat map, learning curves.

Drawn by matplotlib without a window and without its global state; the library is imported when the
first picture is drawn. Inside a page, colours are those of the page, light or dark.
"""

from __future__ import annotations

import io
import itertools
import math
import re
import warnings
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from dominozoo_training import remedy
from dominozoo_training.evaluation.entrants import SEES_ALL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK: Final = "#1b2a2f"
FAINT: Final = "#9aa7ab"
SERIES: Final = ("#00796b", "#b45309", "#5b4bb7", "#b0305c", "#3d6fb4")
# In a page the colours are the page's own.
IN_PAGE: Final = {
    INK: "currentColor",
    FAINT: "var(--line)",
    **{colour: f"var(--series-{k})" for k, colour in enumerate(SERIES)},
}
WIDTH: Final = 5.6  # inches; letters stay readable where a telephone shows all of it
WIDER: Final = 7.2  # of panels side by side
LONGEST: Final = 26  # letters of a name
STYLE: Final[Any] = {
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.constrained_layout.use": True,
    "font.size": 10,
    "grid.color": FAINT,
    "grid.linewidth": 0.4,
    "savefig.transparent": True,
    "svg.fonttype": "none",
    "text.color": INK,
    "text.parse_math": False,  # a name with two dollars is a name
    "xtick.color": INK,
    "xtick.labelcolor": INK,
    "ytick.color": INK,
    "ytick.labelcolor": INK,
}


@dataclass(frozen=True, slots=True)
class Dot:
    """A value with its 95 % interval."""

    label: str
    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Curve:
    """A figure over a training run.

    Attributes:
        label: what it is.
        x: decisions, or minutes.
        y: values.
        low: lower ends of their intervals, empty without.
        high: upper ends.
    """

    label: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()


def short(name: str) -> str:
    """A name that fits beside a picture: long ones lose their middle, never the mark.

    >>> short("runs/a-very-long-name-of-a-run/of-the-second-week@best")
    'runs/a-very-l…ond-week@best'
    """
    if name.endswith(SEES_ALL):
        return f"{short(name.removesuffix(SEES_ALL).rstrip())} {SEES_ALL}"
    half = LONGEST // 2
    fits = len(name.replace(SEES_ALL, "")) <= LONGEST + 1
    return name if fits else f"{name[:half]}…{name[-half:]}"


@contextmanager
def styled() -> Iterator[None]:
    """Draw in the project's style; a letter that no font has is a box, not a warning.

    Raises:
        ModuleNotFoundError: no matplotlib; the text says how to get it.
    """
    try:
        import matplotlib as mpl
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"pictures need {error.name}: {remedy('report')}", name=error.name
        ) from None
    with mpl.rc_context(STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from", category=UserWarning)
        yield


def new_figure(height: float, columns: int = 1) -> tuple[Figure, list[Axes]]:
    """An empty figure, ``height`` inches high, with axes side by side."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH if columns == 1 else WIDER, height))
    return figure, list(figure.subplots(1, columns, squeeze=False)[0])


def dots_figure(dots: Sequence[Dot], unit: str, mark: float | None = None) -> Figure:
    """Values as dots with their intervals as whiskers, the first on top; call inside ``styled()``.

    Args:
        dots: from top to bottom, one or more.
        unit: along the axis.
        mark: where a dashed line stands, the even value.
    """
    figure, (axes,) = new_figure(0.7 + 0.3 * len(dots))
    places = range(len(dots))
    if mark is not None:
        axes.axvline(mark, color=FAINT, linewidth=1.2, linestyle="--", zorder=1)
    whiskers = [[d.value - d.low for d in dots], [d.high - d.value for d in dots]]
    axes.errorbar(
        [d.value for d in dots],
        list(places),
        xerr=whiskers,
        fmt="o",
        color=SERIES[0],
        capsize=4,
        markersize=6,
        linewidth=1.8,
    )
    axes.set_yticks(list(places), [short(d.label) for d in dots])
    axes.set_ylim(len(dots) - 0.4, -0.6)
    axes.set_xlabel(unit)
    axes.grid(axis="x")
    axes.set_axisbelow(True)
    axes.tick_params(axis="y", length=0)
    return figure


def curves_figure(
    panels: Mapping[str, Sequence[Curve]], unit: str = "million decisions", scale: float = 1e6
) -> Figure:
    """Curves over a run, a panel each; call inside ``styled()``.

    Args:
        panels: curves by what they show; one panel or more.
        unit: along the axis.
        scale: so much of the curves' ``x`` is one of the unit.
    """
    figure, all_axes = new_figure(2.9, len(panels))
    for axes, (title, curves) in zip(all_axes, panels.items(), strict=True):
        for curve, colour in zip(curves, itertools.cycle(SERIES)):
            x = [value / scale for value in curve.x]
            axes.plot(x, curve.y, color=colour, linewidth=1.6, label=curve.label)
            if curve.low:
                axes.fill_between(x, curve.low, curve.high, color=colour, alpha=0.2, linewidth=0)
            if len(x) == 1:
                axes.plot(x, curve.y, "o", color=colour)
        axes.set_title(title, fontsize=10)
        axes.set_xlabel(unit)
        axes.set_xlim(left=0)
        axes.locator_params(nbins=5)
        axes.grid()
        axes.set_axisbelow(True)
        if len(curves) > 1:
            axes.legend(frameon=False, fontsize=9)
    return figure


def heat_figure(
    names: Sequence[str], rates: Sequence[Sequence[float | None]], even: float
) -> Figure:
    """Win rates of rows against columns as coloured cells; call inside ``styled()``.

    Args:
        names: of rows and columns.
        rates: 0..1 by row and column, None where two didn't meet.
        even: what is neither good nor bad, 0..1.
    """
    count = len(names)
    figure, (axes,) = new_figure(1.2 + 0.42 * count)
    reach = max((abs(r - even) for row in rates for r in row if r is not None), default=0) or 1
    cells = [[math.nan if r is None else (r - even) / reach for r in row] for row in rates]
    axes.imshow(cells, cmap="PuOr", vmin=-2.2, vmax=2.2, aspect="auto")
    for row, column in itertools.product(range(count), repeat=2):
        value = rates[row][column]
        if value is not None:  # dark on the cells, which are light in every page
            text = f"{100 * value:.1f}"
            axes.text(column, row, text, ha="center", va="center", color="#000000", fontsize=10)
    axes.set_xticks(range(count), [str(k + 1) for k in range(count)])
    axes.set_yticks(range(count), [f"{short(name)}  {k + 1}" for k, name in enumerate(names)])
    axes.tick_params(length=0, top=True, labeltop=True, bottom=False, labelbottom=False)
    axes.spines[:].set_visible(False)
    axes.set_title(f"% won by the row against the column; even is {100 * even:.1f} %", fontsize=10)
    return figure


def svg_text(figure: Figure, name: str) -> str:
    """A figure as SVG; ``name`` keeps its ids apart from those of others on the page."""
    import matplotlib as mpl

    file = io.StringIO()
    nothing = {"Date": None, "Creator": None, "Format": None, "Type": None}
    with mpl.rc_context({"svg.hashsalt": name}):
        figure.savefig(file, format="svg", metadata=nothing)
    return file.getvalue()


def inline_svg(figure: Figure, name: str, title: str) -> str:
    """A figure as an element of a page, in the page's colours and as wide as there is room.

    Args:
        figure: what is drawn.
        name: keeps its ids apart from those of other figures.
        title: what it shows, for who can't see it; plain text without markup.
    """
    text = svg_text(figure, name)
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r'<svg ([^>]*?)width="[^"]*"', r"<svg \1", text, count=1)
    text = re.sub(r'<svg ([^>]*?)height="[^"]*"', r"<svg \1", text, count=1)
    for colour, here in IN_PAGE.items():
        text = text.replace(colour, here)
    return text.replace("<svg ", f'<svg role="img" aria-label="{title}" ', 1)


def pictures_of(figure: Figure, name: str) -> dict[str, bytes]:
    """A figure as the files ``name.svg`` and ``name.png``."""
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=160, transparent=False, facecolor="white")
    return {f"{name}.svg": svg_text(figure, name).encode(), f"{name}.png": picture.getvalue()}
