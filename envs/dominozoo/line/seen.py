"""A view of a line game from a program that isn't trusted: played again, and checked as a whole.

:func:`dominozoo.line.position.observation_from_view` takes a view's word for what it can't see; here
each event must be legal, as far as the seat can tell, and all that the view says must follow.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from dominozoo.fields import LINE_LAYOUT, MAX_PLY
from dominozoo.line import batch
from dominozoo.line.position import (
    NUMBER_OF,
    PHASES,
    action_of,
    board_from,
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
# The ends of a line by their marks, as JSON writes them.
LINE_ENDS: Final = [[[NUMBER_OF[a], NUMBER_OF[b]] for b in range(8)] for a in range(8)]
# Records whose fields NumPy looks up in C: those of the kernels' dtype take ten times as long.
PLAIN: Final = np.dtype((np.void, TABLE))


class Game(NamedTuple):
    """What views of a game are read with.

    Attributes:
        packed: the rules for the kernels, which only read them.
        facts: the same by name.
        blank: a table's bytes before the first event.
    """

    packed: Array
    facts: dict[str, int]
    blank: bytes


class Told(NamedTuple):
    """What the events of a view say.

    Attributes:
        actions: ids.
        seats: who made them.
        laid: tiles with their ends, in order.
        held: what the seat had in hand, dealt or drawn.
        drawn: of them those that it drew.
        draws: all tiles drawn, 0 where the seat can't see them.
    """

    actions: list[int]
    seats: list[int]
    laid: list[tuple[int, int]]
    held: list[int]
    drawn: list[int]
    draws: list[int]


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
    for name in NEEDED:
        if name not in view:
            raise ValueError(f"{name}: is missing")
    game = _game(rules)
    packed, r, blank = game
    table = bytearray(blank)
    tables, record = np.frombuffer(table, TABLE), np.frombuffer(table, PLAIN)[0]
    seat = integer("seat", view["seat"], 0, r["players"] - 1)
    _set_match(record, r, rules, view)
    kept = read_tiles("hand", view["hand"])
    told = _read_events(r, seat, kept, view["events"])
    mine = _dealt(r, told)
    _set_draws(record, r, told.draws)
    mine = _play_again(tables, packed, r["ends"], seat, mine, mask_of(kept), told, view["events"])
    record["hands"] = 0
    record["hands"][seat] = mine
    if not told.actions:
        record["turn"] = seat if record["poser"] < 0 else record["poser"]
        record["opening"] = _opening(r, mine) if record["by_rule"] else ANY_TILE
    if record["turn"] != seat:
        raise ValueError(f"turn: seat {record['turn']} is to move, not {seat}")
    row = np.zeros(LINE_LAYOUT.size, np.int16)
    mask = np.zeros(r["ends"] * TILE_COUNT + 2, np.int8)
    batch.mask_one(tables, packed, mask)
    _compare(record, r, told.laid, view)
    legal = legal_of(mask, r["ends"])
    if not legal:
        raise ValueError("legal: the seat has no legal move")
    if view.get("legal") is not None:
        compare_legal(view["legal"], legal)
    batch.observe_one(tables, packed, seat, row)
    return row, mask


@functools.lru_cache(64)
def _game(rules: Rules) -> Game:
    packed = pack_line(rules)
    facts = {name: int(packed[0][name]) for name in packed.dtype.names or ()}
    table = np.zeros(1, TABLE)
    record = table[0]
    record["sizes"][: rules.players] = facts["hand_size"]
    record["phase"] = POSE
    record["opener"] = ANY_TILE
    record["opening"] = 0 if facts["cross"] else ANY_TILE
    record["boneyard"] = _set_size(facts) - facts["players"] * facts["hand_size"]
    return Game(packed, facts, table.tobytes())


def _set_size(r: Mapping[str, int]) -> int:
    return TILE_COUNT - r["no_blank"]


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


def _set_match(record: Any, r: Mapping[str, int], rules: Rules, view: Mapping[str, Any]) -> None:
    record["hand_number"] = integer("hand_number", view["hand_number"], 1, WORD)
    poser = read_opener("poser", view["poser"], rules, r)
    record["poser"], record["by_rule"] = poser, poser == NOBODY
    set_scores(record, r, rules, view)


def _read_events(r: Mapping[str, int], seat: int, kept: list[int], events: Any) -> Told:
    """What the events say; each is an event of this game, with a tile where the seat can see it."""
    if len(read_list("events", events)) > MAX_PLY:
        raise ValueError(f"events: {len(events)} are more than a hand can have, {MAX_PLY}")
    told = Told([], [], [], kept.copy(), [], [])
    players, ends, no_blank = r["players"], r["ends"], r["no_blank"]
    for index, event in enumerate(events):
        if not isinstance(event, Mapping):
            raise ValueError(f"events[{index}]: must be an object")
        who, tile, kind = event.get("seat"), event.get("tile"), event.get("kind")
        if type(who) is not int or not 0 <= who < players:
            who = integer(f"events[{index}].seat", who, 0, players - 1)
        try:
            action = action_of(event, ends)
        except ValueError as error:
            raise ValueError(f"events[{index}].{error}") from None
        told.actions.append(action)
        told.seats.append(who)
        if kind == "play":
            end, played = divmod(action, TILE_COUNT)
            told.laid.append((played, end))
            if who == seat:
                told.held.append(played)
            elif played == 0 and no_blank:
                raise ValueError(f"events[{index}].tile: 0-0 is not in this game's set")
        elif kind == "draw" and who == seat:
            told.drawn.extend(read_tiles(f"events[{index}].tile", [tile]))
            told.draws.append(told.drawn[-1])
        elif tile is not None:
            why = (
                f"seat {seat} can't see it, so it must be null"
                if kind == "draw"
                else "must be null"
            )
            raise ValueError(f"events[{index}].tile: {why}")
        elif kind == "draw":
            told.draws.append(0)
    return told


def _dealt(r: Mapping[str, int], told: Told) -> int:
    """The seat's hand as it was dealt, a mask."""
    held, drawn = told.held, told.drawn
    dealt = mask_of(held)
    if dealt.bit_count() != len(held):
        twice = next(tile for tile in held if held.count(tile) > 1)
        raise ValueError(f"hand: {NAMES[twice]} is there twice, or already laid")
    if dealt & r["no_blank"]:
        raise ValueError("hand: 0-0 is not in this game's set")
    for tile in drawn:
        if not dealt >> tile & 1:
            raise ValueError(f"hand: {NAMES[tile]} was drawn, but is neither held nor laid")
        dealt &= ~(1 << tile)
    if len(held) - len(drawn) != r["hand_size"]:
        raise ValueError(
            f"hand: with what was laid and without what was drawn it has "
            f"{len(held) - len(drawn)} tiles, not {r['hand_size']}"
        )
    return dealt


