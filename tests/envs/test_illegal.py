"""Illegal actions: refused with the reason, or the end of a wrapped episode."""

import importlib
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from dominozoo.aec import TableEnv
from dominozoo.line.game import LineGame
from dominozoo.line.illegal import why_illegal
from dominozoo.rules import parse


def module_of(game: str) -> Any:
    return importlib.import_module(f"dominozoo.{parse(game).module}")


def raw(game: str, seed: int | None = None, **arguments: Any) -> TableEnv:
    env: TableEnv = module_of(game).raw_env(**parse(game).options, **arguments)
    if seed is not None:
        env.reset(seed=seed)
    return env


def wrapped(game: str, **arguments: Any) -> Any:
    return module_of(game).env(**parse(game).options, **arguments)


def choose(env: Any, rng: random.Random) -> int:
    mask = env.observe(env.agent_selection)["action_mask"]
    return int(rng.choice(np.flatnonzero(mask).tolist()))


def is_over(env: Any) -> bool:
    return any(env.terminations.values()) or any(env.truncations.values())


def wander(env: Any, seed: int, steps: int) -> Iterator[int]:
    """Make random legal moves until the episode ends or the steps are made."""
    rng = random.Random(seed)
    for step in range(steps):
        if is_over(env):
            return
        env.step(choose(env, rng))
        yield step


DEAL = {
    "hands": [
        ["6-6", "6-5", "6-4", "6-3", "6-2", "6-1", "6-0"],
        ["5-5", "5-4", "5-3", "5-2", "5-1", "5-0", "4-4"],
        ["4-3", "4-2", "4-1", "4-0", "3-3", "3-2", "3-1"],
        ["3-0", "2-2", "2-1", "2-0", "1-1", "1-0", "0-0"],
    ]
}


@pytest.mark.parametrize(
    ("game", "action", "reason"),
    [
        ("block(players=4)", 400, "no action of block_v0: ids are 0..57"),
        ("block(players=4)", -1, "no action of block_v0"),
        ("partnership", 0, "player_0 does not hold 0-0; held: 6-0 6-1"),
        ("partnership", 28 + 27, "laid at end 0, not 1"),
        ("partnership", 57, "opened with a tile: no pass"),
        ("partnership", 56, "no drawing"),
        ("draw(players=4)", 56, "opened with a tile, not by drawing"),
    ],
)
def test_illegal_actions_are_refused_with_the_reason(game: str, action: int, reason: str) -> None:
    env = raw(game)
    env.reset(options={"deal": DEAL})
    before = env.position()
    with pytest.raises(ValueError, match=reason):
        env.step(action)
    assert env.position() == before


def test_reasons_name_tiles_and_ends() -> None:
    env = raw("partnership")
    env.reset(options={"deal": DEAL})
    with pytest.raises(ValueError, match="opens by rule with 6-6, not with 6-5"):
        env.step(26)
    env.step(27)
    with pytest.raises(ValueError, match="5-5 fits neither end: left 6, right 6"):
        env.step(20)
    for _ in range(3):
        env.step(57)
    with pytest.raises(ValueError, match="no pass: 6-0 can be played, and who can play must"):
        env.step(57)
    env.step(26)
    with pytest.raises(ValueError, match=r"5-5 does not fit the right end \(6\); it fits the left"):
        env.step(28 + 20)


def test_reasons_in_the_cross() -> None:
    env = raw("french")
    env.reset(options={"deal": DEAL})
    env.step(0)
    with pytest.raises(ValueError, match="6-6 has no blank: only blanks"):
        env.step(27)
    with pytest.raises(ValueError, match="blanks go to the next free arm, 0, not 2"):
        env.step(2 * 28 + 21)
    for move in (21, 28 + 15, 2 * 28 + 10, 3 * 28 + 6):
        env.step(move)
    with pytest.raises(ValueError, match="arm 0 is locked: it takes only 6-6, not 6-5"):
        env.step(26)
    for move in (27, 28 + 20, 3 * 28 + 9, 113):
        env.step(move)
    with pytest.raises(ValueError, match="6-5 does not fit arm 3, which shows 3"):
        env.step(3 * 28 + 26)


def test_a_legal_action_has_no_reason_against_it() -> None:
    env = raw("draw", seed=3)
    game = env._table
    assert isinstance(game, LineGame)
    for _ in wander(env, 4, 60):
        for action, legal in enumerate(env.observe(env.agent_selection)["action_mask"].tolist()):
            assert (why_illegal(game.tables[0], env.rules, action) == "") == bool(legal)


@pytest.mark.parametrize("action", [None, "5", 1.5])
def test_an_action_is_an_integer(action: Any) -> None:
    with pytest.raises(ValueError, match="is no action id"):
        raw("block", seed=1).step(action)


def test_numpy_integers_are_actions() -> None:
    env = raw("block", seed=1)
    env.step(np.int32(env.position()["legal"][0]["id"]))  # type: ignore[arg-type]
    assert env.position()["events"]


def test_a_finished_agent_acts_with_none() -> None:
    env = raw("block", max_hands=1)
    env.reset(seed=1)
    for _ in wander(env, 1, 200):
        pass
    with pytest.raises(ValueError, match="the only valid action is None"):
        env.step(0)
    for _ in range(2):
        env.step(None)
    assert env.agents == []
    with pytest.raises(ValueError, match="call reset"):
        env.step(None)


def test_wrapped_an_illegal_action_ends_the_episode(caplog: pytest.LogCaptureFixture) -> None:
    env = wrapped("cutthroat")
    env.reset(seed=1)
    loser = env.agent_selection
    env.step(57)
    assert all(env.terminations.values())
    assert env.rewards == {a: -1.0 if a == loser else 0 for a in env.possible_agents}


def test_wrapped_calls_must_be_in_order() -> None:
    env = wrapped("block")
    with pytest.raises(AttributeError, match="before reset"):
        _ = env.agents
    env.reset(seed=1)
    with pytest.raises(AssertionError, match="not in action space"):
        env.step(58)
