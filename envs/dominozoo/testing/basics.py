"""Masks, actions, whole games from seeds."""

from __future__ import annotations

import copy
import random
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

SAMPLED: Final = 7  # actions are tried out at every so-manieth move


def check_masks(make_env: MakeEnv, *, seed: int = 0, steps: int = 200) -> None:
    """Check masks: int8 of 0 and 1, something for who is to move, nothing for the others.

    Where the environment tells a ``position()``, its ``legal`` must be the mask's.

    Args:
        make_env: makes an environment.
        seed: of the game and of the moves.
        steps: moves to make.

    Raises:
        AssertionError: saying what was wrong, and at which move.
    """
    env = started(make_env, seed)
    for step in walk(env, steps, seed):
        for agent in env.possible_agents:
            _check_mask(env, agent, f"move {step}, {agent}")
        if hasattr(env.unwrapped, "position") and not is_over(env):
            told = sorted(move["id"] for move in env.unwrapped.position()["legal"])
            expect(
                told == legal_of(env),
                f"move {step}: the mask allows {legal_of(env)}, the position says {told}",
            )


def _check_mask(env: Env, agent: str, where: str) -> None:
    observation = env.observe(agent)
    space = env.observation_space(agent)
    expect(space is env.observation_space(agent), f"{where}: a new space each time")
    mask = observation["action_mask"]
    expect(
        isinstance(mask, np.ndarray) and mask.dtype == np.int8,
        f"{where}: the mask must be an int8 array, not {getattr(mask, 'dtype', type(mask))}",
    )
    count = int(env.action_space(agent).n)
    expect(mask.shape == (count,), f"{where}: the mask has shape {mask.shape}, not ({count},)")
    expect(bool(np.isin(mask, (0, 1)).all()), f"{where}: the mask holds other than 0 and 1")
    expect(space.contains(observation), f"{where}: the observation lies outside its space")
    moving = agent == env.agent_selection and not is_over(env)
    expect(
        bool(mask.any()) == moving,
        f"{where}: it is {'' if moving else 'not '}to move, but its mask allows "
        f"{np.flatnonzero(mask).tolist()}",
    )


def check_actions(make_env: MakeEnv, *, seed: int = 0, steps: int = 60) -> None:
    """Check that every action of the mask is taken and every other refused, without a trace.

    The bare environment (``unwrapped``) must refuse by an exception.

    Args:
        make_env: makes an environment.
        seed: of the game and of the moves.
        steps: moves to make; at every seventh all actions are tried.

    Raises:
        AssertionError: naming the action.
    """
    env = started(make_env, seed)
    for step in walk(env, steps, seed):
        if step % SAMPLED or is_over(env):
            continue
        agent, legal, before = env.agent_selection, legal_of(env), seen(env)
        refused = copy.deepcopy(env)  # what is refused changes nothing, so one serves for all
        for action in range(int(env.action_space(agent).n)):
            trial = copy.deepcopy(env) if action in legal else refused
            refusal = _try(trial, action)
            where = f"move {step}: action {action} of {agent}"
            if action in legal:
                expect(refusal is None, f"{where} is in the mask, but refused: {refusal}")
                continue
            expect(refusal is not None, f"{where} is not in the mask, but taken")
            changed = difference(before, seen(trial))
            expect(changed is None, f"{where} was refused, but changed {changed}")


def _try(env: Env, action: int) -> Exception | None:
    """What the bare environment says against an action."""
    try:
        env.unwrapped.step(action)
    except (ValueError, AssertionError, IndexError) as error:
        return error
    return None


def check_games(
    make_env: MakeEnv, *, seed: int = 0, games: int = 100, longest: int = 100_000
) -> None:
    """Check whole games: twins play alike, a seed repeats, a reset without one goes on.

    Args:
        make_env: makes an environment.
        seed: of the first game; every other game goes on with the stream.
        games: how many, at least 2.
        longest: moves after which a game that hasn't ended is given up.

    Raises:
        AssertionError: naming the game and the move.
    """
    one, other = make_env(), make_env()
    starts, traces = [], []
    for game in range(games):
        again = seed + game if game % 2 == 0 else None
        one.reset(seed=again)
        other.reset(seed=again)
        starts.append(seen(one)["observations"])
        traces.append(_play_twins(one, other, f"game {game}", seed + game, longest))
    expect(len(starts) < 2 or not same(starts[0], starts[1]), "reset() repeats the seeded game")
    expect(len(starts) < 3 or not same(starts[0], starts[2]), "two seeds deal the same game")
    for game in range(min(games, 2)):  # the seeded game, then how the stream goes on
        one.reset(seed=seed if game == 0 else None)
        other.reset(seed=seed if game == 0 else None)
        trace = _play_twins(one, other, f"game {game} again", seed + game, longest)
        expect(same(trace, traces[game]), f"game {game}: the same seed plays another game")


def _play_twins(one: Env, other: Env, where: str, seed: int, longest: int) -> list[Any]:
    """Play two environments alike to the end; returns what was seen on the way."""
    rng, trace = random.Random(seed), list[Any]()
    owed = dict.fromkeys(one.possible_agents, 0.0)
    for step in range(longest):
        now, twin = seen(one), seen(other)
        changed = difference(now, twin)
        expect(changed is None, f"{where}, move {step}: twins of a seed differ in {changed}")
        trace.append((now["observations"][now["selection"]], now["rewards"]))
        if is_over(one):
            _check_end(one, owed, where)
            _check_end(other, owed, where)
            return trace
        action = rng.choice(legal_of(one))
        owed[one.agent_selection] = 0.0
        one.step(action)
        other.step(action)
        for agent, reward in one.rewards.items():
            owed[agent] += reward
    raise AssertionError(f"{where}: it hasn't ended after {longest} moves")


def _check_end(env: Env, owed: dict[str, float], where: str) -> None:
    """The end: bool flags for all, each agent is told its rewards once, then nobody is left."""
    for flags in (env.terminations, env.truncations):
        expect(
            all(type(value) is bool for value in flags.values()) and len(set(flags.values())) == 1,
            f"{where}: at the end all agents must be told the same, as bool: {flags}",
        )
    told = {}
    while env.agents:
        told[env.agent_selection] = env.last()[1]
        env.step(None)
    expect(told == owed, f"{where}: the agents are told the rewards {told}, not {owed}")
