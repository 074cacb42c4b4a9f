"""Scripted bots: legal, honest, repeatable, and minding what they are said to mind."""

from __future__ import annotations

import hashlib
import itertools
import os
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from dominozoo.bots import BOTS, DESCRIPTIONS, OUTSIDE, kernels, seed_bots, uniforms
from dominozoo.bots.heuristic import decide, open_after, stuck_chance
from dominozoo.line import batch
from dominozoo.line.play import legal
from dominozoo.line.table import ANY_TILE, PLAY, TABLE
from dominozoo.rules import make_rules, pack_line
from dominozoo.tables import Tables
from dominozoo.tiles import ALL_TILES, NAMES, TILE_COUNT, mask_of, tile_id, tiles_of

GAMES = [
    "block",
    "block(players=3)",
    "block(players=4)",
    "draw",
    "draw(players=3)",
    "partnership",
    "partnership(poser=team)",
    "cutthroat(players=2)",
    "cutthroat(players=3)",
    "cutthroat(players=2, draw=True)",
    "six_love",
    "chiva",
    "chiva(players=3)",
    "french",
]
Records = npt.NDArray[Any]
Chooser = Callable[[Records, Records], npt.NDArray[np.int64]]


def bot(name: str, players: int, seed: int = 3) -> Chooser:
    """The bot's move at each of some tables, with generators that start anew at each call."""

    def moves(records: Records, packed: Records) -> npt.NDArray[np.int64]:
        b = len(records)
        rng, actions = np.zeros((b, 4), np.uint32), np.full(b, -7, np.int64)
        seed_bots(rng, seed, 0, 0)
        codes = np.full((b, players), BOTS[name], np.int8)
        choose = kernels(make_rules("block")).choose
        choose(records, packed, codes, rng, actions, np.ones(b, np.bool_))
        return actions

    return moves


def walk(game: str, steps: int, count: int = 24, seed: int = 1) -> Tables:
    """Tables that were played on at random, so that they stand in the middle of hands."""
    tables = Tables(game, count, seed=seed)
    noise = np.random.default_rng(seed)
    for _ in range(steps):
        tables.step((tables.mask * noise.random(tables.mask.shape)).argmax(axis=1))
    return tables


def test_every_bot_is_described() -> None:
    assert list(BOTS) == list(DESCRIPTIONS) == ["random", "easy", "normal", "hard", "mobility"]


@pytest.mark.parametrize("game", GAMES)
def test_bots_play_legal_moves_to_the_end_of_hands(game: str) -> None:
    names = list(BOTS)
    tables = Tables(game, 20, seed=2)  # checked: an illegal move raises
    codes = np.zeros((20, tables.rules.players), np.int8)
    codes[:] = np.arange(20)[:, None] % len(names)
    rng, actions = np.zeros((20, 4), np.uint32), np.zeros(20, np.int64)
    seed_bots(rng, 4, 0, 0)
    ended = np.zeros(20, np.int64)
    for _ in range(150):
        kernels(tables.rules).choose(
            tables.records, tables.packed, codes, rng, actions, np.ones(20, np.bool_)
        )
        tables.step(actions)
        ended += tables.hands_ended
    assert ended.min() >= 2


def test_choose_leaves_other_entries_and_the_tables_alone() -> None:
    tables = Tables("block(players=3)", 6, seed=1)
    before = tables.records.tobytes()
    codes = np.full((6, 3), BOTS["hard"], np.int8)
    codes[np.arange(6), tables.turn] = [0, OUTSIDE, 2, 3, OUTSIDE, 4]
    where = np.array([1, 1, 0, 1, 1, 1], np.bool_)
    rng, actions = np.zeros((6, 4), np.uint32), np.full(6, -9, np.int64)
    seed_bots(rng, 1, 0, 0)
    kernels(tables.rules).choose(tables.records, tables.packed, codes, rng, actions, where)
    assert (actions == -9).tolist() == [False, True, True, False, True, False]
    assert tables.records.tobytes() == before


def hidden_changed(records: Records, players: int, seed: int) -> Records:
    """The tables with all that the seat to move can't see changed at random."""
    rng, changed = np.random.default_rng(seed), records.copy()
    for t in changed:
        me = int(t["turn"])
        unseen = ALL_TILES & ~(int(t["hands"][me]) | int(t["laid"]))
        pool = rng.permutation(tiles_of(unseen)).tolist()
        for seat in range(players):
            if seat != me:
                size = int(t["sizes"][seat])
                t["hands"][seat], pool = mask_of(pool[:size]), pool[size:]
        t["deck"] = rng.permutation(TILE_COUNT)
        t["seed"], t["table"], t["deals"] = rng.integers(0, 1 << 31, 2), 12345, 77
    return changed


