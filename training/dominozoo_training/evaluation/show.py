"""A tournament in the terminal: its progress, then its tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from dominozoo.rules import Rules
from dominozoo_training.evaluation.entrants import SEES_ALL
from dominozoo_training.evaluation.outcome import Outcome
from dominozoo_training.evaluation.tournament import Plan, Report, State

Json = Mapping[str, Any]

UNITS: Final = {"hand": "hands", "match": "matches"}


def show_outcome(outcome: Outcome, result: Json, console: Console) -> None:
    """Print a tournament's tables: pairs, ratings, what was counted, style.

    Args:
        outcome: what was played.
        result: the same as :func:`dominozoo_training.evaluation.outcome.as_json`.
        console: where to.
    """
    console.print(pairs_table(outcome, result))
    if result["ratings"] is not None:
        console.print(ratings_table(result))
    if any(entrant["decisions"] for entrant in result["entrants"]):
        console.print(counted_table(result))
    if any(entrant["style"] for entrant in result["entrants"]):
        console.print(style_table(result))


def pairs_table(outcome: Outcome, result: Json) -> Table:
    """A row for each result."""
    setting = outcome.plan.setting
    table = Table(
        title=f"{result['game']}: {UNITS[setting.unit]}, opening {setting.opening}, "
        f"{result['deals']} deals, seed {setting.seed}",
        caption=caption(outcome.plan),
    )
    for heading in ("a", "b"):
        table.add_column(heading)
    for heading in ("games", "a wins", "95 %", "points"):
        table.add_column(heading, justify="right")
    marked = labels(result["entrants"])
    for r in result["results"]:
        names = (escape(marked.get(r[key], str(r[key]))) for key in ("a", "b"))
        bounds = f"{100 * r['low']:.1f} .. {100 * r['high']:.1f}"
        figures = (str(r["games"]), f"{100 * r['win_rate']:.2f} %", bounds, f"{r['points']:+.4f}")
        table.add_row(*names, *figures)
    return table


def labels(entrants: Sequence[Json]) -> dict[str, str]:
    """How players are named in tables: who sees all tiles is marked."""
    return {e["name"]: f"{e['name']} {SEES_ALL}" if e["cheats"] else e["name"] for e in entrants}


def caption(plan: Plan) -> str:
    """What even is, and who sits where."""
    rules = plan.setting.rules
    words = [f"Even is {100 / rules.sides:.1f} %.", "Intervals: 95 % over deals."]
    seats = seats_of(plan.format, rules)
    return " ".join([*words, seats] if seats else words)


def seats_of(form: str, rules: Rules) -> str:
    """Who holds which seats; empty where each has one."""
    if form == "tables":
        return f"{rules.sides} different players at each table, in every seat in turn."
    if rules.players > rules.sides:
        return "A pair each."
    words = {3: "two", 4: "three"}
    if rules.sides in words:
        return f"a holds one seat in turn, b the other {words[rules.sides]}."
    return ""


def ratings_table(result: Json) -> Table:
    """Players by strength."""
    ratings = result["ratings"]
    table = Table("player", title="Ratings", caption=f"{ratings['method']}: {ratings['scale']}.")
    for heading in ("rating", "95 %"):
        table.add_column(heading, justify="right")
    marked = labels(result["entrants"])
    for row in ratings["rows"]:
        bounds = f"{row['low']:.1f} .. {row['high']:.1f}"
        table.add_row(escape(marked[row["name"]]), f"{row['rating']:.1f}", bounds)
    return table


def counted_table(result: Json) -> Table:
    """Time and failures of players who were asked."""
    table = Table("player", title="Decisions")
    for heading in ("decisions", "ms each", "illegal", "crashed", "late"):
        table.add_column(heading, justify="right")
    marked = labels(result["entrants"])
    failed = False
    for row in result["entrants"]:
        if not row["decisions"]:
            continue
        counts = [row["fallbacks"][kind] for kind in ("illegal", "crashed", "late")]
        failed |= any(counts)
        taken = f"{1000 * row['seconds_per_decision']:.3g}"
        table.add_row(escape(marked[row["name"]]), str(row["decisions"]), taken, *map(str, counts))
    if failed:
        table.caption = "Illegal, crashed and late decisions were played by the bot random."
    return table


def style_table(result: Json) -> Table:
    """How everybody plays: a column for each player."""
    entrants = [row for row in result["entrants"] if row["style"]]
    marked = labels(entrants)
    table = Table("rate", title="Style")
    for row in entrants:
        table.add_column(escape(marked[row["name"]]), justify="right")
    for rate in dict.fromkeys(name for row in entrants for name in row["style"]):
        figures = [row["style"].get(rate) for row in entrants]
        table.add_row(rate, *("-" if value is None else f"{value:.3f}" for value in figures))
    return table


@contextmanager
def arena_bar(plan: Plan, entrants: int) -> Iterator[Report]:
    """A bar on a terminal's stderr, gone when done; yields what it is told by."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("deals {task.fields[width]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    target = "" if plan.until_ci is None else f", to {plan.until_ci:g}"
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as bar:
        task = bar.add_task(f"arena of {entrants}", total=None, width="")

        def report(state: State) -> None:
            width = "" if state.width is None else f"±{state.width:.2f} points{target}"
            if state.round:
                width = f"round {state.round} of {plan.rounds} {width}"
            bar.update(task, completed=state.done, total=state.total, width=width)

        yield report
