"""Models of Stable-Baselines3 as policies: PPO, or MaskablePPO of sb3-contrib.

A saved model is a zip file whose settings are pickled: load only files of people whom you trust.
It knows the shape of its observations but not its game, so which game it plays is up to the caller.
"""

from __future__ import annotations

import importlib
import json
import zipfile
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dominozoo.fields import Layout
from dominozoo.onehot import expand
from dominozoo.rules import Rules
from dominozoo.tables import FAMILIES

Array = npt.NDArray[Any]

DICT_KEYS: Final = {"observation", "action_mask"}
# What only training needs, and what old Pythons may have pickled in their own way.
FORGOTTEN: Final = {"lr_schedule": lambda _: 0.0, "learning_rate": 0.0, "clip_range": 0.2}


class ModelPolicy:
    """A model behind ``probabilities``.

    Attributes:
        model: PPO or MaskablePPO.
        layout: of the observation.
        masked: whether the model knows of legal actions by itself.
        form: what it saw: "onehot" as ``SeatVecEnv`` gives it, "plain" integers, or a "dict" of both
            as ``gymnasium.make("dominozoo/...")`` gives it.
    """

    def __init__(self, model: Any, layout: Layout, masked: bool, form: str) -> None:
        self.model, self.layout, self.masked, self.form = model, layout, masked, form

    def probabilities(self, observation: Array, mask: Array) -> npt.NDArray[np.float64]:
        """Chances of all actions, (k, actions) float64, 0 where illegal.

        A model without masks may want illegal actions alone; then all legal ones are as likely.
        """
        import torch

        seen: Any = observation
        if self.form == "onehot":
            seen = expand(self.layout, np.ascontiguousarray(observation, np.int16))
        elif self.form == "dict":
            seen = {"observation": observation, "action_mask": mask}
        policy = self.model.policy
        policy.set_training_mode(False)
        with torch.no_grad():
            inputs, _ = policy.obs_to_tensor(seen)
            more = {"action_masks": mask.astype(bool)} if self.masked else {}
            chances = policy.get_distribution(inputs, **more).distribution.probs
        legal: npt.NDArray[np.float64] = chances.cpu().numpy().astype(np.float64) * mask
        lost = legal.sum(axis=1) <= 0
        legal[lost] = mask[lost]
        legal /= legal.sum(axis=1, keepdims=True)
        return legal


def load_model(path: Path, rules: Rules) -> ModelPolicy:
    """Load a saved model for a game.

    Raises:
        OSError: the file can't be read.
        ValueError: no such model, or its observation or actions aren't this game's.
        ImportError: a library is missing; names it.
    """
    maskable = is_maskable(path)
    try:
        package = "sb3_contrib" if maskable else "stable_baselines3"
        algorithm = getattr(importlib.import_module(package), "MaskablePPO" if maskable else "PPO")
    except ModuleNotFoundError as error:
        raise ImportError(
            f"{path} is a model of Stable-Baselines3, which needs {error.name}: "
            "pip install stable-baselines3 sb3-contrib"
        ) from None
    try:
        model = algorithm.load(path, device="cpu", custom_objects=dict(FORGOTTEN))
    except Exception as error:
        raise ValueError(f"{path} can't be loaded: {type(error).__name__}: {error}") from error
    family = FAMILIES[rules.variant.family]
    actions = getattr(model.action_space, "n", None)
    if actions != family.num_actions(rules):
        raise ValueError(
            f"{path} was made for {actions} actions, {rules} has {family.num_actions(rules)}"
        )
    return ModelPolicy(model, family.layout, maskable, form_of(path, model, family.layout))


def is_maskable(path: Path) -> bool:
    """Whether a file holds a MaskablePPO; False: a PPO.

    Raises:
        OSError: the file can't be read.
        ValueError: it is no model of Stable-Baselines3, or one of another algorithm.
    """
    try:
        with zipfile.ZipFile(path) as file:
            data = json.loads(file.read("data"))
        policy = str(data["policy_class"]["__module__"])
        known = "n_epochs" in data and "clip_range" in data
    except (zipfile.BadZipFile, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path} is no model of Stable-Baselines3: {error}") from None
    if not known:
        raise ValueError(f"{path}: only models of PPO and MaskablePPO can play")
    return "maskable" in policy


def form_of(path: Path, model: Any, layout: Layout) -> str:
    """What a model's observations are; ValueError if they are none of this game's."""
    space = model.observation_space
    if set(getattr(space, "spaces", ())) == DICT_KEYS:
        shape, forms = space["observation"].shape, {(layout.size,): "dict"}
    else:
        shape, forms = space.shape, {(layout.columns,): "onehot", (layout.size,): "plain"}
    if shape not in forms:
        raise ValueError(
            f"{path} was made for observations of shape {shape}; this game's are "
            f"{(layout.size,)}, as one-hot {(layout.columns,)}"
        )
    return forms[shape]
