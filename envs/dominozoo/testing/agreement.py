"""Agreement: the same game whichever way it is played."""

from __future__ import annotations

import random
import zlib
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Final

import numpy as np
from gymnasium.vector import AutoresetMode

from dominozoo.rules import TRUC, Rules
from dominozoo.single import SeatEnv, SeatVectorEnv
from dominozoo.tables import Tables
from dominozoo.testing.walk import Env, MakeEnv, expect, is_over, legal_of, same, started

Json = dict[str, Any]
MakeTables = Callable[[Rules, int], Any]
MakeSeat = Callable[..., Any]

NEARLY: Final = 1e-6  # rewards of ``Tables`` are float32
# What one table tells and many don't, or in other words.
SINGLE_ONLY: Final = ("hands", "illegal")


def steady(observation: Mapping[str, Any]) -> int:
    """A player without memory or chance: the same move wherever it sees the same."""
    legal = np.flatnonzero(observation["action_mask"])
    return int(legal[zlib.crc32(observation["observation"].tobytes()) % len(legal)])


def check_agreement(
    make_env: MakeEnv, *, make_tables: MakeTables | None = None, seed: int = 0, steps: int = 200
) -> None:
    """Check that the environment and ``Tables`` of one seed play the same game.

    Args:
        make_env: makes an environment with ``reward="hand"`` and without ``max_hands``.
        make_tables: makes one table of (rules, seed); None = ``Tables``.
        seed: of the game and of the moves.
        steps: moves to make; a match that ends is followed by the next of the stream.

    Raises:
        AssertionError: naming the move and what differs.
    """
    env, rng = started(make_env, seed), random.Random(seed)
    rules = env.unwrapped.rules
    make = make_tables or (lambda game, number: Tables(game, 1, seed=number))
    tables = make(rules, seed)
    for step in range(steps):
        where = f"move {step}"
        seat = env.possible_agents.index(env.agent_selection)
        expect(
            tables.turn[0] == seat, f"{where}: Tables has seat {tables.turn[0]} move, not {seat}"
        )
        observation = env.observe(env.agent_selection)
        expect(
            same(observation["observation"], tables.observation[0]),
            f"{where}: Tables observes other than the environment",
        )
        expect(same(observation["action_mask"], tables.mask[0]), f"{where}: Tables masks otherwise")
        action = rng.choice(legal_of(env))
        env.step(action)
        tables.step(np.array([action]))
        rewards = [env.rewards[agent] for agent in env.possible_agents]
        expect(
            bool(np.allclose(tables.reward[0], rewards, atol=NEARLY)),
            f"{where}: Tables rewards {tables.reward[0].tolist()}, the environment {rewards}",
        )
        over = is_over(env)
        expect(bool(tables.terminated[0]) == over, f"{where}: over in one, not in the other")
        if over:
            env.reset()


def check_seats(
    make_env: MakeEnv,
    *,
    make_single: MakeSeat | None = None,
    make_vector: MakeSeat | None = None,
    seed: int = 0,
    steps: int = 60,
) -> None:
    """Check that each learning seat meets the game that the environment plays.

    :func:`steady` plays every seat, so the same seed must lead to the same match.

    Args:
        make_env: makes an environment with ``reward="hand"``.
        make_single: makes a ``SeatEnv`` by opponents and seat; None = of the environment's rules.
        make_vector: makes a ``SeatVectorEnv`` by num_envs, autoreset_mode, opponents and seat.
        seed: of the match.
        steps: the learner's moves to compare, at most.

    Raises:
        AssertionError: naming the seat, the move and what differs.
    """
    rules: Rules = make_env().unwrapped.rules
    options: Json = dict(rules.options)
    single = make_single or partial(SeatEnv, rules.game, **options)
    vector = make_vector or partial(SeatVectorEnv, rules.game, **options)
    many: Json = {"num_envs": 1, "autoreset_mode": AutoresetMode.DISABLED}
    for seat in range(rules.players):
        turns = list(zip(range(steps), _turns(started(make_env, seed), seat), strict=False))
        one = single(opponents=steady, seat=seat)
        _compare_turns([turn for _, turn in turns], _single_turns(one, seed), f"SeatEnv {seat}")
        row = vector(opponents=steady, seat=seat, **many)
        _compare_turns([turn for _, turn in turns], _row_turns(row, seed), f"SeatVectorEnv {seat}")


