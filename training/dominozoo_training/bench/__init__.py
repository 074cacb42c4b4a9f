"""`dominozoo bench`: how fast the games are on this machine.

Rates are per second of processor time of one thread where :func:`clock_of` says "cpu", so that
they hold on a busy machine too; they are medians over repeats with the spread (max - min) / median.
A measurement has a budget in seconds, not a number of moves, so a slow machine takes as long.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import platform
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from dominozoo.bots import BOTS
from dominozoo.rules import Rules, parse
from dominozoo_training.bench import games as play
from dominozoo_training.bench import served, start
from dominozoo_training.bench.beside import step_processes
from dominozoo_training.bench.timing import (
    REPEATS,
    SECONDS,
    Chunk,
    Row,
    Unavailable,
    rates,
    summarise,
)

__all__ = [
    "CASES",
    "DEFAULT_GAMES",
    "Job",
    "Row",
    "Unavailable",
    "as_json",
    "machine",
    "measure",
    "plan",
    "summarise",
]

DEFAULT_GAMES: Final = ("block", "draw", "partnership", "french", "truc")
BATCHES: Final = (1, 64, 512, 4096, 16384, 65536)
THREAD_BATCHES: Final = (4096, 65536)
VECTOR_BATCHES: Final = (64, 4096)
BOT_BATCH: Final = 1024
START_REPEATS: Final = 3

# What can be asked for, in the order of measuring, with what it is.
CASES: Final[dict[str, str]] = {
    "kernel": "random moves inside one compiled call",
    "c": "the same deals and choices in C",
    "step": "Tables.step: observation, mask, reward; the choice isn't timed",
    "step_float32": "the same with one-hot float32 features",
    "step_threads": "step by the wall clock with two threads; as step_wall with one, and as "
    "step_processes in two processes at once, the most that a second core can add",
    "raw_env": "AEC, last and step, bare",
    "env": "AEC, last and step, as users get it",
    "vector_env": "Gymnasium, learning seats' decisions against hard bots",
    "bot": "decisions of each scripted bot; bot:hard asks for one",
    "bot_numpy": "moves of a bot that ships, a position at a time, with NumPy alone",
    "stdio": "the same asked on a line, a round trip each",
    "http": "the same asked over HTTP by 16 clients at once; http_p99: how long one waits",
    "bytes": "a table's record",
    "import": "import dominozoo in a new process",
    "cold_start": "a new process until its first step, nothing compiled yet",
    "cached_start": "the same with all compiled",
}
ALIASES: Final = {"start": ("cold_start", "cached_start")}
WALL: Final = (
    *("step_wall", "step_threads", "step_processes", "stdio", "http", "http_p99", "import"),
    *("cold_start", "cached_start"),
)


def clock_of(case: str) -> str:
    """What a case's seconds are: "cpu" of one thread, or "wall"; "" where there are none."""
    return "" if case == "bytes" else "wall" if case in WALL else "cpu"


@dataclass(frozen=True, slots=True)
class Job:
    """One measurement: whose, of what, and how it is done.

    ``run`` yields its rows; it raises :class:`Unavailable` after those that it could measure.
    """

    game: str
    case: str
    batch: int | None
    run: Callable[[], Iterator[Row]]

    def __str__(self) -> str:
        return f"{self.game} {self.case}" + ("" if self.batch is None else f" {self.batch}")


def check_cases(cases: Iterable[str]) -> set[str]:
    """The cases asked for, aliases replaced.

    Raises:
        ValueError: a case that isn't there, with those that are.
    """
    wanted: set[str] = set()
    bots = tuple(f"bot:{name}" for name in BOTS)
    groups = {**{case: (case,) for case in (*CASES, *bots)}, "bot": bots, **ALIASES}
    for case in cases:
        if case not in groups:
            raise ValueError(f"cases: there is no {case!r}; there are {', '.join(groups)}")
        wanted.update(groups[case])
    return wanted


def plan(
    games: Iterable[str], cases: Iterable[str] = tuple(CASES), seconds: float = SECONDS
) -> list[Job]:
    """What is to be measured, in order; nothing is measured yet.

    Args:
        games: text forms.
        cases: keys of ``CASES``, "start" for both starts, "bot:NAME" for one bot.
        seconds: processor time of a measurement's timed part, above 0.

    Raises:
        RulesError: a game that isn't there.
        ValueError: a case that isn't there, no game or case at all, seconds of 0 or less.
    """
    wanted, chosen = check_cases(cases), [parse(game) for game in games]
    if not wanted or not chosen:
        raise ValueError(f"{'cases' if chosen else 'games'}: name at least one")
    if not 0 < seconds < float("inf"):
        raise ValueError(f"seconds must be a number above 0, not {seconds}")
    jobs = [job for rules in chosen for job in _game_jobs(rules, wanted, seconds)]
    first = chosen[0]
    if "import" in wanted:
        jobs.append(Job(str(first), "import", None, partial(_import, str(first))))
    if wanted & {"cold_start", "cached_start"}:
        jobs.append(Job(str(first), "start", None, partial(_start, str(first), wanted)))
    return jobs


# Rates that are measured by themselves: case, batches, what makes the chunk.
_RATES: Final[tuple[tuple[str, tuple[int | None, ...], Callable[..., Chunk]], ...]] = (
    ("step", BATCHES, play.step),
    ("step_float32", BATCHES, play.step_float32),
    ("raw_env", (None,), partial(play.aec, "raw_env")),
    ("env", (None,), partial(play.aec, "env")),
    ("vector_env", VECTOR_BATCHES, play.vector_env),
    *((f"bot:{name}", (BOT_BATCH,), partial(play.bot, name)) for name in BOTS),
)


