"""Whatever can compute a bundle's policy here: NumPy, onnxruntime and PyTorch, as far as they are installed."""

from __future__ import annotations

import importlib
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from dominozoo.bots.archive import GRAPH, WEIGHTS, BundleError, read_weights
from dominozoo.bots.bundle import Bot, Bundle


class Reader(Protocol):
    """What computes a policy."""

    def evaluate(
        self, observation: npt.NDArray[Any], mask: npt.NDArray[Any], /
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """(B, size) and (B, actions) integers to probabilities (B, actions) and values (B,)."""
        ...


def readers_of(bundle: Bundle) -> dict[str, Reader]:
    """The readers of a bundle by name: ``NumPy``, and if installed ``onnxruntime``, ``PyTorch``.

    Raises:
        BundleError: if weights or graph are not what a bundle may hold.
    """
    readers: dict[str, Reader | None] = {
        "NumPy": Bot(bundle).network,
        "onnxruntime": graph_reader(bundle),
        "PyTorch": torch_reader(bundle),
    }
    return {name: reader for name, reader in readers.items() if reader is not None}


def graph_reader(bundle: Bundle) -> Reader | None:
    """A bundle's checked graph in onnxruntime; None if onnx or onnxruntime is not installed.

    Raises:
        BundleError: if the graph is not one that a bundle may hold.
    """
    try:
        from dominozoo_training.export import graph
    except ModuleNotFoundError:
        return None
    try:
        graph.check(bundle.members[GRAPH], bundle.shape.layout, bundle.action_count)
        return graph.GraphPolicy(bundle.members[GRAPH])
    except graph.GraphError as error:
        raise BundleError(f"{bundle.path}: {GRAPH}: {error}") from None


def torch_reader(bundle: Bundle) -> Reader | None:
    """A bundle's weights in the network that policies are trained as; None without PyTorch.

    Call it after the weights were read once: what they hold is taken as checked.
    """
    try:
        torch = importlib.import_module("torch")
        policy = importlib.import_module("dominozoo_training.policy.network")
    except ModuleNotFoundError:
        return None
    from dominozoo_training.export.torch_reader import TorchReader, one_thread

    weights = read_weights(bundle.members[WEIGHTS])
    hidden, value_hidden = (
        tuple(len(weights[f"{name}.{2 * k}.bias"]) for k in range(_depth(weights, name)))
        for name in ("score", "worth")
    )
    encoder = policy.encoder_of(bundle.rules, bundle.manifest["network"])
    with one_thread():  # fresh weights come first, and many threads wait for each other there
        network = policy.PolicyNetwork(encoder, hidden, value_hidden)
    network.load_state_dict({name: torch.from_numpy(array) for name, array in weights.items()})
    return TorchReader(network)


def _depth(weights: dict[str, Any], name: str) -> int:
    """How many hidden layers a part of the network has."""
    return sum(key.startswith(f"{name}.") and key.endswith(".bias") for key in weights) - 1
