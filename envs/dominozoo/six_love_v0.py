"""JamDom Six-Love: Cutthroat for four with the key card.

As Cutthroat. A hand won with the key card (the last tile fits both ends, shows two different
numbers, and all others of these numbers lie) is worth 2; after a tied block the next hand is worth
2. When every player has scored the set is broken (BRUCK).

| | |
| --- | --- |
| import | ``from dominozoo import six_love_v0`` |
| agents | ``player_0``, ``player_1``, ... in playing order (4 players) |
| actions | ``Discrete(58)`` |
| observation | ``{"observation": int16 (178,), "action_mask": int8 (58,)}`` |
| episode | a match, or ``max_hands`` hands |

Options, as keyword arguments of ``env()`` and ``raw_env()``:

| option | default | takes |
| --- | --- | --- |
| ``players`` | ``4`` | 4 |
| ``bruck`` | ``'reset'`` | reset, end |
| ``target`` | ``6`` | 1..100 |
| ``reward`` | ``'hand'`` | hand, match |
| ``max_hands`` | ``None`` | None, or at least 1 |
| ``render_mode`` | ``None`` | None, human, ansi, rgb_array |

Actions; a tile's id is ``hi * (hi + 1) / 2 + lo``; the first tile of a hand is
laid at end 0, its higher number left:

| action | meaning |
| --- | --- |
| ``end * 28 + tile`` | lay a tile at an end (0 left, 1 right) |
| ``56`` | draw a tile |
| ``57`` | pass |

The observation is relative to the seat that looks (0 = itself, then in playing order); its fields,
their order and bounds are ``dominozoo.fields.LINE_LAYOUT``. Masks are all zeros for agents not to
move and after the end.

Rewards are zero-sum. ``reward="hand"`` gives, in the step that ends a hand,
p to each seat of the winning side, -p / (sides - 1) to each other seat; p = the points
that the hand is worth.
``reward="match"`` gives, at the match's end +1 to each seat of the winning side, -1 / (sides - 1) to the
others.

Version history: v0, the first.
"""

from __future__ import annotations

from typing import Any

from pettingzoo.utils.wrappers import OrderEnforcingWrapper

from dominozoo.aec import Observation, TableEnv, metadata, wrap


class raw_env(TableEnv):
    """JamDom Six-Love bare: an illegal action raises ValueError with the reason."""

    game = "six_love"
    metadata = metadata("six_love")


def env(**options: Any) -> OrderEnforcingWrapper[str, Observation, int]:
    """JamDom Six-Love with PettingZoo's wrappers: an illegal action ends the episode at -1.

    Args:
        **options: as the table above says.

    Raises:
        RulesError: an option that the game lacks, or a value that it doesn't take.
        ValueError: reward, max_hands or render_mode out of range.
    """
    return wrap(raw_env(**options))
