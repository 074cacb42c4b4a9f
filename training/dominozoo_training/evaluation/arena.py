"""The arena: who wins more, over the same deals in every seat.

Deal k is table k of the seed. Every deal is played once for each side: ``a`` holds one side in
turn and ``b`` all others, so that nobody gains by the tiles. The bots' chance is split from the
deals' and is the same in every rotation: a player against itself gives exactly an even share.

>>> from dominozoo_training.evaluation.entrants import scripted
>>> bots = [scripted("hard"), scripted("hard")]
>>> run_arena("block", bots, deals=50, seed=1)[0].win_rate
0.5
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dominozoo.rules import Rules
from dominozoo_training.evaluation.asking import Conduct
from dominozoo_training.evaluation.entrants import (
    Entrant,
    Policy,
    policy_entrant,
    samples,
    scripted,
)
from dominozoo_training.evaluation.outcome import Result
from dominozoo_training.evaluation.setting import ArenaError, Setting, make_setting
from dominozoo_training.evaluation.tournament import make_plan, play_tournament

__all__ = [
    "ArenaError",
    "Result",
    "Setting",
    "evaluate",
    "make_setting",
    "play_pair",
    "run_arena",
]

Progress = Callable[[int, int], None]


def run_arena(
    game: str | Rules,
    entrants: Sequence[Entrant],
    deals: int,
    seed: int,
    unit: str = "hand",
    opening: str | None = None,
    progress: Progress | None = None,
) -> list[Result]:
    """Play every pair of entrants, the earlier one as ``a``; a player's failure is an error.

    Args:
        game: text form or rules.
        entrants: two or more.
        deals: deals of each pair, the same for all, 1..2**32.
        seed: same seed, same result; 0..2**64-1.
        unit: "hand" or "match".
        opening: "both", "rule", "free" or None.
        progress: called with (deals done, deals) over all pairs.

    Raises:
        RulesError: unknown game or option.
        ArenaError: other values out of range, fewer than two entrants, an illegal move.
        EntrantError: an entrant failed.
    """
    return _play(make_setting(game, deals, seed, unit, opening), entrants, progress)


def play_pair(setting: Setting, a: Entrant, b: Entrant, progress: Progress | None = None) -> Result:
    """Play one pair of entrants over all deals.

    Args:
        setting: what is played.
        a: the player who is rated.
        b: the player of all other sides.
        progress: called with (deals done, deals).

    Raises:
        ArenaError, EntrantError: an illegal move, or another failure.
    """
    return _play(setting, [a, b], progress)[0]


def _play(setting: Setting, entrants: Sequence[Entrant], progress: Progress | None) -> list[Result]:
    plan = make_plan(setting, entrants, conduct=Conduct(strict=True))
    report = None if progress is None else lambda state: progress(state.done, state.total)
    return play_tournament(plan, entrants, report=report).results()


def evaluate(
    policy: Policy,
    game: str | Rules,
    opponents: Sequence[str],
    deals: int,
    seed: int,
    opening: str = "rule",
) -> dict[str, Result]:
    """How a policy in training does against scripted bots.

    Args:
        policy: anything with ``probabilities(observation, mask)``; it plays its likeliest move, in Le
            Truc it draws one.
        game: text form or rules.
        opponents: short codes of scripted bots.
        deals: duplicate deals against each.
        seed: of the deals; keep it apart from the seeds of final reports.
        opening: as in :func:`make_setting`.

    Returns:
        A result by opponent, of the policy named "policy".

    Raises:
        KeyError: an opponent that is no scripted bot.
        RulesError, ArenaError: as :func:`run_arena`.
    """
    setting = make_setting(game, deals, seed, "hand", opening)
    player = policy_entrant("policy", policy, sample=samples(setting.rules))
    return {name: play_pair(setting, player, scripted(name)) for name in opponents}
