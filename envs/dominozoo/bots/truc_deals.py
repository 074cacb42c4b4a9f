"""Deals of Domino Le Truc that agree with all that the seat to move has seen, evenly drawn.

What the other says and plays among legal moves tells nothing, so the tiles that the seat neither
holds, nor has discarded, nor has seen turned up lie anywhere with the same chance: in the other's
hand, face down, among his discards, in the stock. Used like :mod:`dominozoo.bots.deals`.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dominozoo.bits import lowest
from dominozoo.bots.deals import copy_record, mix
from dominozoo.bots.truc import unseen_tiles
from dominozoo.compiler import njit
from dominozoo.tiles import TILE_COUNT
from dominozoo.truc.table import HAND_SIZE

WORK: Final = np.dtype(
    (
        np.record,
        [
            ("count", np.int64),  # tiles unseen
            ("tiles", np.uint8, 28),
            ("shown", np.int64),  # the other's tiles turned up
            ("hidden", np.int64),  # how many of the three that he was dealt last aren't
            ("lies", np.int64),  # one of them lies face down: 1, else 0
        ],
    )
)


def make_work() -> npt.NDArray[np.void]:
    """Room for :func:`prepare` and :func:`sample_deal`: an array (1,), one a thread."""
    return np.zeros(1, WORK)


@njit(cache=True)
def prepare(t: Any, rules: Any, work: Any) -> Any:
    """Note what the seat to move of a table that isn't over has seen; returns how much it hasn't."""
    w, me = work[0], np.int64(t.turn)
    rest = unseen_tiles(t, me)
    w.count = 0
    while rest != 0:
        w.tiles[w.count] = lowest(rest)
        rest &= rest - 1
        w.count += 1
    last = np.int64(t.plays) - 1
    w.lies = 1 if t.face_down != 0 and t.played_by[max(0, last)] != me else 0
    w.shown, w.hidden = 0, HAND_SIZE
    for k in range(last + 1 - w.lies):
        if t.played_by[k] != me:
            w.shown |= np.int64(1) << np.int64(t.played[k])
            w.hidden -= 1
    return w.count


@njit(cache=True)
def sample_deal(t: Any, rules: Any, rng: Any, work: Any, out: Any) -> None:
    """Write into ``out`` the table with one deal drawn at random from those that agree.

    Args:
        t: the table record that ``work`` was prepared for.
        rules: the packed rules.
        rng: uint32 (4,), the generator drawn from; moves on.
        work: after :func:`prepare`.
        out: a record of the table's type; gets ``t`` with another hand, face-down tile and
            discards of the other seat, and another ``deck`` where the seat hasn't seen it.
    """
    w, me = work[0], np.int64(t.turn)
    other = 1 - me
    copy_record(out, t)
    mix(w.tiles, 0, w.count, rng)
    hand, discards, at = np.int64(0), np.int64(0), 0
    for k in range(w.hidden):
        bit = np.int64(1) << np.int64(w.tiles[k])
        out.held[other] = w.shown | bit if k == 0 else out.held[other] | bit
        if k == 0 and w.lies:
            out.played[t.plays - 1] = w.tiles[k]
        else:
            hand |= bit
    for k in range(w.hidden, w.hidden + HAND_SIZE * np.int64(t.redeals)):
        discards |= np.int64(1) << np.int64(w.tiles[k])
    out.hands[other] = hand
    out.discards[other] = discards
    place = HAND_SIZE if other == t.dealer else 0
    for _ in range(np.int64(t.redeals)):
        put(out.deck, place, w.tiles, w.hidden + at, HAND_SIZE)
        place += 2 * HAND_SIZE
        at += HAND_SIZE
    rest = w.shown
    while rest != 0:
        out.deck[place] = lowest(rest)
        rest &= rest - 1
        place += 1
    put(out.deck, place, w.tiles, 0, w.hidden)
    stock = np.int64(t.stock)
    put(out.deck, TILE_COUNT - stock, w.tiles, w.hidden + at, stock)


@njit(cache=True)
def put(deck: Any, place: Any, tiles: Any, first: Any, count: Any) -> None:
    """Copy ``count`` tiles into a deck."""
    for k in range(count):
        deck[place + k] = tiles[first + k]
