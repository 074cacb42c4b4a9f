"""Table records: every number in its place, every byte in a field, streams seeded, copies exact."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dominozoo.line.table import TABLE as LINE_TABLE
from dominozoo.records import copied, record_type, seed_tables, taken
from dominozoo.truc.table import TABLE as TRUC_TABLE

TABLES = [LINE_TABLE, TRUC_TABLE]


def noise(dtype: Any, count: int) -> Any:
    """Records of random bytes."""
    size = count * dtype.itemsize
    return np.random.default_rng(1).integers(0, 256, size, dtype=np.uint8).view(dtype)


@pytest.mark.parametrize("dtype", TABLES)
def test_each_number_stands_at_a_multiple_of_its_size(dtype: Any) -> None:
    for name, (field, offset, *_) in dtype.fields.items():
        assert offset % field.base.itemsize == 0, name
        assert dtype.itemsize % field.base.itemsize == 0


@pytest.mark.parametrize("dtype", TABLES)
def test_each_byte_belongs_to_a_field_so_copies_are_exact(dtype: Any) -> None:
    records = noise(dtype, 5)
    assert sum(field.itemsize for field, *_ in dtype.fields.values()) == dtype.itemsize
    assert records.copy().tobytes() == records.tobytes() == copied(records).tobytes()
    assert taken(records, np.array([3, 0])).tobytes() == records[[3, 0]].tobytes()


def test_fields_that_leave_gaps_are_refused() -> None:
    with pytest.raises(ValueError, match="their order leaves gaps"):
        record_type(("small", np.uint8), ("large", np.uint32))
    with pytest.raises(ValueError, match="their order leaves gaps"):
        record_type(("large", np.uint32), ("small", np.uint8))


@pytest.mark.parametrize("dtype", TABLES)
def test_seeding_names_the_streams_and_touches_nothing_else(dtype: Any) -> None:
    records = noise(dtype, 3)
    before = copied(records)
    seed_tables(records, 7, (1 << 32) - 1, (1 << 32) - 3)
    assert records["seed"].tolist() == [[7, (1 << 32) - 1]] * 3
    assert records["table"].tolist() == [(1 << 32) - 3, (1 << 32) - 2, (1 << 32) - 1]
    assert records["deals"].tolist() == [0, 0, 0]
    for name in ("seed", "table", "deals"):
        before[name] = records[name]
    assert records.tobytes() == before.tobytes()
