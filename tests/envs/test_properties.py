"""What must hold in every game at any time, played by Hypothesis.

Tiles are conserved, the mask says exactly what is accepted, rewards add up to nothing, scores
follow from the hands told, nobody sees a hidden tile, and a copied or resumed table goes on alike.
"""

from __future__ import annotations

import copy
import importlib
import os
import pickle
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from dominozoo.notation import mask_from_view, observation_from_view
from dominozoo.rules import TRUC, VARIANTS, Option, Rules, make_rules
from dominozoo.tiles import NAMES, TRUC_NAMES

Json = dict[str, Any]

EXAMPLES = int(os.environ.get("PROPERTY_EXAMPLES", "0"))  # 0: few, always the same
PICKS = st.lists(st.integers(0, 11), min_size=1, max_size=30)
HIDING = ("hands", "boneyard", "discards", "trick", "events")  # where hidden tiles may stand


def values(option: Option) -> st.SearchStrategy[Any]:
    """A value of an option; of many the small ones first."""
    taken = option.values
    if len(taken) <= 10:
        return st.sampled_from(list(taken))
    return st.sampled_from(list(taken[:8])) | st.sampled_from(taken)


@st.composite
def some_rules(draw: st.DrawFn, game: str) -> Rules:
    """A game with any options."""
    options = {name: draw(values(option)) for name, option in VARIANTS[game].options.items()}
    if options.get("draw"):
        options["players"] = 2
    return make_rules(game, **options)


@st.composite
def some_setup(draw: st.DrawFn, rules: Rules) -> Json:
    """A set-up that the game can reach."""
    setup: Json = {}
    score = st.integers(0, rules.target - 1)
    counted = rules.value("scoring", "wins") != "wins" or rules.variant.family == TRUC
    if draw(st.booleans()):
        rest = [draw(score) if counted else 0 for _ in range(rules.sides - 1)]
        setup["scores"] = [draw(score), *rest]
    if rules.variant.family == TRUC:
        setup["dealer"] = draw(st.sampled_from([None, 0, 1]))
    elif not rules.value("always_by_rule", False):
        setup["opener"] = draw(st.sampled_from([None, *range(rules.players)]))
        if rules.value("tie", "reset") in ("escalate", "double"):
            setup["stake"] = draw(st.integers(1, 2))
    return setup


def pips(hand: Sequence[str]) -> int:
    return sum(int(tile[0]) + int(tile[2]) for tile in hand)


def penalty(hand: Sequence[str]) -> int:
    """French: twice with a double left."""
    return pips(hand) * (2 if any(tile[0] == tile[2] for tile in hand) else 1)


def left_by(start: Json, events: list[Json]) -> tuple[list[list[str]], list[list[str]]]:
    """The hands after some events, and those that play began with."""
    hands, stock = copy.deepcopy(start["hands"]), list(start["boneyard"])
    dealt = copy.deepcopy(hands)
    for event in events:
        seat, tile = event["seat"], event["tile"]
        if event["kind"] in ("play", "double"):
            hands[seat].remove(tile)
        elif event["kind"] == "draw":
            assert tile == stock.pop(0)
            hands[seat].append(tile)
        elif event["kind"] == "redeal":
            for player in (1 - start["dealer"], start["dealer"]):
                hands[player], stock = stock[:3], stock[3:]
            dealt = copy.deepcopy(hands)
    return hands, dealt


def points_of(rules: Rules, start: Json, last: Json) -> Any:
    """What a finished hand is worth, from its tiles, its calls or its stake."""
    winner, hands = last["winner"], last["hands"]
    if rules.game == "french":
        return [penalty(hand) for hand in hands]
    if winner is None:
        return 0
    if rules.variant.family == TRUC:
        return 2 ** sum(event["kind"] == "reveal" for event in last["events"])
    if rules.value("scoring", "wins") == "pips":
        return sum(map(pips, hands)) - pips(hands[winner])
    return max(start["stake"], 2 if last["key"] else 1)


