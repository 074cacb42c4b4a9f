"""What ``dominozoo arena`` does between its options and its tables."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from dominozoo_training.evaluation.entrants import Entrant, load_entrant
from dominozoo_training.evaluation.outcome import Outcome, as_json
from dominozoo_training.evaluation.setting import Setting
from dominozoo_training.evaluation.show import arena_bar, show_outcome
from dominozoo_training.evaluation.tournament import Plan, make_plan, play_tournament
from dominozoo_training.evaluation.workers import one_thread

__all__ = ["kept", "load", "make_plan", "play", "show", "told", "write_html"]


def load(specs: Sequence[str], setting: Setting) -> list[Entrant]:
    """Load the players by their short codes.

    Raises:
        EntrantError: somebody is unknown, unreadable, or made for another game.
    """
    entrants = [load_entrant(spec, setting.rules) for spec in specs]
    one_thread()
    return entrants


def play(
    plan: Plan, entrants: Sequence[Entrant], processes: int = 1, out: Path | None = None
) -> Outcome:
    """Play a tournament behind a progress bar; errors as :func:`play_tournament`."""
    with arena_bar(plan, len(entrants)) as report:
        return play_tournament(plan, entrants, processes=processes, out=out, report=report)


def kept(out: Path | None) -> str:
    """What is left of a tournament that was interrupted."""
    if out is None:
        return "nothing is kept without --out FOLDER"
    return f"finished units are kept in {out}: the same command goes on there"


def told(outcome: Outcome, machine: str, note: Callable[[str], None]) -> dict[str, Any]:
    """The result as JSON types; ``note`` gets a line on ratings that can't be given."""
    ratings = None
    try:
        ratings = outcome.ratings()
    except ModuleNotFoundError as error:
        note(str(error))
    command = shlex.join(["dominozoo", *sys.argv[1:]])
    return as_json(outcome, ratings, command=command, machine=machine)


def write_html(path: Path, result: dict[str, Any], entrants: Sequence[Entrant]) -> None:
    """Write the report, with the learning curves of the runs among the players."""
    from dominozoo_training.evaluation.report import write_report

    runs = [Path(entrant.name.partition("@")[0]) for entrant in entrants]
    write_report(path, result, runs=[run for run in runs if run.is_dir()])


def show(outcome: Outcome, result: dict[str, Any]) -> None:
    """Print the tables."""
    show_outcome(outcome, result, Console())