def _set_draws(record: Any, r: Mapping[str, int], draws: list[int]) -> None:
    """Lay the drawn tiles ready; draws beyond the boneyard aren't legal."""
    if draws:
        size, boneyard = _set_size(r), int(record["boneyard"])
        draws = draws[:boneyard]
        record["deck"][size - boneyard : size - boneyard + len(draws)] = draws


def _play_again(
    tables: Array,
    packed: Array,
    ends: int,
    seat: int,
    dealt: int,
    kept: int,
    told: Told,
    events: Sequence[Mapping[str, Any]],
) -> int:
    """Make the moves that the events tell of; returns what the seat holds after them."""
    if not events:
        return dealt
    actions, seats = np.array(told.actions, np.int64), np.array(told.seats, np.int64)
    mine, after = np.array([dealt], np.int64), np.zeros((len(events), 4), np.uint8)
    code = int(replay(tables, packed, actions, seats, seat, mine, kept, after))
    if code != DONE:
        index, reason = divmod(code, REASONS)
        field, words = REFUSALS[reason]
        tile = "" if reason not in (LAID, HELD) else f"{events[index]['tile']} "
        raise ValueError(f"events[{index}]{field}: {tile}{words}")
    for index, (event, marks) in enumerate(zip(events, after.tolist(), strict=True)):
        if "ends_after" in event:
            right = _ends(marks, ends)
            if event["ends_after"] != right:
                raise ValueError(f"events[{index}].ends_after: the events lead to {right}")
    return int(mine[0])


def _ends(marks: list[int], ends: int) -> list[int | None] | None:
    """Ends as an event tells them: a line has none before the pose, French four empty ones."""
    if ends == 2:
        return LINE_ENDS[marks[0]][marks[1]] if marks[0] else None
    return [NUMBER_OF[mark] for mark in marks]


def _opening(r: Mapping[str, int], mine: int) -> int:
    """The tile with which the seat must open: the rule chose it for what it holds."""
    if r["cross"]:
        return 0
    if r["informal"]:
        return ANY_TILE
    tiles = tiles_of(mine)
    doubles = [tile for tile in tiles if tile in DOUBLES]
    if doubles:
        return max(doubles)
    return max(tiles, key=lambda tile: int(PIPS[tile]) * NUMBERS + int(HIGH[tile]))


def _compare(
    record: Any, r: Mapping[str, int], laid: list[tuple[int, int]], view: Mapping[str, Any]
) -> None:
    """What the view says of the table must be what its events lead to."""
    _same(view, "sizes", record["sizes"].tolist()[: r["players"]])
    _same(view, "boneyard_size", int(record["boneyard"]))
    _same(view, "phase", PHASES[record["phase"]])
    _same(view, "turn", int(record["turn"]))
    if "board" in view:
        _same(view, "board", board_from(laid, bool(r["cross"])))
    if "ends" in view:
        marks = record["ends"].tolist()[: r["ends"]]
        _same(view, "ends", [NUMBER_OF[mark] for mark in marks] if laid else None)
    if "locked" in view:
        locked = int(record["locked"])
        arms = [bool(locked >> arm & 1) for arm in range(4)] if r["cross"] else []
        _same(view, "locked", arms)
    if "passes" in view:
        _same(view, "passes", int(record["passes"]))
    if "opener" in view:
        _same(view, "opener", seat_or_none(record["opener"]))


def _same(view: Mapping[str, Any], name: str, right: Any) -> None:
    if view[name] != right or type(view[name]) is not type(right):
        raise ValueError(f"{name}: the events lead to {right!r}")
