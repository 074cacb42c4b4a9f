"""Who can take part in the arena, by short code.

* ``random``, ``easy``, ``normal``, ``hard``, ``mobility``: the scripted bots;
* a folder: a checkpoint, ``checkpoints/block_v0`` or ``runs/x``;
* a file ``*.dombot``: an exported bot;
* ``module:callable``: a function ``f(observation, mask) -> actions``, observation int16 (k, size),
  mask int8 (k, actions), actions integers (k,).

torch is imported only when a checkpoint takes part.
"""

from __future__ import annotations

import difflib
import importlib
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from dominozoo.bots import BOTS, OUTSIDE
from dominozoo.rules import Rules
from dominozoo_training import remedy

Array = npt.NDArray[Any]
Act = Callable[[Array, Array, Array], Array]
BUNDLE: Final = ".dombot"


class EntrantError(ValueError):
    """An entrant that cannot be loaded or doesn't play this game; the text names it."""


class Policy(Protocol):
    """What a checkpoint is loaded as, or a network in training."""

    def probabilities(self, observation: Array, mask: Array, /) -> Array:
        """Chances of the actions, (k, actions) float, 0 where illegal."""
        ...


@dataclass(frozen=True, slots=True)
class Entrant:
    """A player of the arena.

    Attributes:
        name: as results show it.
        code: the scripted bot that plays inside the kernel, or ``OUTSIDE``.
        act: for outside players: (observation int16 (k, size), mask int8 (k, actions), u float64
            (k,) in 0..1) to actions, integers (k,). ``u`` is fresh chance, the same for the same
            deal and seed, so that a player who draws his moves is repeatable.
    """

    name: str
    code: int = OUTSIDE
    act: Act | None = None


def scripted(name: str) -> Entrant:
    """The scripted bot of a short code; KeyError for another name."""
    return Entrant(name, BOTS[name])


def policy_entrant(name: str, policy: Policy, *, sample: bool = False) -> Entrant:
    """A policy as an entrant: its most probable action, or with ``sample`` one drawn by chance."""

    def greedy(observation: Array, mask: Array, u: Array) -> Array:
        best: Array = np.asarray(policy.probabilities(observation, mask)).argmax(axis=1)
        return best

    def drawn(observation: Array, mask: Array, u: Array) -> Array:
        sums = np.asarray(policy.probabilities(observation, mask), np.float64).cumsum(axis=1)
        first: Array = (sums > u[:, None] * sums[:, -1:]).argmax(axis=1)
        return first

    return Entrant(name, act=drawn if sample else greedy)


def split_players(text: str) -> list[str]:
    """Split a list of players at the commas outside brackets.

    >>> split_players("hard, search(deals=50,seed=1),runs/x")
    ['hard', 'search(deals=50,seed=1)', 'runs/x']
    """
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]


def load_entrant(spec: str, rules: Rules) -> Entrant:
    """Load an entrant by its short code.

    Args:
        spec: short code, folder, bundle file or ``module:callable``.
        rules: the game that it is to play.

    Raises:
        EntrantError: unknown, unreadable, or made for another game.
    """
    if spec in BOTS:
        return scripted(spec)
    path = Path(spec)
    if spec.endswith(BUNDLE):
        return _load_bundle(spec, path, rules)
    if spec and Path(spec.partition("@")[0]).is_dir():  # runs/x@best is a run's best
        return _load_checkpoint(spec, path, rules)
    if re.fullmatch(r"[\w.]+:\w+", spec):
        return _load_callable(spec)
    close = difflib.get_close_matches(spec, BOTS, n=1)
    near = f" (did you mean {close[0]!r}?)" if close else ""
    raise EntrantError(
        f"players: {spec!r} is nobody{near}; name a bot ({', '.join(BOTS)}), a checkpoint folder, "
        f"a file *{BUNDLE} or module:callable"
    )


def check_game(spec: str, made_for: Rules, rules: Rules) -> None:
    """Refuse a policy of another game or number of players; other options it may meet.

    Raises:
        EntrantError: naming both games.
    """
    if (made_for.game, made_for.players) != (rules.game, rules.players):
        raise EntrantError(f"players: {spec} was made for {made_for}, it can't play {rules}")


def _load_bundle(spec: str, path: Path, rules: Rules) -> Entrant:
    from dominozoo.bots.bundle import load_bot

    try:
        bot = load_bot(path)
    except (OSError, ValueError) as error:
        raise EntrantError(f"players: {error}") from None
    check_game(spec, bot.rules, rules)
    return policy_entrant(spec, bot)


def _load_checkpoint(spec: str, path: Path, rules: Rules) -> Entrant:
    try:
        checkpoint = importlib.import_module("dominozoo_training.policy.checkpoint")
    except ModuleNotFoundError as error:
        raise EntrantError(
            f"players: {spec} is a checkpoint, which needs {error.name}: {remedy('train')}"
        ) from None
    try:
        policy = checkpoint.load_policy(path)
    except (OSError, ValueError) as error:
        raise EntrantError(f"players: {error}") from None
    check_game(spec, policy.rules, rules)
    return policy_entrant(spec, policy)


def _load_callable(spec: str) -> Entrant:
    name, _, attribute = spec.partition(":")
    here = str(Path.cwd())
    if here not in sys.path:  # a console script's path lacks the folder one stands in
        sys.path.insert(0, here)
    try:
        found: Any = getattr(importlib.import_module(name), attribute)
    except (ImportError, AttributeError) as error:
        raise EntrantError(f"players: {spec}: {error}") from None
    if not callable(found):
        raise EntrantError(f"players: {spec} can't be called; it must be f(observation, mask)")

    def act(observation: Any, mask: Any, u: Any) -> Any:
        try:
            return np.asarray(found(observation, mask))
        except Exception as error:
            raise EntrantError(
                f"players: {spec} failed: {type(error).__name__}: {error}"
            ) from error

    return Entrant(spec, act=act)
