"""Mistakes that a frontend may make in its encoding, and what notices them.

    python tests/training/test_planted_errors.py partnership truc

A mistake turns the right observation and mask of a position into those of a program that encodes
wrongly. It is caught where the policy's probabilities then differ from a vector's or a golden game's.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest

from dominozoo.bots.archive import GAMES, VECTORS
from dominozoo.bots.bundle import Bot, read_bundle
from dominozoo.bots.shipping import SHIPPED, shipped_path
from dominozoo.fields import LINE_LAYOUT, SEATS, TRUC_LAYOUT
from dominozoo.tiles import HIGH, LOW, TILE_COUNT
from dominozoo_training.export.games import read_games
from dominozoo_training.export.parity import VECTOR_TOLERANCE
from dominozoo_training.export.vectors import Vectors, read_vectors

Array = npt.NDArray[Any]
Fields = dict[str, Array]  # of one observation, to be changed in place
Mistake = Callable[[Fields, Array, int], None]  # fields, mask, the seat

# Tiles by their lower number first, as 0-0, 1-0, .. 6-0, 1-1, ..: the order of other programs.
LOW_FIRST: Final = np.lexsort((HIGH, LOW))


def turned(marks: Array, by: int) -> Array:
    """Seats as 1 + relative seat, 0 = none, turned to another first seat."""
    return np.where(marks > 0, (marks - 1 + by) % SEATS + 1, 0)


def absolute_seats(f: Fields, mask: Array, seat: int) -> None:
    for name in ("sizes", "scores", "lacks"):
        f[name][:] = np.roll(f[name], seat, axis=0)
    for name in ("laid_by", "turn"):
        f[name][:] = turned(f[name], seat)


def ends_swapped(f: Fields, mask: Array, seat: int) -> None:
    f["ends"][:2] = f["ends"][1::-1].copy()


def marks_off_by_one(f: Fields, mask: Array, seat: int) -> None:
    f["ends"][:] = np.maximum(f["ends"] - 1, 0)


def void_flags_forgotten(f: Fields, mask: Array, seat: int) -> None:
    f["lacks"][:] = 0


def stale_scores(f: Fields, mask: Array, seat: int) -> None:
    f["scores"][:] = 0


def other_tile_order(f: Fields, mask: Array, seat: int) -> None:
    for name in ("hand", "laid_by"):
        f[name][:] = f[name][LOW_FIRST]
    plays = mask[: 2 * TILE_COUNT].reshape(2, TILE_COUNT)
    plays[:] = plays[:, LOW_FIRST]


def sizes_rotated(f: Fields, mask: Array, seat: int) -> None:
    f["sizes"][:] = np.roll(f["sizes"], 1)


def laid_by_transposed(f: Fields, mask: Array, seat: int) -> None:
    f["laid_by"][:] = np.where(f["laid_by"] > 1, SEATS + 2 - f["laid_by"], f["laid_by"])


def right_end_left_out(f: Fields, mask: Array, seat: int) -> None:
    mask[TILE_COUNT : 2 * TILE_COUNT] = 0


def truc_absolute_seats(f: Fields, mask: Array, seat: int) -> None:
    if seat:
        f["scores"][:] = f["scores"][::-1].copy()
        for name in ("play_by", "won", "leader", "turn", "call_by"):
            f[name][:] = np.where(np.isin(f[name], (1, 2)), 3 - f[name], f[name])


def plays_reversed(f: Fields, mask: Array, seat: int) -> None:
    count = int((f["play_by"] > 0).sum())
    for name in ("play_sum", "play_double", "play_by", "play_called"):
        f[name][:count] = f[name][:count][::-1].copy()


def sums_off_by_one(f: Fields, mask: Array, seat: int) -> None:
    f["play_sum"][:] = np.maximum(f["play_sum"] - 1, 0)


def rejection_forgotten(f: Fields, mask: Array, seat: int) -> None:
    f["rejected"][:] = 0


def weakest_first(f: Fields, mask: Array, seat: int) -> None:
    for name in ("hand", "hand_classes"):
        f[name][:] = f[name][::-1].copy()
    for first in (0, TILE_COUNT):
        mask[first : first + TILE_COUNT] = mask[first : first + TILE_COUNT][::-1].copy()


def redeals_not_counted(f: Fields, mask: Array, seat: int) -> None:
    f["redeals_left"][:] += f["redeals"]
    f["redeals"][:] = 0


def winners_transposed(f: Fields, mask: Array, seat: int) -> None:
    f["won"][:] = np.where(np.isin(f["won"], (1, 2)), 3 - f["won"], f["won"])


def calls_left_out(f: Fields, mask: Array, seat: int) -> None:
    mask[TILE_COUNT : 2 * TILE_COUNT] = 0


LINE: Final[dict[str, Mistake]] = {
    "seats absolute, not relative": absolute_seats,
    "ends swapped": ends_swapped,
    "ends as numbers, not number + 1": marks_off_by_one,
    "what seats lack forgotten": void_flags_forgotten,
    "scores never updated": stale_scores,
    "tiles in another order": other_tile_order,
    "hand sizes rotated by a seat": sizes_rotated,
    "`laid_by` counted the other way round": laid_by_transposed,
    "moves at the right end left out": right_end_left_out,
}
TRUC: Final[dict[str, Mistake]] = {
    "seats absolute, not relative": truc_absolute_seats,
    "plays in the wrong order": plays_reversed,
    "sums counted from 0": sums_off_by_one,
    "a rejection forgotten": rejection_forgotten,
    "scores never updated": stale_scores,
    "tiles in another order": weakest_first,
    "exchanges not counted": redeals_not_counted,
    "winners of tricks transposed": winners_transposed,
    "calls left out": calls_left_out,
}


class Caught(NamedTuple):
    """How many positions show a mistake, and in how many another move is the likeliest."""

    positions: int
    probabilities: int
    moves: int


def caught(mistake: Mistake, where: Vectors, bot: Bot) -> Caught:
    """Ask a bot as a program with the mistake would, and compare with the answers that are right."""
    layout = bot.bundle.shape.layout
    seen, masks = where.observation.copy(), where.mask.copy()
    for row, mask, view in zip(seen, masks, where.views, strict=True):
        assert view is not None
        before = mask.copy()
        mistake(layout.split(row), mask, view["seat"])
        if not mask.any():
            mask[:] = before  # a program notices that it has no move
    found = bot.network.evaluate(seen, masks)[0]
    off = np.abs(found - where.probabilities).max(axis=1) > VECTOR_TOLERANCE
    moved = found.argmax(axis=1) != where.probabilities.argmax(axis=1)
    return Caught(len(where), int(off.sum()), int((off & moved).sum()))


def count_all(path: Path) -> dict[str, tuple[Caught, Caught]]:
    """By mistake what the vectors of a bundle catch, and its golden games."""
    bundle = read_bundle(path)
    bot, vectors = Bot(bundle), read_vectors(bundle.members[VECTORS], bundle)
    games = [game.decisions for game in read_games(bundle.members[GAMES], bundle)]
    played = Vectors(
        np.concatenate([part.observation for part in games]),
        np.concatenate([part.mask for part in games]),
        np.concatenate([part.probabilities for part in games]),
        np.concatenate([part.value for part in games]),
        [view for part in games for view in part.views],
    )
    mistakes = LINE if bundle.shape.layout is LINE_LAYOUT else TRUC
    assert bundle.shape.layout in (LINE_LAYOUT, TRUC_LAYOUT)
    return {
        name: (caught(mistake, vectors, bot), caught(mistake, played, bot))
        for name, mistake in mistakes.items()
    }


@pytest.mark.parametrize(("game", "mistakes"), [("partnership", LINE), ("truc", TRUC)])
def test_every_mistake_is_caught_by_vectors_and_by_golden_games(
    game: str, mistakes: dict[str, Mistake]
) -> None:
    found = count_all(SHIPPED / f"{game}_v0.dombot")
    assert set(found) == set(mistakes)
    assert len(found) == 9
    missed = {name: pair for name, pair in found.items() if not all(c.probabilities for c in pair)}
    assert not missed
    # Moves alone would show few of the positions that the numbers show.
    off = sum(c.probabilities for pair in found.values() for c in pair)
    assert sum(c.moves for pair in found.values() for c in pair) < off


def main() -> None:
    """Tell, as a table in Markdown."""
    for game in sys.argv[1:]:
        path = shipped_path(game) or Path(game)
        print(f"\n{game}\n\n| mistake | vectors | their moves | golden games | their moves |")
        print("|---|---|---|---|---|")
        for name, pair in count_all(path).items():
            cells = [f"{n} of {c.positions}" for c in pair for n in (c.probabilities, c.moves)]
            print(f"| {name} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
