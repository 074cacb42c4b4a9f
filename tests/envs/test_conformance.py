"""The conformance checks hold for every game, and each of them finds what is broken on purpose."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from dominozoo import testing
from dominozoo.aec import TableEnv
from dominozoo.fields import LINE_LAYOUT
from dominozoo.rules import VARIANTS, Rules, make_rules
from dominozoo.single import SeatEnv, SeatVectorEnv
from dominozoo.tables import Tables

Json = dict[str, Any]


def maker(rules: Rules, **arguments: Any) -> Callable[..., TableEnv]:
    module = importlib.import_module(f"dominozoo.{rules.module}")
    return partial(module.raw_env, **rules.options, **arguments)


# Every game


def is_default(rules: Rules) -> bool:
    """True if nothing but the number of players is chosen."""
    options = rules.variant.options
    return all(k == "players" or v == options[k].default for k, v in rules.options.items())


@pytest.mark.parametrize(
    "rules",
    [
        pytest.param(rules, id=str(rules), marks=() if is_default(rules) else pytest.mark.once)
        for rules in testing.every_game()
    ],
)
def test_every_game_conforms(rules: Rules) -> None:
    testing.check_all(
        maker(rules), make_short=maker(rules, max_hands=2), games=2, steps=25, opponents="easy"
    )


@pytest.mark.parametrize("game", VARIANTS)
def test_a_hundred_games(game: str) -> None:
    rules = make_rules(game)
    testing.check_games(maker(rules, max_hands=1), games=100)
    wrapped = importlib.import_module(f"dominozoo.{rules.module}").env
    testing.check_games(partial(wrapped, max_hands=1, reward="match"), games=4)
    testing.check_masks(wrapped, steps=30)
    testing.check_actions(wrapped, steps=20)


def test_every_game_names_each_option_value_once() -> None:
    texts = [str(rules) for rules in testing.every_game()]
    assert len(set(texts)) == len(texts)
    assert {"block", "draw(players=3)", "cutthroat(players=2, draw=True)"} <= set(texts)
    assert {"truc(max_redeals=0)", "partnership(poser=team)", "block(target=1000)"} <= set(texts)


# What is broken on purpose. Each changes one thing.


class Draw(TableEnv):
    """The sound game that the broken ones are made from."""

    game = "draw"


def changed_mask(change: Callable[[TableEnv, str, Any], Any]) -> type[Draw]:
    """A game with a change to each mask: (environment, agent, mask) to mask."""

    class Changed(Draw):
        def observe(self, agent: str) -> Any:
            seen = super().observe(agent)
            return {**seen, "action_mask": change(self, agent, seen["action_mask"])}

    return Changed


def changed_vector(change: Callable[[TableEnv, str, Any], None]) -> type[Draw]:
    """A game with a change made in each observation's vector: (environment, agent, vector)."""

    class Changed(Draw):
        def observe(self, agent: str) -> Any:
            seen = super().observe(agent)
            change(self, agent, seen["observation"])
            return seen

    return Changed


def changed_position(change: Callable[[Json], None]) -> type[Draw]:
    """A game with a change made in each position."""

    class Changed(Draw):
        def position(self) -> Json:
            position = super().position()
            change(position)
            return position

    return Changed


def changed_step(change: Callable[[TableEnv], None]) -> type[Draw]:
    """A game with a change made after each step."""

    class Changed(Draw):
        def step(self, action: int | None) -> None:
            super().step(action)
            change(self)

    return Changed


def moving(env: TableEnv, agent: str) -> bool:
    return agent == env.agent_selection


def without_first(env: TableEnv, agent: str, mask: Any) -> Any:
    if mask.sum() > 1:
        mask[mask.argmax()] = 0
    return mask


def with_pass(env: TableEnv, agent: str, mask: Any) -> Any:
    mask[57] |= moving(env, agent)
    return mask


def shown_to_all(env: TableEnv, agent: str, mask: Any) -> Any:
    return TableEnv.observe(env, env.agent_selection)["action_mask"]


