"""Positions, views, events and whole games as JSON; one table of any game behind one face.

A family of games (the line games, Le Truc) brings a :class:`Game`; environments, game records and
renderers use nothing else. A game record is JSON, an object a line: a header, then for each hand
its deal, its events and its end, then the end of the match. :func:`replay` plays it again and
refuses a record that says otherwise.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from dominozoo.fields import Layout
from dominozoo.line import position as line_position
from dominozoo.line.game import LineGame
from dominozoo.rules import LINE, Rules

Json = dict[str, Any]

SETUP_KEYS: Final = ("deal", "opener", "dealer", "scores", "stake", "decider", "position")


class Game(Protocol):
    """One table of a game with its history since the reset; seats are 0..players-1.

    Attributes:
        rules: the game.
        layout: of the observation.
        state_layout: of the state.
        num_actions: size of the action space.
        rewards: by seat, of the last hand that ended.
    """

    rules: Rules
    layout: Layout
    state_layout: Layout
    num_actions: int
    rewards: list[float]

    def reset(self, seed: tuple[int, int] | None, setup: Mapping[str, Any]) -> int:
        """Start a match; returns the seat to move. A refused set-up changes nothing."""
        ...

    def step(self, action: int) -> int:
        """Move; returns the seat to move next, or ENDED * status when the hand ended."""
        ...

    def deal(self) -> int:
        """Deal the next hand; returns the seat to move."""
        ...

    def observe(self, seat: int) -> tuple[npt.NDArray[np.int16], npt.NDArray[np.int8]]:
        """New arrays: observation and mask of a seat."""
        ...

    def state(self) -> npt.NDArray[np.int16]:
        """The whole table as a vector."""
        ...

    def last_hands(self) -> list[Json]:
        """The last finished hand as each seat knows it."""
        ...

    def position(self) -> Json:
        """The whole table as JSON types."""
        ...

    def view(self, seat: int) -> Json:
        """What a seat may know."""
        ...


def new_game(rules: Rules, max_hands: int = 0, by_match: int = 0) -> Game:
    """An empty table of a game, of whatever family.

    Args:
        rules: the game.
        max_hands: hands after which the episode ends, 0 = never.
        by_match: 1 rewards the match, 0 each hand.
    """
    if rules.variant.family == LINE:
        return LineGame(rules, max_hands, by_match)
    raise ValueError(f"{rules.game} is not built yet")


def setup_of(options: Mapping[str, Any] | None) -> Json:
    """The known keys of ``reset(options=...)``; others are ignored.

    Raises:
        ValueError: if a key is nearly one of the known: a slip of the pen must not go unseen.
    """
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        raise ValueError(f"options must be a mapping, not {options!r}")
    for key in options:
        near = difflib.get_close_matches(str(key).casefold(), SETUP_KEYS, n=1, cutoff=0.8)
        if key not in SETUP_KEYS and near:
            raise ValueError(f"options: {key!r} is unknown; did you mean {near[0]!r}?")
    return {key: options[key] for key in SETUP_KEYS if key in options}


def observation_from_view(view: Mapping[str, Any]) -> npt.NDArray[np.int16]:
    """The observation vector of a view's seat; ValueError if the view can't be."""
    return line_position.observation_from_view(view)


def mask_from_view(view: Mapping[str, Any]) -> npt.NDArray[np.int8]:
    """The action mask of a view's seat; ValueError if a field is missing."""
    return line_position.mask_from_view(view)
