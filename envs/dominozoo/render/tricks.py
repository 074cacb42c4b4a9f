"""The middle of Le Truc's table: three tricks, face-down tiles, the multiplier."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from dominozoo.render.shapes import INK, Area, Box, Shape, Text, Tile

Table = Mapping[str, Any]
Item = Shape | Tile

UNIT: Final = 56.0
STEP: Final = 212.0  # from trick to trick
TEXT: Final = "#e4f0e6"
GHOST: Final = "#6fa389"
PLATE: Final = "#ffe08a"


def draw(table: Table, area: Area, names: Sequence[str], viewer: int) -> list[Item]:
    """The tricks in columns, the viewer's tiles below; on the right what the hand is worth."""
    plays = plays_of(table)
    items: list[Item] = []
    left = area.x + 20 + STEP / 2
    for trick in range(3):
        x = left + trick * STEP
        items.append(Text(x, area.y + 48, f"trick {trick + 1}", 16, TEXT, "middle"))
        lying = plays[2 * trick : 2 * trick + 2]
        for seat in (1 - viewer, viewer):
            y = area.y + (70 if seat != viewer else 222)
            found = next((play for play in lying if play["seat"] == seat), None)
            led = found is not None and found is lying[0]
            items += _play(found, x, y, led, last=found is not None and found is plays[-1])
        items.append(Text(x, area.y + 376, _result(table, trick, names), 15, TEXT, "middle", True))
    items += _worth(table, area)
    return items


def plays_of(table: Table) -> list[dict[str, Any]]:
    """The tiles laid in this hand: seat, tile (None = hidden), and the state of a call."""
    plays: list[dict[str, Any]] = []
    for event in table["events"]:
        if event["kind"] in ("play", "double"):
            call = "calls double" if event["kind"] == "double" else ""
            plays.append({"seat": event["seat"], "tile": event["tile"], "call": call})
        elif event["kind"] == "reveal":
            plays[-1]["call"] = "doubled"
        elif event["kind"] == "fold":
            plays[-1]["call"] = "refused"
    return plays


def _play(play: Mapping[str, Any] | None, x: float, y: float, led: bool, last: bool) -> list[Item]:
    left = x - UNIT / 2
    if play is None:
        return [Box(left + 2, y + 2, UNIT - 4, 2 * UNIT - 4, None, GHOST, 1.5, UNIT * 0.16)]
    tile, call = play["tile"], play["call"]
    numbers = None if tile is None else (int(tile[0]), int(tile[2]))
    face_down = call in ("calls double", "refused")
    items: list[Item] = [Tile(left, y, UNIT, 2 * UNIT, numbers, last, face_down)]
    notes = [*(["led"] if led else []), *(call.split() if call else [])]
    for k, note in enumerate(notes):
        items.append(Text(x + UNIT / 2 + 8, y + 20 + 18 * k, note, 13, TEXT))
    return items


def _result(table: Table, trick: int, names: Sequence[str]) -> str:
    if trick >= len(table["tricks"]):
        return ""
    winner = table["tricks"][trick]
    return "tied" if winner is None else f"{names[winner]} wins"


def _worth(table: Table, area: Area) -> list[Item]:
    x, y = area.x + area.width - 130, area.y + 190
    count = table["multiplier"]
    items: list[Item] = [
        Box(x - 62, y - 42, 124, 84, PLATE, INK, 1, 14),
        Text(x, y + 16, f"x {count}", 42, INK, "middle", True),
        Text(x, y + 66, "the hand's worth", 13, TEXT, "middle"),
    ]
    if table["redeals"]:
        plural = "s" if table["redeals"] > 1 else ""
        words = f"{table['redeals']} exchange{plural} made"
        items.append(Text(x, y + 88, words, 13, TEXT, "middle"))
    return items
