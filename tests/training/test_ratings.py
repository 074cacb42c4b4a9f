"""Ratings: known strengths come back, with intervals that mean something."""

from __future__ import annotations

import itertools
import sys
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from dominozoo_training.evaluation import ratings
from dominozoo_training.evaluation.ratings import ELO, RatingError, rate

NAMES = list("abcde")
STRENGTHS = np.array([0.6, 0.2, 0.0, -0.3, -0.5])

Lineups = list[tuple[int, ...]]
Shares = list[npt.NDArray[np.float32]]


def pairs(deals: int, sides: int = 2, seed: int = 1) -> tuple[Lineups, Shares]:
    """Every pair's shares, drawn by the model with STRENGTHS."""
    rng = np.random.default_rng(seed)
    lineups: Lineups = list(itertools.combinations(range(len(NAMES)), 2))
    shares: Shares = []
    for a, b in lineups:
        chance = 1 / (1 + (sides - 1) * np.exp(STRENGTHS[b] - STRENGTHS[a]))
        won = (rng.random((deals, sides)) < chance).astype(np.float32)
        shares.append(np.stack([won, 1 - won], axis=2))
    return lineups, shares


def tables(deals: int, seed: int = 1, size: int = 4) -> tuple[Lineups, Shares]:
    """Shares at tables of different entrants, one winner each."""
    rng = np.random.default_rng(seed)
    lineups: Lineups = list(itertools.combinations(range(len(NAMES)), size))
    shares: Shares = []
    for lineup in lineups:
        chances = np.exp(STRENGTHS[list(lineup)])
        winner = rng.choice(size, size=(deals, size), p=chances / chances.sum())
        shares.append((winner[:, :, None] == np.arange(size)).astype(np.float32))
    return lineups, shares


def by_name(found: ratings.Ratings) -> dict[str, ratings.Rating]:
    return {row.name: row for row in found.rows}


@pytest.mark.parametrize("sides", [2, 4])
def test_known_strengths_come_back(sides: int) -> None:
    found = rate(NAMES, *pairs(4000, sides), sides)
    assert [row.name for row in found.rows] == NAMES
    wanted = (STRENGTHS - STRENGTHS.mean()) * ELO
    for name, rating in zip(NAMES, wanted, strict=True):
        row = by_name(found)[name]
        assert row.rating == pytest.approx(rating, abs=6)
        assert row.low < row.rating < row.high < row.low + 16
    assert sum(row.rating for row in found.rows) == pytest.approx(0, abs=1e-6)
    assert found.method == ("Bradley-Terry" if sides == 2 else "Luce, one seat against 3")


def test_100_points_are_64_per_cent() -> None:
    won = np.array([[[0.64, 0.36]]] * 5000, np.float32)
    row = by_name(rate(["a", "b"], [(0, 1)], [won]))
    assert row["a"].rating - row["b"].rating == pytest.approx(100, abs=0.5)


def test_intervals_hold_the_truth() -> None:
    wanted, held = dict(zip(NAMES, (STRENGTHS - STRENGTHS.mean()) * ELO, strict=True)), 0
    for seed in range(40):
        found = rate(NAMES, *pairs(60, seed=seed), seed=seed)
        held += sum(row.low <= wanted[row.name] <= row.high for row in found.rows)
    assert 180 <= held <= 199  # of 200


def test_who_never_lost_stays_finite_and_uncertain() -> None:
    won = np.tile(np.array([1, 0], np.float32), (1000, 2, 1))
    row = by_name(rate(["a", "b"], [(0, 1)], [won]))["a"]
    assert 400 < row.rating < 1000
    assert row.rating - row.low > 5
    single = by_name(rate(["a", "b"], [(0, 1)], [won[:1]]))["a"]
    assert 0 < single.rating < 200
    assert single.high - single.low > 100


def test_a_player_against_itself_is_even() -> None:
    won = np.tile(np.array([[1, 0], [0, 1]], np.float32), (1000, 1, 1))
    for row in rate(["a", "b"], [(0, 1)], [won]).rows:
        assert row.rating == pytest.approx(0, abs=1e-6)
        assert row.high - row.low < 2


