"""Block dominoes: each for himself, a stuck player passes.

The double-six set; two to four players, seven tiles each; what is left stays in the boneyard,
which is never used. The highest double dealt opens each hand, without any double the heaviest
tile. Who can play must. A hand ends when a player lays his last tile or when all pass in
succession; then the player who went out, or who alone has the fewest pips, scores the pips of all
other hands. A tied block scores nothing. The first to reach the target wins the match.

## Sources

The rules of a line-dominoes program, on its page in Japanese: they fix the opening of every hand,
the duty to play and the score. Where it says nothing: equal sums open by the larger number.

## Example

    >>> from dominozoo import block_v0
    >>> env = block_v0.env(players=3, max_hands=1)
    >>> env.reset(seed=1)
    >>> while not env.terminations["player_0"]:
    ...     observation, reward, termination, truncation, info = env.last()
    ...     env.step(int(observation["action_mask"].argmax()))
    >>> {agent: round(reward, 3) for agent, reward in env.rewards.items()}
    {'player_0': 0.15, 'player_1': -0.075, 'player_2': -0.075}

## Version history

* v0: the first.
"""

from __future__ import annotations

from typing import Any

from dominozoo.aec import TableEnv, metadata, wrap
from dominozoo.guard import Guard
from dominozoo.manual import manual

__doc__ = manual("block", __doc__)


class raw_env(TableEnv):
    """Block bare: an illegal action raises ValueError with the reason."""

    game = "block"
    metadata = metadata("block")


def env(**options: Any) -> Guard:
    """Block, guarded as PettingZoo's wrappers do: an illegal action ends it at -1.

    Args:
        **options: as the manual above says.

    Raises:
        RulesError: an option that the game lacks, or a value that it doesn't take.
        ValueError: reward, max_hands or render_mode out of range.
    """
    return wrap(raw_env(**options))
