"""A table of Domino Le Truc as JSON types, and back: positions, views, events, last hands.

``tables`` are records of dtype ``TABLE``, shape (1,). A record tells its hand's events by itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dominozoo.fields import TRUC_LAYOUT
from dominozoo.rules import Rules, make_rules, pack_truc
from dominozoo.tiles import TILE_COUNT, TRUC_NAMES, mask_of, tiles_of, truc_slot
from dominozoo.truc import batch
from dominozoo.truc.play import ACCEPT, ACTIONS, CALLING, PROPOSE, REJECT, STAND
from dominozoo.truc.table import (
    ANSWER,
    EFFECTS,
    EXCHANGE,
    MATCH,
    NOBODY,
    OVER,
    PHASES,
    PLAYS,
    REASONS,
    TABLE,
)

Json = dict[str, Any]
Array = npt.NDArray[Any]

WORDS: Final = {"propose": PROPOSE, "stand": STAND, "accept": ACCEPT, "reject": REJECT}
SAID: Final = {action: word for word, action in WORDS.items()}
# Events that follow from the one before and are no action of their own.
IMPLIED: Final = ("redeal", "reveal")
KINDS: Final = ("play", "double", *WORDS, *IMPLIED, "fold")
# Records whose fields NumPy looks up in C: those of the kernels' dtype take ten times as long.
PLAIN: Final = np.dtype((np.void, TABLE))
HIDDEN: Final = 255  # stands in `played` for a tile that the seat can't see


def seat_or_none(value: Any) -> int | None:
    """A seat as JSON writes it: null where the record has none."""
    return None if value < 0 else int(value)


def names(mask: int) -> list[str]:
    """The tiles of a mask by name, the strongest first."""
    return [TRUC_NAMES[slot] for slot in tiles_of(mask)]


def name_or_none(slot: int) -> str | None:
    """A tile's name, null if it is hidden."""
    return None if slot == HIDDEN else TRUC_NAMES[slot]


def event(kind: str, seat: int, slot: int | None = None) -> Json:
    """An event as JSON; Le Truc has no ends."""
    tile = None if slot is None else name_or_none(slot)
    return {"kind": kind, "seat": seat, "tile": tile, "end": None, "ends_after": None}


def events_of(record: Any, r: Any) -> list[Json]:
    """The events of the record's hand: what was said before play, then the plays."""
    dealer = int(record["dealer"])
    other = 1 - dealer
    propose = event("propose", other)
    events = [propose, event("accept", dealer), event("redeal", dealer)] * int(record["redeals"])
    if record["rejected"]:
        events += [propose, event("reject", dealer)]
    elif record["phase"] == ANSWER:
        events.append(propose)
    elif record["phase"] != EXCHANGE and record["redeals"] < r["max_redeals"]:
        events.append(event("stand", other))
    plays = int(record["plays"])
    slots, seats = record["played"].tolist(), record["played_by"].tolist()
    called = record["called"].tolist()
    pending = plays - 1 if record["face_down"] else plays
    for k in range(plays):
        events.append(event("double" if called[k] else "play", seats[k], slots[k]))
        if called[k] and k < pending:
            events += event("accept", 1 - seats[k]), event("reveal", seats[k], slots[k])
        elif called[k] and record["folded"]:
            events.append(event("fold", 1 - seats[k]))
    return [dict(each) for each in events]


def action_of(given: Mapping[str, Any]) -> int | None:
    """The action id of an event; None for a redeal or a reveal, which nobody decides.

    Raises:
        ValueError: if kind or tile is none of Le Truc; the text begins with the field.
    """
    kind = given.get("kind")
    if kind in IMPLIED:
        return None
    if kind in ("play", "double"):
        try:
            return truc_slot(given.get("tile", "")) + (CALLING if kind == "double" else 0)
        except ValueError as error:
            raise ValueError(f"tile: {error}") from None
    if kind == "fold":
        return REJECT
    if kind not in WORDS:
        raise ValueError(f"kind: {kind!r} is none of {', '.join(KINDS)}")
    return WORDS[kind]


def legal_of(mask: Array) -> list[Json]:
    """The ones of a mask as JSON: id, kind of action, tile and end (null)."""
    moves: list[Json] = []
    for action in np.flatnonzero(mask).tolist():
        kind = SAID.get(action, "double" if action >= CALLING else "play")
        tile = TRUC_NAMES[action % TILE_COUNT] if action < PROPOSE else None
        moves.append({"id": action, "action": kind, "tile": tile, "end": None})
    return moves


