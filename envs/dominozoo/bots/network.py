"""The policy network in NumPy: a trained bot plays without torch.

The same arithmetic as the exported graph, from the same weights, but on the legal actions alone.
Here stands what the line games' networks look at; ``truc_network`` has Le Truc's. A row for each number 0..6 says how many tiles of it the observer holds, lie on the table, are
unseen and could be in each seat's hand; an action is described by the rows of the numbers that it
touches. What each column means is told in the bundle's contract; tests hold this module, the
graph and the trained policy equal. Batches are computed here, single positions, for which NumPy's calls
cost more than their work, by ``one_line`` and ``one_truc``.
"""

from __future__ import annotations

import functools
import math
import struct
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from dominozoo.bots import one_line, one_truc
from dominozoo.bots.truc_network import TrucShape
from dominozoo.fields import LINE_LAYOUT, SEATS, Layout
from dominozoo.tiles import HIGH, LOW, NUMBERS, PIPS, TILE_COUNT

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]

ARCHITECTURE: Final = "line-afterstate/1"
BY_SEAT: Final = ("lacks", "lacks_double", "sizes", "scores")
BY_END: Final = ("ends", "locked")


def _has_number() -> Floats:
    has = np.zeros((TILE_COUNT, NUMBERS), np.float32)
    has[np.arange(TILE_COUNT), HIGH] = 1
    has[np.arange(TILE_COUNT), LOW] = 1
    return has


IS_DOUBLE: Final = (HIGH == LOW).astype(np.float32)
HAS_NUMBER: Final = _has_number()
TILE_PIPS: Final = PIPS.astype(np.float32)
# What an end takes: row 0 no end, 1..7 the number 0..6, 8..14 the same number on a locked arm.
FITS: Final = np.concatenate(
    [np.zeros((1, TILE_COUNT), np.float32), HAS_NUMBER.T, HAS_NUMBER.T * IS_DOUBLE]
)
# Drawing and passing act on "tile 28", which is none.
ONE_TILE: Final = np.eye(TILE_COUNT + 1, TILE_COUNT, dtype=np.float32)
PIPS_OF: Final = np.append(TILE_PIPS, np.float32(0))
DOUBLE: Final = np.append(IS_DOUBLE, np.float32(0))
HIGH_OF: Final = np.append(HIGH, 0)
LOW_OF: Final = np.append(LOW, 0)


class Shape(NamedTuple):
    """What a line game's network looks at: open ends (2, French 4) and seats (2..4)."""

    ends: int
    seats: int

    @property
    def layout(self) -> Layout:
        """The observation's fields."""
        return LINE_LAYOUT

    @property
    def action_count(self) -> int:
        """Size of the action space: 58, French 114."""
        return self.ends * TILE_COUNT + 2

    @property
    def score_columns(self) -> int:
        """Columns that the score of an action reads."""
        return self.action_columns + self.state_columns

    @property
    def value_columns(self) -> int:
        """Columns that the value reads."""
        return self.state_columns + (NUMBERS + self.ends) * self.number_columns

    @property
    def number_columns(self) -> int:
        """Columns of a number's row."""
        return 3 + self.seats * (2 + (self.ends == 4)) + self.seats - 1

    @property
    def state_columns(self) -> int:
        """Columns of ``State.summary``."""
        return 3 * self.seats + 6 + self.seats - 1

    @property
    def action_columns(self) -> int:
        """Columns of a described action, without the summary."""
        return 3 * self.number_columns + 9 + 3 * (self.seats - 1)

    def state(self, observation: npt.NDArray[Any]) -> State:
        """Read observations: integers (B, 178)."""
        return read_state(observation, self, slices(self))

    def score_inputs(self, state: State, rows: Ints, actions: Ints) -> Floats:
        """What the score of action ``actions[k]`` of row ``rows[k]`` reads, (K, score_columns)."""
        return np.concatenate([describe(state, rows, actions), state.summary[rows]], axis=1)

    def value_inputs(self, state: State) -> Floats:
        """What the value reads, (B, value_columns)."""
        rows = len(state.hand)
        open_rows = state.numbers[np.arange(rows)[:, None], state.marks]
        parts = [state.summary, state.numbers[:, 1:].reshape(rows, -1), open_rows.reshape(rows, -1)]
        return np.concatenate(parts, axis=1)


Looks = Shape | TrucShape  # what a network may look at, one kind for each family of games