class NewSpaces(Draw):
    def observation_space(self, agent: str) -> Any:
        return self._new_space()


class NoPosition(Draw):
    """A game of somebody else's: PettingZoo's interface alone."""

    def __getattribute__(self, name: str) -> Any:
        if name in ("position", "view"):
            raise AttributeError(name)
        return super().__getattribute__(name)

    def observe(self, agent: str) -> Any:
        seen = super().observe(agent)
        return {**seen, "action_mask": without_first(self, agent, seen["action_mask"])}


class Stained(Draw):
    """A refused action leaves a reward behind."""

    def step(self, action: int | None) -> None:
        try:
            super().step(action)
        except ValueError:
            self.rewards[self.agent_selection] = -1.0
            raise


class Deaf(Draw):
    def reset(self, seed: Any = None, options: Any = None) -> None:
        super().reset(None, options)


class Stuck(Draw):
    latest = 0

    def reset(self, seed: Any = None, options: Any = None) -> None:
        self.latest = self.latest if seed is None else seed
        super().reset(self.latest, options)


class OneSeed(Draw):
    def reset(self, seed: Any = None, options: Any = None) -> None:
        super().reset(seed if seed is None else 5, options)


class Remembering(Draw):
    resets = 0

    def reset(self, seed: Any = None, options: Any = None) -> None:
        self.resets += 1
        super().reset(seed if seed is None else seed + 1000 * self.resets, options)


class Endless(Draw):
    def step(self, action: int | None) -> None:
        super().step(action)
        if any(self.terminations.values()):
            self.reset()


class NumpyFlags(Draw):
    def step(self, action: int | None) -> None:
        super().step(action)
        self.terminations = {a: np.bool_(v) for a, v in self.terminations.items()}  # type: ignore[misc]


class ToldTwice(Draw):
    def _was_dead_step(self, action: Any) -> None:
        kept = dict(self._cumulative_rewards)
        super()._was_dead_step(action)
        self._cumulative_rewards.update(
            {a: 2 * kept[a] for a in self._cumulative_rewards if a in kept}
        )


def lose_tile(position: Json) -> None:
    position["boneyard"] = position["boneyard"][1:]


def double_tile(position: Json) -> None:
    position["hands"][0] = [*position["hands"][0], position["hands"][1][0]]


def swap_name(position: Json) -> None:
    position["boneyard"] = ["7-7", *position["boneyard"][1:]]


def one_point_more(position: Json) -> None:
    if position["last_hand"]:
        position["last_hand"]["points"] += 1


def scores_drift(position: Json) -> None:
    position["scores"][0] += len(position["events"]) % 2


def scores_lag(position: Json) -> None:
    if position["last_hand"]:
        position["scores"] = position["last_hand"]["scores"] = [0, 0]


def gift(env: TableEnv) -> None:
    if any(env.rewards.values()):
        env.rewards["player_0"] += 0.25


def twofold(env: TableEnv) -> None:
    env.rewards = {agent: 2 * reward for agent, reward in env.rewards.items()}


def early(env: TableEnv) -> None:
    env.rewards = {"player_0": 0.5, "player_1": -0.5}


def leak_hand(env: TableEnv, agent: str, vector: Any) -> None:
    other = TableEnv.observe(env, "player_1" if agent == "player_0" else "player_0")
    vector[LINE_LAYOUT.offset("lacks_double") :][:28] = other["observation"][:28]


def leak_boneyard(env: TableEnv, agent: str, mask: Any) -> Any:
    boneyard = TableEnv.position(env)["boneyard"]
    return mask if not boneyard or boneyard[0] < "3" else mask * 0


class LeakyView(Draw):
    def view(self, agent: str) -> Json:
        return {**super().view(agent), "next": self.position()["boneyard"][:1]}


class OneBuffer(Draw):
    """Observations of one agent all share an array."""

    def observe(self, agent: str) -> Any:
        seen = super().observe(agent)
        buffers = self.__dict__.setdefault("buffers", {})
        buffer = buffers.setdefault(agent, seen["observation"])
        buffer[:] = seen["observation"]
        return {**seen, "observation": buffer}


