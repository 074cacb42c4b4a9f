"""What a tournament came to: results with intervals, ratings, what was counted of each player."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dominozoo import __version__
from dominozoo_training.evaluation.asking import KINDS
from dominozoo_training.evaluation.entrants import Entrant
from dominozoo_training.evaluation.intervals import Z95, bootstrap_interval
from dominozoo_training.evaluation.playing import WHOLE, Lineup, Part
from dominozoo_training.evaluation.setting import rotations

if TYPE_CHECKING:
    from dominozoo_training.evaluation.tournament import Plan

Json = dict[str, Any]

OTHERS = "others"  # whom a player meets at tables of different players


@dataclass(frozen=True, slots=True)
class Result:
    """How one pair of entrants did.

    Attributes:
        a: name of the player whose side is rated.
        b: name of the player of all other sides; "others" at tables of different players.
        games: games played, deals times rotations.
        win_rate: share of games won by a's side, 0..1; shared games count in parts.
        low: lower bound of the 95 % interval of ``win_rate``.
        high: upper bound.
        points: mean of a's ``reward="hand"`` a seat and hand.
    """

    a: str
    b: str
    games: int
    win_rate: float
    low: float
    high: float
    points: float


@dataclass(slots=True)
class Games:
    """What a line-up has played.

    Attributes:
        lineup: the players.
        rotations: of each deal.
        parts: units of work; in the order of the deals once :meth:`settle` was called.
    """

    lineup: Lineup
    rotations: int
    parts: list[Part] = field(default_factory=list)
    _sums: npt.NDArray[np.float64] = field(default_factory=lambda: np.zeros(3))

    def add(self, part: Part) -> None:
        """Take in a unit."""
        self.parts.append(part)
        wins = part.won[:, :, 0].mean(axis=1) / WHOLE
        self._sums += len(wins), wins.sum(), (wins**2).sum()

    def settle(self) -> None:
        """Bring the units into the order of the deals."""
        self.parts.sort(key=lambda part: part.job.first)

    def quick_width(self) -> float | None:
        """About half of the first player's interval in points of the win rate, to show on the way."""
        n, total, squares = self._sums.tolist()
        if n < 2:
            return None
        variance = max(0.0, squares - total * total / n) / (n - 1)
        return 100 * Z95 * float((variance / n) ** 0.5)

    def won(self) -> npt.NDArray[np.uint8]:
        """Shares of the wins in twelfths, uint8 (deals, rotations, k)."""
        empty = np.zeros((0, self.rotations, len(self.lineup)), np.uint8)
        return np.concatenate([empty, *(part.won for part in self.parts)])

    def by_deal(self, slot: int) -> npt.NDArray[np.float64]:
        """A player's share, mean over the rotations of each deal, float64 (deals,)."""
        share: npt.NDArray[np.float64] = self.won()[:, :, slot].mean(axis=1) / WHOLE
        return share

    def reward(self, slot: int) -> float:
        """A player's summed rewards a seat."""
        return sum(float(part.reward[slot]) for part in self.parts)

    def hands(self) -> int:
        """Hands played."""
        return sum(part.hands for part in self.parts)


