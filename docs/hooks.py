"""What MkDocs makes from the code while it builds the pages; nothing generated is committed.

* ``games/<game>.md``: the manual, which is the docstring of the game's module;
* ``internal/*.md``: the pages at the repository's root;
* a line ``<!-- insert: WHAT WORDS -->`` in a page: what the function of that name in ``INSERTS`` gives;
* docstrings: doctests become code blocks, and the roles of Sphinx plain code.

A page that would fetch anything from elsewhere when it is read fails the build.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import re
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import griffe
import typer.main
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from dominozoo import fields, manual
from dominozoo.bots import DESCRIPTIONS, TRUC_DESCRIPTIONS
from dominozoo.bots.bundle import load_bot
from dominozoo.notation import new_game
from dominozoo.rules import LINE, VARIANTS, make_rules

ROOT: Final = Path(__file__).resolve().parents[1]
ROOT_PAGES: Final = ("ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")
LAYOUTS: Final = {
    layout.name: layout
    for layout in (
        *(fields.LINE_LAYOUT, fields.LINE_STATE_LAYOUT),
        *(fields.TRUC_LAYOUT, fields.TRUC_STATE_LAYOUT),
    )
}
REMOTE: Final = re.compile(r"""<(?!a\b)[a-z][^>]*\s(?:src|href)=["']?((?:https?:)?//[^"'>\s]*)""")
INSERT: Final = re.compile(r"^<!-- insert: (\w+) ?(.*?) -->$", re.MULTILINE)
ROLE: Final = re.compile(r":(?:class|func|meth|mod|attr):`~?([^`]+)`")
DOCTEST: Final = re.compile(r"^( *)>>> .*\n(?:\1\S.*\n|\1 +\S.*\n)*", re.MULTILINE)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made from other files."""
    for game in VARIANTS:
        files.append(File.generated(config, f"games/{game}.md", content=game_page(game)))
    for name in ROOT_PAGES:
        text = re.sub(r"\]\((\w+)\.md\)", lambda m: f"]({m[1].lower()}.md)", read(name))
        files.append(File.generated(config, f"internal/{name.lower()}", content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Put what is asked for in the place of each ``insert`` line."""
    return INSERT.sub(lambda m: INSERTS[m[1]](*m[2].split()), markdown)


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> None:
    """Refuse a page that would fetch anything from elsewhere when it is read."""
    found = REMOTE.search(output)
    if found:
        raise PluginError(f"{page.file.src_uri}: fetches {found[1]}")


class Docstrings(griffe.Extension):
    """Docstrings as Markdown."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of one object."""
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)


def as_markdown(text: str) -> str:
    """Fence the doctests of a docstring and make plain code of its roles."""
    return DOCTEST.sub(fence, ROLE.sub(r"`\1`", text) + "\n")


def fence(found: re.Match[str]) -> str:
    """A doctest as a fenced block, at the margin."""
    indent = len(found[1])
    lines = [line[indent:] for line in found[0].splitlines()]
    return "\n".join(["```pycon", *lines, "```"]) + "\n"


def read(name: str) -> str:
    """A text file of the repository."""
    return (ROOT / name).read_text(encoding="utf-8")


def game_page(game: str) -> str:
    """A game's manual as a page."""
    module = importlib.import_module(f"dominozoo.{game}_v0")
    first, _, rest = as_markdown(str(module.__doc__)).partition("\n")
    rules = {"block": "line", "draw": "line", "french": "french", "truc": "truc"}
    link = f"../rules/{rules.get(game, 'caribbean')}.md"
    note = f"The rules in full, with sources and worked examples, are on [their own page]({link})."
    return f"# {VARIANTS[game].title}\n\n**{first}**\n\n{note}\n{rest}"


def insert_fields(layout: str) -> str:
    """The fields of a layout."""
    return manual.fields(LAYOUTS[layout])


def insert_options(*names: str) -> str:
    """What each value of some options means, and which games take them."""
    parts = []
    for name in names:
        takers = [game for game, v in VARIANTS.items() if name in v.options]
        option = VARIANTS[takers[0]].options[name]
        words = manual.values(name, option) if option.says else f"`{name}`: {option.meaning}."
        parts.append(f"### `{name}`\n\n{words}\n\n{defaults(name, takers)}")
    return "\n\n".join(parts)


def defaults(name: str, takers: Sequence[str]) -> str:
    """An option's default and values, game by game."""
    rows = []
    for game in takers:
        option = VARIANTS[game].options[name]
        rows.append((f"[`{game}`](../games/{game}.md)", f"`{option.default!r}`", option.takes()))
    return manual.table(("game", "default", "takes"), rows)


def insert_games() -> str:
    """The games, what they take, and where their manuals are."""
    rows = []
    for game, variant in VARIANTS.items():
        players = variant.options["players"].takes()
        named = [f"`{n}`" for n in variant.options if n not in ("players", "target")]
        link = f"[{variant.title}](games/{game}.md)"
        rows.append((f"`{game}_v0`", link, players, ", ".join(named) or "none"))
    return manual.table(("module", "game", "players", "options beside `target`"), rows)


