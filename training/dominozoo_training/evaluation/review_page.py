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
from dominozoo.render.text import SIDES
from dominozoo.rules import TRUC, Rules
from dominozoo_training.evaluation.journal import write_whole
from dominozoo_training.evaluation.review import Review
from dominozoo_training.evaluation.review_games import hands_of, retrace
from dominozoo_training.evaluation.review_opinions import unit_of

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


def move_text(move: Json, cross: bool = False) -> str:
    """A move in words: 6-5 left, double 6-6, draw; ``cross`` names arms instead of sides."""
    if move["tile"] is None:
        return str(move["action"])
    words = move["tile"] if move["action"] == "play" else f"{move['action']} {move['tile']}"
    if move["end"] is None:
        return str(words)
    return f"{words} on arm {move['end']}" if cross else f"{words} {SIDES[move['end']]}"


def is_cross(rules: Rules) -> bool:
    """Whether arms are named, not sides."""
    return bool(rules.value("cross", False))


def opinion_text(decision: Json, cross: bool) -> str:
    """What the one asked would have played: hard: 6-5 left; "" if nobody was asked."""
    opinion = decision["opinion"]
    if opinion is None:
        return ""
    move = next(move for move in decision["moves"] if move["id"] == opinion["id"])
    return f"{Path(opinion['of']).name}: {move_text(move, cross)}"


def unfinished_text(review: Review) -> str:
    """Which games stop in mid-hand; "" if none does."""
    ends = [f"game {game + 1}, hand {hand}" for game, hand in review.played.unfinished]
    return f"Unfinished, the record stops in mid-hand: {'; '.join(ends)}." if ends else ""


def place_text(decision: Json) -> str:
    """Where a decision was made."""
    return f"game {decision['game'] + 1}, hand {decision['hand']}, seat {decision['seat']}"


def method_text(review: Review) -> str:
    """How values were found, and what they don't say."""
    rules, more = review.played.rules, ""
    if rules.variant.family == TRUC:
        how = "played on by hard, each seat seeing its own tiles: not solved"
    elif review.budget == 0:
        how = "with all tiles open, played on by hard"
    else:
        how = "with all tiles open, solved or played on by hard"
        if rules.sides > 2:
            more = " Solved, all others join against the seat, which nobody does: such losses say "
            more += "how a move stands the worst; --budget 0 plays every deal on."
    deals = f"{review.deals} deals that agree with what the seat had seen"
    return f"Values are means over {deals}, {how}.{more}"


def show_review(review: Review, console: Console) -> None:
    """Print who lost how much, and the costliest moves."""
    rules = review.played.rules
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
    show_worst(review, console)
    for words in (method_text(review), unfinished_text(review)):
        if words:
            console.print(words, highlight=False)


def show_worst(review: Review, console: Console) -> None:
    """Print the costliest moves, with what those asked would have played."""
    rules, asked = review.played.rules, review.advice is not None
    cross, unit = is_cross(rules), unit_of(rules, review.objective)
    who = ["moved", "played", "best", *(["opinion of"] if asked else [])]
    worst = Table("where", *who, f"loss, {unit}", title="The costliest moves")
    for decision in map(review.decision, review.costliest()):
        played = next(move for move in decision["moves"] if move["played"])
        opinion = [opinion_text(decision, cross)] if asked else []
        worst.add_row(
            *(place_text(decision), decision["player"], move_text(played, cross)),
            *(move_text(decision["moves"][0], cross), *opinion, f"{decision['loss']:.3f}"),
        )
    if worst.row_count:
        console.print(worst)


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
    if played.read:
        names = seats
    cross = is_cross(played.rules)
    parts = [
        _section(number, review.decision(number), draw_svg(twin.position(), names), cross)
        for number, (twin, _) in enumerate(retrace(game))
    ]
    unit = unit_of(played.rules, review.objective)
    title = escape(f"Review of a game of {played.rules}")
    note = escape(method_text(review) + f" They are counted in {unit}.")
    note += f" {unfinished_text(review)}" if played.unfinished else ""
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


def _section(number: int, decision: Json, svg: str, cross: bool) -> str:
    head = f"{number + 1}. Hand {decision['hand']}, seat {decision['seat']}"
    if decision["player"] != f"seat {decision['seat']}":
        head += f": {decision['player']}"
    loss = decision["loss"]
    told = f' <span class="loss">loses {loss:.3f}</span>' if loss > EVEN else ""
    asked = any(move["probability"] is not None for move in decision["moves"])
    best = decision["moves"][0]["value"]
    rows = [
        [move_text(move, cross), f"{move['value']:.3f}", f"{best - move['value']:.3f}"]
        + ([f"{100 * move['probability']:.1f} %"] if asked else [])
        for move in decision["moves"]
    ]
    opinion = decision["opinion"]
    whose = "its own chance" if opinion is None else f"chance by {Path(opinion['of']).name}"
    titles = ["move", "value", "loss", *([whose] if asked else [])]
    marked = [k for k, move in enumerate(decision["moves"]) if move["played"]]
    board = f'<div class="board">{svg}</div>{_table(titles, rows, marked)}'
    return f"<section><h2>{escape(head)}{told}</h2>{board}{_said(decision, cross)}</section>"


def _said(decision: Json, cross: bool) -> str:
    """Whose opinion it is, what he would have played and what his policy expects."""
    words = opinion_text(decision, cross)
    parts = [f"Opinion of {words}."] if words else []
    if decision["policy_value"] is not None:
        who = "It" if words else "The policy"
        parts.append(f"{who} expects {decision['policy_value']:.3f}, {decision['policy_unit']}.")
    return f'<p class="note">{escape(" ".join(parts))}</p>' if parts else ""


def _table(titles: Sequence[str], rows: Sequence[Sequence[str]], marked: Sequence[int] = ()) -> str:
    head = "".join(f"<th>{escape(title)}</th>" for title in titles)
    lines = []
    for k, row in enumerate(rows):
        kind = ' class="played"' if k in marked else ""
        lines.append(f"<tr{kind}>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>")
    return f"<table><tr>{head}</tr>{''.join(lines)}</table>"