def _game_jobs(rules: Rules, wanted: set[str], seconds: float) -> Iterator[Job]:
    game = str(rules)
    if wanted & {"kernel", "c"}:
        yield Job(game, "kernel", play.KERNEL_BATCH, partial(_kernel, rules, wanted, seconds))
    for case, batches, make in _RATES:
        for batch in batches if case in wanted else ():
            yield Job(game, case, batch, partial(_rate, rules, case, batch, make, seconds))
    for batch in THREAD_BATCHES if "step_threads" in wanted else ():
        yield Job(game, "step_threads", batch, partial(_threads, rules, batch, seconds))
    if "bot_numpy" in wanted:
        make = served.bot_numpy
        yield Job(game, "bot_numpy", None, partial(_rate, rules, "bot_numpy", None, make, seconds))
    if "stdio" in wanted:
        yield Job(game, "stdio", None, partial(_stdio, rules, seconds))
    if "http" in wanted:
        yield Job(game, "http", served.CLIENTS, partial(_http, rules, seconds))
    if "bytes" in wanted:
        yield Job(game, "bytes", None, partial(_bytes, rules))


def _rate(
    rules: Rules, case: str, batch: int | None, make: Callable[..., Chunk], seconds: float
) -> Iterator[Row]:
    [figures] = rates(make(rules, batch), seconds=seconds)
    yield summarise(str(rules), case, batch, "1/s", figures)


def _kernel(rules: Rules, wanted: set[str], seconds: float) -> Iterator[Row]:
    """The kernel and the C program in turns; without the latter the kernel alone."""
    chunks, missing = {}, None
    if "kernel" in wanted:
        chunks["kernel"] = play.kernel(rules)
    if "c" in wanted:
        try:
            chunks["c"] = play.c_program(rules)
        except Unavailable as error:
            missing = error
    for case, figures in zip(chunks, rates(*chunks.values(), seconds=seconds), strict=True):
        yield summarise(str(rules), case, play.KERNEL_BATCH, "1/s", figures)
    if missing is not None:
        raise missing


def _threads(rules: Rules, batch: int, seconds: float) -> Iterator[Row]:
    """One thread, two, and two processes in turns; without the second process the threads alone."""
    one, two = play.step_threads(rules, batch, (1, 2))
    chunks, missing = {"step_wall": one, "step_threads": two}, None
    with contextlib.ExitStack() as stack:
        try:
            chunks["step_processes"] = stack.enter_context(step_processes(rules, batch))
        except Unavailable as error:
            missing = error
        measured = rates(*chunks.values(), seconds=seconds)
    for case, figures in zip(chunks, measured, strict=True):
        yield summarise(str(rules), case, batch, "1/s", figures)
    if missing is not None:
        raise missing


def _stdio(rules: Rules, seconds: float) -> Iterator[Row]:
    with served.stdio(rules) as chunk:
        [figures] = rates(chunk, seconds=seconds)
    yield summarise(str(rules), "stdio", None, "1/s", figures)


def _http(rules: Rules, seconds: float) -> Iterator[Row]:
    with served.http(rules) as (chunk, waited):
        [figures] = rates(chunk, seconds=seconds)
    yield summarise(str(rules), "http", served.CLIENTS, "1/s", figures)
    late = sorted(waited)[len(waited) * 99 // 100]
    yield summarise(str(rules), "http_p99", served.CLIENTS, "s", [late])


def _bytes(rules: Rules) -> Iterator[Row]:
    yield summarise(str(rules), "bytes", None, "B", [play.table_bytes(rules)])


def _import(game: str) -> Iterator[Row]:
    yield summarise(game, "import", None, "s", start.import_times(REPEATS))


def _start(game: str, wanted: set[str]) -> Iterator[Row]:
    cold, cached = start.first_steps(game, START_REPEATS)
    for case, figures in (("cold_start", cold), ("cached_start", cached)):
        if case in wanted:
            yield summarise(game, case, None, "s", figures)


def measure(
    games: Iterable[str], cases: Iterable[str] = tuple(CASES), seconds: float = SECONDS
) -> Iterator[Row]:
    """Measure case by case what can be measured here; arguments and errors as :func:`plan`."""
    for job in plan(games, cases, seconds):
        try:
            yield from job.run()
        except Unavailable:
            continue


def machine() -> str:
    """What was measured on, in words."""
    versions = (f"{name} {importlib.metadata.version(name)}" for name in ("numpy", "numba"))
    return (
        f"{processor()}, {os.cpu_count()} cores, {platform.system()}, "
        f"Python {platform.python_version()}, {', '.join(versions)}"
    )


def processor() -> str:
    """The processor's name where the system tells it, else its kind."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{names[0]} ({platform.machine()})" if names else platform.machine()


def ratios(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """What rows say together: the kernel against C, two threads and processes against one."""
    by_case = {(row.game, row.case, row.batch): row.median for row in rows}
    pairs = {"kernel": "c", "step_threads": "step_wall", "step_processes": "step_wall"}
    return [
        {"game": game, "case": case, "to": pairs[case], "batch": batch, "ratio": median / other}
        for (game, case, batch), median in by_case.items()
        if case in pairs and (other := by_case.get((game, pairs[case], batch)))
    ]


def as_json(rows: list[Row], **more: Any) -> dict[str, Any]:
    """The rows as the contract's bench JSON, and beside them what else is told.

    Args:
        rows: the figures.
        **more: further entries, such as what was skipped.
    """
    clocks = {row.case: clock_of(row.case) for row in rows if clock_of(row.case)}
    told = {"clocks": clocks, "ratios": ratios(rows), **more}
    return {"machine": machine(), "rows": [asdict(row) for row in rows], **told}
