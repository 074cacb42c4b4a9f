"""What the documentation's build makes from the code."""

import importlib.util
import json
import re
from pathlib import Path
from typing import Any

import pytest

from dominozoo.bots.bundle import read_bundle
from dominozoo.bots.network import Shape
from dominozoo.bots.shipping import SHIPPED
from dominozoo.bots.truc_network import TrucShape
from dominozoo.fields import LINE_LAYOUT
from dominozoo.rules import VARIANTS
from dominozoo.truc.position import KINDS

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


def test_what_follows_from_the_rules_is_told_for_every_line_game(hooks: Any) -> None:
    lines = hooks.insert_rules_seen().splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert rows[0][2:] == [f"`{game}`" for game in VARIANTS if game != "truc"]
    assert [row[0] for row in rows[2:]] == [str(k) for k in range(163, 178)]
    found = {row[1]: dict(zip(rows[0][2:], row[2:], strict=True)) for row in rows[2:]}
    assert set(found["`tie`"].items()) >= {("`block`", "0"), ("`six_love`", "3")}
    assert (found["`scoring`"]["`french`"], found["`players`"]["`draw`"]) == ("2", "2")


def test_the_view_of_le_truc_is_one_that_hides_a_call(hooks: Any) -> None:
    text = hooks.insert_truc_view().partition("```json")[2].partition("```")[0]
    view = json.loads(text)
    assert view["trick"]["called"] == {"seat": 1, "tile": None}
    assert [e["kind"] for e in view["events"]] == ["propose", "accept", "redeal", "play", "double"]
    assert [move["id"] for move in view["legal"]] == [58, 59]
    assert (view["redeals"], len(view["discards"])) == (1, 3)


def columns(text: str, head: str, **sizes: int) -> int:
    """How many columns a table of the network's page names."""
    table = text.partition(f"| columns | {head} |\n|---|---|\n")[2].partition("\n\n")[0]
    cells = [line.split("|")[1].strip() for line in table.splitlines()]
    assert cells
    return sum(int(eval(cell, {}, dict(sizes))) for cell in cells)


@pytest.mark.parametrize(("ends", "seats"), [(2, 2), (2, 4), (4, 4)])
def test_the_columns_of_the_line_games_network_are_all_told(ends: int, seats: int) -> None:
    page = (ROOT / "docs" / "reference" / "bundle.md").read_text("utf-8")
    text, shape = page.partition("### `line-afterstate/1`")[2], Shape(ends, seats)
    row = columns(text, "row", E=ends, S=seats)
    assert row == shape.number_columns
    assert columns(text, "state", S=seats) == shape.state_columns
    assert columns(text, "action", S=seats, R=row) == shape.action_columns


def test_the_columns_of_le_truc_s_network_are_all_told() -> None:
    page = (ROOT / "docs" / "reference" / "bundle.md").read_text("utf-8")
    text, shape = page.partition("### `truc-actions/1`")[2], TrucShape()
    state = columns(text, "state")
    assert state == shape.value_columns
    assert state + columns(text, "action") == shape.score_columns


def test_the_golden_games_show_all_but_what_the_page_names() -> None:
    page = (ROOT / "docs" / "reference" / "bundle.md").read_text("utf-8")
    assert "| Le Truc: a void round; one worth 16 or 32 |" in page
    assert "| French: joint winners |" in page
    for path in sorted(SHIPPED.glob("*.dombot")):
        bundle = read_bundle(path)
        rules, text = bundle.rules, bundle.members["games.jsonl"].decode()
        lines = [line for game in text.splitlines() for line in json.loads(game)["record"][1:]]
        ends = [line for line in lines if line["kind"] == "hand_end"]
        kinds = {line["kind"] for line in lines}
        reasons, effects = ({line[key] for line in ends} for key in ("reason", "effect"))
        if rules.game == "truc":
            assert kinds == {*KINDS, "hand", "hand_end", "match_end"}
            assert reasons == {"tricks", "fold"}
            assert max(line["points"] for line in ends) == 8
            assert effects == {None, "match"}
            continue
        drawn = {"draw"} if rules.value("draw", False) and rules.players < 4 else set()
        assert kinds == {"play", "pass", "hand", "hand_end", "match_end", *drawn}, path
        french, scores_pips = rules.game == "french", rules.value("scoring", "wins") != "wins"
        assert reasons == {"out", "block"} | (set() if french else {"tie"}), path
        assert effects == {None, "match"} | (set() if scores_pips else {"reset"}), path
        assert any(line["key"] for line in ends) == bool(rules.value("key_card", False)), path
        if french:
            assert all(len(w["winners"]) == 1 for w in lines if w["kind"] == "match_end")