@functools.cache
def slices(shape: Shape) -> dict[str, slice]:
    """Where the fields stand in an observation; by seat for the shape's seats alone."""
    found: dict[str, slice] = {}
    for f in LINE_LAYOUT.fields:
        at = LINE_LAYOUT.offset(f.name)
        whole = f.size * shape.seats // SEATS if f.name in BY_SEAT else f.size
        found[f.name] = slice(at, at + (shape.ends if f.name in BY_END else whole))
    return found


class State(NamedTuple):
    """What observations say before any action is looked at; B rows, float32 but for the marks."""

    hand: Floats  # (B, 28)
    marks: Ints  # (B, ends), number + 1 at each open end, 0 = none
    locked: Ints  # (B, ends)
    candidates: Floats  # (B, seats - 1, 28), 1 = that other seat could hold the tile
    numbers: Floats  # (B, 8, number_columns), row 0 is no number
    sizes: Floats  # (B, seats)
    summary: Floats  # (B, state_columns)


def read_state(observation: npt.NDArray[Any], shape: Shape, at: Mapping[str, slice]) -> State:
    """Read observations: integers (B, 178); ``at`` are the shape's slices."""
    seen = observation.astype(np.float32)
    hand, laid_by, sizes = seen[:, at["hand"]], seen[:, at["laid_by"]], seen[:, at["sizes"]]
    lacks = seen[:, at["lacks"]].reshape(-1, shape.seats, NUMBERS)
    laid = (laid_by > 0).astype(np.float32)
    unseen = 1 - hand - laid - seen[:, at["no_blank"]] * ONE_TILE[0]
    ruled_out = lacks[:, 1:] @ HAS_NUMBER.T
    known = [lacks]
    if shape.ends == 4:
        doubles = seen[:, at["lacks_double"]].reshape(-1, shape.seats, NUMBERS)
        ruled_out = ruled_out + doubles[:, 1:] @ HAS_NUMBER.T * IS_DOUBLE
        known.append(doubles)
    candidates = unseen[:, None] * ((ruled_out == 0) & (sizes[:, 1:, None] > 0))
    by_seat = laid_by[:, None] == np.arange(1, shape.seats + 1)[:, None]
    counts = np.concatenate(
        [hand[:, None], laid[:, None], unseen[:, None], by_seat, candidates], axis=1
    )
    numbers = np.zeros((len(seen), NUMBERS + 1, shape.number_columns), np.float32)
    columns = np.concatenate([counts @ HAS_NUMBER / NUMBERS, *known], axis=1)
    numbers[:, 1:] = columns.transpose(0, 2, 1)
    return State(
        hand=hand,
        marks=observation[:, at["ends"]].astype(np.int64),
        locked=observation[:, at["locked"]].astype(np.int64),
        candidates=candidates,
        numbers=numbers,
        sizes=sizes,
        summary=_summary(seen, at, hand, sizes, candidates),
    )


def _summary(
    seen: Floats, at: Mapping[str, slice], hand: Floats, sizes: Floats, candidates: Floats
) -> Floats:
    pool = np.maximum(candidates.sum(axis=2), 1)
    columns: Floats = np.concatenate(
        [
            sizes / 7,
            seen[:, at["scores"]] / seen[:, at["target"]],
            sizes == 1,
            seen[:, at["boneyard"]] / 14,
            seen[:, at["stake"]] / 2,
            seen[:, at["decider"]],
            seen[:, at["by_rule"]],
            seen[:, at["ply"]] / 32,
            (hand @ TILE_PIPS)[:, None] / 42,
            candidates @ TILE_PIPS / pool * sizes[:, 1:] / 42,
        ],
        axis=1,
        dtype=np.float32,
    )
    return columns


