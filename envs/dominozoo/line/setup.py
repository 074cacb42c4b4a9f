"""Set-ups of ``reset(options=...)`` for the line games: a deal, an opener, a score.

What no game could reach is refused with the reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dominozoo.line import batch
from dominozoo.line.score import WINS
from dominozoo.line.table import NOBODY
from dominozoo.rules import TIES, Rules
from dominozoo.tiles import NAMES, TILE_COUNT, tile_id

Array = npt.NDArray[Any]

MAX_STAKE: Final = 1000
DEAL_KEYS: Final = ("hands", "boneyard")


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
    start(tables, packed)
    if "dealer" in given:
        raise ValueError(f"dealer: {rules.module} has none; the seat that poses is the opener")
    record, r = tables[0], packed[0]
    record["poser"] = read_opener("opener", given.get("opener"), rules, r)
    set_scores(record, r, rules, given)
    if "deal" in given:
        _set_deck(record, r, rules, given["deal"])
    batch.reopen_one(tables, packed)


def read_opener(name: str, opener: Any, rules: Rules, r: Any) -> int:
    """The seat that poses freely, NOBODY for null; ValueError if there is no such seat."""
    if opener is None:
        return NOBODY
    if r["always_by_rule"]:
        raise ValueError(f"{name}: {rules.module} opens every hand by rule; leave {name} out")
    return integer(name, opener, 0, rules.players - 1)


def integer(name: str, value: Any, low: int, high: int) -> int:
    """A whole number in low..high; ValueError otherwise, also for True."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or not low <= value <= high:
        raise ValueError(f"{name}: must be an integer in {low}..{high}, not {value!r}")
    return int(value)


def read_list(name: str, value: Any, length: int | None = None) -> list[Any]:
    """A list, of some length if given; ValueError otherwise."""
    if not isinstance(value, list | tuple | np.ndarray):
        raise ValueError(f"{name}: must be a list, not {value!r}")
    if length is not None and len(value) != length:
        raise ValueError(f"{name}: must have {length} entries, not {len(value)}")
    return list(value)


def set_scores(record: Any, r: Any, rules: Rules, given: Mapping[str, Any]) -> None:
    """Check and set scores, stake and decider; missing ones are those of a new match."""
    sides, most = int(r["sides"]), int(r["target"]) - 1
    scores = read_list("scores", given.get("scores", [0] * sides), sides)
    scores = [integer("scores", score, 0, most) for score in scores]
    decider = given.get("decider", False)
    if not isinstance(decider, bool | np.bool_):
        raise ValueError(f"decider: must be true or false, not {decider!r}")
    stake = integer("stake", given.get("stake", 2 if decider else 1), 1, MAX_STAKE)
    if r["scoring"] == WINS:
        _check_run(scores, r)
    if decider:
        _check_decider(scores, stake, r, rules)
    elif stake > 1:
        _check_stake(stake, r, rules)
    record["scores"][:sides] = scores
    record["stake"], record["decider"] = stake, decider


def _check_run(scores: list[int], r: Any) -> None:
    above = sum(score > 0 for score in scores)
    if above == len(scores):
        raise ValueError(
            f"scores: {scores} can't be: one side at least has 0, or the run is broken"
        )
    if above > 1 and (len(scores) == 2 or r["leader_loss"]):
        raise ValueError(f"scores: {scores} can't be: only one side has points in this game")


def _check_decider(scores: list[int], stake: int, r: Any, rules: Rules) -> None:
    if not r["decider"]:
        remedy = "use the option decider=True" if "decider" in rules.options else "leave it out"
        raise ValueError(f"decider: {rules} has no deciders; {remedy}")
    ones = 1 if r["leader_loss"] else len(scores) - 1
    if sorted(scores, reverse=True) != [1] * ones + [0] * (len(scores) - ones):
        raise ValueError(
            f"decider: scores must be those of a replayed 1-1, {ones} of the sides with 1 and the "
            f"others with 0, not {scores}"
        )
    if stake < 2:
        raise ValueError("stake: a decider is worth at least 2")
    if stake > 2 and TIES[r["tie"]] != "escalate":
        raise ValueError(f'stake: {stake} needs tie="escalate"; this decider is worth 2')


def _check_stake(stake: int, r: Any, rules: Rules) -> None:
    tie = TIES[r["tie"]] if r["scoring"] == WINS else None
    if tie not in ("escalate", "double"):
        more = "tie" in rules.options
        remedy = 'more needs tie="escalate" or "double"' if more else "leave it out"
        raise ValueError(f"stake: in {rules} it is 1; {remedy}")
    if tie == "double" and stake > 2:
        raise ValueError(f'stake: with tie="double" it is at most 2, not {stake}')


def _set_deck(record: Any, r: Any, rules: Rules, deal: Any) -> None:
    """Put the given deal into the deck; tiles that it leaves open come in the stream's order."""
    if not isinstance(deal, Mapping):
        raise ValueError(f"deal: must be a mapping with hands and boneyard, not {deal!r}")
    for key in deal:
        if key not in DEAL_KEYS:
            raise ValueError(f"deal: {key!r} is unknown; it takes {' and '.join(DEAL_KEYS)}")
    size, players = int(r["hand_size"]), rules.players
    deck = record["deck"].tolist()[: TILE_COUNT - int(r["no_blank"])]
    named: list[tuple[str, list[int]]] = []
    hands = deal.get("hands")
    if hands is not None:
        for seat, hand in enumerate(read_list("deal.hands", hands, players)):
            named.append((f"deal.hands[{seat}]", read_tiles(f"deal.hands[{seat}]", hand, size)))
    boneyard = deal.get("boneyard")
    if boneyard is not None:
        rest = len(deck) - players * size
        named.append(("deal.boneyard", read_tiles("deal.boneyard", boneyard, rest)))
    check_once(named, deck)
    front = [] if hands is None else [tile for _, tiles in named[:players] for tile in tiles]
    back = [] if boneyard is None else named[-1][1]
    used = {*front, *back}
    record["deck"][: len(deck)] = [*front, *(t for t in deck if t not in used), *back]


def read_tiles(name: str, value: Any, size: int | None = None) -> list[int]:
    """Tile ids from names, so many of them if given; ValueError otherwise."""
    tiles = []
    for tile in read_list(name, value):
        try:
            tiles.append(tile_id(tile))
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
    if size is not None and len(tiles) != size:
        raise ValueError(f"{name}: must have {size} tiles, not {len(tiles)}")
    return tiles


def check_once(named: list[tuple[str, list[int]]], deck: list[int]) -> None:
    """Refuse a tile that is dealt twice or isn't in the set."""
    where: dict[int, str] = {}
    for name, tiles in named:
        for tile in tiles:
            if tile in where:
                raise ValueError(f"{name}: {NAMES[tile]} is already in {where[tile]}")
            if tile not in deck:
                raise ValueError(f"{name}: {NAMES[tile]} is not in this game's set")
            where[tile] = name
