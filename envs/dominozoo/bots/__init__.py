"""Bots: scripted players, compiled, so that millions of games can be judged.

>>> from dominozoo.bots import BOTS
>>> list(BOTS)
['random', 'easy', 'normal', 'hard', 'mobility']
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from dominozoo.bots import batch, heuristic, truc
from dominozoo.bots.batch import OUTSIDE, seed_bots, uniforms
from dominozoo.rules import LINE, TRUC, Rules

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

# The short codes; every family of games has a bot of its own for each.
BOTS: Final[dict[str, int]] = {
    "random": heuristic.RANDOM,
    "easy": heuristic.EASY,
    "normal": heuristic.NORMAL,
    "hard": heuristic.HARD,
    "mobility": heuristic.MOBILITY,
}

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


_FAMILIES: Final[dict[str, Kernels]] = {
    LINE: Kernels(batch.choose, batch.advance),
    TRUC: Kernels(truc.choose, truc.advance),
}


def kernels(rules: Rules) -> Kernels:
    """Return the kernels that play a game's scripted bots."""
    return _FAMILIES[rules.variant.family]


def descriptions(rules: Rules) -> dict[str, str]:
    """What each bot minds in a game, by short code."""
    return TRUC_DESCRIPTIONS if rules.variant.family == TRUC else DESCRIPTIONS
