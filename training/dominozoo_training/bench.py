"""`dominozoo bench`: how fast the games are on this machine.

Rates are per second of processor time of one thread, medians over repeats with the spread
(max - min) / median, so that they hold on a busy machine too. Cold and cached start are the wall
time of a new process until its first step.
"""

from __future__ import annotations

import importlib
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dominozoo.bots import BOTS, kernels, seed_bots
from dominozoo.rules import parse
from dominozoo.tables import Tables

DEFAULT_GAMES: Final = ("block", "draw", "partnership", "french", "truc")
BATCHES: Final = (1, 64, 512, 4096, 16384, 65536)
REPEATS: Final = 5
CASES: Final = ("step", "raw_env", "env", "bot", "start")

_FIRST_STEP: Final = (
    "import time; start = time.perf_counter()\n"
    "from dominozoo.tables import Tables\n"
    "tables = Tables({game!r}, 1, seed=1); tables.step(tables.mask.argmax(axis=1))\n"
    "print(time.perf_counter() - start)"
)


@dataclass(frozen=True, slots=True)
class Row:
    """One figure: a game, a case, its batch, the median, its unit and the relative spread."""

    game: str
    case: str
    batch: int | None
    median: float
    unit: str
    spread: float


def summarise(game: str, case: str, batch: int | None, unit: str, figures: list[float]) -> Row:
    """The median of repeated figures and their spread."""
    median = statistics.median(figures)
    return Row(game, case, batch, median, unit, (max(figures) - min(figures)) / median)


def rate(repeats: int, once: Callable[[], tuple[int, float]]) -> list[float]:
    """Things a second over repeats; ``once`` returns how many were done in how many seconds."""
    once()
    return [count / seconds for count, seconds in (once() for _ in range(repeats))]


def random_legal(mask: npt.NDArray[np.int8], rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """A random legal action a row, (B,)."""
    noise = rng.random(mask.shape, dtype=np.float32)
    return np.asarray((noise * mask).argmax(axis=1), np.int64)


def bench_step(game: str, batch: int) -> list[float]:
    """`Tables.step` with observation, mask and reward; the choice of actions isn't timed."""
    tables = Tables(game, batch, seed=1)
    rng = np.random.default_rng(1)

    def once() -> tuple[int, float]:
        steps, busy = max(4, 200_000 // batch), 0.0
        for _ in range(steps):
            actions = random_legal(tables.mask, rng)
            start = time.process_time_ns()
            tables.step(actions)
            busy += (time.process_time_ns() - start) * 1e-9
        return steps * batch, busy

    return rate(REPEATS, once)


def bench_env(game: str, factory: str, moves: int = 15_000) -> list[float]:
    """``last`` and ``step`` of the AEC environment with a cheap choice among the mask's ones."""
    rules = parse(game)
    make = getattr(importlib.import_module(f"dominozoo.{rules.module}"), factory)
    env = make(**rules.options)
    env.reset(seed=1)

    def once() -> tuple[int, float]:
        done, word, start = 0, 1, time.process_time()
        while done < moves:
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.reset()
                continue
            legal = observation["action_mask"].nonzero()[0]
            word = word * 1103515245 + 12345 & 0x7FFFFFFF
            env.step(legal[word % len(legal)])
            done += 1
        return done, time.process_time() - start

    return rate(3, once)


def bench_bot(game: str, name: str, batch: int = 1024) -> list[float]:
    """Decisions of a scripted bot, forced ones included; the tables' steps aren't timed."""
    tables = Tables(game, batch, seed=1, checked=False)
    bots = kernels(tables.rules)
    codes = np.full((batch, tables.rules.players), BOTS[name], np.int8)
    rng = np.zeros((batch, 4), np.uint32)
    seed_bots(rng, 1, 0, 0)
    actions, everywhere = np.zeros(batch, np.int64), np.ones(batch, np.bool_)

    def once() -> tuple[int, float]:
        steps, busy = 50, 0.0
        for _ in range(steps):
            start = time.process_time_ns()
            bots.choose(tables.records, tables.packed, codes, rng, actions, everywhere)
            busy += (time.process_time_ns() - start) * 1e-9
            tables.step(actions)
        return steps * batch, busy

    return rate(REPEATS, once)


def bench_start(game: str, repeats: int = 3) -> tuple[list[float], list[float]]:
    """Seconds from a new process to the first step: with an empty cache, and with a full one."""
    code = _FIRST_STEP.format(game=game)
    cold: list[float] = []
    cached: list[float] = []
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as folder:
            env = {**os.environ, "NUMBA_CACHE_DIR": folder}
            for figures in (cold, cached):
                run = subprocess.run(
                    [sys.executable, "-c", code],
                    env=env,
                    capture_output=True,
                    text=True,
                    check=True,
                )
                figures.append(float(run.stdout))
    return cold, cached


def measure(games: tuple[str, ...], cases: tuple[str, ...] = CASES) -> Iterator[Row]:
    """Measure case by case.

    Raises:
        ValueError: a case that isn't in ``CASES``.
    """
    for case in cases:
        if case not in CASES:
            raise ValueError(f"cases: there is no {case!r}; there are {', '.join(CASES)}")
    for game in games:
        if "step" in cases:
            for batch in BATCHES:
                yield summarise(game, "step", batch, "1/s", bench_step(game, batch))
        for factory in ("raw_env", "env"):
            if factory in cases:
                yield summarise(game, factory, None, "1/s", bench_env(game, factory))
        for name in BOTS if "bot" in cases else ():
            yield summarise(game, f"bot:{name}", 1024, "1/s", bench_bot(game, name))
    if "start" in cases:
        cold, cached = bench_start(games[0])
        yield summarise(games[0], "cold_start", None, "s", cold)
        yield summarise(games[0], "cached_start", None, "s", cached)


def machine() -> str:
    """What was measured on, in words."""
    return (
        f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()}, "
        f"Python {platform.python_version()}, NumPy {np.__version__}"
    )


def as_json(rows: list[Row]) -> dict[str, Any]:
    """The rows as the contract's bench JSON."""
    return {"machine": machine(), "rows": [asdict(row) for row in rows]}
