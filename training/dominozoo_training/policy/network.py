"""The policy: a small network that scores each legal action, and values.

The policy network is what is kept and exported. The critic sees every hand and exists only while
training: values of all seats from full information make advantages consistent across seats that
move in turn.
"""

from __future__ import annotations

from typing import Final

import torch
from torch import Tensor, nn

from dominozoo.fields import LINE_LAYOUT, SEATS
from dominozoo.rules import Rules, pack_line
from dominozoo.tiles import NUMBERS
from dominozoo_training.policy.encoding import (
    MARKS,
    Everything,
    Legal,
    LineEncoder,
    State,
)

MASKED: Final = -1e9


def layers(inputs: int, hidden: tuple[int, ...], outputs: int) -> nn.Sequential:
    """A ReLU network with orthogonal weights; the last layer starts small."""
    modules: list[nn.Module] = []
    for width in hidden:
        modules += [nn.Linear(inputs, width), nn.ReLU()]
        inputs = width
    modules.append(nn.Linear(inputs, outputs))
    for module in modules:
        if isinstance(module, nn.Linear):
            gain = 2**0.5 if module.out_features in hidden else 0.01
            nn.init.orthogonal_(module.weight, gain)
            nn.init.zeros_(module.bias)
    return nn.Sequential(*modules)


class PolicyNetwork(nn.Module):
    """Scores actions of one game, and values the hand from what the seat may know.

    Args:
        ends: open ends of the game: 2, French 4.
        hidden: widths of the action network.
        value_hidden: widths of the value network.
        seats: seats that the network looks at, 2..4.
    """

    def __init__(
        self,
        ends: int = 2,
        hidden: tuple[int, ...] = (128, 64),
        value_hidden: tuple[int, ...] = (64, 64),
        seats: int = SEATS,
    ) -> None:
        super().__init__()
        self.encoder = LineEncoder(ends, seats)
        self.hidden = tuple(hidden)
        self.value_hidden = tuple(value_hidden)
        coder = self.encoder
        self.score = layers(coder.action_columns + coder.state_columns, self.hidden, 1)
        self.worth = layers(coder.value_columns, self.value_hidden, 1)

    @classmethod
    def for_rules(cls, rules: Rules, **sizes: tuple[int, ...]) -> PolicyNetwork:
        """A network for a game, with fresh weights; it looks at the game's seats alone."""
        return cls(int(pack_line(rules)[0]["ends"]), seats=rules.players, **sizes)

    @property
    def action_count(self) -> int:
        """Size of the action space."""
        return self.encoder.action_count

    def action_inputs(self, state: State, entries: Legal | Everything) -> Tensor:
        """What ``score`` reads: a row for each entry, (..., columns)."""
        described = self.encoder.actions(state, entries)
        return torch.cat([described, entries.of_state(state.summary)], dim=-1)

    def value_inputs(self, state: State) -> Tensor:
        """What ``worth`` reads: summary, every number, the numbers at the ends, (B, columns)."""
        columns = self.encoder.number_columns
        ends = [
            state.numbers.gather(1, state.marks[:, e, None, None].expand(-1, 1, columns)).squeeze(1)
            for e in range(self.encoder.ends)
        ]
        rows = state.numbers[:, 1:].reshape(-1, NUMBERS * columns)
        return torch.cat([state.summary, rows, *ends], dim=1)

    def logits(self, state: State, entries: Legal | Everything) -> Tensor:
        """Scores of the entries: (K,) for a flat list, (B, A) for every action."""
        scores: Tensor = self.score(self.action_inputs(state, entries))
        return scores.squeeze(-1)

    def value(self, state: State) -> Tensor:
        """Expected reward of this hand for the observer, (B,)."""
        worth: Tensor = self.worth(self.value_inputs(state))
        return worth.squeeze(-1)

    def forward(self, observation: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Probabilities and value, as exported.

        Args:
            observation: (B, layout size) integers.
            mask: (B, actions) integers, 1 = legal, at least one a row.

        Returns:
            (B, actions) float32 probabilities, exactly 0 where illegal; (B,) float32 values.
        """
        state = self.encoder.state(observation)
        logits = self.logits(state, Everything(observation, self.action_count))
        allowed = mask.float()
        logits = logits * allowed + MASKED * (1.0 - allowed)
        probabilities = torch.softmax(logits, dim=1) * allowed
        return probabilities, self.value(state)


class Critic(nn.Module):
    """Values of all seats, relative to the seat to move, from every hand.

    Args:
        players: number of seats.
        ends: open ends of the game: 2, French 4.
        hidden: widths.
    """

    def __init__(self, players: int, ends: int = 2, hidden: tuple[int, ...] = (128, 128)) -> None:
        super().__init__()
        self.players = players
        self.hidden = tuple(hidden)
        self.encoder = LineEncoder(ends, players)
        self.net = layers(self.encoder.critic_columns, self.hidden, players)

    @classmethod
    def for_rules(cls, rules: Rules, hidden: tuple[int, ...] = (128, 128)) -> Critic:
        """A critic for a game, with fresh weights."""
        return cls(rules.players, int(pack_line(rules)[0]["ends"]), hidden)

    def inputs(self, state: State, hands: Tensor) -> Tensor:
        """What ``net`` reads, (B, columns); ``state`` as this critic's encoder makes it."""
        coder = self.encoder
        marks, locked = state.marks[:, : coder.ends], state.locked[:, : coder.ends]
        kinds = coder.fits[marks + NUMBERS * locked * (marks > 0).long()]
        hands = hands.float()
        at_ends = hands @ kinds.transpose(1, 2)
        anywhere = hands @ kinds.amax(dim=1).unsqueeze(-1)
        where = nn.functional.one_hot(marks, MARKS).float().flatten(1)
        parts = [
            state.summary,
            hands.flatten(1),
            (hands @ coder.has_number).flatten(1) / NUMBERS,
            at_ends.flatten(1) / NUMBERS,
            anywhere.flatten(1) / NUMBERS,
            where,
            locked.float(),
        ]
        return torch.cat(parts, dim=1)

    def forward(self, observation: Tensor, hands: Tensor) -> Tensor:
        """Expected reward of this hand for each relative seat, (B, players).

        Args:
            observation: (B, layout size) integers, of the seat to move.
            hands: (B, players, 28) 1 = held, by relative seat.
        """
        values: Tensor = self.net(self.inputs(self.encoder.state(observation), hands))
        return values


def spread(flat: Tensor, rows: Tensor, columns: Tensor, count: int) -> Tensor:
    """Lay a flat list out by row: (K,) to (count, most legal actions); the rest is MASKED.

    Far fewer columns than there are action ids, so that a softmax costs next to nothing.
    """
    grid = flat.new_full((count, int(columns.max()) + 1), MASKED)
    return grid.index_put((rows, columns), flat)


def legal_entries(mask: Tensor) -> Legal:
    """The legal actions of a batch as a flat list, row by row; mask (B, A)."""
    rows, actions = mask.nonzero(as_tuple=True)
    return Legal(rows, actions)


def observation_size() -> int:
    """Length of the observation vector that the networks read."""
    return LINE_LAYOUT.size
