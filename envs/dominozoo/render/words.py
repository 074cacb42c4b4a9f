"""What a picture says in words: the last move, how a hand ended, what the seat to move may do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from dominozoo.render import truc
from dominozoo.render.text import event_text
from dominozoo.rules import Rules

Table = Mapping[str, Any]

EFFECTS: Final = {
    "bruck": "the run is broken and the match over",
    "decider": "the next hand decides",
    "reset": "the scores start anew",
}
TURNS: Final = {
    "exchange": "proposes an exchange or stands",
    "answer": "accepts or rejects the exchange",
    "lead": "leads",
    "follow": "follows",
    "call": "accepts or refuses the double",
    "pose": "poses",
}
REASONS: Final = {
    "out": "{who} goes out",
    "block": "blocked, {who} wins the hand",
    "tricks": "{who} wins the hand",
    "fold": "double refused, {who} wins the hand",
    "tie": "blocked and tied",
    "void": "the hand has no winner",
}


def last_move(table: Table, names: Sequence[str]) -> str:
    """The last event, "" before the first."""
    if not table["events"]:
        return ""
    event = table["events"][-1]
    words = truc.event_text(event) if "trick" in table else event_text(event, bool(table["locked"]))
    seat: int = event["seat"]
    return names[seat] + words.removeprefix(f"player_{seat}")


def result(last: Table, names: Sequence[str]) -> str:
    """How a hand ended and what it was worth."""
    seat = last["seat"]
    who = "somebody" if seat is None else names[seat]
    words = REASONS[last["reason"]].format(who=who) if seat is not None else _nobody(last)
    if isinstance(last["points"], list):
        words += ", penalties " + ", ".join(map(str, last["points"]))
    elif last["points"]:
        words += f", {last['points']} point{'s' if last['points'] > 1 else ''}"
    if last["key"]:
        words += " (key)"
    effect = EFFECTS.get(last["effect"])
    return f"{words}; {effect}" if effect else words


def _nobody(last: Table) -> str:
    if last["reason"] == "block":
        return "the hand is blocked"
    return REASONS[last["reason"]].format(who="nobody")


def outlook(table: Table, rules: Rules, names: Sequence[str]) -> str:
    """Who is to do what, or who has won."""
    if table["turn"] is not None:
        return f"{names[table['turn']]} {TURNS.get(table['phase'], 'to move')}"
    if not table["over"]:
        return "the hand is over"
    winners = [name for seat, name in enumerate(names) if rules.side_of(seat) in table["winners"]]
    if not winners:
        return "the match is over: no winner"
    return f"{' and '.join(winners)} {'win' if len(winners) > 1 else 'wins'} the match"
