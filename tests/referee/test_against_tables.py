"""The compiled line games against the referee, decision by decision."""

from __future__ import annotations

from typing import Any

import pytest

from dominozoo.line.table import EFFECTS, REASONS
from dominozoo.rules import LINE, Rules, make_rules
from dominozoo.tiles import NAMES

from . import line
from .driver import HANDS, Pair, each_setting, none


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


def marks(values: Any) -> list[int | None]:
    return [v - 1 if v else None for v in values.tolist()]


def number_bits(flags: list[bool]) -> int:
    return sum(1 << n for n, flag in enumerate(flags) if flag)


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


class LinePair(Pair):
    """Tables and referee of a line game."""

    def __init__(self, rules: Rules, seed: int) -> None:
        self.ends = 4 if rules.value("cross", False) else 2
        super().__init__(rules, seed)

    def begin(self, opener: int | None = None, **standing: Any) -> None:
        """Start a match for both, from a standing if one is given."""
        if standing or opener is not None:
            self.set_up(opener, standing)
        game, options = self.rules.game, self.rules.options
        self.match = line.start(game, options, deal=self.deal(), opener=opener, **standing)

    def deal(self) -> dict[str, Any]:
        return deal_of(self.table, self.rules, int(self.by_hand.packed[0]["hand_size"]))

    def table_now(self) -> dict[str, Any]:
        return table_now(self.table, self.rules, self.ends)

    def referee_now(self) -> dict[str, Any]:
        return referee_now(self.match)

    def table_last(self) -> dict[str, Any]:
        return last_of_table(self.table, self.rules)


@pytest.mark.parametrize(("rules", "hands"), each_setting(LINE), ids=str)
def test_random_games_agree_with_the_referee(rules: Rules, hands: int) -> None:
    pair = LinePair(rules, seed=11)
    for _ in range(hands):
        pair.hand()


@pytest.mark.parametrize("rules", combined_settings(), ids=str)
def test_options_together_agree_with_the_referee(rules: Rules) -> None:
    pair = LinePair(rules, seed=12)
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
    pair = LinePair(rules, seed=13)
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
