"""A review to look at: in the terminal, and one game as a page of HTML that needs nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from dominozoo.notation import Game
from dominozoo.render.svg import draw_svg
from dominozoo.rules import TRUC, Rules
from dominozoo_training.evaluation.journal import write_whole
from dominozoo_training.evaluation.review import Review, unit_of
from dominozoo_training.evaluation.review_games import hands_of, retrace

Json = dict[str, Any]

CSS: Final = """
:root { color-scheme: light dark; --paper: #fff; --ink: #1b2a2f; --soft: #5a6a70; --line: #c9d2d5;
  --band: #e7f2f1; --warn: #b4480b; }
@media (prefers-color-scheme: dark) { :root { --paper: #12191c; --ink: #e4ebed; --soft: #9db0b6;
  --line: #3a494f; --band: #1f3133; --warn: #fb923c; } }
body { margin: 0 auto; max-width: 56rem; padding: 1.5rem 1rem 3rem; background: var(--paper);
  color: var(--ink); font: 16px/1.5 system-ui, "Segoe UI", Roboto, Arial, sans-serif; }
h1 { font-size: 1.6rem; margin: 0 0 .4rem; }
h2 { font-size: 1.1rem; margin: 2.2rem 0 .5rem; border-bottom: 1px solid var(--line); }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: .6rem 0; }
th, td { padding: .25rem .8rem; text-align: right; border-bottom: 1px solid var(--line); }
th { color: var(--soft); font-weight: 600; }
th:first-child, td:first-child { text-align: left; }
tr.played { background: var(--band); font-weight: 600; }
.loss { color: var(--warn); }
.note { color: var(--soft); font-size: .9rem; }
.board svg { display: block; width: 100%; height: auto; }
section { break-inside: avoid; }
"""
EVEN: Final = 5e-4  # what is shown as 0


def move_text(move: Json) -> str:
    """A move in words: 6-5 at end 1, double 6-6, draw."""
    if move["tile"] is None:
        return str(move["action"])
    words = move["tile"] if move["action"] == "play" else f"{move['action']} {move['tile']}"
    return words if move["end"] is None else f"{words} at end {move['end']}"


def place_text(decision: Json) -> str:
    """Where a decision was made."""
    return f"game {decision['game'] + 1}, hand {decision['hand']}, seat {decision['seat']}"


def method_text(rules: Rules, deals: int) -> str:
    """How values were found."""
    how = "with all tiles open, solved or played on by hard"
    if rules.variant.family == TRUC:
        how = "played on by hard, each seat seeing its own tiles: not solved"
    return f"Values are means over {deals} deals that agree with what the seat had seen, {how}."


def show_review(review: Review, console: Console) -> None:
    """Print who lost how much, and the costliest moves."""
    rules, unit = review.played.rules, unit_of(review.played.rules, review.objective)
    hands = len(set(hands_of(review.played).tolist()))
    table = Table(
        *("player", "decisions", "mean loss", "95 %", "best move"),
        title=f"{rules}: hands {hands}, decisions {len(review.counts)}, deals {review.deals}",
    )
    for line in review.summary():
        between = f"{line.low:.3f} .. {line.high:.3f}" if hands > 1 else ""
        table.add_row(
            *(
                line.name,
                str(line.decisions),
                f"{line.loss:.3f}",
                between,
                f"{100 * line.best:.1f} %",
            )
        )
    console.print(table)
    worst = Table("where", "player", "played", "best", f"loss, {unit}", title="The costliest moves")
    for decision in map(review.decision, review.costliest()):
        played = next(move for move in decision["moves"] if move["played"])
        worst.add_row(
            *(place_text(decision), decision["player"], move_text(played)),
            *(move_text(decision["moves"][0]), f"{decision['loss']:.3f}"),
        )
    if worst.row_count:
        console.print(worst)
    console.print(method_text(rules, review.deals), highlight=False)


def write_page(path: str | Path, review: Review, game: Game) -> None:
    """Write the review of one game: board and moves at each decision.

    Args:
        path: the file; it is replaced whole or not at all.
        review: of that game alone.
        game: the table at its end.

    Raises:
        OSError: the file can't be written.
    """
    played = review.played
    seats = [played.names[k % len(played.names)] for k in range(played.rules.players)]
    names = [f"{seat}: {Path(name).name}" for seat, name in enumerate(seats)]
    parts = [
        _section(number, review.decision(number), draw_svg(twin.position(), names))
        for number, (twin, _) in enumerate(retrace(game))
    ]
    unit = unit_of(played.rules, review.objective)
    title = escape(f"Review of a game of {played.rules}")
    note = escape(method_text(played.rules, review.deals) + f" They are counted in {unit}.")
    more = "Loss: the best value less that of the move played. The best of noisy means looks a "
    more += "little too good; more deals show less of that. The move played is marked."
    text = (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{CSS}</style></head><body>\n<h1>{title}</h1>\n"
        f'<p class="note">{note} {more}</p>\n{_players(review)}\n'
        + "\n".join(parts)
        + "\n</body></html>\n"
    )
    write_whole(Path(path), text)


def _players(review: Review) -> str:
    rows = [
        [line.name, str(line.decisions), f"{line.loss:.3f}", f"{100 * line.best:.0f} %"]
        for line in review.summary()
    ]
    return _table(["player", "decisions", "mean loss", "best move"], rows)


def _section(number: int, decision: Json, svg: str) -> str:
    head = f"{number + 1}. Hand {decision['hand']}, seat {decision['seat']}: {decision['player']}"
    loss = decision["loss"]
    told = f' <span class="loss">loses {loss:.3f}</span>' if loss > EVEN else ""
    asked = any(move["probability"] is not None for move in decision["moves"])
    best = decision["moves"][0]["value"]
    rows = [
        [move_text(move), f"{move['value']:.3f}", f"{best - move['value']:.3f}"]
        + ([f"{100 * move['probability']:.1f} %"] if asked else [])
        for move in decision["moves"]
    ]
    titles = ["move", "value", "loss", *(["its own chance"] if asked else [])]
    marked = [k for k, move in enumerate(decision["moves"]) if move["played"]]
    value = decision["policy_value"]
    own = "" if value is None else f'<p class="note">The policy expects {value:.3f}.</p>'
    board = f'<div class="board">{svg}</div>'
    return f"<section><h2>{escape(head)}{told}</h2>{board}{_table(titles, rows, marked)}{own}</section>"


def _table(titles: Sequence[str], rows: Sequence[Sequence[str]], marked: Sequence[int] = ()) -> str:
    head = "".join(f"<th>{escape(title)}</th>" for title in titles)
    lines = []
    for k, row in enumerate(rows):
        kind = ' class="played"' if k in marked else ""
        lines.append(f"<tr{kind}>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>")
    return f"<table><tr>{head}</tr>{''.join(lines)}</table>"
