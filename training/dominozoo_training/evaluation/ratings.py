"""One figure of strength for each entrant of a tournament, with its 95 % interval.

**Pairs** are rated by Bradley and Terry's model: with strengths s, a wins against b with the chance
e^sa / (e^sa + e^sb). In a game of n > 2 sides, where a holds one seat and b the n - 1 others, it is
Luce's choice among the n seats: e^sa / (e^sa + (n - 1) e^sb), which is even, 1/n, for equals. That
takes it that a seat's strength doesn't depend on whom it meets. Ratings are strengths times
400/log(10), as Elo's are: with two sides 100 points more are 64 % of the wins; their mean is 0.

Each pair that has met gets one imagined deal with the even share beside those played, so that who
never lost keeps a finite rating.

**Tables of different entrants** are rated by OpenSkill's Plackett-Luce model (Weng and Lin, 2011).
It takes one game after the other, so its result depends on their order: a rating is the mean over
several passes over deals drawn anew, in random orders; mean mu is 25, as where all start.

Both resample deals, the same deals for all line-ups, since who meets whom shares them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dominozoo_training import remedy
from dominozoo_training.evaluation.intervals import outer_tail, student

Floats = npt.NDArray[np.float64]
Shares = npt.NDArray[np.float32]

ELO: Final = 400 / math.log(10)
RESAMPLES: Final = 1000
BLOCKS: Final = 2000  # more deals are resampled in so many blocks
DRAWN: Final = 24  # times that OpenSkill gets deals drawn anew
ORDERS: Final = 2  # random orders of each
GAMES: Final = 1000  # that a pass takes at most
START: Final = 25.0  # OpenSkill's mu before any game
STEPS: Final = 100  # of Newton's method at most


class RatingError(ValueError):
    """Results that no rating follows from; the text says why."""


@dataclass(frozen=True, slots=True)
class Rating:
    """An entrant's rating with its 95 % interval."""

    name: str
    rating: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Ratings:
    """A tournament's ratings.

    Attributes:
        method: in words.
        scale: what a point is.
        rows: an entrant each, the strongest first.
    """

    method: str
    scale: str
    rows: tuple[Rating, ...]

    def as_json(self) -> dict[str, Any]:
        """The same as JSON types: ``{"method", "scale", "rows": [{"name", "rating", ...}]}``."""
        return {**asdict(self), "rows": [asdict(row) for row in self.rows]}


def rate(
    names: Sequence[str],
    lineups: Sequence[tuple[int, ...]],
    shares: Sequence[npt.NDArray[Any]],
    sides: int = 2,
    *,
    seed: int = 0,
) -> Ratings:
    """Rate the entrants of a tournament.

    Args:
        names: of the entrants, two or more.
        lineups: who met, as indices into ``names``: pairs, or ``sides`` different entrants each.
        shares: of the win, a line-up each: (deals, rotations, k), 0..1, the k of a game sum to 1. Deal
            d is the same in all line-ups; some may have been played over fewer deals.
        sides: of the game. A pair (a, b) in a game of more than two is a in one seat, b in the others.
        seed: of the resampling.

    Raises:
        RatingError: fewer than two entrants, line-ups of mixed or wrong size, shares of another shape
            or no shares, or groups of entrants that have never met.
        ModuleNotFoundError: tables of more than two without openskill; the text says how to get it.
    """
    _check(names, lineups, shares, sides)
    _require_connected(names, lineups)
    rng = np.random.default_rng(seed)
    if len(lineups[0]) == 2:
        rated = _rate_pairs(len(names), lineups, shares, sides, rng)
        method = "Bradley-Terry" if sides == 2 else f"Luce, one seat against {sides - 1}"
        scale = "400/log(10) points a unit of strength, mean 0"
    else:
        rated = _rate_tables(len(names), lineups, shares, rng)
        method = f"OpenSkill, Plackett-Luce: {DRAWN * ORDERS} passes of {GAMES} games at most"
        scale = f"mu, mean {START:g}"
    found = (Rating(name, *map(float, row)) for name, row in zip(names, rated, strict=True))
    return Ratings(method, scale, tuple(sorted(found, key=lambda row: -row.rating)))


