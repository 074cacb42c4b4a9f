"""What the documentation's build makes from the code."""

import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest

from dominozoo.fields import LINE_LAYOUT
from dominozoo.rules import VARIANTS

pytest.importorskip("mkdocs", reason="the extra docs is not installed")

from mkdocs.exceptions import PluginError

ROOT = Path(__file__).resolve().parents[2]
INSERTED = [
    (page, found)
    for page in sorted((ROOT / "docs").rglob("*.md"))
    for found in re.findall(r"^<!-- insert: (.*?) -->$", page.read_text("utf-8"), re.MULTILINE)
]


@pytest.fixture(scope="module")
def hooks() -> Any:
    """The build's hooks, which are no module of the packages."""
    spec = importlib.util.spec_from_file_location("docs_hooks", ROOT / "docs" / "hooks.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(("page", "words"), INSERTED, ids=[f"{p.stem}-{w}" for p, w in INSERTED])
def test_an_insert_gives_what_it_names(hooks: Any, page: Path, words: str) -> None:
    name, *rest = words.split()
    text = hooks.INSERTS[name](*rest)
    assert any(mark in text for mark in ("| --- |", "```"))


def test_every_option_is_explained_on_a_page_of_rules(hooks: Any) -> None:
    asked = {w for _, words in INSERTED for w in words.split() if words.startswith("options")}
    options = {name for v in VARIANTS.values() for name in v.options}
    assert options - {"players"} <= asked


def test_an_option_is_told_with_each_game_s_own_default_and_values(hooks: Any) -> None:
    for name in {name for v in VARIANTS.values() for name in v.options}:
        rows = [line for line in hooks.insert_options(name).splitlines() if "](../games/" in line]
        cells = [[cell.strip() for cell in row.strip("|").split(" | ")] for row in rows]
        assert cells == [
            [f"[`{game}`](../games/{game}.md)", f"`{o.default!r}`", o.takes()]
            for game, v in VARIANTS.items()
            for o in filter(None, [v.options.get(name)])
        ]


def test_every_command_is_told_with_its_arguments(hooks: Any) -> None:
    text = hooks.insert_commands()
    for command in ("list", "arena", "train", "play", "watch", "export", "verify", "info", "bench"):
        assert f"## dominozoo {command}\n" in text
    assert "| `--deals`" in text
    assert "must be given" in text


def test_the_fields_of_a_layout_are_all_there(hooks: Any) -> None:
    text = hooks.insert_fields("line")
    for field in LINE_LAYOUT.fields:
        assert f"| `{field.name}`" in text
        assert field.meaning in text


@pytest.mark.parametrize("game", list(VARIANTS))
def test_a_game_s_page_is_its_manual(hooks: Any, game: str) -> None:
    text = hooks.game_page(game)
    assert text.startswith(f"# {VARIANTS[game].title}\n")
    assert "```pycon\n>>> " in text
    assert "    >>> " not in text
    assert "## Observation" in text


def test_every_example_is_shown_with_its_first_line(hooks: Any) -> None:
    text = hooks.insert_examples()
    for path in (ROOT / "examples").glob("*.py"):
        assert f"### {path.name}\n" in text
        assert path.read_text("utf-8").splitlines()[-1] in text


def test_docstrings_lose_their_roles_and_fence_their_doctests(hooks: Any) -> None:
    text = "See :func:`~dominozoo.rules.parse`.\n\n>>> 1 + 1\n2\n\nMore."
    want = "See `dominozoo.rules.parse`.\n\n```pycon\n>>> 1 + 1\n2\n```\n\nMore.\n"
    assert hooks.as_markdown(text) == want


def test_a_page_that_fetches_from_elsewhere_is_refused(hooks: Any) -> None:
    class Source:
        src_uri = "page.md"

    class Page:
        file = Source

    link = '<a href="https://example.org">x</a><img src="../x.svg">'
    hooks.on_post_page(link, page=Page, config=None)
    for tag in ('<script src="https://example.org/x.js">', '<link rel="x" href=//example.org/x>'):
        with pytest.raises(PluginError, match=r"example\.org"):
            hooks.on_post_page(tag, page=Page, config=None)
