"""The observation of one seat, written from the table record (layout: ``fields.LINE_LAYOUT``)."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from dominozoo.bits import spread_numbers16, spread_tiles8, spread_tiles16
from dominozoo.compiler import njit
from dominozoo.fields import LINE_LAYOUT, SEATS
from dominozoo.line.play import legal
from dominozoo.tiles import NUMBERS, TILE_COUNT

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


@njit(cache=True)
def observe(t: Any, rules: Any, me: Any, row: Any) -> None:
    """Write what seat ``me`` may know into ``row``, int16 of length ``LINE_LAYOUT.size``."""
    observe_tiles(t, rules, me, row)
    observe_seats(t, rules, me, row)
    for end in range(4):
        row[ENDS + end] = t.ends[end]
        row[LOCKED + end] = np.int64(t.locked) >> end & 1
    row[BONEYARD] = t.boneyard
    row[TARGET] = rules.target
    row[STAKE] = t.stake
    row[DECIDER] = t.decider
    row[BY_RULE] = t.by_rule
    row[TURN] = 0 if t.turn < 0 else 1 + relative(t.turn, me, rules.players)
    row[PLY] = t.ply
    observe_rules(rules, row)


@njit(cache=True)
def relative(seat: Any, me: Any, players: Any) -> Any:
    """A seat counted from ``me``: 0 = me, then in playing order."""
    away = np.int64(seat) - np.int64(me)
    return away + players if away < 0 else away


@njit(cache=True)
def observe_tiles(t: Any, rules: Any, me: Any, row: Any) -> None:
    """The observer's hand and the tiles on the table."""
    spread_tiles16(np.int64(t.hands[me]), row, HAND)
    shift, players = np.int64(me), np.int64(rules.players)
    for tile in range(TILE_COUNT):
        by = np.int64(t.laid_by[tile])
        away = by - shift
        away = away + players if away <= 0 else away
        row[LAID_BY + tile] = away if by > 0 else 0
    for tile in range(TILE_COUNT):
        row[LAID_AT + tile] = t.laid_at[tile]


@njit(cache=True)
def observe_seats(t: Any, rules: Any, me: Any, row: Any) -> None:
    """What is known of each seat; seats that the game lacks stay 0."""
    seat = np.int64(me)
    for away in range(rules.players):
        spread_numbers16(np.int64(t.lacks[seat]), row, LACKS + away * NUMBERS)
        spread_numbers16(np.int64(t.lacks_double[seat]), row, LACKS_DOUBLE + away * NUMBERS)
        row[SIZES + away] = t.sizes[seat]
        row[SCORES + away] = t.scores[seat % rules.sides]
        seat = np.int64(0) if seat == rules.players - 1 else seat + 1
    for away in range(rules.players, SEATS):
        spread_numbers16(np.int64(0), row, LACKS + away * NUMBERS)
        spread_numbers16(np.int64(0), row, LACKS_DOUBLE + away * NUMBERS)
        row[SIZES + away] = 0
        row[SCORES + away] = 0


@njit(cache=True)
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


@njit(cache=True)
def write_mask(t: Any, rules: Any, row: Any) -> None:
    """Write the legal actions of the seat to move into ``row``, int8 of the action space's size."""
    a, b, c, d, extra = legal(t, rules)
    spread_tiles8(a, row, 0)
    spread_tiles8(b, row, TILE_COUNT)
    if rules.ends == 4:
        spread_tiles8(c, row, 2 * TILE_COUNT)
        spread_tiles8(d, row, 3 * TILE_COUNT)
    row[rules.ends * TILE_COUNT] = extra & 1
    row[rules.ends * TILE_COUNT + 1] = extra >> 1 & 1
