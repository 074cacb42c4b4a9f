"""Rules as data: every game is a name and a few options, packed into integers for the kernels.

The text form ``cutthroat(players=3, tie=escalate)`` names a game everywhere: on the command line,
in configurations, in results. It lists only what differs from the game's defaults.

>>> parse("cutthroat( tie=escalate , players = 3)")
Rules('cutthroat(players=3, tie=escalate)')
>>> parse("block").options
{'players': 2, 'target': 100}
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Value = int | str | bool

LINE: Final = "line"
TRUC: Final = "truc"


@dataclass(frozen=True, slots=True)
class Option:
    """One option of a game.

    Attributes:
        default: the value where none is given.
        values: those taken.
        meaning: what the option decides.
        source: where the rule comes from; the manuals' Sources say what the names stand for.
        says: what each value means, where the values don't speak for themselves.
    """

    default: Value
    values: tuple[Value, ...] | range
    meaning: str
    source: str = ""
    says: tuple[str, ...] = ()

    def accepts(self, value: object) -> bool:
        """True if the value is one of those taken, of the same type (True is not 1)."""
        return any(type(value) is type(v) and value == v for v in (self.default, *self.values))

    def takes(self) -> str:
        """What the option takes, in words: ``2..4`` or ``reset, void, escalate``."""
        if isinstance(self.values, range):
            return f"{self.values.start}..{self.values.stop - 1}"
        return ", ".join(str(v) for v in self.values)


@dataclass(frozen=True, slots=True)
class Variant:
    """A named game: its family of kernels, its options in table order, its fixed structure."""

    family: str
    title: str
    options: dict[str, Option]
    fixed: dict[str, int | str | bool] = field(default_factory=dict)


def _players(default: int, *values: int) -> Option:
    return Option(default, values, "number of seats")


def _target(default: int, top: int) -> Option:
    return Option(default, range(1, top + 1), "points that end a match")


OPENING: Final = Option(
    "formal",
    ("formal", "informal"),
    "what the holder of the highest double poses in a hand that no winner opens",
    "pagat, notes 3-4",
    ("that double (without any double dealt, the heaviest tile)", "any tile he holds"),
)
TIE: Final = Option(
    "reset",
    ("reset", "void", "escalate", "double"),
    "a block whose lowest count is shared by two sides; the next hand is opened by rule",
    "pagat, notes 9 and 12; JamDom",
    (
        "all scores go back to 0",
        "nothing changes",
        "scores stay, the next hand is worth a point more, and again after each further tie",
        "scores stay, the next hand is worth 2, never more",
    ),
)
DECIDER: Final = Option(
    False,
    (False, True),
    "a hand that would make it 1-1",
    "pagat, note 11",
    (
        "breaks the run like any other",
        "leaves the score at 1-0 and is replayed for 2: who wins that has 2, all others 0",
    ),
)
KEY_CARD: Final = Option(
    False,
    (False, True),
    "a last tile with two different numbers that fits both ends, when all other tiles of both lie",
    "JamDom",
    ("counts as any other", "makes the hand worth 2, or its stake if that is more"),
)
POSER: Final = Option(
    "winner",
    ("winner", "team"),
    "who poses the next hand",
    "pagat, note 7, and its page in English",
    (
        "the player who won",
        "the player who won, or his partner if he passes the pose to him",
    ),
)
BROKEN: Final = Option(
    "all_scored",
    ("all_scored", "leader_loss"),
    "when a run is broken and the scores go back to 0",
    "JamDom; pagat, notes 8 and 14",
    (
        "when a side wins while every other side has points",
        "when a side wins while any other side has points",
    ),
)
BRUCK: Final = Option(
    "reset",
    ("reset", "end"),
    "what a broken run (BRUCK) does",
    "JamDom",
    ("all scores go back to 0 and the match goes on", "the match ends without a winner"),
)
DRAW: Final = Option(
    False,
    (False, True),
    "how two players play",
    "pagat, note 15",
    (
        "all tiles are dealt, a stuck player passes",
        "seven tiles each, a stuck player draws until a tile fits; needs `players=2`",
    ),
)

VARIANTS: Final[dict[str, Variant]] = {
    "block": Variant(
        LINE,
        "Block",
        {"players": _players(2, 2, 3, 4), "target": _target(100, 1000)},
        {"scoring": "pips", "always_by_rule": True},
    ),
    "draw": Variant(
        LINE,
        "Draw",
        {"players": _players(2, 2, 3, 4), "target": _target(100, 1000)},
        {"scoring": "pips", "always_by_rule": True, "draw": True},
    ),
    "partnership": Variant(
        LINE,
        "Jamaican Partnership",
        {
            "players": _players(4, 4),
            "opening": OPENING,
            "tie": TIE,
            "decider": DECIDER,
            "key_card": KEY_CARD,
            "poser": POSER,
            "target": _target(6, 100),
        },
        {"pairs": True},
    ),
    "cutthroat": Variant(
        LINE,
        "Jamaican Cutthroat",
        {
            "players": _players(4, 2, 3, 4),
            "draw": DRAW,
            "broken": BROKEN,
            "bruck": BRUCK,
            "opening": OPENING,
            "tie": TIE,
            "decider": DECIDER,
            "key_card": KEY_CARD,
            "target": _target(6, 100),
        },
        {"deal_all": True},
    ),
    "six_love": Variant(
        LINE,
        "JamDom Six-Love",
        {"players": _players(4, 4), "bruck": BRUCK, "target": _target(6, 100)},
        {"tie": "double", "key_card": True},
    ),
    "chiva": Variant(
        LINE,
        "Puerto Rican Chiva",
        {
            "players": _players(4, 2, 3, 4),
            "opening": OPENING,
            "tie": TIE,
            "decider": DECIDER,
            "broken": BROKEN,
            "target": _target(4, 100),
        },
        {"pairs": True, "pair_totals": True, "draw": True},
    ),
    "french": Variant(
        LINE,
        "French",
        {"players": _players(4, 4), "target": _target(100, 1000)},
        {"scoring": "penalties", "always_by_rule": True, "cross": True},
    ),
    "truc": Variant(
        TRUC,
        "Domino Le Truc",
        {
            "players": _players(2, 2),
            "target": _target(30, 1000),
            "max_redeals": Option(
                1, range(4), "exchanges allowed in a round", "Domino Le Truc, notes 15-17"
            ),
        },
    ),
}

SCORING: Final = ("wins", "pips", "penalties")
TIES: Final = ("reset", "void", "escalate", "double")

# What the line kernels read; one record for every game, so one compiled kernel plays them all.
LINE_RULES: Final = np.dtype(
    (
        np.record,
        [
            ("players", np.int64),
            ("hand_size", np.int64),
            ("no_blank", np.int64),  # the set without 0-0
            ("sides", np.int64),
            ("pairs", np.int64),
            ("draw", np.int64),
            ("cross", np.int64),  # French: four arms from 0-0
            ("ends", np.int64),  # 2, French 4
            ("always_by_rule", np.int64),  # no hand is opened by a previous winner
            ("informal", np.int64),
            ("team_poser", np.int64),
            ("pair_totals", np.int64),  # Chiva: a block compares the pairs' totals
            ("scoring", np.int64),  # index into SCORING
            ("tie", np.int64),  # index into TIES
            ("decider", np.int64),
            ("leader_loss", np.int64),
            ("bruck_end", np.int64),
            ("key_card", np.int64),
            ("target", np.int64),
        ],
    )
)

# The same for Le Truc.
TRUC_RULES: Final = np.dtype(
    (
        np.record,
        [
            ("players", np.int64),
            ("sides", np.int64),
            ("max_redeals", np.int64),
            ("target", np.int64),
        ],
    )
)


class IllegalActionError(ValueError):
    """An action that isn't legal on the table; nothing has moved."""


