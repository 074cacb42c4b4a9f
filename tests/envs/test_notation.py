"""Game records: written, read back, replayed to the same end; a tampered one is refused."""

import contextlib
import copy
import importlib
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dominozoo.aec import TableEnv
from dominozoo.fields import LINE_LAYOUT
from dominozoo.notation import (
    mask_from_view,
    observation_from_view,
    read_record,
    replay,
    write_record,
)
from dominozoo.rules import VARIANTS, make_rules, parse

Json = dict[str, Any]

GAMES = [
    str(make_rules(name, players=players))
    for name, variant in VARIANTS.items()
    for players in variant.options["players"].values
]


def played(game: str, steps: int = 120, max_hands: int | None = None, **options: Any) -> TableEnv:
    """A table after random moves."""
    rules = parse(game)
    module = importlib.import_module(f"dominozoo.{rules.module}")
    env: TableEnv = module.raw_env(**rules.options, max_hands=max_hands)
    env.reset(seed=(1 << 63) + 5, options=options)
    go_on(env, steps)
    return env


def go_on(env: TableEnv, steps: int) -> None:
    rng = random.Random(3)
    for _ in range(steps):
        if any(env.terminations.values()):
            return
        mask = env.observe(env.agent_selection)["action_mask"]
        env.step(rng.choice(np.flatnonzero(mask).tolist()))


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("max_hands", [None, 2])
def test_a_record_is_read_back_and_replayed(
    game: str, max_hands: int | None, tmp_path: Path
) -> None:
    env = played(game, max_hands=max_hands)
    lines = env.record()
    write_record(tmp_path / "game.jsonl", lines)
    assert [path.name for path in tmp_path.iterdir()] == ["game.jsonl"]
    back = read_record(tmp_path / "game.jsonl")
    assert back == lines
    assert replay(back).position() == env.position()


def test_a_finished_match_ends_its_record() -> None:
    env = played("block(target=20)", 1000)
    lines = env.record()
    assert lines[-1] == {
        "kind": "match_end",
        "over": True,
        "winners": env.position()["winners"],
        "scores": env.position()["scores"],
    }
    assert lines[0]["game"] == "block_v0"
    assert lines[0]["rules"] == {"players": 2, "target": 20}
    assert lines[0]["seed"] == [5, 1 << 31]


def test_the_record_of_a_set_up_and_of_a_resumed_game() -> None:
    env = played("cutthroat", 50, opener=2, scores=[1, 0, 3, 0])
    assert replay(env.record()).position() == env.position()
    other = played("cutthroat", 0, position=env.position())
    go_on(other, 60)
    lines = other.record()
    assert lines[0]["start"]["events"] == env.position()["events"]
    assert replay(lines).position() == other.position()


def test_a_record_may_stop_between_two_moves() -> None:
    env = played("draw", 40)
    lines = env.record()
    events = [n for n, line in enumerate(lines) if line["kind"] in ("play", "draw", "pass")]
    cut = next(n for n in events if lines[n + 1]["kind"] in ("play", "draw", "pass"))
    assert replay(lines[: cut + 1]).position()["events"][-1] == lines[cut]


@pytest.mark.parametrize("game", ["draw", "partnership", "french", "truc"])
def test_every_field_of_every_line_is_held_to_the_moves(game: str) -> None:
    lines = played(game, 70).record()
    rng = random.Random(1)
    for number in [1, *rng.sample(range(2, len(lines) + 1), 12)]:
        for field, value in lines[number - 1].items():
            for wrong in ("x", 99, None):
                if wrong == value or (field, wrong) == ("max_hands", 99):
                    continue
                tampered = copy.deepcopy(lines)
                tampered[number - 1][field] = wrong
                with pytest.raises(ValueError, match=rf"^line {number}: .*{field}") as refusal:
                    replay(tampered)
                assert str(refusal.value).startswith(f"line {number}: ")


