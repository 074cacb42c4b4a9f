"""The kernels' tools for masks and rows against plain arithmetic; both ways to find the n-th one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dominozoo.bits import (
    bits,
    copy_seats,
    has_deposit,
    highest,
    load_word,
    lowest,
    nth,
    nth_by_deposit,
    nth_by_loop,
    seven_tiles,
    spread_actions,
    spread_tiles,
)
from dominozoo.compiler import njit

MASKS = [1, 0b1010, 1 << 57, (1 << 58) - 1, 0x0123_4567_89AB_CDEF & (1 << 58) - 1]


def ones(mask: int) -> list[int]:
    return [k for k in range(63) if mask >> k & 1]


@njit()
def counted(mask: Any) -> Any:
    return bits(mask), lowest(mask), highest(mask)


@pytest.mark.plain
@pytest.mark.parametrize("mask", MASKS)
def test_ones_are_counted_and_found_from_both_sides(mask: int) -> None:
    assert counted(mask) == (len(ones(mask)), ones(mask)[0], ones(mask)[-1])
    assert counted(0) == (0, 64, -1)


@pytest.mark.plain
@pytest.mark.parametrize("find", [nth, nth_by_loop, nth_by_deposit])
def test_the_nth_one_is_found_on_any_processor(find: Callable[..., Any]) -> None:
    if find is nth_by_deposit and not has_deposit():
        find = nth_by_loop  # the compiler's other way needs BMI2
    compiled = find if find is nth else njit()(find)
    for mask in MASKS:
        assert [compiled(mask, n) for n in range(mask.bit_count())] == ones(mask)
    assert compiled(0, 0) == 64


@njit()
def spread(mask: Any, row: Any, at: Any, count: Any) -> None:
    if count == 28:
        spread_tiles(mask, row, at)
    else:
        spread_actions(mask, row, at, count)


@pytest.mark.plain
@pytest.mark.parametrize("dtype", [np.int8, np.int16])
@pytest.mark.parametrize("count", [28, 56, 58])
def test_masks_are_spread_into_their_entries_and_no_others(dtype: Any, count: int) -> None:
    for mask in MASKS:
        mask &= (1 << count) - 1
        row = np.full(count + 6, 7, dtype)
        spread(mask, row, 3, count)
        assert row.tolist() == [7] * 3 + [mask >> k & 1 for k in range(count)] + [7] * 3


@njit()
def seats(row: Any, source: Any, me: Any, players: Any) -> Any:
    copy_seats(row, 1, source, 0, me, players)
    return load_word(source)


@pytest.mark.plain
@pytest.mark.parametrize("players", [2, 3, 4])
def test_seats_are_counted_from_the_observer(players: int) -> None:
    source = np.array([k % (players + 1) for k in range(16)], np.uint8)
    for me in range(players):
        row = np.full(18, -1, np.int16)
        word = seats(row, source, me, players)
        away = [(int(s) - 1 - me) % players + 1 if s else 0 for s in source]
        assert row.tolist() == [-1, *away, -1]
        assert word == int.from_bytes(source[:4].tobytes(), "little")


@njit()
def seven(deck: Any, at: Any) -> Any:
    return seven_tiles(deck, at)


@pytest.mark.plain
def test_seven_tiles_of_a_deck_are_taken_from_any_place() -> None:
    deck = np.random.default_rng(1).permutation(28).astype(np.uint8)
    for at in range(22):
        assert seven(deck, at) == sum(1 << int(tile) for tile in deck[at : at + 7])
