"""Games looked at again: what each decision's moves were worth, and what the one played has lost.

A move's value is the mean over deals that agree with what its seat had seen, the same deals for all
moves of a decision: in the line games solved with all tiles open, or played on by ``hard`` where
that takes too long (:mod:`dominozoo.bots.search`); in Le Truc always played on
(:mod:`dominozoo.bots.truc_search`). The loss is the best value less that of the move played. The
best of noisy means is a little too good: more deals make losses smaller, never larger in truth.

>>> from dominozoo.rules import parse
>>> from dominozoo_training.evaluation.entrants import scripted
>>> from dominozoo_training.evaluation.review_games import play_hands
>>> played = play_hands(parse("block"), [scripted("hard"), scripted("random")], hands=20, seed=1)
>>> review = judge(played, deals=20)
>>> [line.name for line in review.summary()]
['hard', 'random']
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dominozoo.bits import row_of
from dominozoo.bots import search, seed_bots, solver, truc_search
from dominozoo.compiler import njit
from dominozoo.line.position import legal_of as line_moves
from dominozoo.rules import TRUC, Rules, pack_line
from dominozoo.tables import FAMILIES, split_seed
from dominozoo.truc.position import legal_of as truc_moves
from dominozoo_training.evaluation.intervals import student
from dominozoo_training.evaluation.review_games import Played, ReviewError, hands_of
from dominozoo_training.evaluation.review_opinions import (
    expectation,
    opinions,
    scale_of,
    unit_of,
    would_play,
)

Array = npt.NDArray[Any]
Json = dict[str, Any]
Progress = Callable[[int, int], None]

OBJECTIVES: Final = ("points", "win")
CHUNK: Final = 32  # decisions valued between two reports
COSTLIEST: Final = 10
EQUAL: Final = 1e-9
VALUES: Final = 0x5EA7_0002  # keeps the streams of the imagined deals from the bots'


@dataclass(frozen=True, slots=True)
class Line:
    """How a player did.

    Attributes:
        name: who.
        decisions: how many choices he had.
        loss: mean loss a decision, in the objective's unit.
        low: lower end of its 95 % interval; decisions of a hand count together.
        high: the upper end.
        best: share of decisions that equal the best move, 0..1.
    """

    name: str
    decisions: int
    loss: float
    low: float
    high: float
    best: float


@dataclass(slots=True)
class Review:
    """Decisions with what they were worth.

    Attributes:
        played: the decisions.
        deals: imagined for each.
        budget: positions that solving a deal might take; 0 = none was solved.
        objective: "points" or "win".
        counts: int64 (k,), legal moves.
        ids: int64 (k, most), their action ids.
        values: float64 (k, most), their mean values.
        chances: float64 (k, most), what the policy asked gives them, NaN where there is none.
        worth: float64 (k,), what that policy expects, as it says it, NaN where it says nothing.
        advice: int64 (k,), what those asked about a record would play, None if nobody was.
        losses: float64 (k,), what each move played has lost against the best, at least 0.
    """

    played: Played
    deals: int
    budget: int
    objective: str
    counts: npt.NDArray[np.int64]
    ids: npt.NDArray[np.int64]
    values: npt.NDArray[np.float64]
    chances: npt.NDArray[np.float64]
    worth: npt.NDArray[np.float64]
    advice: npt.NDArray[np.int64] | None = None
    losses: npt.NDArray[np.float64] = field(init=False)

    def __post_init__(self) -> None:
        """Compare the moves played with the best."""
        k = np.arange(len(self.counts))
        legal = np.arange(self.ids.shape[1]) < self.counts[:, None]
        best = np.where(legal, self.values, -np.inf).max(axis=1)
        at = (legal & (self.ids == self.played.action[:, None])).argmax(axis=1)
        self.losses = best - self.values[k, at]

    def summary(self) -> list[Line]:
        """A line for each player who had a choice."""
        losses, hands = self.losses, hands_of(self.played)
        lines = []
        for number, name in enumerate(self.played.names):
            mine = self.played.player == number
            if mine.any():
                low, mean, high = mean_by_group(losses[mine], hands[mine])
                best = float((losses[mine] <= EQUAL).mean())
                lines.append(Line(name, int(mine.sum()), mean, low, high, best))
        return lines

    def costliest(self, count: int = COSTLIEST) -> list[int]:
        """Numbers of the decisions that lost most, the worst first."""
        losses = self.losses
        order = np.argsort(-losses, kind="stable")[:count]
        return [int(k) for k in order if losses[k] > EQUAL]

    def decision(self, k: int) -> Json:
        """A decision as JSON types, its moves best first."""
        record, count = self.played.tables[k], int(self.counts[k])
        moves = move_words(self.played.rules, self.ids[k, :count])
        for j, move in enumerate(moves):
            chance = float(self.chances[k, j])
            move["value"] = float(self.values[k, j])
            move["probability"] = None if math.isnan(chance) else chance
            move["played"] = bool(self.ids[k, j] == self.played.action[k])
        asked = self.played.asked
        opinion: Json | None = None
        if asked is not None and self.advice is not None:
            opinion = {"of": asked[int(self.played.player[k])], "id": int(self.advice[k])}
        worth, unit = expectation(self.played, k, float(self.worth[k]))
        return {
            "game": int(self.played.game[k]),
            "hand": int(record["hand_number"]),
            "seat": int(record["turn"]),
            "player": self.played.names[int(self.played.player[k])],
            "loss": float(self.losses[k]),
            "opinion": opinion,
            "policy_value": worth,
            "policy_unit": unit,
            "moves": sorted(moves, key=lambda move: (-move["value"], move["id"])),
        }

    def as_json(self, every: bool) -> Json:
        """The review as JSON types; ``every`` lists all decisions beside the costliest."""
        result: Json = {
            "game": str(self.played.rules),
            "objective": self.objective,
            "unit": unit_of(self.played.rules, self.objective),
            "deals": self.deals,
            "seed": self.played.seed,
            "hands": len(np.unique(hands_of(self.played))),
            "unfinished": [{"game": game, "hand": hand} for game, hand in self.played.unfinished],
            "asked": self.played.asked,
            "players": [
                {
                    "name": line.name,
                    "decisions": line.decisions,
                    "mean_loss": line.loss,
                    "low": line.low,
                    "high": line.high,
                    "best_share": line.best,
                }
                for line in self.summary()
            ],
            "costliest": [self.decision(k) for k in self.costliest()],
        }
        if every:
            result["decisions"] = [self.decision(k) for k in range(len(self.counts))]
        return result


def move_words(rules: Rules, ids: Array) -> list[Json]:
    """Actions as JSON: id, kind, tile and end, in the order of the ids given."""
    truc = rules.variant.family == TRUC
    mask = np.zeros(FAMILIES[rules.variant.family].num_actions(rules), np.int8)
    mask[ids] = 1
    moves = truc_moves(mask) if truc else line_moves(mask, int(pack_line(rules)[0]["ends"]))
    by_id = {move["id"]: move for move in moves}
    return [by_id[int(action)] for action in ids]


def mean_by_group(values: Array, groups: Array) -> tuple[float, float, float]:
    """(low, mean, high): a mean over values with its 95 % interval, values of a group in one.

    The ratio estimator's normal interval by groups with Student's quantile; with one group it is
    nothing but the mean.
    """
    mean = float(values.mean())
    _, at = np.unique(groups, return_inverse=True)
    count = int(at.max()) + 1
    if count < 2:
        return mean, mean, mean
    residual = np.bincount(at, values - mean)
    spread = math.sqrt(count / (count - 1) * float((residual**2).sum())) / len(values)
    half = student(count - 1) * spread
    return max(0.0, mean - half), mean, mean + half


@njit(cache=True, nogil=True)
def value_line(
    tables: Any,
    packed: Any,
    rng: Any,
    deals: Any,
    budget: Any,
    objective: Any,
    work: Any,
    counts: Any,
    ids: Any,
    means: Any,
) -> None:
    """``search.move_values`` of each table, (k,), into rows of the last three."""
    for i in range(tables.shape[0]):
        counts[i] = search.move_values(
            tables[i],
            packed[0],
            row_of(rng, i),
            deals,
            budget,
            objective,
            work,
            row_of(ids, i),
            row_of(means, i),
        )


@njit(cache=True, nogil=True)
def value_truc(
    tables: Any,
    packed: Any,
    rng: Any,
    deals: Any,
    budget: Any,
    objective: Any,
    work: Any,
    counts: Any,
    ids: Any,
    means: Any,
) -> None:
    """``truc_search.move_values`` of each table, (k,), into rows of the last three."""
    for i in range(tables.shape[0]):
        counts[i] = truc_search.move_values(
            tables[i],
            packed[0],
            row_of(rng, i),
            deals,
            budget,
            objective,
            work,
            row_of(ids, i),
            row_of(means, i),
        )


def check_numbers(deals: int, budget: int, objective: str) -> None:
    """ReviewError unless :func:`judge` takes these."""
    if objective not in OBJECTIVES:
        raise ReviewError(f"objective: must be {' or '.join(OBJECTIVES)}, not {objective!r}")
    for name, value, allowed in (
        ("deals", deals, search.DEALS),
        ("budget", budget, search.BUDGETS),
    ):
        if value not in allowed:
            raise ReviewError(
                f"{name}: must be an integer in {allowed.start}..{allowed.stop - 1}, not {value}"
            )


def judge(
    played: Played,
    deals: int = 50,
    budget: int = 20_000,
    objective: str = "points",
    seed: int = 1,
    progress: Progress | None = None,
) -> Review:
    """Value every move of every decision.

    Args:
        played: the decisions.
        deals: imagined for each decision, 1..10000.
        budget: as of ``search(budget=...)``: what solving a deal may cost before it is played on.
        objective: "points" a hand is worth, or "win": the share of it that is won.
        seed: of the imagined deals; decision k draws its own.
        progress: called with (decisions done, decisions).

    Raises:
        ReviewError: a number out of range, or no such objective.
    """
    check_numbers(deals, budget, objective)
    truc = played.rules.variant.family == TRUC
    if truc:
        kernel, work = value_truc, truc_search.make_work()
        code = truc_search.POINTS if objective == "points" else truc_search.SHARE
    else:
        kernel, work = value_line, search.make_work()
        code = solver.POINTS if objective == "points" else solver.WIN
    k, packed = len(played.action), played.packed
    counts, ids = np.zeros(k, np.int64), np.zeros((k, solver.MOST_MOVES), np.int64)
    values, rng = np.zeros((k, solver.MOST_MOVES)), np.zeros((k, 4), np.uint32)
    low, high = split_seed(seed)
    seed_bots(rng, low, high ^ VALUES, 0)
    for first in range(0, k, CHUNK):
        part = slice(first, first + CHUNK)
        kernel(
            *(played.tables[part], packed, rng[part], deals, budget, code, work),
            *(counts[part], ids[part], values[part]),
        )
        if progress is not None:
            progress(min(first + CHUNK, k), k)
    most = int(counts.max(initial=1))
    values = values[:, :most] * scale_of(played.rules, objective)
    chances, worth = opinions(played, counts, ids[:, :most])
    advice = would_play(played, seed)
    ids = ids[:, :most]
    return Review(played, deals, budget, objective, counts, ids, values, chances, worth, advice)
