"""Why an action of Domino Le Truc is illegal, in words: the one place that says so."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from dominozoo.rules import Rules, pack_truc
from dominozoo.tiles import TILE_COUNT, TRUC_NAMES
from dominozoo.truc import batch
from dominozoo.truc.play import ACTIONS, CALLING, PROPOSE
from dominozoo.truc.position import names
from dominozoo.truc.table import ANSWER, CALL, EXCHANGE, OVER

WANTED: Final = {
    EXCHANGE: "player_{seat} proposes an exchange (56) or stands (57)",
    ANSWER: "player_{seat} accepts (58) or rejects (59) the exchange",
    CALL: "a tile lies face down: player_{seat} accepts (58) or refuses (59) the double",
}


def why_illegal(record: Any, rules: Rules, action: int) -> str:
    """Say why the seat to move may not make an action.

    Args:
        record: a table, a record of dtype ``dominozoo.truc.table.TABLE``.
        rules: the rules it is played by.
        action: any integer.

    Returns:
        The reason; empty if the action is legal.
    """
    if not 0 <= action < ACTIONS:
        return f"{action} is no action of {rules.module}: ids are 0..{ACTIONS - 1}"
    if record["phase"] == OVER:
        return "the match is over"
    mask = np.zeros(ACTIONS, np.int8)
    batch.mask_one(np.array([record], record.dtype), pack_truc(rules), mask)
    if mask[action]:
        return ""
    seat = int(record["turn"])
    if int(record["phase"]) in WANTED:
        return WANTED[int(record["phase"])].format(seat=seat)
    if action >= PROPOSE:
        return f"no exchange and no call waits for a word: player_{seat} plays a tile"
    name = TRUC_NAMES[action % TILE_COUNT]
    if not int(record["hands"][seat]) >> (action % TILE_COUNT) & 1:
        return f"player_{seat} does not hold {name}; held: {' '.join(names(record['hands'][seat]))}"
    return f"no double with the first lead of a hand: {name} is played face up, {action - CALLING}"
