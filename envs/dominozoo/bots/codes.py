"""The bots' short codes: numbers that the kernels read, and names that people write."""

from __future__ import annotations

from typing import Final

OUTSIDE: Final = -1  # the seat is played by somebody else
RANDOM: Final = 0
EASY: Final = 1
NORMAL: Final = 2
HARD: Final = 3
MOBILITY: Final = 4

# Every family of games has a bot of its own for each.
BOTS: Final[dict[str, int]] = {
    "random": RANDOM,
    "easy": EASY,
    "normal": NORMAL,
    "hard": HARD,
    "mobility": MOBILITY,
}
