"""Intervals: they hold the truth as often as they say, also where deals are few or all alike."""

from __future__ import annotations

import itertools
import sys

import numpy as np
import pytest

from dominozoo_training.evaluation import coverage
from dominozoo_training.evaluation.intervals import (
    Interval,
    bootstrap_interval,
    outer_tail,
    student,
)


def test_many_deals_give_the_normal_interval() -> None:
    by_deal = np.random.default_rng(1).choice([0.0, 0.25, 0.5, 1.0], size=20_000)
    found = bootstrap_interval(by_deal)
    half = 1.959964 * by_deal.std(ddof=1) / len(by_deal) ** 0.5
    assert found.mean == by_deal.mean()
    assert (found.mean - found.low, found.high - found.mean) == pytest.approx(
        (half, half), rel=0.06
    )
    assert found.half_width == (found.high - found.low) / 2


def test_intervals_hold_the_true_rate_95_times_in_100() -> None:
    found = coverage.coverage(arenas=2000, deals=200, seed=1, resamples=500)
    assert list(found) == [2, 4]
    for share in found.values():
        assert 0.935 <= share <= 0.965


def test_few_deals_get_wider_intervals_not_narrower_ones() -> None:
    rng, held = np.random.default_rng(2), 0
    for k in range(1000):
        by_deal = rng.choice([0.0, 0.5, 1.0], size=6, p=[0.25, 0.5, 0.25])
        found = bootstrap_interval(by_deal, seed=k, resamples=500)
        held += found.low <= 0.5 <= found.high
    assert held >= 930


@pytest.mark.parametrize("deals", [1, 2, 10, 1000])
def test_if_all_are_won_or_lost_it_is_clopper_and_pearsons(deals: int) -> None:
    exact = 0.025 ** (1 / deals)
    assert tuple(bootstrap_interval(np.ones(deals))) == pytest.approx((1.0, exact, 1.0))
    assert tuple(bootstrap_interval(np.zeros(deals))) == pytest.approx((0.0, 0.0, 1 - exact))


def test_equal_deals_in_between_have_a_width_too() -> None:
    found = bootstrap_interval(np.full(1000, 0.5))
    assert found.mean == 0.5
    assert found.high - 0.5 == pytest.approx(0.5 * (1 - 0.025**0.001))
    assert 0.5 - found.low == pytest.approx(found.high - 0.5)


def test_the_seed_decides_and_the_order_of_deals_does_not() -> None:
    by_deal = np.random.default_rng(3).random(200)
    first = bootstrap_interval(by_deal, seed=4)
    assert first == pytest.approx(bootstrap_interval(by_deal[::-1], seed=4), abs=1e-12)
    assert first != bootstrap_interval(by_deal, seed=5)
    assert isinstance(first, Interval)


def test_resampling_in_parts_is_resampling_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    by_deal = np.random.default_rng(3).random(50)
    whole = bootstrap_interval(by_deal)
    monkeypatch.setattr("dominozoo_training.evaluation.intervals.CELLS", 999)
    assert bootstrap_interval(by_deal) == whole


def test_values_outside_0_to_1_take_bounds() -> None:
    points = np.random.default_rng(3).normal(0.0, 2.0, 100)
    found = bootstrap_interval(points, bounds=(-30.0, 30.0))
    assert -2 < found.low < found.mean < found.high < 2
    for wrong in (points, np.array([0.5, np.nan])):
        with pytest.raises(ValueError, match=r"by_deal must lie in 0\.\.1"):
            bootstrap_interval(wrong)
    for empty in (np.zeros(0), np.zeros((2, 2))):
        with pytest.raises(ValueError, match="by_deal must be of shape"):
            bootstrap_interval(empty)


def test_students_quantile() -> None:
    table = {1: 12.7062, 4: 2.7764, 5: 2.5706, 9: 2.2622, 30: 2.0423, 1000: 1.9623}
    for freedom, quantile in table.items():
        assert student(freedom) == pytest.approx(quantile, abs=3e-3)
    tails = [outer_tail(deals) for deals in (2, 3, 10, 100, 10_000)]
    assert all(a < b < 0.025 for a, b in itertools.pairwise(tails))


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--deals", "0"], "deals must be 1 or more, not 0"),
        (["--arenas", "-1"], "arenas must be 2 or more, not -1"),
        (["--arenas", "1"], "arenas must be 2 or more, not 1"),
        (["--seed", "-1"], "seed must be 0 or more, not -1"),
    ],
)
def test_numbers_that_cannot_be_simulated_are_refused_in_one_line(
    words: list[str],
    told: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", ["coverage", *words])
    with pytest.raises(SystemExit) as end:
        coverage.main()
    assert end.value.code == 2
    assert capsys.readouterr() == ("", f"coverage: {told}\n")
