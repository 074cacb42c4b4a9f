"""What must hold at every table: payments, tiles, determinism, the plain kernels."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from dominozoo.bits import bits, lowest
from dominozoo.bots.heuristic import roll
from dominozoo.compiler import njit
from dominozoo.records import seed_tables
from dominozoo.rules import RulesError, make_rules, pack_line, pack_truc
from dominozoo.tables import Tables
from dominozoo.tiles import tiles_of
from dominozoo.truc import batch
from dominozoo.truc.game import TrucGame
from dominozoo.truc.illegal import why_illegal
from dominozoo.truc.play import legal
from dominozoo.truc.score import finish, next_hand
from dominozoo.truc.table import TABLE

from .helpers import PLAIN, play, positions, random_step, shuffled


@njit(cache=False)
def random_rounds(tables: Any, packed: Any, rounds: Any, rng: Any, rows: Any) -> None:
    """Play rounds by random legal moves; a row each: tricks won, their number, end, dealer."""
    t, rules = tables[0], packed[0]
    reward = np.zeros(2)
    for k in range(rounds):
        rows[k, 8] = t.dealer
        before = np.int64(t.scores[0]) - np.int64(t.scores[1])
        reward[:] = 0.0
        while True:
            plays, calls, words = legal(t, rules)
            both = plays | calls << 28 | words << 56
            for _ in range(roll(rng, bits(both))):
                both &= both - 1
            if finish(t, rules, lowest(both), 0, 0, reward) != 0:
                break
        for trick in range(3):
            rows[k, trick] = t.won[trick] if trick < t.tricks else 2
        rows[k, 3] = t.tricks
        rows[k, 4] = t.last_reason
        rows[k, 5] = t.last_seat
        rows[k, 6] = t.last_points.sum()
        rows[k, 7] = t.multiplier
        rows[k, 9] = t.scores[0] - t.scores[1] - before
        rows[k, 10] = round((reward[0] - reward[1]) * 500)
        rows[k, 11] = round((reward[0] + reward[1]) * 1e6)
        rows[k, 12] = t.called.sum() - t.folded
        t.scores[:] = 0
        next_hand(t, rules)


def winner_of(tricks: list[str]) -> str | None:
    """E42 and its likes, written out; None while the round is open."""
    text = "".join(tricks)
    table = {"=D": "D", "=N": "N", "N=": "N", "D=": "D", "NN": "N", "DD": "D", "===": "void"}
    table |= {"ND=": "N", "DN=": "D", "==D": "D", "==N": "N", "NDN": "N", "NDD": "D"}
    table |= {"DNN": "N", "DND": "D"}
    return table.get(text)


@pytest.mark.parametrize("redeals", [1, 3])
def test_100_000_random_rounds_pay_as_written(redeals: int) -> None:
    rounds = 100_000
    tables = np.zeros(1, TABLE)
    packed = pack_truc(make_rules("truc", target=1000, max_redeals=redeals))
    seed_tables(tables, 5, 0, 0)
    batch.start_tables(tables, packed, np.ones(1, np.bool_), np.full(1, -1))
    rows = np.zeros((rounds, 13), np.int64)
    random_rounds(tables, packed, rounds, np.arange(1, 5, dtype=np.uint32), rows)
    assert rows[:, 7].max() == 32
    assert not rows[:, 11].any()
    assert (rows[:, 9] == rows[:, 10]).all()
    assert (rows[1:, 8] == 1 - rows[:-1, 8]).all()
    assert (rows[:, 7] == 2 ** rows[:, 12]).all()
    seen = set()
    for row in np.unique(rows[:, :10], axis=0).tolist():
        *won, tricks, reason, seat, points, multiplier, dealer, gain = row
        text = ["=" if seat < 0 else "D" if seat == dealer else "N" for seat in won[:tricks]]
        winner = winner_of(text)
        for k in range(2, tricks):
            assert winner_of(text[:k]) is None
        if reason == 2:  # refused: the round was open
            assert winner is None
        elif reason == 3:
            assert (winner, seat, points, gain) == ("void", -1, 0, 0)
        else:
            assert reason == 1
            assert winner == ("D" if seat == dealer else "N")
        if reason != 3:
            assert points == multiplier
            assert gain == (points if seat == 0 else -points)
        if reason != 2:
            seen.add("".join(text))
    assert seen == {
        *("=D", "=N", "N=", "D=", "NN", "DD", "===", "ND=", "DN=", "==D", "==N"),
        *("NDN", "NDD", "DNN", "DND"),
    }


@pytest.mark.plain
@pytest.mark.parametrize("redeals", [0, 1, 3])
def test_hidden_tiles_leave_observation_and_view_unchanged(redeals: int) -> None:
    rng = np.random.default_rng(2)
    changed = 0
    for game in positions(150, max_redeals=redeals):
        for seat in range(2):
            twin = shuffled(game, seat, rng)
            changed += not np.array_equal(twin.observe(1 - seat)[0], game.observe(1 - seat)[0])
            assert np.array_equal(twin.observe(seat)[0], game.observe(seat)[0])
            assert twin.view(seat) == game.view(seat)
    assert changed > 100


@pytest.mark.plain
@pytest.mark.parametrize("redeals", [0, 1, 3])
def test_tiles_are_conserved_and_scores_are_zero_sum(redeals: int) -> None:
    tables = Tables(f"truc(max_redeals={redeals})", 4, seed=9)
    rng = np.random.default_rng(1)
    for _ in range(150):
        tables.step((tables.mask * rng.random(tables.mask.shape)).argmax(axis=1))
        assert not tables.reward.sum(axis=1).any()
        assert (tables.observation >= 0).all()
        assert (tables.observation <= tables.layout.high()).all()
        for record in tables.records:
            stock = record["deck"].tolist()[28 - int(record["stock"]) :]
            played = record["played"].tolist()[: int(record["plays"])]
            every = [*stock, *played]
            for name in ("hands", "discards"):
                every += [slot for mask in record[name] for slot in tiles_of(mask)]
            assert sorted(every) == list(range(28))


def test_the_deal_depends_on_seed_table_and_hand_alone() -> None:
    one, other = (Tables("truc", 3, seed=11) for _ in range(2))
    rng = np.random.default_rng(5)
    decks: list[dict[tuple[int, int], list[int]]] = [{}, {}]
    for tables, found in zip((one, other), decks, strict=True):
        for _ in range(300):
            tables.step((tables.mask * rng.random(tables.mask.shape)).argmax(axis=1))
            for record in tables.records:
                found[int(record["table"]), int(record["deals"])] = record["deck"].tolist()
    common = {*decks[0]} & {*decks[1]}
    assert len(common) > 100
    assert all(decks[0][key] == decks[1][key] for key in common)


def test_a_copied_table_plays_on_identically() -> None:
    rng = np.random.default_rng(8)
    for game in positions(40):
        twin = TrucGame(game.rules)
        twin.tables, twin.history = game.tables.copy(), game.history
        for _ in range(12):
            seed = int(rng.integers(1 << 30))
            codes = [random_step(g, np.random.default_rng(seed)) for g in (game, twin)]
            assert codes[0] == codes[1]
            assert game.tables == twin.tables
            if codes[0] >= 2 * batch.ENDED:
                break


def test_no_action_outside_the_mask_is_taken_and_each_has_its_reason() -> None:
    for game in positions(200):
        record = game.tables[0]
        mask = game.observe(int(record["turn"]))[1]
        for action in range(-1, 61):
            fine = 0 <= action < 60 and bool(mask[action])
            assert (why_illegal(record, game.rules, action) == "") == fine
            if not fine:
                with pytest.raises(ValueError, match=f"action {action} is illegal: ."):
                    game.step(action)


def test_compiled_and_plain_kernels_play_the_same_rounds(tmp_path: Path) -> None:
    code = f"import sys; sys.path.insert(0, {str(Path(__file__).parents[1])!r})\n" + (
        "import numba\nfrom truc.helpers import PLAIN, play\n"
        "assert numba.config.DISABLE_JIT\nprint(*map(play, PLAIN))"
    )
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=tmp_path,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout.split() == [play(game) for game in PLAIN]


def test_rules_are_packed_for_their_own_family() -> None:
    with pytest.raises(RulesError, match="truc is no line game"):
        pack_line(make_rules("truc"))
    with pytest.raises(RulesError, match="block is not Le Truc"):
        pack_truc(make_rules("block"))
    with pytest.raises(RulesError, match="max_redeals=4 is not taken"):
        make_rules("truc", max_redeals=4)


def test_tables_refuses_an_illegal_action_and_plays_matches() -> None:
    tables = Tables("truc(target=3)", 2, seed=1, reward="match", auto_forced=True)
    with pytest.raises(ValueError, match="table 0: action 3 is illegal"):
        tables.step(np.array([3, 57]))
    rng = np.random.default_rng(1)
    ends = 0
    for _ in range(400):
        tables.step((tables.mask * rng.random(tables.mask.shape)).argmax(axis=1))
        ended: npt.NDArray[np.bool_] = tables.terminated
        assert (np.abs(tables.reward[ended]) == 1).all()
        assert not tables.reward[~ended].any()
        assert (tables.records["scores"][ended] == 0).all()
        ends += int(ended.sum())
    assert ends > 5
    cut = Tables("truc", 2, seed=1, reward="match", max_hands=1)
    while not cut.truncated.any():
        cut.step(cut.mask.argmax(axis=1))
    assert not cut.terminated.any()
    assert cut.copy().records.tobytes() == cut.records.tobytes()
