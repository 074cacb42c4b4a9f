"""What a trained bot of Domino Le Truc looks at, in NumPy: observations as columns of numbers.

The state is a summary: tiles held by class, the tile that lies open in this trick, every play with
its seat, strength and call, the tricks, what was said, multiplier and points to go. An action is
described by its kind, its tile, how it goes against the tile that lies and what stays in hand.
Classes count, not tiles: two tiles of one sum, no doubles, are worth the same. The tables here are
those of training and of the exported graph, too; tests hold the three equal.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from dominozoo.fields import TRUC_LAYOUT, TRUC_PLAYS, Layout
from dominozoo.tiles import TILE_COUNT
from dominozoo.truc.strength import (
    BEATS,
    CLASS,
    CLASSES,
    HIS,
    IS_DOUBLE,
    MINE,
    OPEN,
    POWER,
    SUM_RANK,
    TIED,
    VERDICT,
)

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]

TRUC_ARCHITECTURE: Final = "truc-actions/1"
ACTIONS: Final = 60
KINDS: Final = 6  # play, call, propose, stand, accept, reject
NONE: Final = CLASSES  # the class of a tile that isn't there or isn't seen
FAR: Final = 30  # points to go beyond which they don't matter
MULTIPLIERS: Final = (1, 2, 4, 8, 16, 32)


def _class_of() -> Ints:
    found = np.full(22, NONE, np.int64)
    found[SUM_RANK * 2 + IS_DOUBLE] = CLASS
    return found


def _goes() -> Ints:
    one = [int(np.flatnonzero(kind == CLASS)[0]) for kind in range(CLASSES)]
    found = np.zeros((CLASSES + 1, CLASSES + 1), np.int64)
    for a, mine in enumerate(one):
        for b, his in enumerate(one):
            won, lost = BEATS[mine] >> his & 1, BEATS[his] >> mine & 1
            found[a, b] = MINE if won else HIS if lost else TIED
    return found


def _latest(first: int, second: int, goes: int) -> int:
    """Who has the round once the trick that is being played has gone so."""
    if second:
        return int(VERDICT[first, second, goes])
    return int(VERDICT[first, goes, OPEN]) if first else OPEN


def _fixed() -> Floats:
    rows = np.zeros((ACTIONS, KINDS + CLASSES + 2), np.float32)
    for action, kind in enumerate(ACTION_CLASS):
        rows[action, max(action // TILE_COUNT, action - 2 * TILE_COUNT + 2)] = 1
        if kind != NONE:
            rows[action, KINDS + kind] = 1
            tile = action % TILE_COUNT
            rows[action, KINDS + CLASSES :] = POWER[tile], IS_DOUBLE[tile]
    return rows


# The class of a play by ``2 * play_sum + play_double``, NONE for what no tile is.
CLASS_OF: Final = _class_of()
# Strength of a class, 0 for NONE.
CLASS_POWER: Final = np.zeros(CLASSES + 1, np.float32)
CLASS_POWER[CLASS] = POWER
# How a trick goes for who follows with the first class onto the second; 0 with NONE.
GOES: Final = _goes()
# Who has the round, by the first two tricks and the latest; 3 = void, 0 = it goes on.
LATEST: Final = np.array(
    [[[_latest(a, b, c) for c in range(4)] for b in range(4)] for a in range(4)], np.int64
)
# The class of an action's tile, NONE for what is said.
ACTION_CLASS: Final = np.concatenate([CLASS, CLASS, np.full(4, NONE)])
# What of an action's columns depends on its id alone: kind, class, strength, double.
FIXED: Final = _fixed()
ONE_CLASS: Final = np.eye(CLASSES + 1, CLASSES, dtype=np.float32)
TILE_POWER: Final = POWER.astype(np.float32)

STATE_COLUMNS: Final = 2 * CLASSES + 5 * TRUC_PLAYS + 9 + 5 + 6 + len(MULTIPLIERS) + 6 + 3
ACTION_COLUMNS: Final = KINDS + CLASSES + 2 + 3 + 3 + CLASSES


class TrucState(NamedTuple):
    """What observations say before any action is looked at; B rows."""

    hand: Floats  # (B, 15) tiles held of each class
    lying: Ints  # (B,) class of the tile that lies open in this trick, or NONE
    won: Ints  # (B, 3) who won each trick, 0 = nobody yet
    summary: Floats  # (B, STATE_COLUMNS)


def _slices() -> dict[str, slice]:
    offset = TRUC_LAYOUT.offset
    return {f.name: slice(offset(f.name), offset(f.name) + f.size) for f in TRUC_LAYOUT.fields}


AT: Final = _slices()


class TrucShape(NamedTuple):
    """What a network of Le Truc looks at; the game has one size."""

    @property
    def layout(self) -> Layout:
        """The observation's fields."""
        return TRUC_LAYOUT

    @property
    def action_count(self) -> int:
        """Size of the action space."""
        return ACTIONS

    @property
    def score_columns(self) -> int:
        """Columns that the score of an action reads."""
        return ACTION_COLUMNS + STATE_COLUMNS

    @property
    def value_columns(self) -> int:
        """Columns that the value reads."""
        return STATE_COLUMNS

    def state(self, observation: npt.NDArray[Any]) -> TrucState:
        """Read observations: integers (B, 139)."""
        whole = observation.astype(np.int64)
        classes = CLASS_OF[2 * whole[:, AT["play_sum"]] + whole[:, AT["play_double"]]]
        won = whole[:, AT["won"]]
        padded = np.append(classes, np.full((len(whole), 1), NONE), axis=1)
        lying = padded[np.arange(len(whole)), 2 * (won > 0).sum(axis=1)]
        hand = whole[:, AT["hand_classes"]].astype(np.float32)
        return TrucState(hand, lying, won, _summary(whole, hand, classes, lying))

    def score_inputs(self, state: TrucState, rows: Ints, actions: Ints) -> Floats:
        """What the score of action ``actions[k]`` of row ``rows[k]`` reads, (K, score_columns)."""
        kind = ACTION_CLASS[actions]
        goes = GOES[kind, state.lying[rows]]
        verdict = LATEST[state.won[rows, 0], state.won[rows, 1], goes]
        results = np.arange(1, 4)
        parts = [
            FIXED[actions],
            goes[:, None] == results,
            verdict[:, None] == results,
            state.hand[rows] - ONE_CLASS[kind],
            state.summary[rows],
        ]
        return np.concatenate(parts, axis=1, dtype=np.float32)

    def value_inputs(self, state: TrucState) -> Floats:
        """What the value reads, (B, value_columns)."""
        return state.summary


