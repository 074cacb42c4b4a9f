"""Jamaican Cutthroat: each for himself, to six-love.

Two to four players, all tiles dealt: 14 each, or nine each without 0-0, or seven each. Played as
Partnership with a player in place of a side: who lays his last tile, or alone has the fewest pips
on a block, has a point and poses next. A player wins the match with six points while another has
none; when everybody has scored, all are back at 0. With `draw=True` two players have seven tiles
each and draw.

## Sources

pagat.com, "Jamaican and Caribbean Dominoes", and notes on it in Japanese, whose numbers the
options give. JamDom's rules for when a run is broken.

## Example

    >>> from dominozoo import cutthroat_v0
    >>> env = cutthroat_v0.raw_env(players=3, tie="escalate")
    >>> env.reset(seed=1)
    >>> env.view("player_0")["sizes"]
    [9, 9, 9]
    >>> str(env.rules)
    'cutthroat(players=3, tie=escalate)'

## Version history

* v0: the first.
"""

from __future__ import annotations

from typing import Any

from dominozoo.aec import TableEnv, metadata, wrap
from dominozoo.guard import Guard
from dominozoo.manual import manual

__doc__ = manual("cutthroat", __doc__)


class raw_env(TableEnv):
    """Jamaican Cutthroat bare: an illegal action raises ValueError with the reason."""

    game = "cutthroat"
    metadata = metadata("cutthroat")


def env(**options: Any) -> Guard:
    """Jamaican Cutthroat, guarded as PettingZoo's wrappers do: an illegal action ends it at -1.

    Args:
        **options: as the manual above says.

    Raises:
        RulesError: an option that the game lacks, or a value that it doesn't take.
        ValueError: reward, max_hands or render_mode out of range.
    """
    return wrap(raw_env(**options))