Turn = tuple[Mapping[str, Any], float, bool]  # observation, reward since the last one, over


def _turns(env: Env, seat: int) -> Iterator[Turn]:
    """What a seat of the environment is asked, as the learning seats are."""
    agent, fresh, gained = env.possible_agents[seat], True, 0.0
    every_move = env.unwrapped.rules.variant.family == TRUC
    while not is_over(env):
        observation = env.observe(env.agent_selection)
        choice = every_move or fresh or observation["action_mask"].sum() > 1
        if env.agent_selection == agent and choice:
            yield observation, gained, False
            fresh, gained = False, 0.0
        env.step(steady(observation))
        gained += float(env.rewards[agent])
    yield env.observe(agent), gained, True


def _single_turns(env: Any, seed: int) -> Iterator[Turn]:
    observation, _ = env.reset(seed=seed)
    reward, over = 0.0, False
    while not over:
        yield observation, reward, False
        observation, reward, terminated, truncated, _ = env.step(steady(observation))
        over = terminated or truncated
    yield observation, reward, True


def _row_turns(env: Any, seed: int) -> Iterator[Turn]:
    def first(batch: Mapping[str, Any]) -> Mapping[str, Any]:
        return {key: rows[0] for key, rows in batch.items()}

    batch, _ = env.reset(seed=seed)
    reward, over = 0.0, False
    while not over:
        yield first(batch), reward, False
        batch, rewards, terminated, truncated, _ = env.step(np.array([steady(first(batch))]))
        reward, over = float(rewards[0]), bool(terminated[0] | truncated[0])
    yield first(batch), reward, True


def _compare_turns(expected: list[Turn], turns: Iterator[Turn], name: str) -> None:
    for number, (mine, theirs) in enumerate(zip(expected, turns, strict=False)):
        where = f"{name}, turn {number}"
        for key in mine[0]:
            expect(same(mine[0][key], theirs[0][key]), f"{where}: it observes another {key}")
        expect(abs(mine[1] - theirs[1]) < NEARLY, f"{where}: reward {theirs[1]}, not {mine[1]}")
        expect(mine[2] == theirs[2], f"{where}: over in one, not in the other")


def check_vector(
    make_vector: MakeSeat,
    make_single: MakeSeat,
    *,
    num_envs: int = 3,
    seed: int = 0,
    steps: int = 60,
) -> None:
    """Check that many tables, seeded with s, play as single ones seeded with s + i.

    All three autoreset modes are checked, ``final_obs``, ``final_info`` and ``reset_mask`` too.

    Args:
        make_vector: makes a vector environment of ``num_envs`` and ``autoreset_mode``.
        make_single: makes the environment that each of its tables must be equal to.
        num_envs: number of tables.
        seed: of the tables and of the moves.
        steps: of each mode.

    Raises:
        AssertionError: naming the mode, the step, the table and what differs.
    """
    for mode in AutoresetMode:
        many = make_vector(num_envs=num_envs, autoreset_mode=mode)
        expect(many.metadata["autoreset_mode"] is mode, f"{mode.name}: its metadata say otherwise")
        pair = _Pair(many, [make_single() for _ in range(num_envs)], mode)
        pair.reset(seed)
        rng = np.random.default_rng(seed)
        for step in range(steps):
            pair.step(rng, f"{mode.name}, step {step}")
        pair.check_first(seed)