class RulesError(ValueError):
    """A game or an option that does not exist, or a value that the option does not take."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of one game: its name and every option that the game has, in table order.

    Make one with :func:`make_rules` or :func:`parse`, which check names and values.
    """

    game: str
    items: tuple[tuple[str, Value], ...]

    @property
    def options(self) -> dict[str, Value]:
        """Every option of the game with its value, JSON types."""
        return dict(self.items)

    @property
    def variant(self) -> Variant:
        """The entry of ``VARIANTS`` that the game is made from."""
        return VARIANTS[self.game]

    @property
    def players(self) -> int:
        """Number of seats, 2..4."""
        return int(self.options["players"])

    @property
    def target(self) -> int:
        """Points that end a match."""
        return int(self.options["target"])

    @property
    def pairs(self) -> bool:
        """True if seats 0 and 2 play against seats 1 and 3."""
        return bool(self.variant.fixed.get("pairs", False)) and self.players == 4

    @property
    def sides(self) -> int:
        """Number of sides: 2 in pair games, else one a seat."""
        return 2 if self.pairs else self.players

    @property
    def module(self) -> str:
        """Name of the game's module and of its environment, ``block_v0``."""
        return f"{self.game}_v0"

    def side_of(self, seat: int) -> int:
        """The side 0..sides-1 that a seat plays for."""
        return seat % self.sides

    def value(self, name: str, default: Value) -> Value:
        """An option's value, or what the game fixes, or the default where it has neither."""
        return self.options.get(name, self.variant.fixed.get(name, default))

    def __str__(self) -> str:
        """The text form: what differs from the defaults, in table order."""
        changed = [f"{k}={v}" for k, v in self.items if v != self.variant.options[k].default]
        return f"{self.game}({', '.join(changed)})" if changed else self.game

    def __repr__(self) -> str:
        return f"Rules({str(self)!r})"


