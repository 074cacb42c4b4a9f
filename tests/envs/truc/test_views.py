"""Observation, view, position, set-ups, game records and the table as text."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dominozoo.fields import TRUC_LAYOUT
from dominozoo.notation import read_record, record_of, replay, write_record
from dominozoo.render.text import draw
from dominozoo.rules import make_rules
from dominozoo.tiles import truc_slot
from dominozoo.truc import batch
from dominozoo.truc.game import TrucGame
from dominozoo.truc.position import mask_from_view, observation_from_view
from dominozoo.truc.table import TABLE

from .helpers import STOCK, D, N, action_of, positions, random_step, start


def fields_of(game: TrucGame, seat: int) -> dict[str, Any]:
    row, _ = game.observe(seat)
    return {name: part.tolist() for name, part in TRUC_LAYOUT.split(row).items()}


def test_the_observation_is_small_and_within_bounds() -> None:
    assert TRUC_LAYOUT.columns <= 400
    assert TABLE.itemsize <= 256


def test_one_hot_form_counts_a_tile_by_sum_and_double() -> None:
    rows = []
    for tile in ("8-4", "7-5", "6-6"):
        game = start([tile, "7-3", "4-1"], ["6-4", "5-0", "3-1"], "stand", tile)
        kinds = ("hand_classes", "play_sum", "play_double")
        parts = fields_of(game, D)
        rows.append([parts[name] for name in kinds])
    assert rows[0] == rows[1] != rows[2]


def test_what_an_observer_sees_of_a_call() -> None:
    game = start(["7-3", "8-4", "4-1"], ["6-6", "5-0", "3-1"], "stand", "7-3", "x6-6")
    caller, other = fields_of(game, D), fields_of(game, N)
    assert caller["play_sum"][:3] == [3, 1, 0]
    assert caller["play_double"][:2] == [0, 1]
    assert other["play_sum"][:3] == [3, 0, 0]
    assert other["play_by"][:3] == [1, 2, 0]
    assert caller["play_called"] == other["play_called"] == [0, 1, 0, 0, 0, 0]
    assert (caller["call_by"], other["call_by"]) == ([1], [2])
    assert (caller["dealer"], other["dealer"]) == ([1], [0])
    assert (caller["turn"], other["turn"]) == ([2], [1])
    assert sum(caller["hand"]) == 2
    game.step(action_of("accept"))
    assert fields_of(game, N)["play_sum"][:2] == [3, 1]
    assert fields_of(game, N)["won"] == [2, 0, 0]
    assert fields_of(game, N)["multiplier"] == [2]
    assert fields_of(game, N)["call_by"] == [0]


def test_what_an_observer_sees_of_an_exchange() -> None:
    game = start(["7-3", "8-4", "4-1"], ["6-6", "5-0", "3-1"], "propose", max_redeals=2)
    seen = fields_of(game, D)
    assert [seen[name] for name in ("proposed", "rejected", "redeals", "redeals_left")] == [
        [1],
        [0],
        [0],
        [2],
    ]
    game.step(action_of("accept"))
    seen = fields_of(game, D)
    assert (seen["redeals"], seen["redeals_left"]) == ([1], [1])
    assert sorted(np.flatnonzero(seen["discards"]).tolist()) == sorted(
        map(truc_slot, ["6-6", "5-0", "3-1"])
    )
    game.step(action_of("propose"))
    game.step(action_of("reject"))
    assert fields_of(game, N)["rejected"] == [1]


@pytest.mark.parametrize("redeals", [0, 1, 3])
def test_the_observation_is_told_by_the_view(redeals: int) -> None:
    for game in positions(200, max_redeals=redeals):
        for seat in range(2):
            row, mask = game.observe(seat)
            view = json.loads(json.dumps(game.view(seat)))
            assert np.array_equal(observation_from_view(view), row)
            assert np.array_equal(mask_from_view(view), mask)


def test_a_view_that_disagrees_with_itself_is_refused() -> None:
    game = start(["7-3", "8-4", "4-1"], ["6-6", "5-0", "3-1"], "stand", "7-3")
    view = game.view(D)
    with pytest.raises(ValueError, match="trick"):
        observation_from_view({**view, "trick": {"led": "8-4", "called": None}})
    with pytest.raises(ValueError, match="hand is missing"):
        observation_from_view({k: v for k, v in view.items() if k != "hand"})


def test_the_view_hides_the_other_hand_and_a_tile_face_down() -> None:
    game = start(["7-3", "8-4", "4-1"], ["6-6", "5-0", "3-1"], "stand", "7-3", "x6-6")
    caller, other = game.view(D), game.view(N)
    assert caller["trick"] == {"led": "7-3", "called": {"seat": D, "tile": "6-6"}}
    assert other["trick"] == {"led": "7-3", "called": {"seat": D, "tile": None}}
    assert [e["tile"] for e in other["events"]] == [None, "7-3", None]
    assert (other["hand"], other["sizes"]) == (["8-4", "4-1"], [2, 2])
    assert other["boneyard_size"] == 22
    assert caller["legal"] == []
    assert not {"hands", "boneyard", "rng"} & {*other}
    assert "6-6" not in json.dumps(other)


def test_last_hand_shows_an_agent_only_what_was_turned_up() -> None:
    game = start(["7-3", "8-4", "4-1"], ["6-6", "5-0", "3-1"], "stand", "7-3", "5-0")
    game.step(action_of("x4-1"))
    game.step(action_of("reject"))
    full, n, d = game.last_hand(), *game.last_hands()
    assert full is not None
    assert full["hands"] == [["8-4", "7-3", "4-1"], ["6-6", "5-0", "3-1"]]
    assert n["hands"] == [["8-4", "7-3", "4-1"], ["5-0", None, None]]
    assert d["hands"] == [["7-3", None, None], ["6-6", "5-0", "3-1"]]
    assert n["events"][-2]["tile"] == "4-1"
    assert d["events"][-2]["tile"] is None
    assert [full[name] for name in ("winner", "seat", "reason", "effect", "points", "key")] == [
        *(N, N, "fold", None, 1, False)
    ]


@pytest.mark.parametrize("redeals", [0, 1, 3])
def test_going_on_from_a_position(redeals: int) -> None:
    rng = np.random.default_rng(4)
    for game in positions(200, max_redeals=redeals):
        before = json.loads(json.dumps(game.position()))
        twin = TrucGame(game.rules)
        assert twin.reset((77, 0), {"position": before}) == before["turn"]
        assert twin.position() == before
        for _ in range(12):
            seed = int(rng.integers(1 << 30))
            codes = [random_step(g, np.random.default_rng(seed)) for g in (game, twin)]
            assert codes[0] == codes[1]
            assert [game.view(s) for s in range(2)] == [twin.view(s) for s in range(2)]
            if codes[0] >= batch.ENDED:
                break


BAD_POSITIONS: list[tuple[str, Any, str]] = [
    ("multiplier", 4, "multiplier: the events lead to 2"),
    ("turn", 0, "turn: the events lead to 1"),
    ("tricks", [], "tricks"),
    ("dealer", 2, "dealer: must be an integer in 0..1"),
    ("scores", [30, 0], "scores"),
    ("hands", [["8-4", "4-1"], ["5-0", "3-2"]], "boneyard: 3-2 is already in hands"),
    ("boneyard", [], "boneyard"),
    ("game", "block_v0", "game"),
    ("rules", {"players": 2, "target": 10, "max_redeals": 1}, "rules"),
    ("phase", "over", "phase"),
    ("stake", 2, "stake"),
    ("discards", [["6-6"], []], "discards"),
    ("luck", 1, "luck: is unknown"),
]


@pytest.mark.parametrize(("field", "value", "reason"), BAD_POSITIONS)
def test_a_position_that_disagrees_is_refused(field: str, value: Any, reason: str) -> None:
    game = start(["7-3", "8-4", "4-1"], ["6-6", "5-0", "3-1"], "stand", "7-3", "x6-6", "accept")
    position = game.position()
    before = game.tables.copy()
    with pytest.raises(ValueError, match=f"position.{reason}"):
        game.reset(None, {"position": {**position, field: value}})
    assert game.tables == before


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda e: e.pop(), r"events\[4\]"),
        (lambda e: e.pop(0), r"events\[0\]"),
        (lambda e: e[1].update(tile="6-6"), r"hands\[0\]|discards|hands|already"),
        (lambda e: e[2].update(kind="play"), r"events\[3\]"),
        (lambda e: e[4].update(tile="5-0"), r"events\[4\].tile"),
        (lambda e: e[3].update(seat=1), r"events\[3\].seat"),
        (lambda e: e[3].update(kind="pass"), r"events\[3\].kind"),
        (lambda e: e.append(dict(e[0])), r"events\[5\].seat"),
    ],
)
def test_events_that_do_not_lead_there_are_refused(change: Any, reason: str) -> None:
    game = start(["7-3", "8-4", "4-1"], ["6-6", "5-0", "3-1"], "stand", "7-3", "x6-6", "accept")
    position = game.position()
    change(position["events"])
    with pytest.raises(ValueError, match=reason):
        game.reset(None, {"position": position})


@pytest.mark.parametrize(
    ("setup", "reason"),
    [
        ({"opener": 0}, "opener: 0 can't be in truc_v0"),
        ({"stake": 2}, "stake: 2 can't be"),
        ({"decider": True}, "decider: True can't be"),
        ({"dealer": 2}, "dealer: must be an integer in 0..1"),
        ({"dealer": True}, "dealer: must be an integer"),
        ({"scores": [0, 30]}, "scores: must be an integer in 0..29"),
        ({"scores": [0]}, "scores: must have 2 entries"),
        (
            {"deal": {"hands": [["6-6", "8-4"], ["7-5", "6-5", "8-3"]]}},
            r"deal.hands\[0\]: must have 3",
        ),
        ({"deal": {"hands": [["6-6", "8-4", "9-9"], []]}}, "'9-9' is no tile"),
        ({"deal": {"hands": [["6-6", "8-4", "4-8"], ["7-5", "6-5", "8-3"]]}}, "8-4 is already in"),
        ({"deal": {"boneyard": ["6-6"]}}, "deal.boneyard: must have 22"),
        ({"deal": {"hand": []}}, "'hand' is unknown"),
        ({"deal": 3}, "deal: must be a mapping"),
        ({"position": {}, "dealer": 1}, "position: says all; leave dealer out"),
    ],
)
def test_a_set_up_that_can_not_be_is_refused(setup: dict[str, Any], reason: str) -> None:
    game = start(["7-3", "8-4", "4-1"], ["6-6", "5-0", "3-1"], "stand")
    before = game.tables.copy()
    with pytest.raises(ValueError, match=reason):
        game.reset(None, setup)
    assert game.tables == before


def test_a_set_up_may_leave_everything_out() -> None:
    game = TrucGame(make_rules("truc"))
    game.reset((9, 0), {"deal": {"boneyard": STOCK}, "dealer": 0, "scores": [3, 4]})
    position = game.position()
    assert position["boneyard"] == STOCK
    assert position["scores"] == [3, 4]
    assert position["turn"] == 1
    game.reset((9, 0), {"opener": None, "stake": 1, "decider": False})
    assert game.position()["hand_number"] == 1


def test_state_shows_every_tile() -> None:
    game = start(["7-3", "8-4", "4-1"], ["6-6", "5-0", "3-1"], "stand", "7-3", "x6-6")
    state = game.state()
    parts = game.state_layout.split(state)
    assert state.shape == (game.state_layout.size,)
    assert parts["hands"].sum(axis=1).tolist() == [2, 2]
    assert parts["play_sum"][:2].tolist() == [3, 1]
    assert parts["call_by"].tolist() == [2]
    assert (parts["drawing"] > 0).sum() == 22


@pytest.mark.parametrize("redeals", [0, 1, 3])
def test_a_game_record_is_played_again(redeals: int, tmp_path: Path) -> None:
    game, rng = (
        TrucGame(make_rules("truc", target=6, max_redeals=redeals)),
        np.random.default_rng(3),
    )
    game.reset((4, 0), {})
    while random_step(game, rng) < 2 * batch.ENDED:
        pass
    write_record(tmp_path / "game.jsonl", record_of(game))
    lines = read_record(tmp_path / "game.jsonl")
    assert replay(lines).position() == game.position()
    follow = ("hand_end", "hand", "match_end", "redeal", "reveal")
    for stop in range(1, len(lines)):
        if lines[stop]["kind"] not in follow:
            replay(lines[:stop])
    spoilt = copy.deepcopy(lines)
    spoilt[-2]["points"] += 1
    with pytest.raises(ValueError, match="points: the game leads to"):
        replay(spoilt)


def test_the_table_as_text() -> None:
    game = start(["7-3", "8-4", "4-1"], ["6-6", "5-0", "3-1"], "stand", "7-3", "x6-6", "accept")
    game.step(action_of("x5-0"))
    assert draw(game.view(N)).splitlines() == [
        "Domino Le Truc, hand 1, target 30, worth 2",
        "> player_0:  2 tiles, score   0   8-4 4-1 (you)",
        "  player_1:   1 tile, score   0   ##",
        "  boneyard: 22",
        "  player_1 deals",
        "  trick 1: player_0 7-3, player_1 6-6 doubled: player_1 wins",
        "  trick 2: player_1 ## calls double",
        "  last: player_1 lays a tile face down: double",
        "  player_0 to move",
    ]
    for game in positions(60, max_redeals=2):
        assert draw(game.position())
        assert draw(game.view(0))
