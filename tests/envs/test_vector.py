"""Many learning seats as a Gymnasium vector environment; its play is held by test_conformance."""

from __future__ import annotations

import copy
import pickle
from typing import Any, cast

import gymnasium
import numpy as np
import pytest
from gymnasium.utils import performance
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers.vector import RecordEpisodeStatistics

from dominozoo.single import SeatVectorEnv

Json = dict[str, Any]
BLOCK = "dominozoo/Block-v0"
MODES = list(AutoresetMode)


def many(num_envs: int = 4, **arguments: Any) -> Any:
    return gymnasium.make_vec(BLOCK, num_envs=num_envs, **arguments)


def actions_of(observation: Json) -> Any:
    return observation["action_mask"].argmax(axis=1)


def equal(one: Any, other: Any) -> None:
    """Equal as Gymnasium's own vectors say it, but for what one table alone tells."""
    if isinstance(one, dict):
        left, right = (
            {k for k in d if k.lstrip("_") not in ("hands", "illegal")} for d in (one, other)
        )
        assert left == right
        for key in left:
            equal(one[key], other[key])
    elif isinstance(one, np.ndarray) and one.dtype == object:
        for a, b in zip(one, other, strict=True):
            equal(a, b)
    else:
        assert np.array_equal(one, other)
        assert np.asarray(one).dtype == np.asarray(other).dtype


@pytest.mark.parametrize("mode", [AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP])
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        (BLOCK, {"players": 3, "max_hands": 1, "reward": "match"}),
        ("dominozoo/Truc-v0", {"target": 2}),
        ("dominozoo/Partnership-v0", {"max_hands": 2, "partner": "easy"}),
    ],
)
def test_it_is_gymnasiums_vector_of_single_ones(
    name: str, arguments: Json, mode: AutoresetMode
) -> None:
    ours: Any = gymnasium.make_vec(
        name, num_envs=3, opponents="normal", autoreset_mode=mode, **arguments
    )
    theirs: Any = SyncVectorEnv(
        [lambda: gymnasium.make(name, opponents="normal", **arguments)] * 3, autoreset_mode=mode
    )
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    results = ours.reset(seed=5), theirs.reset(seed=5)
    rng, ended = np.random.default_rng(0), 0
    for step in range(60):
        for mine, other in zip(*results, strict=True):
            equal(mine, other)
        observation = results[0][0]
        mask = observation["action_mask"]
        actions = (mask * rng.random(mask.shape)).argmax(axis=1)
        if step % 9 == 0:  # an illegal action now and then
            actions = rng.integers(0, mask.shape[1], 3)
        results = ours.step(actions), theirs.step(actions)
        ended += int((results[0][2] | results[0][3]).sum())
    assert ended > 5


@pytest.mark.parametrize("mode", MODES)
def test_gymnasiums_statistics(mode: AutoresetMode) -> None:
    env = RecordEpisodeStatistics(many(6, opponents="easy", max_hands=1, autoreset_mode=mode))
    observation, _ = env.reset(seed=1)
    done = np.zeros(6, np.bool_)
    for _ in range(40):
        if mode is AutoresetMode.DISABLED and done.any():
            observation, _ = env.reset(options={"reset_mask": done})
        observation, _, terminated, truncated, _ = env.step(actions_of(observation))
        done = terminated | truncated
    assert env.episode_count > 10
    assert min(env.length_queue) >= 1
    assert any(r != 0 for r in env.return_queue)


@pytest.mark.parametrize("mode", MODES)
def test_gymnasiums_benchmark_runs_on_unmasked_actions(mode: AutoresetMode) -> None:
    if not hasattr(performance, "benchmark_vector_step"):
        pytest.skip("this Gymnasium is older than its benchmark")
    env, seconds = many(3, autoreset_mode=mode), cast(int, 0.1)
    assert performance.benchmark_vector_step(env, target_duration=seconds, seed=1) > 0


def test_same_step_tells_how_the_old_episode_ended() -> None:
    env = many(8, opponents="easy", max_hands=1, seat=0)
    assert env.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    observation, info = env.reset(seed=2)
    assert info["seat"].tolist() == [0] * 8
    while True:
        observation, reward, terminated, truncated, info = env.step(actions_of(observation))
        if terminated.any():
            break
    assert "final_info" in info
    assert (info["_final_obs"] == terminated).all()
    assert not truncated.any()
    final = info["final_info"]
    for i in np.flatnonzero(terminated):
        assert env.single_observation_space.contains(info["final_obs"][i])
        assert not info["final_obs"][i]["action_mask"].any()
        assert final["hands_ended"][i] == 1
        assert final["rewards"][i, 0] == reward[i]
        assert final["is_success"][i] == (reward[i] > 0)
        assert observation["action_mask"][i].any()
        assert not info["rewards"][i].any()
    assert all(info["final_obs"][i] is None for i in np.flatnonzero(~terminated))


def test_masks() -> None:
    env = many(5, opponents="easy")
    observation, _ = env.reset(seed=1)
    for _ in range(5):
        masks = env.action_masks()
        assert masks.dtype == np.bool_
        assert (masks == observation["action_mask"]).all()
        assert masks.any(axis=1).all()
        observation["action_mask"][:] = 0
        assert (env.action_masks() == masks).all()
        observation, *_ = env.step(masks.argmax(axis=1))