def scores_after(start: Json, last: Json) -> list[int]:
    """The scores after a hand, from those before it and its effect."""
    points, winner, effect = last["points"], last["winner"], last["effect"]
    if isinstance(points, list):
        return [score + add for score, add in zip(start["scores"], points, strict=True)]
    if effect in ("reset", "bruck"):
        return [0 for _ in start["scores"]]
    if winner is None or effect == "decider":
        return list(start["scores"])
    before = [0 for _ in start["scores"]] if start["decider"] else list(start["scores"])
    before[winner] += points
    return before


def renamed(value: Any, names: Json) -> Any:
    """JSON with tiles exchanged."""
    if isinstance(value, dict):
        return {key: renamed(each, names) for key, each in value.items()}
    if isinstance(value, list):
        return [renamed(each, names) for each in value]
    return names.get(value, value) if isinstance(value, str) else value


class Table(RuleBasedStateMachine):
    """A bare environment of one game."""

    game: ClassVar[str]

    def __init__(self) -> None:
        super().__init__()
        self.env: Any = None

    @initialize(data=st.data(), seed=st.integers(0, 2**64 - 1))
    def begin(self, data: st.DataObject, seed: int) -> None:
        self.chosen = data.draw(some_rules(self.game), "rules")
        self.module = importlib.import_module(f"dominozoo.{self.chosen.module}")
        self.options = {
            "reward": data.draw(st.sampled_from(["hand", "match"]), "reward"),
            "max_hands": data.draw(st.sampled_from([None, 1, 2, 5]), "max_hands"),
            **self.chosen.options,
        }
        self.env = self.module.raw_env(**self.options)
        self.env.reset(seed=seed, options=data.draw(some_setup(self.chosen), "set-up"))
        self.start = self.env.position()

    def fresh(self, position: Json) -> Any:
        """Another environment that goes on from a position."""
        env = self.module.raw_env(**self.options)
        env.reset(options={"position": position})
        return env

    def legal(self) -> list[int]:
        mask = self.env.observe(self.env.agent_selection)["action_mask"]
        return [int(action) for action in np.flatnonzero(mask)]

    def move(self, pick: int, *twins: Any) -> bool:
        """Make a legal move, the twins alike; True if the episode goes on."""
        legal = self.legal()
        action = legal[pick % len(legal)]
        for env in (self.env, *twins):
            env.step(action)
        for twin in twins:
            assert told(twin) == told(self.env)
        assert sum(self.env.rewards.values()) == pytest.approx(0)
        after = self.env.position()
        over = after["phase"] == "over"
        if over or after["hand_number"] > self.start["hand_number"]:
            self.check_hand(after)
            if over:
                assert self.legal() == after["legal"] == []
                self.env.reset()
            self.start = self.env.position()
        return not over

    def check_hand(self, after: Json) -> None:
        """Check what is told of the hand that ended against how it began."""
        last = after["last_hand"]
        hands, dealt = left_by(self.start, last["events"])
        held = dealt if self.chosen.variant.family == TRUC else hands
        assert [sorted(hand) for hand in held] == [sorted(hand) for hand in last["hands"]]
        assert last["points"] == points_of(self.chosen, self.start, last)
        assert last["scores"] == scores_after(self.start, last) == after["scores"]
        assert after["over"] == (last["effect"] in ("match", "bruck"))

    @rule(picks=PICKS)
    def play(self, picks: list[int]) -> None:
        for pick in picks:
            self.move(pick)
            self.check_table()

    @rule(picks=PICKS, pickled=st.booleans())
    def a_copy_plays_on_identically(self, picks: list[int], pickled: bool) -> None:
        twin = pickle.loads(pickle.dumps(self.env)) if pickled else copy.deepcopy(self.env)
        assert twin.infos == self.env.infos
        self.play_alike(picks, twin)

    @rule(picks=PICKS)
    def going_on_from_a_position_equals_going_on(self, picks: list[int]) -> None:
        self.play_alike(picks, self.fresh(self.env.position()))

    def play_alike(self, picks: list[int], twin: Any) -> None:
        assert told(twin)["position"] == told(self.env)["position"]
        for pick in picks:
            if not self.move(pick, twin):
                break

    @rule()
    def exactly_the_mask_is_accepted(self) -> None:
        legal, before = self.legal(), told(self.env)
        size = self.env.action_space(self.env.agent_selection).n
        for action in {-1, size, *range(size)} - {*legal}:
            with pytest.raises(ValueError, match="illegal"):
                self.env.step(action)
        assert told(self.env) == before
        for action in legal:
            copy.deepcopy(self.env).step(action)

    @rule(away=st.integers(0, 3), swaps=st.lists(st.tuples(st.integers(0, 27), st.integers(0, 27))))
    def hidden_tiles_change_nothing_seen(self, away: int, swaps: list[tuple[int, int]]) -> None:
        """Exchange two hidden tiles where the game could have gone the same way."""
        name = self.env.possible_agents[away % self.chosen.players]
        seen, position = looks(self.env, name), self.env.position()
        del position["legal"]
        hidden = hidden_from(self.env.view(name), position)
        for one, other in swaps if hidden else []:
            a, b = hidden[one % len(hidden)], hidden[other % len(hidden)]
            changed = {
                key: renamed(position[key], {a: b, b: a}) for key in HIDING if key in position
            }
            try:
                env = self.fresh({**position, **changed})
            except ValueError:  # somebody could have played it, or opened with it
                assert not {a, b} <= {*position["boneyard"]}
                continue
            position = env.position()
            del position["legal"]
            assert looks(env, name) == seen

    @invariant()
    def check_table(self) -> None:
        if self.env is None:
            return
        position = self.env.position()
        assert sorted(lying(position)) == self.set_of_tiles()
        assert self.env.state_space.contains(self.env.state())
        for seat, name in enumerate(self.env.possible_agents):
            view, observation = self.env.view(name), self.env.observe(name)
            vector, mask = observation["observation"], observation["action_mask"]
            assert self.env.observation_space(name).contains(observation)
            assert view["hand"] == position["hands"][seat]
            legal = position["legal"] if seat == position["turn"] else []
            assert view["legal"] == legal
            assert [move["id"] for move in legal] == np.flatnonzero(mask).tolist()
            assert np.array_equal(observation_from_view(view), vector)
            assert np.array_equal(mask_from_view(view), mask)

    def set_of_tiles(self) -> list[str]:
        names = TRUC_NAMES if self.chosen.variant.family == TRUC else NAMES
        nines = self.chosen.game == "cutthroat" and self.chosen.players == 3
        return sorted(name for name in names if not (nines and name == "0-0"))


