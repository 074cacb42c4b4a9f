"""Gymnasium environments: one learning seat, the others are played by bots.

``gymnasium.make("dominozoo/Partnership-v0", opponents="hard", partner="hard")`` makes a
:class:`SeatEnv`, ``gymnasium.make_vec`` a :class:`SeatVectorEnv`: the same games, many at once.

>>> import dominozoo, gymnasium
>>> env = gymnasium.make("dominozoo/Block-v0", opponents="hard", seat=0)
>>> observation, info = env.reset(seed=1)
>>> sorted(observation), info["seat"]
(['action_mask', 'observation'], 0)
>>> action = env.action_space.sample(observation["action_mask"])
>>> observation, reward, terminated, truncated, info = env.step(action)

The learning seat is asked for its first turn of an episode, then wherever it has a choice; moves
without one are made for it. So every episode has a step, and every other step is a decision. The
reward is the seat's own, of all hands that ended since its last decision. An illegal action ends
the episode at -1, as it does in the games' ``env()``.
"""

from __future__ import annotations

from dominozoo.single.env import SeatEnv
from dominozoo.single.measure import WinRate, win_rate
from dominozoo.single.opponents import OpponentError, Player
from dominozoo.single.vector import SeatVectorEnv

__all__ = ["OpponentError", "Player", "SeatEnv", "SeatVectorEnv", "WinRate", "win_rate"]
