"""How sure a mean over deals is: 95 % intervals.

The rotations of a deal share its tiles, so a deal is one observation: its mean over the rotations.
Such values have few levels (0, 1/2, 1 for two rotations; more where wins are shared), so resampling
the deals means drawing how often each level comes: a multinomial draw, exact and quick.

>>> import numpy as np
>>> wins = np.repeat([0.0, 0.5, 1.0], [300, 400, 300])
>>> interval = bootstrap_interval(wins)
>>> interval.mean, round(interval.low, 2), round(interval.high, 2)
(0.5, 0.48, 0.52)
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

LEVEL: Final = 0.95
Z95: Final = NormalDist().inv_cdf(0.5 + LEVEL / 2)
RESAMPLES: Final = 4000
CELLS: Final = 1 << 22  # counts drawn at a time
# Student's quantile for LEVEL where the expansion below isn't near yet, by degrees of freedom.
STUDENT: Final = {1: 12.7062, 2: 4.3027, 3: 3.1824, 4: 2.7764}


class Interval(NamedTuple):
    """A mean with its 95 % interval; ``low <= mean <= high``."""

    mean: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        """Half of what the interval spans, in the unit of the mean."""
        return (self.high - self.low) / 2


def bootstrap_interval(
    by_deal: npt.NDArray[Any],
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
    bounds: tuple[float, float] = (0.0, 1.0),
) -> Interval:
    """The mean over deals and its 95 % interval.

    The percentile interval of the bootstrap, with its quantiles moved outward for few deals as
    Student's do for the normal interval ("expanded percentile", T. Hesterberg, What Teachers Should
    Know About the Bootstrap, 2015). A sample says nothing about deals of kinds that it lacks, and
    equal values would give an interval of no width: so it is widened, where it is narrower, to what
    fits if up to ``1 - 0.025 ** (1 / deals)`` of all deals are of unseen kinds, as good or as bad as
    can be. If all or none are won, that is Clopper and Pearson's interval.

    Args:
        by_deal: (deals,), a deal's mean over its rotations, inside ``bounds``.
        seed: of the resampling; the same seed gives the same interval.
        resamples: how often the deals are drawn anew.
        bounds: the least and the largest value that a deal can have.

    Raises:
        ValueError: no deals, another shape, or values that aren't numbers inside ``bounds``.
    """
    values = np.asarray(by_deal, np.float64)
    least, most = bounds
    if values.ndim != 1 or not len(values):
        raise ValueError(f"by_deal must be of shape (deals,) with a deal or more: {values.shape}")
    if not (values.min() >= least - 1e-6 and values.max() <= most + 1e-6):  # NaN fails, too
        raise ValueError(f"by_deal must lie in {least:g}..{most:g}")
    mean, deals = float(values.mean()), len(values)
    unseen = 1 - (0.5 - LEVEL / 2) ** (1 / deals)
    low = mean - (mean - least) * unseen
    high = mean + (most - mean) * unseen
    if deals > 1 and values.min() < values.max():
        tail = outer_tail(deals)
        means = resampled_means(values, resamples, np.random.default_rng(seed))
        drawn_low, drawn_high = np.quantile(means, [tail, 1 - tail]).tolist()
        low, high = min(low, drawn_low), max(high, drawn_high)
    return Interval(mean, max(min(low, mean), least), min(max(high, mean), most))


def resampled_means(
    values: npt.NDArray[np.float64], resamples: int, rng: np.random.Generator
) -> npt.NDArray[np.float64]:
    """Means of ``values`` (n,) drawn anew n at a time, float64 (resamples,)."""
    levels, counts = np.unique(values.round(9), return_counts=True)
    chances, n = counts / len(values), len(values)
    rows = max(1, CELLS // len(levels))
    parts = [
        rng.multinomial(n, chances, size=min(rows, resamples - first)) @ levels / n
        for first in range(0, resamples, rows)
    ]
    return np.concatenate(parts)


def outer_tail(deals: int) -> float:
    """The share of resamples to leave out on either side; below 0.025 where deals are few.

    Args:
        deals: 2 or more.
    """
    return NormalDist().cdf(-student(deals - 1) * math.sqrt(deals / (deals - 1)))


def student(freedom: int) -> float:
    """Student's two-sided quantile for 95 %; within 0.003.

    Cornish and Fisher's expansion about the normal quantile (Abramowitz and Stegun, 26.7.5).
    """
    if freedom in STUDENT:
        return STUDENT[freedom]
    z = Z95
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / freedom + second / freedom**2 + third / freedom**3
