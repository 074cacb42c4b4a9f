"""The worked examples of Le Truc, E40-E49, and random matches that must add up."""

from __future__ import annotations

import random
from copy import deepcopy
from typing import Any

import pytest

from . import line, truc
from .line import Json, parse
from .tables import check_looks, check_rewards, last_of

TIE = [("8-4", "7-5"), ("6-5", "8-3"), ("6-4", "7-3")]
WIN = [("8-4", "4-1"), ("6-5", "5-1"), ("6-4", "5-2")]
ACCEPT, REFUSE = truc.ACCEPT, truc.REJECT


def round_of(pattern: str, **kw: Any) -> truc.Match:
    """A round whose tricks will go this way if both play their tiles from left to right."""
    pairs = [TIE[i] if mark == "=" else WIN[i][:: 1 if mark == "N" else -1]
             for i, mark in enumerate(pattern.ljust(3, "N"))]  # fmt: skip
    hands = [[pair[seat] for pair in pairs] for seat in (0, 1)]
    rest = [line.written(t) for t in truc.SLOTS if line.written(t) not in hands[0] + hands[1]]
    options = {"max_redeals": 0}
    return truc.start("truc", options, deal={"hands": hands, "boneyard": rest}, dealer=1, **kw)


def tile_of(match: truc.Match) -> int:
    """The leftmost tile of the seat to move, face up."""
    assert match.turn is not None
    return truc.SLOTS.index(match.hands[match.turn][0])


def play(match: truc.Match, calls: str) -> None:
    """Play on: "." a tile face up, "a" a call that is accepted, "r" one that is refused."""
    for mark in calls:
        match.step(tile_of(match) + (0 if mark == "." else truc.CALL))
        if mark != ".":
            match.step(ACCEPT if mark == "a" else REFUSE)


@pytest.mark.parametrize(
    ("led", "followed", "winner"),
    [
        ("6-6", "4-8", None),
        ("5-6", "6-6", "6-6"),
        ("2-2", "0-4", None),
        ("0-0", "6-6", "0-0"),
        ("5-5", "0-0", "0-0"),
        ("0-0", "1-3", "1-3"),
        ("0-0", "4-8", "4-8"),
    ],
)
def test_e40_e41_strength(led: str, followed: str, winner: str | None) -> None:
    result = truc.trick_winner(parse(led), parse(followed))
    assert result == (-1 if winner is None else (led, followed).index(winner))


@pytest.mark.parametrize(
    ("pattern", "winner"),
    [
        ("=D", 1), ("N=", 0), ("ND=", 0), ("DN=", 1), ("==D", 1), ("===", None), ("NDD", 1),
        ("=N", 0), ("D=", 1), ("NN", 0), ("NDN", 0), ("==N", 0),
    ],
)  # fmt: skip
def test_e42_rounds(pattern: str, winner: int | None) -> None:
    match = round_of(pattern)
    play(match, "." * 2 * len(pattern))
    assert match.hand_over
    assert last_of(match)["winner"] == winner
    assert last_of(match)["reason"] == ("void" if winner is None else "tricks")
    assert last_of(match)["points"] == (0 if winner is None else 1)


def test_e43_no_call_on_the_first_lead() -> None:
    match = round_of("=")
    assert match.legal() == sorted(truc.SLOTS.index(tile) for tile in match.hands[0])
    play(match, ".")
    assert len(match.legal()) == 6


def test_e44_a_refused_first_call() -> None:
    match = round_of("N")
    play(match, ".r")
    assert (match.scores, last_of(match)["reason"]) == ([0, 1], "fold")
    kinds = [entry["kind"] for entry in match.events]
    assert kinds == ["play", "double", "fold"]
    assert last_of(match)["hands"][1][0] is not None
    assert truc.view(match, 0)["last_hand"]["hands"][1] == [None] * 3


def test_e45_a_refused_redouble() -> None:
    match = round_of("N")
    play(match, "..ar")
    assert match.scores == [0, 2]


def test_e46_double_in_trick_3() -> None:
    match = round_of("NDN")
    play(match, "..aa")
    assert match.multiplier == 4
    other = deepcopy(match)
    play(match, "a.")
    assert (match.scores, match.multiplier) == ([8, 0], 8)
    play(other, "r")
    assert other.scores == [0, 4]


