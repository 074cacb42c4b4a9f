"""Random play of the line games: it must add up, end, and hide what it should."""

from __future__ import annotations

import random

import pytest

from . import line
from .line import Json
from .tables import PASS, check_looks, check_rewards, line_deal, play_hand


def every_setting() -> list[tuple[str, Json]]:
    """Each game with each number of players, and each option value one at a time."""
    settings: list[tuple[str, Json]] = []
    for game, ((usual, fewest, most), _, words) in line.GAMES.items():
        for players in range(fewest, most + 1):
            settings.append((game, {"players": players}))
            for word in words.split():
                if word != "draw" or players == 2:
                    values = line.CHOICES[word][1:]
                    settings += [(game, {"players": players, word: value}) for value in values]
        settings.append((game, {"players": usual, "target": 3}))
    return settings


def tiles_on(match: line.Match) -> list[line.Tile]:
    lying = [*match.board, *(tile for arm in match.cross for tile in arm)]
    if match.rules.french and match.opener is not None:
        lying.append((0, 0))
    held = [tile for hand in match.hands for tile in hand]
    return sorted([(max(t), min(t)) for t in lying] + held + match.boneyard)


def check_line_table(match: line.Match) -> None:
    assert tiles_on(match) == match.rules.tiles
    assert match.sizes == [len(hand) for hand in match.hands]
    for seat, hand in enumerate(match.hands):
        if seat == match.turn:  # a tile just drawn may be one that the draw says he lacks
            continue
        for number in range(7):
            assert not (match.lacks[seat][number] and any(number in tile for tile in hand))
            assert not (match.lacks_double[seat][number] and (number, number) in hand)


@pytest.mark.parametrize(("game", "options"), every_setting())
def test_random_line_hands_add_up(game: str, options: Json) -> None:
    rng = random.Random(f"{game} {sorted(options.items())}")
    rules = line.Rules(game, options)
    match = line.start(game, options, deal=line_deal(rules, rng))
    for _ in range(25):
        while not match.hand_over:
            assert match.legal() == sorted(set(match.legal()))
            rewards = match.step(rng.choice(match.legal()))
            check_rewards(rewards, bool(match.over and match.winners))
            check_line_table(match)
        check_looks(line, match, rules.players)
        assert match.legal() == []
        if match.over:
            break
        match.deal_next(**line_deal(rules, rng))
        check_looks(line, match, rules.players)


def play_match(game: str, options: Json, seed: int) -> tuple[line.Match, int]:
    rng = random.Random(seed)
    rules = line.Rules(game, options)
    match = line.start(game, options, deal=line_deal(rules, rng))
    play_hand(match, rng)
    while not match.over and match.hand_number < 3000:
        match.deal_next(**line_deal(rules, rng))
        play_hand(match, rng)
    return match, match.hand_number


@pytest.mark.parametrize("game", sorted(line.GAMES))
def test_matches_end(game: str) -> None:
    for seed in range(3):
        match, _ = play_match(game, {}, seed)
        assert match.over
        assert len(match.winners) >= 1
        if not match.rules.french:
            assert match.scores[match.winners[0]] >= match.rules.target


@pytest.mark.parametrize(
    ("game", "options"),
    [
        ("block", {"players": 5}),
        ("french", {"tie": "void"}),
        ("partnership", {"decider": 1}),
        ("cutthroat", {"players": 3, "draw": True}),
        ("chiva", {"target": 0}),
    ],
)
def test_wrong_options_are_refused(game: str, options: Json) -> None:
    with pytest.raises(ValueError, match=r"draw|there are"):
        line.Rules(game, options)


def test_illegal_actions_and_wrong_deals_are_refused() -> None:
    rules = line.Rules("block")
    deal = line_deal(rules, random.Random(0))
    match = line.start("block", deal=deal)
    with pytest.raises(ValueError, match="not legal"):
        match.step(PASS)
    with pytest.raises(ValueError, match="no hand to deal"):
        match.deal_next(**deal)
    with pytest.raises(ValueError, match="not the set"):
        line.start("block", deal={"hands": deal["hands"]})
