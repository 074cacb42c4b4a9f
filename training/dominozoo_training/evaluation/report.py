"""A tournament as one page of HTML: no scripts, nothing fetched, for screen, telephone and paper.

It is written from the arena's JSON alone, so a result that was kept can become a page later:

    python -m dominozoo_training.evaluation.report result.json report.html [runs/first ...]
"""

from __future__ import annotations

import itertools
import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, Final

from dominozoo_training.evaluation.curves import panels_of
from dominozoo_training.evaluation.entrants import SEES_ALL
from dominozoo_training.evaluation.plots import (
    Dot,
    curves_figure,
    dots_figure,
    heat_figure,
    inline_svg,
    pictures_of,
    styled,
)
from dominozoo_training.files import write_file, write_files

Json = Mapping[str, Any]

CSS: Final = Path(__file__).with_name("report.css")
OTHERS: Final = "others"  # whom a player meets at tables of different players
OPENINGS: Final = {
    "rule": "opened by rule",
    "free": "posed freely by each seat in turn",
    "both": "opened by rule and posed freely in turn",
}
FORMATS: Final = {
    "all": "Every pair of players has met.",
    "swiss": "Pairs were made by standing, round by round.",
    "tables": "Different players sat at each table, each in every seat in turn.",
}
FALLBACKS: Final = ("illegal", "crashed", "late")


def write_report(path: str | Path, result: Json, runs: Sequence[str | Path] = ()) -> None:
    """Write a tournament's report, one HTML file that needs nothing else.

    Args:
        path: the file; it is replaced whole or not at all.
        result: the arena's JSON; keys that older files lack may be missing.
        runs: folders of training runs whose learning curves are shown; those without are passed over.

    Raises:
        ModuleNotFoundError: no matplotlib; the text says how to get it.
        OSError: the file can't be written.
        ValueError: a result without games.
    """
    write_file(Path(path), page(result, runs).encode())


def write_plots(folder: str | Path, result: Json, runs: Sequence[str | Path] = ()) -> list[Path]:
    """Write the report's pictures as PNG and SVG; returns their paths.

    Args:
        folder: made if it is missing.
        result: as :func:`write_report`.
        runs: as :func:`write_report`.

    Raises:
        ModuleNotFoundError, OSError, ValueError: as :func:`write_report`.
    """
    target, even = Path(folder), even_of(result)
    target.mkdir(parents=True, exist_ok=True)
    with styled():
        files = pictures_of(dots_figure(*ranking(result)), "ranking")
        names = order(result)
        if len(names) > 2 and format_of(result) != "tables":
            rates = [[cell(result, a, b)[0] for b in names] for a in names]
            labels = [plain(result, name) for name in names]
            files |= pictures_of(heat_figure(labels, rates, even), "cross")
        for k, (_, panels) in enumerate(curves(runs), 1):
            files |= pictures_of(curves_figure(panels), f"run-{k}")
    write_files(target, files)
    return [target / name for name in files]


def page(result: Json, runs: Sequence[str | Path] = ()) -> str:
    """The whole page; arguments and errors as :func:`write_report`."""
    if not result.get("results"):
        raise ValueError("results: there are none; a report needs a game or more")
    title = f"Arena: {escape(str(result['game']))}"
    body = "\n".join(
        [
            f"<h1>{title}</h1>",
            f'<p class="lead">{setting(result)}</p>',
            section("Ranking" if len(order(result)) > 2 else "Result", *ranked(result)),
            section("Who wins against whom", *crossed(result)),
            section("Every result", pairs_table(result)),
            section("Style", *styles(result)),
            section("Decisions", *decisions(result)),
            section("Learning curves", *learned(runs)),
            section("Made by", *made(result)),
        ]
    )
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{title}</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<style>\n{CSS.read_text(encoding='utf-8')}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def section(title: str, *parts: str) -> str:
    """A section, or nothing where nothing is in it."""
    inside = "\n".join(part for part in parts if part)
    return f"<section>\n<h2>{title}</h2>\n{inside}\n</section>" if inside else ""