def insert_bots() -> str:
    """The scripted bots in words."""
    rows = [(f"`{name}`", DESCRIPTIONS[name], TRUC_DESCRIPTIONS[name]) for name in DESCRIPTIONS]
    return manual.table(("bot", "in the line games", "in Le Truc"), rows)


def insert_manifest() -> str:
    """The manifest of the Block bot that comes with the package, without its longest lists."""
    found = json.loads(json.dumps(load_bot("block").bundle.manifest))
    found["observation"]["fields"] = [*found["observation"]["fields"][:2], "..."]
    found["actions"]["tiles"] = [*found["actions"]["tiles"][:4], "..."]
    block = textwrap.indent(f"```json\n{json.dumps(found, indent=1)}\n```", "    ")
    return f'??? example "manifest.json"\n\n{block}'


def insert_rules_seen() -> str:
    """The observation's last fields, which follow from the rules, game by game."""
    first = [f.name for f in fields.LINE_LAYOUT.fields].index("players")
    names = [f.name for f in fields.LINE_LAYOUT.fields][first:]
    games = [game for game, v in VARIANTS.items() if v.family == LINE]
    columns = [new_game(make_rules(game)) for game in games]
    for table in columns:
        table.reset((1, 0), {})
    seen = [fields.LINE_LAYOUT.split(table.observe(0)[0]) for table in columns]
    at = fields.LINE_LAYOUT.offset
    rows = [(at(n), f"`{n}`", *(int(row[n][0]) for row in seen)) for n in names]
    return manual.table(("index", "field", *(f"`{game}`" for game in games)), rows)


def insert_truc_view() -> str:
    """A whole view of Le Truc: an exchange was made, a tile led, and a call waits for its answer."""
    table = new_game(make_rules("truc"))
    hands = [["6-6", "4-3", "0-0"], ["8-4", "5-5", "2-2"]]
    table.reset((1, 0), {"deal": {"hands": hands}, "dealer": 1})
    for word in ("propose", "accept", "play", "double"):
        moves = table.position()["legal"]
        table.step(next(move["id"] for move in moves if move["action"] == word))
    lines = [f' "{key}": {in_lines(value)}' for key, value in table.view(0).items()]
    block = textwrap.indent("```json\n{\n" + ",\n".join(lines) + "\n}\n```", "    ")
    return f'??? example "A view of Le Truc"\n\n{block}'


def in_lines(value: Any) -> str:
    """JSON on one line, a list of objects with one a line."""
    if (
        not isinstance(value, list)
        or not all(isinstance(each, dict) for each in value)
        or not value
    ):
        return json.dumps(value)
    return "[\n  " + ",\n  ".join(json.dumps(each) for each in value) + "\n ]"


def insert_commands() -> str:
    """Every command with its arguments, from the command line's own help."""
    from dominozoo_training.cli import app

    commands: dict[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    return "\n\n".join(command_text(name, command) for name, command in commands.items())


def command_text(name: str, command: Any) -> str:
    """One command: what it does, its arguments and options."""
    rows = [(f"`{label(p)}`", default(p), p.help or "") for p in command.params]
    table = manual.table(("argument", "default", "meaning"), rows) if rows else "No arguments."
    return f"## dominozoo {name}\n\n{(command.help or '').strip()}\n\n{table}"


def insert_cases() -> str:
    """The cases of the bench."""
    from dominozoo_training.bench import CASES

    return manual.table(("case", "what it measures"), [(f"`{k}`", v) for k, v in CASES.items()])


def insert_examples() -> str:
    """The programs of examples/: what each says of itself, and its text."""
    parts = []
    for path in sorted((ROOT / "examples").glob("*.py")):
        code = path.read_text(encoding="utf-8")
        about = inspect.cleandoc(ast.get_docstring(ast.parse(code)) or "")
        shown = textwrap.indent(f"```python\n{code}```", "    ")
        parts.append(f'### {path.name}\n\n{about}\n\n??? note "The program"\n\n{shown}')
    return "\n\n".join(parts)


def label(parameter: Any) -> str:
    """A command's argument as it is written: ``GAME``, ``--deals``."""
    if parameter.param_type_name == "argument":
        return str(parameter.metavar or parameter.name.upper())
    return str(parameter.opts[-1])


def default(parameter: Any) -> str:
    """What an argument is when it is left out."""
    if parameter.required:
        return "must be given"
    return "" if parameter.default in (None, False) else f"`{parameter.default}`"


INSERTS: Final[dict[str, Callable[..., str]]] = {
    "bots": insert_bots,
    "cases": insert_cases,
    "commands": insert_commands,
    "examples": insert_examples,
    "fields": insert_fields,
    "games": insert_games,
    "manifest": insert_manifest,
    "options": insert_options,
    "rules_seen": insert_rules_seen,
    "truc_view": insert_truc_view,
}
