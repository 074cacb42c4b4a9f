"""The C program and the compiled random play count the same, so they play the same games."""

import shutil

import numpy as np
import numpy.typing as npt
import pytest

from dominozoo.line.batch import random_play
from dominozoo.rules import parse
from dominozoo.tables import Tables
from dominozoo_training.bench.c_program import CTables, compiler, defines
from dominozoo_training.bench.timing import Unavailable

TABLES = 64
CALLS = (1, 2, 3, 5, 13, 700)  # calls end in the middle of hands, at the pose, at the deal

GAMES = [
    "block",
    "block(players=3)",
    "block(players=4, target=7)",
    "draw",
    "draw(players=4)",
    "partnership",
    "partnership(opening=informal, decider=True, poser=team)",
    "partnership(tie=escalate, key_card=True, target=2)",
    "cutthroat(players=2, draw=True)",
    "cutthroat(players=3, broken=leader_loss, bruck=end, tie=void)",
    "six_love",
    "chiva",
    "chiva(players=3)",
]

needs_both = [
    pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler"),
    pytest.mark.skipif(
        not hasattr(random_play, "py_func"), reason="random play is compared as compiled"
    ),
]


def words() -> npt.NDArray[np.uint32]:
    return np.random.default_rng(3).integers(1, 1 << 32, TABLES, dtype=np.uint32)


def played_in_c(game: str, seed: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint32]]:
    tables, chosen, counts = CTables(parse(game), TABLES, seed), words(), np.zeros(16, np.int64)
    for moves in CALLS:
        tables.play(chosen, moves, counts)
    return counts, chosen


class TestBoth:
    pytestmark = needs_both

    @pytest.mark.parametrize("game", GAMES)
    def test_c_plays_the_same_games(self, game: str) -> None:
        counts, chosen = played_in_c(game, seed=5 + (9 << 32))
        tables, theirs = Tables(game, TABLES, seed=5 + (9 << 32)), np.zeros(16, np.int64)
        same = words()
        for moves in CALLS:
            random_play(tables.records, tables.packed, same, moves, theirs)
        assert counts.tolist() == theirs.tolist()
        assert chosen.tolist() == same.tolist()
        assert counts[0] == TABLES * sum(CALLS)
        assert counts[1] == counts[3:6].sum() > TABLES
        assert counts[3:5].sum() == counts[6:10].sum()
        assert counts[2] > 0

    def test_another_seed_plays_other_games(self) -> None:
        assert played_in_c("block", 1)[0].tolist() != played_in_c("block", 2)[0].tolist()

    @pytest.mark.parametrize("game", ["french", "truc"])
    def test_what_c_does_not_play_is_said(self, game: str) -> None:
        with pytest.raises(Unavailable, match=f"{game} is not played in C"):
            CTables(parse(game), 1, 1)

    def test_a_compiler_that_refuses_is_quoted_in_one_line(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("CC", "cc -fno-such-flag")
        with pytest.raises(Unavailable, match=r"cc refused the program: .*no-such-flag") as error:
            CTables(parse("block"), 1, 1)
        assert "\n" not in str(error.value)


def test_without_a_compiler_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(Unavailable, match="no C compiler found; install gcc or clang"):
        compiler()


def test_the_rules_become_macros() -> None:
    macros = defines(parse("six_love(target=9)"))
    assert {"-DPLAYERS=4", "-DTARGET=9", "-DKEY_CARD=1", "-DCROSS=0"} < set(macros)
