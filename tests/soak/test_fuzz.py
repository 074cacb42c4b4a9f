"""A short run of the fuzzing program."""

from __future__ import annotations

import pytest

pytest.importorskip("pydantic", reason="the extra serve is not installed")

from .fuzz_protocol import fuzz


def test_damaged_requests_are_answered_and_nothing_grows() -> None:
    counts, early, late = fuzz(3000, seed=7)
    assert {"act", "legal", "bad_json", "bad_view", "unknown_op", "bad_request"} <= set(counts)
    assert late - early < 20_000  # kB
