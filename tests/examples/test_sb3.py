"""What Stable-Baselines3 and sb3-contrib find in the adapter."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest

import dominozoo  # noqa: F401  (registers the environments)
from dominozoo.fields import LINE_LAYOUT

pytest.importorskip("sb3_contrib", reason="sb3_contrib missing: pip install '.[examples]'")

from sb3_contrib.common.maskable.utils import (
    get_action_masks,
    is_masking_supported,
)
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecMonitor

from dominozoo.single.sb3 import SeatVecEnv

BLOCK = "dominozoo/Block-v0"


def both(num_envs: int = 6, **arguments: Any) -> tuple[SeatVecEnv, Any]:
    """The adapter, and the same tables bare, with the same seeds."""
    ours, bare = (gymnasium.make_vec(BLOCK, num_envs=num_envs, **arguments) for _ in range(2))
    return SeatVecEnv(ours), bare


def test_steps_are_those_of_the_tables() -> None:
    env, bare = both(opponents="easy", max_hands=1)
    assert env.seed(4) == [4, 5, 6, 7, 8, 9]
    seen: Any = env.reset()
    plain, info = bare.reset(seed=4)
    assert [one["seat"] for one in env.reset_infos] == info["seat"].tolist()
    returns, lengths, ended = np.zeros(6), np.zeros(6, int), 0
    for _ in range(30):
        assert (seen == LINE_LAYOUT.expand(plain["observation"])).all()
        assert all(map(env.observation_space.contains, seen))
        masks = get_action_masks(env)
        assert masks.dtype == np.bool_
        assert (masks == plain["action_mask"]).all()
        actions = masks.argmax(axis=1)
        seen, rewards, dones, infos = env.step(actions)
        plain, reward, terminated, truncated, info = bare.step(actions)
        assert rewards.dtype == np.float32
        assert rewards == pytest.approx(reward)
        assert (dones == (terminated | truncated)).all()
        returns, lengths = returns + reward, lengths + 1
        for row, (done, told) in enumerate(zip(dones, infos, strict=True)):
            if not done:
                assert told == {}
                continue
            ended += 1
            assert told["episode"]["r"] == pytest.approx(returns[row], abs=1e-6)
            assert told["episode"]["l"] == lengths[row]
            assert told["is_success"] is bool(info["final_info"]["is_success"][row])
            assert told["TimeLimit.truncated"] is False
            last = info["final_obs"][row]["observation"]
            assert (told["terminal_observation"] == LINE_LAYOUT.expand(last)).all()
            returns[row] = lengths[row] = 0
    assert ended > 20


def test_an_episode_that_is_cut_says_so() -> None:
    env, _ = both(3, reward="match", max_hands=1, target=1000)
    env.seed(1)
    env.reset()
    dones, infos = np.zeros(3, np.bool_), list[Any]()
    while not dones.any():
        _, _, dones, infos = env.step(get_action_masks(env).argmax(axis=1))
    assert [info["TimeLimit.truncated"] for info in infos if info] == [True] * dones.sum()


def test_a_seed_counts_once() -> None:
    env, _ = both()
    env.seed(1)
    first, on = env.reset(), env.reset()
    env.seed(1)
    assert (env.reset() == first).all()
    assert (on != first).any()


def test_masks_and_attributes_are_where_sb3_looks() -> None:
    env, _ = both(3)
    env.reset()
    assert is_masking_supported(env)
    masks = get_action_masks(env)
    assert (env.env_method("action_masks", indices=[2, 0])[0] == masks[2]).all()
    assert (env.get_attr("action_masks", indices=1)[0]() == masks[1]).all()
    assert env.get_attr("num_envs") == [3, 3, 3]
    assert not env.has_attr("nothing_of_the_kind")
    assert env.env_is_wrapped(Monitor) == [True] * 3
    assert env.env_is_wrapped(gymnasium.Wrapper) == [False] * 3
    with pytest.warns(UserWarning, match="already wrapped with a `Monitor`"):
        assert is_masking_supported(VecMonitor(env))
    with pytest.raises(AttributeError, match="no method 'render_all', only 'action_masks'"):
        env.env_method("render_all")
    with pytest.raises(AttributeError, match="target can't be set"):
        env.set_attr("target", 5)
    env.close()


def test_what_is_no_domino_table_is_refused() -> None:
    with pytest.raises(ValueError, match=r"must come from gymnasium\.make_vec"):
        SeatVecEnv(gymnasium.make_vec("CartPole-v1", num_envs=2))
    name: Any = "Block"
    with pytest.raises(ValueError, match=r"must come from gymnasium\.make_vec.*, not str"):
        SeatVecEnv(name)
    other = gymnasium.make_vec(BLOCK, num_envs=2, autoreset_mode="NextStep")
    with pytest.raises(ValueError, match="autoreset_mode must be SAME_STEP"):
        SeatVecEnv(other)
