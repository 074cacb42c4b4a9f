"""How a policy is kept: a folder of safetensors, JSON and a card. Never a pickle.

``weights.safetensors`` holds the network, ``meta.json`` what it plays, how it was trained and how
strong it was measured, ``card.md`` the same for people. A file is written under another name and
renamed, so a folder is either whole or not there.

>>> policy = load_policy("checkpoints/block_v0")
>>> str(policy.rules)
'block'
"""

from __future__ import annotations

import hashlib
import json
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import safetensors
import safetensors.torch
import torch

from dominozoo.rules import Rules, RulesError, parse
from dominozoo_training.policy.compiled import describe
from dominozoo_training.policy.encoder import Encoder
from dominozoo_training.policy.folders import (
    CARD,
    FORMAT,
    META,
    WEIGHTS,
    CheckpointError,
    policy_folder,
    read_file,
    read_meta,
)
from dominozoo_training.policy.network import PolicyNetwork, encoder_for, encoder_of, spread


class Policy:
    """A network together with the game that it plays.

    Attributes:
        network: on the CPU.
        rules: the game that it was trained on.
        meta: ``meta.json``; empty for a policy that was not loaded.
    """

    def __init__(
        self, network: PolicyNetwork, rules: Rules, meta: dict[str, Any] | None = None
    ) -> None:
        self.network = network
        self.rules = rules
        self.meta = meta or {}

    @torch.inference_mode()
    def probabilities(
        self, observation: npt.NDArray[np.int16], mask: npt.NDArray[np.int8]
    ) -> npt.NDArray[np.float32]:
        """Chances of all actions, (k, actions) float32, exactly 0 where illegal.

        Args:
            observation: (k, layout size) int16.
            mask: (k, actions) int8, 1 = legal, at least one a row.

        Raises:
            ValueError: for another shape, or a row without a legal action.
        """
        observation, mask = self._checked(observation, mask)
        inputs = describe(self.network.encoder, observation, mask)
        rows, columns = torch.from_numpy(inputs.rows), torch.from_numpy(inputs.columns)
        scores = self.network.score(torch.from_numpy(inputs.actions)).squeeze(-1)
        grid = torch.softmax(spread(scores, rows, columns, len(mask)), dim=1)
        chances = np.zeros(mask.shape, np.float32)
        chances[inputs.rows, inputs.ids] = grid[rows, columns].numpy()
        return chances

    @torch.inference_mode()
    def value(self, observation: npt.NDArray[np.int16]) -> npt.NDArray[np.float32]:
        """What the observer may expect of the hand, (k,) float32; see ``meta["goal"]``."""
        none = np.zeros((len(observation), self.network.action_count), np.int8)
        observation = np.ascontiguousarray(observation, np.int16)
        inputs = describe(self.network.encoder, observation, none)
        worth: npt.NDArray[np.float32] = (
            self.network.worth(torch.from_numpy(inputs.values)).squeeze(-1).numpy()
        )
        return worth

    def play(
        self,
        observation: npt.NDArray[np.int16],
        mask: npt.NDArray[np.int8],
        rng: np.random.Generator | None = None,
    ) -> npt.NDArray[np.int64]:
        """Choose actions, (k,) int64: the likeliest, or with a generator drawn by their chances."""
        chances = self.probabilities(observation, mask)
        if rng is None:
            best: npt.NDArray[np.int64] = chances.argmax(axis=1)
            return best
        total = chances.cumsum(axis=1)
        draw = (1.0 - rng.random(len(total), np.float32)) * total[:, -1]
        actions: npt.NDArray[np.int64] = (total < draw[:, None]).sum(axis=1)
        return actions

    def _checked(
        self, observation: npt.NDArray[np.int16], mask: npt.NDArray[np.int8]
    ) -> tuple[npt.NDArray[np.int16], npt.NDArray[np.int8]]:
        size, count = self.network.encoder.layout.size, self.network.action_count
        if observation.ndim != 2 or observation.shape[1] != size:
            raise ValueError(f"observation must be (k, {size}), not {observation.shape}")
        if mask.shape != (len(observation), count):
            raise ValueError(f"mask must be ({len(observation)}, {count}), not {mask.shape}")
        if not mask.any(axis=1).all():
            raise ValueError("every row of the mask needs a legal action")
        return np.ascontiguousarray(observation, np.int16), np.ascontiguousarray(mask, np.int8)


