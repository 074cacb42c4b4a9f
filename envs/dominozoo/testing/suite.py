"""All checks of one environment."""

from __future__ import annotations

from functools import partial
from typing import Any

from dominozoo.rules import Rules
from dominozoo.single import SeatEnv, SeatVectorEnv
from dominozoo.testing.agreement import check_agreement, check_seats, check_vector
from dominozoo.testing.basics import check_actions, check_games, check_masks
from dominozoo.testing.isolation import check_aliasing, check_copies, check_hidden
from dominozoo.testing.tiles import check_conservation
from dominozoo.testing.walk import MakeEnv


def check_all(
    make_env: MakeEnv,
    *,
    make_short: MakeEnv | None = None,
    seed: int = 0,
    games: int = 100,
    steps: int = 200,
    opponents: str = "normal",
) -> None:
    """Run every check on an environment, and on the learning seats of its game.

    Args:
        make_env: makes an environment with ``reward="hand"`` and without ``max_hands``.
        make_short: makes an environment whose games end soon enough, for the whole games; None
            takes ``make_env``.
        seed: of everything.
        games: whole games to play.
        steps: moves of every other check.
        opponents: the bots that the learning seats meet.

    Raises:
        AssertionError: of the first check that fails.
    """
    check_masks(make_env, seed=seed, steps=steps)
    check_actions(make_env, seed=seed, steps=steps)
    check_games(make_short or make_env, seed=seed, games=games)
    check_conservation(make_env, seed=seed, steps=steps)
    check_hidden(make_env, seed=seed, steps=steps)
    check_aliasing(make_env, seed=seed, steps=steps)
    check_copies(make_env, seed=seed, steps=steps)
    check_agreement(make_env, seed=seed, steps=steps)
    check_seats(make_env, seed=seed, steps=steps)
    rules: Rules = make_env().unwrapped.rules
    options: dict[str, Any] = {"opponents": opponents, **rules.options}
    check_vector(
        partial(SeatVectorEnv, rules.game, **options),
        partial(SeatEnv, rules.game, **options),
        seed=seed,
        steps=steps,
    )
