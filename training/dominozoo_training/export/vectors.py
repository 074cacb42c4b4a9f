"""Test vectors: positions of real games with what the policy answers, one JSON object a line.

Who feeds a policy wrongly seldom sees it by the moves, but always by the probabilities.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dominozoo.bots.archive import VECTORS, BundleError, read_json
from dominozoo.bots.bundle import Bundle
from dominozoo.notation import mask_from_view, observation_from_view
from dominozoo.rules import Rules
from dominozoo.tiles import TILE_COUNT
from dominozoo_training.export.positions import matches
from dominozoo_training.export.readers import Reader

DIGITS: Final = 7
MOST_VECTORS: Final = 4096
LONGEST: Final = 1 << 16  # characters of a line
FEWEST: Final = 64  # fewer prove little
CANDIDATES: Final = 6  # positions played for each that is kept


@dataclass
class Vectors:
    """Positions with a policy's answers.

    Attributes:
        observation: int16 (N, layout size).
        mask: int8 (N, actions).
        probabilities: float32 (N, actions), 0 where illegal.
        value: float32 (N,).
        views: N views of the seat to move, or None where a vector has none.
    """

    observation: npt.NDArray[np.int16]
    mask: npt.NDArray[np.int8]
    probabilities: npt.NDArray[np.float32]
    value: npt.NDArray[np.float32]
    views: list[dict[str, Any] | None]

    def __len__(self) -> int:
        return len(self.observation)


Case = tuple[npt.NDArray[np.int16], npt.NDArray[np.int8], dict[str, Any]]


def vectors(rules: Rules, reader: Reader, count: int, seed: int = 0) -> Vectors:
    """Vectors of a policy, spread over every kind of position that its game has.

    The positions depend on game, count and seed alone.
    """
    return answers(choose(play(rules, count * CANDIDATES, seed), count), reader)


def answers(cases: list[Case], reader: Reader) -> Vectors:
    """What a reader says of some positions."""
    observation = np.stack([case[0] for case in cases])
    mask = np.stack([case[1] for case in cases])
    probabilities, value = reader.evaluate(observation, mask)
    views: list[dict[str, Any] | None] = [case[2] for case in cases]
    return Vectors(observation, mask, probabilities, value, views)


def play(rules: Rules, count: int, seed: int) -> list[Case]:
    """The first positions of :func:`matches`."""
    cases: list[Case] = []
    for table, seat, _ in matches(rules, seed):
        if len(cases) == count:
            break
        observation, mask = table.observe(seat)
        cases.append((observation, mask, table.view(seat)))
    return cases


def choose(cases: list[Case], count: int) -> list[Case]:
    """Some of the cases, in turn from each kind of position, in the order in which they came."""
    kinds: dict[tuple[Any, ...], list[int]] = {}
    for k, case in enumerate(cases):
        kinds.setdefault(kind(case), []).append(k)
    queues = [kinds[key] for key in sorted(kinds)]
    taken: list[int] = []
    while len(taken) < count:
        for queue in queues:
            if queue and len(taken) < count:
                taken.append(queue.pop(0))
    return [cases[k] for k in sorted(taken)]


def kind(case: Case) -> tuple[Any, ...]:
    """What a position is an example of: phase, kinds of legal moves, stage of hand and match.

    Le Truc's calls stand where the line games have the right end, its answers where they draw and
    pass.
    """
    _, mask, view = case
    ends = len(mask) // TILE_COUNT
    plays = mask[: ends * TILE_COUNT].reshape(ends, TILE_COUNT)
    moves = (min(int(plays.sum()), 3), int(mask[-2]), int(mask[-1]), int(plays.sum(0).max() > 1))
    worth = view["stake"] * view.get("multiplier", 1)
    stage = (len(view["events"]) > 8, any(view["scores"]), worth > 1)
    return (view["phase"], moves, stage, bool(view["passes"]))


def as_objects(found: Vectors) -> list[dict[str, Any]]:
    """Vectors as JSON types; ``probabilities`` are those of the mask's ones, in order."""
    objects = []
    for k in range(len(found)):
        legal = found.probabilities[k][found.mask[k] == 1]
        objects.append(
            {
                "observation": found.observation[k].tolist(),
                "mask": found.mask[k].tolist(),
                "probabilities": [round(p, DIGITS) for p in legal.astype(np.float64).tolist()],
                "value": round(float(found.value[k]), DIGITS),
                "view": found.views[k],
            }
        )
    return objects


