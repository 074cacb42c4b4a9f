"""What the package's start spares: time and memory of libraries that nobody asked for."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest


def output(code: str, cwd: Path) -> str:
    """What a fresh interpreter prints."""
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


READER = """
import sys, numpy as np, dominozoo
bot = dominozoo.load_bot("block")
seen = {"observation": np.ones(178, np.int16), "action_mask": np.eye(58, dtype=np.int8)[3]}
print(bot.act(seen))
print([name for name in ("numba", "llvmlite", "scipy", "torch") if name in sys.modules])
"""


def test_a_reader_of_bots_needs_no_compiler(tmp_path: Path) -> None:
    assert output(READER, tmp_path).split("\n")[:2] == ["3", "[]"]


KERNELS = """
import sys, numba, numpy as np
from dominozoo import block_v0
env = block_v0.env()
env.reset(seed=1)
env.step(int(env.last()[0]["action_mask"].argmax()))
print("scipy.linalg" in sys.modules)
"""
ALGEBRA = "print(numba.njit(lambda a: np.dot(a, a))(np.full((2, 2), 2.0)).tolist())\n"


def test_games_import_no_linear_algebra(tmp_path: Path) -> None:
    assert output(KERNELS, tmp_path) == "False\n"


@pytest.mark.skipif(importlib.util.find_spec("scipy") is None, reason="needs SciPy")
def test_other_peoples_kernels_find_linear_algebra_all_the_same(tmp_path: Path) -> None:
    assert output(KERNELS + ALGEBRA, tmp_path) == "False\n[[8.0, 8.0], [8.0, 8.0]]\n"
