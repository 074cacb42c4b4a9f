"""The learning seats as a vector environment of Stable-Baselines3, ready for ``MaskablePPO``.

It needs ``stable-baselines3`` (the extra ``examples``), and is imported only by who asks for it.

>>> import dominozoo, gymnasium
>>> from dominozoo.single.sb3 import SeatVecEnv
>>> env = SeatVecEnv(gymnasium.make_vec("dominozoo/Block-v0", num_envs=4, opponents="hard"))
>>> env.seed(1)
[1, 2, 3, 4]
>>> observation = env.reset()
>>> observation.shape, observation.dtype
((4, 295), dtype('float32'))
>>> masks = env.env_method("action_masks")
>>> observation, rewards, dones, infos = env.step([mask.argmax() for mask in masks])
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from typing import Any, Final

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv

try:
    from stable_baselines3.common.monitor import Monitor
    from stable_baselines3.common.vec_env import VecEnv
    from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "dominozoo.single.sb3 needs Stable-Baselines3: pip install stable-baselines3 sb3-contrib"
    ) from error

from dominozoo.fields import Layout
from dominozoo.onehot import columns_of, expand
from dominozoo.single.vector import SeatVectorEnv
from dominozoo.tables import FAMILIES

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float32]
Json = dict[str, Any]

MASKS: Final = "action_masks"


class SeatVecEnv(VecEnv):
    """A :class:`SeatVectorEnv` as Stable-Baselines3 wants it.

    Observations are the one-hot form, float32 (num_envs, layout columns), since raw integers teach
    a network little; rewards float32 (num_envs,). The masks are where sb3-contrib looks for them:
    ``env_method("action_masks")``. The info of an unfinished episode is empty, that of a finished one holds

    * ``episode``: as a ``Monitor`` has it: "r" return, "l" decisions, "t" seconds since the start;
    * ``terminal_observation``: float32 (layout columns,);
    * ``TimeLimit.truncated``: bool, ``max_hands`` cut the match (``reward="match"`` alone);
    * what :class:`SeatEnv` tells at an episode's end: ``is_success``, ``illegal`` and so on.

    Attributes:
        layout: the fields of the observation.
    """

    def __init__(self, env: VectorEnv[Any, Any, Any]) -> None:
        """Wrap an environment.

        Args:
            env: of ``gymnasium.make_vec("dominozoo/...")``, with autoreset_mode SAME_STEP, which is
                the default.

        Raises:
            ValueError: any other environment or mode.
        """
        tables = getattr(env, "unwrapped", env)
        if not isinstance(tables, SeatVectorEnv):
            raise ValueError(
                "env must come from gymnasium.make_vec('dominozoo/...', num_envs=...), "
                f"not {type(tables).__name__}"
            )
        if tables.metadata["autoreset_mode"] is not AutoresetMode.SAME_STEP:
            raise ValueError("autoreset_mode must be SAME_STEP: Stable-Baselines3 knows no other")
        self.env, self.tables = env, tables
        self.layout: Layout = FAMILIES[tables.rules.variant.family].layout
        super().__init__(tables.num_envs, _space(self.layout), tables.single_action_space)
        self._returns = np.zeros(self.num_envs)
        self._lengths = np.zeros(self.num_envs, np.int64)
        self._started = time.time()
        self._actions: npt.NDArray[np.int64] = np.zeros(self.num_envs, np.int64)

    def reset(self) -> Floats:
        """Start episodes everywhere; seeds given by ``seed`` count once."""
        seeds: Any = None if self._seeds[0] is None else self._seeds
        observation, info = self.env.reset(seed=seeds)
        self._reset_seeds()
        self._reset_options()
        self.reset_infos = [{"seat": int(seat)} for seat in info["seat"]]
        self._returns[:] = 0
        self._lengths[:] = 0
        return expand(self.layout, observation["observation"])

    def step_async(self, actions: Sequence[int] | npt.NDArray[Any]) -> None:
        """Take the actions, integers (num_envs,)."""
        self._actions = np.asarray(actions)

    def step_wait(self) -> tuple[Floats, Floats, Bools, list[Json]]:
        """Make the moves; returns (observation, rewards, dones, infos).

        An illegal action ends its table's episode with reward -1 and an info that holds
        ``illegal``.

        Raises:
            ValueError: wrong shape or type, or an id out of range; nothing has moved then.
        """
        observation, rewards, terminated, truncated, info = self.env.step(self._actions)
        done = terminated | truncated
        self._returns += rewards
        self._lengths += 1
        infos: list[Json] = [{} for _ in range(self.num_envs)]
        for row in np.flatnonzero(done):
            infos[row] = self._ended(int(row), info)
            infos[row]["TimeLimit.truncated"] = bool(truncated[row])
        self._returns[done] = 0
        self._lengths[done] = 0
        seen = expand(self.layout, observation["observation"])
        return seen, rewards.astype(np.float32), done, infos

    def _ended(self, row: int, info: Json) -> Json:
        """What there is to tell of a finished episode."""
        final = info["final_info"]
        told = {
            name: final[name][row]
            for name in final
            if not name.startswith("_") and final[f"_{name}"][row]
        }
        told["is_success"] = bool(told["is_success"])
        last = info["final_obs"][row]["observation"]
        told["terminal_observation"] = expand(self.layout, last[None])[0]
        told["episode"] = {
            "r": round(float(self._returns[row]), 6),
            "l": int(self._lengths[row]),
            "t": round(time.time() - self._started, 6),
        }
        return told

    def close(self) -> None:
        """Close the tables."""
        self.env.close()

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """An attribute of the environment, once a table; ``action_masks`` is a table's own."""
        rows = list(self._get_indices(indices))
        if attr_name == MASKS:
            return [partial(self._mask, row) for row in rows]
        return [getattr(self.env, attr_name)] * len(rows)

    def _mask(self, row: int) -> Bools:
        mask: Bools = self.tables.action_masks()[row]
        return mask

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """Refused: what tables are is said when they are made."""
        raise AttributeError(f"{attr_name} can't be set: make other tables")

    def env_method(
        self,
        method_name: str,
        *method_args: Any,
        indices: VecEnvIndices = None,
        **method_kwargs: Any,
    ) -> list[Any]:
        """The masks of tables, each bool (actions,); there is no other method of a single table.

        Raises:
            AttributeError: any method but ``action_masks``.
        """
        if method_name != MASKS:
            raise AttributeError(f"a table has no method {method_name!r}, only {MASKS!r}")
        masks = self.tables.action_masks()
        return [masks[row] for row in self._get_indices(indices)]

    def env_is_wrapped(
        self,
        wrapper_class: type[gymnasium.Wrapper[Any, Any, Any, Any]],
        indices: VecEnvIndices = None,
    ) -> list[bool]:
        """No table is wrapped, but each tells what a ``Monitor`` would."""
        return [wrapper_class is Monitor for _ in self._get_indices(indices)]


def _space(layout: Layout) -> spaces.Box:
    """The space of the one-hot form."""
    high = expand(layout, layout.high()[None])[0]
    columns = columns_of(layout)
    high[columns.case > 0] = 1
    return spaces.Box(np.zeros_like(high), high, dtype=np.float32)
