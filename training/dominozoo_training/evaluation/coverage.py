"""Do the intervals hold what they promise: simulated arenas whose true win rates are known.

Each arena has a true win rate from 0.3 to 0.7. Its deals differ: a favours a side by luck that all
rotations share, so that the rotations of a deal hang together, as in a duplicate tournament. Hands
may be tied, which shares them.

    python -m dominozoo_training.evaluation.coverage --arenas 10000 --deals 1000 --seed 1
"""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np
import numpy.typing as npt

from dominozoo_training.evaluation.intervals import RESAMPLES, bootstrap_interval

ROTATIONS = (2, 4)
TIES = 0.05  # share of hands that nobody wins


def deal_kinds(
    rate: float, rotations: int, rng: np.random.Generator, kinds: int = 50
) -> npt.NDArray[np.float64]:
    """Chances to win each rotation of some kinds of deals, (kinds, rotations), their mean ``rate``.

    A deal's tiles help one seat, so a's chance rises in one rotation and falls in the others.
    """
    luck = rng.normal(0.0, 1.0, (kinds, rotations))
    luck -= luck.mean(axis=1, keepdims=True)
    ease = rng.normal(0.0, 0.1, (kinds, 1))  # how much skill finds to do in this deal
    chances = rate + 0.25 * np.tanh(luck) + ease
    for _ in range(20):  # clipping moves the mean: move it back
        chances = np.clip(chances - chances.mean() + rate, 0.02, 0.98)
    found: npt.NDArray[np.float64] = chances
    return found


def simulate(
    deals: int, rotations: int, rng: np.random.Generator
) -> tuple[float, npt.NDArray[np.float64]]:
    """An arena: (the true mean share, a's share by deal, float64 (deals,))."""
    chances = deal_kinds(float(rng.uniform(0.3, 0.7)), rotations, rng)
    sides = rotations
    truth = float((chances * (1 - TIES) + TIES / sides).mean())
    kind = rng.integers(0, len(chances), deals)
    won = rng.random((deals, rotations)) < chances[kind]
    tied = rng.random((deals, rotations)) < TIES
    return truth, np.where(tied, 1 / sides, won).mean(axis=1)


def coverage(arenas: int, deals: int, seed: int, resamples: int = RESAMPLES) -> dict[int, float]:
    """Share of arenas whose interval holds the true rate, by number of rotations.

    Args:
        arenas: how many arenas; they are shared out between the numbers of rotations.
        deals: deals of each.
        seed: the same seed, the same figures.
        resamples: of each interval.

    Raises:
        ValueError: a number out of range; names it and what is taken.
    """
    for name, value, least in (("arenas", arenas, len(ROTATIONS)), ("deals", deals, 1)):
        if value < least:
            raise ValueError(f"{name} must be {least} or more, not {value}")
    if seed < 0:
        raise ValueError(f"seed must be 0 or more, not {seed}")
    found = {}
    for rotations in ROTATIONS:
        rng = np.random.default_rng([seed, rotations])
        held = 0
        for k in range(arenas // len(ROTATIONS)):
            truth, by_deal = simulate(deals, rotations, rng)
            interval = bootstrap_interval(by_deal, seed=k, resamples=resamples)
            held += interval.low <= truth <= interval.high
        found[rotations] = held / (arenas // len(ROTATIONS))
    return found


def main() -> None:
    """Print how often the intervals of simulated arenas hold the truth."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--arenas", type=int, default=10_000)
    parser.add_argument("--deals", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    start = time.process_time()
    try:
        found = coverage(args.arenas, args.deals, args.seed)
    except ValueError as error:
        print(f"coverage: {error}", file=sys.stderr)
        sys.exit(2)
    for rotations, share in found.items():
        print(f"{rotations} rotations: {100 * share:.2f} % of the intervals hold the true rate")
    mean = sum(found.values()) / len(found)
    print(f"all {args.arenas} arenas of {args.deals} deals, seed {args.seed}: {100 * mean:.2f} %")
    print(f"{time.process_time() - start:.1f} CPU seconds")


if __name__ == "__main__":
    main()
