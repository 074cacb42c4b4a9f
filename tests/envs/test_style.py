"""Style: counting changes no play, and the counters are what the games' records say."""

from __future__ import annotations

import importlib
from collections import Counter
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from dominozoo import truc_v0
from dominozoo.aec import TableEnv
from dominozoo.bots import BOTS, OUTSIDE, kernels, seed_bots
from dominozoo.bots.style import LINE_COUNTERS, counters, counting, new_counts, rates
from dominozoo.rules import Rules, parse
from dominozoo.tables import Tables
from dominozoo.tiles import truc_slot

pytestmark = pytest.mark.once  # its kernels take minutes to compile

GAMES = [
    "block",
    "block(players=4)",
    "draw",
    "draw(players=3)",
    "partnership(key_card=True, poser=team, target=2)",
    "cutthroat(players=2, target=2)",
    "cutthroat(players=3, key_card=True, target=2)",
    "cutthroat(players=2, draw=True, target=2)",
    "six_love(target=2)",
    "chiva(target=2)",
    "chiva(players=3, target=2)",
    "french",
    "truc(max_redeals=2)",
]
Json = dict[str, Any]
Array = npt.NDArray[Any]


def played(game: str, counted: bool, tables: int = 40, max_hands: int = 2) -> tuple[Any, ...]:
    """Tables played by bots and an outside player of the first legal move; all that it leaves."""
    found = Tables(game, tables, seed=5)
    rules, records = found.rules, found.records.copy()
    codes = np.zeros((tables, rules.players), np.int8)
    codes[:] = (np.arange(tables)[:, None] + np.arange(rules.players)) % len(BOTS)
    codes[::3, 0] = OUTSIDE
    rng, actions = np.zeros((tables, 4), np.uint32), np.full(tables, -1, np.int64)
    seed_bots(rng, 1, 2, 3)
    reward, hands = np.zeros((tables, rules.players), np.float32), np.zeros(tables, np.int32)
    counts = new_counts(rules, tables)
    advance = counting(rules) if counted else kernels(rules).advance
    more = (counts,) if counted else ()
    while True:
        advance(records, found.packed, codes, rng, actions, max_hands, reward, hands, *more)
        waiting = np.flatnonzero(records["turn"] >= 0)
        if not len(waiting):
            return records, rng, reward, hands, counts
        actions[:] = -1
        actions[waiting] = first_legal(found, records)[waiting]


def first_legal(tables: Tables, records: Array) -> Array:
    twin = Tables(tables.rules, len(records))
    twin.records[:] = records
    twin.refresh()
    return np.asarray(twin.mask.argmax(axis=1))


@pytest.mark.parametrize("game", GAMES)
def test_counting_changes_no_play(game: str) -> None:
    plain, counted = played(game, False), played(game, True)
    for one, other in zip(plain[:4], counted[:4], strict=True):
        assert one.tobytes() == other.tobytes()
    assert (counted[4][:, :, 0] == counted[3][:, None]).all()  # hands
    assert not plain[4].any()


class Walk:
    """A random match in the AEC environment: its decisions, its events, a plain count of them."""

    def __init__(self, game: str, seed: int, max_hands: int) -> None:
        self.rules: Rules = parse(game)
        module = importlib.import_module(f"dominozoo.{self.rules.module}")
        self.env: TableEnv = module.raw_env(max_hands=max_hands, **self.rules.options)
        self.counts = [Counter[str]() for _ in range(self.rules.players)]
        self.choices: list[int] = []
        self.env.reset(seed=seed)
        rng = np.random.default_rng(seed)
        while not self.env.terminations[self.env.agent_selection]:
            self.move(rng)
        self.read(self.env.record())

    def move(self, rng: np.random.Generator) -> None:
        agent = self.env.agent_selection
        legal = np.flatnonzero(self.env.observe(agent)["action_mask"])
        action = int(rng.choice(legal))
        seat = self.env.possible_agents.index(agent)
        if len(legal) > 1:
            self.counts[seat]["decisions"] += 1
            self.choices.append(action)
        if self.rules.game == "truc" and 28 <= action < 56:
            self.bluffed = loses(self.env.position(), action - 28)
            self.counts[seat]["bluffs"] += self.bluffed
        if self.env.position()["phase"] == "call" and action == 58:
            self.counts[1 - seat]["bluffs_caught"] += self.bluffed
        self.env.step(action)

    def read(self, record: list[Json]) -> None:
        count = self.count_truc if self.rules.game == "truc" else self.count_line
        events: list[Json] = []
        for line in record:
            if line["kind"] == "hand_end":
                for counter in self.counts:
                    counter["hands"] += 1
                count(events, line)
                events = []
            elif "seat" in line:
                events.append(line)

    def count_line(self, events: list[Json], end: Json) -> None:
        maker = None
        for event in events:
            seat, kind = event["seat"], event["kind"]
            if kind == "play":
                self.counts[seat]["plays"] += 1
                self.counts[seat]["poses"] += maker is None
                maker = seat
            elif maker is not None:
                name = {"pass": "passes", "draw": "draws"}[kind]
                self.counts[seat][name] += 1
                if maker % self.rules.sides != seat % self.rules.sides:
                    self.counts[maker][f"{name}_forced"] += 1
                elif maker != seat:
                    self.counts[maker]["passes_partner"] += 1
        for seat, hand in enumerate(end["hands"]):
            self.counts[seat]["doubles_stuck"] += sum(tile[0] == tile[2] for tile in hand)
        if end["reason"] == "out":
            self.counts[end["seat"]]["wins_out"] += 1
            self.counts[end["seat"]]["key_wins"] += end["key"]
            return
        assert maker is not None
        self.counts[maker]["blocks_made"] += 1
        if self.rules.game == "french":
            self.counts[maker]["blocks_won"] += end["points"][maker] == min(end["points"])
        else:
            self.counts[maker]["blocks_won"] += end["winner"] == maker % self.rules.sides

    def count_truc(self, events: list[Json], end: Json) -> None:
        for event, after in zip(events, [*events[1:], {"kind": None}], strict=True):
            mine, his = self.counts[event["seat"]], self.counts[1 - event["seat"]]
            mine["plays"] += event["kind"] in ("play", "double")
            mine["calls"] += event["kind"] == "double"
            mine["calls_accepted"] += event["kind"] == "double" and after["kind"] == "accept"
            mine["calls_refused"] += event["kind"] == "double" and after["kind"] == "fold"
            mine["folds"] += event["kind"] == "fold"
            mine["accepts"] += event["kind"] == "accept" and after["kind"] == "reveal"
            mine["proposals"] += event["kind"] == "propose"
            his["redeals"] += event["kind"] == "accept" and after["kind"] == "redeal"
        if end["reason"] in ("tricks", "fold"):
            self.counts[end["seat"]][f"wins_{end['reason']}"] += 1


