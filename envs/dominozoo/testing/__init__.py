"""Conformance checks for environments: call them from your own tests.

>>> from functools import partial
>>> from dominozoo import block_v0, testing
>>> make_env = partial(block_v0.env, players=3)
>>> testing.check_masks(make_env, steps=50)
>>> testing.check_all(make_env, games=2, steps=50)

Each check takes a function that makes a fresh environment, plays it from a seed, and raises
AssertionError that says what was wrong and where. Most need what every PettingZoo environment has
with ``{"observation", "action_mask"}``; :func:`check_conservation`, :func:`check_hidden` and
:func:`check_agreement` also need ``position()``, ``view()`` and ``rules`` as these games have them.

Golden playthroughs and comparisons with other implementations belong to a game's own tests.
"""

from __future__ import annotations

from dominozoo.testing.agreement import check_agreement, check_seats, check_vector, steady
from dominozoo.testing.basics import check_actions, check_games, check_masks
from dominozoo.testing.games import every_game
from dominozoo.testing.isolation import check_aliasing, check_copies, check_hidden
from dominozoo.testing.suite import check_all
from dominozoo.testing.tiles import check_conservation

__all__ = [
    "check_actions",
    "check_agreement",
    "check_aliasing",
    "check_all",
    "check_conservation",
    "check_copies",
    "check_games",
    "check_hidden",
    "check_masks",
    "check_seats",
    "check_vector",
    "every_game",
    "steady",
]
