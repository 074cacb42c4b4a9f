"""Who can take part in the arena, by short code.

* ``random``, ``easy``, ``normal``, ``hard``, ``mobility``: the scripted bots;
* ``search(deals=50)``: plays imagined deals out; ``omniscient``: sees all tiles;
* a folder: a checkpoint, ``checkpoints/block_v0`` or ``runs/x``;
* a file ``*.dombot``: an exported bot; ``x.dombot@easy``: at one of its levels;
* a file ``*.zip``: a model of Stable-Baselines3;
* ``stdio:COMMAND``: a program that answers the bot protocol on its standard streams;
* ``module:callable``: a function ``f(observation, mask) -> actions``, observation int16 (k, size),
  mask int8 (k, actions), actions integers (k,).

``KINDS`` is the one list of them. What a kind needs is imported only when such a player takes part.
"""

from __future__ import annotations

import contextlib
import difflib
import hashlib
import importlib
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from dominozoo.bots import BOTS, OUTSIDE
from dominozoo.bots.shipping import BUNDLE, shipped_for
from dominozoo.rules import TRUC, Rules
from dominozoo_training import remedy

Array = npt.NDArray[Any]
Act = Callable[[Array, Array, Array], Array]
Choose = Callable[[Rules, Array, Array, Array, Array], Array]
MODEL: Final = ".zip"
SEARCHERS: Final = ("search", "omniscient")
SEES_ALL: Final = "(sees all tiles)"


class EntrantError(ValueError):
    """An entrant that cannot be loaded or doesn't play this game; the text names it."""


def failure(error: BaseException) -> str:
    r"""An error in one line: its kind and the first line of its text.

    >>> failure(ValueError("no idea\nat all"))
    'ValueError: no idea'
    """
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


class Policy(Protocol):
    """What a checkpoint is loaded as, or a network in training."""

    def probabilities(self, observation: Array, mask: Array, /) -> Array:
        """Chances of the actions, (k, actions) float, 0 where illegal."""
        ...


@dataclass(frozen=True, slots=True)
class Entrant:
    """A player of the arena: a scripted bot's code, or ``act``, or ``choose``.

    Attributes:
        name: as results show it; what it was loaded from if ``loaded``.
        code: the scripted bot that plays inside the kernel, or ``OUTSIDE``.
        act: decides on what the seat sees: (observation int16 (k, size), mask int8 (k, actions), u
            float64 (k,) in 0..1) to actions, integers (k,). ``u`` is fresh chance, the same for the
            same deal and seed, so that a player who draws his moves is repeatable.
        choose: decides on the tables themselves: (rules, tables (B,), packed, rng uint32 (B, 4) the
            bots' generators, rows int64 (k,) to decide) to actions, int64 (k,).
        cheats: it sees tiles that its seat doesn't.
        slow: its decisions take so long that little should be played between two savings.
        loaded: ``load_entrant`` made it from its name, so another process can do so, too.
        mark: what tells this player from a later one of the same name: a checksum of its files.
        policy: what gives the chances of its moves, None for a bot that only moves.
    """

    name: str
    code: int = OUTSIDE
    act: Act | None = None
    choose: Choose | None = None
    cheats: bool = False
    slow: bool = False
    loaded: bool = field(default=False, compare=False)
    mark: str = ""
    policy: Any = field(default=None, compare=False)

    @property
    def label(self) -> str:
        """The name, and whether it sees all tiles."""
        return f"{self.name} {SEES_ALL}" if self.cheats else self.name


def scripted(name: str) -> Entrant:
    """The scripted bot of a short code; KeyError for another name."""
    return Entrant(name, BOTS[name])


def policy_entrant(name: str, policy: Policy, *, sample: bool = False, mark: str = "") -> Entrant:
    """A policy as an entrant: its most probable action, or with ``sample`` one drawn by chance."""

    def greedy(observation: Array, mask: Array, u: Array) -> Array:
        best: Array = np.asarray(policy.probabilities(observation, mask)).argmax(axis=1)
        return best

    def drawn(observation: Array, mask: Array, u: Array) -> Array:
        sums = np.asarray(policy.probabilities(observation, mask), np.float64).cumsum(axis=1)
        first: Array = (sums > u[:, None] * sums[:, -1:]).argmax(axis=1)
        return first

    return Entrant(name, act=drawn if sample else greedy, mark=mark, policy=policy)


