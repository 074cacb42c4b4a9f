"""Going on from a position of a line game: its events are played again from the deal.

Whatever doesn't agree is refused by the name of its field.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dominozoo.line import batch
from dominozoo.line.batch import ENDED, ILLEGAL
from dominozoo.line.illegal import why_illegal
from dominozoo.line.position import KINDS, action_of, events_of, new_log, position_of
from dominozoo.line.setup import (
    check_once,
    integer,
    read_list,
    read_opener,
    read_tiles,
    set_scores,
    start,
)
from dominozoo.rules import Rules
from dominozoo.tiles import TILE_COUNT

Json = dict[str, Any]
Array = npt.NDArray[Any]

NEEDED: Final = (
    *("game", "rules", "hand_number", "phase", "turn", "hands", "boneyard", "board", "locked"),
    *("scores", "stake", "decider", "passes", "opener", "poser", "events"),
)
OPTIONAL: Final = ("legal", "over", "winners", "ends", "last_hand", "rng")
# Compared in this order with what the events lead to.
REPLAYED: Final = (
    *("ends", "board", "hands", "boneyard", "locked", "passes", "opener", "poser", "phase", "turn"),
    *("legal", "over", "winners"),
)
LAST_HAND: Final = (
    *("winner", "seat", "reason", "effect", "points", "key", "hands", "board", "events", "scores"),
)
WORD: Final = 0xFFFFFFFF


def go_on(
    tables: Array, packed: Array, rules: Rules, position: Any
) -> tuple[npt.NDArray[np.int8], Json | None]:
    """Put a position on the table.

    Args:
        tables: the table, shape (1,), seeded; changed in place.
        packed: the packed rules.
        rules: the same rules.
        position: as ``position()`` gives it.

    Returns:
        (event log of the hand, last hand or None).

    Raises:
        ValueError: if the position is over, of another game, or disagrees with itself; the text
            begins with the first field that does.
    """
    try:
        check_fields(position, rules, NEEDED)
        start(tables, packed)
        _set_match(tables[0], packed[0], rules, position)
        _set_deal(tables, packed, rules, position)
        log = _play_again(tables, packed, rules, position)
        last = read_last_hand(position)
        _compare(position, position_of(tables, packed, rules, log, last))
    except ValueError as error:
        raise ValueError(f"position.{error}") from None
    return log, last


def check_fields(position: Any, rules: Rules, needed: Sequence[str]) -> None:
    """ValueError unless a position has the fields needed, of this game, and isn't over."""
    if not isinstance(position, Mapping):
        raise ValueError(f"game: a position is a mapping, not {type(position).__name__}")
    for name in needed:
        if name not in position:
            hint = ": this is a view, which can't be gone on from" if "seat" in position else ""
            raise ValueError(f"{name}: is missing{hint}")
    for name in position:
        if name not in (*needed, *OPTIONAL):
            raise ValueError(f"{name}: is unknown; known are {', '.join((*needed, *OPTIONAL))}")
    if position["game"] != rules.module:
        raise ValueError(f"game: {position['game']!r} is not this environment's {rules.module!r}")
    if position["rules"] != rules.options:
        raise ValueError(
            f"rules: {position['rules']} are not this environment's {rules.options}; "
            "make an environment with those options"
        )
    if position["phase"] == "over" or position.get("over"):
        raise ValueError("phase: the position is over: there is nothing to go on with")


def _set_match(record: Any, r: Any, rules: Rules, position: Mapping[str, Any]) -> None:
    record["hand_number"] = integer("hand_number", position["hand_number"], 1, WORD)
    record["poser"] = read_opener("poser", position["poser"], rules, r)
    set_scores(record, r, rules, {name: position[name] for name in ("scores", "stake", "decider")})
    set_generator(record, position.get("rng"))


def set_generator(record: Any, generator: Any) -> None:
    """Go on with a position's stream of deals; null keeps the table's own."""
    if generator is None:
        return
    if not isinstance(generator, Mapping) or set(generator) != {"seed", "table", "deals"}:
        raise ValueError(f"rng: must have seed, table and deals, not {generator!r}")
    words = read_list("rng.seed", generator["seed"], 2)
    record["seed"] = [integer("rng.seed", word, 0, WORD) for word in words]
    record["table"] = integer("rng.table", generator["table"], 0, WORD)
    record["deals"] = integer("rng.deals", generator["deals"], 0, WORD)