def describe_policy(policy: Policy, **more: Any) -> dict[str, Any]:
    """The entries of ``meta.json``; ``more`` adds decisions, seed, goal, strength."""
    network = policy.network
    return {
        "format": FORMAT,
        "game": str(policy.rules),
        "rules": policy.rules.options,
        **contract(network.encoder),
        "network": {
            **network.encoder.sizes,
            "hidden": list(network.hidden),
            "value_hidden": list(network.value_hidden),
        },
        "versions": versions(),
        **more,
    }


def contract(encoder: Encoder) -> dict[str, Any]:
    """What a policy was made for: the entries of ``meta.json`` that must fit this program."""
    layout = encoder.layout
    return {
        "observation": {"name": layout.name, "version": layout.version},
        "encoding": encoder.version,
        "actions": encoder.action_count,
    }


def versions() -> dict[str, str]:
    """Versions of what a policy was made with."""
    found = {"python": platform.python_version()}
    for name in ("dominozoo", "torch", "numpy", "numba"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # run from a source tree
            found[name] = "unknown"
    return found


def policy_files(policy: Policy, meta: dict[str, Any], card: str | None = None) -> dict[str, bytes]:
    """The files of a published policy by name."""
    tensors = {k: v.detach().cpu().contiguous() for k, v in policy.network.state_dict().items()}
    weights = safetensors.torch.save(tensors)
    meta = {**meta, "sha256": hashlib.sha256(weights).hexdigest()}
    files = {WEIGHTS: weights, META: as_json(meta)}
    if card is not None:
        files[CARD] = card.encode()
    return files


def as_json(data: Any) -> bytes:
    """Readable JSON, the same bytes for the same data."""
    return (json.dumps(data, indent=1) + "\n").encode()


def load_policy(path: str | Path) -> Policy:
    """Load a policy for play, on the CPU.

    Args:
        path: a checkpoint's folder, a run's (its last checkpoint), ``runs/x@best`` or ``@last``.

    Raises:
        CheckpointError: if a file is missing, cut or changed, or if it is for another observation
            version or game than this program has.
    """
    folder = policy_folder(path)
    meta = read_meta(folder)
    try:
        rules = parse(meta["game"])
        network = PolicyNetwork(
            encoder_of(rules, meta["network"]),
            tuple(meta["network"]["hidden"]),
            tuple(meta["network"]["value_hidden"]),
        )
    except (RulesError, KeyError, TypeError, AttributeError, RuntimeError) as error:
        raise CheckpointError(f"{folder / META}: {error!r} in 'game' or 'network'") from error
    check_fit(folder, meta, rules, network)
    load_weights(network, folder, meta)
    network.eval().requires_grad_(False)
    return Policy(network, rules, meta)


def check_fit(folder: Path, meta: dict[str, Any], rules: Rules, network: PolicyNetwork) -> None:
    """Compare what a policy was made for with what this program has."""
    wanted = {**contract(encoder_for(rules)), "rules": rules.options}
    for key, value in wanted.items():
        if meta.get(key) != value:
            raise CheckpointError(
                f"{folder / META}: made for {key} {meta.get(key)!r}; "
                f"{rules} has {value!r} in this program"
            )
    if network.action_count != wanted["actions"]:
        raise CheckpointError(f"{folder / META}: the network's ends don't fit {rules}")


def load_weights(network: PolicyNetwork, folder: Path, meta: dict[str, Any]) -> None:
    """Read the weights into a network; refuses any that are not exactly those of ``meta``."""
    path = folder / WEIGHTS
    data = read_file(path)
    if hashlib.sha256(data).hexdigest() != meta.get("sha256"):
        raise CheckpointError(f"{path} is cut or changed: its SHA-256 is not that of {META}")
    try:
        network.load_state_dict(safetensors.torch.load(data))
    except (safetensors.SafetensorError, RuntimeError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise CheckpointError(f"{path} does not fit the network of {META}: {reason}") from error
    if not all(bool(torch.isfinite(weight).all()) for weight in network.state_dict().values()):
        raise CheckpointError(f"{path} holds weights that are no finite numbers")


def require_game(policy: Policy, rules: Rules, name: str) -> None:
    """Refuse a policy in a game with other rules than it was trained on.

    Raises:
        CheckpointError: naming both games.
    """
    if policy.rules != rules:
        raise CheckpointError(f"{name} plays {policy.rules}, not {rules}")
