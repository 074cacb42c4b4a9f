"""What ``dominozoo arena`` does between its options and its tables."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from dominozoo_training.evaluation.entrants import Entrant, load_entrant
from dominozoo_training.evaluation.journal import PARTS
from dominozoo_training.evaluation.outcome import Outcome, as_json
from dominozoo_training.evaluation.setting import Setting
from dominozoo_training.evaluation.show import arena_bar, show_outcome
from dominozoo_training.evaluation.tournament import Plan, make_plan, play_tournament
from dominozoo_training.evaluation.workers import one_thread
from dominozoo_training.files import check_folder, writing

__all__ = ["check_pictures", "kept", "load", "make_plan", "play", "show", "told", "write_pictures"]


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
    if not any((out / PARTS).glob("[0-9]*.json")):
        return f"no unit was finished, so {out} keeps none: the same command starts from the first"
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


def check_pictures(html: Path | None, plots: Path | None) -> None:
    """See that pictures can be drawn, before anything is played.

    Raises:
        ModuleNotFoundError: what draws them is missing; the text says how to get it.
        OSError: the folder can't be made or written.
    """
    if html is None and plots is None:
        return
    from dominozoo_training.evaluation.plots import styled

    with styled():
        pass
    if plots is not None:
        check_folder(plots, "plots")


def write_pictures(
    html: Path | None, plots: Path | None, result: dict[str, Any], entrants: Sequence[Entrant]
) -> None:
    """Write the report and its pictures, with the learning curves of the runs among the players."""
    if html is None and plots is None:
        return
    from dominozoo_training.evaluation.report import write_plots, write_report

    folders = [Path(entrant.name.partition("@")[0]) for entrant in entrants if entrant.policy]
    runs = [folder for folder in dict.fromkeys(folders) if folder.is_dir()]
    if html is not None:
        with writing("html", html):
            write_report(html, result, runs)
    if plots is not None:
        with writing("plots", plots):
            write_plots(plots, result, runs)


def show(outcome: Outcome, result: dict[str, Any]) -> None:
    """Print the tables."""
    show_outcome(outcome, result, Console())
