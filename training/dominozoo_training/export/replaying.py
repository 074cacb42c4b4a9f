"""Playing a golden game again with the engine: its record, its views, its decisions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from dominozoo.line.batch import ENDED
from dominozoo.line.score import CUT, MATCH_OVER
from dominozoo.notation import new_game, read_view, replay
from dominozoo.rules import Rules
from dominozoo_training.export.games import Golden, places

# What a record or a view that nobody checked may bring about.
WRONG: Final = (ValueError, TypeError, KeyError, IndexError, OverflowError, AttributeError)


def mistakes(game: Golden, rules: Rules) -> Iterator[str]:
    """What is wrong with a golden game, in words: of the record, or of a decision."""
    header = game.record[0] if game.record else {}
    if (header.get("game"), header.get("rules")) != (rules.module, rules.options):
        yield "the record is of another game"
        return
    try:
        actions = replay(game.record).actions()
        twin: Any = new_game(rules, header["max_hands"] or 0)
        start = {"game": rules.module, "rules": rules.options, **header["start"]}
        twin.reset(None, {"position": start})
        found = places(game.record, twin)
    except WRONG as error:
        yield f"the record: {error}"
        return
    if (actions, found) != (game.actions, game.at):
        yield "action and at of the decisions are not the record's moves"
        return
    for k, action in enumerate(actions):
        wrong = _decision(twin, game, k)
        if wrong:
            yield f"decision {k}: {wrong}"
        code = twin.step(action)
        if code >= ENDED and not code // ENDED & (MATCH_OVER | CUT):
            twin.deal()
    if [twin.view(seat) for seat in range(rules.players)] != game.views:
        yield "end.views are not what the seats see at the end"


def _decision(table: Any, game: Golden, k: int) -> str:
    """What is wrong with a decision, "" if nothing is."""
    seat, vectors, view = int(table.tables["turn"][0]), game.decisions, game.decisions.views[k]
    right = table.view(seat)
    if view != right:
        shown = view or {}
        fields = {**right, **shown}
        off = [f for f in fields if f not in shown or f not in right or shown[f] != right[f]]
        return f"view.{off[0][:40]} is not what seat {seat} sees"
    observation, mask = table.observe(seat)
    wrong = np.flatnonzero(observation != vectors.observation[k])
    if len(wrong):
        return f"observation[{wrong[0]}] is not what the view shows"
    if (mask != vectors.mask[k]).any():
        return "the mask is not the legal moves"
    seen, legal = read_view(table.rules, right)
    if (seen != observation).any() or (legal != mask).any():
        return "the view alone leads to something else"
    return ""
