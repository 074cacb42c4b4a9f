"""Training in several processes, started by ``torchrun``: every process plays tables of its own.

Gradients are averaged, and so is what the losses are normalised by: an update equals that of one
process with all tables. Weights start equal, since the seed is the same, and stay so. Whatever a
process decides by its clock or by a signal, all decide together.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import torch
from torch import Tensor
from torch import distributed as dist


@dataclass(frozen=True, slots=True)
class Team:
    """The processes of a run.

    Attributes:
        rank: of this one, 0..size-1; 0 leads: it alone writes, shows and judges.
        size: how many there are; with one, all methods do nothing.
        device: where what is exchanged has to be.
    """

    rank: int = 0
    size: int = 1
    device: str = "cpu"

    @property
    def leads(self) -> bool:
        """Whether this process is the one that writes."""
        return self.rank == 0

    def mean(self, value: Tensor) -> Tensor:
        """The mean over the processes of a tensor that no gradient runs through."""
        if self.size == 1:
            return value
        total = value.detach().clone()
        dist.all_reduce(total)
        return total / self.size

    def average_gradients(self, weights: Sequence[Tensor]) -> None:
        """Put the mean gradient of all processes in each one's place; in one exchange."""
        if self.size == 1:
            return
        gradients = [weight.grad for weight in weights if weight.grad is not None]
        flat = self.mean(torch.cat([gradient.reshape(-1) for gradient in gradients]))
        parts = torch.split(flat, [gradient.numel() for gradient in gradients])
        for gradient, part in zip(gradients, parts, strict=True):
            gradient.copy_(part.view_as(gradient))

    def most(self, value: float) -> float:
        """The largest value of all processes."""
        if self.size == 1:
            return value
        largest = torch.tensor([value], dtype=torch.float64, device=self.device)
        dist.all_reduce(largest, op=dist.ReduceOp.MAX)
        return float(largest.item())

    def any(self, value: bool) -> bool:
        """Whether it is true in a process."""
        return value if self.size == 1 else self.most(float(value)) > 0

    def wait(self) -> None:
        """Go on when all processes have come here."""
        self.any(False)

    def gather(self, value: Any) -> list[Any]:
        """The values of all processes by rank; empty in those that don't lead."""
        if self.size == 1:
            return [value]
        found: list[Any] = [None] * self.size
        dist.gather_object(value, found if self.leads else None)
        return found if self.leads else []


SOLO: Final = Team()


def command_of(size: int) -> str:
    """How so many processes are started.

    >>> command_of(1)
    'dominozoo train'
    """
    many = f"torchrun --nproc-per-node={size} -m dominozoo_training.cli train"
    return many if size > 1 else "dominozoo train"


@contextmanager
def joined(device: str) -> Iterator[Team]:
    """The team that ``torchrun`` started this process for; one alone without it.

    Args:
        device: "auto", "cpu" or "cuda"; on CUDA each process takes the device of its local rank.
    """
    cuda = device != "cpu" and torch.cuda.is_available()
    if "MASTER_ADDR" not in os.environ or int(os.environ.get("WORLD_SIZE", "1")) == 1:
        yield SOLO
        return
    joins = not dist.is_initialized()  # else it is the caller's team
    if joins:
        if cuda:
            torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
        dist.init_process_group("nccl" if cuda else "gloo")
    try:
        yield Team(dist.get_rank(), dist.get_world_size(), "cuda" if cuda else "cpu")
    finally:
        if joins:
            dist.destroy_process_group()
