"""Playing a line-up of players over some deals: the unit of a tournament's work.

A line-up has two players, the first of whom holds one side in turn and the second all others, or as
many players as the game has sides, who each hold every side in turn. What a unit comes to depends
on the setting, the line-up and its deals alone, so units may be played anywhere, in any order.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dominozoo.bots import OUTSIDE, kernels, seed_bots, uniforms
from dominozoo.rules import Rules
from dominozoo.tables import Tables, split_seed
from dominozoo_training.evaluation.asking import Conduct, Desk, Tally
from dominozoo_training.evaluation.entrants import Entrant
from dominozoo_training.evaluation.setting import Setting, posers, rotations, shares

Array = npt.NDArray[Any]
Lineup = tuple[int, ...]  # players by their numbers in the tournament

WHOLE: Final = 12  # a win in the parts that up to four winners share
SEATING: Final = 0x5EA7_0001  # keeps the streams of the seat orders from the bots'


@dataclass(frozen=True, slots=True)
class Job:
    """A unit of work: a line-up over deals first..first+count-1."""

    lineup: Lineup
    first: int
    count: int


@dataclass(frozen=True, slots=True)
class Part:
    """What a unit of work came to, by the line-up's k slots.

    Attributes:
        job: what was played.
        won: uint8 (count, rotations, k), shares of the wins in twelfths; a pair's second entry is
            all sides of the second player together.
        reward: float64 (k,), summed rewards of ``reward="hand"`` a seat.
        hands: hands played.
        tally: decisions, seconds, fallbacks.
        style: int64 (k, counters) or (k, 0) if it wasn't asked for.
    """

    job: Job
    won: npt.NDArray[np.uint8]
    reward: npt.NDArray[np.float64]
    hands: int
    tally: Tally
    style: npt.NDArray[np.int64]


@dataclass(slots=True)
class Room:
    """Where one process plays: the setting and the players, loaded once.

    Attributes:
        setting: what is played.
        conduct: how players are treated.
        entrants: all players of the tournament.
        warmed: names of those who have been asked before.
    """

    setting: Setting
    conduct: Conduct
    entrants: Sequence[Entrant]
    warmed: set[str] = field(default_factory=set)

    def play(self, job: Job) -> Part:
        """Play a unit in every rotation.

        Raises:
            ArenaError, EntrantError: a player failed and the conduct is strict.
        """
        setting, count = self.setting, job.count
        rules, turns = setting.rules, rotations(setting.rules)
        players = [self.entrants[number] for number in job.lineup]
        tables = Tables(rules, count, seed=setting.seed, first_table=job.first)
        if setting.opening != "rule":
            tables.reset(setting.seed, posers=posers(setting, job.first, count))
        sides = slots_by_side(setting, len(players), job.first, count)
        seats = sides[:, np.arange(rules.players) % rules.sides]
        rng = np.zeros((count, 4), np.uint32)
        seed_bots(rng, *split_seed(setting.seed), job.first)
        desk = Desk(rules, tables.packed, players, self.conduct, self.warmed)
        records = np.concatenate([tables.records] * turns)
        streams = np.concatenate([rng] * turns)
        reward, hands, counts = _play_out(setting, desk, records, seats, streams)
        won = np.rint(shares(rules, records, setting.unit) * WHOLE).astype(np.uint8)
        slots = range(len(players))
        by_slot = np.stack([(won * (sides == slot)).sum(axis=1) for slot in slots], axis=1)
        earned = [float((reward * (seats == s)).sum(dtype=np.float64)) for s in slots]
        held = [int((seats[0] == s).sum()) for s in slots]
        return Part(
            job,
            by_slot.reshape(turns, count, len(players)).swapaxes(0, 1).astype(np.uint8),
            np.array([e / n for e, n in zip(earned, held, strict=True)]),
            int(hands.sum()),
            desk.tally,
            np.stack([(counts * (seats == s)[:, :, None]).sum(axis=(0, 1)) for s in slots]),
        )


def slots_by_side(setting: Setting, players: int, first: int, count: int) -> npt.NDArray[np.int8]:
    """Who of a line-up holds each side, int8 (rotations * count, sides), rotations outermost.

    A pair: slot 0 holds side r in rotation r, slot 1 the others. As many players as sides: they sit
    down in an order drawn for each deal, and move on by one side a rotation.
    """
    rules = setting.rules
    n, turns = rules.sides, rotations(rules)
    if players == 2:
        one = np.arange(n) != np.arange(turns)[:, None]
        return np.repeat(one.astype(np.int8), count, axis=0)
    order = seat_orders(setting.seed, n, first, count)
    shifts = (np.arange(n) + np.arange(turns)[:, None]) % n
    return order[:, shifts].swapaxes(0, 1).reshape(turns * count, n)


def seat_orders(seed: int, sides: int, first: int, count: int) -> npt.NDArray[np.int8]:
    """The order in which players sit down at deals first..first+count-1, int8 (count, sides)."""
    orders = np.array(list(itertools.permutations(range(sides))), np.int8)
    rng, u = np.zeros((count, 4), np.uint32), np.zeros(count)
    low, high = split_seed(seed)
    seed_bots(rng, low, high ^ SEATING, first)
    uniforms(rng, np.arange(count), u)
    return orders[(u * len(orders)).astype(np.int64)]


def _play_out(
    setting: Setting, desk: Desk, records: Array, seats: Array, rng: Array
) -> tuple[Array, Array, Array]:
    """Play all tables to their end.

    Returns:
        Rewards float32 (B, players), hands int32 (B,), counters of style int32 (B, players, K).
    """
    rules, (b, n) = setting.rules, seats.shape
    codes = np.array([player.code for player in desk.players], np.int8)[seats]
    reward, hands = np.zeros((b, n), np.float32), np.zeros(b, np.int32)
    advance, counts = _advance(rules, desk.conduct, b)
    actions = np.full(b, OUTSIDE, np.int64)
    max_hands = int(setting.unit == "hand")
    more = (counts,) if desk.conduct.style else ()
    while True:
        advance(records, desk.packed, codes, rng, actions, max_hands, reward, hands, *more)
        turn = records["turn"]
        waiting = np.flatnonzero(turn >= 0)
        if not len(waiting):
            return reward, hands, counts
        actions[:] = -1
        slots = seats[waiting, turn[waiting]]
        actions[waiting] = desk.moves(records, rng, waiting, slots)


def _advance(rules: Rules, conduct: Conduct, tables: int) -> tuple[Any, Array]:
    """The kernel that plays on, and the counters that it fills."""
    if not conduct.style:
        return kernels(rules).advance, np.zeros((tables, rules.players, 0), np.int32)
    from dominozoo.bots import style

    return style.counting(rules), style.new_counts(rules, tables)
