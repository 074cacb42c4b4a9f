"""What one table and many have in common: spaces, seeds, how an episode came out."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from dominozoo.rules import Rules
from dominozoo.tables import FAMILIES, split_seed

Array = npt.NDArray[Any]

ILLEGAL_REWARD: Final = -1.0
# What an environment takes beside the game's options.
ARGUMENTS: Final = ("opponents", "partner", "seat", "reward", "max_hands", "render_mode")
# Effects of a hand that end a match; the families number them alike.
MATCH_ENDS: Final = (1, 2)


class Outcome(NamedTuple):
    """How the match of each of k tables stands, or ended.

    Attributes:
        match_over: bool (k,).
        winners: bool (k, sides), all False until the match is over.
        scores: int64 (k, sides).
    """

    match_over: npt.NDArray[np.bool_]
    winners: npt.NDArray[np.bool_]
    scores: npt.NDArray[np.int64]


def observation_space(rules: Rules) -> spaces.Dict:
    """Dict of "observation", int16 vector, and "action_mask", int8, 1 = legal."""
    family = FAMILIES[rules.variant.family]
    high = family.layout.high()
    return spaces.Dict(
        {
            "observation": spaces.Box(np.zeros_like(high), high, dtype=np.int16),
            "action_mask": spaces.Box(0, 1, (family.num_actions(rules),), np.int8),
        }
    )


def action_space(rules: Rules) -> spaces.Discrete:
    """Discrete action ids."""
    return spaces.Discrete(FAMILIES[rules.variant.family].num_actions(rules))


def outcome(records: Array, rules: Rules) -> Outcome:
    """Read how matches stand from table records (k,) that may be over."""
    over = records["turn"] < 0
    match_over = over & np.isin(records["last_effect"], MATCH_ENDS)
    won = records["winners"][:, None] >> np.arange(rules.sides) & 1
    winners = (won == 1) & match_over[:, None]
    scores = records["scores"][:, : rules.sides].astype(np.int64)
    return Outcome(match_over, winners, scores)


def successes(
    found: Outcome, rules: Rules, seats: Array, sums: Array, illegal: Array
) -> npt.NDArray[np.bool_]:
    """Whether the learners won, bool (k,).

    The match, where it is over; where ``max_hands`` cut it, an episode's reward above 0.
    """
    mine = found.winners[np.arange(len(seats)), seats.astype(np.int64) % rules.sides]
    won: npt.NDArray[np.bool_] = np.where(found.match_over, mine, sums > 0) & ~illegal
    return won


def halves(seeds: list[int]) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
    """The low and the high 32 bits of seeds; ValueError for one out of range."""
    pairs = [split_seed(seed) for seed in seeds]
    low, high = zip(*pairs, strict=True)
    return np.array(low, np.uint32), np.array(high, np.uint32)
