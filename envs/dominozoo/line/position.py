"""A table of the line games as JSON types, and back: positions, views, events, last hands.

``tables`` are records of dtype ``TABLE``, shape (1,); ``log`` is the hand's event log as
:func:`dominozoo.line.batch.step_one` writes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dominozoo.fields import LINE_LAYOUT, MAX_PLY
from dominozoo.line import batch
from dominozoo.line.batch import LOG_COLUMNS, LOG_DRAW
from dominozoo.line.table import (
    ANY_TILE,
    BRUCK,
    EFFECTS,
    MATCH,
    NOBODY,
    OVER,
    POSE,
    REASONS,
    TABLE,
)
from dominozoo.rules import Rules, make_rules, pack_line
from dominozoo.tiles import NAMES, NUMBERS, TILE_COUNT, TILES, mask_of, tile_id, tiles_of

Json = dict[str, Any]
Array = npt.NDArray[Any]

PHASES: Final = ("pose", "play", "over")
KINDS: Final = ("play", "draw", "pass")

# Looked up, since a table is told at the end of each hand: by mark, by tile (-1 = none), and a tile
# as it lies by its number on the left and on the right.
NUMBER_OF: Final = (None, *range(NUMBERS))
NAME_OR_NONE: Final = (*NAMES, None)
LYING: Final = tuple(tuple(f"{a}-{b}" for b in range(NUMBERS)) for a in range(NUMBERS))


def new_log() -> npt.NDArray[np.int8]:
    """An empty event log: a row a ply."""
    return np.zeros((MAX_PLY + 1, LOG_COLUMNS), np.int8)


def seat_or_none(value: Any) -> int | None:
    """A seat, side or tile as JSON writes it: null where the record has none."""
    return None if value < 0 else int(value)


def numbers(marks: list[int]) -> list[int | None]:
    """Ends as JSON writes them: null for none."""
    return [NUMBER_OF[mark] for mark in marks]


def ends_of(record: Any, ends: int) -> list[int | None] | None:
    """The open ends as JSON writes them: null before the pose."""
    return None if record["opener"] < 0 else numbers(record["ends"].tolist()[:ends])


def names(mask: int) -> list[str]:
    """The tiles of a bit mask by name, ascending."""
    return [NAMES[tile] for tile in tiles_of(mask)]


def events_of(log: Array, plies: int, ends: int) -> list[Json]:
    """The first rows of an event log as JSON; a hidden tile is null."""
    return [
        {
            "kind": KINDS[kind],
            "seat": seat,
            "tile": NAME_OR_NONE[tile],
            "end": None if end < 0 else end,
            # A line has no ends before the pose; French opens with it, and has four empty ones.
            "ends_after": numbers(marks[:ends]) if ends == 4 or marks[0] else None,
        }
        for kind, seat, tile, end, *marks in log[:plies].tolist()
    ]


def action_of(event: Mapping[str, Any], ends: int) -> int:
    """The action id of an event.

    Raises:
        ValueError: if kind, tile or end is none of a line game; the text begins with the field.
    """
    kind = event.get("kind")
    if kind not in KINDS:
        raise ValueError(f"kind: {kind!r} is none of {', '.join(KINDS)}")
    if kind != "play":
        return ends * TILE_COUNT + KINDS.index(kind) - 1
    end = event.get("end")
    if type(end) is not int or not 0 <= end < ends:
        raise ValueError(f"end: {end!r} is none of 0..{ends - 1}")
    try:
        return end * TILE_COUNT + tile_id(event.get("tile", ""))
    except ValueError as error:
        raise ValueError(f"tile: {error}") from None


def board_of(record: Any, cross: bool) -> list[Any]:
    """The tiles as they lie: a line from left to right, or French four arms outward from 0-0."""
    laid_at, laid_end = record["laid_at"].tolist(), record["laid_end"].tolist()
    order = sorted([(ply, tile) for tile, ply in enumerate(laid_at) if ply])
    return board_from([(tile, laid_end[tile]) for _, tile in order], cross)


def board_from(laid: list[tuple[int, int]], cross: bool) -> list[Any]:
    """The same from the tiles laid in order, each with its end."""
    if cross:
        return _arms(laid[1:])
    if not laid:
        return []
    left, right = TILES[laid[0][0]]
    line, before = [LYING[left][right]], list[str]()
    for tile, end in laid[1:]:
        high, low = TILES[tile]
        if end:
            near, right = right, high + low - right
            line.append(LYING[near][right])
        else:
            near, left = left, high + low - left
            before.append(LYING[left][near])
    return [*reversed(before), *line]


def _arms(laid: list[tuple[int, int]]) -> list[list[str]]:
    arms: list[list[str]] = [[], [], [], []]
    open_number = [0, 0, 0, 0]
    for tile, end in laid:
        far = sum(TILES[tile]) - open_number[end]
        arms[end].append(LYING[open_number[end]][far])
        open_number[end] = far
    return arms


def legal_of(mask: Array, ends: int) -> list[Json]:
    """The ones of a mask as JSON: id, kind of action, tile and end."""
    moves: list[Json] = []
    for action in np.flatnonzero(mask).tolist():
        end, tile = divmod(action, TILE_COUNT)
        if end < ends:
            moves.append({"id": action, "action": "play", "tile": NAMES[tile], "end": end})
        else:
            moves.append({"id": action, "action": KINDS[1 + tile], "tile": None, "end": None})
    return moves


def is_match_over(record: Any) -> bool:
    """True if the match itself has ended, not only the episode."""
    return bool(record["phase"] == OVER and record["last_effect"] in (MATCH, BRUCK))


def poser_of(record: Any, log: Array) -> int | None:
    """The seat that won the right to open the hand on the table, null = it opened by rule.

    When a hand is over the record's ``poser`` is already the next hand's, so the log tells.
    """
    if record["by_rule"]:
        return None
    return int(log[0, 1]) if record["ply"] else int(record["poser"])


def open_part(tables: Array, packed: Array, rules: Rules, log: Array, last: Json | None) -> Json:
    """What lies open: the position without hands, boneyard and generator.

    ``legal`` needs the hand of the seat to move and is wrong without it.
    """
    record, r = tables[0], packed[0]
    ends, cross = int(r["ends"]), bool(r["cross"])
    mask = np.zeros(ends * TILE_COUNT + 2, np.int8)
    batch.mask_one(tables, packed, mask)
    over = is_match_over(record)
    locked = int(record["locked"])
    return {
        "game": rules.module,
        "rules": rules.options,
        "hand_number": int(record["hand_number"]),
        "phase": PHASES[record["phase"]],
        "turn": seat_or_none(record["turn"]),
        "board": board_of(record, cross),
        "ends": ends_of(record, ends),
        "locked": [bool(locked >> arm & 1) for arm in range(4)] if cross else [],
        "scores": record["scores"].tolist()[: rules.sides],
        "stake": int(record["stake"]),
        "decider": bool(record["decider"]),
        "passes": int(record["passes"]),
        "opener": seat_or_none(record["opener"]),
        "poser": poser_of(record, log),
        "events": events_of(log, int(record["ply"]), ends),
        "legal": legal_of(mask, ends),
        "last_hand": last,
        "over": over,
        "winners": tiles_of(int(record["winners"])) if over else [],
    }


def position_of(tables: Array, packed: Array, rules: Rules, log: Array, last: Json | None) -> Json:
    """The whole table as JSON types."""
    record = tables[0]
    known = open_part(tables, packed, rules, log, last)
    hidden = {
        "hands": [names(hand) for hand in record["hands"].tolist()[: rules.players]],
        "boneyard": [NAMES[tile] for tile in boneyard_of(record, packed)],
    }
    head = {key: known.pop(key) for key in ("game", "rules", "hand_number", "phase", "turn")}
    generator = {
        "seed": record["seed"].tolist(),
        "table": int(record["table"]),
        "deals": int(record["deals"]),
    }
    return {**head, **hidden, **known, "rng": generator}


def boneyard_of(record: Any, packed: Array) -> list[int]:
    """Ids of the undealt tiles in drawing order."""
    size = TILE_COUNT - int(packed[0]["no_blank"])
    tiles: list[int] = record["deck"].tolist()[size - int(record["boneyard"]) : size]
    return tiles


def seen_by(tables: Array, log: Array, seat: int) -> tuple[Array, Array]:
    """Copies of table and log without what a seat can't see: other hands, deck, generator."""
    seen, seen_log = tables.copy(), log.copy()
    record = seen[0]
    hand = record["hands"][seat]
    record["hands"] = 0
    record["hands"][seat] = hand
    record["deck"] = 0
    record["seed"] = 0
    record["deals"] = 0
    hidden = (seen_log[:, 0] == LOG_DRAW) & (seen_log[:, 1] != seat)
    seen_log[hidden, 2] = NOBODY
    return seen, seen_log