def make_rules(game: str, **options: Any) -> Rules:
    """Return the rules of a game; options left out take the game's defaults.

    Raises:
        RulesError: unknown game, option or value; the text lists what is taken.

    >>> make_rules("draw", players=4)
    Rules('draw(players=4)')
    """
    name = _known_game(game)
    known = VARIANTS[name].options
    check_names(name, options, ())
    options = {key: _plain(value) for key, value in options.items()}
    for key, value in options.items():
        if not known[key].accepts(value):
            raise RulesError(f"{name}: {key}={value!r} is not taken; {key}: {known[key].takes()}")
    rules = Rules(name, tuple((k, options.get(k, o.default)) for k, o in known.items()))
    if rules.game == "cutthroat" and rules.options["draw"] and rules.players != 2:
        raise RulesError(f"cutthroat: draw=True needs players=2, not players={rules.players}")
    return rules


def _plain(value: Any) -> Any:
    """A scalar of NumPy as Python's own; anything else as it is."""
    return value.item() if isinstance(value, np.integer | np.bool_ | np.str_) else value


def rules_of(game: str | Rules, options: Mapping[str, Any], arguments: Iterable[str] = ()) -> Rules:
    """The rules of a game that is named by text form, with more options beside it.

    Args:
        game: the text form, "draw" or "draw(players=3)", or rules.
        options: options by name; none that the text form gives already.
        arguments: names that the environment takes beside the options.

    Raises:
        RulesError: unknown game, option or value, or an option given twice.

    >>> rules_of("draw(players=3)", {"target": 50})
    Rules('draw(players=3, target=50)')
    """
    name, given = _read_text(str(game) if isinstance(game, Rules) else game)
    check_names(name, [*given, *options], arguments)
    for key in options:
        if key in given:
            raise RulesError(f"{key}: given twice, in {str(game)!r} and as {key}={options[key]!r}")
    return make_rules(name, **given, **options)


def _known_game(game: str) -> str:
    name = str(game).removesuffix("_v0")
    if name not in VARIANTS:
        plain = str(game).lower().rpartition("/")[2].replace("-", "_").removesuffix("_v0")
        raise RulesError(f"unknown game {game!r}{_near(plain, VARIANTS)}: {_list(VARIANTS)}")
    return name


