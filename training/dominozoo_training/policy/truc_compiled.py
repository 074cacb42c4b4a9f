"""The encoding of Le Truc compiled: what ``policy.truc`` computes with tensors, row by row."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from dominozoo.bits import row_of
from dominozoo.bots.truc_network import (
    ACTION_CLASS,
    CLASS_OF,
    CLASS_POWER,
    FAR,
    FIXED,
    GOES,
    LATEST,
    NONE,
    STATE_COLUMNS,
    TILE_POWER,
)
from dominozoo.compiler import njit
from dominozoo.fields import TRUC_LAYOUT, TRUC_PLAYS
from dominozoo.tiles import TILE_COUNT
from dominozoo.truc.strength import CLASS, CLASSES, HIS, MINE, TIED
from dominozoo_training.policy.compiled import copy_row

HAND: Final = TRUC_LAYOUT.offset("hand")
HAND_CLASSES: Final = TRUC_LAYOUT.offset("hand_classes")
DISCARDS: Final = TRUC_LAYOUT.offset("discards")
PLAYED_AT: Final = TRUC_LAYOUT.offset("played_at")
PLAY_SUM: Final = TRUC_LAYOUT.offset("play_sum")
PLAY_DOUBLE: Final = TRUC_LAYOUT.offset("play_double")
PLAY_BY: Final = TRUC_LAYOUT.offset("play_by")
PLAY_CALLED: Final = TRUC_LAYOUT.offset("play_called")
WON: Final = TRUC_LAYOUT.offset("won")
PHASE: Final = TRUC_LAYOUT.offset("phase")
LEADER: Final = TRUC_LAYOUT.offset("leader")
DEALER: Final = TRUC_LAYOUT.offset("dealer")
PROPOSED: Final = TRUC_LAYOUT.offset("proposed")
REJECTED: Final = TRUC_LAYOUT.offset("rejected")
REDEALS: Final = TRUC_LAYOUT.offset("redeals")
REDEALS_LEFT: Final = TRUC_LAYOUT.offset("redeals_left")
MULTIPLIER: Final = TRUC_LAYOUT.offset("multiplier")
SCORES: Final = TRUC_LAYOUT.offset("scores")
TARGET: Final = TRUC_LAYOUT.offset("target")

ALL_POWER: Final = np.float32(TILE_POWER.sum())
THIRD: Final = np.float32(1 / 3)
NINTH: Final = np.float32(1 / 9)
DOUBLINGS: Final = 6


@njit(cache=True, nogil=True)
def describe_rows(
    observation: Any,
    mask: Any,
    secrets: Any,
    actions: Any,
    rows: Any,
    columns: Any,
    ids: Any,
    values: Any,
    critic: Any,
) -> None:
    """As ``policy.compiled.describe_rows``, for Le Truc."""
    summary = np.empty(STATE_COLUMNS, np.float32)
    k = 0
    for i in range(observation.shape[0]):
        row = row_of(observation, i)
        lying = lying_class(row)
        fill_summary(row, lying, summary)
        copy_row(summary, row_of(values, i), 0)
        if secrets.shape[1] > 0:
            fill_critic(row, lying, row_of(secrets, i), summary, row_of(critic, i))
        column = 0
        for action in range(mask.shape[1]):
            if mask[i, action]:
                fill_action(row, lying, action, summary, row_of(actions, k))
                rows[k], columns[k], ids[k] = i, column, action
                k += 1
                column += 1


@njit(cache=True)
def play_class(row: Any, play: Any) -> Any:
    """Class of a play, NONE if it isn't made or isn't seen."""
    return CLASS_OF[2 * np.int64(row[PLAY_SUM + play]) + np.int64(row[PLAY_DOUBLE + play])]


@njit(cache=True)
def lying_class(row: Any) -> Any:
    """Class of the tile that lies open in this trick, or NONE."""
    tricks = 0
    for trick in range(3):
        tricks += 1 if row[WON + trick] > 0 else 0
    return play_class(row, 2 * tricks) if tricks < 3 else np.int64(NONE)


@njit(cache=True)
def fill_results(result: Any, out: Any, at: Any) -> None:
    """One-hot: mine, his, tied."""
    out[at] = result == MINE
    out[at + 1] = result == HIS
    out[at + 2] = result == TIED


@njit(cache=True)
def fill_summary(row: Any, lying: Any, out: Any) -> None:
    """What is known before any action is looked at."""
    beats, ties = np.float32(0), np.float32(0)
    for kind in range(CLASSES):
        count = np.float32(row[HAND_CLASSES + kind])
        out[kind] = count
        out[CLASSES + kind] = lying == kind
        beats += count if GOES[kind, lying] == MINE else np.float32(0)
        ties += count if GOES[kind, lying] == TIED else np.float32(0)
    at = fill_plays(row, out, 2 * CLASSES)
    for phase in range(5):
        out[at + phase] = row[PHASE] == phase + 1
    at += 5
    out[at] = row[LEADER] == MINE
    out[at + 1] = row[DEALER]
    out[at + 2] = row[PROPOSED]
    out[at + 3] = row[REJECTED]
    out[at + 4] = row[REDEALS] * THIRD
    out[at + 5] = row[REDEALS_LEFT] * THIRD
    at = fill_score(row, out, at + 6)
    out[at] = beats * THIRD
    out[at + 1] = ties * THIRD
    out[at + 2] = unseen_power(row)


@njit(cache=True)
def fill_plays(row: Any, out: Any, at: Any) -> Any:
    """The plays and the tricks; returns the index behind them."""
    for play in range(TRUC_PLAYS):
        seat = row[PLAY_BY + play]
        out[at + play] = seat == MINE
        out[at + TRUC_PLAYS + play] = seat == HIS
        out[at + 2 * TRUC_PLAYS + play] = CLASS_POWER[play_class(row, play)]
        out[at + 3 * TRUC_PLAYS + play] = row[PLAY_DOUBLE + play]
        out[at + 4 * TRUC_PLAYS + play] = row[PLAY_CALLED + play]
    at += 5 * TRUC_PLAYS
    for trick in range(3):
        won = row[WON + trick]
        out[at + trick] = won == MINE
        out[at + 3 + trick] = won == HIS
        out[at + 6 + trick] = won == TIED
    return at + 9


@njit(cache=True)
def fill_score(row: Any, out: Any, at: Any) -> Any:
    """The multiplier and the points to go; returns the index behind them."""
    multiplier = np.int64(row[MULTIPLIER])
    for doubling in range(DOUBLINGS):
        out[at + doubling] = multiplier == 1 << doubling
    at += DOUBLINGS
    for seat in range(2):
        to_go = np.int64(row[TARGET]) - np.int64(row[SCORES + seat])
        near: Any = min(to_go, FAR)
        out[at + seat] = near / np.float32(FAR)
        out[at + 2 + seat] = to_go <= multiplier
        out[at + 4 + seat] = to_go <= 2 * multiplier
    return at + 6


@njit(cache=True)
def unseen_power(row: Any) -> Any:
    """Mean strength of the tiles that the observer hasn't seen."""
    rest, count = ALL_POWER, np.float32(TILE_COUNT)
    for tile in range(TILE_COUNT):
        laid = 1 if row[PLAYED_AT + tile] > 0 else 0
        seen = np.float32(row[HAND + tile] + row[DISCARDS + tile] + laid)
        rest -= seen * TILE_POWER[tile]
        count -= seen
    return rest / max(count, np.float32(1))


