"""Jamaican Partnership: two against two, to six-love.

Seats 0 and 2 play against seats 1 and 3, seven tiles each. The holder of 6-6 opens the first hand
with it; later the winner of a hand poses any tile. Nobody draws, who can play must. A hand is won
by who lays his last tile, or on a block by the single lowest count, whatever the partner holds.
It is worth one point; when the side without points beats the leader, both are back at 0 and 6-6
opens again. A side wins the match with six points while the other has none.

## Sources

pagat.com, "Jamaican and Caribbean Dominoes", and notes on it in Japanese, whose numbers the
options give. JamDom's rules for the key card and the opening after a tie.

## Example

A lead of 5-0 that breaks: the side without points wins, nobody has points.

    >>> from dominozoo import partnership_v0
    >>> env = partnership_v0.env()
    >>> env.reset(seed=1, options={"scores": [5, 0]})
    >>> while env.unwrapped.position()["last_hand"] is None:
    ...     observation, reward, termination, truncation, info = env.last()
    ...     env.step(int(observation["action_mask"].argmax()))
    >>> last = env.unwrapped.position()["last_hand"]
    >>> last["winner"], last["effect"], last["scores"]
    (1, 'reset', [0, 0])

## Version history

* v0: the first.
"""

from __future__ import annotations

from typing import Any

from dominozoo.aec import TableEnv, metadata, wrap
from dominozoo.guard import Guard
from dominozoo.manual import manual

__doc__ = manual("partnership", __doc__)


class raw_env(TableEnv):
    """Jamaican Partnership bare: an illegal action raises ValueError with the reason."""

    game = "partnership"
    metadata = metadata("partnership")


def env(**options: Any) -> Guard:
    """Jamaican Partnership, guarded as PettingZoo's wrappers do: an illegal action ends it at -1.

    Args:
        **options: as the manual above says.

    Raises:
        RulesError: an option that the game lacks, or a value that it doesn't take.
        ValueError: reward, max_hands or render_mode out of range.
    """
    return wrap(raw_env(**options))
