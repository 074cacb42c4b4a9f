"""The observation of one seat, written from the table record (layout: ``fields.LINE_LAYOUT``)."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dominozoo.bits import (
    LANES,
    copy_bytes,
    copy_seats,
    load_word,
    spread_actions,
    spread_tiles,
    write_bytes,
)
from dominozoo.compiler import helper, njit
from dominozoo.fields import LINE_LAYOUT, SEATS
from dominozoo.line.play import SPLIT, legal_ids
from dominozoo.line.score import side_of
from dominozoo.tiles import TILE_COUNT

HAND: Final = LINE_LAYOUT.offset("hand")
LAID_BY: Final = LINE_LAYOUT.offset("laid_by")
LAID_AT: Final = LINE_LAYOUT.offset("laid_at")
ENDS: Final = LINE_LAYOUT.offset("ends")
LOCKED: Final = LINE_LAYOUT.offset("locked")
LACKS: Final = LINE_LAYOUT.offset("lacks")
LACKS_DOUBLE: Final = LINE_LAYOUT.offset("lacks_double")
SIZES: Final = LINE_LAYOUT.offset("sizes")
BONEYARD: Final = LINE_LAYOUT.offset("boneyard")
SCORES: Final = LINE_LAYOUT.offset("scores")
TARGET: Final = LINE_LAYOUT.offset("target")
STAKE: Final = LINE_LAYOUT.offset("stake")
DECIDER: Final = LINE_LAYOUT.offset("decider")
BY_RULE: Final = LINE_LAYOUT.offset("by_rule")
TURN: Final = LINE_LAYOUT.offset("turn")
PLY: Final = LINE_LAYOUT.offset("ply")
PLAYERS: Final = LINE_LAYOUT.offset("players")

# The four flags of `locked` as four bytes.
LOCKS: Final[npt.NDArray[np.int64]] = np.array(
    [sum((mask >> k & 1) << 8 * k for k in range(4)) for mask in range(16)], np.int64
)


@helper(forceinline=True)
def observe(t: Any, rules: Any, me: Any, row: Any) -> None:
    """Write what seat ``me`` may know into ``row``, int16 of length ``LINE_LAYOUT.size``."""
    spread_tiles(np.int64(t.hands[np.uint8(me)]), row, HAND)
    for part in (0, TILE_COUNT - LANES):  # two pieces of 16 tiles that overlap
        copy_seats(row, LAID_BY + part, t.laid_by, part, me, rules.players)
        copy_bytes(row, LAID_AT + part, t.laid_at, part)
    write_bytes(row, ENDS, load_word(t.ends))
    write_bytes(row, LOCKED, LOCKS[t.locked])
    observe_seats(t, rules, me, row)
    row[BONEYARD] = t.boneyard
    row[TARGET] = rules.target
    row[STAKE] = t.stake
    row[DECIDER] = t.decider
    row[BY_RULE] = t.by_rule
    row[TURN] = 0 if t.turn < 0 else 1 + relative(t.turn, me, rules.players)
    row[PLY] = t.ply
    observe_rules(rules, row)


@njit(cache=True, inline="always")
def relative(seat: Any, me: Any, players: Any) -> Any:
    """A seat counted from ``me``: 0 = me, then in playing order."""
    away = np.int64(seat) - np.int64(me)
    return away + players if away < 0 else away


@njit(cache=True, inline="always")
def from_seat(word: Any, me: Any, players: Any) -> Any:
    """A byte a seat, the first lowest, counted from seat ``me``; seats that the game lacks stay 0."""
    turned = word >> 8 * me | word << 8 * (players - me)
    return turned & ((1 << 8 * players) - 1)


@njit(cache=True, inline="always")
def as_row(word: Any) -> Any:
    """Four bytes of seven flags as 28 flags."""
    pairs = word & 0x007F007F | (word & 0x7F007F00) >> 1
    return pairs & 0x3FFF | pairs >> 2 & 0x3FFF << 14


@njit(cache=True, inline="always")
def observe_seats(t: Any, rules: Any, me: Any, row: Any) -> None:
    """What is known of each seat; seats that the game lacks stay 0."""
    me, players = np.int64(me), rules.players
    spread_tiles(as_row(from_seat(load_word(t.lacks), me, players)), row, LACKS)
    spread_tiles(as_row(from_seat(load_word(t.lacks_double), me, players)), row, LACKS_DOUBLE)
    write_bytes(row, SIZES, from_seat(load_word(t.sizes), me, players))
    seat = me
    for away in range(SEATS):
        row[SCORES + away] = t.scores[np.uint8(side_of(rules, seat))] if away < players else 0
        seat = np.int64(0) if seat == players - 1 else seat + 1


@njit(cache=True, inline="always")
def observe_rules(rules: Any, row: Any) -> None:
    """Every option that changes play, in the layout's order from ``players`` on."""
    row[PLAYERS] = rules.players
    row[PLAYERS + 1] = rules.pairs
    row[PLAYERS + 2] = rules.draw
    row[PLAYERS + 3] = rules.cross
    row[PLAYERS + 4] = rules.no_blank
    row[PLAYERS + 5] = rules.pair_totals
    row[PLAYERS + 6] = rules.always_by_rule
    row[PLAYERS + 7] = rules.informal
    row[PLAYERS + 8] = rules.team_poser
    row[PLAYERS + 9] = rules.scoring
    row[PLAYERS + 10] = rules.tie
    row[PLAYERS + 11] = rules.decider
    row[PLAYERS + 12] = rules.leader_loss
    row[PLAYERS + 13] = rules.bruck_end
    row[PLAYERS + 14] = rules.key_card


@helper()
def write_mask(t: Any, rules: Any, row: Any) -> None:
    """Write the legal actions of the seat to move into ``row``, int8 of the action space's size."""
    low, high = legal_ids(t, rules)
    if rules.cross:
        spread_actions(low, row, 0, SPLIT)
        spread_actions(high, row, SPLIT, SPLIT + 2)
    else:
        spread_actions(low, row, 0, SPLIT + 2)