def chosen(entrant: Entrant, table: Any, stream: Array) -> int:
    """The move of an entrant that decides on tables, at the one table of a game in the terminal.

    Args:
        entrant: has ``choose``.
        table: the game, with ``rules``, ``tables`` and ``packed``.
        stream: the bots' generator, uint32 (1, 4).
    """
    assert entrant.choose is not None
    rows = np.zeros(1, np.int64)
    return int(entrant.choose(table.rules, table.tables, table.packed, stream, rows)[0])


def samples(rules: Rules) -> bool:
    """Whether a policy's moves are drawn: where bluffs belong to play, the likeliest gives it away."""
    return rules.variant.family == TRUC


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


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of entrant.

    Attributes:
        what: how the message for an unknown name offers it.
        knows: whether a name is of this kind.
        load: makes the entrant; raises EntrantError.
    """

    what: str
    knows: Callable[[str], bool]
    load: Callable[[str, Rules], Entrant]


def load_entrant(spec: str, rules: Rules) -> Entrant:
    """Load an entrant by its short code.

    Args:
        spec: short code, search, folder, file or ``module:callable``.
        rules: the game that it is to play.

    Raises:
        EntrantError: unknown, unreadable, or made for another game.
    """
    for kind in KINDS:
        if kind.knows(spec):
            return replace(kind.load(spec, rules), loaded=True)
    head, bracket, _ = spec.partition("(")
    close = difflib.get_close_matches(head, SEARCHERS if bracket else [*BOTS, *SEARCHERS], n=1)
    near = f" (did you mean {close[0]!r}?)" if close else ""
    known = [kind.what for kind in KINDS]
    raise EntrantError(
        f"players: {spec!r} is nobody{near}; name {', '.join(known[:-1])} or {known[-1]}"
    )


def check_game(spec: str, made_for: Rules, rules: Rules) -> None:
    """Refuse a policy of another game or number of players; other options it may meet.

    Raises:
        EntrantError: naming both games.
    """
    if (made_for.game, made_for.players) != (rules.game, rules.players):
        raise EntrantError(f"players: {spec} was made for {made_for}, it can't play {rules}")


def checksum(paths: Iterable[Path]) -> str:
    """SHA-256 over the contents of files, hexadecimal."""
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _load_scripted(spec: str, rules: Rules) -> Entrant:
    return scripted(spec)


def _load_searcher(spec: str, rules: Rules) -> Entrant:
    search = importlib.import_module("dominozoo.bots.search")
    try:
        bot = search.parse_bot(spec, rules)
    except ValueError as error:
        text = str(error).removeprefix("players: ")
        raise EntrantError(f"players: {text}") from None
    return Entrant(spec, choose=bot.choose, cheats=bool(bot.cheats), slow=True)


def _load_bundle(spec: str, rules: Rules) -> Entrant:
    from dominozoo.bots.bundle import load_bot
    from dominozoo.bots.levels import AtLevel

    path, level = _split_level(spec)
    try:
        bot = load_bot(path)
        mark = checksum([Path(path)]) if Path(path).is_file() else ""
    except (OSError, ValueError) as error:
        raise EntrantError(f"players: {error}") from None
    check_game(spec, bot.rules, rules)
    if level is None:
        return policy_entrant(spec, bot, sample=samples(rules), mark=mark)
    levels = bot.bundle.levels
    if level not in levels:
        raise EntrantError(f"players: {spec}: its levels are {', '.join(levels)}, not {level!r}")
    return policy_entrant(spec, AtLevel(bot, levels[level]), sample=True, mark=mark)


def _split_level(spec: str) -> tuple[str, str | None]:
    """A bundle's path, and the level named after it; no level in any other name."""
    path, _, level = spec.rpartition("@")
    return (path, level) if path.endswith(BUNDLE) else (spec, None)


