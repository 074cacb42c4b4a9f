"""The compiled Domino Le Truc against the referee, decision by decision."""

from __future__ import annotations

from typing import Any

import pytest

from dominozoo.rules import TRUC, Rules, make_rules
from dominozoo.tiles import TRUC_NAMES, tiles_of
from dominozoo.truc.play import ACCEPT, CALLING, STAND
from dominozoo.truc.table import EFFECTS, HAND_SIZE, PHASES, REASONS

from . import line, truc
from .driver import HANDS, Pair, each_setting, none


def names(tiles: Any) -> list[str]:
    return [TRUC_NAMES[int(tile)] for tile in tiles]


def hands_of(masks: Any) -> list[list[str]]:
    return [names(tiles_of(int(mask))) for mask in masks]


def deal_of(record: Any) -> dict[str, Any]:
    """The deal that lies in a record's deck: the non-dealer's tiles, the dealer's, the stock."""
    deck = names(record["deck"])
    first, second = deck[:HAND_SIZE], deck[HAND_SIZE : 2 * HAND_SIZE]
    hands = [first, second] if int(record["dealer"]) == 1 else [second, first]
    return {"hands": hands, "boneyard": deck[2 * HAND_SIZE :]}


class TrucPair(Pair):
    """Tables and referee of Le Truc.

    Attributes:
        bold: how often a call, a proposal, an acceptance is preferred to what else is legal.
        redeals: how many redeals there had been at any decision.
    """

    bold = 0.0

    def __init__(self, rules: Rules, seed: int) -> None:
        self.redeals: set[int] = set()
        super().__init__(rules, seed)

    def begin(self, dealer: int | None = None, scores: list[int] | None = None) -> None:
        """Start a match for both, from a dealer and scores if they are given."""
        if dealer is not None:
            self.set_up(dealer, {"scores": scores or [0, 0]})
        options, dealer = self.rules.options, int(self.table["dealer"])
        self.match = truc.start("truc", options, deal=self.deal(), dealer=dealer, scores=scores)

    def choose(self, legal: list[int]) -> int:
        self.redeals.add(self.match.redeals)
        raising = [a for a in legal if CALLING <= a <= ACCEPT and a != STAND]
        if raising and self.rng.random() < self.bold:
            legal = raising
        return super().choose(legal)

    def deal(self) -> dict[str, Any]:
        return deal_of(self.table)

    def table_now(self) -> dict[str, Any]:
        t = self.table
        stock = 28 - int(t["stock"])
        laid = int(t["plays"]) - 2 * int(t["tricks"])
        lying = names(t["played"][2 * int(t["tricks"]) :][:laid])
        called = lying.pop() if t["face_down"] else None
        caller = none(t["played_by"][int(t["plays"]) - 1])
        return {
            "hand_number": int(t["hand_number"]),
            "phase": PHASES[int(t["phase"])],
            "turn": none(t["turn"]),
            "scores": t["scores"].tolist(),
            "dealer": int(t["dealer"]),
            "leader": int(t["leader"]),
            "multiplier": int(t["multiplier"]),
            "redeals": int(t["redeals"]),
            "tricks": [none(seat) for seat in t["won"][: int(t["tricks"])]],
            "led": lying[0] if lying else None,
            "called": None if called is None else (caller, called),
            "hands": hands_of(t["hands"]),
            "discards": hands_of(t["discards"]),
            "stock": names(t["deck"][stock:]),
        }

    def referee_now(self) -> dict[str, Any]:
        m = self.match
        return {
            "hand_number": m.hand_number,
            "phase": m.phase,
            "turn": m.turn,
            "scores": m.scores,
            "dealer": m.dealer,
            "leader": m.leader,
            "multiplier": m.multiplier,
            "redeals": m.redeals,
            "tricks": m.tricks,
            "led": None if m.led is None else line.written(m.led),
            "called": None if m.called is None else (m.called[0], line.written(m.called[1])),
            "hands": truc.shown_hands(m.hands),
            "discards": truc.shown_hands(m.discards),
            "stock": [line.written(tile) for tile in m.stock],
        }

    def table_last(self) -> dict[str, Any]:
        t = self.table
        winner = none(t["last_winner"])
        return {
            "winner": winner,
            "seat": none(t["last_seat"]),
            "reason": REASONS[int(t["last_reason"])],
            "effect": EFFECTS[int(t["last_effect"])],
            "points": 0 if winner is None else int(t["last_points"][winner]),
            "scores": t["last_scores"].tolist(),
        }


@pytest.mark.parametrize(("rules", "hands"), each_setting(TRUC), ids=str)
def test_random_games_agree_with_the_referee(rules: Rules, hands: int) -> None:
    pair = TrucPair(rules, seed=11)
    for _ in range(hands):
        pair.hand()


@pytest.mark.parametrize("max_redeals", range(4))
@pytest.mark.parametrize("target", [30, 1000])
def test_rare_standings_agree_with_the_referee(max_redeals: int, target: int) -> None:
    """One point short of the match, all redeals, every call accepted up to x32."""
    pair = TrucPair(make_rules("truc", target=target, max_redeals=max_redeals), seed=13)
    pair.bold = 0.95
    near = target - 1
    points: set[int] = set()
    for hand in range(HANDS or 200):
        scores = [[near, near], [near, 0], [0, near], [0, 0]][hand // 2 % 4]
        pair.begin(dealer=hand % 2, scores=scores)
        for _ in range(2):
            pair.hand()
            points.add(pair.table_last()["points"])
    assert {16, 32} <= points
    assert pair.redeals == set(range(max_redeals + 1))
