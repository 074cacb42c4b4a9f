"""From the contract's observation to what the network sees: numbers, seats and afterstates.

Dominoes is about numbers, so the state is a small table with a row for each number 0..6: how many
tiles of it I hold, lie, are unseen, could be in each seat's hand, which seats lack it, who laid
it. An action is described by the rows of the number it leaves, the number it covers and the other
open ends, beside the tile itself and who could answer. Everything is plain arithmetic on the
observation, so that the same code runs in training on the legal actions of a batch and in the
exported graph on all action ids.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from dominozoo.fields import LINE_LAYOUT, SEATS
from dominozoo.tiles import HIGH, LOW, NUMBERS, PIPS, TILE_COUNT
from dominozoo_training.policy.encoder import Encoder, Everything, Legal, relative_hands

ENCODING_VERSION: Final = 1  # goes up when a column changes: older weights no longer fit
MARKS: Final = NUMBERS + 1  # 0 = no end, else number + 1
BY_SEAT: Final = ("lacks", "lacks_double", "sizes", "scores")


@dataclass(frozen=True, slots=True)
class State:
    """What a batch of observations says, before any action is looked at.

    Attributes:
        hand: (B, 28) 1 = held by the observer.
        marks: (B, 4) number + 1 at each open end, 0 = none.
        locked: (B, 4) 1 = the arm takes only its double.
        candidates: (B, seats - 1, 28) 1 = the tile could be in that other seat's hand.
        numbers: (B, 8, number_columns) a row for each number; row 0 is no number.
        sizes: (B, seats) tiles held by each seat.
        summary: (B, state_columns) sizes, scores and the like.
    """

    hand: Tensor
    marks: Tensor
    locked: Tensor
    candidates: Tensor
    numbers: Tensor
    sizes: Tensor
    summary: Tensor


class LineEncoder(Encoder):
    """The arithmetic of the line games; no weights, only constant tables.

    Args:
        ends: open ends of the game, 2, French 4.
        seats: seats that are described, 2..4; those that a game lacks only cost time.
    """

    has_number: Tensor
    fits: Tensor
    pips: Tensor
    is_double: Tensor
    action_tile: Tensor
    action_end: Tensor
    tile_high: Tensor
    tile_low: Tensor
    one_tile: Tensor

    def __init__(self, ends: int, seats: int = SEATS) -> None:
        super().__init__()
        self.ends = ends
        self.seats = seats
        high = torch.as_tensor(HIGH)
        low = torch.as_tensor(LOW)
        has = torch.zeros(TILE_COUNT, NUMBERS)
        has[torch.arange(TILE_COUNT), high] = 1.0
        has[torch.arange(TILE_COUNT), low] = 1.0
        double = (high == low).float()
        # A tile that an end takes: no end, open at number 0..6, locked at number 0..6.
        fits = torch.cat([torch.zeros(1, TILE_COUNT), has.T, has.T * double])
        none = torch.tensor([TILE_COUNT, TILE_COUNT])
        constants = {
            "has_number": has,
            "fits": fits,
            "pips": torch.as_tensor(PIPS).float(),
            "is_double": double,
            # Drawing and passing act on "tile 28", which is no tile.
            "action_tile": torch.cat([torch.arange(TILE_COUNT).repeat(ends), none]),
            "action_end": torch.cat(
                [torch.arange(ends).repeat_interleave(TILE_COUNT), torch.zeros(2).long()]
            ),
            "tile_high": torch.cat([high, torch.zeros(1).long()]),
            "tile_low": torch.cat([low, torch.zeros(1).long()]),
            "one_tile": torch.eye(TILE_COUNT + 1)[:, :TILE_COUNT],
        }
        for name, value in constants.items():
            self.register_buffer(name, value, persistent=False)
        self.layout = LINE_LAYOUT
        self.version = ENCODING_VERSION
        self.sizes = {"ends": ends, "seats": seats}
        self.action_count = ends * TILE_COUNT + 2
        self.number_columns = 3 + seats * (2 + (ends == 4)) + seats - 1
        self.state_columns = 3 * seats + 6 + seats - 1
        self.action_columns = 3 * self.number_columns + 9 + 3 * (seats - 1)
        self.value_columns = self.state_columns + (NUMBERS + ends) * self.number_columns
        by_seat = TILE_COUNT + NUMBERS + ends + 1
        self.critic_columns = self.state_columns + seats * by_seat + ends * (MARKS + 1)

    def field(self, observation: Tensor, name: str) -> Tensor:
        """A named field of the observation, (B, *shape); by seat for the encoder's seats alone."""
        at = LINE_LAYOUT.offset(name)
        entry = next(f for f in LINE_LAYOUT.fields if f.name == name)
        if name in BY_SEAT:
            size, shape = entry.size * self.seats // SEATS, (self.seats, *entry.shape[1:])
            return observation[:, at : at + size].reshape(-1, *shape)
        return observation[:, at : at + entry.size].reshape(-1, *entry.shape)

    def state(self, observation: Tensor) -> State:
        """Read a batch of observations: (B, 178) integers."""
        observation = observation.float()
        hand = self.field(observation, "hand")
        laid_by = self.field(observation, "laid_by")
        sizes = self.field(observation, "sizes")
        unseen = self.unseen(observation, hand, laid_by)
        candidates = self.candidates(observation, unseen)
        return State(
            hand=hand,
            marks=self.field(observation, "ends").long(),
            locked=self.field(observation, "locked").long(),
            candidates=candidates,
            numbers=self.numbers(observation, hand, laid_by, unseen, candidates),
            sizes=sizes,
            summary=self.summary(observation, hand, sizes, candidates),
        )

    def unseen(self, observation: Tensor, hand: Tensor, laid_by: Tensor) -> Tensor:
        """Tiles neither held nor on the table, (B, 28); 0-0 is not unseen where the set lacks it."""
        no_blank = self.field(observation, "no_blank") * self.one_tile[0]
        return 1.0 - hand - (laid_by > 0).float() - no_blank

    def candidates(self, observation: Tensor, unseen: Tensor) -> Tensor:
        """Tiles that each other seat may hold after what it has shown to lack, (B, seats - 1, 28)."""
        ruled_out = self.field(observation, "lacks")[:, 1:] @ self.has_number.T
        if self.ends == 4:
            doubles = self.field(observation, "lacks_double")[:, 1:] @ self.has_number.T
            ruled_out = ruled_out + doubles * self.is_double
        playing = (self.field(observation, "sizes")[:, 1:] > 0).float()
        return unseen[:, None, :] * (ruled_out == 0).float() * playing[:, :, None]

    def numbers(
        self,
        observation: Tensor,
        hand: Tensor,
        laid_by: Tensor,
        unseen: Tensor,
        candidates: Tensor,
    ) -> Tensor:
        """The table of numbers, (B, 8, number_columns); row 0, for no number, is zero."""
        seats = torch.arange(1, self.seats + 1, device=laid_by.device)
        by_seat = (laid_by[:, None, :] == seats[:, None]).float()
        counts = torch.cat(
            [
                hand[:, None],
                (laid_by > 0).float()[:, None],
                unseen[:, None],
                by_seat,
                candidates,
            ],
            dim=1,
        )
        columns = [counts @ self.has_number / NUMBERS, self.field(observation, "lacks")]
        if self.ends == 4:
            columns.append(self.field(observation, "lacks_double"))
        rows = torch.cat(columns, dim=1)
        return nn.functional.pad(rows.transpose(1, 2), (0, 0, 1, 0))

    def summary(
        self, observation: Tensor, hand: Tensor, sizes: Tensor, candidates: Tensor
    ) -> Tensor:
        """Sizes, scores, pips and the state of the match, (B, state_columns)."""
        target = self.field(observation, "target")
        pool = candidates.sum(dim=2)
        mean_pips = (candidates @ self.pips) / pool.clamp(min=1.0)
        return torch.cat(
            [
                sizes / 7.0,
                self.field(observation, "scores") / target,
                (sizes == 1).float(),
                self.field(observation, "boneyard") / 14.0,
                self.field(observation, "stake") / 2.0,
                self.field(observation, "decider"),
                self.field(observation, "by_rule"),
                self.field(observation, "ply") / 32.0,
                (hand @ self.pips)[:, None] / 42.0,
                mean_pips * sizes[:, 1:] / 42.0,
            ],
            dim=1,
        )

    def actions(self, state: State, entries: Legal | Everything) -> Tensor:
        """Describe actions by what they lead to, (..., action_columns)."""
        tile = self.action_tile[entries.actions]
        is_tile = (tile < TILE_COUNT).long()
        end = self.action_end[entries.actions]
        high, low = self.tile_high[tile], self.tile_low[tile]
        marks = entries.of_state(state.marks)
        covered = marks.gather(-1, end.unsqueeze(-1)).squeeze(-1) * is_tile
        begins = (covered == 0).long() * is_tile
        left = (high + 1) * begins + (high + low + 2 - covered) * is_tile * (1 - begins)
        left = left.clamp(0, NUMBERS)  # a tile that doesn't fit leaves no number at all
        after, kinds = self.after(state, entries, end, left, low, begins, is_tile)
        touch = self.fits[kinds].amax(dim=-2)
        rest = entries.of_state(state.hand) - self.one_tile[tile]
        chances = self.chances(state, entries, touch)
        other = entries.at(state.numbers, after).sum(dim=-2) - entries.at(state.numbers, left)
        own = (rest * touch).sum(dim=-1)
        held = rest.sum(dim=-1)
        plain = [
            is_tile.float(),
            self.one_tile[tile] @ self.pips / 12.0,
            self.one_tile[tile] @ self.is_double,
            own / 7.0,
            (own == 0).float(),
            own / held.clamp(min=1.0),
            (held == 0).float(),
            (rest @ self.pips) / 42.0,
            (after[..., 0] == after[..., 1]).float(),
        ]
        return torch.cat(
            [
                entries.at(state.numbers, left),
                entries.at(state.numbers, covered),
                other,
                torch.stack(plain, dim=-1),
                chances,
            ],
            dim=-1,
        )

    def after(
        self,
        state: State,
        entries: Legal | Everything,
        end: Tensor,
        left: Tensor,
        low: Tensor,
        begins: Tensor,
        is_tile: Tensor,
    ) -> tuple[Tensor, Tensor]:
        """The ends that the actions leave: marks (..., ends), and rows of ``fits`` (..., ends)."""
        marks = entries.of_state(state.marks)[..., : self.ends]
        locked = entries.of_state(state.locked)[..., : self.ends]
        here = torch.arange(self.ends, device=end.device) == end.unsqueeze(-1)
        here = here.long() * is_tile.unsqueeze(-1)
        after = marks * (1 - here) + left.unsqueeze(-1) * here
        locked = locked * (1 - here)
        if self.ends == 2:
            # A pose opens the right end too, with its lower number.
            right = torch.arange(self.ends, device=end.device) * (1 - here)
            after = after + right * ((low + 1) * begins).unsqueeze(-1)
        else:
            # A French arm begins locked. The pose of 0-0 is described as if it began arm 0.
            locked = locked + here * begins.unsqueeze(-1)
        return after, after + NUMBERS * locked * (after > 0).long()

    def chances(self, state: State, entries: Legal | Everything, touch: Tensor) -> Tensor:
        """Per other seat: tiles that could answer, chance of none, chance that it is stuck next.

        The chance that ``size`` tiles drawn from ``pool`` hold none of ``k`` is taken as
        ``(1 - k / pool) ** size``, close to the hypergeometric one and free of loops.
        """
        answers = (entries.of_state(state.candidates) * touch.unsqueeze(-2)).sum(dim=-1)
        pool = entries.of_state(state.candidates.sum(dim=2))
        sizes = entries.of_state(state.sizes[:, 1:])
        free = (1.0 - answers / pool.clamp(min=1.0)).clamp(min=1e-3)
        stuck = torch.exp(sizes * torch.log(free)) * (sizes > 0).float()
        return torch.cat([answers / 7.0, stuck, stuck * (sizes <= 2).float()], dim=-1)

    def values(self, state: State) -> Tensor:
        """What the policy's own value reads: summary, every number, the numbers at the ends."""
        columns = self.number_columns
        ends = [
            state.numbers.gather(1, state.marks[:, e, None, None].expand(-1, 1, columns)).squeeze(1)
            for e in range(self.ends)
        ]
        rows = state.numbers[:, 1:].reshape(-1, NUMBERS * columns)
        return torch.cat([state.summary, rows, *ends], dim=1)

    def critic(self, state: State, secrets: Tensor) -> Tensor:
        """What the critic reads, (B, critic_columns); ``secrets`` are the hands by relative seat."""
        marks, locked = state.marks[:, : self.ends], state.locked[:, : self.ends]
        kinds = self.fits[marks + NUMBERS * locked * (marks > 0).long()]
        hands = secrets.float()
        at_ends = hands @ kinds.transpose(1, 2)
        anywhere = hands @ kinds.amax(dim=1).unsqueeze(-1)
        where = nn.functional.one_hot(marks, MARKS).float().flatten(1)
        parts = [
            state.summary,
            hands.flatten(1),
            (hands @ self.has_number).flatten(1) / NUMBERS,
            at_ends.flatten(1) / NUMBERS,
            anywhere.flatten(1) / NUMBERS,
            where,
            locked.float(),
        ]
        return torch.cat(parts, dim=1)

    def secrets(
        self, records: npt.NDArray[Any], turn: npt.NDArray[np.int8]
    ) -> npt.NDArray[np.uint32]:
        """All hands seen from the seats to move: (B, seats) uint32, bit = tile id."""
        return relative_hands(records, turn, self.seats)


if LINE_LAYOUT.version != 1:
    raise ImportError("the line encoder reads observation version 1")