def test_illegal_actions_end_their_own_episodes_alone() -> None:
    env = many(3, opponents="easy", autoreset_mode="Disabled")
    observation, _ = env.reset(seed=1)
    actions = actions_of(observation)
    actions[1] = observation["action_mask"][1].argmin()
    observation, reward, terminated, truncated, info = env.step(actions)
    assert (reward[1], terminated[1], truncated[1]) == (-1, True, False)
    assert info["_illegal"].tolist() == [False, True, False]
    assert not info["is_success"][1]
    assert not observation["action_mask"][1].any()
    with pytest.raises(ValueError, match=r"tables \[1\] are over: reset.*reset_mask"):
        env.step(actions)
    observation, info = env.reset(options={"reset_mask": terminated})
    assert info["_seat"].tolist() == [False, True, False]
    env.step(actions_of(observation))


@pytest.mark.parametrize("mode", [*MODES, "SameStep", "NEXT_STEP"])
def test_modes_by_member_value_or_name(mode: Any) -> None:
    env = many(1, autoreset_mode=mode)
    member = env.metadata["autoreset_mode"]
    assert mode in (member, member.value, member.name)


def test_seeds_of_tables() -> None:
    env = many(3)
    first = env.reset(seed=7)[0]["observation"]
    assert (env.reset(seed=[7, 8, 9])[0]["observation"] == first).all()
    turned = env.reset(seed=[9, 8, 7])[0]["observation"]
    assert (turned[::-1] == first).all()
    on = env.reset()[0]["observation"]
    assert (on != turned).any(axis=1).all()
    mask = np.array([False, True, False])
    again = env.reset(seed=7, options={"reset_mask": mask})[0]["observation"]
    assert (again[1] == first[1]).all()
    assert (again[[0, 2]] == on[[0, 2]]).all()
    fresh = many(1).reset()[0]["observation"], many(1).reset()[0]["observation"]
    assert (fresh[0] != fresh[1]).any()


@pytest.mark.parametrize("way", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_a_copy_goes_on_alike(way: Any) -> None:
    env = SeatVectorEnv("french", 4, opponents="hard")
    observation, _ = env.reset(seed=1)
    for _ in range(10):
        observation, *_ = env.step(actions_of(observation))
    other = way(env)
    for _ in range(10):
        mine, theirs = env.step(actions_of(observation)), other.step(actions_of(observation))
        observation = mine[0]
        equal(mine[0], theirs[0])
        assert (mine[1] == theirs[1]).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_envs": 0}, "num_envs must be an integer of at least 1, not 0"),
        ({"num_envs": -1}, "num_envs must"),
        ({"num_envs": 2.0}, "num_envs must"),
        ({"num_envs": True}, "num_envs must"),
        ({"autoreset_mode": "Never"}, "SAME_STEP, DISABLED, not 'Never'|one of .*not 'Never'"),
        ({"autoreset_mode": None}, "autoreset_mode must be one of"),
        ({"render_mode": "ansi"}, "gymnasium.make draws one table"),
    ],
)
def test_wrong_arguments(arguments: Json, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        gymnasium.make_vec(BLOCK, **{"num_envs": 2, **arguments})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"seed": -1}, "seed must lie in"),
        ({"seed": (1 << 64) - 2}, r"seed \+ 2 must lie"),
        ({"seed": 1.5}, "seed must be an integer"),
        ({"seed": [1, 2]}, "2 seeds for 3 tables"),
        ({"seed": [1, 2, -3]}, "seed must lie in"),
        ({"options": {"reset_mask": [True]}}, r"bool array of shape \(3,\)"),
        ({"options": {"reset_mask": np.ones(3)}}, "bool array"),
        ({"options": {"reset_mask": np.zeros(3, bool)}}, "at least one"),
        ({"options": {"reset_mask": np.arange(3) > 0}}, "reset all tables first"),
        ({"options": {"scores": [1, 1]}}, "can't be set up by scores; use gymnasium.make"),
        ({"options": {"score": [1, 1]}}, "did you mean 'scores'"),
    ],
)
def test_wrong_resets(arguments: Json, message: str) -> None:
    env = many(3)
    with pytest.raises(ValueError, match=message):
        env.reset(**arguments)
    env.reset(seed=1, options={"unknown": 1})


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        ([0, 0, 0], r"integers of shape \(2,\), not int64 of shape \(3,\)"),
        ([0.0, 0.0], "not float64"),
        ([58, 0], "table 0: action 58 is none of 0..57"),
        ([0, -1], "table 1: action -1 is none"),
    ],
)
def test_wrong_actions(actions: Any, message: str) -> None:
    env = many(2)
    with pytest.raises(ValueError, match=r"call reset\(\)"):
        env.step(actions)
    observation, _ = env.reset(seed=1)
    with pytest.raises(ValueError, match=message):
        env.step(actions)
    env.step(actions_of(observation))


def test_many_tables_are_not_drawn() -> None:
    with pytest.raises(gymnasium.error.Error, match=r"gymnasium\.make draws one"):
        many(2).render()


@pytest.mark.parametrize(
    "key", ["reset_masks", "reset-mask", "resetmask", "Reset_Mask", "rest_mask"]
)
def test_nearly_a_reset_mask(key: str) -> None:
    env = SeatVectorEnv("block", 3)
    before = env.reset(seed=1)[0]["observation"]
    with pytest.raises(ValueError, match=f"'{key}' is unknown; did you mean 'reset_mask'"):
        env.reset(options={key: np.array([True, False, False])})
    assert np.array_equal(env._observe()["observation"], before)
    env.reset(options={"hint": 1})  # anything else may be another program's
