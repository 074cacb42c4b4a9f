"""What commands say while kernels are compiled for the first time."""

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from dominozoo import block_v0
from dominozoo.notation import write_record
from dominozoo_training.cli import app
from dominozoo_training.compiling import notice
from dominozoo_training.evaluation.review import value_line, value_truc
from dominozoo_training.evaluation.review_command import kernels_of, prepare


def test_an_empty_cache_of_kernels_is_told_of(tmp_path: Path) -> None:
    def told(cache: Any, search: str | None = None) -> str:
        kernel = SimpleNamespace(_cache=cache, __name__="step_tables")
        return notice(kernel, search and SimpleNamespace(_cache=cache, __name__=search))

    empty = SimpleNamespace(cache_path=str(tmp_path))
    assert told(empty) == "compiling the kernels, once; this takes a while"
    assert "that search, once" in told(empty, "choose_tables")
    (tmp_path / "batch.step_tables-1.py311.nbi").touch()
    assert told(empty) == ""
    assert "that search, once" in told(empty, "choose_tables")
    (tmp_path / "search.choose_tables-1.py311.nbi").touch()
    assert told(empty, "choose_tables") == ""
    assert "NUMBA_CACHE_DIR" in told(SimpleNamespace(cache_path=None))
    assert notice(print) == "", "as without the compiler"


TRAINED = "rollout.tables=128 ppo.minibatch=128 rollout.steps=4 evaluation.final_deals=50"
ENDS = "evaluation.opponents=[random] budget.decisions=512 budget.minutes=null"


@pytest.mark.parametrize(
    "words",
    [
        "arena block --players hard,random --deals 2",
        "arena truc --players search(deals=2),random --deals 2",
        "review block --games 1 --deals 1",
        "review truc --games 1 --deals 1",
        "watch truc --delay 0 --players hard,search(deals=2)",
        "play block --hands 1",
        "verify french",
        f"train block {TRAINED} {ENDS} --out run",
        "exploit random block rollout.tables=128 ppo.minibatch=128 --minutes 0.01 --deals 10",
    ],
)
def test_a_command_looks_for_kernels_that_it_needs(words: str, tmp_path: Path) -> None:
    """What it never compiles is never kept: it would tell of compiling at every start."""
    code = (
        "import sys, dominozoo_training.cli as cli\n"
        "asked = []\n"
        "cli.say_if_compiling = lambda *kernels: asked.extend(filter(None, kernels))\n"
        "cli.app(sys.argv[1:], standalone_mode=False)\n"
        "assert asked and all(kernel.signatures for kernel in asked), asked\n"
    )
    command = [sys.executable, "-c", code, *words.split(" ")]
    keys = "".join(f"{key}\n" for key in range(1, 9)) * 20  # one of them is a move
    done = subprocess.run(
        command, cwd=tmp_path, input=keys, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_a_review_of_files_compiles_for_the_game_in_them(tmp_path: Path) -> None:
    env = block_v0.raw_env()
    env.reset(seed=1)
    write_record(tmp_path / "game.jsonl", env.record())
    assert (
        kernels_of(prepare([str(tmp_path / "game.jsonl")], None, None, page=False))[1] is value_line
    )
    assert kernels_of(prepare(["truc"], None, 1, page=False))[1] is value_truc
    (tmp_path / "bad.jsonl").write_text('{"kind": "game", "game": "chess"}\n')
    wanted = prepare([str(tmp_path / "bad.jsonl")], None, None, page=False)
    assert kernels_of(wanted) == (None, None)


@pytest.mark.parametrize("words", [["verify", "block"], ["review", "block", "--games", "1"]])
def test_it_is_said_once_on_stderr(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dominozoo_training.compiling.notice", lambda *_: "compiling")
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0
    assert result.stderr.count("dominozoo: compiling\n") == 1