class Cached(Draw):
    """What is handed out is what will be handed out again."""

    def reset(self, seed: Any = None, options: Any = None) -> None:
        self.cache: Json = {}
        super().reset(seed, options)

    def step(self, action: int | None) -> None:
        self.cache = {}
        super().step(action)

    def observe(self, agent: str) -> Any:
        if agent not in self.cache:
            self.cache[agent] = super().observe(agent)
        return self.cache[agent]


class OwnScores(Draw):
    """A view whose writing moves the table."""

    def view(self, agent: str) -> Any:
        table = self

        class View(dict[str, Any]):
            def clear(self) -> None:
                table.rewards = dict.fromkeys(table.rewards, 9.0)

        return View(super().view(agent))


class Restarting(Draw):
    """What PettingZoo's EzPickle alone does: a pickled environment begins anew."""

    def __setstate__(self, state: Json) -> None:
        super().__setstate__(state)
        self.reset(seed=99)


class NoCopy(Draw):
    def __deepcopy__(self, memo: Any) -> Any:
        return self


class Forgetful(Draw):
    """A copy deals from a stream of its own."""

    def __setstate__(self, state: Json) -> None:
        super().__setstate__(state)
        table: Any = self._table
        table.tables = table.tables.copy()
        table.tables["deals"] += np.random.SeedSequence().generate_state(1)[0] % 1000
        table.tables["deck"] = table.tables["deck"][:, ::-1]


class Shifted(Draw):
    """Deals other games than the tables of the seed."""

    def reset(self, seed: Any = None, options: Any = None) -> None:
        super().reset(seed if seed is None else seed + 1, options)


BROKEN: list[tuple[str, Callable[..., Any], Any, str]] = [
    ("bool mask", testing.check_masks, changed_mask(lambda e, a, m: m.astype(bool)), "int8"),
    ("short mask", testing.check_masks, changed_mask(lambda e, a, m: m[:-1]), "has shape"),
    ("other numbers", testing.check_masks, changed_mask(lambda e, a, m: m * 2), "other than 0 and"),
    ("shown to all", testing.check_masks, changed_mask(shown_to_all), "not to move, but its mask"),
    ("empty", testing.check_masks, changed_mask(lambda e, a, m: m * 0), "to move, but its mask"),
    ("position", testing.check_masks, changed_mask(without_first), "the position says"),
    ("new spaces", testing.check_masks, NewSpaces, "a new space each time"),
    (
        "bounds",
        testing.check_masks,
        changed_vector(lambda e, a, v: v.fill(-1)),
        "outside its space",
    ),
    ("hidden move", testing.check_actions, NoPosition, "not in the mask, but taken"),
    ("no move", testing.check_actions, changed_mask(with_pass), "in the mask, but refused: action"),
    ("stained", testing.check_actions, Stained, "was refused, but changed rewards"),
    ("deaf to seeds", testing.check_games, Deaf, "twins of a seed differ"),
    ("stuck", testing.check_games, Stuck, r"reset\(\) repeats"),
    ("one seed", testing.check_games, OneSeed, "two seeds deal the same"),
    ("remembering", testing.check_games, Remembering, "the same seed plays another game"),
    ("endless", partial(testing.check_games, longest=300), Endless, "hasn't ended after 300"),
    ("numpy flags", testing.check_games, NumpyFlags, "as bool"),
    ("told twice", testing.check_games, ToldTwice, "are told the rewards"),
    ("lost tile", testing.check_conservation, changed_position(lose_tile), "nowhere: "),
    ("double tile", testing.check_conservation, changed_position(double_tile), "in two places"),
    ("strange tile", testing.check_conservation, changed_position(swap_name), "nowhere|not in the"),
    ("gift", testing.check_conservation, changed_step(gift), "add up to 0.25"),
    ("twofold", testing.check_conservation, changed_step(twofold), "by the hand's points"),
    ("early", testing.check_conservation, changed_step(early), "by the hand's points"),
    ("points", testing.check_conservation, changed_position(one_point_more), "points|counts"),
    ("drift", testing.check_conservation, changed_position(scores_drift), "scores changed"),
    ("lag", testing.check_conservation, changed_position(scores_lag), r"the scores are \[0, 0\]"),
    ("leaky vector", testing.check_hidden, changed_vector(leak_hand), "change its observation"),
    ("leaky mask", testing.check_hidden, changed_mask(leak_boneyard), "its action_mask|allows"),
    ("leaky view", testing.check_hidden, LeakyView, "change its view"),
    ("no swaps", partial(testing.check_hidden, fewest=10**6), Draw, "swaps were possible"),
    ("one buffer", testing.check_aliasing, OneBuffer, "observation of move 0 has changed"),
    ("cached", testing.check_aliasing, Cached, "handed out changes observations"),
    ("own scores", testing.check_aliasing, OwnScores, "handed out changes rewards"),
    ("restarting", testing.check_copies, Restarting, "the copy differs in"),
    ("no copy", testing.check_copies, NoCopy, "moves later copies differ|changed the original"),
    ("forgetful", testing.check_copies, Forgetful, "moves later copies differ"),
    ("shifted", testing.check_agreement, Shifted, "observes other|has seat"),
    ("twofold rewards", testing.check_agreement, changed_step(twofold), "Tables rewards"),
    ("masks apart", testing.check_agreement, changed_mask(without_first), "masks otherwise"),
    ("seats apart", testing.check_seats, Shifted, "SeatEnv 0, turn 0: it observes another"),
    ("rewards apart", testing.check_seats, changed_step(twofold), "SeatEnv 0, turn .*: reward"),
    ("in all", partial(testing.check_all, games=2, steps=30), LeakyView, "change its view"),
]


