"""The compiled line games against the referee, decision by decision."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

from dominozoo.line.table import EFFECTS, NOBODY, REASONS
from dominozoo.rules import LINE, VARIANTS, Rules, make_rules
from dominozoo.tables import Tables
from dominozoo.tiles import NAMES
from referee import line

HANDS = int(os.environ.get("REFEREE_HANDS", "0"))


def each_setting() -> list[tuple[Rules, int]]:
    """Every game and player count with 3,000 hands, every other option value with 300."""
    found: dict[str, tuple[Rules, int]] = {}
    for game, variant in VARIANTS.items():
        if variant.family != LINE:
            continue
        for players in variant.options["players"].values:
            base = make_rules(game, players=players)
            found[str(base)] = (base, HANDS or 3000)
            for name, option in variant.options.items():
                for value in option.values if len(option.values) < 10 else (2, 50):
                    chosen = {"players": players, name: value}
                    if not (chosen.get("draw") is True and players != 2):
                        rules = make_rules(game, **chosen)
                        found.setdefault(str(rules), (rules, HANDS or 300))
    return list(found.values())


def combined_settings() -> list[Rules]:
    """Options that act on each other, together."""
    both = {"tie": "escalate", "decider": True}
    return [
        make_rules("partnership", **both),
        make_rules("partnership", **both, key_card=True, poser="team", opening="informal"),
        make_rules("partnership", tie="void", decider=True),
        make_rules("partnership", tie="double", decider=True, key_card=True),
        *(
            make_rules("cutthroat", players=n, broken=b, key_card=True, **both)
            for n in (2, 3, 4)
            for b in ("all_scored", "leader_loss")
        ),
        make_rules("cutthroat", players=2, draw=True, opening="informal", bruck="end", **both),
        make_rules("cutthroat", players=3, bruck="end", broken="leader_loss", decider=True),
        *(make_rules("chiva", players=n, broken="leader_loss", **both) for n in (2, 3, 4)),
    ]


def none(seat: Any) -> int | None:
    return None if int(seat) == NOBODY else int(seat)


def marks(values: Any) -> list[int | None]:
    return [v - 1 if v else None for v in values.tolist()]


def number_bits(flags: list[bool]) -> int:
    return sum(1 << n for n, flag in enumerate(flags) if flag)


def close(rewards: Any, expected: list[float]) -> bool:
    return all(abs(r - e) < 1e-5 for r, e in zip(rewards.tolist(), expected, strict=True))


def names(tiles: Any) -> list[str]:
    return [NAMES[int(t)] for t in tiles]


def deal_of(record: Any, rules: Rules, hand_size: int) -> dict[str, Any]:
    """The deal that lies in a record's deck, as the referee takes it."""
    deck = names(record["deck"])
    dealt = rules.players * hand_size
    size = dealt + int(record["boneyard"])
    hands = [deck[s * hand_size : (s + 1) * hand_size] for s in range(rules.players)]
    return {"hands": hands, "boneyard": deck[dealt:size]}


def table_now(t: Any, rules: Rules, ends: int) -> dict[str, Any]:
    """What the compiled table says."""
    n, opener = rules.players, none(t["opener"])
    return {
        "turn": none(t["turn"]),
        "scores": t["scores"][: rules.sides].tolist(),
        "stake": int(t["stake"]),
        "decider": bool(t["decider"]),
        "poser": none(t["poser"]),
        "opener": opener,
        "passes": int(t["passes"]),
        "ply": int(t["ply"]),
        "ends": None if opener is None else marks(t["ends"][:ends]),
        "locked": int(t["locked"]),
        "lacks": t["lacks"][:n].tolist(),
        "lacks_double": t["lacks_double"][:n].tolist(),
        "hands": t["hands"][:n].tolist(),
        "sizes": t["sizes"][:n].tolist(),
    }


def referee_now(match: line.Match) -> dict[str, Any]:
    """The same of the referee."""
    return {
        "turn": match.turn,
        "scores": match.scores,
        "stake": match.stake,
        "decider": match.decider,
        "poser": match.poser,
        "opener": match.opener,
        "passes": match.passes,
        "ply": match.ply,
        "ends": match.ends,
        "locked": number_bits(match.locked),
        "lacks": [number_bits(flags) for flags in match.lacks],
        "lacks_double": [number_bits(flags) for flags in match.lacks_double],
        "hands": [sum(1 << line.tile_id(tile) for tile in hand) for hand in match.hands],
        "sizes": match.sizes,
    }


def last_of_table(t: Any, rules: Rules) -> dict[str, Any]:
    points = [int(p) for p in t["last_points"][: rules.sides]]
    winner = none(t["last_winner"])
    return {
        "winner": winner,
        "seat": none(t["last_seat"]),
        "reason": REASONS[int(t["last_reason"])],
        "effect": EFFECTS[int(t["last_effect"])],
        "points": points if rules.game == "french" else points[winner] if winner is not None else 0,
        "key": bool(t["last_key"]),
        "scores": [int(s) for s in t["last_scores"][: rules.sides]],
    }