def _summary(whole: Ints, hand: Floats, classes: Ints, lying: Ints) -> Floats:
    seat, won = whole[:, AT["play_by"]], whole[:, AT["won"]]
    multiplier = whole[:, AT["multiplier"]]
    to_go = whole[:, AT["target"]] - whole[:, AT["scores"]]
    goes = GOES[:CLASSES, lying].T
    flags = ("dealer", "proposed", "rejected")
    columns: Floats = np.concatenate(
        [
            hand,
            ONE_CLASS[lying],
            seat == MINE,
            seat == HIS,
            CLASS_POWER[classes],
            whole[:, AT["play_double"]],
            whole[:, AT["play_called"]],
            *(won == winner for winner in (MINE, HIS, TIED)),
            whole[:, AT["phase"]] == np.arange(1, 6),
            whole[:, AT["leader"]] == MINE,
            *(whole[:, AT[name]] for name in flags),
            whole[:, AT["redeals"]] / 3,
            whole[:, AT["redeals_left"]] / 3,
            multiplier == np.array(MULTIPLIERS),
            np.minimum(to_go, FAR) / FAR,
            to_go <= multiplier,
            to_go <= 2 * multiplier,
            (hand * (goes == MINE)).sum(axis=1, keepdims=True) / 3,
            (hand * (goes == TIED)).sum(axis=1, keepdims=True) / 3,
            _unseen(whole),
        ],
        axis=1,
        dtype=np.float32,
    )
    return columns


def _unseen(whole: Ints) -> Floats:
    """Mean strength of the tiles that the observer hasn't seen, (B, 1)."""
    seen = whole[:, AT["hand"]] + whole[:, AT["discards"]] + (whole[:, AT["played_at"]] > 0)
    rest = TILE_POWER.sum() - seen.astype(np.float32) @ TILE_POWER
    mean: Floats = rest / np.maximum(TILE_COUNT - seen.sum(axis=1), 1)
    return mean[:, None]