def test_another_legal_move_is_found_out() -> None:
    env = played("partnership", 25)
    lines = env.record()
    for number, line in enumerate(lines, 1):
        if line["kind"] == "play" and number > 3:
            tampered = copy.deepcopy(lines)
            tampered[number - 1]["tile"] = "6-6"
            with pytest.raises(ValueError, match=rf"^line {number}: tile: .* does not hold 6-6"):
                replay(tampered)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda lines: [], "line 1: kind: a game record begins with kind 'game'"),
        (lambda lines: lines[1:], "line 1: kind: a game record begins"),
        (lambda lines: [{**lines[0], "format": 2}, *lines[1:]], "line 1: format: 2 is not 1"),
        (lambda lines: [{**lines[0], "extra": 2}, *lines[1:]], "line 1: extra: is unknown"),
        (lambda lines: [{**lines[0], "seed": [1, 2]}, *lines[1:]], "line 1: seed: is not that of"),
        (lambda lines: [{**lines[0], "rules": {"tie": 1}}], "line 1: rules: block has no option"),
        (lambda lines: [without(lines[0], "start")], "line 1: start: is missing"),
        (lambda lines: [*lines, lines[1]], r"line \d+: kind: the game is over"),
        (lambda lines: [*lines, lines[-1]], r"line \d+: kind: 'match_end' doesn't come here"),
        (lambda lines: lines[:-1], r"line \d+: kind: 'match_end' is missing"),
        (lambda lines: [*lines[:2], without(lines[2], "seat")], "line 3: seat: is missing"),
        (lambda lines: [*lines[:2], {**lines[2], "hint": 1}], "line 3: hint: is unknown"),
    ],
)
def test_a_tampered_record_is_refused(change: Any, message: str) -> None:
    lines = played("block", 1000, max_hands=2).record()
    with pytest.raises(ValueError, match=message):
        replay(change(lines))


def without(line: Json, field: str) -> Json:
    return {k: v for k, v in line.items() if k != field}


@pytest.mark.parametrize(
    ("text", "message"),
    [('{"kind": "game"}\n{"kind', "line 2: is no JSON"), ("[1]\n", "line 1: is no JSON object")],
)
def test_a_line_that_is_no_object_is_named(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "game.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        read_record(path)


def test_nothing_is_left_of_a_record_that_could_not_be_written(tmp_path: Path) -> None:
    with pytest.raises(TypeError):
        write_record(tmp_path / "game.jsonl", [{"kind": json}])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("game", ["draw", "french", "truc"])
def test_a_view_with_any_field_of_another_type_is_a_value_error(game: str) -> None:
    module = importlib.import_module(f"dominozoo.{game}_v0")
    env = module.raw_env()
    env.reset(seed=4)
    for _ in range(6):
        env.step(int(env.last()[0]["action_mask"].argmax()))
    view = env.view(env.agent_selection)
    observation_from_view(view)
    for field in view:
        others: list[Any] = [None, -5, 10**30, "x", [], {}, [None], [[{}]], 1.5]
        for value in others:
            for read in (observation_from_view, mask_from_view):
                with contextlib.suppress(ValueError):  # any other error fails the test
                    assert read({**view, field: value}).dtype.kind == "i"


@pytest.mark.parametrize("lines", ["x", b"x", None, 5, {"kind": "game"}])
def test_a_record_is_a_list(lines: Any) -> None:
    with pytest.raises(ValueError, match=r"a game record is a list of JSON objects, .*, not "):
        replay(lines)


def test_each_line_of_a_record_is_an_object() -> None:
    lines: list[Any] = played("block", 5).record()
    lines.insert(2, "x")
    with pytest.raises(ValueError, match="line 3: is no JSON object"):
        replay(lines)


@pytest.mark.parametrize("shape", [(3,), (), (178, 1), (2, 179)])
def test_a_layout_takes_vectors_of_its_size(shape: tuple[int, ...]) -> None:
    for call in (LINE_LAYOUT.split, LINE_LAYOUT.expand):
        with pytest.raises(ValueError, match=r"layout 'line' has shape \(..., 178\), not \("):
            call(np.zeros(shape, np.int16))