class Pair:
    """Two compiled tables (rewards by hand and by match) and the referee at the same game."""

    def __init__(self, rules: Rules, seed: int) -> None:
        self.rules = rules
        self.by_hand = Tables(rules, 1, seed=seed)
        self.by_match = Tables(rules, 1, seed=seed, reward="match")
        self.ends = int(self.by_hand.packed[0]["ends"])
        self.hand_size = int(self.by_hand.packed[0]["hand_size"])
        self.rng = np.random.default_rng(seed)
        self.begin()

    @property
    def table(self) -> Any:
        return self.by_hand.records[0]

    def begin(self, opener: int | None = None, **standing: Any) -> None:
        """Start a match for both, from a set-up standing if one is given."""
        for tables in (self.by_hand, self.by_match):
            t = tables.records[0]
            if standing or opener is not None:
                tables.reset(posers=NOBODY if opener is None else opener)
                for side, score in enumerate(standing.get("scores", [])):
                    t["scores"][side] = score
                t["stake"] = standing.get("stake", 1)
                t["decider"] = standing.get("decider", False)
                tables.refresh()
        deal = deal_of(self.table, self.rules, self.hand_size)
        game, options = self.rules.game, self.rules.options
        self.match = line.start(game, options, deal=deal, opener=opener, **standing)

    def decide(self) -> bool:
        """Compare, make one random move on both, compare what came of it; True at a hand's end."""
        t, match = self.table, self.match
        legal = np.flatnonzero(self.by_hand.mask[0]).tolist()
        assert table_now(t, self.rules, self.ends) == referee_now(match)
        assert legal == match.legal()
        action = np.array([self.rng.choice(legal)])
        rewards = match.step(int(action[0]))
        self.by_hand.step(action)
        self.by_match.step(action)
        assert close(self.by_hand.reward[0], rewards["hand"])
        assert close(self.by_match.reward[0], rewards["match"])
        assert bool(self.by_hand.hands_ended[0]) == match.hand_over
        assert bool(self.by_hand.terminated[0]) == match.over
        return match.hand_over

    def hand(self) -> None:
        """Play a hand through, compare its result and deal the next one for both."""
        while not self.decide():
            pass
        last = self.match.last_hand
        assert last is not None
        mine = last_of_table(self.table, self.rules)
        assert mine == {name: last[name] for name in mine}
        winners = [s for s in range(self.rules.sides) if int(self.table["winners"]) >> s & 1]
        assert winners == self.match.winners
        if self.match.over:
            self.begin()
        else:
            deal = deal_of(self.table, self.rules, self.hand_size)
            self.match.deal_next(deal["hands"], deal["boneyard"])


@pytest.mark.parametrize(("rules", "hands"), each_setting(), ids=str)
def test_random_games_agree_with_the_referee(rules: Rules, hands: int) -> None:
    pair = Pair(rules, seed=11)
    for _ in range(hands):
        pair.hand()


@pytest.mark.parametrize("rules", combined_settings(), ids=str)
def test_options_together_agree_with_the_referee(rules: Rules) -> None:
    pair = Pair(rules, seed=12)
    for _ in range(HANDS or 300):
        pair.hand()


def rare_standings(rules: Rules) -> list[dict[str, Any]]:
    """Scores, stakes and deciders that random play seldom reaches."""
    sides, target = rules.sides, rules.target
    zeros = [0] * sides
    run = [target - 1, *zeros[1:]]
    found: list[dict[str, Any]] = [
        {"scores": run},
        {"scores": run[::-1]},
        {"scores": [1, *zeros[1:]]},
    ]
    if sides > 2 and rules.value("broken", "all_scored") == "all_scored":
        found += [
            {"scores": [target - 1] * (sides - 1) + [0]},
            {"scores": [1] * (sides - 1) + [0]},
            {"scores": [0, *range(1, sides)]},
        ]
    tie = rules.value("tie", "reset")
    if tie in ("escalate", "double"):
        stakes = (2, 3, 4) if tie == "escalate" else (2,)
        found += [{**s, "stake": k} for s in found[:3] for k in stakes] + [{"stake": stakes[-1]}]
    if rules.value("decider", False):
        one = [[1, *zeros[1:]]]
        if sides > 2 and rules.value("broken", "all_scored") == "all_scored":
            one = [[1] * (sides - 1) + [0]]
        found += [{"scores": s, "stake": 2, "decider": True} for s in one]
        if tie == "escalate":
            found += [{"scores": s, "stake": 3, "decider": True} for s in one]
    return found


WIN_GAMES = [
    make_rules("six_love"),
    make_rules("six_love", bruck="end"),
    make_rules("chiva", players=3, decider=True),
    *combined_settings(),
]


@pytest.mark.parametrize("rules", WIN_GAMES, ids=str)
def test_rare_standings_agree_with_the_referee(rules: Rules) -> None:
    pair = Pair(rules, seed=13)
    effects = set()
    for standing in rare_standings(rules):
        for opener in (None, *range(rules.players)):
            for _ in range(4):
                pair.begin(opener=opener, **standing)
                for _ in range(2):
                    pair.hand()
                    effects.add(EFFECTS[int(pair.table["last_effect"])])
    assert {"match", "reset", None} <= effects or "bruck" in effects
    assert "decider" in effects or not rules.value("decider", False)
