"""The guard of ``env()``: PettingZoo's three usual wrappers in one, at a fifth of their cost."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from pettingzoo.utils.env import AECEnv
from pettingzoo.utils.env_logger import EnvLogger
from pettingzoo.utils.wrappers import OrderEnforcingWrapper

from dominozoo.rules import IllegalActionError

ILLEGAL_REWARD: Final = -1.0
# What a reset brings into being.
AFTER_RESET: Final = frozenset(
    (
        *("rewards", "terminations", "truncations", "infos"),
        *("agent_selection", "num_agents", "agents"),
    )
)

Observation = dict[str, Any]


class Guard(OrderEnforcingWrapper[str, Observation, int]):
    """Keeps the order of calls, the bounds of actions, and ends the episode at an illegal action.

    It does what ``OrderEnforcingWrapper(AssertOutOfBoundsWrapper(TerminateIllegalWrapper(env)))``
    does, with the same errors and warnings (of an action out of bounds it says more); whether an
    action is legal it asks the game, not the mask that it handed out.
    """

    def __init__(self, env: AECEnv[str, Observation, int]) -> None:
        """Guard an environment whose ``step`` raises IllegalActionError before anything moves."""
        super().__init__(env)
        space: Any = env.action_space(env.possible_agents[0])
        self._num_actions = int(space.n)

    def __getattr__(self, name: str) -> Any:
        """The environment's attribute, unless it is private, or comes with a reset only."""
        if name.startswith("_"):
            if name != "_cumulative_rewards":
                raise AttributeError(f"accessing private attribute '{name}' is prohibited")
        elif name in AFTER_RESET and not self._has_reset:
            raise AttributeError(f"{name} cannot be accessed before reset")
        return getattr(self.env, name)

    def __str__(self) -> str:
        """The environment's name."""
        return str(self.env)

    def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Observation, cumulative reward, termination, truncation, info of the agent to move."""
        if not self._has_reset:
            return super().last(observe)  # which says so
        env: Any = self.env
        agent = env.agent_selection
        return (
            self.observe(agent) if observe else None,
            env._cumulative_rewards[agent],
            env.terminations[agent],
            env.truncations[agent],
            env.infos[agent],
        )

    def step(self, action: int | None) -> None:
        """Make the action of ``agent_selection``; an illegal one ends the episode at -1.

        Raises:
            AssertionError: before a reset, or if the action is out of bounds.
            ValueError: if a finished agent's action isn't None.
        """
        env: Any = self.env
        if not self._has_reset:
            EnvLogger.error_step_before_reset()
        agents = env.agents
        self._has_updated = True
        if not agents:
            EnvLogger.warn_step_after_terminated_truncated()
            return
        if not (type(action) in (int, np.int64) and 0 <= action < self._num_actions):  # type: ignore[operator]
            self._check_bounds(env, action)
        try:
            env.step(action)
        except IllegalActionError:
            self._end(env)

    @staticmethod
    def _check_bounds(env: Any, action: Any) -> None:
        """AssertionError unless the action is in the space, or None of a finished agent."""
        agent = env.agent_selection
        if action is None and (env.terminations[agent] or env.truncations[agent]):
            return
        space = env.action_space(agent)
        if not space.contains(action):
            raise AssertionError(
                f"action is not in action space: {agent} gave {action!r}, it takes 0..{space.n - 1}"
            )

    @staticmethod
    def _end(env: Any) -> None:
        """End the episode for all agents; who moved gets -1, the others nothing."""
        EnvLogger.warn_on_illegal_move()
        agent = env.agent_selection
        env._cumulative_rewards[agent] = 0.0
        env.terminations = dict.fromkeys(env.agents, True)
        env.truncations = dict.fromkeys(env.agents, True)
        env.rewards = dict.fromkeys(env.agents, 0.0)
        env.rewards[agent] = ILLEGAL_REWARD
        env._accumulate_rewards()
        env._deads_step_first()
