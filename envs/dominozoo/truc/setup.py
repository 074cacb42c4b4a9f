"""Set-ups of ``reset(options=...)`` for Domino Le Truc: a deal, a dealer, a score.

What no game could reach is refused with the reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dominozoo.line.setup import DEAL_KEYS, integer, read_list
from dominozoo.rules import Rules
from dominozoo.tiles import TILE_COUNT, TRUC_NAMES, truc_slot
from dominozoo.truc import batch
from dominozoo.truc.table import HAND_SIZE, NOBODY

Array = npt.NDArray[Any]

STOCK: Final = TILE_COUNT - 2 * HAND_SIZE
# Keys of the line games; what they take here besides null.
UNUSED: Final = {
    "opener": (None, "the non-dealer leads; say who deals with dealer"),
    "stake": (1, "a hand starts at 1 and doubles by calls"),
    "decider": (False, "there are no deciders"),
}


def start(tables: Array, packed: Array) -> None:
    """Start a match by the stream and forget the one before."""
    for name in ("last_reason", "last_effect", "winners"):
        tables[0][name] = 0
    batch.start_tables(tables, packed, np.ones(1, np.bool_), np.full(1, NOBODY))


def set_up(tables: Array, packed: Array, rules: Rules, setup: Mapping[str, Any]) -> None:
    """Start a match as the options say.

    Args:
        tables: the table, shape (1,), seeded; changed in place.
        packed: the packed rules.
        rules: the same rules.
        setup: the known keys of ``reset(options=...)`` but position; null counts as missing.

    Raises:
        ValueError: if the set-up can't be; the text names the field and the remedy.
    """
    given = {key: value for key, value in setup.items() if value is not None}
    refuse_unused(given, rules)
    start(tables, packed)
    record = tables[0]
    record["dealer"] = integer("dealer", given.get("dealer", int(record["dealer"])), 0, 1)
    set_scores(record, rules, given)
    if "deal" in given:
        _set_deck(record, given["deal"])
    batch.reopen_one(tables, packed)


def refuse_unused(given: Mapping[str, Any], rules: Rules) -> None:
    """ValueError for a value of the line games that Le Truc hasn't."""
    for name, (neutral, reason) in UNUSED.items():
        value = given.get(name)
        if value is not None and (value != neutral or type(value) is not type(neutral)):
            raise ValueError(f"{name}: {value!r} can't be in {rules.module}: {reason}")


def set_scores(record: Any, rules: Rules, given: Mapping[str, Any]) -> None:
    """Check and set the scores; missing ones are 0."""
    scores = read_list("scores", given.get("scores", [0, 0]), 2)
    record["scores"] = [integer("scores", score, 0, rules.target - 1) for score in scores]


def _set_deck(record: Any, deal: Any) -> None:
    """Put the given deal into the deck; tiles that it leaves open come in the stream's order."""
    if not isinstance(deal, Mapping):
        raise ValueError(f"deal: must be a mapping with hands and boneyard, not {deal!r}")
    for key in deal:
        if key not in DEAL_KEYS:
            raise ValueError(f"deal: {key!r} is unknown; it takes {' and '.join(DEAL_KEYS)}")
    named: list[tuple[str, list[int]]] = []
    if deal.get("hands") is not None:
        for seat, hand in enumerate(read_list("deal.hands", deal["hands"], 2)):
            name = f"deal.hands[{seat}]"
            named.append((name, read_tiles(name, hand, HAND_SIZE)))
    front = [tiles for _, tiles in named]
    back: list[int] = []
    if deal.get("boneyard") is not None:
        back = read_tiles("deal.boneyard", deal["boneyard"], STOCK)
        named.append(("deal.boneyard", back))
    check_once(named)
    first = [] if not front else [*front[1 - record["dealer"]], *front[record["dealer"]]]
    used = {*first, *back}
    rest = [slot for slot in record["deck"].tolist() if slot not in used]
    record["deck"] = [*first, *rest, *back]


def read_tiles(name: str, value: Any, size: int | None = None) -> list[int]:
    """Slots from names, so many of them if given; ValueError otherwise."""
    slots = []
    for tile in read_list(name, value):
        try:
            slots.append(truc_slot(tile))
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
    if size is not None and len(slots) != size:
        raise ValueError(f"{name}: must have {size} tiles, not {len(slots)}")
    return slots


def check_once(named: list[tuple[str, list[int]]]) -> None:
    """Refuse a tile that is in two places."""
    where: dict[int, str] = {}
    for name, slots in named:
        for slot in slots:
            if slot in where:
                raise ValueError(f"{name}: {TRUC_NAMES[slot]} is already in {where[slot]}")
            where[slot] = name
