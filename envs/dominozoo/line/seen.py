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
    legal_of,
    seat_or_none,
)
from dominozoo.line.replay import (
    DONE,
    ENDS_HAND,
    HELD,
    LAID,
    NOT_LEGAL,
    NOT_TO_MOVE,
    REASONS,
    replay,
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
REFUSALS: Final = {
    NOT_TO_MOVE: (".seat", "another seat is to move"),
    LAID: (".tile", "is already laid"),
    HELD: (".tile", "is in the hand"),
    NOT_LEGAL: ("", "that move isn't legal there"),
    ENDS_HAND: ("", "it ends the hand, so nobody is to move"),
}
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
    mine = _play_again(tables, packed, int(r["ends"]), seat, mine, view)
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
        elif event.get("kind") == "play" and tile == "0-0" and r["no_blank"]:
            raise ValueError(f"{name}.tile: 0-0 is not in this game's set")
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
    tables: Array, packed: Array, ends: int, seat: int, dealt: int, view: Mapping[str, Any]
) -> int:
    """Make the moves that the events tell of; returns what the seat holds after them."""
    events = view["events"]
    actions = np.zeros(len(events), np.int64)
    for index, event in enumerate(events):
        try:
            actions[index] = action_of(event, ends)
        except ValueError as error:
            raise ValueError(f"events[{index}].{error}") from None
    seats = np.array([event["seat"] for event in events], np.int64)
    mine, after = np.array([dealt], np.int64), np.zeros((len(events), 4), np.uint8)
    kept = mask_of(read_tiles("hand", view["hand"]))
    code = int(replay(tables, packed, actions, seats, seat, mine, kept, after))
    if code != DONE:
        index, reason = divmod(code, REASONS)
        field, words = REFUSALS[reason]
        tile = "" if reason not in (LAID, HELD) else f"{events[index]['tile']} "
        raise ValueError(f"events[{index}]{field}: {tile}{words}")
    for index, marks in enumerate(after.tolist()):
        if "ends_after" in events[index]:
            begun = marks[0] or ends == 4
            right = [NUMBER_OF[mark] for mark in marks[:ends]] if begun else None
            if events[index]["ends_after"] != right:
                raise ValueError(f"events[{index}].ends_after: the events lead to {right}")
    return int(mine[0])


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
