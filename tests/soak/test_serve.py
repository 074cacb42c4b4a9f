"""A few seconds of the soaking program."""

from __future__ import annotations

import asyncio

import pytest

pytest.importorskip("uvicorn", reason="the extra serve is not installed")

from .serve import soak


def test_servers_answer_well_and_badly_asked_requests() -> None:
    report = asyncio.run(soak(0.05, seed=3, every=1.0))
    assert not report.errors, report.lines()
    assert report.answers["http 200"] > 5
    assert report.answers["stdio 200"] > 5
    assert len(report.memory["http"]) >= 2
    assert all("memory" in line for line in report.lines()[-2:])