def beaten(led: str, other: str) -> int:
    """0 if the led tile wins, 1 if the other does, -1 tied."""
    sums = [sum(map(int, tile.split("-"))) for tile in (led, other)]
    doubles = [len(set(tile.split("-"))) == 1 for tile in (led, other)]
    if all(doubles) and 0 in sums:
        return sums.index(0)
    return -1 if sums[0] == sums[1] else int(sums[1] > sums[0])


def winner(tricks: list[int | None]) -> int | None:
    """The seat that has won the round, -1 void, None open."""
    won = [seat for seat in tricks if seat is not None]
    for seat in (0, 1):
        if won.count(seat) == 2:
            return seat
    if len(tricks) < 2:
        return None
    if None in tricks and won:
        return won[0]
    return -1 if len(tricks) == 3 and not won else None


def best(hands: list[list[str]], leader: int, led: str | None, tricks: list[int | None]) -> int:
    """What seat 0 gets if both see all tiles: 1 the round, -1 none of it, 0 a void one."""
    seat = leader if led is None else 1 - leader
    found = []
    for tile in hands[seat]:
        left = [[t for t in hand if t != tile] for hand in hands]
        if led is None:
            found.append(best(left, leader, tile, tricks))
            continue
        goes = beaten(led, tile)
        taker = None if goes == -1 else (leader, 1 - leader)[goes]
        end = winner([*tricks, taker])
        if end is not None:
            found.append({0: 1, 1: -1, -1: 0}[end])
        else:
            found.append(best(left, leader if taker is None else taker, None, [*tricks, taker]))
    return max(found) if seat == 0 else min(found)


def loses(position: Json, slot: int) -> bool:
    """True if the seat to move loses by playing a tile and going on perfectly, all tiles open."""
    names = [entry["tile"] for entry in position["legal"] if entry["id"] == slot]
    me = position["turn"]
    hands = [
        [t for t in hand if seat != me or t == names[0]]
        for seat, hand in enumerate(position["hands"])
    ]
    rest = [t for t in position["hands"][me] if t != names[0]]
    led, leader, tricks = position["trick"]["led"], position["leader"], position["tricks"]
    if led is None:  # what follows is his, then mine again
        value = best(
            [rest if s == me else h for s, h in enumerate(hands)], leader, names[0], tricks
        )
    else:
        goes = beaten(led, names[0])
        taker = None if goes == -1 else (leader, 1 - leader)[goes]
        end, after = winner([*tricks, taker]), [rest if s == me else h for s, h in enumerate(hands)]
        if end is not None:
            value = {0: 1, 1: -1, -1: 0}[end]
        else:
            value = best(after, leader if taker is None else taker, None, [*tricks, taker])
    return value == (-1 if me == 0 else 1)


