"""``dominozoo.solve``: what each legal move of a position is worth with every tile open."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from dominozoo.bots import solver
from dominozoo.line.game import LineGame
from dominozoo.rules import TRUC, Rules, make_rules

Json = dict[str, Any]

OBJECTIVES: Final = {"points": solver.POINTS, "win": solver.WIN}
SLOTS: Final = 1 << 18


class UnsolvedError(RuntimeError):
    """The budget didn't last; more of it may."""


def solve(position: Any, *, objective: str = "points", budget: int | None = None) -> list[Json]:
    """Value each legal move of the seat to move, until the hand ends, all tiles open.

    Everybody knows every hand and the boneyard's order and plays perfectly: the seat's side makes
    as much of the hand as it can, all others as little of it as they can. With more than two sides
    that is the worst that the others could do to the seat together.

    Args:
        position: of a line game, as ``env.unwrapped.position()`` gives it; not over.
        objective: "points": the seat's ``reward="hand"``; "win": its share of the hand won, 0..1
            (a hand without a winner: 1 / sides; French: the lowest penalty wins, k joint ones 1 / k
            each).
        budget: positions with a choice that may be looked at, at least 1; None = as many as it
            takes: milliseconds in Partnership, seconds in a long draw game.

    Returns:
        For each legal move ``id``, ``action``, ``tile`` and ``end`` as in ``position["legal"]`` and
        ``value``, a float; best first, equal ones by id.

    Raises:
        ValueError: a position that can't be read, is a view, is over or is of Le Truc; an objective
            or a budget that isn't taken. The text begins with the field.
        UnsolvedError: the budget didn't last.

    >>> from dominozoo import partnership_v0, solve
    >>> env = partnership_v0.env()
    >>> env.reset(seed=1)
    >>> solve(env.unwrapped.position())[0]["tile"]
    '6-6'
    """
    if objective not in OBJECTIVES:
        raise ValueError(f"objective: must be one of {', '.join(OBJECTIVES)}, not {objective!r}")
    limit = _limit(budget)
    game = LineGame(_rules_of(position))
    game.reset(None, {"position": position})
    work = solver.make_work(SLOTS)
    ids, values = np.zeros((2, solver.MOST_MOVES), np.int64)
    t, rules, code = game.tables[0], game.packed[0], OBJECTIVES[objective]
    count = int(solver.solve_moves(t, rules, work, code, limit, ids, values))
    if count == solver.UNSOLVED:
        raise UnsolvedError(f"budget: {limit} positions were too few; give more, or None")
    worth = {int(ids[k]): _worth(rules, code, int(values[k])) for k in range(count)}
    legal = [{**move, "value": worth[move["id"]]} for move in game.position()["legal"]]
    return sorted(legal, key=lambda move: (-move["value"], move["id"]))


def _worth(rules: Any, objective: int, value: int) -> float:
    if objective == solver.WIN:
        return float(solver.as_share(objective, value))
    return float(solver.as_points(rules, objective, value))


def _limit(budget: int | None) -> int:
    """The budget as the solver takes it."""
    if budget is None:
        return solver.NO_LIMIT
    if isinstance(budget, bool) or not isinstance(budget, int | np.integer) or budget < 1:
        raise ValueError(f"budget: must be None or an integer of at least 1, not {budget!r}")
    return min(int(budget), solver.NO_LIMIT)


def _rules_of(position: Any) -> Rules:
    """The rules of a position that can be solved; ValueError naming the field otherwise."""
    if not isinstance(position, Mapping):
        raise ValueError(f"position: must be a mapping, not {type(position).__name__}")
    for name in ("game", "rules"):
        if name not in position:
            raise ValueError(f"position.{name}: is missing")
    if "hands" not in position and "seat" in position:
        raise ValueError(
            "position.hands: are missing: this is a view, and a solver needs every tile; take "
            "env.unwrapped.position()"
        )
    if not isinstance(position["rules"], Mapping):
        raise ValueError(f"position.rules: must be a mapping, not {position['rules']!r}")
    try:
        rules = make_rules(position["game"], **position["rules"])
    except ValueError as error:
        raise ValueError(f"position.rules: {error}") from None
    if rules.variant.family == TRUC:
        raise ValueError(
            "position.game: Le Truc lives on calls about hidden tiles; with every tile open there "
            "is nothing to call, so it isn't solved"
        )
    return rules