def _set_deal(tables: Array, packed: Array, rules: Rules, position: Mapping[str, Any]) -> None:
    """Take the events back: what each seat was dealt, and the whole boneyard."""
    r = packed[0]
    hands = [
        read_tiles(f"hands[{seat}]", hand)
        for seat, hand in enumerate(read_list("hands", position["hands"], rules.players))
    ]
    boneyard = read_tiles("boneyard", position["boneyard"])
    deck = list(range(int(r["no_blank"]), TILE_COUNT))
    named = [(f"hands[{seat}]", tiles) for seat, tiles in enumerate(hands)]
    check_once([*named, ("boneyard", boneyard)], deck)
    drawn: list[int] = []
    for index, event in enumerate(read_list("events", position["events"])):
        _take_back(event, f"events[{index}]", hands, drawn)
    dealt = [[t for t in hand if t not in drawn] for hand in hands]
    for seat, tiles in enumerate(dealt):
        if len(tiles) != r["hand_size"]:
            raise ValueError(
                f"hands[{seat}]: with the tiles played and without those drawn it has "
                f"{len(tiles)} tiles, but {r['hand_size']} were dealt"
            )
    named = [(f"hands[{seat}]", tiles) for seat, tiles in enumerate(dealt)]
    check_once([*named, ("boneyard", [*drawn, *boneyard])], deck)
    order = [*(tile for tiles in dealt for tile in tiles), *drawn, *boneyard]
    if len(order) != len(deck):
        raise ValueError(f"boneyard: {len(order)} tiles in all, but the set has {len(deck)}")
    tables[0]["deck"][: len(deck)] = order
    batch.reopen_one(tables, packed)


def _take_back(event: Any, name: str, hands: list[list[int]], drawn: list[int]) -> None:
    """Give a played tile back to its seat; note a drawn one."""
    if not isinstance(event, Mapping):
        raise ValueError(f"{name}: must be a mapping, not {event!r}")
    if event.get("kind") not in KINDS:
        raise ValueError(f"{name}.kind: {event.get('kind')!r} is none of {', '.join(KINDS)}")
    seat = integer(f"{name}.seat", event.get("seat"), 0, len(hands) - 1)
    if event["kind"] == "play":
        hands[seat].extend(read_tiles(f"{name}.tile", [event.get("tile")]))
    elif event["kind"] == "draw":
        drawn.extend(read_tiles(f"{name}.tile", [event.get("tile")]))


def _play_again(
    tables: Array, packed: Array, rules: Rules, position: Mapping[str, Any]
) -> npt.NDArray[np.int8]:
    log, reward = new_log(), np.zeros(rules.players)
    ends = int(packed[0]["ends"])
    for index, event in enumerate(position["events"]):
        name = f"events[{index}]"
        turn = int(tables[0]["turn"])
        if event["seat"] != turn:
            raise ValueError(f"{name}.seat: seat {turn} is to move, not {event['seat']}")
        try:
            action = action_of(event, ends)
        except ValueError as error:
            raise ValueError(f"{name}.{error}") from None
        code = batch.step_one(tables, packed, action, 0, 0, log, reward)
        if code == ILLEGAL:
            field = "tile" if event["kind"] == "play" else "kind"
            raise ValueError(f"{name}.{field}: {why_illegal(tables[0], rules, action)}")
        if code >= ENDED:
            raise ValueError(f"{name}: ends the hand; a finished hand can't be gone on with")
        compare_event(event, events_of(log[index : index + 1], 1, ends)[0], name)
    return log


def compare_event(event: Mapping[str, Any], played: Mapping[str, Any], name: str) -> None:
    """ValueError if an event says other than what was played; a field left out is no matter."""
    for field, value in event.items():
        if field not in played:
            raise ValueError(f"{name}.{field}: is unknown; known are {', '.join(played)}")
        if value != played[field] and not (field == "ends_after" and value is None):
            raise ValueError(f"{name}.{field}: it was {played[field]!r}, not {value!r}")


def read_last_hand(position: Mapping[str, Any]) -> Json | None:
    """The last hand as given; what the position can tell about it must agree."""
    last = position.get("last_hand")
    if last is None:
        return None
    if not isinstance(last, Mapping) or set(last) != set(LAST_HAND):
        raise ValueError(f"last_hand: must be null or have {', '.join(LAST_HAND)}")
    if position["hand_number"] == 1:
        raise ValueError("last_hand: must be null in hand 1")
    if last["scores"] != position["scores"]:
        raise ValueError(
            f"last_hand.scores: the hand ended at {last['scores']}, but the position's scores are "
            f"{position['scores']}"
        )
    if last["effect"] in ("match", "bruck"):
        raise ValueError(f"last_hand.effect: {last['effect']!r} ended the match")
    if (last["effect"] == "decider") and not position["decider"]:
        raise ValueError("last_hand.effect: it started a decider, but the position is none")
    free = last["seat"] is not None and last["effect"] is None
    expected = last["seat"] if free else None
    if position["poser"] not in (expected, None):
        raise ValueError(f"last_hand.seat: {last['seat']} is not the poser {position['poser']}")
    result: Json = copy.deepcopy(dict(last))
    return result


def _compare(position: Mapping[str, Any], replayed: Json) -> None:
    for name in REPLAYED:
        given, found = position.get(name, replayed[name]), replayed[name]
        if name == "hands":
            same = [sorted(read_tiles(name, hand)) for hand in given] == [
                sorted(read_tiles(name, hand)) for hand in found
            ]
        elif name == "boneyard":
            same = read_tiles(name, given) == read_tiles(name, found)
        else:
            same = given == found
        if not same:
            raise ValueError(f"{name}: the events lead to {found!r}, not {given!r}")
