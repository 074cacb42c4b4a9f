"""Levels: how a policy is spoilt, and what a manifest may say of it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dominozoo import load_bot
from dominozoo.bots.archive import BundleError
from dominozoo.bots.levels import AtLevel, Level, at_level, choose, heated, read_levels
from dominozoo.bots.shipping import SHIPPED
from dominozoo.tables import Tables

CHANCES = np.array([[0.0, 0.5, 0.0, 0.25, 0.25, 0.0]], np.float32)
MASK = np.array([[0, 1, 0, 1, 1, 1]], np.int8)  # the last is legal, and its chance was rounded to 0


def test_heat_sharpens_and_flattens() -> None:
    assert heated(CHANCES, 0).tolist() == [[0, 1, 0, 0, 0, 0]]
    assert heated(CHANCES, 1).tolist() == CHANCES.tolist()
    np.testing.assert_allclose(heated(CHANCES, 2)[0, 3] / heated(CHANCES, 2)[0, 1], 0.5**0.5)
    assert heated(CHANCES[:, [3, 4]], 0).tolist() == [[1, 0]]  # of equals the first
    assert heated(np.array([[1e-38, 1.0]], np.float32), 0.05)[0].tolist() == [0, 1]


def test_blunders_are_any_legal_moves() -> None:
    np.testing.assert_allclose(at_level(CHANCES, MASK, Level(1, 0)), MASK / 4)
    found = at_level(CHANCES, MASK, Level(0.4, 0))
    np.testing.assert_allclose(found, [[0, 0.7, 0, 0.1, 0.1, 0.1]])
    np.testing.assert_allclose(at_level(CHANCES, MASK, Level(0, 1)), CHANCES)


@pytest.mark.parametrize("level", [Level(0.3, 2), Level(0.6, 0), Level(0, 1), Level(1, 1)])
def test_what_is_chosen_follows_the_chances(level: Level) -> None:
    count = 20_000
    first, second = np.random.default_rng(3).random((2, count))
    many = np.repeat(CHANCES, count, 0), np.repeat(MASK, count, 0)
    drawn = np.bincount(choose(*many, level, first, second), minlength=6) / count
    np.testing.assert_allclose(drawn, at_level(CHANCES, MASK, level)[0], atol=0.012)


def test_the_two_numbers_decide() -> None:
    def one(first: float, second: float, level: Level) -> int:
        numbers = (np.array([u]) for u in (first, second))
        return int(choose(CHANCES, MASK, level, *numbers)[0])

    assert [one(0.29, k / 4, Level(0.3, 0)) for k in range(4)] == [1, 3, 4, 5]
    assert [one(0.3, k / 4, Level(0.3, 0)) for k in range(4)] == [1, 1, 1, 1]
    assert [one(0.3, k / 4, Level(0.3, 1)) for k in range(4)] == [1, 1, 3, 4]


def manifest(**changes: Any) -> dict[str, Any]:
    levels = {
        "easy": {"blunder": 0.6, "temperature": 0, "strength": "not measured"},
        "normal": {"blunder": 0.25, "temperature": 0.0},
        "hard": {"blunder": 0, "temperature": 1, "more": "is ignored"},
    }
    return {"select": {"default": "greedy"}, "levels": {**levels, **changes}}


def test_levels_are_read() -> None:
    found = read_levels(manifest())
    assert list(found) == ["easy", "normal", "hard"]
    assert found == {"easy": (0.6, 0), "normal": (0.25, 0), "hard": (0, 1)}


def test_a_bundle_that_names_none_has_those_it_was_always_played_with() -> None:
    assert read_levels({}) == {"easy": (0.6, 0), "normal": (0.25, 0), "hard": (0, 0)}
    assert read_levels({"select": {"default": "sampled"}})["hard"] == (0, 1)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"levels": []}, "levels must be an object of easy, normal, hard"),
        (manifest(grand={"blunder": 0, "temperature": 0}), "levels must be an object of"),
        ({"levels": {}}, "levels must be an object of"),
        (manifest(easy=0.6), r"levels\.easy\.blunder must be a number in 0\.\.1"),
        (manifest(easy={"blunder": 0.5}), r"levels\.easy\.temperature must be a number in 0\.\.10"),
        (manifest(hard={"blunder": 1.5, "temperature": 0}), r"hard\.blunder"),
        (manifest(hard={"blunder": True, "temperature": 0}), r"hard\.blunder"),
        (manifest(hard={"blunder": "0", "temperature": 0}), r"hard\.blunder"),
        (manifest(hard={"blunder": 0, "temperature": -1}), r"hard\.temperature"),
        (manifest(hard={"blunder": 0, "temperature": 10**400}), r"hard\.temperature"),
        ({"select": {"default": "best"}}, "select.default must be 'greedy' or 'sampled'"),
        ({"select": "greedy"}, "select.default must be"),
    ],
)
def test_levels_that_cannot_be(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(BundleError, match=words):
        read_levels(wrong)


@pytest.mark.parametrize("game", ["block", "truc"])
def test_a_bot_plays_at_a_level(game: str) -> None:
    bot, tables = load_bot(game), Tables(game, 256, seed=5)
    seen, mask = tables.observation, tables.mask
    for name, level in bot.bundle.levels.items():
        first, second = np.random.default_rng(1).random((2, len(seen)))
        right = choose(bot.probabilities(seen, mask), mask, level, first, second)
        assert (bot.act(seen, mask, level=name, rng=np.random.default_rng(1)) == right).all()
        chances = AtLevel(bot, level).probabilities(seen, mask)
        np.testing.assert_allclose(chances.sum(axis=1), 1)
    one = bot.act(seen[0], mask[0], level="easy", rng=np.random.default_rng(1))
    assert isinstance(one, int)
    assert mask[0, one]
    with pytest.raises(ValueError, match="level must be one of easy, normal, hard, not 'best'"):
        bot.act(seen, mask, level="best")
    with pytest.raises(ValueError, match="give level or greedy, not both"):
        bot.act(seen, mask, level="easy", greedy=True)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no figures of memory")
def test_a_bot_takes_little_memory_and_no_compiler(tmp_path: Path) -> None:
    code = """
import sys
import numpy
def resident():
    line = next(x for x in open("/proc/self/status") if x.startswith("VmRSS"))
    return int(line.split()[1])
start = resident()
import dominozoo
imported = resident()
bot = dominozoo.load_bot(sys.argv[1])
loaded = resident()
observation = numpy.zeros((1, bot.bundle.shape.layout.size), numpy.int16)
bot.network.evaluate(observation, numpy.ones((1, bot.bundle.action_count), numpy.int8))
print(imported - start, loaded - imported, resident() - loaded, "numba" in sys.modules)
"""
    for path in sorted(SHIPPED.glob("*.dombot")):
        command = [sys.executable, "-c", code, str(path)]
        run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stderr
        *kilobytes, compiler = run.stdout.split()
        assert compiler == "False"
        assert sum(map(int, kilobytes)) < 30 << 10, run.stdout
