"""A view of Domino Le Truc from a program that isn't trusted: checked as a whole.

What the seat can't see is filled in with tiles that it hasn't seen, and the position that comes out
must be one that can be gone on from. Which tiles they are has no influence on what it sees.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dominozoo.fields import TRUC_LAYOUT
from dominozoo.line.seen import compare_legal
from dominozoo.line.setup import integer, read_list
from dominozoo.records import seed_tables
from dominozoo.rules import Rules, pack_truc
from dominozoo.tiles import TRUC_NAMES
from dominozoo.truc import batch
from dominozoo.truc.play import ACTIONS
from dominozoo.truc.position import legal_of
from dominozoo.truc.resume import NEEDED as OF_POSITION
from dominozoo.truc.resume import go_on
from dominozoo.truc.setup import read_tiles
from dominozoo.truc.table import HAND_SIZE, TABLE

Json = dict[str, Any]
Array = npt.NDArray[Any]

# What a view has no use for, but says; it may be left out.
CONSTANT: Final[Json] = {
    "board": [],
    "ends": None,
    "locked": [],
    "stake": 1,
    "decider": False,
    "passes": 0,
    "poser": None,
}
NEEDED: Final = (
    *("seat", "hand", "sizes", "boneyard_size", "discards"),
    *(name for name in OF_POSITION if name not in ("hands", "boneyard", "opener", *CONSTANT)),
)


def read_view(rules: Rules, view: Mapping[str, Any]) -> tuple[Array, Array]:
    """What the seat to move sees and may do.

    Args:
        rules: the game, those of the view.
        view: as ``view()`` gives it, of the seat to move; what is the same in all hands, opener and
            legal may be missing.

    Returns:
        Observation int16 (layout size,), mask int8 (actions,).

    Raises:
        ValueError: if the view can't be; the text begins with the field.
    """
    for name in NEEDED:
        if name not in view:
            raise ValueError(f"{name}: is missing")
    seat = integer("seat", view["seat"], 0, 1)
    tables, packed = np.zeros(1, TABLE), _packed(rules)
    seed_tables(tables, 0, 0, 0)
    try:
        go_on(tables, packed, rules, _completed(view, seat))
    except ValueError as error:
        raise ValueError(str(error).removeprefix("position.")) from None
    row, mask = np.zeros(TRUC_LAYOUT.size, np.int16), np.zeros(ACTIONS, np.int8)
    batch.look_one(tables, packed, seat, row, mask)
    if not mask.any():
        raise ValueError("turn: the seat is not to move")
    if view.get("legal") is not None:
        compare_legal(view["legal"], legal_of(mask))
    return row, mask


@functools.lru_cache(64)
def _packed(rules: Rules) -> Array:
    """The rules for the kernels, which only read them."""
    return pack_truc(rules)


def _completed(view: Mapping[str, Any], seat: int) -> Json:
    """The position of a view, with tiles that the seat hasn't seen where it can't see them."""
    events = [
        dict(_object(event, k)) for k, event in enumerate(read_list("events", view["events"]))
    ]
    other = 1 - seat
    hidden = _pending(events, other)
    mine = [e for e in events if e.get("kind") in ("play", "double") and e.get("seat") == seat]
    theirs = [e for e in events if e.get("kind") in ("play", "double") and e.get("seat") == other]
    hand, discards = read_tiles("hand", view["hand"]), read_tiles("discards", view["discards"])
    seen = [*hand, *discards]
    for event in (*mine, *theirs):
        if event is not hidden:
            seen += read_tiles("events: tile", [event.get("tile")])
    rest = [TRUC_NAMES[slot] for slot in range(len(TRUC_NAMES)) if slot not in seen]
    if len(set(seen)) != len(seen):
        twice = next(TRUC_NAMES[slot] for slot in seen if seen.count(slot) > 1)
        raise ValueError(f"hand: {twice} is there twice")
    if len(theirs) > HAND_SIZE or len(mine) > HAND_SIZE:
        raise ValueError("events: a seat plays three tiles at most")
    if hidden is not None:
        hidden["tile"] = rest.pop()
    redeals = integer("redeals", view["redeals"], 0, 3)
    held = [rest.pop() for _ in range(HAND_SIZE - len(theirs))]
    thrown = [rest.pop() for _ in range(HAND_SIZE * redeals)]
    sizes = [HAND_SIZE - len(mine), HAND_SIZE - len(theirs)]
    _same("sizes", view["sizes"], sizes if seat == 0 else sizes[::-1])
    _same("boneyard_size", view["boneyard_size"], len(rest))
    sides = [list(view["hand"]), held], [list(view["discards"]), thrown]
    hands, piles = (side if seat == 0 else side[::-1] for side in sides)
    said = {name: view.get(name, value) for name, value in CONSTANT.items()}
    table = {name: view[name] for name in OF_POSITION if name in view}
    if "opener" not in view:
        plays = [event["seat"] for event in events if event.get("kind") in ("play", "double")]
        table["opener"] = plays[0] if plays else None
    filled = {"hands": hands, "discards": piles, "boneyard": rest, "events": events}
    return {**said, **table, **filled, "trick": _trick(view["trick"], hidden)}


def _object(event: Any, index: int) -> Mapping[str, Any]:
    if not isinstance(event, Mapping):
        raise ValueError(f"events[{index}]: must be an object")
    return event


def _pending(events: list[Json], other: int) -> Json | None:
    """The other seat's call that waits for an answer; its tile lies face down."""
    last = events[-1] if events else {}
    if last.get("kind") != "double" or last.get("seat") != other:
        return None
    if last.get("tile") is not None:
        raise ValueError(f"events[{len(events) - 1}].tile: it lies face down, so it must be null")
    return last


def _trick(trick: Any, hidden: Json | None) -> Any:
    if not isinstance(trick, Mapping):
        raise ValueError("trick: must be an object")
    called = trick.get("called")
    if hidden is None or not isinstance(called, Mapping):
        return trick
    if called.get("tile") is not None:
        raise ValueError("trick: the called tile lies face down, so it must be null")
    return {**trick, "called": {**called, "tile": hidden["tile"]}}


def _same(name: str, given: Any, right: Any) -> None:
    if given != right:
        raise ValueError(f"{name}: the events lead to {right!r}")
