"""Jamaican Cutthroat: each for himself, to six-love.

Two to four players, all tiles dealt (three players: without 0-0). Played as Partnership with a
player in place of a side: a player wins with six points while another has none; when everybody has
scored, all are back at 0. With ``draw=True`` two players have seven tiles each and draw.

| | |
| --- | --- |
| import | ``from dominozoo import cutthroat_v0`` |
| agents | ``player_0``, ``player_1``, ... in playing order (2, 3, 4 players) |
| actions | ``Discrete(58)`` |
| observation | ``{"observation": int16 (178,), "action_mask": int8 (58,)}`` |
| episode | a match, or ``max_hands`` hands |

Options, as keyword arguments of ``env()`` and ``raw_env()``:

| option | default | takes |
| --- | --- | --- |
| ``players`` | ``4`` | 2, 3, 4 |
| ``draw`` | ``False`` | False, True |
| ``broken`` | ``'all_scored'`` | all_scored, leader_loss |
| ``bruck`` | ``'reset'`` | reset, end |
| ``opening`` | ``'formal'`` | formal, informal |
| ``tie`` | ``'reset'`` | reset, void, escalate, double |
| ``decider`` | ``False`` | False, True |
| ``key_card`` | ``False`` | False, True |
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
    """Jamaican Cutthroat bare: an illegal action raises ValueError with the reason."""

    game = "cutthroat"
    metadata = metadata("cutthroat")


def env(**options: Any) -> OrderEnforcingWrapper[str, Observation, int]:
    """Jamaican Cutthroat with PettingZoo's wrappers: an illegal action ends the episode at -1.

    Args:
        **options: as the table above says.

    Raises:
        RulesError: an option that the game lacks, or a value that it doesn't take.
        ValueError: reward, max_hands or render_mode out of range.
    """
    return wrap(raw_env(**options))
