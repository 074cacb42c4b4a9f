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

## Sources

"Domino Le Truc", 21 notes in Japanese by the game's author. Where they are silent the card game
Le Truc was followed: who wins the third trick after two ties wins the round, the deal alternates,
and one exchange is allowed.

## Example

The non-dealer stands and leads; only then may anybody call:

    >>> from dominozoo import truc_v0
    >>> env = truc_v0.raw_env()
    >>> hands = [["6-6", "4-3", "0-0"], ["8-4", "5-5", "2-2"]]
    >>> env.reset(seed=1, options={"deal": {"hands": hands}, "dealer": 1})
    >>> [move["action"] for move in env.position()["legal"]]
    ['propose', 'stand']
    >>> env.step(57)
    >>> [(move["action"], move["tile"]) for move in env.position()["legal"]]
    [('play', '6-6'), ('play', '4-3'), ('play', '0-0')]

Tiles of one sum are worth the same, doubles apart: 15 classes, which `hand_classes` counts in the
order 12 double, 12, 11, 10 double, 10, 9, 8 double, 8, 7, 6 double, 6, 5, 4 double, 4, 0-0:

    >>> from dominozoo.fields import TRUC_LAYOUT
    >>> seen = TRUC_LAYOUT.split(env.observe("player_0")["observation"])
    >>> seen["hand_classes"].tolist()
    [1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1]

## Version history

* v0: the first.
"""

from __future__ import annotations

from typing import Any

from dominozoo.aec import TableEnv, metadata, wrap
from dominozoo.guard import Guard
from dominozoo.manual import manual

__doc__ = manual("truc", __doc__)


class raw_env(TableEnv):
    """Domino Le Truc bare: an illegal action raises ValueError with the reason."""

    game = "truc"
    metadata = metadata("truc")


def env(**options: Any) -> Guard:
    """Domino Le Truc, guarded as PettingZoo's wrappers do: an illegal action ends it at -1.

    Args:
        **options: as the manual above says.

    Raises:
        RulesError: an option that the game lacks, or a value that it doesn't take.
        ValueError: reward, max_hands or render_mode out of range.
    """
    return wrap(raw_env(**options))
