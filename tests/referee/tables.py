"""Deals, tables in mid-hand and checks that the tests of the referee share."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import Any

import pytest

from . import line, truc
from .line import Json, parse

Want = Callable[[Json], bool]

PASS, DRAW = 57, 56


def hand_of(tiles: str) -> list[line.Tile]:
    return [parse(tile) for tile in tiles.split()]


def line_deal(rules: line.Rules, rng: random.Random, order: str = "") -> Json:
    """A random deal; named tiles are dealt first, from seat 0 on."""
    first = hand_of(order)
    rest = [tile for tile in rules.tiles if tile not in first]
    rng.shuffle(rest)
    tiles = [line.written(tile) for tile in first + rest]
    size = rules.each
    hands = [tiles[seat * size : (seat + 1) * size] for seat in range(rules.players)]
    return {"hands": hands, "boneyard": tiles[size * rules.players :]}


def spread(hands: Sequence[str], boneyard: str = "", each: int = 7) -> Json:
    """A deal in which each seat holds at least these tiles, without further doubles or 6-5."""
    rest = [t for t in line.FULL_SET if t[0] != t[1] and t != (6, 5)]
    rest += [t for t in line.FULL_SET if t not in rest]
    named = hand_of(" ".join([*hands, boneyard]))
    left = [line.written(tile) for tile in rest if tile not in named]
    full = []
    for held in hands:
        need = each - len(held.split())
        full.append(held.split() + left[:need])
        del left[:need]
    return {"hands": full, "boneyard": boneyard.split() + left}


def table(
    game: str,
    options: Mapping[str, Any] | None = None,
    *,
    hands: Sequence[str],
    board: str = "",
    cross: Sequence[str] = (),
    boneyard: str = "",
    **setup: Any,
) -> line.Match:
    """A table in mid-hand, seat 0 to move; it need not be reachable."""
    rules = line.Rules(game, options)
    match = line.start(game, options, deal=line_deal(rules, random.Random(0)), **setup)
    match.hands = [hand_of(tiles) for tiles in hands]
    match.hands += [hand_of("5-5")] * (rules.players - len(hands))
    match.boneyard = hand_of(boneyard)
    match.board = [(int(t[0]), int(t[2])) for t in board.split()]
    match.cross = [[(int(t[0]), int(t[2])) for t in arm.split()] for arm in cross]
    match.opener = match.turn = 0
    return match


def blocked(game: str, options: Mapping[str, Any] | None = None, **kw: Any) -> line.Match:
    """The same with ends that fit nothing, passed round."""
    match = table(game, options, **kw)
    held = {number for hand in match.hands for tile in hand for number in tile}
    dead = min(set(range(7)) - held)
    match.board = [(dead, dead)]
    while not match.hand_over:
        match.step(PASS)
    return match


def play_hand(match: line.Match | truc.Match, rng: random.Random) -> None:
    while not match.hand_over:
        match.step(rng.choice(match.legal()))


def after(want: Want, begin: Callable[[Json], line.Match], rules: line.Rules) -> line.Match:
    """Random hands from one beginning until one ends as wanted."""
    for seed in range(20_000):
        rng = random.Random(seed)
        match = begin(line_deal(rules, rng))
        play_hand(match, rng)
        assert match.last_hand is not None
        if want(match.last_hand):
            return match
    raise AssertionError("never came up")


def first(want: Want, game: str, options: Mapping[str, Any] | None = None, **kw: Any) -> line.Match:
    """A first hand that ended as wanted."""
    rules = line.Rules(game, options)
    return after(want, lambda deal: line.start(game, options, deal=deal, **kw), rules)


def then(match: line.Match, want: Want) -> line.Match:
    """The match after a further hand that ended as wanted."""

    def begin(deal: Json) -> line.Match:
        copy = deepcopy(match)
        copy.deal_next(**deal)
        return copy

    return after(want, begin, match.rules)


def won(side: int, key: bool = False) -> Want:
    return lambda last: last["winner"] == side and last["key"] == key


def tied(last: Json) -> bool:
    return bool(last["reason"] == "tie")


def standing(match: line.Match) -> tuple[list[int], int, bool, int | None]:
    return match.scores, match.stake, match.decider, match.next_poser


def last_of(match: line.Match | truc.Match) -> Json:
    assert match.last_hand is not None
    return match.last_hand


def act(end: int, tile: str) -> int:
    return end * 28 + line.tile_id(parse(tile))


def check_looks(module: Any, match: Any, players: int) -> None:
    """Position and views are plain JSON; a view holds nothing of other seats' hands."""
    whole = module.position(match)
    assert json.loads(json.dumps(whole)) == whole
    for seat in range(players):
        seen = module.view(match, seat)
        assert json.loads(json.dumps(seen)) == seen
        assert not {"hands", "boneyard", "rng"} & seen.keys()
        assert seen["legal"] == (whole["legal"] if seat == match.turn else [])


def check_rewards(rewards: line.Rewards, over_with_winner: bool) -> None:
    for given in rewards.values():
        assert sum(given) == pytest.approx(0, abs=1e-12)
    assert any(rewards["match"]) == over_with_winner
