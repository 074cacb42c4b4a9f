"""A view of a line game from a program that isn't trusted: played again, and checked as a whole.

:func:`dominozoo.line.position.observation_from_view` takes a view's word for what it can't see; here
each event must be legal, as far as the seat can tell, and all that the view says must follow.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dominozoo.fields import LINE_LAYOUT, MAX_PLY
from dominozoo.line import batch
from dominozoo.line.position import (
    NUMBER_OF,
    PHASES,
    action_of,
    board_of,
    ends_of,
    legal_of,
    seat_or_none,
)
from dominozoo.line.resume import WORD
from dominozoo.line.setup import integer, read_list, read_opener, read_tiles, set_scores
from dominozoo.line.table import ANY_TILE, NOBODY, POSE, TABLE
from dominozoo.rules import Rules, pack_line
from dominozoo.tiles import DOUBLE_OF, HIGH, NAMES, NUMBERS, PIPS, TILE_COUNT, mask_of, tiles_of

Array = npt.NDArray[Any]

NEEDED: Final = (
    *("seat", "turn", "phase", "hand", "sizes", "boneyard_size", "scores", "stake", "decider"),
    *("hand_number", "poser", "events"),
)
DOUBLES: Final = frozenset(DOUBLE_OF.tolist())
# Records whose fields NumPy looks up in C: those of the kernels' dtype take ten times as long.
PLAIN: Final = np.dtype((np.void, TABLE))


def read_view(rules: Rules, view: Mapping[str, Any]) -> tuple[Array, Array]:
    """What the seat to move sees and may do.

    Args:
        rules: the game, those of the view.
        view: as ``view()`` gives it, of the seat to move; board, ends, locked, passes, opener and
            legal may be missing.

    Returns:
        Observation int16 (layout size,), mask int8 (actions,).

    Raises:
        ValueError: if the view can't be; the text begins with the field.
    """
    packed, tables = _packed(rules), np.zeros(1, TABLE)
    record, r = tables.view(PLAIN)[0], packed.view(np.dtype((np.void, packed.dtype)))[0]
    for name in NEEDED:
        if name not in view:
            raise ValueError(f"{name}: is missing")
    seat = integer("seat", view["seat"], 0, rules.players - 1)
    _set_match(record, r, rules, view)
    mine = _set_deal(record, r, seat, view)
    mine = _play_again(tables, packed, (record, r), seat, mine, view)
    record["hands"] = 0
    record["hands"][seat] = mine
    if not record["ply"]:
        record["turn"] = seat if record["poser"] < 0 else record["poser"]
        record["opening"] = _opening(r, mine) if record["by_rule"] else ANY_TILE
    row = np.zeros(LINE_LAYOUT.size, np.int16)
    mask = np.zeros(int(r["ends"]) * TILE_COUNT + 2, np.int8)
    batch.mask_one(tables, packed, mask)
    _compare(record, r, rules, mask, view)
    batch.observe_one(tables, packed, seat, row)
    return row, mask


@functools.lru_cache(64)
def _packed(rules: Rules) -> Array:
    """The rules for the kernels, which only read them."""
    return pack_line(rules)


def compare_legal(given: Any, found: list[dict[str, Any]]) -> None:
    """ValueError unless a list of legal moves is the one found, in any order; ids are enough."""
    if given == found:
        return
    by_id = {move["id"]: move for move in found}
    moves = read_list("legal", given)
    for move in moves:
        if not isinstance(move, Mapping) or type(move.get("id")) is not int:
            raise ValueError("legal: each move must be an object with its id")
        right = by_id.pop(move["id"], None)
        if right is None:
            raise ValueError(f"legal: {move['id']} is not legal, or stands there twice")
        for key, value in right.items():
            if move.get(key, value) != value:
                raise ValueError(f"legal: {key} of {move['id']} is {value!r}")
    if by_id:
        raise ValueError(f"legal: {min(by_id)} is missing")


def _set_match(record: Any, r: Any, rules: Rules, view: Mapping[str, Any]) -> None:
    record["hand_number"] = integer("hand_number", view["hand_number"], 1, WORD)
    record["poser"] = read_opener("poser", view["poser"], rules, r)
    set_scores(record, r, rules, {name: view[name] for name in ("scores", "stake", "decider")})
    record["by_rule"] = record["poser"] == NOBODY
    record["sizes"][: rules.players] = r["hand_size"]
    record["phase"] = POSE
    record["opener"] = ANY_TILE
    record["opening"] = 0 if r["cross"] else ANY_TILE


def _set_deal(record: Any, r: Any, seat: int, view: Mapping[str, Any]) -> int:
    """Lay the drawn tiles ready; returns the seat's hand as it was dealt, a mask."""
    events = read_list("events", view["events"])
    if len(events) > MAX_PLY:
        raise ValueError(f"events: {len(events)} are more than a hand can have, {MAX_PLY}")
    size = int(TILE_COUNT - r["no_blank"])
    record["boneyard"] = size - int(r["players"]) * int(r["hand_size"])
    held, drawn = read_tiles("hand", view["hand"]), list[int]()
    place = size - int(record["boneyard"])
    for index, event in enumerate(events):
        name = f"events[{index}]"
        if not isinstance(event, Mapping):
            raise ValueError(f"{name}: must be an object")
        own = integer(f"{name}.seat", event.get("seat"), 0, int(r["players"]) - 1) == seat
        tile = event.get("tile")
        if event.get("kind") == "play" and own:
            held += read_tiles(f"{name}.tile", [tile])
        elif event.get("kind") == "draw":
            if own:
                drawn += read_tiles(f"{name}.tile", [tile])
            elif tile is not None:
                raise ValueError(f"{name}.tile: seat {seat} can't see it, so it must be null")
            if place < size:
                record["deck"][place] = drawn[-1] if own else 0
                place += 1
        elif event.get("kind") == "pass" and tile is not None:
            raise ValueError(f"{name}.tile: must be null")
    return _dealt(r, held, drawn)


