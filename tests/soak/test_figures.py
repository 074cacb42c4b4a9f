"""Random play gives the figures that an independent simulation gave."""

from __future__ import annotations

import math

import pytest

from dominozoo.rules import parse

from .play import soak

# Game: mean plies of a hand opened by rule, share blocked, share tied, hands a match; None where it
# wasn't measured in the same setting. From 6,000 hands (French 20,000) and at least 300 matches,
# printed without decimals, so half a unit of the last digit may be rounding.
FIGURES = {
    "partnership": (27, 0.25, None, 53),
    "chiva": (27, 0.25, None, 16),
    "cutthroat(players=2)": (26, 0.60, 0.04, 65),
    "cutthroat(players=2, draw=True)": (27, 0.18, 0.006, 75),
    "cutthroat(players=3)": (26, 0.33, 0.02, 43),
    "cutthroat(players=3, broken=leader_loss)": (26, 0.33, 0.02, 171),
    "cutthroat": (27, 0.25, 0.02, 40),
    "cutthroat(broken=leader_loss)": (27, 0.25, 0.02, 486),
    "chiva(players=2)": (27, 0.18, 0.006, 18),
    "chiva(players=3)": (28, 0.20, 0.006, 15),
    "chiva(players=3, broken=leader_loss)": (28, 0.20, 0.006, 46),
    "six_love": (27, 0.25, 0.02, 31),
    "french": (27, 0.045, None, 7.4),
    "draw": (27, 0.18, 0.006, 9),
    "block": (13, 0.66, 0.03, 14),
    "draw(players=3)": (28, 0.20, 0.006, 7),
    "block(players=3)": (21, 0.45, 0.03, 11),
    "block(players=4)": (27, 0.25, 0.02, 9),
}
THEIR_HANDS = 6000
THEIR_MATCHES = 300
HANDS = 40_000
ROUNDED_SHARE = 0.005
ROUNDED_SMALL_SHARE = 0.0005


def share_error(share: float) -> float:
    """Three standard errors of the difference of two measured shares, and the rounding."""
    rounding = ROUNDED_SHARE if share >= 0.01 else ROUNDED_SMALL_SHARE
    spread = share * (1 - share)
    return rounding + 3 * math.sqrt(spread / THEIR_HANDS + spread / HANDS)


def mean_error(value: float, spread: float, theirs: int, ours: int) -> float:
    """The same of two means."""
    rounding = 0.05 if value != int(value) else 0.5
    return rounding + 3 * spread * math.sqrt(1 / theirs + 1 / ours)


@pytest.mark.parametrize("game", FIGURES)
def test_random_play_gives_the_known_figures(game: str) -> None:
    plies, blocked, tied, hands = FIGURES[game]
    by_rule = soak(parse(game), HANDS, seed=5, max_hands=1)
    running = soak(parse(game), 3 * HANDS, seed=6)
    n = by_rule["hands"]
    # A hand's length varies by about 7 plies; a match's number of hands by about its mean.
    assert abs(by_rule["plies"] / n - plies) < mean_error(plies, 7, THEIR_HANDS, n)
    assert abs(by_rule["blocked"] / n - blocked) < share_error(blocked)
    assert tied is None or abs(by_rule["tied"] / n - tied) < share_error(tied)
    matches = running["matches"]
    assert matches > 100
    assert abs(running["hands"] / matches - hands) < mean_error(
        hands, hands, THEIR_MATCHES, matches
    )
