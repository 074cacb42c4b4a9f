"""`make bench-check`: is anything slower than it was?

Speeds don't travel between machines, ratios nearly do. Each cost is what one of our moves takes in
units of a yardstick measured in turns with it: a move of the C program, or a round of a plain
Python loop. Costs are compared with stored ones; 130 % warns, 150 % fails.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from dominozoo.rules import parse
from dominozoo_training.bench import games as play
from dominozoo_training.bench import machine
from dominozoo_training.bench.timing import Chunk, Unavailable, rates, timed

WARNS: Final = 1.3
FAILS: Final = 1.5
REPEATS: Final = 7
SECONDS: Final = 0.7
STORED: Final = Path("tests/bench/costs.json")


@dataclass(frozen=True, slots=True)
class Verdict:
    """A cost beside the stored one; None where there is none. ``word`` is one of WORDS."""

    name: str
    stored: float | None
    measured: float | None
    word: str

    @property
    def times(self) -> float | None:
        """Measured / stored."""
        if self.stored is None or self.measured is None:
            return None
        return self.measured / self.stored


def word_for(stored: float | None, measured: float | None) -> str:
    """What a cost means beside the stored one.

    >>> [word_for(10.0, cost) for cost in (7.0, 10.0, 12.9, 13.0, 15.0)]
    ['faster', 'ok', 'ok', 'WARNING', 'FAILED']
    """
    if measured is None:
        return "not measured"
    if stored is None:
        return "not stored"
    times = measured / stored
    if times >= FAILS:
        return "FAILED"
    if times >= WARNS:
        return "WARNING"
    return "faster" if times <= 1 / WARNS else "ok"


def compare(stored: Mapping[str, float], measured: Mapping[str, float]) -> list[Verdict]:
    """A verdict for every name that is stored or measured, in that order."""
    names = dict.fromkeys([*stored, *measured])
    pairs = {name: (stored.get(name), measured.get(name)) for name in names}
    return [Verdict(name, *pair, word_for(*pair)) for name, pair in pairs.items()]


def python_loop() -> Chunk:
    """The yardstick of what Python does: rounds of a loop with a look-up, a test and a sum."""
    values = dict.fromkeys(range(64), 1)

    def work() -> int:
        total = 0
        for k in range(20_000):
            value = values[k & 63]
            if value:
                total += value
        return total

    return lambda: timed(work)


def c_moves(game: str) -> Chunk:
    """The yardstick of compiled code: moves of the C program."""
    return play.c_program(parse(game))


Maker = Callable[[], Chunk]


def _ours(make: Callable[..., Chunk], game: str, batch: int | None = None) -> Maker:
    if batch is None:
        return lambda: make(parse(game))
    return lambda: make(parse(game), batch)


# name -> (what is ours, its yardstick)
COSTS: Final[dict[str, tuple[Maker, Maker]]] = {
    "kernel block / C": (_ours(play.kernel, "block"), partial(c_moves, "block")),
    "kernel partnership / C": (_ours(play.kernel, "partnership"), partial(c_moves, "partnership")),
    "kernel draw / C": (_ours(play.kernel, "draw"), partial(c_moves, "draw")),
    "kernel truc / C block": (_ours(play.kernel, "truc"), partial(c_moves, "block")),
    **{
        f"step {game} / C block": (_ours(play.step, game, 4096), partial(c_moves, "block"))
        for game in ("block", "partnership", "french", "truc")
    },
    "step_float32 block / C block": (
        _ours(play.step_float32, "block", 4096),
        partial(c_moves, "block"),
    ),
    "bot:hard block / C block": (
        _ours(partial(play.bot, "hard"), "block", 1024),
        partial(c_moves, "block"),
    ),
    "vector_env block / C block": (
        _ours(play.vector_env, "block", 4096),
        partial(c_moves, "block"),
    ),
    "raw_env block / loop": (_ours(partial(play.aec, "raw_env"), "block"), python_loop),
    "env block / loop": (_ours(partial(play.aec, "env"), "block"), python_loop),
    "raw_env truc / loop": (_ours(partial(play.aec, "raw_env"), "truc"), python_loop),
}


def cost(ours: Chunk, yardstick: Chunk, seconds: float = SECONDS) -> float:
    """What one of our moves takes, in units of the yardstick: the median of REPEATS turns."""
    mine, its = rates(ours, yardstick, seconds=seconds, repeats=REPEATS)
    return statistics.median(b / a for a, b in zip(mine, its, strict=True))


def measure_costs(
    names: Iterable[str], tell: Callable[[str], None], seconds: float = SECONDS
) -> dict[str, float]:
    """Measure costs one by one; what can't be measured here is told and left out."""
    found: dict[str, float] = {}
    for name in names:
        ours, yardstick = COSTS[name]
        try:
            found[name] = cost(ours(), yardstick(), seconds)
        except Unavailable as error:
            tell(f"{name}: not measured: {error}")
        else:
            tell(f"{name}: {found[name]:.3g}")
    return found