@njit(cache=True)
def fill_action(row: Any, lying: Any, action: Any, summary: Any, out: Any) -> None:
    """What the policy reads about a legal action, and the summary."""
    at = copy_row(row_of(FIXED, action), out, 0)
    kind = ACTION_CLASS[action]
    goes = GOES[kind, lying]
    fill_results(goes, out, at)
    verdict = LATEST[np.int64(row[WON]), np.int64(row[WON + 1]), goes]
    fill_results(verdict, out, at + 3)
    at += 6
    for k in range(CLASSES):
        out[at + k] = row[HAND_CLASSES + k]
    if kind != NONE:
        out[at + kind] -= np.float32(1)
    copy_row(summary, out, at + CLASSES)


@njit(cache=True)
def fill_critic(row: Any, lying: Any, secrets: Any, summary: Any, out: Any) -> None:
    """What the critic reads: the summary, his tiles, the call's, and how they compare."""
    at = copy_row(summary, out, 0)
    for k in range(2 * CLASSES):
        out[at + k] = np.float32(0)
    his, called = np.int64(secrets[1]), np.int64(secrets[2])
    face_down = np.int64(NONE)
    won, lost = np.float32(0), np.float32(0)
    beats, ties = np.float32(0), np.float32(0)
    for tile in range(TILE_COUNT):
        kind = CLASS[tile]
        if called >> tile & 1:
            out[at + CLASSES + kind] = np.float32(1)
            face_down = kind
        if his >> tile & 1:
            out[at + kind] += np.float32(1)
            beats += np.float32(1) if GOES[kind, lying] == MINE else np.float32(0)
            ties += np.float32(1) if GOES[kind, lying] == TIED else np.float32(0)
            for mine in range(CLASSES):
                count = np.float32(row[HAND_CLASSES + mine])
                won += count if GOES[mine, kind] == MINE else np.float32(0)
                lost += count if GOES[mine, kind] == HIS else np.float32(0)
    at += 2 * CLASSES
    fill_results(GOES[face_down, lying], out, at)
    out[at + 3] = won * NINTH
    out[at + 4] = lost * NINTH
    out[at + 5] = beats * THIRD
    out[at + 6] = ties * THIRD
