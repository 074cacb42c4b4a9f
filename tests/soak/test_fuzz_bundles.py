"""A short run of the program that damages bundles."""

from __future__ import annotations

import pytest

pytest.importorskip("pydantic", reason="the extra serve is not installed")
pytest.importorskip("onnxruntime", reason="the extra export is not installed")

from .fuzz_bundle import KINDS, fuzz


def test_damaged_bundles_are_read_or_refused_in_one_line() -> None:
    counts = fuzz(1500, seed=7)
    assert {f"{kind} refused" for kind in KINDS} <= set(counts)
    assert {"manifest passed", "weights passed", "vector passed", "game passed"} <= set(counts)
