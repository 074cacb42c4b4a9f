"""Programs as players of the arena: by the same protocol, and what becomes of bad ones."""

import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dominozoo.notation import new_game
from dominozoo.rules import pack_line, pack_truc, parse
from dominozoo_training.evaluation.entrants import EntrantError, load_entrant
from dominozoo_training.evaluation.external import Program, view_of

ROOT = Path(__file__).resolve().parents[2]
NODE = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
FIRST = """
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    print(json.dumps({"op": "act", "id": request["id"], "action": request["view"]["legal"][0]["id"]}))
    sys.stdout.flush()
    %s
"""


@pytest.mark.parametrize(
    "text", ["block", "draw(players=3)", "partnership(poser=team)", "french", "truc"]
)
def test_a_view_is_told_by_the_record_alone(text: str) -> None:
    rules = parse(text)
    game: Any = new_game(rules)
    packed = (pack_truc if rules.game == "truc" else pack_line)(rules)
    turn = game.reset((4, 0), {})
    for k in range(120):
        want = {**game.view(turn), "last_hand": None}
        assert view_of(rules, game.tables, packed) == want
        code = game.step(want["legal"][k % len(want["legal"])]["id"])
        turn = game.deal() if code >= 4 else code


def program(folder: Path, then: str = "") -> str:
    """A program that plays its first legal move, and then does something."""
    path = folder / "first.py"
    path.write_text(FIRST % then, encoding="utf-8")
    return f"stdio:{sys.executable} {path}"


def moves(spec: str, count: int = 3) -> Any:
    """A program's moves at a few tables, and the legal ones."""
    rules = parse("block")
    entrant, game = load_entrant(spec, rules), new_game(rules)
    table: Any = game
    legal = game.view(game.reset((4, 0), {}))["legal"]
    assert entrant.choose is not None
    rng = np.ones((count, 4), np.uint32)
    rows = np.arange(count)
    found = entrant.choose(rules, np.repeat(table.tables, count), table.packed, rng, rows)
    return found, [move["id"] for move in legal]


def test_a_program_is_asked_for_its_moves(tmp_path: Path) -> None:
    found, legal = moves(program(tmp_path))
    assert found.tolist() == [legal[0]] * 3


def test_a_program_that_ended_is_started_again(tmp_path: Path) -> None:
    spec = program(tmp_path, "sys.exit()")
    asked = Program([sys.executable, str(tmp_path / "first.py")])
    request = {"op": "ask", "view": {"legal": [{"id": 3}]}}
    assert asked.ask(request)["action"] == 3
    with pytest.raises(EntrantError, match=r"ended|pipe"):
        asked.ask(request)
    assert asked.ask(request)["action"] == 3
    asked.stop()
    assert load_entrant(spec, parse("block")).slow


def test_nonsense_is_a_failure(tmp_path: Path) -> None:
    for answer, words in (("7", "no answer|ended"), ("x" * 70_000, "Expecting|more than")):
        path = tmp_path / "bad.py"
        path.write_text(f"print({answer!r}); input()", encoding="utf-8")
        asked = Program([sys.executable, str(path)])
        with pytest.raises(EntrantError, match=words):
            asked.ask({"op": "ask"})
        assert asked.process is None


def test_a_command_that_is_none_is_refused() -> None:
    for spec in ("stdio:", "stdio:no_such_program_here", "stdio:'"):
        with pytest.raises(EntrantError, match="stdio:"):
            load_entrant(spec, parse("block"))


@NODE
def test_the_example_in_javascript_plays_its_heaviest_tile() -> None:
    found, legal = moves(f"stdio:node {ROOT / 'examples' / 'stdio_bot.js'}")
    assert set(found.tolist()) <= set(legal)
    asked = Program(["node", str(ROOT / "examples" / "stdio_bot.js")])
    assert asked.ask({"op": "hello"})["protocol"] == "dombot-line/1"
    assert asked.ask({"op": "ask"})["op"] == "error"
    plays = [
        {"id": k, "action": "play", "tile": tile, "end": 0}
        for k, tile in enumerate(["6-5", "1-1", "6-4"])
    ]
    assert asked.ask({"op": "ask", "view": {"legal": plays}})["action"] == 1
    asked.stop()
