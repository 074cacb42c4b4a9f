"""What the arena plays, and what of it counts as won."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dominozoo.rules import LINE, SCORING, Rules, parse
from dominozoo.tables import split_seed

Array = npt.NDArray[Any]

UNITS: Final = ("hand", "match")
OPENINGS: Final = ("both", "rule", "free")


class ArenaError(ValueError):
    """A setting that the arena doesn't take, or a player's illegal move; names the field."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What is played; made by :func:`make_setting`, which checks it.

    Attributes:
        rules: the game.
        deals: how many deals, each played in every rotation.
        seed: of the deals and, in streams of their own, of the bots.
        unit: "hand" or "match".
        opening: "rule", "free" or "both": by rule and freely in turn.
    """

    rules: Rules
    deals: int
    seed: int
    unit: str
    opening: str


def make_setting(
    game: str | Rules,
    deals: int,
    seed: int,
    unit: str = "hand",
    opening: str | None = None,
) -> Setting:
    """Check what is to be played.

    Args:
        game: text form or rules.
        deals: 1..2**32.
        seed: 0..2**64-1.
        unit: "hand": a hand from scores 0 and stake 1; "match": whole matches.
        opening: how a hand opens, "both", "rule" or "free"; None takes "both" where previous
            winners pose. A match starts by rule, and so does every hand of Block, Draw, French
            and Le Truc.

    Raises:
        RulesError: unknown game or option.
        ArenaError: any other value out of range; names it and what is taken.
    """
    rules = parse(game) if isinstance(game, str) else game
    if isinstance(deals, bool) or not isinstance(deals, int) or not 1 <= deals <= 1 << 32:
        raise ArenaError(f"deals must be an integer from 1 to 2**32, not {deals!r}")
    try:
        split_seed(seed)
    except ValueError as error:
        raise ArenaError(str(error)) from None
    if unit not in UNITS:
        raise ArenaError(f"unit must be one of {', '.join(UNITS)}, not {unit!r}")
    if opening is not None and opening not in OPENINGS:
        raise ArenaError(f"opening must be one of {', '.join(OPENINGS)}, not {opening!r}")
    posed = rules.variant.family == LINE and not rules.value("always_by_rule", False)
    if unit == "match" and opening in ("both", "free"):
        raise ArenaError(f"opening={opening} is for hands; a match starts by rule: leave it out")
    if opening == "free" and not posed:
        raise ArenaError(f"opening=free: {rules.game} opens every hand by rule: leave it out")
    by_rule = unit == "match" or not posed
    return Setting(rules, deals, seed, unit, "rule" if by_rule else opening or "both")


def rotations(rules: Rules) -> int:
    """How often each deal is played: once for every side that a player can hold."""
    return rules.sides


def posers(setting: Setting, first: int, count: int) -> npt.NDArray[np.int64]:
    """Who poses deals first..first+count-1 freely, -1 = opened by rule; int64 (count,)."""
    deal = np.arange(first, first + count)
    players = setting.rules.players
    if setting.opening == "rule":
        return np.full(count, -1, np.int64)
    if setting.opening == "free":
        return deal % players
    return np.where(deal % 2 == 0, -1, deal // 2 % players)


def shares(rules: Rules, records: Array, unit: str) -> npt.NDArray[np.float64]:
    """Each side's share of the win at finished tables, float64 (B, sides); rows sum to 1."""
    sides = np.arange(rules.sides)
    if unit == "match":
        won = records["winners"][:, None] >> sides & 1
    elif rules.value("scoring", SCORING[0]) == "penalties":
        penalties = records["last_points"][:, : rules.sides]
        won = penalties == penalties.min(axis=1, keepdims=True)
    else:
        won = records["last_winner"][:, None] == sides
    won = np.where(won.any(axis=1, keepdims=True), won, True)
    share: npt.NDArray[np.float64] = won / won.sum(axis=1, keepdims=True)
    return share