@pytest.mark.parametrize("game", GAMES)
def test_counters_are_what_the_records_say(game: str) -> None:
    rules, total = parse(game), np.zeros(len(counters(parse(game))), np.int64)
    for seed in range(6):
        walk = Walk(game, seed, max_hands=6)
        tables = Tables(game, 1, seed=seed)
        records, counts = tables.records.copy(), new_counts(rules, 1)
        codes, rng = np.full((1, rules.players), OUTSIDE, np.int8), np.zeros((1, 4), np.uint32)
        reward, hands = np.zeros((1, rules.players), np.float32), np.zeros(1, np.int32)
        for action in [-1, *walk.choices]:
            actions = np.array([action], np.int64)
            if action >= 0 or rules.game != "truc":
                counting(rules)(
                    records, tables.packed, codes, rng, actions, 6, reward, hands, counts
                )
        assert records["turn"][0] == -1
        for seat, wanted in enumerate(walk.counts):
            found = dict(zip(counters(rules), counts[0, seat].tolist(), strict=True))
            assert found == {name: wanted[name] for name in found}
            assert set(wanted) <= set(found)
        total += counts[0].sum(axis=0)
    if rules.game in ("truc", "draw"):  # random play has shown nearly all there is
        assert (total > 0).sum() >= len(total) - 2


@pytest.mark.parametrize(
    ("mine", "his", "bluff"), [("5-5", "5-3", 0), ("6-4", "7-3", 0), ("5-3", "5-5", 1)]
)
def test_a_call_that_makes_the_round_void_is_no_bluff(mine: str, his: str, bluff: int) -> None:
    hands = [["8-4", "8-3", mine], ["7-5", "7-4", his]]  # the first two tricks are tied
    env = truc_v0.raw_env(max_redeals=0, max_hands=1)
    env.reset(seed=1, options={"deal": {"hands": hands}, "dealer": 1})
    rules, counts = parse("truc(max_redeals=0)"), new_counts(parse("truc"), 1)
    tables = Tables(rules, 1)
    tables.records[:] = getattr(env, "_table").tables  # noqa: B009 - no part of a game's face
    plays = [truc_slot(tile) for tile in ("8-4", "7-5", "8-3", "7-4")]
    for action in (*plays, truc_slot(mine) + 28, 58):
        counting(rules)(
            *(tables.records, tables.packed, np.full((1, 2), OUTSIDE, np.int8)),
            *(np.zeros((1, 4), np.uint32), np.array([action], np.int64), 1),
            *(np.zeros((1, 2), np.float32), np.zeros(1, np.int32), counts),
        )
    found = dict(zip(counters(rules), counts[0, 0].tolist(), strict=True))
    assert (found["calls"], found["bluffs"], found["bluffs_caught"]) == (1, bluff, bluff)


def test_rates_name_what_a_game_has() -> None:
    counts = new_counts(parse("draw"), 3)
    counts[:, 0] = np.arange(1, len(LINE_COUNTERS) + 1)
    found = rates(parse("draw"), counts[:, 0])
    assert found["decisions per hand"] == 2
    assert found["draws forced per hand"] == 9
    assert "key wins per hand" not in found
    assert "partner's passes per hand" not in found
    assert "tiles drawn per hand" not in rates(parse("block"), counts[:, 0])
    assert "key wins per hand" in rates(parse("six_love"), counts[:, 0])
    assert "partner's passes per hand" in rates(parse("partnership"), counts[0, 0])
    assert rates(parse("draw"), counts[:, 1]) == {}
    with pytest.raises(ValueError, match=r"counts must be of shape \(\.\.\., 14\)"):
        rates(parse("draw"), counts[:, 0, :5])


def test_rates_of_truc() -> None:
    counts = new_counts(parse("truc"), 1)
    counts[0, 0] = [10, 60, 25, 8, 5, 3, 2, 6, 4, 1, 2, 1, 4, 3]
    assert rates(parse("truc"), counts[0, 0]) == {
        "decisions per hand": 6.0,
        "calls per hand": 0.8,
        "calls accepted per call": 0.625,
        "bluffs per call": 0.5,
        "bluffs caught per bluff": 0.25,
        "folds per call faced": 0.75,
        "proposals per hand": 0.2,
        "redeals per proposal": 0.5,
        "won by tricks per hand": 0.4,
        "won by a fold per hand": 0.3,
    }
    assert "proposals per hand" not in rates(parse("truc(max_redeals=0)"), counts)


def test_bots_have_a_style() -> None:
    rules = parse("truc")
    tables = Tables(rules, 300, seed=1)
    codes = np.tile(np.array([BOTS["random"], BOTS["normal"]], np.int8), (300, 1))
    rng, counts = np.zeros((300, 4), np.uint32), new_counts(rules, 300)
    seed_bots(rng, 1, 2, 0)
    counting(rules)(
        *(tables.records, tables.packed, codes, rng, np.full(300, -1, np.int64), 1),
        *(np.zeros((300, 2), np.float32), np.zeros(300, np.int32), counts),
    )
    found = [rates(rules, counts[:, seat]) for seat in range(2)]
    assert found[0]["calls per hand"] > 0.4
    assert found[0]["bluffs per call"] > 2 * found[1]["bluffs per call"]
