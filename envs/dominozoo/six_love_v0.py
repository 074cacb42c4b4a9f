"""JamDom Six-Love: Cutthroat for four with the key card.

Four players, each for himself, seven tiles each; play, pose and match as in Cutthroat. A hand
won with the key card (the last tile fits both ends, shows two different numbers, and all others of
these numbers lie) is worth 2. After a tied block the next hand is worth 2 and 6-6 opens it. A
player with six points wins while at least one other has none; when every player has scored before
that, the set is broken (BRUCK).

## Sources

The rules of JamDom.com's "Six Love Cut Throat", from its practice app. It doesn't say what
follows a BRUCK: here all scores go back to 0, or with `bruck="end"` the match ends.

## Example

Everybody but player 3 has scored; if he wins the hand it is a BRUCK:

    >>> from dominozoo import six_love_v0
    >>> env = six_love_v0.env(bruck="end")
    >>> env.reset(seed=26, options={"scores": [5, 2, 1, 0]})
    >>> while not env.terminations["player_0"]:
    ...     observation, reward, termination, truncation, info = env.last()
    ...     env.step(int(observation["action_mask"].argmax()))
    >>> last = env.unwrapped.position()["last_hand"]
    >>> last["winner"], last["effect"], env.unwrapped.position()["winners"]
    (3, 'bruck', [])

## Version history

* v0: the first.
"""

from __future__ import annotations

from typing import Any

from dominozoo.aec import TableEnv, metadata, wrap
from dominozoo.guard import Guard
from dominozoo.manual import manual

__doc__ = manual("six_love", __doc__)


class raw_env(TableEnv):
    """JamDom Six-Love bare: an illegal action raises ValueError with the reason."""

    game = "six_love"
    metadata = metadata("six_love")


def env(**options: Any) -> Guard:
    """JamDom Six-Love, guarded as PettingZoo's wrappers do: an illegal action ends it at -1.

    Args:
        **options: as the manual above says.

    Raises:
        RulesError: an option that the game lacks, or a value that it doesn't take.
        ValueError: reward, max_hands or render_mode out of range.
    """
    return wrap(raw_env(**options))
