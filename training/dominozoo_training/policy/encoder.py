"""What every family's encoder offers, and the two ways of naming actions.

An encoder is the arithmetic from the contract's observation to what the networks read. It has no
weights, only constant tables.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from dominozoo.fields import Layout


class Legal:
    """The legal actions of a batch as a flat list: action ``actions[k]`` of row ``rows[k]``."""

    def __init__(self, rows: Tensor, actions: Tensor) -> None:
        self.rows = rows
        self.actions = actions

    def of_state(self, values: Tensor) -> Tensor:
        """Each entry's row of a (B, ...) tensor."""
        return values[self.rows]

    def at(self, table: Tensor, index: Tensor) -> Tensor:
        """Entry k's row ``index[k]`` of a (B, R, C) table: (K, C); index (K, E) gives (K, E, C)."""
        rows = self.rows if index.dim() == 1 else self.rows[:, None]
        return table[rows, index]


class Everything:
    """All action ids of every row: (B, A, ...) tensors, as the exported graph has them."""

    def __init__(self, batch: Tensor, count: int) -> None:
        self.count = count
        ids = torch.arange(count, dtype=torch.int64, device=batch.device)
        self.actions = ids[None, :].expand(batch.shape[0], count)

    def of_state(self, values: Tensor) -> Tensor:
        """A (B, ...) tensor repeated for each action: (B, A, ...)."""
        return values.unsqueeze(1).expand(-1, self.count, *([-1] * (values.dim() - 1)))

    def at(self, table: Tensor, index: Tensor) -> Tensor:
        """Row ``index`` of a (B, R, C) table: (B, A, C); index (B, A, E) gives (B, A, E, C)."""
        flat = index.reshape(index.shape[0], -1, 1).expand(-1, -1, table.shape[-1])
        return torch.gather(table, 1, flat).reshape(*index.shape, table.shape[-1])


class Encoder(nn.Module, ABC):
    """The arithmetic of a family of games; the state it reads has ``summary``, (B, state_columns).

    Attributes:
        layout: of the observations that it reads.
        version: goes up when a column changes: older weights no longer fit.
        sizes: what else it was made with, as ``meta.json`` keeps it.
        action_count: size of the action space.
        action_columns: columns of a described action, the summary left out.
        state_columns: columns of the summary.
        value_columns: columns that the policy's own value reads.
        critic_columns: columns that the critic reads.
    """

    layout: Layout
    version: int
    sizes: dict[str, int]
    action_count: int
    action_columns: int
    state_columns: int
    value_columns: int
    critic_columns: int

    @property
    def score_columns(self) -> int:
        """Columns that the score of an action reads."""
        return self.action_columns + self.state_columns

    @abstractmethod
    def state(self, observation: Tensor) -> Any:
        """Read a batch of observations: (B, layout size) integers."""

    @abstractmethod
    def actions(self, state: Any, entries: Legal | Everything) -> Tensor:
        """Describe actions by what they lead to, (..., action_columns)."""

    @abstractmethod
    def values(self, state: Any) -> Tensor:
        """What the policy's own value reads, (B, value_columns)."""

    @abstractmethod
    def critic(self, state: Any, secrets: Tensor) -> Tensor:
        """What the critic reads, (B, critic_columns); secrets (B, k, 28) as zeros and ones."""

    @abstractmethod
    def secrets(
        self, records: npt.NDArray[Any], turn: npt.NDArray[np.int8]
    ) -> npt.NDArray[np.uint32]:
        """What the critic sees beside the observation of the seat to move: (B, k) masks of tiles."""


def relative_hands(
    records: npt.NDArray[Any], turn: npt.NDArray[np.int8], players: int
) -> npt.NDArray[np.uint32]:
    """All hands seen from the seats to move: (B, players) uint32, bit = tile id."""
    seats = (turn[:, None].astype(np.int64) + np.arange(players)) % players
    hands: npt.NDArray[np.uint32] = np.take_along_axis(records["hands"], seats, axis=1)
    return hands