def _check(
    names: Sequence[str],
    lineups: Sequence[tuple[int, ...]],
    shares: Sequence[npt.NDArray[Any]],
    sides: int,
) -> None:
    if len(names) < 2:
        raise RatingError(f"ratings need two entrants or more, not {len(names)}")
    if not lineups or len(lineups) != len(shares):
        raise RatingError(f"shares: {len(shares)} for {len(lineups)} line-ups, one each is needed")
    size = len(lineups[0])
    if size not in (2, sides):
        raise RatingError(f"lineups: {size} entrants met, which is neither 2 nor {sides}")
    for lineup, share in zip(lineups, shares, strict=True):
        if len(set(lineup)) != size or not all(0 <= k < len(names) for k in lineup):
            raise RatingError(f"lineups: {lineup} must be {size} different ones of {len(names)}")
        if share.ndim != 3 or share.shape[2] != size or 0 in share.shape:
            raise RatingError(f"shares: {share.shape} must be (deals, rotations, {size})")


def _require_connected(names: Sequence[str], lineups: Iterable[tuple[int, ...]]) -> None:
    """Refuse groups of entrants that never met: nothing says who is stronger."""
    groups = [{k} for k in range(len(names))]
    for lineup in lineups:
        met = [group for group in groups if group & set(lineup)]
        groups = [group for group in groups if group not in met] + [set().union(*met)]
    if len(groups) > 1:
        lists = " | ".join(
            ", ".join(names[k] for k in sorted(group)) for group in sorted(groups, key=min)
        )
        raise RatingError(f"ratings: these groups of entrants have not met each other: {lists}")


def _in_blocks(by_deal: Sequence[Floats]) -> tuple[Floats, Floats]:
    """Sums of shares and counts of deals by block of deals and line-up, both (blocks, line-ups)."""
    deals = max(map(len, by_deal))
    edges = np.linspace(0, deals, min(deals, BLOCKS) + 1).round().astype(np.int64)
    sums, counts = [], []
    for values in by_deal:
        total = np.concatenate([[0.0], np.cumsum(values)])
        until = np.minimum(edges, len(values))
        sums.append(np.diff(total[until]))
        counts.append(np.diff(until))
    return np.array(sums).T, np.array(counts, np.float64).T


def _rate_pairs(
    entrants: int,
    lineups: Sequence[tuple[int, ...]],
    shares: Sequence[npt.NDArray[Any]],
    sides: int,
    rng: np.random.Generator,
) -> Floats:
    """Ratings with their intervals, (entrants, 3)."""
    by_deal = [share[:, :, 0].mean(axis=1, dtype=np.float64) for share in shares]
    sums, counts = _in_blocks(by_deal)
    pairs = np.array(lineups, np.int64)
    rating = fit_pairs(entrants, pairs, sums.sum(0)[None], counts.sum(0)[None], sides)[0]
    blocks = len(sums)
    weights = np.stack(
        [
            np.bincount(rng.integers(0, blocks, blocks), minlength=blocks).astype(np.float64)
            for _ in range(RESAMPLES)
        ]
    )
    won, played = weights @ sums, weights @ counts
    drawn = fit_pairs(entrants, pairs, *_with_unseen(won, played, rng), sides)
    tail = outer_tail(blocks) if blocks > 1 else 0.0
    low, high = np.quantile(drawn, [tail, 1 - tail], axis=0)
    found = np.stack([rating, np.minimum(low, rating), np.maximum(high, rating)], axis=1)
    return np.asarray(found * ELO)