def test_missing_pairs_and_fewer_deals_are_taken() -> None:
    lineups, shares = pairs(6000)
    some = [k for k, (a, b) in enumerate(lineups) if b - a == 1]
    found = rate(
        NAMES, [lineups[k] for k in some], [shares[k][: 6000 - 700 * k] for k in some], seed=3
    )
    assert [row.name for row in found.rows] == NAMES
    assert by_name(found)["e"].rating == pytest.approx(-0.5 * ELO, abs=25)


@pytest.mark.parametrize("kind", ["pairs", "tables"])
def test_the_order_of_entrants_changes_nothing(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ratings, "GAMES", 60)
    lineups, shares = pairs(300) if kind == "pairs" else tables(60)
    new = [3, 1, 4, 0, 2]  # entrant k is called new[k] now
    names = [NAMES[new.index(k)] for k in range(5)]
    size = len(lineups[0])
    first = by_name(rate(NAMES, lineups, shares, size))
    turned = [tuple(new[k] for k in reversed(lineup)) for lineup in lineups]
    second = by_name(rate(names, turned, [share[:, :, ::-1] for share in shares], size))
    close = 1e-6 if kind == "pairs" else 1.5  # in passes of 60 games
    for name in NAMES:
        assert first[name].rating == pytest.approx(second[name].rating, abs=close)


@pytest.mark.parametrize("kind", ["pairs", "tables"])
def test_same_seed_same_ratings(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ratings, "GAMES", 30)
    results = pairs(50) if kind == "pairs" else tables(20)
    sides = len(results[0][0])
    first = rate(NAMES, *results, sides, seed=1)
    assert first == rate(NAMES, *results, sides, seed=1)
    assert first != rate(NAMES, *results, sides, seed=2)


def test_tables_of_different_entrants(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ratings, "GAMES", 150)
    found = rate(NAMES, *tables(400), 4)
    assert [row.name for row in found.rows] == NAMES
    assert np.mean([row.rating for row in found.rows]) == pytest.approx(25)
    assert found.rows[0].low > found.rows[-1].high
    for row in found.rows:
        assert row.low < row.rating < row.high
    assert found.as_json()["rows"][0]["name"] == "a"


def test_openskill_sees_ties_and_the_order_of_shares() -> None:
    share = np.array([[[0.5, 0.5, 0.0]]], np.float32)
    deals, rng = np.zeros(30, np.int64), np.random.default_rng(1)
    first, second, third = ratings.play_through(3, [(0, 1, 2)], [share], deals, rng)
    assert first == pytest.approx(second, abs=0.2)
    assert third < first - 5


def wrong(**change: Any) -> dict[str, Any]:
    """Arguments of ``rate`` with something wrong."""
    lineups, shares = pairs(2)
    return {"names": NAMES, "lineups": lineups, "shares": shares, **change}


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (wrong(names=["a"]), "need two entrants or more, not 1"),
        (wrong(lineups=[], shares=[]), "0 for 0 line-ups"),
        (wrong(shares=[]), "0 for 10 line-ups"),
        (wrong(lineups=[(0, 1, 2)], shares=[np.ones((1, 1, 3))]), "3 entrants met"),
        (wrong(lineups=[(0, 0)], shares=[np.ones((1, 1, 2))]), r"\(0, 0\) must be 2 different"),
        (wrong(lineups=[(0, 7)], shares=[np.ones((1, 1, 2))]), r"\(0, 7\) must be"),
        (wrong(lineups=[(0, 1)], shares=[np.ones((1, 2))]), r"\(1, 2\) must be \(deals, rot"),
        (wrong(lineups=[(0, 1)], shares=[np.ones((0, 2, 2))]), r"\(0, 2, 2\) must be"),
    ],
)
def test_bad_input_is_refused(arguments: dict[str, Any], text: str) -> None:
    with pytest.raises(RatingError, match=text):
        rate(**arguments)


def test_groups_that_never_met_are_named() -> None:
    lineups: Lineups = [(0, 1), (2, 3)]
    with pytest.raises(RatingError, match=r"not met each other: a, b \| c, d \| e$"):
        rate(NAMES, lineups, [np.ones((1, 2, 2), np.float32)] * 2)


def test_without_openskill_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openskill.models", None)
    with pytest.raises(ModuleNotFoundError, match=r"ratings of tables need openskill.*report"):
        rate(NAMES, *tables(2), 4)
