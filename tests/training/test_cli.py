"""The command line as such: its version, the remedy for what is missing, names of files."""

import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import dominozoo
from dominozoo_training.cli import app

CHECKPOINT = Path(__file__).resolve().parents[2] / "checkpoints" / "block_v0"
WITHOUT_TORCH = (
    "import sys; sys.modules['torch'] = None\nfrom dominozoo_training.cli import main; main()"
)


def test_the_version_is_told() -> None:
    result = CliRunner().invoke(app, ["--version"])
    assert result.exit_code == 0
    assert result.output == f"dominozoo {dominozoo.__version__}\n"


@pytest.mark.parametrize(
    ("words", "extras"),
    [
        (["train", "block"], "train"),
        (["export", str(CHECKPOINT), "--out", "x.dombot"], "train,export"),
        (["arena", "block", "--players", f"{CHECKPOINT},hard", "--deals", "1"], "train"),
    ],
    ids=["train", "export", "arena"],
)
def test_without_torch_a_command_says_what_to_install(
    tmp_path: Path, words: list[str], extras: str
) -> None:
    command = [sys.executable, "-c", WITHOUT_TORCH, *words]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    [line] = result.stderr.splitlines()
    assert "torch" in line
    assert f"pip install -e '.[{extras}]' -c constraints.txt" in line
    assert f"pip install 'dominozoo[{extras}]'" in line


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["block", "--from", ""], "--from: names no policy; leave it out"),
        (["block", "--from", "hard"], "start: hard is no folder of a policy or a run; name the"),
        (["block", "start=x.dombot"], "start: x.dombot is no folder of a policy or a run"),
        (["block", "sede=1"], "unknown key 'sede'"),
        (["blok"], "did you mean 'block'?"),
    ],
    ids=["nothing", "from", "start", "key", "game"],
)
def test_what_is_wrong_in_the_words_of_train_is_told_before_torch_is_loaded(
    tmp_path: Path, words: list[str], message: str
) -> None:
    command = [sys.executable, "-c", WITHOUT_TORCH, "train", *words]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    [line] = result.stderr.splitlines()
    assert message in line


@pytest.mark.parametrize("name", ["x.zip", "x", "x.dombot.bak"])
def test_a_bot_s_file_needs_its_ending(tmp_path: Path, name: str) -> None:
    result = CliRunner().invoke(app, ["export", str(CHECKPOINT), "--out", str(tmp_path / name)])
    assert result.exit_code == 2
    assert "must end in .dombot" in result.output
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["x.png", "x"])
def test_an_animation_needs_its_ending(tmp_path: Path, name: str) -> None:
    pytest.importorskip("PIL")
    words = ["watch", "block", "--gif", str(tmp_path / name), "--delay", "0"]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 2
    assert "must end in .gif" in result.output
    assert not list(tmp_path.iterdir())
