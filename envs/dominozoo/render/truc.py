"""What a position or a view of Domino Le Truc shows beside hands and scores: its tricks.

player_1 deals, 1 exchange
trick 1: player_0 7-3, player_1 6-6 doubled: player_1 wins
trick 2: player_1 ## calls double
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

HIDDEN: Final = "##"

# An event in words; {tile} only where there is one.
WORDS: Final = {
    "play": "plays {tile}",
    "double": "lays {tile} face down: double",
    "propose": "proposes an exchange",
    "stand": "stands",
    "accept": "accepts",
    "reject": "rejects",
    "redeal": "deals anew",
    "reveal": "turns up {tile}",
    "fold": "refuses",
}


def event_text(event: Mapping[str, Any]) -> str:
    """An event in words: ``player_1 plays 6-5``."""
    words = WORDS[event["kind"]].format(tile=event["tile"] or "a tile")
    return f"player_{event['seat']} {words}"


def board_lines(table: Mapping[str, Any]) -> list[str]:
    """Who deals, and a line for each trick begun."""
    head = f"  player_{table['dealer']} deals"
    if table["redeals"]:
        head += f", {table['redeals']} exchange{'s' if table['redeals'] > 1 else ''}"
    called = table["trick"]["called"] is not None
    plays = [event for event in table["events"] if event["kind"] in ("play", "double")]
    lines = [head]
    for number in range(0, len(plays), 2):
        pair = plays[number : number + 2]
        texts = [_play(event, called and event is plays[-1]) for event in pair]
        lines.append(f"  trick {number // 2 + 1}: {', '.join(texts)}{_result(table, number // 2)}")
    return lines


def _play(event: Mapping[str, Any], face_down: bool) -> str:
    text = f"player_{event['seat']} {event['tile'] or HIDDEN}"
    if event["kind"] == "double":
        text += " calls double" if face_down else " doubled"
    return text


def _result(table: Mapping[str, Any], trick: int) -> str:
    if trick >= len(table["tricks"]):
        return ""
    winner = table["tricks"][trick]
    return ": tied" if winner is None else f": player_{winner} wins"