@pytest.mark.parametrize(
    ("check", "broken", "message"), [row[1:] for row in BROKEN], ids=[row[0] for row in BROKEN]
)
def test_a_broken_game_is_found(check: Any, broken: Any, message: str) -> None:
    arguments = {"games": 6} if getattr(check, "func", check) is testing.check_games else {}
    with pytest.raises(AssertionError, match=message):
        check(broken, **arguments)


def test_the_sound_game_that_they_are_made_from_passes() -> None:
    testing.check_all(Draw, games=3, steps=60)
    testing.check_hidden(Draw, fewest=20)


def test_tables_that_play_another_game_are_found() -> None:
    def later(rules: Rules, seed: int) -> Tables:
        tables = Tables(rules, 1, seed=seed)
        tables.reset()
        return tables

    with pytest.raises(AssertionError, match="Tables"):
        testing.check_agreement(Draw, make_tables=later)
    with pytest.raises(AssertionError, match="over in one"):
        testing.check_agreement(
            Draw, make_tables=lambda rules, seed: Tables(rules, 1, seed=seed, max_hands=1)
        )


# Learning seats


class Row(SeatVectorEnv):
    """The sound tables that the broken ones are made from."""

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**{"game": "block", "opponents": "easy", "max_hands": 1, **arguments})


class StaleObservation(Row):
    """The first observation of the new episode is the last one of the old."""

    def _hand_over(self, done: Any, ended: Json) -> Json:
        told = super()._hand_over(done, ended)
        if self._mode is AutoresetMode.SAME_STEP:
            self._records["hands"] = 0
        return told


class NoFinal(Row):
    def step(self, actions: Any) -> Any:
        *rest, info = super().step(actions)
        return *rest, {key: value for key, value in info.items() if "final_info" not in key}


class OtherFinal(Row):
    def step(self, actions: Any) -> Any:
        *rest, info = super().step(actions)
        for one in info.get("final_obs", []):
            if one is not None:
                one["observation"] += 1
        return *rest, info


class LateReward(Row):
    """NEXT_STEP: the step that begins an episode repeats the last reward."""

    def step(self, actions: Any) -> Any:
        waiting = self._done.copy()
        observation, reward, *rest = super().step(actions)
        self.last = getattr(self, "last", reward)
        reward = np.where(waiting, self.last, reward)
        self.last = reward
        return observation, reward, *rest


