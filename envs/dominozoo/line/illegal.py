"""Why an action is illegal, in words: the one place that says so."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dominozoo.line import batch
from dominozoo.line.position import names
from dominozoo.line.table import ANY_TILE, OVER, POSE
from dominozoo.rules import Rules, pack_line
from dominozoo.tiles import DOUBLE_OF, NAMES, TILE_COUNT, TILES

SIDES: Final = ("left", "right")


def why_illegal(record: Any, rules: Rules, action: int) -> str:
    """Say why the seat to move may not make an action.

    Args:
        record: a table, a record of dtype ``dominozoo.line.table.TABLE``.
        rules: the rules it is played by.
        action: any integer.

    Returns:
        The reason; empty if the action is legal.
    """
    tables = np.array([record], record.dtype)
    packed = pack_line(rules)
    ends = int(packed[0]["ends"])
    if not 0 <= action < ends * TILE_COUNT + 2:
        return f"{action} is no action of {rules.module}: ids are 0..{ends * TILE_COUNT + 1}"
    if record["phase"] == OVER:
        return "the match is over"
    mask = np.zeros(ends * TILE_COUNT + 2, np.int8)
    batch.mask_one(tables, packed, mask)
    if mask[action]:
        return ""
    if action == ends * TILE_COUNT:
        return _why_no_draw(record, packed[0], mask)
    if action == ends * TILE_COUNT + 1:
        return _why_no_pass(record, mask)
    return _why_not_lay(record, packed[0], action % TILE_COUNT, action // TILE_COUNT)


def _laid_instead(mask: npt.NDArray[np.int8]) -> str:
    tile = NAMES[int(mask.argmax()) % TILE_COUNT]
    return f"{tile} can be played, and who can play must"


def _why_no_draw(record: Any, r: Any, mask: npt.NDArray[np.int8]) -> str:
    if not r["draw"]:
        return "this game has no drawing: a stuck player passes"
    if record["phase"] == POSE:
        return "the hand is opened with a tile, not by drawing"
    if mask[:-2].any():
        return f"no draw: {_laid_instead(mask)}"
    return "the boneyard is empty: pass"


def _why_no_pass(record: Any, mask: npt.NDArray[np.int8]) -> str:
    if record["phase"] == POSE:
        return "the hand is opened with a tile: no pass"
    if mask[:-2].any():
        return f"no pass: {_laid_instead(mask)}"
    return f"no pass: the boneyard has {record['boneyard']} tiles, draw one"


def _why_not_lay(record: Any, r: Any, tile: int, end: int) -> str:
    name, seat = NAMES[tile], int(record["turn"])
    if not int(record["hands"][seat]) >> tile & 1:
        return f"player_{seat} does not hold {name}; held: {' '.join(names(record['hands'][seat]))}"
    if record["phase"] == POSE:
        if record["opening"] not in (ANY_TILE, tile):
            return f"the hand opens by rule with {NAMES[record['opening']]}, not with {name}"
        return f"the first tile of a hand is laid at end 0, not {end}"
    marks = record["ends"].tolist()
    if r["cross"]:
        return _why_not_on_arm(name, tile, end, marks, int(record["locked"]))
    if any(mark - 1 in TILES[tile] for mark in marks[:2]):
        other = 1 - end
        return (
            f"{name} does not fit the {SIDES[end]} end ({marks[end] - 1}); "
            f"it fits the {SIDES[other]} end ({marks[other] - 1}), end {other}"
        )
    return f"{name} fits neither end: left {marks[0] - 1}, right {marks[1] - 1}"


def _why_not_on_arm(name: str, tile: int, arm: int, marks: list[int], locked: int) -> str:
    if 0 in marks:
        if 0 not in TILES[tile]:
            return f"{name} has no blank: only blanks are laid until all four arms have begun"
        return f"blanks go to the next free arm, {marks.index(0)}, not {arm}"
    number = marks[arm] - 1
    if locked >> arm & 1:
        double = NAMES[DOUBLE_OF[number]]
        return f"arm {arm} is locked: it takes only {double}, not {name}"
    return f"{name} does not fit arm {arm}, which shows {number}"