def table(head: Iterable[str], rows: Iterable[Iterable[str]], kind: str = "") -> str:
    """A table of cells that are HTML already; the first of a row is its heading."""
    headings = "".join(
        f'<th{"" if k else " class=name"} scope="col">{name}</th>' for k, name in enumerate(head)
    )
    lines = []
    for first, *others in rows:
        cells = "".join(c if c.startswith("<td") else f"<td>{c}</td>" for c in others)
        lines.append(f'<tr><th class="name" scope="row">{first}</th>{cells}</tr>')
    inside = "\n".join(lines)
    return (
        f'<div class="wide"><table class="{kind}"><thead><tr>{headings}</tr></thead>\n'
        f"<tbody>\n{inside}\n</tbody></table></div>"
    )


def note(text: str) -> str:
    """A remark in small type."""
    return f'<p class="note">{text}</p>'


def sides_of(result: Json) -> int:
    """Sides of the game: each deal is played once for every side."""
    return int(result["rotations"])


def even_of(result: Json) -> float:
    """What a player as good as all others wins, 0..1."""
    return 1 / sides_of(result)


def format_of(result: Json) -> str:
    """How the tournament was held."""
    return str(result.get("format") or "all")


def cheats(result: Json) -> set[str]:
    """Names of players who see all tiles."""
    return {entrant["name"] for entrant in result.get("entrants", ()) if entrant.get("cheats")}


def marked(result: Json, name: str) -> str:
    """A player's name as HTML that may break in a path, with a mark if it sees all tiles."""
    mark = f' <span class="cheat">{SEES_ALL}</span>' if name in cheats(result) else ""
    return re.sub(r"([/:_])", r"\1<wbr>", escape(name)) + mark


def plain(result: Json, name: str) -> str:
    """A player's name for a picture."""
    return f"{name} {SEES_ALL}" if name in cheats(result) else name


def setting(result: Json) -> str:
    """What was played, in words."""
    unit = {"hand": "Hands", "match": "Matches"}[result.get("unit", "hand")]
    opening = OPENINGS.get(result.get("opening", ""), "")
    sides = sides_of(result)
    game = escape(str(result["game"]))
    first = (
        f"{unit} of <b>{game}</b>{', ' + opening if opening else ''}: {result['deals']:,} deals "
    )
    parts = [f"{first}for each meeting, the same for all, each played in {sides} rotations."]
    if len(order(result)) > 2:
        parts.append(FORMATS.get(format_of(result), ""))
    if sides > 2 and format_of(result) != "tables":
        parts.append(
            f"In a pair the first holds one seat in turn, the second the other {sides - 1}."
        )
    parts.append(f"Even is {100 / sides:.1f} %.")
    return " ".join(filter(None, parts))


def percent(row: Json) -> str:
    """A win rate's interval in words."""
    return f"{100 * row['low']:.1f} to {100 * row['high']:.1f}"


def ranking(result: Json) -> tuple[list[Dot], str, float | None]:
    """What the first picture shows: dots, their unit, where even is."""
    ratings = result.get("ratings")
    if ratings:
        dots = [
            (plain(result, r["name"]), r["rating"], r["low"], r["high"]) for r in ratings["rows"]
        ]
        return [Dot(*dot) for dot in dots], "rating", 0.0 if "mean 0" in ratings["scale"] else None
    found = []
    for r in result["results"]:
        figures = (100 * r["win_rate"], 100 * r["low"], 100 * r["high"])
        label = plain(result, r["a"])
        if r["b"] != OTHERS:
            label += f" v {plain(result, r['b'])}"
        found.append(Dot(label, *figures))
    found.sort(key=lambda d: -d.value)
    unit = "% won" if format_of(result) == "tables" else "% won by the first"
    return found, unit, 100 * even_of(result)


def order(result: Json) -> list[str]:
    """All players, the strongest first where that is known."""
    ratings = result.get("ratings")
    if ratings:
        return [row["name"] for row in ratings["rows"]]
    names = dict.fromkeys(r[key] for r in result["results"] for key in ("a", "b"))
    means = {name: mean_rate(result, name) for name in names if name != OTHERS}
    return sorted(means, key=lambda name: -(means[name] or 0.0))


