"""How a move is chosen from a policy's probabilities: drawn, and weaker by level.

A level spoils a policy in two ways. With the chance ``blunder`` any legal move is played; else one is
drawn from the probabilities to the power of 1 / ``temperature``, renormalised, where temperature 0
is the most probable move. All that is drawn comes from two numbers in 0..1 that the caller gives, so
every reader of a bundle, and the server, play the same from the same seed.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from dominozoo.bots.archive import MANIFEST, BundleError

Array = npt.NDArray[Any]

GREEDY: Final = "greedy"  # the most probable action, of equals the first
SAMPLED: Final = "sampled"
NAMES: Final = ("easy", "normal", "hard")
MOST_HEAT: Final = 10.0
UNMEASURED: Final = "not measured"


class Level(NamedTuple):
    """How strongly a policy is spoilt.

    Attributes:
        blunder: share of the moves that are drawn from all legal ones alike, 0..1.
        temperature: of the others, 0..10; 1 = as the policy says, 0 = its most probable move.
    """

    blunder: float
    temperature: float


# What bundles that name no levels were always played with, by how their moves are chosen.
UNNAMED: Final[dict[str, dict[str, Level]]] = {
    GREEDY: dict(zip(NAMES, map(Level, (0.6, 0.25, 0.0), (0.0, 0.0, 0.0)), strict=True)),
    SAMPLED: dict(zip(NAMES, map(Level, (0.6, 0.25, 0.0), (1.0, 1.0, 1.0)), strict=True)),
}


def read_select(manifest: Mapping[str, Any]) -> str:
    """How moves are chosen unless somebody asks otherwise, greedy or sampled; or BundleError."""
    select = manifest.get("select", {"default": GREEDY})  # older bundles needn't say it
    default = select.get("default") if isinstance(select, dict) else None
    if default not in (GREEDY, SAMPLED):
        raise BundleError(f"{MANIFEST}: select.default must be {GREEDY!r} or {SAMPLED!r}")
    return str(default)


def read_levels(manifest: Mapping[str, Any]) -> dict[str, Level]:
    """The levels of a bundle by name.

    Raises:
        BundleError: if ``select`` or ``levels`` isn't what a manifest may say.
    """
    default = read_select(manifest)
    named = manifest.get("levels")
    if named is None:
        return dict(UNNAMED[default])
    if not isinstance(named, dict) or set(named) != set(NAMES):
        raise BundleError(f"{MANIFEST}: levels must be an object of {', '.join(NAMES)}")
    return {name: _read_level(name, named[name]) for name in NAMES}


def _read_level(name: str, level: Any) -> Level:
    found = []
    for key, most in (("blunder", 1.0), ("temperature", MOST_HEAT)):
        value: Any = level.get(key) if isinstance(level, dict) else None
        if type(value) not in (int, float) or not 0 <= value <= most:
            raise BundleError(f"{MANIFEST}: levels.{name}.{key} must be a number in 0..{most:g}")
        found.append(float(value))
    return Level(*found)


def heated(probabilities: Array, temperature: float) -> npt.NDArray[np.float64]:
    """Probabilities to the power of 1 / ``temperature``, not normalised.

    Args:
        probabilities: (B, actions), 0 where illegal.
        temperature: at least 0; 0 leaves the most probable action alone, of equals the first.

    Returns:
        (B, actions) float64, 0 where ``probabilities`` are.
    """
    weights = probabilities.astype(np.float64)
    if temperature == 1:
        return weights
    best = weights.argmax(axis=1)
    if temperature == 0:
        weights = np.zeros_like(weights)
        weights[np.arange(len(best)), best] = 1
        return weights
    powers: npt.NDArray[np.float64] = (weights / weights.max(axis=1, keepdims=True)) ** (
        1 / temperature
    )
    return powers


def at_level(probabilities: Array, mask: Array, level: Level) -> npt.NDArray[np.float64]:
    """The chances with which a policy's moves are played at a level.

    Args:
        probabilities: (B, actions) of any reader, 0 where illegal.
        mask: (B, actions), 1 = legal, at least one a row.
        level: how strongly it is spoilt.

    Returns:
        (B, actions) float64; rows sum to 1.
    """
    kept, any_legal = heated(probabilities, level.temperature), mask.astype(np.float64)
    kept /= kept.sum(axis=1, keepdims=True)
    any_legal /= any_legal.sum(axis=1, keepdims=True)
    chances: npt.NDArray[np.float64] = (1 - level.blunder) * kept + level.blunder * any_legal
    return chances


def choose(
    probabilities: Array, mask: Array, level: Level, first: Array, second: Array
) -> npt.NDArray[np.int64]:
    """Choose actions at a level: by the chances of :func:`at_level`, from numbers that are given.

    Args:
        probabilities: (B, actions) of any reader, 0 where illegal.
        mask: (B, actions), 1 = legal, at least one a row.
        level: how strongly the policy is spoilt.
        first: (B,) float64 in 0..1, 1 excluded: below ``blunder`` any legal action is taken.
        second: (B,) float64 likewise: which one.

    Returns:
        (B,) int64.
    """
    blunders = (first < level.blunder)[:, None]
    return draw(np.where(blunders, mask, heated(probabilities, level.temperature)), second)


def choose_one(probabilities: Sequence[float], level: Level, first: float, second: float) -> int:
    """The same of one position, in plain Python, which is quicker there.

    Args:
        probabilities: of the legal actions, by action id.
        level: how strongly the policy is spoilt.
        first: as :func:`choose` takes it, one number.
        second: likewise.

    Returns:
        The place of the chosen action among the legal ones.
    """
    best = max(probabilities)
    if first < level.blunder:
        weights: Iterable[float] = [1.0] * len(probabilities)
    elif level.temperature == 0:
        return probabilities.index(best)
    elif level.temperature == 1:
        weights = probabilities
    else:
        weights = [(chance / best) ** (1 / level.temperature) for chance in probabilities]
    sums = list(itertools.accumulate(weights))
    limit = second * sums[-1]
    return next(place for place, whole in enumerate(sums) if whole > limit)


def draw(weights: Array, u: Array) -> npt.NDArray[np.int64]:
    """Draw actions by the inverse of the cumulated weights, in float64, by action id.

    Args:
        weights: (B, actions), exactly 0 where illegal.
        u: (B,) float64 in 0..1, 1 excluded.

    Returns:
        (B,) int64: the first action whose sum exceeds ``u`` times the whole.
    """
    sums = weights.astype(np.float64).cumsum(axis=1)
    actions: npt.NDArray[np.int64] = (sums > u[:, None] * sums[:, -1:]).argmax(axis=1)
    return actions


class AtLevel:
    """A reader's policy as it is played at a level: the chances of its moves.

    Args:
        reader: has ``probabilities(observation, mask)``, as a bot has.
        level: how strongly it is spoilt.
    """

    def __init__(self, reader: Any, level: Level) -> None:
        self.reader = reader
        self.level = level

    def probabilities(self, observation: Array, mask: Array) -> npt.NDArray[np.float64]:
        """Chances of the moves, (B, actions) float64."""
        return at_level(self.reader.probabilities(observation, mask), mask, self.level)
