"""A tournament from its plan to its results: line-ups, units of work, when to stop.

>>> from dominozoo_training.evaluation.entrants import scripted
>>> from dominozoo_training.evaluation.setting import make_setting
>>> bots = [scripted(name) for name in ("hard", "normal", "random")]
>>> found = play_tournament(make_plan(make_setting("block", 200, seed=1), bots), bots)
>>> [(r.a, r.b, r.games) for r in found.results()]
[('hard', 'normal', 400), ('hard', 'random', 400), ('normal', 'random', 400)]
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from dominozoo import __version__
from dominozoo_training.evaluation import formats
from dominozoo_training.evaluation.asking import Conduct
from dominozoo_training.evaluation.entrants import Entrant
from dominozoo_training.evaluation.journal import Journal
from dominozoo_training.evaluation.outcome import Games, Outcome
from dominozoo_training.evaluation.playing import Job, Lineup, Part, Room
from dominozoo_training.evaluation.setting import ArenaError, Setting, rotations
from dominozoo_training.evaluation.workers import Crew

DEALS: Final = 1024  # deals of a unit of work
SLOW_DEALS: Final = 64  # where a player is slow
CHECK: Final = 4  # units after which the intervals are looked at
USUAL: Final = Conduct()


@dataclass(frozen=True, slots=True)
class Plan:
    """A tournament; made by :func:`make_plan`, which checks it.

    Attributes:
        setting: what is played.
        format: "all": every pair; "swiss": rounds of pairs by standing; "tables": as many different
            players at a table as there are sides.
        rounds: of "swiss", else None.
        until_ci: stop when each 95 % interval's half is at most so many points of the win rate, 0 ..
            50; None: play all deals.
        conduct: how players are treated.
        unit_deals: deals of a unit of work.
    """

    setting: Setting
    format: str = "all"
    rounds: int | None = None
    until_ci: float | None = None
    conduct: Conduct = USUAL
    unit_deals: int = DEALS


class State(NamedTuple):
    """How far a tournament is.

    Attributes:
        done: deals played, each line-up's counted.
        total: deals that there are at most.
        width: the widest half of an interval so far, in points; None before there is one.
        round: number of the swiss round, from 1; 0 in other formats.
    """

    done: int
    total: int
    width: float | None
    round: int


Report = Callable[[State], None]


def make_plan(
    setting: Setting,
    entrants: Sequence[Entrant],
    *,
    form: str = "all",
    rounds: int | None = None,
    until_ci: float | None = None,
    conduct: Conduct = USUAL,
) -> Plan:
    """Check how a tournament is to be played; arguments as in :class:`Plan`.

    Raises:
        ArenaError: a value out of range, or too few players; names it and what is taken.
    """
    sides, n = setting.rules.sides, len(entrants)
    if n < 2:
        raise ArenaError(f"players: an arena needs two or more, not {n}")
    if form not in formats.FORMATS:
        raise ArenaError(f"format must be one of {', '.join(formats.FORMATS)}, not {form!r}")
    if form == "swiss" and sides > 2:
        raise ArenaError(
            f"format=swiss pairs two sides; {setting.rules} has {sides}: give tables or all"
        )
    if form == "tables" and n < sides:
        raise ArenaError(
            f"format=tables needs {sides} different players or more at {setting.rules}, not {n}: "
            "give all"
        )
    if until_ci is not None and not 0 < until_ci <= 50:
        raise ArenaError(f"--until-ci must lie above 0 and up to 50 points, not {until_ci}")
    if conduct.move_time is not None and not 0 < conduct.move_time <= 3600:
        raise ArenaError(
            f"--move-time must lie above 0 and up to 3600 seconds, not {conduct.move_time}"
        )
    return Plan(
        setting,
        "all" if form == "tables" and sides == 2 else form,
        checked_rounds(form, rounds, n),
        until_ci,
        conduct,
        SLOW_DEALS if any(entrant.slow for entrant in entrants) else DEALS,
    )


def checked_rounds(form: str, rounds: int | None, players: int) -> int | None:
    """The number of rounds; ArenaError if it doesn't fit."""
    if form != "swiss":
        if rounds is not None:
            raise ArenaError(f"rounds are for format=swiss, not {form}: leave them out")
        return None
    most = formats.most_rounds(players)
    if rounds is None:
        return formats.usual_rounds(players)
    if isinstance(rounds, bool) or not isinstance(rounds, int) or not 1 <= rounds <= most:
        taken = "be 1" if most == 1 else f"lie in 1..{most}"
        raise ArenaError(
            f"rounds must {taken} with {players} players, not {rounds}: in more somebody "
            "may have to meet a player again; format=all plays every pair"
        )
    return rounds