def test_e47_five_calls() -> None:
    match = round_of("NDN")
    play(match, ".aaaaa")
    assert (match.scores, match.over) == ([32, 0], True)


def test_e48_thirty_points() -> None:
    match = round_of("NN", scores=[29, 0])
    play(match, "....")
    assert (match.scores, match.winners) == ([30, 0], [0])
    match = round_of("NN", scores=[28, 0])
    play(match, "..aa")
    assert (match.scores, match.over) == ([32, 0], True)


@pytest.mark.parametrize("max_redeals", [0, 1, 2, 3])
def test_e49_the_exchange(max_redeals: int) -> None:
    tiles = [line.written(tile) for tile in truc.SLOTS]
    deal: Json = {"hands": [tiles[:3], tiles[3:6]], "boneyard": tiles[6:]}
    match = truc.start("truc", {"max_redeals": max_redeals}, deal=deal, dealer=1)
    for redeal in range(max_redeals):
        assert (match.phase, match.turn) == ("exchange", 0)
        match.step(truc.PROPOSE)
        assert (match.phase, match.turn) == ("answer", 1)
        match.step(truc.ACCEPT)
        assert len(match.stock) == 16 - 6 * redeal
    assert (match.phase, match.redeals) == ("lead", max_redeals)
    hands = truc.position(match)["hands"]
    begin = 6 * max_redeals
    assert hands == [tiles[begin : begin + 3], tiles[begin + 3 : begin + 6]]


def test_a33_the_deal_alternates() -> None:
    match = round_of("NN")
    play(match, "....")
    tiles = [line.written(tile) for tile in truc.SLOTS]
    match.deal_next([tiles[:3], tiles[3:6]], tiles[6:])
    assert (match.dealer, match.leader, match.turn, match.multiplier) == (0, 1, 1, 1)


def test_a_called_tile_is_hidden_until_it_is_turned_up() -> None:
    match = round_of("NDN")
    play(match, ".")
    tile = match.hands[1][0]
    match.step(tile_of(match) + truc.CALL)
    assert match.trick["called"] == {"seat": 1, "tile": line.written(tile)}
    assert truc.view(match, 0)["trick"]["called"] == {"seat": 1, "tile": None}
    assert truc.view(match, 0)["events"][-1]["tile"] is None
    assert truc.view(match, 1)["events"][-1]["tile"] == line.written(tile)
    match.step(ACCEPT)
    assert truc.view(match, 0)["events"][-1]["tile"] == line.written(tile)


def check_truc_table(match: truc.Match) -> None:
    out = [tile for gone in match.discards for tile in gone]
    lying = [tile for _, tile in match.turned_up]
    lying += [] if match.called is None else [match.called[1]]
    held = match.hands[0] + match.hands[1]
    assert sorted(held + lying + out + match.stock) == sorted(truc.SLOTS)
    assert match.multiplier <= 32


@pytest.mark.parametrize("max_redeals", [0, 1, 2, 3])
def test_random_truc_matches_add_up(max_redeals: int) -> None:
    rng = random.Random(max_redeals)
    tiles = [line.written(tile) for tile in truc.SLOTS]
    for _ in range(8):
        rng.shuffle(tiles)
        deal: Json = {"hands": [tiles[:3], tiles[3:6]], "boneyard": tiles[6:]}
        options = {"max_redeals": max_redeals}
        match = truc.start("truc", options, deal=deal, dealer=rng.randrange(2))
        while not match.over:
            if match.hand_over:
                rng.shuffle(tiles)
                match.deal_next([tiles[:3], tiles[3:6]], tiles[6:])
            before = list(match.scores)
            rewards = match.step(rng.choice(match.legal()))
            gained = [after - was for after, was in zip(match.scores, before, strict=True)]
            assert rewards["hand"][0] == pytest.approx((gained[0] - gained[1]) / 30)
            check_rewards(rewards, match.over)
            check_truc_table(match)
            check_looks(truc, match, 2)
        assert max(match.scores) >= 30
