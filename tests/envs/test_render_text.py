"""Tables as text."""

import importlib
from typing import Any

import pytest

from dominozoo.aec import TableEnv
from dominozoo.render.text import draw
from dominozoo.rules import parse

HANDS = [
    ["6-6", "6-5", "6-4", "6-3", "6-2", "6-1", "6-0"],
    ["5-5", "5-4", "5-3", "5-2", "5-1", "5-0", "4-4"],
    ["4-3", "4-2", "4-1", "4-0", "3-3", "3-2", "3-1"],
    ["3-0", "2-2", "2-1", "2-0", "1-1", "1-0", "0-0"],
]


def table(game: str, *actions: int, **arguments: Any) -> TableEnv:
    rules = parse(game)
    module = importlib.import_module(f"dominozoo.{rules.module}")
    env: TableEnv = module.raw_env(**rules.options, **arguments)
    env.reset(seed=1, options={"deal": {"hands": HANDS[: rules.players]}})
    for action in actions:
        env.step(action)
    return env


def test_a_position() -> None:
    env = table("partnership", 27, 57, 57, 57, 26)
    assert draw(env.position()).splitlines() == [
        "Jamaican Partnership, hand 1, target 6",
        "  player_0:  5 tiles, score   0   6-0 6-1 6-2 6-3 6-4",
        "> player_1:  7 tiles, score   0   4-4 5-0 5-1 5-2 5-3 5-4 5-5",
        "  player_2:  7 tiles, score   0   3-1 3-2 3-3 4-0 4-1 4-2 4-3",
        "  player_3:  7 tiles, score   0   0-0 1-0 1-1 2-0 2-1 2-2 3-0",
        "  [5-6] 6|6",
        "  ends: 5 left, 6 right",
        "  last: player_0 plays 6-5 left",
        "  player_1 to move",
    ]


def test_a_view_hides_tiles() -> None:
    text = draw(table("draw", 27, 56).view("player_0"))
    assert "  player_0:  6 tiles, score   0   6-0 6-1 6-2 6-3 6-4 6-5 (you)" in text
    assert "player_1:  8 tiles, score   0   ## ## ## ## ## ## ## ##" in text
    assert "  boneyard: 13" in text
    assert "last: player_1 draws a tile" in text


def test_the_cross() -> None:
    text = draw(table("french", 0, 21, 28 + 15).position())
    assert "  arm 0: 0|0 [0-6]\n  arm 1: 0|0 [0-5]\n  arm 2: 0|0\n  arm 3: 0|0\n" in text
    assert "  ends: arm 0 6-6 only, arm 1 5-5 only, arm 2 free, arm 3 free" in text
    assert "last: player_1 plays 5-0 on arm 1" in text


def test_before_the_first_tile_and_after_the_last() -> None:
    env = table("block(players=4)", max_hands=1)
    assert "no tile lies yet" in draw(env.position())
    while not any(env.terminations.values()):
        env.step(env.position()["legal"][0]["id"])
    assert "the hand is over, the match is not" in draw(env.position())
    env = table("block(players=4, target=1)")
    while not any(env.terminations.values()):
        env.step(env.position()["legal"][0]["id"])
    assert f"won by side {env.position()['winners'][0]}" in draw(env.position())


def test_render_modes(capsys: pytest.CaptureFixture[str]) -> None:
    env = table("block", render_mode="ansi")
    assert env.render() == draw(env.position())
    assert capsys.readouterr().out == ""
    env = table("block", render_mode="human")
    assert capsys.readouterr().out == draw(env.position()) + "\n"
    env.step(27)
    assert capsys.readouterr().out == draw(env.position()) + "\n"
    assert env.render() is None


def test_render_without_a_mode_warns() -> None:
    with pytest.warns(UserWarning, match="needs render_mode"):
        assert table("block").render() is None
