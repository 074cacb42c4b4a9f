"""The trained network itself as a reader: what the exported graph is held against."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from dominozoo_training.policy.network import PolicyNetwork


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Let torch work on one thread: small batches gain nothing from more and wait for them."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


class TorchReader:
    """The trained network itself, as it is exported: all actions under the mask."""

    def __init__(self, network: PolicyNetwork) -> None:
        self.network = network.eval()

    @torch.inference_mode()
    def evaluate(
        self, observation: npt.NDArray[Any], mask: npt.NDArray[Any]
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """Probabilities (B, actions) and values (B,)."""
        inputs = (torch.from_numpy(array.astype(np.int32)) for array in (observation, mask))
        with one_thread():
            probabilities, value = self.network(*inputs)
        return probabilities.numpy(), value.numpy()
