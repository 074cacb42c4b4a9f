"""Bots that were trained elsewhere: reading a ``.dombot`` bundle and playing it, with NumPy alone.

A bundle is a zip of data: a manifest, the policy as ONNX and as plain weights, test vectors and a
card. It brings no code. ``dominozoo.load_bot(path)`` reads one.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, overload

import numpy as np
import numpy.typing as npt

from dominozoo.bots.archive import (
    MANIFEST,
    WEIGHTS,
    BundleError,
    check_sums,
    read_json,
    read_members,
    read_weights,
)
from dominozoo.bots.levels import SAMPLED, Level, choose, draw, read_levels, read_select
from dominozoo.bots.manifest import (
    check_contract,
    check_format,
    check_optional,
    read_game,
    read_network,
)
from dominozoo.bots.network import Looks, Network
from dominozoo.bots.shipping import shipped_games, shipped_path
from dominozoo.fields import LINE_LAYOUT, TRUC_LAYOUT
from dominozoo.rules import TRUC, Rules, pack_line

__all__ = ["Bot", "Bundle", "BundleError", "load_bot", "read_bundle"]

# The fields of an observation that say how an option stands.
OPTION_OF: Final = {
    "draw": "draw",
    "informal": "opening",
    "team_poser": "poser",
    "tie": "tie",
    "decider_rule": "decider",
    "leader_loss": "broken",
    "bruck_end": "bruck",
    "key_card": "key_card",
}

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Bundle:
    """A bundle that was read and checked against its own checksums.

    Attributes:
        path: where it came from.
        manifest: the manifest, JSON types.
        rules: the game that it plays.
        shape: what its network looks at.
        levels: how strongly it is spoilt by level: easy, normal, hard.
        members: every file of it by name.
    """

    path: str
    manifest: dict[str, Any]
    rules: Rules
    shape: Looks
    levels: dict[str, Level]
    members: dict[str, bytes]

    @property
    def action_count(self) -> int:
        """Size of the action space: 58, French 114, Le Truc 60."""
        return self.shape.action_count

    @property
    def sampled(self) -> bool:
        """Whether its moves are drawn by their probabilities unless somebody asks otherwise."""
        return read_select(self.manifest) == SAMPLED


def read_bundle(path: str | Path) -> Bundle:
    """Read a bundle and check all that can be checked without playing it.

    Raises:
        BundleError: if it cannot be read, is damaged, or needs something newer; one line that
            names the file and the reason.
    """
    return bundle_of(read_members(path), str(path))


def bundle_of(members: dict[str, bytes], path: str) -> Bundle:
    """A bundle of its members; ``path`` is what errors name. Raises as :func:`read_bundle`."""
    try:
        manifest = read_json(members[MANIFEST], MANIFEST)
        if not isinstance(manifest, dict):
            raise BundleError(f"{MANIFEST} must be an object")
        check_format(manifest)
        check_sums(members, manifest.get("files"))
        rules = read_game(manifest)
        shape = read_network(manifest, rules)
        check_contract(manifest, rules, shape)
        levels = read_levels(manifest)
        check_optional(manifest)
    except BundleError as error:
        raise BundleError(f"{path}: {error}") from None
    return Bundle(path, manifest, rules, shape, levels, members)


class Bot:
    """A trained bot.

    Attributes:
        bundle: what it was read from.
        rules: the game that it plays.
        id: its name, unique for its weights.
        version: its version, a text.
    """

    def __init__(self, bundle: Bundle) -> None:
        """Take the weights of a bundle; BundleError if they are not those of its network."""
        self.bundle = bundle
        self.rules = bundle.rules
        self.id = str(bundle.manifest["id"])
        self.version = str(bundle.manifest["version"])
        self._low, self._high = bounds(self.rules)
        self._rng = np.random.default_rng()
        try:
            self.network = Network(read_weights(bundle.members[WEIGHTS]), bundle.shape)
        except ValueError as error:
            raise BundleError(f"{bundle.path}: {WEIGHTS}: {error}") from None

    def __repr__(self) -> str:
        return f"Bot({self.id!r}, {str(self.rules)!r})"

    def evaluate(
        self, observation: npt.ArrayLike, mask: npt.ArrayLike
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """Probabilities and values of a batch.

        Args:
            observation: (B, layout size) integers, as the environment gives them.
            mask: (B, actions) integers, 1 = legal, at least one a row.

        Returns:
            (B, actions) float32, exactly 0 where illegal; (B,) float32.

        Raises:
            ValueError: wrong shape or type, values out of range, an observation of another game or
                number of players, a row without a legal action.
        """
        seen, legal = self._checked(observation, mask)
        return self.network.evaluate(seen, legal)

    def probabilities(
        self, observation: npt.ArrayLike, mask: npt.ArrayLike
    ) -> npt.NDArray[np.float32]:
        """Probabilities of the actions, exactly 0 where illegal.

        Takes one position, (layout size,) and (actions,), and gives (actions,) float32; or a batch of them.
        """
        one = np.ndim(observation) == 1
        if one:
            observation, mask = np.asarray(observation)[None], np.asarray(mask)[None]
        seen, legal = self._checked(observation, mask)
        found = self.network.probabilities(seen, legal)
        return found[0] if one else found

    def value(self, observation: npt.ArrayLike) -> npt.NDArray[np.float32]:
        """Expected reward of this hand (``reward="hand"``) for the observer.

        Takes one position, (layout size,), and gives a float32 scalar array; or a batch, (B,) float32.
        """
        one = np.ndim(observation) == 1
        seen = np.atleast_2d(observation)
        mask = np.ones((len(seen), self.bundle.action_count), np.int8)
        found = self.network.value(self._checked(seen, mask)[0])
        return found[0] if one else found

    @overload
    def act(
        self,
        observation: Mapping[str, Any],
        mask: None = None,
        *,
        greedy: bool | None = None,
        rng: np.random.Generator | None = None,
        level: str | None = None,
    ) -> int: ...

    @overload
    def act(
        self,
        observation: Array,
        mask: Array,
        *,
        greedy: bool | None = None,
        rng: np.random.Generator | None = None,
        level: str | None = None,
    ) -> Any: ...

    def act(
        self,
        observation: Mapping[str, Any] | Array,
        mask: Array | None = None,
        *,
        greedy: bool | None = None,
        rng: np.random.Generator | None = None,
        level: str | None = None,
    ) -> Any:
        """Choose actions.

        Args:
            observation: what PettingZoo gives, {"observation", "action_mask"}; or the observation
                alone, (layout size,) or (B, layout size).
            mask: the mask where it isn't in ``observation``.
            greedy: the most probable action, of equals the first; False draws by the probabilities;
                None does what the bundle says: in Le Truc, where a bluff must not be foreseen, it
                draws.
            rng: where drawn numbers come from, needed for False; None with ``greedy=None`` takes a
                generator of the bot's own, freshly seeded.
            level: ``easy``, ``normal`` or ``hard``, as the bundle defines them; then two numbers are
                drawn for each position, and ``greedy`` must be left out.

        Returns:
            An int for one position, (B,) int64 for a batch.

        Raises:
            ValueError: as :meth:`evaluate`; or drawing without ``rng``.
        """
        seen: Any = observation
        if isinstance(observation, Mapping):
            seen, mask = observation["observation"], observation["action_mask"]
        if mask is None:
            raise ValueError("act needs a mask, unless it is given PettingZoo's observation")
        if greedy is False and rng is None:
            raise ValueError("drawing an action (greedy=False) needs rng, a NumPy generator")
        if not isinstance(rng, np.random.Generator | None):
            raise ValueError(f"rng must be a NumPy generator, not {rng!r}")
        chances = self.probabilities(seen, mask)
        one = chances.ndim == 1
        if level is None and (not self.bundle.sampled if greedy is None else greedy):
            chosen = chances.argmax(axis=-1)
            return int(chosen) if one else chosen
        chances, legal = (np.atleast_2d(array) for array in (chances, mask))
        numbers = rng or self._rng
        if level is not None:
            first, second = numbers.random((2, len(chances)))
            chosen = choose(chances, legal, self._level(level, greedy), first, second)
        else:
            chosen = draw(chances, numbers.random(len(chances)))
        return int(chosen[0]) if one else chosen

    def _level(self, name: str, greedy: bool | None) -> Level:
        if greedy is not None:
            raise ValueError("give level or greedy, not both")
        if name not in self.bundle.levels:
            raise ValueError(f"level must be one of {', '.join(self.bundle.levels)}, not {name!r}")
        return self.bundle.levels[name]

    def _checked(self, observation: npt.ArrayLike, mask: npt.ArrayLike) -> tuple[Array, Array]:
        seen, legal = np.asarray(observation), np.asarray(mask)
        _check_array("observation", seen, len(self._high))
        _check_array("mask", legal, self.bundle.action_count)
        if len(seen) != len(legal):
            raise ValueError(f"{len(seen)} observations but {len(legal)} masks")
        if np.count_nonzero(seen > self._high) or np.count_nonzero(seen < self._low):
            row, column = np.argwhere((seen < self._low) | (seen > self._high))[0].tolist()
            raise ValueError(self._why_not(column, int(seen[row, column])))
        if not (np.count_nonzero(legal) if len(legal) == 1 else legal.any(axis=1).all()):
            raise ValueError("a mask allows no action: the bot is not to move")
        return seen, legal

    def _why_not(self, column: int, value: int) -> str:
        """Why an entry of an observation can't be read."""
        low, high = int(self._low[column]), int(self._high[column])
        if low < high:
            return f"observation[{column}] is out of range {low}..{high}"
        layout = self.bundle.shape.layout
        name = next(f.name for f in layout.fields if layout.offset(f.name) == column)
        return (
            f"observation: {name} is {value}, but {low} in {self.rules.game} for "
            f"{self.rules.players} players, which is all that this bot plays"
        )