def trick_of(record: Any) -> Json:
    """What lies in the trick that isn't settled yet."""
    first = 2 * int(record["tricks"])
    lying = list(range(first, int(record["plays"])))
    called = lying.pop() if record["face_down"] else None
    tiles, seats = record["played"].tolist(), record["played_by"].tolist()
    return {
        "led": name_or_none(tiles[lying[0]]) if lying else None,
        "called": None
        if called is None
        else {"seat": seats[called], "tile": name_or_none(tiles[called])},
    }


def open_part(tables: Array, packed: Array, rules: Rules, last: Json | None) -> Json:
    """What lies open: the position without hands, stock, discards and generator.

    ``legal`` needs the hand of the seat to move and is wrong without it.
    """
    record = tables.view(PLAIN)[0]
    mask = np.zeros(ACTIONS, np.int8)
    batch.mask_one(tables, packed, mask)
    over = bool(record["phase"] == OVER and record["last_effect"] == MATCH)
    return {
        "game": rules.module,
        "rules": rules.options,
        "hand_number": int(record["hand_number"]),
        "phase": PHASES[record["phase"]],
        "turn": seat_or_none(record["turn"]),
        "board": [],
        "ends": None,
        "locked": [],
        "scores": record["scores"].tolist(),
        "stake": 1,
        "decider": False,
        "passes": 0,
        "opener": int(record["played_by"][0]) if record["plays"] else None,
        "poser": None,
        "dealer": int(record["dealer"]),
        "leader": int(record["leader"]),
        "trick": trick_of(record),
        "tricks": [seat_or_none(seat) for seat in record["won"].tolist()[: record["tricks"]]],
        "multiplier": int(record["multiplier"]),
        "redeals": int(record["redeals"]),
        "events": events_of(record, packed[0]),
        "legal": legal_of(mask),
        "last_hand": last,
        "over": over,
        "winners": tiles_of(int(record["winners"])) if over else [],
    }


def stock_of(record: Any) -> list[int]:
    """Slots of the undealt tiles in the order in which a redeal takes them."""
    tiles: list[int] = record["deck"].tolist()[TILE_COUNT - int(record["stock"]) :]
    return tiles


def position_of(tables: Array, packed: Array, rules: Rules, last: Json | None) -> Json:
    """The whole table as JSON types."""
    record = tables.view(PLAIN)[0]
    known = open_part(tables, packed, rules, last)
    hidden = {
        "hands": [names(hand) for hand in record["hands"].tolist()],
        "boneyard": [TRUC_NAMES[slot] for slot in stock_of(record)],
        "discards": [names(tiles) for tiles in record["discards"].tolist()],
    }
    head = {key: known.pop(key) for key in ("game", "rules", "hand_number", "phase", "turn")}
    generator = {
        "seed": record["seed"].tolist(),
        "table": int(record["table"]),
        "deals": int(record["deals"]),
    }
    return {**head, **hidden, **known, "rng": generator}


def sizes_of(record: Any) -> list[int]:
    """Tiles in each hand, told by the plays alone."""
    laid = record["played_by"].tolist()[: int(record["plays"])]
    return [3 - laid.count(seat) for seat in range(2)]


def seen_by(tables: Array, seat: int) -> Array:
    """A copy of the table without what a seat can't see: tiles, deck, generator."""
    seen = tables.copy()
    record = seen[0]
    for name in ("hands", "held", "discards"):
        record[name][1 - seat] = 0
    for name in ("deck", "seed", "deals"):
        record[name] = 0
    last = int(record["plays"]) - 1
    if record["face_down"] and record["played_by"][last] != seat:
        record["played"][last] = HIDDEN
    return seen


def view_of(seen: Array, packed: Array, rules: Rules, last: Json | None, seat: int) -> Json:
    """What a seat may know, from the copy that :func:`seen_by` makes."""
    record = seen[0]
    view = open_part(seen, packed, rules, last)
    if view["turn"] != seat:
        view["legal"] = []
    view["seat"] = seat
    view["hand"] = names(int(record["hands"][seat]))
    view["sizes"] = sizes_of(record)
    view["boneyard_size"] = int(record["stock"])
    view["discards"] = names(int(record["discards"][seat]))
    return view


def last_hand_of(record: Any, r: Any) -> Json:
    """The hand that has just ended, from its final record, with the three tiles of each."""
    winner = int(record["last_winner"])
    return {
        "winner": seat_or_none(winner),
        "seat": seat_or_none(record["last_seat"]),
        "reason": REASONS[record["last_reason"]],
        "effect": EFFECTS[record["last_effect"]],
        "points": int(record["last_points"][winner]) if winner >= 0 else 0,
        "key": False,
        "hands": [names(held) for held in record["held"].tolist()],
        "board": [],
        "events": events_of(record, r),
        "scores": record["last_scores"].tolist(),
    }