def view_of(
    seen: Array, packed: Array, rules: Rules, seen_log: Array, last: Json | None, seat: int
) -> Json:
    """What a seat may know, from the copies that :func:`seen_by` makes."""
    record = seen[0]
    view = open_part(seen, packed, rules, seen_log, last)
    if view["turn"] != seat:
        view["legal"] = []
    view["seat"] = seat
    view["hand"] = names(int(record["hands"][seat]))
    view["sizes"] = record["sizes"].tolist()[: rules.players]
    view["boneyard_size"] = int(record["boneyard"])
    return view


def last_hand_of(record: Any, packed: Array, rules: Rules, log: Array) -> Json:
    """The hand that has just ended, from its final record and log, every tile shown."""
    ends = int(packed["ends"][0])
    cross = ends == 4
    points = record["last_points"].tolist()
    winner = int(record["last_winner"])
    worth = points[: rules.players] if cross else points[winner] if winner >= 0 else 0
    return {
        "winner": seat_or_none(winner),
        "seat": seat_or_none(record["last_seat"]),
        "reason": REASONS[record["last_reason"]],
        "effect": EFFECTS[record["last_effect"]],
        "points": worth,
        "key": bool(record["last_key"]),
        "hands": [names(hand) for hand in record["hands"].tolist()[: rules.players]],
        "board": board_of(record, cross),
        "events": events_of(log, int(record["ply"]), ends),
        "scores": record["last_scores"].tolist()[: rules.sides],
    }


