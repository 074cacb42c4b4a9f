"""The C program that random play is compared with: ``tests/bench/dominoes.c``.

It is compiled for one game at a time, so it comes with a checkout and needs a compiler.
"""

from __future__ import annotations

import ctypes
import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dominozoo.rules import LINE, LINE_RULES, Rules, pack_line
from dominozoo.tables import split_seed
from dominozoo_training.bench.timing import Unavailable

SOURCE: Final = Path(__file__).resolve().parents[3] / "tests" / "bench" / "dominoes.c"
FLAGS: Final = ("-O3", "-march=native", "-shared", "-fPIC")


def defines(rules: Rules) -> list[str]:
    """The rules as macros, a field of ``LINE_RULES`` each."""
    packed = pack_line(rules)
    return [f"-D{name.upper()}={int(packed[name][0])}" for name in LINE_RULES.names or ()]


def compiler() -> list[str]:
    """The C compiler's command: ``CC``, else cc.

    Raises:
        Unavailable: there is none.
    """
    command = shlex.split(os.environ.get("CC") or "cc")
    if not command or shutil.which(command[0]) is None:
        raise Unavailable("c: no C compiler found; install gcc or clang, or name one in CC")
    return command


def build(rules: Rules) -> ctypes.CDLL:
    """Compile the program for one game, into a folder that is gone afterwards, and load it.

    Raises:
        Unavailable: no source, no compiler, a game that the program doesn't play, or an error of
            the compiler's.
    """
    if rules.variant.family != LINE or rules.value("cross", False):
        raise Unavailable(f"c: {rules.game} is not played in C")
    if not SOURCE.is_file():
        raise Unavailable("c: tests/bench/dominoes.c comes with a checkout of the sources")
    command = compiler()
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "dominoes.so"
        arguments = [*FLAGS, *defines(rules), "-o", str(library), str(SOURCE)]
        run = subprocess.run([*command, *arguments], capture_output=True, text=True, check=False)
        if run.returncode != 0:
            first = (run.stderr.strip() or f"exit code {run.returncode}").splitlines()[0]
            raise Unavailable(f"c: {command[0]} refused the program: {first}")
        return ctypes.CDLL(str(library))


def _at(array: npt.NDArray[Any]) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


class CTables:
    """Tables of one game, played by the C program as ``random_play`` plays ``Tables``.

    Raises:
        Unavailable: as :func:`build`.
    """

    def __init__(self, rules: Rules, num_tables: int, seed: int) -> None:
        """Compile, and deal the first hands of the tables 0..num_tables-1 of a seed."""
        self._program = build(rules)
        self._program.table_size.restype = ctypes.c_int64
        self._count = ctypes.c_int64(num_tables)
        self._tables = np.zeros(num_tables * int(self._program.table_size()), np.uint8)
        low, high = split_seed(seed)
        self._program.start_tables(
            _at(self._tables),
            self._count,
            ctypes.c_uint32(low),
            ctypes.c_uint32(high),
            ctypes.c_uint32(0),
        )

    def play(
        self, words: npt.NDArray[np.uint32], moves: int, counts: npt.NDArray[np.int64]
    ) -> None:
        """Make ``moves`` random moves on each table; see ``dominozoo.line.batch.random_play``."""
        self._program.random_play(
            _at(self._tables), self._count, _at(words), ctypes.c_int64(moves), _at(counts)
        )