def manifest(plan: Plan, entrants: Sequence[Entrant]) -> dict[str, Any]:
    """All that decides what is played, as JSON types: what a folder is begun with."""
    setting, conduct = plan.setting, plan.conduct
    return {
        "arena": 1,
        "version": __version__,
        "game": str(setting.rules),
        "players": [{"name": e.name, "mark": e.mark} for e in entrants],
        "deals": setting.deals,
        "seed": setting.seed,
        "unit": setting.unit,
        "opening": setting.opening,
        "format": plan.format,
        "rounds": plan.rounds,
        "until_ci": plan.until_ci,
        "strict": conduct.strict,
        "move_time": conduct.move_time,
        "style": conduct.style,
        "unit_deals": plan.unit_deals,
    }


def play_tournament(
    plan: Plan,
    entrants: Sequence[Entrant],
    *,
    processes: int = 1,
    out: str | Path | None = None,
    report: Report | None = None,
) -> Outcome:
    """Play a tournament, or go on with one.

    Args:
        plan: from :func:`make_plan`.
        entrants: the players.
        processes: how many play at a time; the result is the same.
        out: a folder that keeps finished units; with the same plan it goes on where it was left.
        report: called after each unit.

    Raises:
        ArenaError: a bad argument; a player failed and the conduct is strict; the folder belongs to
            another plan or can't be written; a playing process died.
    """
    crew = Crew(Room(plan.setting, plan.conduct, entrants), processes)
    journal = None if out is None else Journal(Path(out), manifest(plan, entrants))
    try:
        return Tournament(plan, entrants, crew, journal, report).play()
    finally:
        crew.close()
        if journal is not None:
            journal.close()


@dataclass(slots=True)
class Tournament:
    """A tournament on its way; arguments as :func:`play_tournament`.

    Attributes:
        games: what was played, by line-up.
        done: deals played, each line-up's counted.
        round: number of the swiss round.
        checked: the widest half of an interval when that was last looked at.
    """

    plan: Plan
    entrants: Sequence[Entrant]
    crew: Crew
    journal: Journal | None = None
    report: Report | None = None
    games: dict[Lineup, Games] = field(default_factory=dict)
    done: int = 0
    round: int = 0
    checked: float | None = None

    def play(self) -> Outcome:
        """Play all line-ups."""
        n, setting = len(self.entrants), self.plan.setting
        if self.plan.format == "swiss":
            self._swiss()
        elif self.plan.format == "tables":
            self._meet(formats.tables_of(n, setting.rules.sides, setting.seed))
        else:
            self._meet(formats.all_pairs(n))
        return self.outcome()

    def outcome(self) -> Outcome:
        """What has been played so far."""
        return Outcome(self.plan, tuple(self.entrants), dict(sorted(self.games.items())))

    def _swiss(self) -> None:
        """Rounds of pairs; who stands equal is ordered by lot."""
        n = len(self.entrants)
        lots = np.random.default_rng(self.plan.setting.seed).permutation(n).tolist()
        met: set[Lineup] = set()
        for number in range(1, (self.plan.rounds or 0) + 1):
            self.round = number
            worth = self.outcome().standing()
            order = sorted(range(n), key=lambda player: (-worth[player], lots[player]))
            pairs = formats.swiss_round(order, met)
            met.update(pairs)
            self._meet([pair for pair in pairs if pair[0] >= 0])

    def _meet(self, lineups: Sequence[Lineup]) -> None:
        """Let line-ups play all deals, or until the intervals are narrow."""
        for lineup in lineups:
            self.games[lineup] = Games(lineup, rotations(self.plan.setting.rules))
        deals, target = self.plan.setting.deals, self.plan.until_ci
        step = deals if target is None else CHECK * self.plan.unit_deals
        for first in range(0, deals, step):
            self._play(lineups, first, min(first + step, deals))
            if target is not None:
                self.checked = self.outcome().width(lineups)
                if self.checked <= target:
                    return

    def _play(self, lineups: Sequence[Lineup], first: int, end: int) -> None:
        """Play deals first..end-1 of some line-ups, what the folder has excepted."""
        unit = self.plan.unit_deals
        jobs = [
            Job(lineup, start, min(unit, end - start))
            for start, lineup in itertools.product(range(first, end, unit), lineups)
        ]
        for part in self._parts(jobs):
            self.games[part.job.lineup].add(part)
            self.done += part.job.count
            if self.report is not None:
                self.report(self.state(lineups))
        for lineup in lineups:
            self.games[lineup].settle()

    def _parts(self, jobs: Sequence[Job]) -> Iterator[Part]:
        """Units from the folder, then those that are played now; these are kept as they come."""
        left = []
        for job in jobs:
            part = None if self.journal is None else self.journal.load(job)
            if part is None:
                left.append(job)
            else:
                yield part
        for part in self.crew.play(left):
            if self.journal is not None:
                self.journal.keep(part)
            yield part

    def state(self, lineups: Sequence[Lineup]) -> State:
        """How far it is; ``lineups`` play just now."""
        count = len(lineups) * (self.plan.rounds or 1)
        width = self.checked
        if self.plan.format != "tables":
            widths = [self.games[lineup].quick_width() for lineup in lineups]
            known = [width for width in widths if width is not None]
            width = max(known) if len(known) == len(widths) else None
        return State(self.done, count * self.plan.setting.deals, width, self.round)