def told(env: Any) -> Json:
    """Everything that an environment tells but infos, which a position doesn't carry over."""
    looking = {name: looks(env, name) for name in env.possible_agents}
    names = ("agents", "agent_selection", "rewards", "terminations", "truncations")
    return {
        "position": env.position(),
        "looks": looking,
        **{name: copy.deepcopy(getattr(env, name)) for name in names},
    }


def looks(env: Any, name: str) -> Json:
    """Everything that an agent sees."""
    observation = {key: array.tolist() for key, array in env.observe(name).items()}
    return {"view": env.view(name), **observation}


def lying(position: Json) -> list[str]:
    """Every tile on the table, wherever it lies."""
    hands, discards = position["hands"], position.get("discards", [])
    played = [e["tile"] for e in position["events"] if e["kind"] in ("play", "double")]
    return [tile for part in (*hands, *discards, position["boneyard"], played) for tile in part]


def hidden_from(view: Json, position: Json) -> list[str]:
    """The tiles of the set that a view doesn't name."""
    shown = {*view["hand"], *view.get("discards", [])}
    shown |= {event["tile"] for event in view["events"]}
    return [tile for tile in lying(position) if tile not in shown]


@pytest.mark.parametrize("game", VARIANTS)
def test_what_must_hold_always_does(game: str) -> None:
    run_state_machine_as_test(
        type(f"Table_{game}", (Table,), {"game": game}),
        settings=settings(
            max_examples=EXAMPLES or 10,
            stateful_step_count=10,
            derandomize=not EXAMPLES,
            database=None,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        ),
    )