def mean_rate(result: Json, name: str) -> float | None:
    """A player's mean win rate over those it met, each counted alike; None if that says nothing."""
    own = [r["win_rate"] for r in result["results"] if r["a"] == name and r["b"] == OTHERS]
    if own:
        return float(own[0])
    if sides_of(result) > 2:
        return None
    rates = [r["win_rate"] for r in result["results"] if r["a"] == name]
    rates += [1 - r["win_rate"] for r in result["results"] if r["b"] == name]
    return float(sum(rates) / len(rates))


def ranked(result: Json) -> list[str]:
    """The ranking: picture, table, how to read it."""
    dots, unit, even = ranking(result)
    with styled():
        figure = inline_svg(dots_figure(dots, unit, even), "ranking", "Players with intervals")
    parts = [f'<div class="wide">{figure}</div>']
    ratings = result.get("ratings")
    if ratings:
        sign = "+" if even is not None else ""
        head, rows = ["player", "rating", "95 %"], []
        rates = [mean_rate(result, row["name"]) for row in ratings["rows"]]
        for row, rate in zip(ratings["rows"], rates, strict=True):
            cells = [marked(result, row["name"]), f"{row['rating']:{sign}.1f}"]
            rows.append([*cells, f"{row['low']:.1f} to {row['high']:.1f}", won(rate)])
        if any(rate is not None for rate in rates):
            head.append("won on average")
        parts.append(table(head, [row[: len(head)] for row in rows]))
        parts.append(note(f"{escape(ratings['method'])}; {escape(ratings['scale'])}."))
    parts.append(
        note(
            "A dot is the estimate, its whiskers the 95 % interval over deals. Where intervals overlap, "
            "the pair's own result says more about who is better."
        )
    )
    return parts


def won(rate: float | None) -> str:
    """A win rate, or a dash."""
    return "–" if rate is None else f"{100 * rate:.1f} %"  # noqa: RUF001 - a dash


def cell(result: Json, a: str, b: str) -> tuple[float | None, str]:
    """Win rate of ``a`` against ``b``, None if they haven't met so, and what it is in words."""
    for r in result["results"]:
        if (r["a"], r["b"]) == (a, b):
            rate, low, high = r["win_rate"], r["low"], r["high"]
        elif (r["b"], r["a"]) == (a, b) and sides_of(result) == 2:
            rate, low, high = 1 - r["win_rate"], 1 - r["high"], 1 - r["low"]
        else:
            continue
        bounds = percent({"low": low, "high": high})
        words = f"{a} against {b}: {100 * rate:.1f} % ({bounds}), {r['games']:,} games"
        return float(rate), words
    return None, ""


def crossed(result: Json) -> list[str]:
    """All against all as a heat map."""
    names = order(result)
    if len(names) < 3 or format_of(result) == "tables":
        return []
    even = even_of(result)
    cells = {(a, b): cell(result, a, b) for a, b in itertools.permutations(names, 2)}
    reach = max(abs(rate - even) for rate, _ in cells.values() if rate is not None) or 1.0
    head = [
        "row against column",
        *(f'<span title="{escape(n)}">{k}</span>' for k, n in enumerate(names, 1)),
    ]
    rows = []
    for k, a in enumerate(names, 1):
        row = [f"{k} {marked(result, a)}"]
        row += [
            '<td class="self"></td>' if a == b else shaded(*cells[a, b], even, reach) for b in names
        ]
        rows.append(row)
    text = "Per cent won by the row against the column; point at a cell for its interval."
    if sides_of(result) > 2:
        text += " The row holds one seat, the column all others, so a pair has met one way only."
    return [table(head, rows, "cross"), note(text)]


def shaded(rate: float | None, words: str, even: float, reach: float) -> str:
    """A cell of the heat map: the ink stays the page's, the shade is thin enough to read it."""
    if rate is None:
        return '<td class="self">–</td>'  # noqa: RUF001 - a dash
    tone = "--good" if rate >= even else "--bad"
    depth = min(0.5, 0.5 * abs(rate - even) / reach)
    style = f"background: rgba(var({tone}), {depth:.3f})"
    return f'<td style="{style}" title="{escape(words)}">{100 * rate:.1f}</td>'


