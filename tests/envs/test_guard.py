"""The guard of env() against PettingZoo's three wrappers, call by call."""

import copy
import importlib
import pickle
import re
from collections.abc import Callable
from operator import attrgetter, methodcaller
from typing import Any

import numpy as np
import pytest
from pettingzoo.test.api_test import api_test
from pettingzoo.utils.env import AECEnv
from pettingzoo.utils.env_logger import EnvLogger
from pettingzoo.utils.wrappers import (
    AssertOutOfBoundsWrapper,
    BaseWrapper,
    OrderEnforcingWrapper,
    TerminateIllegalWrapper,
)

from dominozoo import AEC_IDS
from dominozoo.guard import AFTER_RESET, Guard

GAMES = [module.removeprefix("dominozoo.") for module in AEC_IDS.values()]
ATTRIBUTES = (*sorted(AFTER_RESET), "_cumulative_rewards", "max_num_agents", "possible_agents")
RAISED = (AssertionError, AttributeError, KeyError, TypeError, ValueError)
OUT_OF_BOUNDS = "action is not in action space"  # the guard goes on to say more
PRIVATE = ("_table", "_skip_agent_selection", "_names", "nothing", "__nothing__")


def pair(game: str, **options: Any) -> tuple[Guard, Any]:
    """A game under the guard, and its twin under PettingZoo's wrappers."""
    module = importlib.import_module(f"dominozoo.{game}")
    guarded = module.env(**options)
    assert type(guarded) is Guard
    legal = TerminateIllegalWrapper(module.raw_env(**options), illegal_reward=-1)
    return guarded, OrderEnforcingWrapper(AssertOutOfBoundsWrapper(legal))


def plain(value: Any) -> Any:
    """A value that can be compared by ==."""
    if isinstance(value, np.ndarray):
        return (str(value.dtype), value.tolist())
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return value if isinstance(value, int | float | str | None) else repr(value)


def outcome(env: Any, call: Callable[..., Any], *arguments: Any) -> Any:
    """What a call returned or raised, and the warnings it logged."""
    EnvLogger.flush()
    try:
        result: Any = ("returned", plain(call(env, *arguments)))
    except RAISED as error:
        said, bounds, more = str(error).partition(OUT_OF_BOUNDS)
        assert not more or re.fullmatch(r": player_\d gave .+, it takes 0\.\.\d+", more, re.DOTALL)
        result = ("raised", type(error), said + bounds)
    logged = list(EnvLogger.mqueue)
    EnvLogger.flush()
    return result, logged


def same(envs: tuple[Any, Any], call: Callable[..., Any], *arguments: Any) -> Any:
    """Make a call on both; they must agree. Returns its outcome."""
    mine, theirs = (outcome(env, call, *arguments) for env in envs)
    assert mine == theirs
    return mine


def same_everywhere(envs: tuple[Any, Any]) -> None:
    """Compare all that can be read."""
    for name in ATTRIBUTES:
        same(envs, getattr, name)
    same(envs, methodcaller("last"))
    same(envs, methodcaller("last", observe=False))
    same(envs, methodcaller("state"))
    for agent in envs[0].possible_agents:
        same(envs, methodcaller("observe", agent))


def random_action(rng: np.random.Generator, env: Guard) -> Any:
    """Mostly a legal one; else anything that a careless program might send."""
    if not env.agents:
        return 0
    observation, _, termination, truncation, _ = env.last()
    chance = rng.random()
    if (termination or truncation) and chance < 0.7:
        return None
    mask = observation["action_mask"]
    illegal = np.flatnonzero(mask == 0)
    if chance < 0.04:
        return int(rng.choice(illegal))
    if chance < 0.12:
        strange = (None, -1, len(mask), 1000, -(1 << 40), 3.0, "3", np.float64(2), [1], (0, 0))
        return strange[rng.integers(len(strange))]
    if (termination or truncation) or not mask.any():
        return int(rng.integers(len(mask)))
    legal = int(rng.choice(np.flatnonzero(mask)))
    kinds: tuple[Callable[[int], Any], ...] = (int, np.int64, np.int8, np.uint16, np.array)
    return kinds[rng.integers(len(kinds))](legal)


@pytest.mark.parametrize("game", GAMES)
def test_the_guard_does_what_the_wrappers_do(game: str) -> None:
    rng = np.random.default_rng(GAMES.index(game))
    envs = pair(game, max_hands=2)
    seen = set[str]()
    for episode in range(8):
        same(envs, methodcaller("reset", seed=episode))
        for _ in range(120):
            action = random_action(rng, envs[0])
            result, logged = same(envs, methodcaller("step", action))
            seen.update((str(result[1]), *logged))
            if rng.random() < 0.3:
                same_everywhere(envs)
            if not envs[0].agents and rng.random() < 0.5:
                break
    for said in ("AssertionError", "ValueError", "Illegal move made", "Should reset() first"):
        assert any(said in each for each in seen), said