def as_lines(found: Vectors) -> bytes:
    """Vectors as JSON lines."""
    lines = [json.dumps(vector, separators=(",", ":")) + "\n" for vector in as_objects(found)]
    return "".join(lines).encode()


def read_vectors(data: bytes, bundle: Bundle) -> Vectors:
    """Read and check a bundle's vectors.

    Raises:
        BundleError: naming the vector and what is wrong with it.
    """
    lines = data.splitlines()
    if not FEWEST <= len(lines) <= MOST_VECTORS:
        raise BundleError(f"{VECTORS}: {len(lines)} vectors; {FEWEST}..{MOST_VECTORS} are taken")
    for k, line in enumerate(lines):
        if len(line) > LONGEST:
            raise BundleError(f"{VECTORS}: vector {k} is longer than {LONGEST} bytes")
    name = f"{VECTORS}: vector"
    return read_objects([read_json(x, f"{name} {k}") for k, x in enumerate(lines)], bundle, name)


def read_objects(objects: list[Any], bundle: Bundle, name: str) -> Vectors:
    """Check vectors as JSON types; BundleError with ``name`` and the number of a wrong one."""
    shape = (len(objects), bundle.action_count)
    found = Vectors(
        np.zeros((len(objects), bundle.shape.layout.size), np.int16),
        np.zeros(shape, np.int8),
        np.zeros(shape, np.float32),
        np.zeros(len(objects), np.float32),
        [None] * len(objects),
    )
    high = bundle.shape.layout.high()
    for k, vector in enumerate(objects):
        try:
            _read_vector(vector, found, k, high)
        except ValueError as error:
            raise BundleError(f"{name} {k}: {error}") from None
    return found


def _read_vector(vector: Any, found: Vectors, k: int, high: npt.NDArray[np.int16]) -> None:
    if not isinstance(vector, dict):
        raise ValueError("it must be an object")
    found.observation[k] = _whole(vector, "observation", high)
    found.mask[k] = _whole(vector, "mask", np.ones(found.mask.shape[1], np.int16))
    legal = np.flatnonzero(found.mask[k])
    chances, value, view = (vector.get(key) for key in ("probabilities", "value", "view"))
    if not isinstance(chances, list) or len(chances) != len(legal) or not len(legal):
        raise ValueError("probabilities must be a number for each one of the mask")
    if not all(_is_number(p) and 0 <= p <= 1 for p in chances) or not _is_number(value):
        raise ValueError("probabilities must be numbers in 0..1, and value a number")
    if not (view is None or isinstance(view, dict)):
        raise ValueError("view must be an object or null")
    found.probabilities[k, legal] = chances
    found.value[k] = value
    found.views[k] = view


def _whole(vector: Mapping[str, Any], key: str, high: npt.NDArray[np.int16]) -> list[int]:
    values = vector.get(key)
    if not isinstance(values, list) or len(values) != len(high):
        raise ValueError(f"{key} must be a list of {len(high)} whole numbers")
    for at, (value, most) in enumerate(zip(values, high.tolist(), strict=True)):
        if type(value) is not int or not 0 <= value <= most:
            raise ValueError(f"{key}[{at}] must be a whole number in 0..{most}")
    return values


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and -1e9 < value < 1e9


def view_error(found: Vectors, k: int, view: dict[str, Any], rules: Rules) -> str | None:
    """What is wrong with a vector's view: None if it leads to the vector's observation and mask."""
    if (view.get("game"), view.get("rules")) != (rules.module, rules.options):
        return "the view is of another game"
    try:
        observation, mask = observation_from_view(view), mask_from_view(view)
    except (ValueError, TypeError, KeyError, IndexError, OverflowError, AttributeError) as error:
        return f"the view can't be read: {error}"
    off = np.flatnonzero(observation != found.observation[k])
    if len(off):
        return f"observation[{off[0]}] is not what the view shows"
    if (mask != found.mask[k]).any():
        return "the mask is not the view's legal moves"
    return None
