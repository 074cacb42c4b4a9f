"""The examples of the documentation run.

Python blocks are executed, a page at a time, in an empty folder. In console blocks every `$ dominozoo
...` and `$ python ...` line is run there and must succeed; what the page shows below it must be what
comes out (`...` stands for anything). Every `$ make ...` line must name targets of the Makefile, other
programs may not stand there. `<!-- file: NAME -->` keeps the Python block below it as a file, and
`<!--- skip: next "reason" -->` leaves a block for reading only, with its reason.
"""

import contextlib
import doctest
import os
import re
import shlex
import subprocess
import sys
import unittest
from collections.abc import Iterator
from pathlib import Path

import pytest
from sybil import Document, Example
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser, SkipParser
from sybil.typing import Parser

from dominozoo.rules import VARIANTS

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
# What a fence may say: with anything else the examples below it would not be found.
FENCE = re.compile(r"^ *```(.*)$", re.MULTILINE)
LANGUAGES = {"", "python", "console", "json", "yaml", "text"}
FILE = re.compile(r"^<!-- file: (\w+\.py) -->\n```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SKIP = re.compile(r"<!---? *skip:(.*)-->")


def commands(block: str) -> Iterator[tuple[str, str]]:
    """The commands of a console block, each with the output shown below it."""
    for piece in re.split(r"^\$ ", block.replace("\\\n", " "), flags=re.MULTILINE)[1:]:
        command, _, shown = piece.partition("\n")
        yield command.partition("  # ")[0].strip(), shown.strip()


def run(command: str, cwd: Path) -> str:
    """Run one command of this environment."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    result = subprocess.run(
        shlex.split(command),
        cwd=cwd,
        env={**os.environ, "PATH": path, "COLUMNS": "100"},
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    assert result.returncode == 0, f"{command}\n{result.stdout}{result.stderr}"
    return result.stdout


def check(block: str, cwd: Path, targets: set[str]) -> None:
    """Check the commands of one console block."""
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    found = list(commands(block))
    assert found, f"no command in {block!r}"
    for command, shown in found:
        program, *words = shlex.split(command)
        assert program in ("make", "dominozoo", "python"), f"{command}: skip it, with the reason"
        if program == "make":
            assert {word for word in words if "=" not in word} <= targets, command
            continue
        got = run(command, cwd)
        assert not shown or doctest.OutputChecker().check_output(shown, got, options), (
            f"{command}\n{got}"
        )


def run_page(page: Path, cwd: Path, targets: set[str]) -> int:
    """Run the examples of a page; returns how many were not skipped."""
    for name, code in FILE.findall(page.read_text(encoding="utf-8")):
        (cwd / name).write_text(code, encoding="utf-8")

    def console(example: Example) -> None:
        check(example.parsed, cwd, targets)

    parsers: list[Parser] = [
        PythonCodeBlockParser(),
        CodeBlockParser("console", console),
        SkipParser(),
    ]
    count = 0
    for example in Document.parse(str(page), *parsers).examples():
        with contextlib.suppress(unittest.SkipTest):
            example.evaluate()
            count += 1
    return count


def make_targets() -> set[str]:
    """The targets of the Makefile."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    return set(re.findall(r"^([a-z][a-z-]*):", makefile, flags=re.MULTILINE))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_examples_of_a_page_run(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run_page(page, tmp_path, make_targets())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_example_of_a_page_is_missed(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    fences = FENCE.findall(text)
    assert set(fences) <= LANGUAGES
    assert len(fences) % 2 == 0
    for words in SKIP.findall(text):
        assert re.fullmatch(r' next "[^"]{10,}" ', words), f"a skip needs its reason: {words}"


def test_a_wrong_example_is_found(tmp_path: Path) -> None:
    for block in (
        *("$ dominozoo no-such-command", "$ make no-such-target", "$ pip install x", "list"),
        "$ dominozoo list\nthe wrong output",
    ):
        with pytest.raises(AssertionError):
            check(f"{block}\n", tmp_path, {"test"})
    page = tmp_path / "page.md"
    page.write_text("```python\nassert 1 + 1 == 3\n```\n", encoding="utf-8")
    with pytest.raises(AssertionError):
        run_page(page, tmp_path, set())


def test_a_skipped_example_is_not_run(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    text = '<!--- skip: next "for reading" -->\n```python\n1 / 0\n```\n\n```python\nx = 1\n```\n'
    page.write_text(text, encoding="utf-8")
    assert run_page(page, tmp_path, set()) == 2  # the line that skips, and the last block


@pytest.mark.parametrize("game", list(VARIANTS))
def test_the_readme_lists_every_game_with_its_options(game: str) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    options = {name for name in VARIANTS[game].options if name not in ("players", "target")}
    row = next(line for line in text.splitlines() if line.startswith(f"| `{game}_v0` "))
    assert set(re.findall(r"`(\w+)`", row)) == {f"{game}_v0", *options}
    assert f"| `{game}` |" in text.partition("## Strength")[2]


def test_the_readme_has_examples() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 200
    assert "```python" in text
    assert "$ make test" in text
