"""The compiled one-hot form is the plain one, bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from dominozoo.fields import (
    LINE_LAYOUT,
    LINE_STATE_LAYOUT,
    TRUC_LAYOUT,
    TRUC_STATE_LAYOUT,
    Layout,
)
from dominozoo.onehot import columns_of, expand

LAYOUTS = [LINE_LAYOUT, LINE_STATE_LAYOUT, TRUC_LAYOUT, TRUC_STATE_LAYOUT]


def name(layout: Layout) -> str:
    return layout.name


def rows(layout: Layout, count: int) -> npt.NDArray[np.int16]:
    """Observations within the layout's bounds."""
    rng, high = np.random.default_rng(0), layout.high().astype(np.int64)
    return rng.integers(0, high + 1, (count, layout.size)).astype(np.int16)


def same_bits(one: npt.NDArray[np.float32], other: npt.NDArray[np.float32]) -> bool:
    return one.shape == other.shape and one.tobytes() == other.tobytes()


@pytest.mark.plain
@pytest.mark.parametrize("layout", LAYOUTS, ids=name)
def test_it_is_the_layouts_own_form_bit_for_bit(layout: Layout) -> None:
    observation = rows(layout, 300)
    assert same_bits(expand(layout, observation), layout.expand(observation))


@pytest.mark.parametrize("layout", LAYOUTS, ids=name)
def test_it_is_also_for_entries_out_of_bounds(layout: Layout) -> None:
    rng = np.random.default_rng(1)
    observation = rng.integers(-(2**15), 2**15, (300, layout.size)).astype(np.int16)
    assert same_bits(expand(layout, observation), layout.expand(observation))


@pytest.mark.parametrize("layout", LAYOUTS, ids=name)
def test_nothing_beside_the_rows_is_written(layout: Layout) -> None:
    memory = np.full((5, layout.columns), 9, np.float32)
    expand(layout, rows(layout, 3), memory[1:4])
    assert (memory[[0, 4]] == 9).all()
    assert (memory[1:4] == layout.expand(rows(layout, 3))).all()


@pytest.mark.parametrize("layout", LAYOUTS, ids=name)
def test_each_column_is_read_from_the_fields(layout: Layout) -> None:
    columns = columns_of(layout)
    assert all(len(values) == layout.columns for values in columns)
    assert set(np.diff(columns.entry).tolist()) <= {0, 1}
    for field in layout.fields:
        mine = columns.entry >= layout.offset(field.name)
        mine &= columns.entry < layout.offset(field.name) + field.size
        assert int(mine.sum()) == field.columns
        assert (columns.case[mine] > 0).all() == (field.kind == "category")
        assert (columns.scale[mine] == field.scale).all()


def test_any_leading_shape_and_integer_will_do() -> None:
    observation = rows(LINE_LAYOUT, 6)
    expected = LINE_LAYOUT.expand(observation)
    assert same_bits(expand(LINE_LAYOUT, observation[0]), expected[0])
    wide = expand(LINE_LAYOUT, observation.astype(np.int64).reshape(2, 3, -1))
    assert same_bits(wide, expected.reshape(2, 3, -1))
    assert same_bits(expand(LINE_LAYOUT, np.asfortranarray(observation)), expected)
    out = np.zeros_like(expected)
    assert expand(LINE_LAYOUT, observation, out) is out
    assert same_bits(out, expected)


@pytest.mark.parametrize(
    ("observation", "out", "reason"),
    [
        (np.zeros((2, 177), np.int16), None, r"integers of shape \(..., 178\), not int16"),
        (np.zeros((2, 178)), None, r"integers of shape \(..., 178\), not float64"),
        (np.int16(3), None, "observation must be integers"),
        (np.zeros((2, 178), np.int16), np.zeros((2, 295)), "out must be float32 of shape"),
        (np.zeros((2, 178), np.int16), np.zeros((3, 295), np.float32), r"shape \(2, 295\), not"),
        (np.zeros((2, 178), np.int16), np.zeros((2, 295), np.float32, "F"), "must be C-ordered"),
    ],
)
def test_what_does_not_fit_is_refused(observation: Any, out: Any, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        expand(LINE_LAYOUT, observation, out)


def test_a_layout_of_ones_own_is_sent_to_its_own_form() -> None:
    for other in (
        Layout("mine", 1, LINE_LAYOUT.fields),
        Layout("line", 1, LINE_LAYOUT.fields[1:]),
    ):
        with pytest.raises(ValueError, match="isn't compiled: use its own expand"):
            expand(other, np.zeros((1, other.size), np.int16))