def bounds(rules: Rules) -> tuple[npt.NDArray[np.int16], npt.NDArray[np.int16]]:
    """The least and the largest entries of a game's observations, int16 (layout size,) both.

    What tells this game and its number of players from others has one value. Options may have any.
    """
    if rules.variant.family == TRUC:
        return np.zeros(TRUC_LAYOUT.size, np.int16), TRUC_LAYOUT.high()
    low, high = np.zeros(LINE_LAYOUT.size, np.int16), LINE_LAYOUT.high()
    packed, names = pack_line(rules)[0], [f.name for f in LINE_LAYOUT.fields]
    for name in names[names.index("players") :]:
        if OPTION_OF.get(name) not in rules.options:
            at = LINE_LAYOUT.offset(name)
            low[at] = high[at] = int(packed["decider" if name == "decider_rule" else name])
    return low, high


def _check_array(name: str, array: Array, width: int) -> None:
    if array.ndim != 2 or array.shape[1] != width or array.dtype.kind not in "iub":
        raise ValueError(
            f"{name} must be integers of shape (..., {width}), "
            f"not {array.dtype} of shape {array.shape}"
        )


def load_bot(path: str | Path) -> Bot:
    """Read an exported bot that plays with NumPy alone.

    Args:
        path: a ``.dombot`` file, or the name of a game that the package ships a bot for, with its
            options: ``french``, ``cutthroat(players=3)``.

    Raises:
        BundleError: if it cannot be read, is damaged, or needs something newer.
        TypeError: if it is neither a text nor a path.

    >>> load_bot("block").id
    'block'
    """
    shipped = shipped_games()
    if not isinstance(path, str | os.PathLike):
        raise TypeError(
            f"load_bot takes the name of a bot that ships ({', '.join(shipped)}) or the path of a "
            f".dombot file, not {path!r}"
        )
    name = str(path)
    named = name == Path(name).name and not Path(name).suffix  # no folder, no ending
    if not name or (named and not shipped_path(name) and not Path(path).exists()):
        whole, game = name.casefold().removesuffix("_v0"), name.casefold().partition("(")[0]
        near = [
            close
            for word in (whole, game)
            for close in difflib.get_close_matches(word, shipped, n=1)
        ]
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise BundleError(
            f"no bot ships as {name!r}{hint}, and there is no such file: "
            f"name one of those that ship ({', '.join(shipped)}), or the path of a .dombot file"
        )
    return Bot(read_bundle(shipped_path(name) or path))
