"""What the package's start spares: time and memory of libraries that nobody asked for."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

from dominozoo.tables import Tables


def output(code: str, cwd: Path, given: str = "") -> str:
    """What a fresh interpreter prints, given its input."""
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(
        command, cwd=cwd, input=given, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


READER = """
import json, sys, numpy as np, dominozoo
bot = dominozoo.load_bot("block")
row = np.array(json.loads(sys.stdin.read()), np.int16)
print(bot.act({"observation": row, "action_mask": np.eye(58, dtype=np.int8)[3]}))
print([name for name in ("numba", "llvmlite", "scipy", "torch") if name in sys.modules])
"""


def test_a_reader_of_bots_needs_no_compiler(tmp_path: Path) -> None:
    seen = json.dumps(Tables("block", 1, seed=1).observation[0].tolist())
    assert output(READER, tmp_path, seen).split("\n")[:2] == ["3", "[]"]


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