def describe(state: State, rows: Ints, actions: Ints) -> Floats:
    """Describe actions by what they lead to: action ``actions[k]`` of row ``rows[k]``.

    Returns:
        (K, action_columns) float32.
    """
    ends = state.marks.shape[1]
    is_tile = (actions < ends * TILE_COUNT).astype(np.int64)
    tile = np.where(is_tile, actions % TILE_COUNT, TILE_COUNT)
    end = actions // TILE_COUNT * is_tile
    high, low = HIGH_OF[tile], LOW_OF[tile]
    covered = state.marks[rows, end] * is_tile
    begins = (covered == 0) * is_tile
    left = np.where(begins, high + 1, high + low + 2 - covered) * is_tile
    left = np.minimum(np.maximum(left, 0), NUMBERS)  # a tile that doesn't fit leaves no number
    after, kinds = _after(state, rows, end, left, low, begins, is_tile)
    touch = FITS[kinds[:, 0]]
    for other in range(1, ends):
        touch = np.maximum(touch, FITS[kinds[:, other]])
    rest = state.hand[rows] - ONE_TILE[tile]
    own = (rest * touch).sum(axis=1)
    held = rest.sum(axis=1)
    at_left = state.numbers[rows, left]
    width = at_left.shape[1]
    out = np.empty((len(rows), 3 * width + 9 + 3 * state.candidates.shape[1]), np.float32)
    out[:, :width] = at_left
    out[:, width : 2 * width] = state.numbers[rows, covered]
    out[:, 2 * width : 3 * width] = state.numbers[rows[:, None], after].sum(axis=1) - at_left
    plain = out[:, 3 * width :]
    plain[:, 0] = is_tile
    plain[:, 1] = PIPS_OF[tile] / 12
    plain[:, 2] = DOUBLE[tile]
    plain[:, 3] = own / 7
    plain[:, 4] = own == 0
    plain[:, 5] = own / np.maximum(held, 1)
    plain[:, 6] = held == 0
    plain[:, 7] = rest @ TILE_PIPS / 42
    plain[:, 8] = after[:, 0] == after[:, 1]
    _chances(state, rows, touch, plain[:, 9:])
    return out


def _after(
    state: State, rows: Ints, end: Ints, left: Ints, low: Ints, begins: Ints, is_tile: Ints
) -> tuple[Ints, Ints]:
    """The ends that the actions leave: marks and rows of ``FITS``, both (K, ends)."""
    after, locked = state.marks[rows], state.locked[rows]
    ends = after.shape[1]
    here = (np.arange(ends) == end[:, None]) & (is_tile > 0)[:, None]
    after = np.where(here, left[:, None], after)
    locked = np.where(here, 0, locked)
    if ends == 2:
        # A pose opens the right end too, with its lower number.
        after[:, 1] = np.where(begins & ~here[:, 1], low + 1, after[:, 1])
    else:
        # A French arm begins locked.
        locked = np.where(here & (begins > 0)[:, None], 1, locked)
    return after, after + NUMBERS * locked * (after > 0)


def _chances(state: State, rows: Ints, touch: Floats, out: Floats) -> None:
    """Per other seat: tiles that could answer, chance of none, chance that it is stuck next."""
    candidates = state.candidates[rows]
    others = candidates.shape[1]
    answers = (candidates * touch[:, None]).sum(axis=2)
    pool = np.maximum(candidates.sum(axis=2), 1)
    sizes = state.sizes[rows, 1:]
    free = np.maximum(1 - answers / pool, np.float32(1e-3))
    stuck = np.exp(sizes * np.log(free)) * (sizes > 0)
    out[:, :others] = answers / 7
    out[:, others : 2 * others] = stuck
    out[:, 2 * others :] = stuck * (sizes <= 2)


