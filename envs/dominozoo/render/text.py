"""A position or a view of a line game as text.

Block, hand 1, target 100                 stake, decider where they count
  player_0: 3 tiles, score 0    6-6 ...   hidden tiles face down: ##
[2-6] 6|6 [6-5]                           doubles lie across
ends: 2 left, 5 right
last: player_1 plays 6-5 right
player_0 to move
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dominozoo.render import truc
from dominozoo.rules import Rules, make_rules

HIDDEN: Final = "##"
SIDES: Final = ("left", "right")

Table = Mapping[str, Any]


def draw(table: Table) -> str:
    """Draw a position with every hand open, or a view with the others' tiles face down.

    Args:
        table: as ``position()`` or ``view(agent)`` gives it.

    Returns:
        Several lines without a newline at the end.
    """
    rules = make_rules(table["game"], **table["rules"])
    board = truc.board_lines(table) if "trick" in table else [*_board(table), _ends(table)]
    lines = [_title(table, rules), *_seats(table, rules), *board]
    lines += [_last_move(table), _outlook(table)]
    return "\n".join(line for line in lines if line)


def tile_text(tile: str) -> str:
    """A tile on the table: ``[6-5]``, a double across ``6|6``."""
    return f"{tile[0]}|{tile[2]}" if tile[0] == tile[2] else f"[{tile}]"


def _title(table: Table, rules: Rules) -> str:
    parts = [rules.variant.title, f"hand {table['hand_number']}", f"target {rules.target}"]
    if table["decider"]:
        parts.append("decider")
    worth = table["stake"] * table.get("multiplier", 1)
    if worth > 1:
        parts.append(f"worth {worth}")
    return ", ".join(parts)


def _seats(table: Table, rules: Rules) -> list[str]:
    sizes = table["sizes"] if "sizes" in table else [len(hand) for hand in table["hands"]]
    lines = []
    for seat, size in enumerate(sizes):
        mark = ">" if seat == table["turn"] else " "
        score = table["scores"][rules.side_of(seat)]
        count = "1 tile" if size == 1 else f"{size} tiles"
        lines.append(
            f"{mark} player_{seat}: {count:>8}, score {score:>3}   {_hand(table, seat, size)}"
        )
    undealt = table["boneyard_size"] if "boneyard_size" in table else len(table["boneyard"])
    if undealt:
        lines.append(f"  boneyard: {undealt}")
    return [line.rstrip() for line in lines]


def _hand(table: Table, seat: int, size: int) -> str:
    if "hands" in table:
        return " ".join(table["hands"][seat])
    return " ".join([*table["hand"], "(you)"] if seat == table["seat"] else [HIDDEN] * size)


def _board(table: Table) -> list[str]:
    if table["opener"] is None:
        return ["  no tile lies yet"]
    if not table["locked"]:
        return ["  " + " ".join(map(tile_text, table["board"]))]
    return [
        " ".join([f"  arm {arm}: 0|0", *map(tile_text, tiles)])
        for arm, tiles in enumerate(table["board"])
    ]


def _ends(table: Table) -> str:
    if table["opener"] is None:
        return ""
    if not table["locked"]:
        left, right = table["ends"]
        return f"  ends: {left} left, {right} right"
    words = []
    for arm, (number, locked) in enumerate(zip(table["ends"], table["locked"], strict=True)):
        if number is None:
            words.append(f"arm {arm} free")
        else:
            words.append(f"arm {arm} {number}-{number} only" if locked else f"arm {arm} {number}")
    return "  ends: " + ", ".join(words)


def _last_move(table: Table) -> str:
    if not table["events"]:
        return ""
    event = table["events"][-1]
    if "trick" in table:
        return f"  last: {truc.event_text(event)}"
    return f"  last: {event_text(event, bool(table['locked']))}"


def event_text(event: Mapping[str, Any], cross: bool = False) -> str:
    """An event in words: ``player_1 plays 6-5 right``; ``cross`` names arms instead of sides."""
    who, tile = f"player_{event['seat']}", event["tile"]
    if event["kind"] == "play":
        where = f"on arm {event['end']}" if cross else SIDES[event["end"]]
        return f"{who} plays {tile} {where}"
    if event["kind"] == "draw":
        return f"{who} draws {tile or 'a tile'}"
    return f"{who} passes"


def _outlook(table: Table) -> str:
    if table["turn"] is not None:
        return f"  player_{table['turn']} to move"
    if not table["over"]:
        return "  the hand is over, the match is not"
    sides = ", ".join(str(side) for side in table["winners"])
    return (
        f"  the match is over: won by side {sides}" if sides else "  the match is over: no winner"
    )
