"""Le Truc's random play inside one call: the same choices through `Tables.step`."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from dominozoo.tables import Tables
from dominozoo.truc.batch import random_play
from dominozoo.truc.table import NOBODY

GAMES = ["truc", "truc(target=3)", "truc(max_redeals=0)", "truc(max_redeals=3, target=100)"]


def next_word(word: int) -> int:
    word ^= word << 13 & 0xFFFFFFFF
    word ^= word >> 17
    return word ^ (word << 5 & 0xFFFFFFFF)


def step_by_step(tables: Tables, words: npt.NDArray[np.uint32], moves: int) -> npt.NDArray[Any]:
    counts = np.zeros(16, np.int64)
    for _ in range(moves):
        words[:] = [next_word(int(word)) for word in words]
        legal = [np.flatnonzero(mask) for mask in tables.mask]
        places = [int(word) * len(ids) >> 32 for word, ids in zip(words, legal, strict=True)]
        tables.step(np.array([ids[n] for n, ids in zip(places, legal, strict=True)]))
        counts[0] += len(tables)
        counts[1] += tables.hands_ended.sum()
        counts[2] += tables.terminated.sum()
        for record in tables.records[tables.hands_ended > 0]:
            counts[2 + int(record["last_reason"])] += 1
            if record["last_seat"] != NOBODY:
                counts[6 + int(record["last_seat"])] += 1
            counts[10] += int(record["last_points"].sum())
    return counts


@pytest.mark.plain
@pytest.mark.parametrize("game", GAMES)
def test_random_play_makes_the_moves_that_steps_make(game: str) -> None:
    slow, fast = Tables(game, 3, seed=7), Tables(game, 3, seed=7)
    slow_words = np.array([1, 2654435761, 4294967295], np.uint32)
    fast_words = slow_words.copy()
    counts = np.zeros(16, np.int64)
    for moves in (1, 2, 0, 400):
        expected = counts + step_by_step(slow, slow_words, moves)
        random_play(fast.records, fast.packed, fast_words, moves, counts)
        assert counts.tolist() == expected.tolist()
        assert (fast_words == slow_words).all()
        for name in slow.records.dtype.names or ():
            assert (fast.records[name] == slow.records[name]).all(), name
    assert counts[[3, 4, 6, 7]].min() > 9
    assert counts[3:6].sum() == counts[1]


def test_every_legal_action_is_chosen_equally_often() -> None:
    words = np.random.default_rng(0).integers(1, 1 << 32, 20_000, dtype=np.uint32)
    tables = Tables("truc(max_redeals=0)", len(words), seed=1)
    tables.step(tables.mask.argmax(axis=1))
    tables.records[:] = tables.records[0]
    tables.refresh()
    random_play(tables.records, tables.packed, words, 1, np.zeros(16, np.int64))
    pairs = tables.records["played"][:, 1].astype(int) * 2 + tables.records["called"][:, 1]
    times = np.unique(pairs, return_counts=True)[1]
    assert len(times) == 6
    assert abs(times - len(words) / 6).max() < 5 * np.sqrt(len(words) / 6)
