"""Each module's docstring is its manual, and says what the code does."""

import doctest
import importlib
import inspect
from typing import Any

import pytest

from dominozoo import manual
from dominozoo.fields import LINE_LAYOUT
from dominozoo.rules import VARIANTS

SECTIONS = [
    *("Sources", "Example", "At a glance", "Options", "Actions", "Observation", "Rewards"),
    "Version history",
]
GAMES = pytest.mark.parametrize("name", list(VARIANTS))


def module_of(name: str) -> Any:
    """The module of a game."""
    return importlib.import_module(f"dominozoo.{name}_v0")


def sections(name: str) -> list[str]:
    """The headings of a game's manual."""
    text = str(module_of(name).__doc__)
    return [line[3:] for line in text.splitlines() if line.startswith("## ")]


@GAMES
def test_a_manual_has_every_section_once(name: str) -> None:
    assert sections(name) == SECTIONS


@GAMES
def test_a_manual_lists_every_option_and_what_each_value_means(name: str) -> None:
    text = str(module_of(name).__doc__)
    for key, option in VARIANTS[name].options.items():
        row = next(line for line in text.splitlines() if line.startswith(f"| `{key}` "))
        cells = [cell.strip() for cell in row.strip("| ").split("|")]
        assert cells == [f"`{key}`", f"`{option.default!r}`", option.takes(), option.meaning]
        for value, words in zip(option.values, option.says, strict=False):
            assert f"* `{value}`: {words}" in text


@GAMES
def test_a_manual_names_the_arguments_of_the_environment(name: str) -> None:
    text = str(module_of(name).__doc__)
    module = module_of(name)
    given = inspect.signature(module.raw_env.__init__).parameters
    for key, parameter in given.items():
        if parameter.kind is parameter.KEYWORD_ONLY:
            assert f"| `{key}` " in text
            assert f"`{parameter.default!r}`" in text


@GAMES
def test_a_manual_tells_the_spaces(name: str) -> None:
    module = module_of(name)
    env, text = module.raw_env(), str(module.__doc__)
    spaces = env.observation_space("player_0").spaces
    assert f"`Discrete({env.action_space('player_0').n})`" in text
    assert f"`int16 {spaces['observation'].shape}`" in text
    assert f"`int8 {spaces['action_mask'].shape}`" in text
    assert env.metadata["name"] == f"{name}_v0" == str(module.env())


@GAMES
def test_the_example_of_a_manual_is_found_by_doctest(name: str) -> None:
    tests = doctest.DocTestFinder().find(module_of(name))
    assert next(len(t.examples) for t in tests if t.name == f"dominozoo.{name}_v0") >= 2


def test_options_that_have_words_have_them_for_every_value() -> None:
    for variant in VARIANTS.values():
        for name, option in variant.options.items():
            assert not option.says or len(option.says) == len(option.values), name
            assert option.source or name in ("players", "target")


def test_the_table_of_fields_covers_the_vector() -> None:
    rows = manual.fields(LINE_LAYOUT).splitlines()[2:]
    spans = [row.strip("| ").split("|")[0].strip().split("..") for row in rows]
    assert [int(span[0]) for span in spans[1:]] == [int(span[-1]) + 1 for span in spans[:-1]]
    assert int(spans[-1][-1]) == LINE_LAYOUT.size - 1


def test_a_manual_without_its_module_s_text_is_the_tables_alone() -> None:
    text = manual.manual("block", None)
    assert text.startswith("## At a glance")
    assert "Version history" not in text
