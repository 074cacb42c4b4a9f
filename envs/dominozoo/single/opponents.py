"""Who plays the seats beside the learner: scripted bots, exported bots, anybody's functions."""

from __future__ import annotations

import difflib
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from dominozoo.bots import BOTS, OUTSIDE
from dominozoo.bots.bundle import Bot, Bundle, load_bot
from dominozoo.bots.shipping import BUNDLE, shipped_for
from dominozoo.rules import Rules

Array = npt.NDArray[Any]
Observation = dict[str, Array]
Player = str | Path | Bot | Bundle | Callable[[Observation], Any]

RANDOM_SEAT: Final = "random"
# The seats counted from the learner's, in a game of pairs.
PARTNER: Final = 2
RIVALS: Final = (1, 3)


class OpponentError(ValueError):
    """An opponent that nobody is, that plays another game, or that failed to move."""


class Mind(Protocol):
    """A player that isn't compiled."""

    def act(self, seen: Array, legal: Array, seats: Array) -> npt.NDArray[np.int64]:
        """Choose for k positions: int16 (k, layout size) and int8 (k, actions) to int64 (k,).

        ``seats`` (k,) are those to move; errors name them.
        """
        ...


class Cast(NamedTuple):
    """The players of all seats, counted from the learner's.

    Attributes:
        codes: a bot's code for each seat, OUTSIDE for the learner and for minds.
        minds: the players that aren't compiled, by seat.
    """

    codes: tuple[int, ...]
    minds: dict[int, Mind]


class BundleMind:
    """An exported bot; it plays its most probable action."""

    def __init__(self, bot: Bot) -> None:
        self.bot = bot

    def act(self, seen: Array, legal: Array, seats: Array) -> npt.NDArray[np.int64]:
        """As :class:`Mind`."""
        chosen: npt.NDArray[np.int64] = self.bot.act(seen, legal)
        return chosen


class FunctionMind:
    """A function of PettingZoo's observation, called once a position."""

    def __init__(self, name: str, function: Callable[[Observation], Any]) -> None:
        self.name, self.function = name, function

    def act(self, seen: Array, legal: Array, seats: Array) -> npt.NDArray[np.int64]:
        """As :class:`Mind`; OpponentError if the function raises or its answer is illegal."""
        chosen = np.empty(len(seen), np.int64)
        for k in range(len(seen)):
            chosen[k] = self._ask(seen[k], legal[k], f"{self.name}, seat {seats[k]}")
        return chosen

    def _ask(self, seen: Array, legal: Array, who: str) -> int:
        try:
            answer = self.function({"observation": seen.copy(), "action_mask": legal.copy()})
        except Exception as error:
            raise OpponentError(
                f"{who}: the function raised {type(error).__name__}: {error}"
            ) from error
        try:
            action = operator.index(answer)
        except TypeError:
            raise OpponentError(f"{who}: {answer!r} is no action id") from None
        if not 0 <= action < len(legal) or not legal[action]:
            raise OpponentError(
                f"{who}: action {action} is illegal; legal: {np.flatnonzero(legal).tolist()}"
            )
        return action


def cast(rules: Rules, opponents: Player | Sequence[Player], partner: Player | None) -> Cast:
    """Seat the players.

    Args:
        rules: the game.
        opponents: one for all, or one for each opponent in playing order from the learner on.
        partner: who plays the learner's partner; None = the one who plays all opponents.

    Raises:
        OpponentError: a wrong number of them, a partner in a game without pairs, an unknown player
            or one of another game.
        BundleError: if a bundle can't be read.
    """
    rivals = RIVALS if rules.pairs else tuple(range(1, rules.players))
    one_each = isinstance(opponents, Iterable) and not isinstance(opponents, str)
    chosen = _one_each(rules, opponents, len(rivals)) if one_each else {}
    places = {
        seat: (f"opponents[{k}]", chosen[k]) if one_each else ("opponents", opponents)
        for k, seat in enumerate(rivals)
    }
    if rules.pairs:
        if partner is None and one_each:
            raise OpponentError("partner: must be named where opponents are named one a seat")
        places[PARTNER] = ("opponents", opponents) if partner is None else ("partner", partner)
    elif partner is not None:
        raise OpponentError(f"partner: {rules} is played without partners; leave it out")
    codes, minds = [OUTSIDE] * rules.players, dict[int, Mind]()
    known: dict[int, int | Mind] = {}  # one bundle for all seats is read once
    for seat, (name, player) in places.items():
        found = known.get(id(player))
        if found is None or isinstance(found, FunctionMind):  # a function's errors name its place
            found = known[id(player)] = _find(name, player, rules)
        if isinstance(found, int):
            codes[seat] = found
        else:
            minds[seat] = found
    return Cast(tuple(codes), minds)


def _one_each(rules: Rules, opponents: Any, count: int) -> dict[int, Any]:
    if isinstance(opponents, Mapping) or not isinstance(opponents, Sequence):
        raise OpponentError(f"opponents: must be one player or a list, not {opponents!r}")
    if len(opponents) != count:
        raise OpponentError(
            f"opponents: {rules} has {count}, {len(opponents)} are named; name one for all, or each"
        )
    return dict(enumerate(opponents))


def _find(name: str, player: Any, rules: Rules) -> int | Mind:
    """A bot's code, or a mind."""
    if isinstance(player, str) and player in BOTS:
        return BOTS[player]
    if isinstance(player, str) and player == "shipped":
        player = _shipped(name, rules)
    if isinstance(player, Path) or (isinstance(player, str) and player.endswith(BUNDLE)):
        player = load_bot(player)
    if isinstance(player, Bundle):
        player = Bot(player)
    if isinstance(player, Bot):
        _check_game(name, player.rules, rules)
        return BundleMind(player)
    if callable(player):
        return FunctionMind(name, player)
    near = difflib.get_close_matches(str(player), BOTS, n=1)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    raise OpponentError(
        f"{name}: {player!r} is nobody{hint}; name a bot ({', '.join(BOTS)}), 'shipped', "
        f"a file *{BUNDLE}, a loaded bot or a function of the observation"
    )


def _shipped(name: str, rules: Rules) -> Path:
    """The file of the bot that ships for a game."""
    path = shipped_for(rules)
    if path is None:
        raise OpponentError(f"{name}: no bot ships for {rules}")
    return path


def _check_game(name: str, made_for: Rules, rules: Rules) -> None:
    """Refuse a bot of another game or number of players; other options it may meet."""
    if (made_for.game, made_for.players) != (rules.game, rules.players):
        raise OpponentError(f"{name}: the bot was made for {made_for}, it can't play {rules}")


def check_seat(seat: int | str, rules: Rules) -> int | None:
    """Return the learning seat, None for one drawn anew each episode.

    Raises:
        ValueError: if it is neither "random" nor a seat of the game.
    """
    if seat == RANDOM_SEAT:
        return None
    whole = isinstance(seat, int | np.integer) and not isinstance(seat, bool)
    if not whole or not 0 <= int(seat) < rules.players:
        raise ValueError(
            f"seat must be {RANDOM_SEAT!r} or a seat 0..{rules.players - 1} of {rules}, not {seat!r}"
        )
    return int(seat)
