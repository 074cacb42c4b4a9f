"""Draw dominoes: each for himself, a stuck player draws.

As Block, but a stuck player draws tile after tile until one fits, which he must then lay; with
the boneyard empty he passes. Each drawn tile is an action of its own. The whole boneyard may be
drawn. With four players there is none, and Draw is Block.

## Sources

The rules of a line-dominoes program, on its page in Japanese.

## Example

Player 1 holds no six. Two of the tiles that he draws don't fit, the third does:

    >>> from dominozoo import draw_v0
    >>> env = draw_v0.raw_env()
    >>> hands = [["6-6", "6-5", "6-4", "6-3", "6-2", "6-1", "3-3"]]
    >>> hands += [["5-5", "5-4", "5-3", "5-2", "5-1", "5-0", "4-4"]]
    >>> boneyard = ["4-3", "4-2", "6-0", "4-1", "4-0", "3-2", "3-1", "3-0"]
    >>> boneyard += ["2-2", "2-1", "2-0", "1-1", "1-0", "0-0"]
    >>> env.reset(options={"deal": {"hands": hands, "boneyard": boneyard}})
    >>> env.step(env.position()["legal"][0]["id"])
    >>> drawn = 0
    >>> while env.position()["legal"][0]["action"] == "draw":
    ...     env.step(56)
    ...     drawn += 1
    >>> drawn, [(move["action"], move["tile"]) for move in env.position()["legal"]]
    (3, [('play', '6-0'), ('play', '6-0')])

## Version history

* v0: the first.
"""

from __future__ import annotations

from typing import Any

from dominozoo.aec import TableEnv, metadata, wrap
from dominozoo.guard import Guard
from dominozoo.manual import manual

__doc__ = manual("draw", __doc__)


class raw_env(TableEnv):
    """Draw bare: an illegal action raises ValueError with the reason."""

    game = "draw"
    metadata = metadata("draw")


def env(**options: Any) -> Guard:
    """Draw, guarded as PettingZoo's wrappers do: an illegal action ends it at -1.

    Args:
        **options: as the manual above says.

    Raises:
        RulesError: an option that the game lacks, or a value that it doesn't take.
        ValueError: reward, max_hands or render_mode out of range.
    """
    return wrap(raw_env(**options))