def pairs_table(result: Json) -> str:
    """A row for each result."""
    tables = format_of(result) == "tables"
    rows = []
    for r in result["results"]:
        who = [marked(result, r["a"])]
        if not tables:
            who.append(f'<td class="name">{marked(result, r["b"])}</td>')
        figures = (
            f"{100 * r['win_rate']:.2f} %",
            percent(r),
            f"{r['points']:+.4f}",
            f"{r['games']:,}",
        )
        rows.append([*who, *figures])
    players = ["player"] if tables else ["a", '<span style="float: left">b</span>']
    return table(
        [*players, "a wins" if not tables else "wins", "95 %", "points", "games"], rows
    ) + note(
        "Points: mean reward of a hand for a seat"
        f"{'' if tables else ' of a'}, as the environments give it."
    )


def styles(result: Json) -> list[str]:
    """How everybody plays: a row for each rate, a column for each player."""
    entrants = [e for e in result.get("entrants", ()) if e.get("style")]
    if not entrants:
        return []
    names = dict.fromkeys(name for e in entrants for name in e["style"])
    head = ["", *(marked(result, e["name"]) for e in entrants)]
    rows = [
        [escape(name), *(figure(e["style"].get(name), "{:.3f}") for e in entrants)]
        for name in names
    ]
    return [table(head, rows, "players")]


def figure(value: float | None, form: str) -> str:
    """A figure, or a dash where there is none."""
    return "–" if value is None else form.format(value)  # noqa: RUF001 - a dash


def decisions(result: Json) -> list[str]:
    """Time and failures of players who were asked for decisions."""
    asked = [e for e in result.get("entrants", ()) if e.get("decisions")]
    if not asked:
        return []
    rows = []
    for e in asked:
        seconds = e.get("seconds_per_decision")
        row = [marked(result, e["name"]), f"{e['decisions']:,}"]
        row.append(figure(None if seconds is None else 1000 * seconds, "{:.3g}"))
        for kind in FALLBACKS:
            count = (e.get("fallbacks") or {}).get(kind, 0)
            row.append(f'<span class="bad">{count:,}</span>' if count else "0")
        rows.append(row)
    text = "Illegal, crashed and late decisions were played by the bot random instead."
    failed = any(sum((e.get("fallbacks") or {}).values()) for e in asked)
    return [
        table(["player", "decisions", "ms a decision", *FALLBACKS], rows),
        note(text) if failed else "",
    ]


def curves(runs: Iterable[str | Path]) -> list[tuple[str, dict[str, Any]]]:
    """The curves of the runs that have any, with their names."""
    found = [(str(run), panels_of(Path(run))) for run in dict.fromkeys(map(str, runs))]
    return [(name, panels) for name, panels in found if panels]


def learned(runs: Sequence[str | Path]) -> list[str]:
    """The learning curves, a picture a run."""
    parts = []
    for k, (name, panels) in enumerate(curves(runs), 1):
        with styled():
            picture = inline_svg(curves_figure(panels), f"run-{k}", "Learning curves")
        parts.append(f'<h3>{escape(name)}</h3>\n<div class="wide curves">{picture}</div>')
    return parts


def made(result: Json) -> list[str]:
    """Seed, version, machine and the command that plays it again."""
    facts = {
        "seed": result.get("seed"),
        "deals": f"{result['deals']:,}, in {sides_of(result)} rotations",
        "version": f"DominoZoo {result['version']}" if result.get("version") else None,
        "machine": result.get("machine"),
    }
    items = "".join(
        f"<dt>{name}</dt><dd>{escape(str(value))}</dd>"
        for name, value in facts.items()
        if value not in (None, "")
    )
    command = result.get("command")
    again = f"<p>This plays it again:</p>\n<pre>{escape(command)}</pre>" if command else ""
    return [f"<dl>{items}</dl>", again]


def main(arguments: Sequence[str]) -> None:
    """Write a page from a kept result: RESULT.json PAGE.html [RUN ...]."""
    if len(arguments) < 2:
        raise SystemExit("say which: RESULT.json PAGE.html [RUN ...]")
    source, target, *runs = arguments
    write_report(target, json.loads(Path(source).read_text(encoding="utf-8")), runs)


if __name__ == "__main__":
    main(sys.argv[1:])
