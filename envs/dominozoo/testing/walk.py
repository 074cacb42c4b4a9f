"""What the checks share: playing an environment, comparing what it says."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

Env = Any  # an AECEnv, bare or wrapped: the checks ask for what they need
MakeEnv = Callable[[], Env]


def expect(held: bool | np.bool_, message: str) -> None:
    """Raise AssertionError unless a condition held; ``python -O`` doesn't take it away."""
    if not held:
        raise AssertionError(message)


def same(one: Any, other: Any) -> bool:
    """True if two things are equal, arrays by dtype, shape and every entry."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        a, b = np.asarray(one), np.asarray(other)
        return a.dtype == b.dtype and bool(np.array_equal(a, b))
    return bool(one == other)


def is_over(env: Env) -> bool:
    """True if the episode has ended."""
    return any(env.terminations.values()) or any(env.truncations.values())


def legal_of(env: Env) -> list[int]:
    """The actions that the mask of the agent to move allows."""
    mask = env.observe(env.agent_selection)["action_mask"]
    found: list[int] = np.flatnonzero(mask).tolist()
    expect(bool(found), f"{env.agent_selection} is to move, but its mask allows nothing")
    return found


def seen(env: Env) -> dict[str, Any]:
    """What every agent observes and what is said of it now."""
    return {
        "selection": env.agent_selection,
        "observations": {agent: env.observe(agent) for agent in env.possible_agents},
        "rewards": dict(env.rewards),
        "terminations": dict(env.terminations),
        "truncations": dict(env.truncations),
        "infos": dict(env.infos),
    }


def difference(one: Mapping[str, Any], other: Mapping[str, Any]) -> str | None:
    """The first key that two of :func:`seen` differ in, or None."""
    return next((key for key in one if not same(one[key], other[key])), None)


def walk(env: Env, steps: int, seed: int) -> Iterator[int]:
    """Make random legal moves on a started environment; a match that ends is followed by another.

    Yields before each move the number of moves made, and a last time after the last.
    """
    rng = random.Random(seed)
    for step in range(steps):
        yield step
        if is_over(env):
            env.reset()
        else:
            env.step(rng.choice(legal_of(env)))
    yield steps


def started(make_env: MakeEnv, seed: int) -> Env:
    """A new environment, reset by a seed."""
    env = make_env()
    env.reset(seed=seed)
    return env