def table_of(verdicts: Iterable[Verdict]) -> Table:
    """The verdicts as a table."""
    table = Table("cost of a move / yardstick", title=machine())
    for heading in ("stored", "now", "now / stored"):
        table.add_column(heading, justify="right")
    table.add_column("")
    colours = {"FAILED": "red", "WARNING": "yellow", "faster": "green"}
    for v in verdicts:
        numbers = ("" if x is None else f"{x:.3g}" for x in (v.stored, v.measured))
        times = "" if v.times is None else f"{v.times:.0%}"
        table.add_row(v.name, *numbers, times, v.word, style=colours.get(v.word))
    return table


def read_costs(path: Path) -> dict[str, float]:
    """The stored costs by name.

    Raises:
        ValueError: no file, or not what ``--update`` writes.
    """
    try:
        costs = json.loads(path.read_text(encoding="utf-8"))["costs"]
        return {str(name): float(value) for name, value in costs.items()}
    except FileNotFoundError:
        raise ValueError(f"{path} does not exist: --update writes it") from None
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ValueError(f"{path} can't be read ({error}): --update writes it anew") from None


def write_costs(path: Path, costs: Mapping[str, float]) -> None:
    """Store costs, with the machine that they were measured on."""
    rounded = {name: float(f"{value:.4g}") for name, value in costs.items()}
    value: dict[str, Any] = {"machine": machine(), "costs": rounded}
    path.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")


def check(path: Path, console: Console, seconds: float = SECONDS) -> int:
    """Measure and compare; what looks slower is measured a second time, the better cost counts.

    Returns:
        1 if a cost has reached 150 % of the stored one, else 0.
    """

    def tell(line: str) -> None:
        console.print(line, highlight=False, markup=False, soft_wrap=True)

    stored = read_costs(path)
    measured = measure_costs(COSTS, tell, seconds)
    slow = [v.name for v in compare(stored, measured) if v.word in ("WARNING", "FAILED")]
    if slow:
        tell("slower; once more:")
        again = measure_costs(slow, tell, seconds)
        measured |= {name: min(measured[name], value) for name, value in again.items()}
    verdicts = compare(stored, measured)
    console.print(table_of(verdicts))
    return int(any(v.word == "FAILED" for v in verdicts))


def update(path: Path, tell: Callable[[str], None], seconds: float) -> int:
    """Measure and store; nothing is stored unless all could be measured.

    Returns:
        0.

    Raises:
        ValueError: what can't be measured here, or a file that can't be written.
    """
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise ValueError(f"{path}: can't be written")
    costs = measure_costs(COSTS, tell, seconds)
    missing = [name for name in COSTS if name not in costs]
    if missing:
        raise ValueError(
            f"not measured: {', '.join(missing)}; the stored costs are left as they are"
        )
    write_costs(path, costs)
    return 0


def main(arguments: list[str] | None = None) -> int:
    """The command: exit code 0, 1 if something has become slower, 2 for bad input."""
    words = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(prog="bench-check", description=words)
    parser.add_argument("--stored", type=Path, default=STORED, help=f"default: {STORED}")
    parser.add_argument("--update", action="store_true", help="store what is measured now")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="CPU seconds a measurement")
    options = parser.parse_args(arguments)
    console = Console(stderr=True)
    try:
        if not 0 < options.seconds < math.inf:
            raise ValueError(f"--seconds must be a number above 0, not {options.seconds}")
        if options.update:
            return update(options.stored, console.print, options.seconds)
        return check(options.stored, console, options.seconds)
    except (ValueError, OSError) as error:
        console.print(f"bench-check: {error}", highlight=False, markup=False, soft_wrap=True)
        return 2


if __name__ == "__main__":
    raise SystemExit(main())
