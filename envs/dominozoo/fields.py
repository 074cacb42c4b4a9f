"""The observation as a table of named fields: the one place that knows its layout.

The observation spaces, the kernels that fill them, the one-hot expansion, the exported contract
and the documentation all read these tables. Everything is relative to the observing seat: seat 0
is the observer, then in playing order.

A field's ``kind`` says how it becomes float columns:

* ``flag``: 0 or 1, one column;
* ``category``: 0 = none, else one of ``high`` cases, one column for each case;
* ``scaled``: a number, one column, divided by ``scale``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dominozoo.tiles import NUMBERS, TILE_COUNT

SEATS: Final = 4
ARMS: Final = 4
MAX_PLY: Final = 127


@dataclass(frozen=True, slots=True)
class Field:
    """One named piece of an observation.

    Attributes:
        name: its name, unique in the table.
        shape: its shape before it is laid flat into the vector, in C order.
        high: the largest value of an entry; the smallest is 0.
        kind: ``flag``, ``category`` or ``scaled``.
        meaning: what an entry says.
        scale: divisor of a ``scaled`` entry.
    """

    name: str
    shape: tuple[int, ...]
    high: int
    kind: str
    meaning: str
    scale: int = 1

    @property
    def size(self) -> int:
        """Number of entries in the vector."""
        return math.prod(self.shape)

    @property
    def columns(self) -> int:
        """Number of columns of the field in the one-hot expansion."""
        return self.size * (self.high if self.kind == "category" else 1)


@dataclass(frozen=True)
class Layout:
    """A version of an observation: its fields in order.

    Attributes:
        name: ``line`` or ``truc``.
        version: goes up with any change of a field's place or meaning.
        fields: the fields, in the order of the vector.
    """

    name: str
    version: int
    fields: tuple[Field, ...]

    @cached_property
    def size(self) -> int:
        """Length of the observation vector."""
        return sum(f.size for f in self.fields)

    @cached_property
    def columns(self) -> int:
        """Number of float columns of the one-hot expansion."""
        return sum(f.columns for f in self.fields)

    def offset(self, name: str) -> int:
        """Index of a field's first entry in the vector; KeyError for an unknown name."""
        at = 0
        for f in self.fields:
            if f.name == name:
                return at
            at += f.size
        raise KeyError(name)

    def high(self) -> npt.NDArray[np.int16]:
        """The largest value of each entry, int16 vector of length ``size``; the smallest is 0."""
        return np.concatenate([np.full(f.size, f.high, np.int16) for f in self.fields])

    def split(self, observation: npt.NDArray[Any]) -> dict[str, npt.NDArray[Any]]:
        """Views of the named fields: (..., size) becomes (..., *shape of the field) by name.

        Raises:
            ValueError: if the last axis isn't ``size`` long.
        """
        self._check(observation)
        lead, at = observation.shape[:-1], 0
        parts: dict[str, npt.NDArray[Any]] = {}
        for f in self.fields:
            parts[f.name] = observation[..., at : at + f.size].reshape(*lead, *f.shape)
            at += f.size
        return parts

    def expand(self, observation: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
        """Expand to the one-hot form: (..., size) integers to (..., columns) float32.

        Raises:
            ValueError: if the last axis isn't ``size`` long.
        """
        self._check(observation)
        lead, at = observation.shape[:-1], 0
        pieces: list[npt.NDArray[np.float32]] = []
        for f in self.fields:
            part = observation[..., at : at + f.size]
            at += f.size
            if f.kind == "category":
                cases = np.arange(1, f.high + 1, dtype=part.dtype)
                hot = (part[..., None] == cases).astype(np.float32)
                pieces.append(hot.reshape(*lead, f.columns))
            else:
                pieces.append((part / np.float32(f.scale)).astype(np.float32))
        return np.concatenate(pieces, axis=-1)

    def _check(self, observation: npt.NDArray[Any]) -> None:
        shape = np.shape(observation)
        if shape[-1:] != (self.size,):
            raise ValueError(
                f"observation: the layout {self.name!r} has shape (..., {self.size}), not {shape}"
            )


def _flag(name: str, meaning: str, *shape: int) -> Field:
    return Field(name, shape or (1,), 1, "flag", meaning)


def _scaled(name: str, high: int, scale: int, meaning: str, *shape: int) -> Field:
    return Field(name, shape or (1,), high, "scaled", meaning, scale)


def _category(name: str, high: int, meaning: str, *shape: int) -> Field:
    return Field(name, shape or (1,), high, "category", meaning)


LINE_LAYOUT: Final = Layout(
    "line",
    1,
    (
        _flag("hand", "the observer holds this tile", TILE_COUNT),
        _category("laid_by", SEATS, "who laid this tile: 1 + relative seat", TILE_COUNT),
        _scaled("laid_at", MAX_PLY, 32, "the ply that laid this tile, from 1", TILE_COUNT),
        _category("ends", NUMBERS, "number + 1 at each open end", ARMS),
        _flag("locked", "this French arm takes only its double", ARMS),
        _flag("lacks", "this seat holds no tile of this number", SEATS, NUMBERS),
        _flag("lacks_double", "French: this seat lacks this double", SEATS, NUMBERS),
        _scaled("sizes", TILE_COUNT, 7, "tiles held by each seat", SEATS),
        _scaled("boneyard", 14, 7, "tiles left in the boneyard"),
        _scaled("scores", 32767, 100, "score of each seat's side", SEATS),
        _scaled("target", 1000, 100, "points that end the match"),
        _scaled("stake", 32767, 2, "points that this hand is worth"),
        _flag("decider", "this hand decides a replayed 1-1"),
        _flag("by_rule", "the hand was opened by rule, not by a previous winner"),
        _category("turn", SEATS, "who is to move: 1 + relative seat"),
        _scaled("ply", MAX_PLY, 32, "plies made in this hand"),
        _category("players", SEATS, "number of seats"),
        _flag("pairs", "seats 0 and 2 are partners, and 1 and 3"),
        _flag("draw", "a stuck player draws"),
        _flag("cross", "French: four arms"),
        _flag("no_blank", "the set lacks 0-0"),
        _flag("pair_totals", "a block compares the pairs' totals"),
        _flag("always_by_rule", "every hand is opened by rule"),
        _flag("informal", "the opener by rule poses any tile"),
        _flag("team_poser", "the poser may leave the pose to his partner"),
        _category(
            "scoring", 2, "a hand scores: 0 wins, 1 pips of the others, 2 own pips as penalty"
        ),
        _category("tie", 3, "a tied block: 0 resets, 1 void, 2 escalates, 3 makes the stake 2"),
        _flag("decider_rule", "a hand that would make it 1-1 is replayed"),
        _flag("leader_loss", "the leader's loss breaks the run"),
        _flag("bruck_end", "a broken run ends the match"),
        _flag("key_card", "a key card counts 2"),
    ),
)

# The whole table for a centralised critic: absolute seats, that is `LINE_LAYOUT` as seat 0 sees it,
# with everybody's tiles.
LINE_STATE_LAYOUT: Final = Layout(
    "line_state",
    1,
    (
        _flag("hands", "this seat holds this tile", SEATS, TILE_COUNT),
        *LINE_LAYOUT.fields[1:],
        _category(
            "drawing", TILE_COUNT, "id + 1 of each boneyard tile, the next to draw first", 14
        ),
    ),
)

TRUC_PLAYS: Final = 6

# A tile that has been played stands twice: `played_at` says which it is, the fields by play say
# what matters of it, its sum and whether it is a double. Two tiles alike in both are worth the same.
TRUC_LAYOUT: Final = Layout(
    "truc",
    1,
    (
        _flag("hand", "the observer holds this tile", TILE_COUNT),
        _scaled("hand_classes", 3, 1, "tiles held of each sum, doubles apart, strongest first", 15),
        _flag("discards", "the observer discarded this tile in an exchange", TILE_COUNT),
        _scaled("played_at", TRUC_PLAYS, 6, "the play that laid this tile, from 1", TILE_COUNT),
        _category("play_sum", 10, "sum of each tile played: 1 = 12, ... 9 = 4, 10 = 0", TRUC_PLAYS),
        _flag("play_double", "this play was a double, 0-0 included", TRUC_PLAYS),
        _category("play_by", 2, "who made this play: 1 me, 2 the other", TRUC_PLAYS),
        _flag("play_called", "this play was made face down with a call", TRUC_PLAYS),
        _category("won", 3, "who won each trick: 1 me, 2 the other, 3 tied", 3),
        _category("phase", 5, "1 exchange, 2 answer, 3 lead, 4 follow, 5 call"),
        _category("turn", 2, "who is to move: 1 me, 2 the other"),
        _category("leader", 2, "who leads this trick"),
        _category("call_by", 2, "whose call waits for an answer, or was refused at the end"),
        _flag("dealer", "the observer is the dealer"),
        _flag("proposed", "there was a proposal in this hand"),
        _flag("rejected", "a proposal was rejected"),
        _category("redeals", 3, "exchanges made in this hand"),
        _category("redeals_left", 3, "exchanges still allowed"),
        _scaled("multiplier", 32, 8, "what the hand is worth: 1, 2, ... 32"),
        _scaled("scores", 32767, 30, "scores: mine, the other's", 2),
        _scaled("target", 1000, 30, "points that end the match"),
    ),
)

# Le Truc's counterpart of `LINE_STATE_LAYOUT`: absolute seats, a tile face down is seen.
TRUC_STATE_LAYOUT: Final = Layout(
    "truc_state",
    1,
    (
        _flag("hands", "this seat holds this tile", 2, TILE_COUNT),
        _flag("discards", "this seat discarded this tile", 2, TILE_COUNT),
        *TRUC_LAYOUT.fields[3:],
        _category("drawing", TILE_COUNT, "slot + 1 of each stock tile, the next to deal first", 22),
    ),
)