@pytest.mark.parametrize("action", [-1, 58, 1.5, "0", None, 10**20])
def test_an_action_out_of_bounds_is_named(action: Any) -> None:
    env, _ = pair("block_v0")
    env.reset(seed=1)
    words = f"{OUT_OF_BOUNDS}: {env.agent_selection} gave {action!r}, it takes 0..57"
    with pytest.raises(AssertionError, match=f"^{re.escape(words)}$"):
        env.step(action)


@pytest.mark.parametrize("game", ["block_v0", "truc_v0"])
def test_nothing_can_be_read_or_stepped_before_a_reset(game: str) -> None:
    envs = pair(game)
    for name in (*ATTRIBUTES, *PRIVATE):
        same(envs, getattr, name)
    for call in (
        methodcaller("step", 0),
        methodcaller("last"),
        methodcaller("observe", "player_0"),
        methodcaller("state"),
        methodcaller("render"),
        methodcaller("agent_iter"),
        methodcaller("close"),
    ):
        same(envs, call)


def test_a_refused_reset_leaves_the_same_behind() -> None:
    envs = pair("block_v0")
    for seed in (-1, 1, "x"):
        same(envs, methodcaller("reset", seed=seed))
        same(envs, methodcaller("step", 0))
        for name in ATTRIBUTES:
            same(envs, getattr, name)
    same_everywhere(envs)


@pytest.mark.parametrize("game", GAMES)
def test_names_spaces_and_pictures(game: str) -> None:
    envs = pair(game, render_mode="ansi")
    same(envs, methodcaller("reset", seed=3))
    for call in (
        str,
        methodcaller("render"),
        methodcaller("svg"),
        attrgetter("metadata"),
        attrgetter("render_mode"),
        lambda env: str(env.rules),
        methodcaller("position"),
        methodcaller("view", "player_1"),
        methodcaller("observe", "nobody"),
        lambda env: str(env.action_space("player_0")),
        lambda env: str(env.observation_space("player_1")),
        lambda env: str(env.state_space),
    ):
        same(envs, call)
    for name in PRIVATE:
        same(envs, getattr, name)
    assert type(envs[0].unwrapped) is type(envs[1].unwrapped)
    assert isinstance(envs[0], AECEnv | BaseWrapper)


def walk(env: Any, rng: np.random.Generator) -> list[Any]:
    """An episode by agent_iter, and what was seen of it."""
    seen = []
    for agent in env.agent_iter(300):
        observation, reward, termination, truncation, info = env.last()
        seen.append(plain([agent, observation, reward, termination, truncation, info]))
        over = termination or truncation
        env.step(None if over else int(rng.choice(np.flatnonzero(observation["action_mask"]))))
    return seen


@pytest.mark.parametrize("game", GAMES)
def test_agent_iter_goes_the_same_way(game: str) -> None:
    mine, theirs = pair(game, max_hands=3)
    for env in (mine, theirs):
        env.reset(seed=5)
    assert walk(mine, np.random.default_rng(1)) == walk(theirs, np.random.default_rng(1))


def test_agent_iter_wants_a_step_each_time() -> None:
    envs = pair("draw_v0")
    same(envs, methodcaller("reset", seed=1))
    _, text = same(envs, lambda env: list(zip(range(3), env.agent_iter(), strict=False)))[0][1:]
    assert "need to call step()" in text


@pytest.mark.parametrize("twin", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_copies_go_on_by_themselves(twin: Callable[[Any], Any]) -> None:
    mine, theirs = pair("chiva_v0", max_hands=2)
    for env in (mine, theirs):
        env.reset(seed=2)
        env.step(int(env.last()[0]["action_mask"].argmax()))
    copies = twin(mine), twin(theirs)
    before = plain(mine.last())
    assert walk(copies[0], np.random.default_rng(4)) == walk(copies[1], np.random.default_rng(4))
    assert plain(mine.last()) == before
    assert not copies[0].agents
    assert copy.copy(mine).unwrapped is mine.unwrapped
    assert type(twin(pair("chiva_v0")[0])) is Guard  # before a reset, too


def test_the_game_says_what_is_legal_whatever_became_of_the_mask() -> None:
    env, _ = pair("block_v0")
    env.reset(seed=1)
    mask = env.last()[0]["action_mask"]
    legal = int(mask.argmax())
    mask[:] = 1 - mask
    env.step(legal)
    assert not any(env.terminations.values())


@pytest.mark.filterwarnings("ignore:Observation:UserWarning")  # of a dict, in api_test
@pytest.mark.parametrize("base", [BaseWrapper, OrderEnforcingWrapper, AssertOutOfBoundsWrapper])
def test_other_wrappers_fit_around_it(base: Any) -> None:
    env = base(pair("six_love_v0", max_hands=1)[0])
    api_test(env, num_cycles=60)  # type: ignore[no-untyped-call]
