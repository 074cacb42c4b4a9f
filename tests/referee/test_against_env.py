"""Positions, views, masks, rewards and infos of every environment against the referee's."""

from __future__ import annotations

import importlib
import os
from typing import Any

import numpy as np
import pytest

from dominozoo.rules import TRUC, VARIANTS, Rules, make_rules, parse

from . import line, truc
from .driver import close

Json = dict[str, Any]

HANDS = int(os.environ.get("REFEREE_ENV_HANDS", "20"))

WITH_OPTIONS = (
    "partnership(opening=informal, tie=escalate, decider=True, key_card=True, poser=team)",
    "partnership(tie=void, poser=team, target=1)",
    "cutthroat(players=2, draw=True, tie=double, target=2)",
    "cutthroat(players=3, broken=leader_loss, bruck=end, decider=True)",
    "chiva(players=2, opening=informal, tie=escalate, target=1)",
    "chiva(decider=True, tie=escalate, broken=leader_loss)",
    "six_love(bruck=end, target=1)",
    "french(target=1)",
    "truc(target=3, max_redeals=3)",
    "truc(max_redeals=0)",
)


def each_game() -> list[Rules]:
    """Every game and player count, and some options."""
    counts = {game: variant.options["players"].values for game, variant in VARIANTS.items()}
    bare = [make_rules(game, players=n) for game, players in counts.items() for n in players]
    return [*bare, *map(parse, WITH_OPTIONS)]


def nulls_last(last: Json | None) -> None:
    """Hidden tiles of a last hand in no order: the contract gives none."""
    for hand in [] if last is None else last["hands"]:
        hand.sort(key=lambda tile: tile is None)


def tell_ends(events: list[Json]) -> None:
    """The ends that stay as they are at a draw or a pass; the referee leaves them out there."""
    ends = None
    for event in events:
        if event["kind"] in ("draw", "pass"):
            event["ends_after"] = ends
        ends = event["ends_after"]


def as_product(told: Json) -> Json:
    """The referee's words where the contract leaves two ways to say the same."""
    for part in (told, told["last_hand"]):
        if part is not None:
            tell_ends(part["events"])
    nulls_last(told["last_hand"])
    return told


class Pair:
    """A bare environment and the referee at the same game."""

    def __init__(self, rules: Rules, reward: str, seed: int) -> None:
        self.rules, self.reward = rules, reward
        module = importlib.import_module(f"dominozoo.{rules.module}")
        self.env = module.raw_env(reward=reward, **rules.options)
        self.names = self.env.possible_agents
        self.referee: Any = truc if rules.variant.family == TRUC else line
        self.rng = np.random.default_rng(seed)
        self.env.reset(seed=seed)
        self.begin()

    def begin(self) -> None:
        """A match of the referee with the deal on the environment's table."""
        deal, extra = self.deal(), {}
        if self.referee is truc:
            extra["dealer"] = self.env.position()["dealer"]
        game, options = self.rules.game, self.rules.options
        self.match = self.referee.start(game, options, deal=deal, **extra)

    def deal(self) -> Json:
        table = self.env.position()
        return {name: table[name] for name in ("hands", "boneyard")}

    def views(self) -> list[Json]:
        """What the referee shows each seat."""
        seats = range(self.rules.players)
        return [as_product(self.referee.view(self.match, seat)) for seat in seats]

    def compare(self) -> None:
        """Everything that the environment says of the table as it stands."""
        table = self.env.position()
        del table["rng"]
        assert table == as_product(self.referee.position(self.match))
        assert [self.env.view(name) for name in self.names] == self.views()
        for seat, name in enumerate(self.names):
            mask = self.env.observe(name)["action_mask"]
            legal = self.match.legal() if seat == self.match.turn else []
            assert np.flatnonzero(mask).tolist() == legal

    def decide(self) -> bool:
        """Compare, make a random move on both, compare rewards; True at a hand's end."""
        self.compare()
        mover, match = self.env.agent_selection, self.match
        assert mover == self.names[match.turn]
        action = int(self.rng.choice(match.legal()))
        rewards = match.step(action)
        told = {name: dict(info) for name, info in self.env.infos.items()}
        self.env.step(action)
        assert close(self.env.rewards.values(), rewards[self.reward])
        if not match.hand_over:
            assert self.env.infos == {**told, mover: {}}
        return bool(match.hand_over)

    def hand(self) -> None:
        """Play a hand and compare how it ended, then deal."""
        while not self.decide():
            pass
        over = self.match.over
        assert set(self.env.terminations.values()) == {over}
        assert not any(self.env.truncations.values())
        shown = [{"last_hand": view["last_hand"]} for view in self.views()]
        assert list(self.env.infos.values()) == shown
        if over:
            self.compare()
            self.env.reset()
            self.begin()
        else:
            self.match.deal_next(**self.deal())


@pytest.mark.parametrize("rules", each_game(), ids=str)
def test_positions_views_and_infos_agree_with_the_referee(rules: Rules) -> None:
    by_hand, by_match = Pair(rules, "hand", seed=21), Pair(rules, "match", seed=22)
    for _ in range(-(-HANDS // 2)):
        by_hand.hand()
        by_match.hand()