def peeks(moves: Chooser, game: str) -> bool:
    """True if a chooser's moves depend on what its seat may not know."""
    for steps in (1, 4, 9, 16, 23):
        tables = walk(game, steps)
        seen = moves(tables.records.copy(), tables.packed)
        for seed in range(3):
            other = hidden_changed(tables.records, tables.rules.players, seed)
            if (moves(other, tables.packed) != seen).any():
                return True
    return False


@pytest.mark.parametrize("name", list(BOTS))
@pytest.mark.parametrize("game", GAMES)
def test_bots_know_only_what_their_seat_may_know(game: str, name: str) -> None:
    assert not peeks(bot(name, Tables(game, 1, seed=0).rules.players), game)


def test_a_peeking_bot_is_found() -> None:
    def next_hand(records: Records, packed: Records) -> npt.NDArray[np.int64]:
        seats = (records["turn"] + 1) % 2
        return np.asarray(records["hands"][np.arange(len(records)), seats], np.int64)

    def deck(records: Records, packed: Records) -> npt.NDArray[np.int64]:
        return np.asarray(records["deck"][:, -1], np.int64)

    assert peeks(next_hand, "block")
    assert peeks(deck, "block")


def test_a_seed_repeats_moves_and_another_changes_them() -> None:
    tables = walk("partnership", 2, count=200)
    first = bot("random", 4, seed=3)(tables.records, tables.packed)
    assert (first == bot("random", 4, seed=3)(tables.records, tables.packed)).all()
    assert (first != bot("random", 4, seed=4)(tables.records, tables.packed)).any()


def test_bots_draw_nothing_for_a_forced_move_and_something_for_a_choice() -> None:
    tables = walk("block", 2, count=60)
    rng = np.zeros((60, 4), np.uint32)
    seed_bots(rng, 1, 0, 0)
    before, actions = rng.copy(), np.zeros(60, np.int64)
    codes = np.full((60, 2), BOTS["random"], np.int8)
    kernels(tables.rules).choose(
        tables.records, tables.packed, codes, rng, actions, np.ones(60, np.bool_)
    )
    forced = tables.mask.sum(axis=1) == 1
    assert 0 < forced.sum() < 60
    assert ((rng != before).any(axis=1) == ~forced).all()


def test_random_takes_every_legal_action_equally_often() -> None:
    tables = Tables("cutthroat", 1, seed=1)
    tables.reset(1, posers=0)
    records = np.repeat(tables.records, 7000)
    counts = np.bincount(bot("random", 4)(records, tables.packed), minlength=58)
    legal = tables.mask[0] == 1
    assert counts[~legal].sum() == 0
    assert counts[legal].min() > 870  # 1000 expected, standard deviation 29
    assert counts[legal].max() < 1130


def test_easy_is_nearly_random_but_not_quite() -> None:
    tables = Tables("cutthroat", 1, seed=1)
    tables.reset(1, posers=0)
    records = np.repeat(tables.records, 7000)
    counts = np.bincount(bot("easy", 4)(records, tables.packed), minlength=58) / 7000
    heaviest = max(
        tiles_of(tables.records["hands"][0][0]), key=lambda k: sum(map(int, NAMES[k][::2]))
    )
    assert counts[heaviest] == pytest.approx(0.8 / 7 + 0.2, abs=0.03)
    assert counts.max() == counts[heaviest]


def test_uniforms_are_uniform_and_move_each_generator() -> None:
    rng = np.zeros((4000, 4), np.uint32)
    seed_bots(rng, 9, 1, 0)
    u = np.full(3999, -1.0)
    before = rng.copy()
    uniforms(rng, np.arange(1, 4000), u)
    assert (rng[0] == before[0]).all()
    assert (rng[1:] != before[1:]).any(axis=1).all()
    assert 0 <= u.min() < u.max() < 1
    assert np.histogram(u, 4, (0, 1))[0] == pytest.approx(1000, abs=110)


@pytest.mark.plain
def test_the_chance_to_be_stuck_counts_hands() -> None:
    candidates = [0, 3, 4, 8, 11, 15, 20, 27]
    for wanted in ([], [3], [3, 8, 11], [0, 3, 4, 8, 11, 15], candidates):
        for size in range(1, 6):
            hands = list(itertools.combinations(candidates, size))
            free = sum(not set(hand) & set(wanted) for hand in hands)
            # Tiles beyond the candidates don't count.
            found = stuck_chance(mask_of(candidates), mask_of([*wanted, 13]), size)
            assert found == pytest.approx(free / len(hands))


