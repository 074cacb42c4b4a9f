"""Going on from a position of Domino Le Truc: its events are played again from the deal.

Whatever doesn't agree is refused by the name of its field.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dominozoo.line.resume import (
    OPTIONAL,
    WORD,
    check_fields,
    compare_event,
    read_last_hand,
    set_generator,
)
from dominozoo.line.setup import integer, read_list
from dominozoo.rules import Rules
from dominozoo.tiles import TILE_COUNT
from dominozoo.truc import batch
from dominozoo.truc.batch import ENDED, ILLEGAL
from dominozoo.truc.illegal import why_illegal
from dominozoo.truc.position import KINDS, PLAIN, action_of, events_of, position_of
from dominozoo.truc.setup import check_once, read_tiles, set_scores, start
from dominozoo.truc.table import HAND_SIZE

Json = dict[str, Any]
Array = npt.NDArray[Any]

# Compared in this order with what the events lead to.
REPLAYED: Final = (
    *("board", "hands", "boneyard", "discards", "locked", "stake", "decider", "passes", "opener"),
    *("poser", "dealer", "leader", "trick", "tricks", "multiplier", "redeals", "phase", "turn"),
    *("ends", "legal", "over", "winners"),
)
NEEDED: Final = (
    *("game", "rules", "hand_number", "scores", "events"),
    *(name for name in REPLAYED if name not in OPTIONAL),
)


def go_on(tables: Array, packed: Array, rules: Rules, position: Any) -> Json | None:
    """Put a position on the table.

    Args:
        tables: the table, shape (1,), seeded; changed in place.
        packed: the packed rules.
        rules: the same rules.
        position: as ``position()`` gives it.

    Returns:
        The last hand, or None.

    Raises:
        ValueError: if the position is over, of another game, or disagrees with itself; the text
            begins with the first field that does.
    """
    try:
        check_fields(position, rules, NEEDED)
        start(tables, packed)
        record = tables.view(PLAIN)[0]
        _set_match(record, rules, position)
        _set_deal(record, position)
        batch.reopen_one(tables, packed)
        _play_again(tables, packed, rules, position)
        last = read_last_hand(position)
        _compare(position, position_of(tables, packed, rules, last))
    except ValueError as error:
        raise ValueError(f"position.{error}") from None
    return last


def _set_match(record: Any, rules: Rules, position: Mapping[str, Any]) -> None:
    record["hand_number"] = integer("hand_number", position["hand_number"], 1, WORD)
    record["dealer"] = integer("dealer", position["dealer"], 0, 1)
    set_scores(record, rules, position)
    set_generator(record, position.get("rng"))


def _set_deal(record: Any, position: Mapping[str, Any]) -> None:
    """Take the events back: the deck as it was dealt from, discards first."""
    hands, discards = (
        [read_tiles(f"{name}[{s}]", read_list(name, position[name], 2)[s]) for s in range(2)]
        for name in ("hands", "discards")
    )
    stock = read_tiles("boneyard", position["boneyard"])
    redeals = 0
    for index, event in enumerate(read_list("events", position["events"])):
        name = f"events[{index}]"
        _check_event(event, name)
        redeals += event["kind"] == "redeal"
        if event["kind"] in ("play", "double"):
            hands[event["seat"]].extend(read_tiles(f"{name}.tile", [event.get("tile")]))
    for seat in range(2):
        if len(hands[seat]) != HAND_SIZE:
            raise ValueError(
                f"hands[{seat}]: with the tiles played it has {len(hands[seat])} tiles, not 3"
            )
        if len(discards[seat]) != HAND_SIZE * redeals:
            raise ValueError(
                f"discards[{seat}]: has {len(discards[seat])} tiles after {redeals} redeals"
            )
    named = [
        (f"{name}[{s}]", tiles[s])
        for name, tiles in (("hands", hands), ("discards", discards))
        for s in range(2)
    ]
    check_once([*named, ("boneyard", stock)])
    order = (1 - int(record["dealer"]), int(record["dealer"]))
    deck: list[int] = []
    for k in range(redeals):
        for seat in order:
            deck += discards[seat][HAND_SIZE * k : HAND_SIZE * (k + 1)]
    deck += [*hands[order[0]], *hands[order[1]], *stock]
    if len(deck) != TILE_COUNT:
        raise ValueError(f"boneyard: {len(deck)} tiles in all, but the set has {TILE_COUNT}")
    record["deck"] = deck


def _check_event(event: Any, name: str) -> None:
    if not isinstance(event, Mapping):
        raise ValueError(f"{name}: must be a mapping, not {event!r}")
    if event.get("kind") not in KINDS:
        raise ValueError(f"{name}.kind: {event.get('kind')!r} is none of {', '.join(KINDS)}")
    integer(f"{name}.seat", event.get("seat"), 0, 1)


def _play_again(tables: Array, packed: Array, rules: Rules, position: Mapping[str, Any]) -> None:
    """Make the moves that the events tell of; then each event must be as the table has it."""
    reward, events = np.zeros(2), position["events"]
    record = tables.view(PLAIN)[0]
    for index, event in enumerate(events):
        action = action_of(event)
        if action is not None:
            turn = int(record["turn"])
            if event["seat"] != turn:
                raise ValueError(
                    f"events[{index}].seat: seat {turn} is to move, not {event['seat']}"
                )
            _make(tables, packed, rules, event, action, f"events[{index}]", reward)
    played = events_of(record, packed[0])
    for index, event in enumerate(events):
        if index >= len(played):
            raise ValueError(f"events[{index}].kind: no {event['kind']} follows here")
        compare_event(event, played[index], f"events[{index}]")
    if len(played) > len(events):
        missing = played[len(events)]["kind"]
        raise ValueError(f"events[{len(events)}]: a {missing} is missing here")


def _make(
    tables: Array,
    packed: Array,
    rules: Rules,
    event: Mapping[str, Any],
    action: int,
    name: str,
    reward: Array,
) -> None:
    code = batch.step_one(tables, packed, action, 0, 0, reward)
    if code == ILLEGAL:
        field = "tile" if event["kind"] in ("play", "double") else "kind"
        raise ValueError(f"{name}.{field}: {why_illegal(tables[0], rules, action)}")
    if code >= ENDED:
        raise ValueError(f"{name}: ends the hand; a finished hand can't be gone on with")


def _compare(position: Mapping[str, Any], replayed: Json) -> None:
    for name in REPLAYED:
        given, found = position.get(name, replayed[name]), replayed[name]
        if name in ("hands", "discards"):
            same = [sorted(read_tiles(name, tiles)) for tiles in given] == [
                sorted(read_tiles(name, tiles)) for tiles in found
            ]
        elif name == "boneyard":
            same = read_tiles(name, given) == read_tiles(name, found)
        else:
            same = given == found
        if not same:
            raise ValueError(f"{name}: the events lead to {found!r}, not {given!r}")
