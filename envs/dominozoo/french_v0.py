"""French dominoes: four arms from 0-0, penalties to one hundred.

Four players, each for himself, seven tiles each. 0-0 opens every hand. First a blank goes to each
of its four sides; then an arm that shows k takes only the double k-k; beyond its double it is
played like any line. At the end of a hand everybody adds the pips he holds as a penalty, twice if
a double is among them. When somebody reaches the target the lowest penalty wins, jointly if
tied.

| | |
| --- | --- |
| import | ``from dominozoo import french_v0`` |
| agents | ``player_0``, ``player_1``, ... in playing order (4 players) |
| actions | ``Discrete(114)`` |
| observation | ``{"observation": int16 (178,), "action_mask": int8 (114,)}`` |
| episode | a match, or ``max_hands`` hands |

Options, as keyword arguments of ``env()`` and ``raw_env()``:

| option | default | takes |
| --- | --- | --- |
| ``players`` | ``4`` | 4 |
| ``target`` | ``100`` | 1..1000 |
| ``reward`` | ``'hand'`` | hand, match |
| ``max_hands`` | ``None`` | None, or at least 1 |
| ``render_mode`` | ``None`` | None, human, ansi, rgb_array |

Actions; a tile's id is ``hi * (hi + 1) / 2 + lo``; the first tile of a hand is
laid at end 0:

| action | meaning |
| --- | --- |
| ``end * 28 + tile`` | lay a tile at an end (arms 0..3) |
| ``112`` | draw a tile |
| ``113`` | pass |

The observation is relative to the seat that looks (0 = itself, then in playing order); its fields,
their order and bounds are ``dominozoo.fields.LINE_LAYOUT``. Masks are all zeros for agents not to
move and after the end.

Rewards are zero-sum. ``reward="hand"`` gives, in the step that ends a hand,
(mean penalty of the hand - own penalty) / target.
``reward="match"`` gives, at the match's end +1 to each seat of the winning side, -1 / (sides - 1) to the
others; joint winners share.

Version history: v0, the first.
"""

from __future__ import annotations

from typing import Any

from pettingzoo.utils.wrappers import OrderEnforcingWrapper

from dominozoo.aec import Observation, TableEnv, metadata, wrap


class raw_env(TableEnv):
    """French bare: an illegal action raises ValueError with the reason."""

    game = "french"
    metadata = metadata("french")


def env(**options: Any) -> OrderEnforcingWrapper[str, Observation, int]:
    """French with PettingZoo's wrappers: an illegal action ends the episode at -1.

    Args:
        **options: as the table above says.

    Raises:
        RulesError: an option that the game lacks, or a value that it doesn't take.
        ValueError: reward, max_hands or render_mode out of range.
    """
    return wrap(raw_env(**options))