@pytest.mark.parametrize("game", ["block", "partnership", "french"])
def test_open_after_tells_what_the_ends_will_take(game: str) -> None:
    seen = 0
    for steps in range(28):
        tables = walk(game, steps, count=8)
        rules = tables.packed[0]
        for k, mask in enumerate(tables.mask):
            for action in np.flatnonzero(mask[: rules["ends"] * TILE_COUNT]):
                record, after = tables.records[k], tables.records[k : k + 1].copy()
                expected = open_after(record, rules, action % TILE_COUNT, action // TILE_COUNT)
                batch.apply_one(after, tables.packed, int(action))
                after["hands"][0, after["turn"][0]] = ALL_TILES
                ends = legal(after[0], rules)
                assert int(expected) == ends[0] | ends[1] | ends[2] | ends[3]
                seen += 1
    assert seen > 200


def stand(
    game: str,
    hand: str,
    line: str,
    ends: tuple[int, ...],
    sizes: tuple[int, ...],
    lacks: dict[int, int] | None = None,
    **options: Any,
) -> tuple[Any, Any]:
    """A position with seat 0 to move: (table, rules). ``lacks`` is a number by seat."""
    records = np.zeros(1, TABLE)
    t = records[0]
    t["phase"], t["turn"], t["opening"], t["ply"] = PLAY, 0, ANY_TILE, 9
    t["hands"][0] = mask_of(map(tile_id, hand.split()))
    t["laid"] = mask_of(map(tile_id, line.split()))
    t["ends"][: len(ends)] = [number + 1 for number in ends]
    t["sizes"][: len(sizes)] = [len(hand.split()), *sizes[1:]]
    for seat, number in (lacks or {}).items():
        t["lacks"][seat] = 1 << number
    return t, pack_line(make_rules(game, **options))[0]


def lay(name: str, position: tuple[Any, Any]) -> tuple[str, int]:
    """The tile that a bot lays in a position, and the end."""
    action = int(decide(*position, BOTS[name], np.array([1, 2, 3, 4], np.uint32)))
    return NAMES[action % TILE_COUNT], action // TILE_COUNT


def answer(name: str, position: tuple[Any, Any]) -> str:
    """The tile that a bot lays in a position."""
    return lay(name, position)[0]


@pytest.mark.plain
def test_normal_lays_heavy_tiles_and_doubles_first() -> None:
    place = stand("block", "5-3 6-3 3-1", "4-3 4-0", (3, 0), (3, 5))
    assert answer("normal", place) == "6-3"
    place = stand("block", "5-3 3-3 3-1", "4-3 4-0", (3, 0), (3, 5))
    assert answer("normal", place) == "3-3"  # 6 pips, and a double


@pytest.mark.plain
def test_mobility_lays_doubles_first_then_keeps_its_hand_playable() -> None:
    place = stand("block", "0-0 6-3 6-1 6-2", "4-3 4-0", (3, 0), (4, 5))
    assert answer("mobility", place) == "0-0"
    place = stand("block", "5-3 3-1 2-1 1-1 6-4", "4-3 4-0", (3, 0), (5, 5))
    assert answer("mobility", place) == "3-1"  # leaves 2-1 and 1-1 playable; 5-3 leaves none


@pytest.mark.plain
def test_hard_stops_a_seat_with_two_tiles_by_a_number_that_it_lacks() -> None:
    def place(lacks: dict[int, int]) -> tuple[Any, Any]:
        return stand("block", "5-3 6-3 1-0", "4-3 4-2", (3, 2), (3, 2), lacks)

    assert answer("hard", place({})) == "6-3"
    assert answer("hard", place({1: 5})) == "5-3"


@pytest.mark.plain
def test_hard_helps_its_partner() -> None:
    def place(lacks: dict[int, int]) -> tuple[Any, Any]:
        return stand("partnership", "6-3 5-3 1-0", "4-3 4-2", (3, 2), (3, 4, 4, 4), lacks)

    assert answer("hard", place({1: 6})) == "6-3"
    assert answer("hard", place({1: 5})) == "5-3"
    assert answer("hard", place({2: 6})) == "5-3"


@pytest.mark.plain
def test_hard_closes_the_table_only_if_its_count_is_low() -> None:
    # 5-4 on the 4 makes 5/5 with all fives out; on the 5 it leaves 4/4.
    line = "5-5 5-0 5-1 5-2 5-3 6-5 4-0"
    light = stand("block", "5-4 4-1 1-0", line, (5, 4), (3, 6))
    heavy = stand("block", "5-4 6-6 6-3 6-2", line, (5, 4), (4, 2))
    assert lay("hard", light) == ("5-4", 1)
    assert lay("hard", heavy) == ("5-4", 0)


@pytest.mark.plain
def test_hard_sheds_the_double_that_doubles_a_french_penalty() -> None:
    line = "0-0 1-0 2-0 5-0 4-0 1-1 5-5 4-4"
    last_double = stand("french", "2-2 6-5 6-1", line, (1, 2, 5, 4), (3, 5, 5, 5))
    one_of_two = stand("french", "2-2 6-5 6-1 6-6", line, (1, 2, 5, 4), (4, 5, 5, 5))
    assert answer("hard", last_double) == "2-2"
    assert answer("hard", one_of_two) == "6-5"


def digest(game: str) -> str:
    """The digest of whole hands played by mixed bots, decision by decision in the records."""
    tables = Tables(game, 4, seed=6)
    n = tables.rules.players
    codes = ((np.arange(4)[:, None] + np.arange(n)) % len(BOTS)).astype(np.int8)
    rng, hands = np.zeros((4, 4), np.uint32), np.zeros(4, np.int32)
    seed_bots(rng, 6, 0, 0)
    reward = np.zeros((4, n), np.float32)
    advance = kernels(tables.rules).advance
    advance(tables.records, tables.packed, codes, rng, np.full(4, -1, np.int64), 2, reward, hands)
    parts = (tables.records, rng, reward, hands)
    return hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest()


def test_compiled_and_plain_bots_play_the_same_games(tmp_path: Path) -> None:
    games = [game.replace(" ", "") for game in GAMES]
    code = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n" + (
        "import numba\nfrom test_bots import digest\n"
        f"assert numba.config.DISABLE_JIT\nprint(*map(digest, {games!r}))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout.split() == [digest(game) for game in games]


def test_advance_stops_where_an_outside_seat_has_a_choice() -> None:
    tables = Tables("partnership", 30, seed=3)
    codes = np.full((30, 4), BOTS["hard"], np.int8)
    codes[:, 1] = OUTSIDE
    rng, reward = np.zeros((30, 4), np.uint32), np.zeros((30, 4), np.float32)
    hands, actions = np.zeros(30, np.int32), np.full(30, -1, np.int64)
    seed_bots(rng, 3, 0, 0)
    advance = kernels(tables.rules).advance
    asked = 0
    while True:
        advance(tables.records, tables.packed, codes, rng, actions, 1, reward, hands)
        waiting = tables.records["turn"] >= 0
        if not waiting.any():
            break
        asked += int(waiting.sum())
        assert (tables.records["turn"][waiting] == 1).all()
        live = Tables("partnership", int(waiting.sum()), seed=0)
        live.records[:] = tables.records[waiting]
        live.refresh()
        assert (live.mask.sum(axis=1) > 1).all()
        actions[:] = -1
        actions[waiting] = live.mask.argmax(axis=1)
    assert asked > 60
    assert (hands == 1).all()
    assert reward.sum(axis=1) == pytest.approx(0)
    assert np.abs(reward).sum() > 0


# What the bots chose when they were written, as checksums: faster code must choose the same.
CHOICES: dict[str, int] = {
    "block": 0xE3A24A80,
    "block(players=3)": 0xA65D004D,
    "block(players=4)": 0xED06DA5E,
    "draw": 0x70EF1042,
    "draw(players=3)": 0x564B987E,
    "partnership": 0xDC48D141,
    "partnership(poser=team)": 0xEFD8A13C,
    "cutthroat(players=2)": 0xFF7B41F0,
    "cutthroat(players=3)": 0xAF9A5949,
    "cutthroat(players=2, draw=True)": 0xC88F1DDF,
    "six_love": 0x43F68EA6,
    "chiva": 0x484F8B81,
    "chiva(players=3)": 0x88ED59C5,
    "french": 0x7DB91C78,
}


def choices(game: str) -> int:
    """Checksum of 200 decisions at each of 100 tables, hard's in most seats, and of the lots."""
    tables = Tables(game, 100, seed=11)
    rng, actions = np.zeros((100, 4), np.uint32), np.zeros(100, np.int64)
    seed_bots(rng, 12, 0, 0)
    codes = np.full((100, tables.rules.players), BOTS["hard"], np.int8)
    for code in BOTS.values():
        codes[10 * code : 10 * code + 10, 0] = code
    everywhere, checksum = np.ones(100, np.bool_), 0
    for _ in range(200):
        kernels(tables.rules).choose(tables.records, tables.packed, codes, rng, actions, everywhere)
        checksum = zlib.crc32(actions.astype("<i8").tobytes(), checksum)
        tables.step(actions)
    return zlib.crc32(rng.astype("<u4").tobytes(), checksum)


@pytest.mark.parametrize("game", GAMES)
def test_faster_bots_choose_as_before(game: str) -> None:
    assert choices(game) == CHOICES[game]
