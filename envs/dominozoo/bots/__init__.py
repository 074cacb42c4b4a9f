"""Bots: scripted players, compiled, so that millions of games can be judged.

>>> from dominozoo.bots import BOTS
>>> list(BOTS)
['random', 'easy', 'normal', 'hard', 'mobility']
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from dominozoo.bots.codes import BOTS, OUTSIDE
from dominozoo.rules import TRUC, Rules

if TYPE_CHECKING:
    from dominozoo.bots.batch import seed_bots as seed_bots
    from dominozoo.bots.batch import uniforms as uniforms

__all__ = [
    "BOTS",
    "DESCRIPTIONS",
    "OUTSIDE",
    "TRUC_DESCRIPTIONS",
    "Kernels",
    "descriptions",
    "kernels",
    "seed_bots",
    "uniforms",
]

DESCRIPTIONS: Final[dict[str, str]] = {
    "random": "any legal move, each with the same chance",
    "easy": "nearly random",
    "normal": "heavy tiles and doubles first, slightly what continues",
    "hard": "heavy first, remembers who lacks what, counts, blocks, closes when that wins",
    "mobility": "doubles first, then what leaves most of its own tiles playable",
}

TRUC_DESCRIPTIONS: Final[dict[str, str]] = {
    "random": "any legal move, each with the same chance",
    "easy": "nearly random",
    "normal": "wins tricks cheaply, calls with strong tiles, never bluffs",
    "hard": "plays imagined deals out, minds calls and the score, mixes its bluffs",
    "mobility": "wins tricks cheaply, calls only what wins at once",
}


class Kernels(NamedTuple):
    """The compiled functions of a family of games; signatures as in ``dominozoo.bots.batch``."""

    choose: Any
    advance: Any


def kernels(rules: Rules) -> Kernels:
    """Return the kernels that play a game's scripted bots."""
    return _kernels(rules.variant.family)


@functools.cache
def _kernels(family: str) -> Kernels:
    """A family's kernels, brought when asked for: who only reads exported bots needs no compiler."""
    if family == TRUC:
        from dominozoo.bots import truc

        return Kernels(truc.choose, truc.advance)
    from dominozoo.bots import batch

    return Kernels(batch.choose, batch.advance)


def __getattr__(name: str) -> Any:
    """``seed_bots`` and ``uniforms``, compiled too."""
    if name in ("seed_bots", "uniforms"):
        from dominozoo.bots import batch

        return getattr(batch, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def descriptions(rules: Rules) -> dict[str, str]:
    """What each bot minds in a game, by short code."""
    return TRUC_DESCRIPTIONS if rules.variant.family == TRUC else DESCRIPTIONS
