"""From Le Truc's observation to what the network sees, as tensors.

Columns and tables are told in ``dominozoo.bots.truc_network``, which computes the same in NumPy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from dominozoo.bots import truc_network as tables
from dominozoo.bots.truc_network import AT, FAR, MULTIPLIERS, NONE
from dominozoo.fields import TRUC_LAYOUT
from dominozoo.tiles import TILE_COUNT
from dominozoo.truc.strength import CLASS, CLASSES, HIS, MINE, TIED
from dominozoo_training.policy.encoder import Encoder, Everything, Legal, relative_hands

TRUC_ENCODING_VERSION: Final = 1  # goes up when a column changes: older weights no longer fit
SEATS: Final = 2
RESULTS: Final = (MINE, HIS, TIED)


@dataclass(frozen=True, slots=True)
class TrucState:
    """What a batch of observations says, before any action is looked at.

    Attributes:
        hand: (B, 15) tiles held of each class.
        lying: (B,) class of the tile that lies open in this trick, or NONE.
        won: (B, 3) who won each trick, 0 = nobody yet.
        summary: (B, state_columns).
    """

    hand: Tensor
    lying: Tensor
    won: Tensor
    summary: Tensor


class TrucEncoder(Encoder):
    """The arithmetic of Domino Le Truc."""

    class_of: Tensor
    class_power: Tensor
    goes: Tensor
    latest: Tensor
    action_class: Tensor
    fixed: Tensor
    one_class: Tensor
    tile_power: Tensor
    tile_class: Tensor
    multipliers: Tensor
    results: Tensor

    def __init__(self) -> None:
        super().__init__()
        constants = {
            "class_of": tables.CLASS_OF,
            "class_power": tables.CLASS_POWER,
            "goes": tables.GOES,
            "latest": tables.LATEST.reshape(-1),
            "action_class": tables.ACTION_CLASS,
            "fixed": tables.FIXED,
            "one_class": tables.ONE_CLASS,
            "tile_power": tables.TILE_POWER,
            "tile_class": tables.ONE_CLASS[CLASS],
            "multipliers": np.array(MULTIPLIERS),
            "results": np.array(RESULTS),
        }
        for name, value in constants.items():
            self.register_buffer(name, torch.as_tensor(value), persistent=False)
        self.layout = TRUC_LAYOUT
        self.version = TRUC_ENCODING_VERSION
        self.sizes = {}
        self.action_count = tables.ACTIONS
        self.state_columns = self.value_columns = tables.STATE_COLUMNS
        self.action_columns = tables.ACTION_COLUMNS
        self.critic_columns = self.state_columns + 2 * CLASSES + 3 + 2 + 2

    def state(self, observation: Tensor) -> TrucState:
        """Read a batch of observations: (B, 139) integers."""
        whole = observation.long()
        classes = self.class_of[2 * whole[:, AT["play_sum"]] + whole[:, AT["play_double"]]]
        won = whole[:, AT["won"]]
        tricks = (won > 0).long().sum(dim=1, keepdim=True)
        padded = nn.functional.pad(classes, (0, 1), value=NONE)
        lying = padded.gather(1, 2 * tricks).squeeze(1)
        hand = whole[:, AT["hand_classes"]].float()
        return TrucState(hand, lying, won, self.summary(whole, hand, classes, lying))

    def summary(self, whole: Tensor, hand: Tensor, classes: Tensor, lying: Tensor) -> Tensor:
        """Everything but the actions, (B, state_columns)."""
        seat, won = whole[:, AT["play_by"]], whole[:, AT["won"]]
        multiplier = whole[:, AT["multiplier"]]
        to_go = whole[:, AT["target"]] - whole[:, AT["scores"]]
        phases = torch.arange(1, 6, device=whole.device)
        columns = [
            hand,
            self.one_class[lying],
            (seat == MINE).float(),
            (seat == HIS).float(),
            self.class_power[classes],
            whole[:, AT["play_double"]].float(),
            whole[:, AT["play_called"]].float(),
            *((won == winner).float() for winner in RESULTS),
            (whole[:, AT["phase"]] == phases).float(),
            (whole[:, AT["leader"]] == MINE).float(),
            *(whole[:, AT[name]].float() for name in ("dealer", "proposed", "rejected")),
            whole[:, AT["redeals"]].float() / 3.0,
            whole[:, AT["redeals_left"]].float() / 3.0,
            (multiplier == self.multipliers).float(),
            to_go.clamp(max=FAR).float() / FAR,
            (to_go <= multiplier).float(),
            (to_go <= 2 * multiplier).float(),
            *(count / 3.0 for count in self.against(hand, lying)),
            self.unseen(whole),
        ]
        return torch.cat(columns, dim=1)

    def against(self, hand: Tensor, lying: Tensor) -> tuple[Tensor, Tensor]:
        """How many tiles of a hand beat and tie the one that lies, (B, 1) each."""
        goes = self.goes[:CLASSES].transpose(0, 1)[lying]
        beats, ties = (
            (hand * (goes == result).float()).sum(dim=1, keepdim=True) for result in (MINE, TIED)
        )
        return beats, ties

    def unseen(self, whole: Tensor) -> Tensor:
        """Mean strength of the tiles that the observer hasn't seen, (B, 1)."""
        laid = (whole[:, AT["played_at"]] > 0).float()
        seen = whole[:, AT["hand"]].float() + whole[:, AT["discards"]].float() + laid
        rest = self.tile_power.sum() - seen @ self.tile_power
        return (rest / (TILE_COUNT - seen.sum(dim=1)).clamp(min=1.0)).unsqueeze(1)

    def actions(self, state: TrucState, entries: Legal | Everything) -> Tensor:
        """Describe actions by tile, result and what stays in hand, (..., action_columns)."""
        kind = self.action_class[entries.actions]
        goes = self.goes[kind, entries.of_state(state.lying)]
        won = entries.of_state(state.won)
        verdict = self.latest[16 * won[..., 0] + 4 * won[..., 1] + goes]
        columns = [
            self.fixed[entries.actions],
            (goes.unsqueeze(-1) == self.results).float(),
            (verdict.unsqueeze(-1) == self.results).float(),
            entries.of_state(state.hand) - self.one_class[kind],
        ]
        return torch.cat(columns, dim=-1)

    def values(self, state: TrucState) -> Tensor:
        """What the policy's own value reads, (B, value_columns)."""
        return state.summary

    def critic(self, state: TrucState, secrets: Tensor) -> Tensor:
        """What the critic reads, (B, critic_columns); ``secrets`` are my tiles, his, the call's."""
        mine, his, called = (secrets.float() @ self.tile_class).unbind(dim=1)
        won, lost = ((self.goes[:CLASSES, :CLASSES] == r).float() for r in (MINE, HIS))
        face_down = called.argmax(dim=1) + NONE * (called.sum(dim=1) == 0).long()
        face_down = face_down.clamp(max=NONE)
        columns = [
            state.summary,
            his,
            called,
            (self.goes[face_down, state.lying].unsqueeze(-1) == self.results).float(),
            ((mine @ won) * his).sum(dim=1, keepdim=True) / 9.0,
            ((mine @ lost) * his).sum(dim=1, keepdim=True) / 9.0,
            *(count / 3.0 for count in self.against(his, state.lying)),
        ]
        return torch.cat(columns, dim=1)

    def secrets(
        self, records: npt.NDArray[Any], turn: npt.NDArray[np.int8]
    ) -> npt.NDArray[np.uint32]:
        """The mover's tiles, the other's, the other's tile face down: (B, 3) uint32 masks."""
        last = np.maximum(records["plays"].astype(np.int64) - 1, 0)
        tile = np.take_along_axis(records["played"], last[:, None], axis=1)[:, 0]
        called = records["face_down"].astype(np.uint32) << tile.astype(np.uint32)
        return np.column_stack([relative_hands(records, turn, SEATS), called])


if TRUC_LAYOUT.version != 1:
    raise ImportError("the encoder of Le Truc reads observation version 1")
