"""What ``gymnasium.make`` and ``make_vec`` call: an id's game stays that id's game."""

from __future__ import annotations

from typing import Any

from dominozoo.rules import RulesError
from dominozoo.single.env import SeatEnv
from dominozoo.single.vector import SeatVectorEnv


def seat_env(registered: str, **arguments: Any) -> SeatEnv:
    """A :class:`SeatEnv` of a registered game; RulesError if another is named."""
    _check(registered, arguments)
    return SeatEnv(registered, **arguments)


def seat_vector_env(registered: str, num_envs: int = 1, **arguments: Any) -> SeatVectorEnv:
    """A :class:`SeatVectorEnv` of a registered game; RulesError if another is named."""
    _check(registered, arguments)
    return SeatVectorEnv(registered, num_envs, **arguments)


def _check(registered: str, arguments: dict[str, Any]) -> None:
    if "game" in arguments:
        raise RulesError(
            f"game: this id is {registered}'s: leave game={arguments['game']!r} out, or make the "
            "other game by its own id"
        )


# Gymnasium reads the render modes before it makes an environment.
seat_env.metadata = SeatEnv.metadata  # type: ignore[attr-defined]
seat_vector_env.metadata = SeatVectorEnv.metadata  # type: ignore[attr-defined]
