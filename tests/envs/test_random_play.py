"""Random play inside one call: the same choices through `Tables.step` give the same tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from dominozoo.line.batch import random_play
from dominozoo.line.table import NOBODY
from dominozoo.tables import Tables

GAMES = [
    "block",
    "block(players=3)",
    "block(players=4, target=60)",
    "draw",
    "draw(players=3)",
    "draw(players=4)",
    "partnership",
    "partnership(opening=informal, tie=escalate, decider=True, key_card=True, poser=team)",
    "partnership(tie=void, target=1)",
    "cutthroat",
    "cutthroat(players=2, draw=True, broken=leader_loss)",
    "cutthroat(players=3, bruck=end)",
    "six_love",
    "chiva",
    "chiva(players=2)",
    "chiva(players=3)",
    "french",
]


def first_words(count: int) -> npt.NDArray[np.uint32]:
    return (np.arange(count, dtype=np.uint32) + 1) * np.uint32(2654435761)


def next_word(word: int) -> int:
    word ^= word << 13 & 0xFFFFFFFF
    word ^= word >> 17
    return word ^ (word << 5 & 0xFFFFFFFF)


def chosen(tables: Tables, words: npt.NDArray[np.uint32]) -> npt.NDArray[np.int64]:
    """Step every word; the n-th legal action of each table."""
    actions = np.zeros(len(tables), np.int64)
    for i in range(len(tables)):
        words[i] = next_word(int(words[i]))
        legal = np.flatnonzero(tables.mask[i])
        actions[i] = legal[int(words[i]) * len(legal) >> 32]
    return actions


def count_hands(tables: Tables, ended: Any, counts: npt.NDArray[np.int64]) -> None:
    for record in tables.records[np.flatnonzero(ended)]:
        counts[2 + int(record["last_reason"])] += 1
        if record["last_seat"] != NOBODY:
            counts[6 + int(record["last_seat"])] += 1
        counts[10] += int(record["last_points"].sum())


def step_by_step(tables: Tables, words: npt.NDArray[np.uint32], moves: int) -> npt.NDArray[Any]:
    counts = np.zeros(16, np.int64)
    for _ in range(moves):
        tables.step(chosen(tables, words))
        counts[0] += len(tables)
        counts[1] += tables.hands_ended.sum()
        counts[2] += tables.terminated.sum()
        count_hands(tables, tables.hands_ended, counts)
    return counts


@pytest.mark.plain
@pytest.mark.parametrize("game", GAMES)
def test_random_play_makes_the_moves_that_steps_make(game: str) -> None:
    slow, fast = Tables(game, 3, seed=7), Tables(game, 3, seed=7)
    slow_words, fast_words = first_words(3), first_words(3)
    counts = np.zeros(16, np.int64)
    for moves in (1, 2, 0, 400):
        expected = counts + step_by_step(slow, slow_words, moves)
        random_play(fast.records, fast.packed, fast_words, moves, counts)
        assert counts.tolist() == expected.tolist()
        assert (fast_words == slow_words).all()
        for name in slow.records.dtype.names or ():
            assert (fast.records[name] == slow.records[name]).all(), name
    assert counts[1] > 9


def test_every_legal_action_is_chosen_equally_often() -> None:
    words = np.random.default_rng(0).integers(1, 1 << 32, 20_000, dtype=np.uint32)
    tables = Tables("partnership(opening=informal)", len(words), seed=1)
    tables.records[:] = tables.records[0]
    tables.refresh()
    random_play(tables.records, tables.packed, words, 1, np.zeros(16, np.int64))
    times = np.unique(tables.records["laid"], return_counts=True)[1]
    assert len(times) == 7
    assert abs(times - len(words) / 7).max() < 5 * np.sqrt(len(words) / 7)
