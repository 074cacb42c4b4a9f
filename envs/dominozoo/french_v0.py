"""French dominoes: four arms from 0-0, penalties to one hundred.

Four players, each for himself, seven tiles each. 0-0 opens every hand. First a blank goes to each
of its four sides; then an arm that shows k takes only the double k-k; beyond its double it is
played like any line, without waiting for the other arms. At the end of a hand everybody adds the
pips he holds as a penalty, twice if a double is among them. When somebody reaches the target the
lowest penalty wins, jointly if tied.

## Sources

pagat.com, "Jamaican and Caribbean Dominoes", as summed up in notes in Japanese. Decided here:
only an arm's own first link is locked, and joint winners share.

## Example

    >>> from dominozoo import french_v0
    >>> env = french_v0.raw_env()
    >>> env.reset(seed=1)
    >>> [move["tile"] for move in env.position()["legal"]]
    ['0-0']
    >>> env.step(0)
    >>> {move["end"] for move in env.position()["legal"]}  # the next free arm only
    {0}

## Version history

* v0: the first.
"""

from __future__ import annotations

from typing import Any

from dominozoo.aec import TableEnv, metadata, wrap
from dominozoo.guard import Guard
from dominozoo.manual import manual

__doc__ = manual("french", __doc__)


class raw_env(TableEnv):
    """French bare: an illegal action raises ValueError with the reason."""

    game = "french"
    metadata = metadata("french")


def env(**options: Any) -> Guard:
    """French, guarded as PettingZoo's wrappers do: an illegal action ends it at -1.

    Args:
        **options: as the manual above says.

    Raises:
        RulesError: an option that the game lacks, or a value that it doesn't take.
        ValueError: reward, max_hands or render_mode out of range.
    """
    return wrap(raw_env(**options))