class Forgiving(Row):
    """DISABLED: tables that are over are stepped all the same."""

    def _checked(self, actions: Any) -> Any:
        if self._mode is AutoresetMode.DISABLED:
            self._done[:] = False
        return super()._checked(actions)


class ResetAll(Row):
    def _reset_mask(self, options: Any) -> Any:
        return np.ones_like(super()._reset_mask(options))


class SameSeeds(Row):
    def _seeds(self, seed: Any) -> Any:
        seeds = super()._seeds(seed)
        return seeds and [seeds[0]] * len(seeds)


class SharedRows(Row):
    def _look(self, records: Any, seats: Any) -> Any:
        found = super()._look(records, seats)
        if len(records) != self.num_envs:
            return found
        kept: Any = self.__dict__.setdefault("kept", found)
        for row, new in zip(kept, found, strict=True):
            row[:] = new
        return kept


class Unlucky(Row):
    def step(self, actions: Any) -> Any:
        observation, reward, *rest = super().step(actions)
        return observation, reward - 0.5, *rest


class Silent(Row):
    def _info(self, where: Any = None) -> Json:
        return {k: v for k, v in super()._info(where).items() if "seat" not in k}


class Winner(Row):
    def _ended(self, done: Any) -> Json:
        return {**super()._ended(done), "is_success": np.ones(self.num_envs, np.bool_)}


class Wrong(Row):
    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.metadata = {**self.metadata, "autoreset_mode": "other"}


ROWS: list[tuple[type[Row], str]] = [
    (StaleObservation, "SAME_STEP, step .*: it observes another observation"),
    (NoFinal, "SAME_STEP, step .*: no final_info"),
    (OtherFinal, "SAME_STEP, step .*: another final observation"),
    (LateReward, "NEXT_STEP, step .*: reward and ends are"),
    (Forgiving, "DISABLED, step .*: a table that is over was stepped"),
    (ResetAll, "DISABLED, step .*: reset_mask has changed a table"),
    (SameSeeds, "reset, table 1: it observes another"),
    (SharedRows, "the last observation has changed"),
    (Unlucky, "reward and ends are"),
    (Silent, "info lacks 'seat'"),
    (Winner, "is_success"),
    (Wrong, "its metadata say otherwise"),
]

SINGLE = partial(SeatEnv, "block", opponents="easy", max_hands=1)


@pytest.mark.parametrize(("broken", "message"), ROWS)
def test_broken_tables_are_found(broken: type[Row], message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        testing.check_vector(broken, SINGLE)


def test_the_sound_tables_pass() -> None:
    testing.check_vector(Row, SINGLE)


def test_learning_seats_that_play_otherwise_are_found() -> None:
    class Generous(SeatEnv):
        def step(self, action: int) -> Any:
            observation, reward, *rest = super().step(action)
            return observation, reward + 1, *rest

    class Blind(SeatVectorEnv):
        def _look(self, records: Any, seats: Any) -> Any:
            seen, mask = super()._look(records, seats)
            return seen * 0, mask

    with pytest.raises(AssertionError, match="SeatEnv 0, turn 1: reward"):
        testing.check_seats(Draw, make_single=partial(Generous, "draw"))
    with pytest.raises(AssertionError, match="SeatVectorEnv 0, turn 0: it observes another"):
        testing.check_seats(Draw, make_vector=partial(Blind, "draw"))


def test_one_table_is_equal_to_many_in_every_mode() -> None:
    settings: list[tuple[str, Json]] = [
        ("partnership", {"opponents": "hard", "partner": "random", "max_hands": 2}),
        ("truc", {"opponents": "easy", "target": 2, "reward": "match"}),
        ("cutthroat", {"opponents": ["hard", testing.steady, "easy"], "max_hands": 1, "seat": 2}),
    ]
    for game, arguments in settings:
        testing.check_vector(
            partial(SeatVectorEnv, game, **arguments), partial(SeatEnv, game, **arguments)
        )
