"""Puerto Rican Chiva: a shutout to four.

Four players are pairs and play as in Partnership, but a block compares the totals of the pairs,
and of the winning pair the player with fewer pips poses next. Two or three play each for himself,
seven tiles each, and draw. Four points while another side has none win the match.

## Sources

pagat.com, "Jamaican and Caribbean Dominoes", and notes on it in Japanese (16 and 17), whose
numbers the options give. Decided here: totals count on a block alone, who goes out wins.

## Example

    >>> from dominozoo import chiva_v0
    >>> for players in (2, 3, 4):
    ...     env = chiva_v0.raw_env(players=players)
    ...     env.reset(seed=1)
    ...     view = env.view("player_0")
    ...     print(view["sizes"], view["boneyard_size"], view["scores"])
    [7, 7] 14 [0, 0]
    [7, 7, 7] 7 [0, 0, 0]
    [7, 7, 7, 7] 0 [0, 0]

## Version history

* v0: the first.
"""

from __future__ import annotations

from typing import Any

from dominozoo.aec import TableEnv, metadata, wrap
from dominozoo.guard import Guard
from dominozoo.manual import manual

__doc__ = manual("chiva", __doc__)


class raw_env(TableEnv):
    """Puerto Rican Chiva bare: an illegal action raises ValueError with the reason."""

    game = "chiva"
    metadata = metadata("chiva")


def env(**options: Any) -> Guard:
    """Puerto Rican Chiva, guarded as PettingZoo's wrappers do: an illegal action ends it at -1.

    Args:
        **options: as the manual above says.

    Raises:
        RulesError: an option that the game lacks, or a value that it doesn't take.
        ValueError: reward, max_hands or render_mode out of range.
    """
    return wrap(raw_env(**options))
