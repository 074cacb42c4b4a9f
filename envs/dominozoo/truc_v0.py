"""Domino Le Truc: three tricks, an exchange, and calls that double what the round is worth.

Two players, three tiles each out of 28 of the double-nine set; the rest is the stock. The larger
sum takes a trick, equal sums tie, and 0-0 beats a double. The non-dealer may propose an exchange;
if the dealer accepts, all six tiles are discarded and dealt anew. The non-dealer leads; any tile
may follow; a trick's winner leads the next, after a tie the same seat again. Two tricks win the
round; a tied trick goes to the winner of the other of the first two, a tied third to the winner
of the first; three ties are void. Every play but the very first may be made face down with a call
of "double": the other accepts, and the tile is turned up for twice the stakes, or throws in and
loses what the round was worth before. A hand here is a round; the deal alternates; the first dealer
is drawn. A match goes to 30 points.

| | |
| --- | --- |
| import | ``from dominozoo import truc_v0`` |
| agents | ``player_0``, ``player_1`` (2 players) |
| actions | ``Discrete(60)`` |
| observation | ``{"observation": int16 (139,), "action_mask": int8 (60,)}`` |
| episode | a match, or ``max_hands`` rounds |

Options, as keyword arguments of ``env()`` and ``raw_env()``:

| option | default | takes |
| --- | --- | --- |
| ``players`` | ``2`` | 2 |
| ``target`` | ``30`` | 1..1000 |
| ``max_redeals`` | ``1`` | 0..3 |
| ``reward`` | ``'hand'`` | hand, match |
| ``max_hands`` | ``None`` | None, or at least 1 |
| ``render_mode`` | ``None`` | None, human, ansi, rgb_array |

Actions; a tile is its slot in the order of strength, 6-6, 8-4, 7-5, 6-5, ... 3-1, 0-0
(``dominozoo.tiles.TRUC_NAMES``):

| action | meaning |
| --- | --- |
| ``tile`` | play it face up |
| ``28 + tile`` | play it face down and call double |
| ``56`` | propose an exchange |
| ``57`` | stand: play with the tiles held |
| ``58`` | accept a proposal or a call |
| ``59`` | reject a proposal, refuse a call |

The observation is relative to the seat that looks (1 = itself, 2 = the other); its fields, their
order and bounds are ``dominozoo.fields.TRUC_LAYOUT``. Masks are all zeros for agents not to move
and after the end.

Rewards are zero-sum. ``reward="hand"`` gives, in the step that ends a round, +points/target to
its winner and -points/target to the loser. ``reward="match"`` gives +1 and -1 at the match's end.

Version history: v0, the first.
"""

from __future__ import annotations

from typing import Any

from pettingzoo.utils.wrappers import OrderEnforcingWrapper

from dominozoo.aec import Observation, TableEnv, metadata, wrap


class raw_env(TableEnv):
    """Domino Le Truc bare: an illegal action raises ValueError with the reason."""

    game = "truc"
    metadata = metadata("truc")


def env(**options: Any) -> OrderEnforcingWrapper[str, Observation, int]:
    """Domino Le Truc with PettingZoo's wrappers: an illegal action ends the episode at -1.

    Args:
        **options: as the table above says.

    Raises:
        RulesError: an option that the game lacks, or a value that it doesn't take.
        ValueError: reward, max_hands or render_mode out of range.
    """
    return wrap(raw_env(**options))
