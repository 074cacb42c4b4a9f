"""The kernels as plain Python: the same games as compiled, and sound by themselves."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from dominozoo.tables import Tables

GAMES = [
    "block",
    "block(players=3)",
    "draw",
    "draw(players=3)",
    "partnership",
    "cutthroat(players=2, draw=True, tie=escalate)",
    "chiva(players=3)",
    "french",
]


def play(game: str, steps: int = 60) -> str:
    """Play pseudo-random legal moves on three tables; the digest of everything seen."""
    tables = Tables(game, 3, seed=5)
    digest = hashlib.sha256()
    rng = np.random.default_rng(0)
    for _ in range(steps):
        tables.step((tables.mask * rng.random(tables.mask.shape)).argmax(axis=1))
        for array in (tables.observation, tables.mask, tables.turn, tables.reward):
            digest.update(array.tobytes())
        digest.update(tables.records.tobytes())
    return digest.hexdigest()


def test_compiled_and_plain_kernels_play_the_same_games(tmp_path: Path) -> None:
    code = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n" + (
        "import numba\nfrom test_plain import GAMES, play\n"
        "assert numba.config.DISABLE_JIT\nprint(*map(play, GAMES))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout.split() == [play(game) for game in GAMES]


@pytest.mark.plain
@pytest.mark.parametrize("game", GAMES)
def test_every_tile_is_in_one_place_only(game: str) -> None:
    tables = Tables(game, 2, seed=9)
    rng = np.random.default_rng(1)
    for _ in range(80):
        tables.step((tables.mask * rng.random(tables.mask.shape)).argmax(axis=1))
        for record in tables.records:
            places = [*record["hands"], record["laid"]]
            union = np.bitwise_or.reduce(places)
            count = sum(int(place).bit_count() for place in places)
            assert int(union).bit_count() == count
            assert [int(hand).bit_count() for hand in record["hands"]] == list(record["sizes"])
            # Three seats at Cutthroat leave 0-0 out; Block and Chiva leave tiles undealt.
            assert count + record["boneyard"] <= 28