@dataclass(frozen=True, slots=True)
class Outcome:
    """A tournament's outcome.

    Attributes:
        plan: what was played.
        entrants: who.
        games: by line-up.
    """

    plan: Plan
    entrants: tuple[Entrant, ...]
    games: Mapping[Lineup, Games]

    @property
    def at_tables(self) -> bool:
        """Whether tables had as many different players as sides."""
        return self.plan.format == "tables"

    @property
    def names(self) -> list[str]:
        """By player its name; of three or more, who takes part again has a number."""
        names = [entrant.name for entrant in self.entrants]
        if len(names) < 3:  # a player against itself
            return names
        again = [names[:k].count(name) + 1 for k, name in enumerate(names)]
        return [f"{name} #{n}" if n > 1 else name for name, n in zip(names, again, strict=True)]

    @property
    def deals(self) -> int:
        """Deals that were played, the most of a line-up."""
        return max(sum(p.job.count for p in games.parts) for games in self.games.values())

    def results(self) -> list[Result]:
        """A row for each pair that met; at tables one for each player against the others."""
        if self.at_tables:
            return [self._against_others(k) for k in range(len(self.entrants))]
        return [self._pair(games) for games in self.games.values()]

    def _pair(self, games: Games) -> Result:
        a, b = (self.names[k] for k in games.lineup)
        wins = games.by_deal(0)
        count = len(wins) * rotations(self.plan.setting.rules)
        return Result(a, b, count, *bootstrap_interval(wins), games.reward(0) / games.hands())

    def _against_others(self, player: int) -> Result:
        """A player's mean over its tables; a deal is one observation, at how many tables ever."""
        mine = [(g, g.lineup.index(player)) for g in self.games.values() if player in g.lineup]
        wins = np.mean([games.by_deal(slot) for games, slot in mine], axis=0)
        reward = sum(games.reward(slot) for games, slot in mine)
        hands = sum(games.hands() for games, _ in mine)
        count = len(mine) * len(wins) * rotations(self.plan.setting.rules)
        name = self.names[player]
        return Result(name, OTHERS, count, *bootstrap_interval(wins), reward / hands)

    def width(self, lineups: Iterable[Lineup]) -> float:
        """The widest half of these line-ups' intervals, in points of the win rate."""
        part = Outcome(self.plan, self.entrants, {key: self.games[key] for key in lineups})
        return max(50 * (result.high - result.low) for result in part.results())

    def standing(self) -> list[float]:
        """By player the mean share of the wins so far, 0..1; 1/2 before the first."""
        won, played = np.zeros(len(self.entrants)), np.zeros(len(self.entrants))
        for games in self.games.values():
            twelfths = games.won()
            for slot, player in enumerate(games.lineup):
                won[player] += twelfths[:, :, slot].sum(dtype=np.int64)
                played[player] += WHOLE * twelfths.shape[0] * twelfths.shape[1]
        return [w / p if p else 0.5 for w, p in zip(won.tolist(), played.tolist(), strict=True)]

    def ratings(self) -> Json | None:
        """Ratings of three players or more, None where there are none.

        Raises:
            ModuleNotFoundError: a library that rates tables is missing; the text says how to get it.
        """
        if len(self.entrants) < 3:
            return None
        from dominozoo_training.evaluation.ratings import rate

        shares = [(g.won() / WHOLE).astype(np.float32) for g in self.games.values()]
        sides = self.plan.setting.rules.sides
        return rate(self.names, list(self.games), shares, sides).as_json()

    def counted(self) -> list[Json]:
        """By player: ``{"name", "cheats", "decisions", "seconds_per_decision", ...}``."""
        return [self._counted(k, entrant) for k, entrant in enumerate(self.entrants)]

    def _counted(self, player: int, entrant: Entrant) -> Json:
        mine = [
            (part, games.lineup.index(player))
            for games in self.games.values()
            if player in games.lineup
            for part in games.parts
        ]
        decisions = sum(int(part.tally.decisions[slot]) for part, slot in mine)
        seconds = sum(float(part.tally.seconds[slot]) for part, slot in mine)
        fallbacks = sum((part.tally.fallbacks[slot] for part, slot in mine), np.zeros(3, np.int64))
        return {
            "name": self.names[player],
            "cheats": entrant.cheats,
            "decisions": decisions,
            "seconds_per_decision": seconds / decisions if decisions else None,
            "fallbacks": dict(zip(KINDS, fallbacks.tolist(), strict=True)),
            "style": self._style([part.style[slot] for part, slot in mine]),
        }

    def _style(self, counts: Sequence[npt.NDArray[np.int64]]) -> dict[str, float] | None:
        if not self.plan.conduct.style or not counts:
            return None
        from dominozoo.bots.style import rates

        return rates(self.plan.setting.rules, np.sum(counts, axis=0))


def as_json(
    outcome: Outcome, ratings: Json | None = None, *, command: str = "", machine: str = ""
) -> Json:
    """A tournament's outcome as JSON types; the keys are those of the JSON reference.

    Args:
        outcome: what was played.
        ratings: of :meth:`Outcome.ratings`.
        command: what plays it again.
        machine: where it was played, in words.
    """
    setting = outcome.plan.setting
    return {
        "game": str(setting.rules),
        "unit": setting.unit,
        "opening": setting.opening,
        "deals": outcome.deals,
        "rotations": rotations(setting.rules),
        "seed": setting.seed,
        "results": [asdict(result) for result in outcome.results()],
        "format": outcome.plan.format,
        "rounds": outcome.plan.rounds,
        "until_ci": outcome.plan.until_ci,
        "entrants": outcome.counted(),
        "ratings": ratings,
        "command": command,
        "version": __version__,
        "machine": machine,
    }