def last_hand_shown(last: Json, seat: int) -> Json:
    """A copy of a last hand for one seat: of the other's tiles only those that were turned up.

    The hidden ones stand last, so that their places say nothing of their strength.
    """
    folded = last["reason"] == "fold"
    events = [dict(each) for each in last["events"]]
    if folded and events[-2]["seat"] != seat:
        events[-2]["tile"] = None
    turned_up = {each["tile"] for each in events if each["kind"] in ("play", "reveal")}
    hands: list[list[str | None]] = [list(hand) for hand in last["hands"]]
    shown = [tile for tile in hands[1 - seat] if tile in turned_up]
    hands[1 - seat] = [*shown, *[None] * (len(hands[1 - seat]) - len(shown))]
    return {**last, "hands": hands, "events": events}


def observation_from_view(view: Mapping[str, Any]) -> npt.NDArray[np.int16]:
    """The observation vector of the view's seat, equal to ``observe`` at the table.

    Raises:
        ValueError: if a field is missing or the events can't have led to this view.
    """
    tables, packed = table_from_view(view)
    row = np.zeros(TRUC_LAYOUT.size, np.int16)
    batch.observe_one(tables, packed, view["seat"], row)
    return row


def mask_from_view(view: Mapping[str, Any]) -> npt.NDArray[np.int8]:
    """The action mask of the view's seat: the ids of its ``legal``."""
    mask = np.zeros(ACTIONS, np.int8)
    mask[[move["id"] for move in field_of(view, "legal")]] = 1
    return mask


def table_from_view(view: Mapping[str, Any]) -> tuple[Array, Array]:
    """The table that a view tells of, and its packed rules; what the seat can't see is empty.

    Raises:
        ValueError: if a field is missing or the events can't have led to this view.
    """
    rules = make_rules(field_of(view, "game"), **field_of(view, "rules"))
    packed, seat = pack_truc(rules), field_of(view, "seat")
    if type(seat) is not int or seat not in (0, 1):
        raise ValueError(f"view: seat must be 0 or 1, not {seat!r}")
    tables = np.zeros(1, TABLE)
    record = tables[0]
    for name in ("hand_number", "scores", "dealer", "leader", "multiplier"):
        record[name] = field_of(view, name)
    record["turn"] = NOBODY if field_of(view, "turn") is None else view["turn"]
    record["phase"] = PHASES.index(field_of(view, "phase"))
    record["stock"] = field_of(view, "boneyard_size")
    record["hands"][seat] = mask_of(map(truc_slot, field_of(view, "hand")))
    record["discards"][seat] = mask_of(map(truc_slot, field_of(view, "discards")))
    tricks = field_of(view, "tricks")
    record["tricks"] = len(tricks)
    record["won"] = NOBODY
    record["won"][: len(tricks)] = [NOBODY if won is None else won for won in tricks]
    record["played_by"] = NOBODY
    for index, given in enumerate(field_of(view, "events")):
        _note(record, given, index)
    for name in ("trick", "events", "redeals"):
        found = {
            "trick": trick_of(record),
            "events": events_of(record, packed[0]),
            "redeals": int(record["redeals"]),
        }[name]
        if found != field_of(view, name):
            raise ValueError(f"view: {name}: the events lead to {found!r}, not {view[name]!r}")
    return tables, packed


def field_of(view: Mapping[str, Any], name: str) -> Any:
    """A field of a view; ValueError if it is missing."""
    if name not in view:
        raise ValueError(f"view: {name} is missing")
    return view[name]


def _note(record: Any, given: Mapping[str, Any], index: int) -> None:
    """Write an event of a view into its half-known record."""
    kind, at = given.get("kind"), int(record["plays"])
    if kind not in KINDS:
        raise ValueError(f"view: events[{index}].kind: {kind!r} is none of {', '.join(KINDS)}")
    if kind == "propose":
        record["proposed"] = 1
    elif kind == "reject":
        record["rejected"] = 1
    elif kind == "redeal":
        record["redeals"] += 1
    elif kind == "reveal":
        record["face_down"] = 0
    elif kind == "fold":
        record["folded"] = 1
    elif kind in ("play", "double"):
        if at == PLAYS or given.get("seat") not in (0, 1):
            raise ValueError(f"view: events[{index}]: a play too many, or of no seat")
        tile = given.get("tile")
        record["played"][at] = HIDDEN if tile is None else truc_slot(tile)
        record["played_by"][at] = given["seat"]
        record["called"][at] = record["face_down"] = int(kind == "double")
        record["plays"] = at + 1