def _load_shipped(spec: str, rules: Rules) -> Entrant:
    path = shipped_for(rules)
    if path is None:
        raise EntrantError(f"players: no bot ships for {rules}")
    return replace(_load_bundle(str(path), rules), name=spec)


def _load_checkpoint(spec: str, rules: Rules) -> Entrant:
    try:
        checkpoint = importlib.import_module("dominozoo_training.policy.checkpoint")
    except ModuleNotFoundError as error:
        raise EntrantError(
            f"players: {spec} is a checkpoint, which needs {error.name}: {remedy('train')}"
        ) from None
    try:
        folder = checkpoint.policy_folder(spec)
        policy = checkpoint.load_policy(folder)
        mark = checksum(sorted(p for p in folder.iterdir() if p.suffix == ".safetensors"))
    except (OSError, ValueError) as error:
        raise EntrantError(f"players: {error}") from None
    check_game(spec, policy.rules, rules)
    return policy_entrant(spec, policy, sample=samples(rules), mark=mark)


def _load_model(spec: str, rules: Rules) -> Entrant:
    from dominozoo_training.evaluation.sb3_model import load_model

    try:
        policy = load_model(Path(spec), rules)
        mark = checksum([Path(spec)])
    except (OSError, ValueError, ImportError) as error:
        raise EntrantError(f"players: {error}") from None
    return policy_entrant(spec, policy, sample=samples(rules), mark=mark)


def _load_callable(spec: str, rules: Rules) -> Entrant:
    name, _, attribute = spec.partition(":")
    here = str(Path.cwd())
    if here not in sys.path:  # a console script's path lacks the folder one stands in
        sys.path.insert(0, here)
    try:
        module = importlib.import_module(name)
        found: Any = getattr(module, attribute)
    except (ImportError, AttributeError) as error:
        told = failure(error).partition(": ")[2]
        raise EntrantError(f"players: {spec}: {told or failure(error)}") from None
    except (Exception, SystemExit) as error:
        raise EntrantError(f"players: {spec}: {failure(error)}") from error
    if not callable(found):
        raise EntrantError(f"players: {spec} can't be called; it must be f(observation, mask)")

    def act(observation: Any, mask: Any, u: Any) -> Any:
        try:
            with contextlib.redirect_stdout(sys.stderr):  # results go to stdout
                return np.asarray(found(observation, mask))
        except (Exception, SystemExit) as error:
            raise EntrantError(f"players: {spec} failed: {failure(error)}") from error

    file = getattr(module, "__file__", None)
    return Entrant(spec, act=act, mark=checksum([Path(file)]) if file else "")


def _load_program(spec: str, rules: Rules) -> Entrant:
    from dominozoo_training.evaluation.external import load_program

    return load_program(spec, rules)


def _is_searcher(spec: str) -> bool:
    return spec.partition("(")[0].strip() in SEARCHERS


def _is_folder(spec: str) -> bool:
    return bool(spec) and Path(spec.partition("@")[0]).is_dir()  # runs/x@best is a run's best


KINDS: Final[list[Kind]] = [
    Kind(f"a bot ({', '.join(BOTS)})", BOTS.__contains__, _load_scripted),
    Kind("stdio:COMMAND", lambda spec: spec.startswith("stdio:"), _load_program),
    Kind("search(deals=50), omniscient", _is_searcher, _load_searcher),
    Kind("shipped", "shipped".__eq__, _load_shipped),
    Kind(f"a file *{BUNDLE}", lambda spec: _split_level(spec)[0].endswith(BUNDLE), _load_bundle),
    Kind(f"a file *{MODEL} of Stable-Baselines3", lambda s: s.endswith(MODEL), _load_model),
    Kind("a checkpoint folder", _is_folder, _load_checkpoint),
    Kind("module:callable", lambda s: bool(re.fullmatch(r"[\w.]+:\w+", s)), _load_callable),
]