def check_names(game: str, options: Iterable[str], arguments: Iterable[str]) -> None:
    """Refuse options that a game lacks; the hint knows an environment's other arguments, too.

    Args:
        game: the game's name.
        options: the names of the options given.
        arguments: names that the environment takes beside the options.

    Raises:
        RulesError: unknown game or option.
    """
    name = _known_game(game)
    known = VARIANTS[name].options
    for key in options:
        if key not in known:
            hint = _near(key, [*known, *arguments])
            raise RulesError(f"{name} has no option {key!r}{hint}; it takes {_list(known)}")


def _list(names: Iterable[str]) -> str:
    return ", ".join(names)


def _near(word: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(word, list(known), n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""


def parse(text: str) -> Rules:
    """Read the text form of a game.

    Raises:
        RulesError: if the text is no name with options in brackets, or names what isn't there.
    """
    name, options = _read_text(text)
    return make_rules(name, **options)


def _read_text(text: str) -> tuple[str, dict[str, Value]]:
    """The name and the options of a text form, not yet checked."""
    if not isinstance(text, str):
        raise RulesError(
            f"a game is named by a text like 'block' or 'draw(players=3)', not {text!r}"
        )
    match = re.fullmatch(r"\s*([\w/-]+)\s*(?:\((.*)\))?\s*", text, re.DOTALL)
    if match is None:
        raise RulesError(f"{text!r} names no game; write it like 'block' or 'draw(players=3)'")
    options: dict[str, Value] = {}
    for item in filter(None, (part.strip() for part in (match[2] or "").split(","))):
        key, equals, value = (part.strip() for part in item.partition("="))
        if not equals or not value:
            raise RulesError(f"{text!r}: {item!r} is no option; write it like 'players=3'")
        if key in options:
            raise RulesError(f"{text!r}: the option {key!r} stands twice")
        options[key] = _read(value)
    return match[1], options


def _read(word: str) -> Value:
    if word in ("True", "true", "False", "false"):
        return word in ("True", "true")
    return int(word) if re.fullmatch(r"-?\d{1,9}", word) else word


def pack_line(rules: Rules) -> npt.NDArray[np.void]:
    """Pack line rules into a record array of shape (1,), dtype ``LINE_RULES``.

    Raises:
        RulesError: if the game is not of the line family.
    """
    if rules.variant.family != LINE:
        raise RulesError(f"{rules.game} is no line game")
    packed = np.zeros(1, LINE_RULES)
    r = packed[0]
    draw = bool(rules.value("draw", False)) and not (rules.game == "chiva" and rules.pairs)
    deal_all = bool(rules.value("deal_all", False)) and not draw
    hand_size = {2: 14, 3: 9, 4: 7}[rules.players] if deal_all else 7
    values: dict[str, int] = {
        "players": rules.players,
        "hand_size": hand_size,
        "no_blank": deal_all and rules.players == 3,
        "sides": rules.sides,
        "pairs": rules.pairs,
        "draw": draw,
        "cross": bool(rules.value("cross", False)),
        "ends": 4 if rules.value("cross", False) else 2,
        "always_by_rule": bool(rules.value("always_by_rule", False)),
        "informal": rules.value("opening", "formal") == "informal",
        "team_poser": rules.value("poser", "winner") == "team",
        "pair_totals": bool(rules.value("pair_totals", False)) and rules.pairs,
        "scoring": SCORING.index(str(rules.value("scoring", "wins"))),
        "tie": TIES.index(str(rules.value("tie", "reset"))),
        "decider": bool(rules.value("decider", False)),
        "leader_loss": rules.value("broken", "all_scored") == "leader_loss",
        "bruck_end": rules.value("bruck", "reset") == "end",
        "key_card": bool(rules.value("key_card", False)),
        "target": rules.target,
    }
    for name, value in values.items():
        r[name] = int(value)
    return packed


def pack_truc(rules: Rules) -> npt.NDArray[np.void]:
    """Pack the rules of Le Truc into a record array of shape (1,), dtype ``TRUC_RULES``.

    Raises:
        RulesError: if the game is another.
    """
    if rules.variant.family != TRUC:
        raise RulesError(f"{rules.game} is not Le Truc")
    packed = np.zeros(1, TRUC_RULES)
    for name, value in {**rules.options, "sides": rules.sides}.items():
        packed[0][name] = int(value)
    return packed