def last_hand_shown(last: Json, seat: int) -> Json:
    """A copy of a last hand for one seat: the hands were turned up, who drew what was not."""
    events = [
        {**event, "tile": None} if event["kind"] == "draw" and event["seat"] != seat else event
        for event in last["events"]
    ]
    return {**last, "events": events}


def observation_from_view(view: Mapping[str, Any]) -> npt.NDArray[np.int16]:
    """The observation vector of the view's seat, equal to ``observe`` at the table.

    Raises:
        ValueError: if a field is missing or the events can't have led to this view.
    """
    tables, packed = table_from_view(view)
    row = np.zeros(LINE_LAYOUT.size, np.int16)
    batch.observe_one(tables, packed, view["seat"], row)
    return row


def mask_from_view(view: Mapping[str, Any]) -> npt.NDArray[np.int8]:
    """The action mask of the view's seat: the ids of its ``legal``."""
    rules = make_rules(field_of(view, "game"), **field_of(view, "rules"))
    mask = np.zeros(int(pack_line(rules)[0]["ends"]) * TILE_COUNT + 2, np.int8)
    mask[[move["id"] for move in field_of(view, "legal")]] = 1
    return mask


def table_from_view(view: Mapping[str, Any]) -> tuple[Array, Array]:
    """The table that a view tells of, and its packed rules; the other hands are empty.

    Raises:
        ValueError: if a field is missing or the events can't have led to this view.
    """
    rules = make_rules(field_of(view, "game"), **field_of(view, "rules"))
    packed, seat = pack_line(rules), field_of(view, "seat")
    if type(seat) is not int or not 0 <= seat < rules.players:
        raise ValueError(f"view: seat must be 0..{rules.players - 1}, not {seat!r}")
    tables = np.zeros(1, TABLE)
    record = tables[0]
    _start_from_view(record, packed[0], view)
    for index, event in enumerate(view["events"]):
        _redo(tables, packed, event, index)
    sizes = record["sizes"].tolist()[: rules.players]
    if sizes != field_of(view, "sizes"):
        raise ValueError(f"view: sizes: the events lead to {sizes}, not {view['sizes']}")
    record["hands"] = 0
    record["hands"][seat] = mask_of(map(tile_id, field_of(view, "hand")))
    record["turn"] = NOBODY if field_of(view, "turn") is None else view["turn"]
    record["phase"] = PHASES.index(field_of(view, "phase"))
    return tables, packed


def field_of(view: Mapping[str, Any], name: str) -> Any:
    """A field of a view; ValueError if it is missing."""
    if name not in view:
        raise ValueError(f"view: {name} is missing")
    return view[name]


def _start_from_view(record: Any, r: Any, view: Mapping[str, Any]) -> None:
    """Fill in what no event changes, with the deal as far as the draws show it."""
    events, players = field_of(view, "events"), int(r["players"])
    deck = int(TILE_COUNT - r["no_blank"])
    drawn = [event.get("tile") for event in events if event.get("kind") == "draw"]
    record["boneyard"] = deck - players * int(r["hand_size"])
    if len(events) > MAX_PLY or len(drawn) > record["boneyard"]:
        raise ValueError("view: events: more than a hand can have")
    for place, tile in enumerate(drawn, deck - int(record["boneyard"])):
        record["deck"][place] = 0 if tile is None else tile_id(tile)
    scores = field_of(view, "scores")
    record["scores"][: len(scores)] = scores
    for name in ("stake", "decider", "hand_number"):
        record[name] = field_of(view, name)
    record["poser"] = NOBODY if field_of(view, "poser") is None else view["poser"]
    record["by_rule"] = view["poser"] is None
    record["sizes"][:players] = r["hand_size"]
    record["opener"] = record["opening"] = ANY_TILE
    record["phase"] = POSE


def _redo(tables: Array, packed: Array, event: Mapping[str, Any], index: int) -> None:
    """Make an event of a view on its half-known table; the ends must come out as it says."""
    record, ends = tables[0], int(packed[0]["ends"])
    seat = event.get("seat")
    if type(seat) is not int or not 0 <= seat < packed[0]["players"]:
        raise ValueError(f"view: events[{index}].seat: {seat!r} is no seat")
    record["turn"] = seat
    try:
        batch.apply_one(tables, packed, action_of(event, ends))
    except ValueError as error:
        raise ValueError(f"view: events[{index}].{error}") from None
    after = ends_of(record, ends)
    if event.get("ends_after", after) != after:
        raise ValueError(
            f"view: events[{index}].ends_after: the events lead to {after}, "
            f"not {event['ends_after']}"
        )
