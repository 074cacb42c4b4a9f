"""What must not leak: hidden tiles, the environment's own memory, one copy into another."""

from __future__ import annotations

import copy
import pickle
import random
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from dominozoo.testing.walk import (
    Env,
    MakeEnv,
    difference,
    expect,
    is_over,
    legal_of,
    same,
    seen,
    started,
    walk,
)

Json = dict[str, Any]

SCRIBBLE: Final = 77
KEPT: Final = 5  # moves that an observation is kept for
COPIED: Final = 25  # a copy is made at every so-manieth move and played this far


def check_hidden(
    make_env: MakeEnv, *, seed: int = 0, steps: int = 60, swaps: int = 1, fewest: int = 1
) -> None:
    """Check that an agent sees nothing of hidden tiles.

    Pairs of tiles that an agent can't see change places. Where the game could have come to the
    same point so, the agent's observation, mask and view must be as before.

    Args:
        make_env: makes an environment with ``position()`` and ``view()``.
        seed: of the game, the moves and the swaps.
        steps: moves to make.
        swaps: pairs tried for each agent at each move.
        fewest: swaps that must have been possible in all, or the check proves nothing.

    Raises:
        AssertionError: naming the tiles.
    """
    env, other, rng = started(make_env, seed), make_env(), random.Random(seed)
    done = 0
    for step in walk(env, steps, seed):
        if is_over(env):
            continue
        position = env.unwrapped.position()
        for seat, agent in enumerate(env.possible_agents):
            hidden = hidden_tiles(position, seat)
            for _ in range(swaps if len(hidden) > 1 else 0):
                one, two = rng.sample(hidden, 2)
                try:
                    other.reset(seed=seed, options={"position": _swapped(position, one, two)})
                except ValueError:
                    continue  # the agent would have seen another game
                done += 1
                _compare_views(env, other, agent, f"move {step}, {agent}: {one} for {two}")
    expect(done >= fewest, f"only {done} swaps were possible: play more moves")


def hidden_tiles(position: Json, seat: int) -> list[str]:
    """The tiles of a position that a seat can't see, by name."""
    hidden = list(position["boneyard"])
    for name in ("hands", "discards"):
        for holder, tiles in enumerate(position.get(name, [])):
            if holder != seat:
                hidden += tiles
    called = position.get("trick", {}).get("called")
    if called and called["seat"] != seat:
        hidden.append(called["tile"])
    return sorted(hidden)


def _swapped(position: Json, one: str, two: str) -> Json:
    """The position with two tiles in each other's places; the last hand stays as it was."""
    places = {one: two, two: one}

    def swap(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: swap(part) for key, part in value.items()}
        if isinstance(value, list):
            return [swap(part) for part in value]
        return places.get(value, value) if isinstance(value, str) else value

    changed: Json = swap({k: v for k, v in position.items() if k not in ("last_hand", "legal")})
    changed["last_hand"] = position["last_hand"]
    return changed


def _compare_views(env: Env, other: Env, agent: str, where: str) -> None:
    mine, theirs = env.observe(agent), other.observe(agent)
    for key in mine:
        expect(same(mine[key], theirs[key]), f"{where}: hidden tiles change its {key}")
    expect(
        same(env.unwrapped.view(agent), other.unwrapped.view(agent)),
        f"{where}: hidden tiles change its view",
    )


def check_aliasing(make_env: MakeEnv, *, seed: int = 0, steps: int = 60) -> None:
    """Check that nothing handed out is the environment's own, nor changes afterwards.

    Args:
        make_env: makes an environment.
        seed: of the game and of the moves.
        steps: moves to make.

    Raises:
        AssertionError: naming what was shared.
    """
    env, twin = started(make_env, seed), started(make_env, seed)
    kept: list[tuple[int, Any, Any]] = []
    rng = random.Random(seed)
    for step in range(steps):
        if is_over(env):
            env.reset()
            twin.reset()
        observation = env.observe(env.agent_selection)
        kept.append((step, observation, copy.deepcopy(observation)))
        for before, given, was in kept[-KEPT:]:
            expect(same(given, was), f"move {step}: the observation of move {before} has changed")
        legal = legal_of(env)
        _scribble(env)
        changed = difference(seen(twin), seen(env))
        expect(changed is None, f"move {step}: writing into what was handed out changes {changed}")
        action = rng.choice(legal)
        env.step(action)
        twin.step(action)


def _scribble(env: Env) -> None:
    """Spoil everything that an environment hands out."""
    bare = env.unwrapped
    for agent in env.possible_agents:
        for array in env.observe(agent).values():
            array[:] = SCRIBBLE
        if hasattr(bare, "view"):
            _spoil(bare.view(agent))
    if hasattr(bare, "position"):
        _spoil(bare.position())
    if hasattr(bare, "state_space"):
        state = env.state()
        if isinstance(state, np.ndarray):
            state[:] = SCRIBBLE


def _spoil(value: Any) -> None:
    parts = value.values() if isinstance(value, dict) else value
    for part in list(parts):
        if isinstance(part, dict | list):
            _spoil(part)
    value.clear()


def check_copies(make_env: MakeEnv, *, seed: int = 0, steps: int = 60) -> None:
    """Check that a copy, made in mid-game by ``deepcopy`` or ``pickle``, goes on alike.

    Args:
        make_env: makes an environment that can be pickled.
        seed: of the game and of the moves.
        steps: moves to make.

    Raises:
        AssertionError: naming the way of copying and the move.
    """
    ways: dict[str, Callable[[Any], Any]] = {
        "deepcopy": copy.deepcopy,
        "pickle": lambda env: pickle.loads(pickle.dumps(env)),
    }
    env = started(make_env, seed)
    for step in walk(env, steps, seed):
        if step % COPIED == 0 and not is_over(env):
            for name, way in ways.items():
                _go_on_alike(env, way, f"move {step}, {name}", seed)


def _go_on_alike(env: Env, way: Callable[[Any], Any], where: str, seed: int) -> None:
    before = seen(env)
    one, other = way(env), way(env)
    changed = difference(before, seen(one))
    expect(changed is None, f"{where}: the copy differs in {changed}")
    steps = zip(walk(one, COPIED, seed), walk(other, COPIED, seed), strict=True)
    for step, _ in steps:
        changed = difference(seen(one), seen(other))
        expect(changed is None, f"{where}: {step} moves later copies differ in {changed}")
    changed = difference(before, seen(env))
    expect(changed is None, f"{where}: playing the copies has changed the original's {changed}")
