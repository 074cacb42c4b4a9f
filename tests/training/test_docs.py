"""The examples of the documentation run.

Python blocks are executed, a page at a time. In console blocks every `$ dominozoo ...` line is run
in an empty folder and must succeed; what the page shows below it must be what comes out (`...`
stands for anything). Every `$ make ...` line must name targets of the Makefile. A block after
`<!--- skip: next -->` is for reading only.
"""

import doctest
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from sybil import Document, Example
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser, SkipParser
from sybil.typing import Parser

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def commands(block: str) -> Iterator[tuple[str, str]]:
    """The commands of a console block, each with the output shown below it."""
    for piece in re.split(r"^\$ ", block.replace("\\\n", " "), flags=re.MULTILINE)[1:]:
        command, _, shown = piece.partition("\n")
        yield command.partition("  # ")[0].strip(), shown.strip()


def run(command: str, cwd: Path) -> str:
    """Run one `dominozoo` command of this environment."""
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
    for command, shown in commands(block):
        program, *words = shlex.split(command)
        if program == "make":
            assert {word for word in words if "=" not in word} <= targets, command
        if program == "dominozoo":
            got = run(command, cwd)
            assert not shown or doctest.OutputChecker().check_output(shown, got, options), (
                f"{command}\n{got}"
            )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_examples_of_a_page_run(page: Path, tmp_path: Path) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z]+):", makefile, flags=re.MULTILINE))

    def console(example: Example) -> None:
        check(example.parsed, tmp_path, targets)

    parsers: list[Parser] = [
        PythonCodeBlockParser(),
        CodeBlockParser("console", console),
        SkipParser(),
    ]
    for example in Document.parse(str(page), *parsers).examples():
        example.evaluate()


def test_a_wrong_example_is_found(tmp_path: Path) -> None:
    for block in ("dominozoo no-such-command", "make no-such-target"):
        with pytest.raises(AssertionError):
            check(f"$ {block}\n", tmp_path, {"test"})


def test_the_readme_has_examples() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "```python" in text
    assert "$ make test" in text