def _dealt(r: Any, held: list[int], drawn: list[int]) -> int:
    for tile in held:
        if held.count(tile) > 1:
            raise ValueError(f"hand: {NAMES[tile]} is there twice, or already laid")
        if tile == 0 and r["no_blank"]:
            raise ValueError("hand: 0-0 is not in this game's set")
    dealt = mask_of(held)
    for tile in drawn:
        if not dealt >> tile & 1:
            raise ValueError(f"hand: {NAMES[tile]} was drawn, but is neither held nor laid")
        dealt &= ~(1 << tile)
    if len(held) - len(drawn) != r["hand_size"]:
        raise ValueError(
            f"hand: with what was laid and without what was drawn it has "
            f"{len(held) - len(drawn)} tiles, not {r['hand_size']}"
        )
    return int(dealt)


def _play_again(
    tables: Array,
    packed: Array,
    plain: tuple[Any, Any],
    seat: int,
    mine: int,
    view: Mapping[str, Any],
) -> int:
    """Make the moves that the events tell of; returns what the seat holds after them.

    Of the others nothing is known but what they do: to lay a tile they had it, to draw or pass
    they had none that fits.
    """
    record, r = plain
    ends = int(r["ends"])
    mask = np.zeros(ends * TILE_COUNT + 2, np.int8)
    kept = mask_of(read_tiles("hand", view["hand"]))
    for index, event in enumerate(view["events"]):
        name = f"events[{index}]"
        try:
            action = action_of(event, ends)
        except ValueError as error:
            raise ValueError(f"{name}.{error}") from None
        _check_turn(record, name, event["seat"])
        plays = action < ends * TILE_COUNT
        own = event["seat"] == seat
        if plays:
            _check_tile(record, r, f"{name}.tile", action % TILE_COUNT, 0 if own else kept)
        held = mine if own else _stand_in(action % TILE_COUNT) if plays else 0
        record["hands"][event["seat"]] = held
        batch.mask_one(tables, packed, mask)
        if not mask[action]:
            raise ValueError(f"{name}.{'tile' if plays else 'kind'}: that move isn't legal there")
        batch.apply_one(tables, packed, action)
        if own:
            mine = int(record["hands"][seat])
        _check_after(record, r, name, event)
    return mine


def _check_turn(record: Any, name: str, seat: int) -> None:
    """The first event says who opens, if no right to open does; then seats follow each other."""
    turn = record["turn"] if record["ply"] else record["poser"]
    if turn < 0:
        record["turn"] = turn = seat
    record["turn"] = turn
    if turn != seat:
        raise ValueError(f"{name}.seat: seat {turn} is to move, not {seat}")


def _check_tile(record: Any, r: Any, name: str, tile: int, kept: int) -> None:
    if int(record["laid"]) >> tile & 1:
        raise ValueError(f"{name}: {NAMES[tile]} is already laid")
    if kept >> tile & 1:
        raise ValueError(f"{name}: {NAMES[tile]} is in the hand")
    if tile == 0 and r["no_blank"]:
        raise ValueError(f"{name}: 0-0 is not in this game's set")


def _stand_in(tile: int) -> int:
    """A hand of which the tile isn't the last: another one is beside it."""
    return 1 << tile | (2 if tile == 0 else 1)


def _check_after(record: Any, r: Any, name: str, event: Mapping[str, Any]) -> None:
    sizes = record["sizes"].tolist()[: int(r["players"])]
    if 0 in sizes or record["passes"] >= r["players"]:
        raise ValueError(f"{name}: it ends the hand, so nobody is to move")
    if "ends_after" in event:
        after = ends_of(record, int(r["ends"]))
        if event["ends_after"] != after:
            raise ValueError(f"{name}.ends_after: the events lead to {after}")


def _opening(r: Any, mine: int) -> int:
    """The tile with which the seat must open: the rule chose it for what it holds."""
    if r["cross"]:
        return 0
    if r["informal"]:
        return int(ANY_TILE)
    tiles = tiles_of(mine)
    doubles = [tile for tile in tiles if tile in DOUBLES]
    if doubles:
        return max(doubles)
    return max(tiles, key=lambda tile: int(PIPS[tile]) * NUMBERS + int(HIGH[tile]))


def _compare(record: Any, r: Any, rules: Rules, mask: Array, view: Mapping[str, Any]) -> None:
    """What the view says of the table must be what its events lead to."""
    ends, cross = int(r["ends"]), bool(r["cross"])
    found: dict[str, Any] = {
        "sizes": record["sizes"].tolist()[: rules.players],
        "boneyard_size": int(record["boneyard"]),
        "phase": PHASES[record["phase"]],
        "turn": int(record["turn"]),
    }
    if "board" in view:
        found["board"] = board_of(record, cross)
    if "ends" in view:
        marks = [NUMBER_OF[mark] for mark in record["ends"].tolist()[:ends]]
        found["ends"] = None if record["opener"] < 0 else marks
    if "locked" in view:
        locked = int(record["locked"])
        found["locked"] = [bool(locked >> arm & 1) for arm in range(4)] if cross else []
    if "passes" in view:
        found["passes"] = int(record["passes"])
    if "opener" in view:
        found["opener"] = seat_or_none(record["opener"])
    for name, right in found.items():
        if view[name] != right or type(view[name]) is not type(right):
            raise ValueError(f"{name}: the events lead to {right!r}")
    if not mask.any():
        raise ValueError("legal: the seat has no legal move")
    if view.get("legal") is not None:
        compare_legal(view["legal"], legal_of(mask, ends))
