"""The policy: a small network that scores each legal action, and values.

The policy network is what is kept and exported. The critic sees every hand and exists only while
training: values of all seats from full information make advantages consistent across seats that
move in turn.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import torch
from torch import Tensor, nn

from dominozoo.rules import TRUC, Rules, pack_line
from dominozoo_training.policy.encoder import Encoder, Everything, Legal
from dominozoo_training.policy.encoding import LineEncoder
from dominozoo_training.policy.truc import TrucEncoder

MASKED: Final = -1e9


class Layers(nn.Sequential):
    """Layers one after the other; ``torch.compile`` passes over a ``forward`` of torch's own."""

    def forward(self, input: Tensor) -> Tensor:  # the base class names it so
        """Run them."""
        for layer in self:
            input = layer(input)
        return input


def layers(inputs: int, hidden: tuple[int, ...], outputs: int) -> Layers:
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
    return Layers(*modules)


class PolicyNetwork(nn.Module):
    """Scores actions of one game, and values the hand from what the seat may know.

    Args:
        encoder: what the network looks at.
        hidden: widths of the action network.
        value_hidden: widths of the value network.
    """

    def __init__(
        self,
        encoder: Encoder,
        hidden: tuple[int, ...] = (128, 64),
        value_hidden: tuple[int, ...] = (64, 64),
    ) -> None:
        super().__init__()
        self.encoder = encoder
        self.hidden = tuple(hidden)
        self.value_hidden = tuple(value_hidden)
        self.score = layers(encoder.score_columns, self.hidden, 1)
        self.worth = layers(encoder.value_columns, self.value_hidden, 1)

    @classmethod
    def for_rules(cls, rules: Rules, **sizes: tuple[int, ...]) -> PolicyNetwork:
        """A network for a game, with fresh weights; it looks at the game's seats alone."""
        return cls(encoder_for(rules), **sizes)

    @property
    def action_count(self) -> int:
        """Size of the action space."""
        return self.encoder.action_count

    def action_inputs(self, state: Any, entries: Legal | Everything) -> Tensor:
        """What ``score`` reads: a row for each entry, (..., columns)."""
        described = self.encoder.actions(state, entries)
        return torch.cat([described, entries.of_state(state.summary)], dim=-1)

    def logits(self, state: Any, entries: Legal | Everything) -> Tensor:
        """Scores of the entries: (K,) for a flat list, (B, A) for every action."""
        scores: Tensor = self.score(self.action_inputs(state, entries))
        return scores.squeeze(-1)

    def value(self, state: Any) -> Tensor:
        """Expected reward of this hand for the observer, (B,)."""
        worth: Tensor = self.worth(self.encoder.values(state))
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
        encoder: what the critic looks at.
        players: number of seats.
        hidden: widths.
    """

    def __init__(
        self, encoder: Encoder, players: int, hidden: tuple[int, ...] = (128, 128)
    ) -> None:
        super().__init__()
        self.players = players
        self.hidden = tuple(hidden)
        self.encoder = encoder
        self.net = layers(encoder.critic_columns, self.hidden, players)

    @classmethod
    def for_rules(cls, rules: Rules, hidden: tuple[int, ...] = (128, 128)) -> Critic:
        """A critic for a game, with fresh weights."""
        return cls(encoder_for(rules), rules.players, hidden)

    def forward(self, observation: Tensor, secrets: Tensor) -> Tensor:
        """Expected reward of this hand for each relative seat, (B, players).

        Args:
            observation: (B, layout size) integers, of the seat to move.
            secrets: (B, k, 28) zeros and ones, the encoder's secrets.
        """
        values: Tensor = self.net(self.encoder.critic(self.encoder.state(observation), secrets))
        return values


def encoder_for(rules: Rules) -> Encoder:
    """The encoder of a game; it looks at the game's seats alone."""
    if rules.variant.family == TRUC:
        return TrucEncoder()
    return LineEncoder(int(pack_line(rules)[0]["ends"]), rules.players)


def encoder_of(rules: Rules, sizes: Mapping[str, Any]) -> Encoder:
    """The encoder that a policy for this game was made with; KeyError without its sizes."""
    if rules.variant.family == TRUC:
        return TrucEncoder()
    return LineEncoder(sizes["ends"], sizes["seats"])


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