def _with_unseen(won: Floats, played: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """On average one deal a pair is taken to be of a kind not seen, won or lost by chance.

    Without it a pair whose deals all ended alike would seem to be known for sure.
    """
    deals = played.round().astype(np.int64)
    unseen = rng.binomial(deals, 1 / (deals + 1))
    seen = 1 - unseen / np.maximum(deals, 1)
    return won * seen + rng.binomial(unseen, 0.5), played


def fit_pairs(
    entrants: int, pairs: npt.NDArray[np.int64], won: Floats, played: Floats, sides: int
) -> Floats:
    """Strengths of largest likelihood, by Newton's method, for some samples at once.

    Args:
        entrants: how many.
        pairs: (pairs, 2), who met.
        won: (samples, pairs), deals won by the first of each pair, in parts where shared.
        played: (samples, pairs), deals; all pairs together must connect the entrants.
        sides: of the game; the second of a pair holds all seats but one.

    Returns:
        Natural logarithms of the strengths, (samples, entrants), mean 0.
    """
    won, played = won + 1 / sides, played + 1.0  # the imagined deal
    a, b = pairs.T
    met = np.zeros((len(pairs), entrants))
    met[np.arange(len(pairs)), a], met[np.arange(len(pairs)), b] = 1.0, -1.0
    strength = np.zeros((len(won), entrants))
    for _ in range(STEPS):
        chance = 1 / (1 + (sides - 1) * np.exp(strength[:, b] - strength[:, a]))
        slope = (won - played * chance) @ met
        weight = played * chance * (1 - chance)
        curve = np.einsum("pi,sp,pj->sij", met, weight, met, optimize=True)
        # The mean is free: any weight on it makes the matrix invertible and leaves the mean at 0.
        step = np.linalg.solve(curve + weight.mean(1)[:, None, None], slope[:, :, None])[:, :, 0]
        strength += np.clip(step, -1.0, 1.0)
        if np.abs(step).max() < 1e-10:
            break
    return np.asarray(strength - strength.mean(axis=1, keepdims=True))


def _rate_tables(
    entrants: int,
    lineups: Sequence[tuple[int, ...]],
    shares: Sequence[npt.NDArray[Any]],
    rng: np.random.Generator,
) -> Floats:
    """Mu with its interval, (entrants, 3), from bounded passes over deals drawn anew.

    Passes differ by their deals and by the order of their games. What the deals do shows when m of N
    are drawn, and is m/N of that for all of them; what the order does, which two passes over the same
    deals tell, only remains in the mean of the passes.
    """
    deals = max(map(len, shares))
    a_deal = sum(share.shape[0] * share.shape[1] for share in shares) / deals
    taken = min(deals, max(1, int(GAMES / a_deal)))
    found = np.empty((DRAWN, ORDERS, entrants))
    for drawn in found:
        games = rng.integers(0, deals, taken)
        for order in drawn:
            order[:] = play_through(entrants, lineups, shares, games, rng)
    by_order = found.var(axis=1, ddof=1).mean(axis=0)
    means = found.mean(axis=1)
    by_deals = np.maximum(means.var(axis=0, ddof=1) - by_order / ORDERS, 0.0)
    left = by_deals * taken / deals + means.var(axis=0, ddof=1) / DRAWN
    mean, half = means.mean(axis=0), student(DRAWN - 1) * np.sqrt(left)
    return np.stack([mean, mean - half, mean + half], axis=1)


def play_through(
    entrants: int,
    lineups: Sequence[tuple[int, ...]],
    shares: Sequence[npt.NDArray[Any]],
    deals: npt.NDArray[np.int64],
    rng: np.random.Generator,
) -> Floats:
    """OpenSkill's mu, (entrants,), after the games of some deals in random order, at most GAMES."""
    model = _openskill()
    ratings = [model.rating() for _ in range(entrants)]
    games = [
        (k, share[deal, rotation])
        for deal in deals
        for k, share in enumerate(shares)
        if deal < len(share)
        for rotation in range(share.shape[1])
    ]
    for at in rng.permutation(len(games))[:GAMES]:
        k, share = games[at]
        seats = rng.permutation(len(lineups[k]))  # OpenSkill's rounding minds who comes first
        who = [lineups[k][seat] for seat in seats]
        # Whole numbers: OpenSkill drops what stands behind the point, and -1/2 would tie with 0.
        ranks = np.unique(-share[seats].round(4), return_inverse=True)[1].tolist()
        rated = model.rate([[ratings[e]] for e in who], ranks=ranks)
        for entrant, (new,) in zip(who, rated, strict=True):
            ratings[entrant] = new
    mu = np.array([rating.mu for rating in ratings])
    return np.asarray(mu - mu.mean() + START)


def _openskill() -> Any:
    """OpenSkill's model; strengths don't drift in a tournament, hence ``tau=0``."""
    try:
        from openskill.models import PlackettLuce
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"ratings of tables need {error.name}: {remedy('report')}", name=error.name
        ) from None
    return PlackettLuce(tau=0.0)
