"""How long a new process takes: the import, and the first step with an empty and a full cache."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from typing import Final

from dominozoo_training.bench.timing import Unavailable

IMPORT: Final = (
    "import time; start = time.perf_counter()\nimport dominozoo\nprint(time.perf_counter() - start)"
)
FIRST_STEP: Final = (
    "import time; start = time.perf_counter()\n"
    "from dominozoo.tables import Tables\n"
    "tables = Tables({game!r}, 1, seed=1); tables.step(tables.mask.argmax(axis=1))\n"
    "print(time.perf_counter() - start)"
)


def seconds_of(code: str, **environment: str) -> float:
    """Run code that prints its seconds in a new process.

    Raises:
        Unavailable: the process failed.
    """
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    if run.returncode != 0:
        raise Unavailable(f"start: {(run.stderr.strip() or 'no message').splitlines()[-1]}")
    return float(run.stdout)


def import_times(repeats: int) -> list[float]:
    """Seconds of ``import dominozoo``, after one import that fills the system's caches."""
    seconds_of(IMPORT)
    return [seconds_of(IMPORT) for _ in range(repeats)]


def first_steps(game: str, repeats: int) -> tuple[list[float], list[float]]:
    """Seconds from a new process to the first step: with an empty cache, and with a full one."""
    code = FIRST_STEP.format(game=game)
    cold: list[float] = []
    cached: list[float] = []
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as folder:
            cold.append(seconds_of(code, NUMBA_CACHE_DIR=folder))
            cached.append(seconds_of(code, NUMBA_CACHE_DIR=folder))
    return cold, cached
