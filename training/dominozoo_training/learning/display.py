"""What a run shows: a live table on a terminal, plain lines elsewhere, TensorBoard and JSON lines."""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from rich.console import Console
from rich.live import Live
from rich.table import Table

from dominozoo_training.evaluation.arena import Result

SHOWN = ("policy_loss", "critic_loss", "value_loss", "entropy", "kl", "explained", "learning_rate")
METRICS = "metrics.jsonl"
PLAIN_EVERY = 10.0  # seconds between plain lines


class Display:
    """Progress for people.

    Args:
        title: the game and the run's folder.
        console: where to print; None takes standard error.
    """

    def __init__(self, title: str, console: Console | None = None) -> None:
        self.title = title
        self.console = console or Console(file=sys.stderr)
        self.results: Sequence[Result] = ()
        self.even = 0.5
        self.live = Live(console=self.console, auto_refresh=False, transient=True)
        self.last_line = -math.inf

    def __enter__(self) -> Self:
        if self.console.is_terminal:
            self.live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.console.is_terminal:
            self.live.stop()

    def show(self, figures: dict[str, float]) -> None:
        """Show the figures of an update; at most one plain line in ten seconds."""
        if self.console.is_terminal:
            self.live.update(self.table(figures), refresh=True)
        elif time.monotonic() - self.last_line >= PLAIN_EVERY:
            self.last_line = time.monotonic()
            self.say(self.line(figures))

    def judged(self, results: Sequence[Result], even: float, *, final: bool = False) -> None:
        """Take new win rates in, with the even one; a terminal has them in its table till the end."""
        self.results, self.even = results, even
        if final or not self.console.is_terminal:
            rates = ", ".join(rate(result) for result in results)
            self.say(f"  {rates}; even is {100 * even:.4g} %")

    def say(self, text: str) -> None:
        """Print a line."""
        self.console.print(text, markup=False, highlight=False, soft_wrap=True)

    def line(self, figures: dict[str, float]) -> str:
        """The figures in one line."""
        return (
            f"{figures['progress']:4.0%} {figures['decisions'] / 1e6:7.2f} M decisions "
            f"{figures['decisions_per_second'] / 1e3:6.1f} k/s, entropy {figures['entropy']:.3f}, "
            f"kl {figures['kl']:.4f}, explained {figures['explained']:.2f}"
        )

    def table(self, figures: dict[str, float]) -> Table:
        """The figures and the last win rates as a table."""
        table = Table(title=self.title, caption="Ctrl-C saves and ends", show_header=False)
        table.add_row("progress", f"{figures['progress']:.0%}")
        table.add_row("decisions", f"{figures['decisions'] / 1e6:.2f} M")
        table.add_row("decisions/s", f"{figures['decisions_per_second'] / 1e3:.1f} k")
        for name in SHOWN:
            table.add_row(name.replace("_", " "), f"{figures[name]:.4f}")
        for result in self.results:
            table.add_row(f"v {result.b}", rate(result).partition(" ")[2])
        if self.results:
            table.add_row("even", f"{100 * self.even:.4g} %")
        return table


def rate(result: Result) -> str:
    """A win rate in words: ``hard 54.1 % (53.7..54.5)``."""
    return (
        f"{result.b} {100 * result.win_rate:.1f} % "
        f"({100 * result.low:.1f}..{100 * result.high:.1f})"
    )


class Metrics:
    """``metrics.jsonl`` and TensorBoard files of a run.

    Args:
        run: the run's folder.
        decisions: where the run goes on; what a lost continuation wrote behind it is dropped.
    """

    def __init__(self, run: Path, decisions: int = 0) -> None:
        from torch.utils.tensorboard import SummaryWriter  # slow to import

        keep_until(run / METRICS, decisions)
        self.file = (run / METRICS).open("a", encoding="utf-8")
        self.board = SummaryWriter(str(run / "tensorboard"), purge_step=decisions or None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()
        self.board.close()

    def write(self, kind: str, decisions: int, figures: dict[str, Any]) -> None:
        """Write figures; numbers go to TensorBoard, too."""
        json.dump({"kind": kind, "decisions": decisions, **figures}, self.file)
        self.file.write("\n")
        self.file.flush()
        for name, value in figures.items():
            if isinstance(value, int | float):
                self.board.add_scalar(f"{kind}/{name}", value, decisions)


def keep_until(path: Path, decisions: int) -> None:
    """Drop the lines of a metrics file that lie behind a checkpoint, and a line cut short."""
    if not path.exists():
        return
    kept = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            if json.loads(line)["decisions"] <= decisions:
                kept.append(line + "\n")
        except (ValueError, KeyError):
            continue
    path.write_text("".join(kept), encoding="utf-8")