class Network:
    """The policy network of a bot.

    Args:
        weights: float32 arrays by name, ``score.N.weight`` (out, in), ``score.N.bias`` (out,) and
            the same under ``worth``; N counts up by 2.
        shape: what the network looks at.

    Raises:
        ValueError: if names or shapes are not those of the network.
    """

    def __init__(self, weights: Mapping[str, npt.NDArray[Any]], shape: Looks) -> None:
        self.shape = shape
        self.score = _layers(weights, "score", shape.score_columns)
        self.worth = _layers(weights, "worth", shape.value_columns)
        self._one: Any = one_truc if isinstance(shape, TrucShape) else one_line
        self._look: Callable[[npt.NDArray[Any]], Any] = (
            one_truc.look
            if isinstance(shape, TrucShape)
            else functools.partial(one_line.look, ends=shape.ends, seats=shape.seats)
        )
        unknown = sorted(w for w in weights if w.split(".")[0] not in ("score", "worth"))
        if unknown:
            raise ValueError(f"unknown weights {unknown[0]!r}")

    def evaluate(
        self, observation: npt.NDArray[Any], mask: npt.NDArray[Any]
    ) -> tuple[Floats, Floats]:
        """Probabilities and values.

        Args:
            observation: (B, layout size) integers.
            mask: (B, actions) integers, 1 = legal, at least one a row.

        Returns:
            (B, actions) float32, exactly 0 where illegal; (B,) float32.
        """
        if len(observation) == 1:
            sight = self._look(observation[0])
            chances = self._chances_of_one(sight, mask[0].nonzero()[0].tolist(), mask.shape[1])
            return chances, self._value_of_one(sight)
        state = self.shape.state(observation)
        return self._chances(state, mask), self._value(state)

    def probabilities(self, observation: npt.NDArray[Any], mask: npt.NDArray[Any]) -> Floats:
        """Probabilities as :meth:`evaluate` gives them, (B, actions) float32."""
        if len(observation) == 1:
            actions, count = mask[0].nonzero()[0].tolist(), mask.shape[1]
            sight = self._look(observation[0]) if len(actions) > 1 else None
            return self._chances_of_one(sight, actions, count)
        return self._chances(self.shape.state(observation), mask)

    def value(self, observation: npt.NDArray[Any]) -> Floats:
        """Expected reward of this hand for the observer, (B,) float32."""
        if len(observation) == 1:
            return self._value_of_one(self._look(observation[0]))
        return self._value(self.shape.state(observation))

    def _chances(self, state: Any, mask: npt.NDArray[Any]) -> Floats:
        rows, actions = np.nonzero(mask)
        logits = np.full(mask.shape, -np.inf, np.float32)
        logits[rows, actions] = _run(self.score, self.shape.score_inputs(state, rows, actions))
        weights = np.exp(logits - logits.max(axis=1, keepdims=True))
        probabilities: Floats = weights / weights.sum(axis=1, keepdims=True)
        return probabilities

    def _value(self, state: Any) -> Floats:
        return _run(self.worth, self.shape.value_inputs(state))

    def _chances_of_one(self, sight: Any, actions: list[int], count: int) -> Floats:
        """The same of one position, (1, count), by its legal actions; one alone needs no sight."""
        found = np.zeros(count, np.float32)
        if len(actions) == 1:
            found[actions[0]] = 1
            return found[None]
        columns = self._one.score_columns(sight, actions)
        logits = _run(self.score, _rows(columns, len(actions))).tolist()
        most = max(logits)
        weights = [math.exp(logit - most) for logit in logits]
        whole = sum(weights)
        for action, weight in zip(actions, weights, strict=True):
            found[action] = weight / whole
        return found[None]

    def _value_of_one(self, sight: Any) -> Floats:
        return _run(self.worth, _rows(self._one.value_columns(sight), 1))


def _rows(columns: list[float], count: int) -> Floats:
    """Numbers as float32 rows; a third of the time that NumPy takes to read a list."""
    packed = struct.pack(f"{len(columns)}f", *columns)
    return np.frombuffer(packed, np.float32).reshape(count, -1)


def _layers(
    weights: Mapping[str, npt.NDArray[Any]], name: str, inputs: int
) -> list[tuple[Floats, Floats]]:
    """The layers under a name as (in, out) matrix and bias, checked against each other."""
    found = sorted({int(w.split(".")[1]) for w in weights if _belongs(w, name)})
    if not found or found != list(range(0, 2 * len(found), 2)):
        raise ValueError(f"the layers of {name!r} are not numbered 0, 2, 4, ...")
    layers: list[tuple[Floats, Floats]] = []
    for k in found:
        weight, bias = weights.get(f"{name}.{k}.weight"), weights.get(f"{name}.{k}.bias")
        if weight is None or bias is None:
            raise ValueError(f"layer {name}.{k} lacks its weight or its bias")
        if weight.ndim != 2 or weight.shape[1] != inputs or bias.shape != weight.shape[:1]:
            raise ValueError(
                f"layer {name}.{k} must take {inputs} columns; "
                f"weight {weight.shape}, bias {bias.shape}"
            )
        layers.append((np.ascontiguousarray(weight.T, np.float32), bias.astype(np.float32)))
        inputs = len(bias)
    if inputs != 1:
        raise ValueError(f"{name!r} must end in one number, not {inputs}")
    return layers


def _belongs(weight: str, name: str) -> bool:
    parts = weight.split(".")
    mine = len(parts) == 3 and parts[0] == name and parts[2] in ("weight", "bias")
    if parts[0] == name and not (mine and parts[1].isascii() and parts[1].isdigit()):
        raise ValueError(f"unknown weights {weight!r}")
    return mine


def _run(layers: list[tuple[Floats, Floats]], values: npt.NDArray[Any]) -> Floats:
    """A ReLU network: float32 (K, in) to (K,)."""
    out = values
    for weight, bias in layers[:-1]:
        out = out.dot(weight)
        out += bias
        np.maximum(out, 0, out=out)
    weight, bias = layers[-1]
    last: Floats = out.dot(weight)[:, 0] + bias
    return last