class _Pair:
    """A vector environment and the single ones that it must be equal to."""

    def __init__(self, many: Any, singles: list[Any], mode: AutoresetMode) -> None:
        self.many, self.singles, self.mode = many, singles, mode
        self.done = np.zeros(len(singles), np.bool_)
        self.observation: Json = {}
        self.first: Json = {}

    def reset(self, seed: int) -> None:
        self.observation, info = self.many.reset(seed=seed)
        self.first = {key: rows.copy() for key, rows in self.observation.items()}
        expect(
            self.many.observation_space.contains(self.observation),
            f"{self.mode.name}: the first observation lies outside its space",
        )
        for i, single in enumerate(self.singles):
            observation, told = single.reset(seed=seed + i)
            self._compare(observation, told, info, i, f"{self.mode.name}, reset")

    def check_first(self, seed: int) -> None:
        """Nothing has changed the first observation, and its seed brings it again."""
        again, _ = self.many.reset(seed=seed)
        expect(same(again, self.first), f"{self.mode.name}: the seed brings another first step")

    def step(self, rng: np.random.Generator, where: str) -> None:
        mask = self.observation["action_mask"]
        actions = (mask * rng.random(mask.shape)).argmax(axis=1)
        before = self.observation
        kept = {key: rows.copy() for key, rows in before.items()}
        self.observation, rewards, terminated, truncated, info = self.many.step(actions)
        expect(same(before, kept), f"{where}: the last observation has changed")
        expect(
            self.many.observation_space.contains(self.observation),
            f"{where}: the observation lies outside its space",
        )
        waiting, self.done = self.done, terminated | truncated
        for i, single in enumerate(self.singles):
            if waiting[i]:
                observation, told = single.reset()
                result: tuple[Any, ...] = (0.0, False, False)
            else:
                observation, *result_, told = single.step(int(actions[i]))
                result = tuple(result_)
            given = (float(rewards[i]), bool(terminated[i]), bool(truncated[i]))
            expect(
                result == given,
                f"{where}, table {i}: reward and ends are {given}, of a single one {result}",
            )
            if self.done[i] and self.mode is AutoresetMode.SAME_STEP:
                self._compare_final(observation, told, info, i, where)
                observation, told = single.reset()
            self._compare(observation, told, info, i, where)
        if self.mode is AutoresetMode.SAME_STEP:
            self.done = np.zeros_like(self.done)
        if self.mode is AutoresetMode.DISABLED and self.done.any():
            self._reset_done(actions, where)

    def _compare(self, observation: Json, told: Json, info: Json, i: int, where: str) -> None:
        for key, value in observation.items():
            rows = self.observation[key]
            expect(same(rows[i], value), f"{where}, table {i}: it observes another {key}")
        _compare_info(told, info, i, where)

    def _compare_final(self, observation: Json, told: Json, info: Json, i: int, where: str) -> None:
        for key in ("final_obs", "final_info"):
            expect(key in info and bool(info[f"_{key}"][i]), f"{where}, table {i}: no {key}")
        expect(
            same(info["final_obs"][i], observation),
            f"{where}, table {i}: another final observation",
        )
        _compare_info(told, info["final_info"], i, f"{where}, final")

    def _reset_done(self, actions: Any, where: str) -> None:
        """A step is refused until those that are over have been reset, and no others."""
        try:
            self.many.step(actions)
        except (ValueError, AssertionError):
            pass
        else:
            raise AssertionError(f"{where}: a table that is over was stepped")
        mask, before = self.done.copy(), self.observation
        self.observation, info = self.many.reset(options={"reset_mask": mask})
        stayed = all(
            same(before[key][~mask], rows[~mask]) for key, rows in self.observation.items()
        )
        expect(stayed, f"{where}: reset_mask has changed a table that it leaves out")
        for i in np.flatnonzero(mask):
            observation, told = self.singles[i].reset()
            self._compare(observation, told, info, int(i), f"{where}, reset_mask")
        self.done = np.zeros_like(self.done)


def _compare_info(told: Json, info: Json, i: int, where: str) -> None:
    for key, value in told.items():
        if key in SINGLE_ONLY:
            continue
        expect(key in info and bool(info[f"_{key}"][i]), f"{where}, table {i}: info lacks {key!r}")
        expect(
            bool(np.array_equal(info[key][i], value)),
            f"{where}, table {i}: info[{key!r}] is {info[key][i]}, of a single one {value}",
        )
