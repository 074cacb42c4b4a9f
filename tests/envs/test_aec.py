"""The environments behind PettingZoo's AEC API."""

import copy
import importlib
import json
import pickle
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pettingzoo
import pytest
from pettingzoo.test.api_test import api_test
from pettingzoo.test.seed_test import seed_test

import dominozoo
from dominozoo.aec import TableEnv
from dominozoo.line.game import LineGame
from dominozoo.line.position import table_from_view
from dominozoo.notation import mask_from_view, observation_from_view
from dominozoo.rules import VARIANTS, RulesError, make_rules, parse

Json = dict[str, Any]

GAMES = [
    str(make_rules(name, players=players))
    for name, variant in VARIANTS.items()
    for players in variant.options["players"].values
    if variant.family == "line"
]
VARIED = [
    *GAMES,
    "cutthroat(players=2, draw=True, tie=escalate)",
    "partnership(poser=team, tie=double, decider=True)",
    "partnership(opening=informal, tie=void, key_card=True, target=3)",
    "cutthroat(broken=leader_loss, bruck=end, tie=escalate)",
    "six_love(bruck=end)",
    "chiva(players=3, tie=void, decider=True)",
]


def module_of(game: str) -> Any:
    return importlib.import_module(f"dominozoo.{parse(game).module}")


def raw(game: str, seed: int | None = None, **arguments: Any) -> TableEnv:
    env: TableEnv = module_of(game).raw_env(**parse(game).options, **arguments)
    if seed is not None:
        env.reset(seed=seed)
    return env


def wrapped(game: str, **arguments: Any) -> Any:
    return module_of(game).env(**parse(game).options, **arguments)


def choose(env: Any, rng: random.Random) -> int:
    mask = env.observe(env.agent_selection)["action_mask"]
    return int(rng.choice(np.flatnonzero(mask).tolist()))


def is_over(env: Any) -> bool:
    return any(env.terminations.values()) or any(env.truncations.values())


def wander(env: Any, seed: int, steps: int) -> Iterator[int]:
    """Make random legal moves until the episode ends or the steps are made."""
    rng = random.Random(seed)
    for step in range(steps):
        if is_over(env):
            return
        env.step(choose(env, rng))
        yield step


def to_the_end(env: Any, seed: int = 0) -> None:
    for _ in wander(env, seed, 100_000):
        pass


# PettingZoo's own tests


# What a dict observation costs in api_test; nothing else may warn.
@pytest.mark.filterwarnings("ignore:Observation is not a NumPy array:UserWarning")
@pytest.mark.filterwarnings(
    "ignore:Observation space for each agent probably should be "
    "gymnasium.spaces.box or gymnasium.spaces.discrete:UserWarning"
)
@pytest.mark.parametrize("game", GAMES)
def test_pettingzoo_api(game: str) -> None:
    for env in (wrapped(game), raw(game)):
        api_test(env, num_cycles=120)  # type: ignore[no-untyped-call]


@pytest.mark.parametrize("game", GAMES)
def test_pettingzoo_seed(game: str) -> None:
    def make(**arguments: Any) -> Any:
        return wrapped(game, **arguments)

    seed_test(make, num_cycles=120)  # type: ignore[no-untyped-call]


# Spaces, masks, observations


@pytest.mark.parametrize("game", VARIED)
def test_what_is_observed_lies_in_the_spaces(game: str) -> None:
    env = raw(game, seed=4)
    for _ in wander(env, 5, 90):
        for agent in env.possible_agents:
            observation, mask = env.observe(agent), env.observe(agent)["action_mask"]
            assert env.observation_space(agent).contains(observation)
            assert mask.dtype == np.int8
            to_move = agent == env.agent_selection and not is_over(env)
            assert mask.any() == to_move
        assert env.state_space.contains(env.state())
    agent = env.possible_agents[0]
    assert env.observation_space(agent) is env.observation_space(agent)
    assert env.action_space(agent) is env.action_space(agent)


@pytest.mark.parametrize("game", VARIED)
def test_the_mask_is_what_is_taken(game: str) -> None:
    env = raw(game, seed=6)
    for step in wander(env, 7, 100):
        if step % 13 or is_over(env):
            continue
        mask = env.observe(env.agent_selection)["action_mask"]
        before = env.position()
        for action, legal in enumerate(mask.tolist()):
            trial = copy.deepcopy(env) if legal else env
            if legal:
                trial.step(action)
                assert trial.position() != before
            else:
                with pytest.raises(ValueError, match=f"action {action} is illegal: .+"):
                    trial.step(action)
        assert env.position() == before


def test_nothing_handed_out_is_the_tables_own() -> None:
    env = raw("draw", seed=1)
    for _ in wander(env, 1, 40):
        pass
    agent = env.agent_selection
    before = env.position()
    kept = {name: array.copy() for name, array in env.observe(agent).items()}
    for array in (*env.observe(agent).values(), env.state()):
        array[:] = 77
    for taken in (env.position(), env.view(agent), env.infos[agent]):
        taken.clear()
    assert env.position() == before
    seen = env.observe(agent)
    for _ in wander(env, 2, 5):
        pass
    assert all((kept[name] == seen[name]).all() for name in kept)


@pytest.mark.parametrize("game", VARIED)
def test_hidden_tiles_change_nothing_that_is_seen(game: str) -> None:
    env, rng = raw(game, seed=8), random.Random(3)
    for _ in wander(env, 9, 40):
        for me, agent in enumerate(env.possible_agents):
            seen = env.view(agent), env.observe(agent)["observation"].tolist()
            other = copy.deepcopy(env)
            shuffle_hidden(other, me, rng)
            assert (other.view(agent), other.observe(agent)["observation"].tolist()) == seen


def shuffle_hidden(env: TableEnv, me: int, rng: random.Random) -> None:
    """Deal the tiles that a seat can't see anew among the others and the boneyard."""
    game = env._table
    assert isinstance(game, LineGame)
    record, players = game.tables[0], game.rules.players
    hidden = list(range(int(game.packed[0]["no_blank"]), 28))
    seen = int(record["hands"][me]) | int(record["laid"])
    hidden = [tile for tile in hidden if not seen >> tile & 1]
    rng.shuffle(hidden)
    for seat in range(players):
        if seat != me:
            size = int(record["sizes"][seat])
            record["hands"][seat] = sum(1 << tile for tile in hidden[:size])
            del hidden[:size]
    size = 28 - int(game.packed[0]["no_blank"])
    record["deck"][size - len(hidden) : size] = hidden
    record["seed"] = rng.randrange(1 << 32)
    for row in game.log[: record["ply"]]:
        if row[0] == 1 and row[1] != me:
            row[2] = rng.randrange(28)


# Arguments


@pytest.mark.parametrize(
    ("game", "arguments", "message"),
    [
        ("block", {"players": 5}, "players: 2, 3, 4"),
        ("block", {"tie": "void"}, "block has no option 'tie'.*it takes players, target"),
        ("partnership", {"key_crad": True}, "did you mean 'key_card'"),
        ("block", {"rewards": "match"}, "did you mean 'reward'.*it takes players, target"),
        ("truc", {"player": 2}, "did you mean 'players'"),
        ("french", {"target": 0}, "target: 1..1000"),
        ("block", {"reward": "win"}, "reward must be one of hand, match"),
        ("block", {"max_hands": 0}, "max_hands must be None or an integer of at least 1"),
        ("block", {"max_hands": 1.5}, "max_hands must be None"),
        ("block", {"render_mode": "rgb"}, "render_mode must be None, human, ansi or rgb_array"),
    ],
)
def test_wrong_arguments_are_refused(game: str, arguments: Json, message: str) -> None:
    for make in (module_of(game).raw_env, module_of(game).env):
        with pytest.raises(ValueError, match=message):
            make(**arguments)


@pytest.mark.parametrize("seed", [-1, 1 << 64, 1.5, "1"])
def test_a_wrong_seed_is_refused(seed: Any) -> None:
    with pytest.raises(ValueError, match="seed must"):
        raw("block").reset(seed=seed)


# Seeds and copies


def test_a_seed_repeats_and_without_one_the_stream_goes_on() -> None:
    env, other = raw("block", seed=5), raw("block", seed=5)
    first = env.position()
    assert other.position() == first
    env.reset()
    assert env.position()["hands"] != first["hands"]
    other.reset()
    assert env.position() == other.position()
    env.reset(seed=5)
    assert env.position() == first
    fresh = raw("block")
    fresh.reset()
    unlike = raw("block")
    unlike.reset()
    assert fresh.position()["rng"]["seed"] != unlike.position()["rng"]["seed"]


@pytest.mark.parametrize("game", ["draw(players=3)", "partnership", "french"])
@pytest.mark.parametrize("how", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_a_copy_goes_on_alike(game: str, how: Any) -> None:
    env: Any
    for env in (raw(game), wrapped(game)):
        env.reset(seed=2)
        for _ in wander(env, 3, 70):
            pass
        other = how(env)
        for _ in zip(wander(env, 4, 70), wander(other, 4, 70), strict=True):
            assert other.unwrapped.position() == env.unwrapped.position()
            assert (other.rewards, other.infos) == (env.rewards, env.infos)
        assert other.unwrapped.record() == env.unwrapped.record()


# The end of a hand


def expected_rewards(env: TableEnv, last: Json) -> list[float]:
    rules, n = env.rules, env.rules.players
    if rules.game == "french":
        mean = sum(last["points"]) / n
        return [(mean - own) / rules.target for own in last["points"]]
    if last["winner"] is None:
        return [0.0] * n
    p = last["points"]
    if rules.game in ("block", "draw"):
        p /= rules.target
    return [
        p if rules.side_of(seat) == last["winner"] else -p / (rules.sides - 1) for seat in range(n)
    ]


@pytest.mark.parametrize("game", VARIED)
def test_rewards_of_a_hand(game: str) -> None:
    env, rng, total, hands = raw(game, seed=11), random.Random(5), np.zeros(4), 0
    while not is_over(env) and hands < 30:
        number = env.position()["hand_number"]
        env.step(choose(env, rng))
        position = env.position()
        ended = position["hand_number"] > number or position["phase"] == "over"
        rewards = [env.rewards[agent] for agent in env.possible_agents]
        if ended:
            hands += 1
            last = position["last_hand"]
            assert rewards == pytest.approx(expected_rewards(env, last))
            assert last["scores"] == position["scores"]
            for seat, agent in enumerate(env.possible_agents):
                assert env.infos[agent]["last_hand"] == env.view(agent)["last_hand"]
                assert env.view(agent)["seat"] == seat
        else:
            assert not any(rewards)
        assert sum(rewards) == pytest.approx(0, abs=1e-12)
        total[: len(rewards)] += rewards
    assert hands


def test_rewards_of_a_match() -> None:
    for game, n in (("block(players=3)", 3), ("partnership", 2), ("six_love(bruck=end)", 4)):
        for seed in range(4):
            env = raw(game, reward="match")
            env.reset(seed=seed)
            for _ in wander(env, seed, 100_000):
                if not is_over(env):
                    assert not any(env.rewards.values())
            winners = env.position()["winners"]
            for seat, agent in enumerate(env.possible_agents):
                share = 1.0 if env.rules.side_of(seat) in winners else -1 / (n - 1)
                assert env.rewards[agent] == pytest.approx(share if winners else 0)
            assert env.position()["over"]
            assert all(env.terminations.values())
            assert not any(env.truncations.values())


def test_joint_winners_share() -> None:
    env = raw("french", reward="match")
    winners: list[int] = []
    for seed in range(400):
        env.reset(seed=seed, options={"scores": [99, 99, 99, 99]})
        to_the_end(env, seed)
        winners = env.position()["winners"]
        if len(winners) == 2:
            break
    shares = [env.rewards[agent] for agent in env.possible_agents]
    assert [share > 0 for share in shares] == [seat in winners for seat in range(4)]
    assert shares[winners[0]] == pytest.approx((4 - 2) / (2 * 3))
    assert sum(shares) == pytest.approx(0)


@pytest.mark.parametrize(("reward", "truncated"), [("hand", False), ("match", True)])
def test_max_hands(reward: str, truncated: bool) -> None:
    env = raw("partnership", reward=reward, max_hands=2)
    env.reset(seed=3)
    to_the_end(env)
    position = env.position()
    assert set(env.truncations.values()) == {truncated}
    assert set(env.terminations.values()) == {not truncated}
    assert (position["hand_number"], position["phase"], position["turn"]) == (2, "over", None)
    assert (position["over"], position["winners"], position["legal"]) == (False, [], [])
    assert all(type(value) is bool for value in env.terminations.values())
    assert position["last_hand"]["board"] == position["board"]
    assert position["last_hand"]["events"] == position["events"]
    assert not any(env.observe(agent)["action_mask"].any() for agent in env.possible_agents)


def test_the_matchs_end_before_max_hands_is_no_truncation() -> None:
    env = raw("block(target=1)", reward="match", max_hands=50)
    env.reset(seed=3)
    to_the_end(env)
    assert env.position()["over"]
    assert all(env.terminations.values())
    assert not any(env.truncations.values())


def test_a_broken_run_may_end_the_match() -> None:
    env, position = raw("six_love(bruck=end)"), {}
    for seed in range(200):
        env.reset(seed=seed, options={"scores": [2, 2, 2, 0]})
        to_the_end(env, seed)
        position = env.position()
        if position["last_hand"]["effect"] == "bruck":
            break
    assert position["last_hand"]["winner"] == 3
    assert (position["over"], position["winners"]) == (True, [])
    assert position["scores"] == [0, 0, 0, 0]


def test_infos_stay_until_the_agent_has_acted() -> None:
    env, rng = raw("partnership", seed=2), random.Random(1)
    while not env.infos["player_0"]:
        env.step(choose(env, rng))
    waiting = set(env.possible_agents)
    while waiting:
        assert {agent for agent in env.possible_agents if env.infos[agent]} == waiting
        acting = env.agent_selection
        env.step(choose(env, rng))
        waiting.discard(acting)


def test_the_end_stays_until_the_first_dead_step() -> None:
    env = raw("cutthroat", max_hands=1)
    env.reset(seed=8)
    to_the_end(env)
    rewards = dict(env.rewards)
    assert any(rewards.values())
    assert env.last()[1] == rewards[env.agent_selection]
    seen = {}
    for agent in env.agent_iter():
        _, reward, terminated, _, info = env.last()
        assert terminated
        assert info["last_hand"]["scores"] == env.position()["scores"]
        seen[agent] = reward
        env.step(None)
    assert seen == rewards


def test_the_pose_left_to_the_partner_is_an_event() -> None:
    env = raw("partnership(poser=team)")
    env.reset(seed=1, options={"opener": 2})
    env.step(57)
    position = env.position()
    assert (position["turn"], position["poser"], position["opener"]) == (0, 2, None)
    assert (position["passes"], position["phase"], len(position["events"])) == (0, "pose", 1)
    assert all(move["action"] == "play" for move in position["legal"])
    env.step(position["legal"][0]["id"])
    position = env.position()
    assert (position["poser"], position["opener"], position["turn"]) == (2, 0, 1)


# Positions and views


@pytest.mark.parametrize("game", VARIED)
def test_a_view_is_the_position_without_secrets(game: str) -> None:
    env = raw(game, seed=21)
    for _ in wander(env, 22, 60):
        position = json.loads(json.dumps(env.position()))
        for seat, agent in enumerate(env.possible_agents):
            view = json.loads(json.dumps(env.view(agent)))
            assert view.pop("seat") == seat
            assert view.pop("hand") == position["hands"][seat]
            assert view.pop("sizes") == [len(hand) for hand in position["hands"]]
            assert view.pop("boneyard_size") == len(position["boneyard"])
            expected = {k: v for k, v in position.items() if k not in ("hands", "boneyard", "rng")}
            expected["events"] = hide(position["events"], seat)
            if expected["last_hand"]:
                events = hide(expected["last_hand"]["events"], seat)
                expected["last_hand"] = {**expected["last_hand"], "events": events}
            if position["turn"] != seat:
                expected["legal"] = []
            assert view == expected


def hide(events: list[Json], seat: int) -> list[Json]:
    return [{**e, "tile": None} if e["kind"] == "draw" and e["seat"] != seat else e for e in events]


@pytest.mark.parametrize("game", VARIED)
def test_observation_and_mask_from_a_view(game: str) -> None:
    env = raw(game, max_hands=3)
    env.reset(seed=31)
    for _ in wander(env, 32, 90):
        for agent in env.possible_agents:
            view = json.loads(json.dumps(env.view(agent)))
            seen = env.observe(agent)
            assert (observation_from_view(view) == seen["observation"]).all()
            assert (mask_from_view(view) == seen["action_mask"]).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seat": 2}, "view: seat must be 0..1"),
        ({"sizes": [1, 1]}, "view: sizes: the events lead to"),
        ({"events": [{"kind": "shout", "seat": 0}]}, r"events\[0\].kind: 'shout' is none of"),
        ({"events": [{"kind": "play", "seat": 7}]}, r"events\[0\].seat: 7 is no seat"),
        ({"events": [{"kind": "draw", "seat": 0, "tile": None}] * 20}, "more than a hand"),
    ],
)
def test_a_wrong_view_is_refused(change: Json, message: str) -> None:
    env = raw("draw", seed=1)
    for _ in wander(env, 1, 10):
        pass
    with pytest.raises(ValueError, match=message):
        observation_from_view({**env.view("player_0"), **change})
    with pytest.raises(ValueError, match="view: events is missing"):
        table_from_view({k: v for k, v in env.view("player_0").items() if k != "events"})


def test_the_state_shows_every_hand_and_the_boneyard() -> None:
    env = raw("draw(players=3)", seed=2)
    for _ in wander(env, 3, 30):
        parts = env._table.state_layout.split(env.state())
        position = env.position()
        names = importlib.import_module("dominozoo.tiles").NAMES
        hands = [[names[t] for t in np.flatnonzero(row)] for row in parts["hands"][:3]]
        assert hands == position["hands"]
        drawing = [names[t - 1] for t in parts["drawing"] if t]
        assert drawing == position["boneyard"]
        assert parts["scores"].tolist()[:3] == position["scores"]


# Modules


def test_every_game_is_registered_and_imported_twice_in_peace(tmp_path: Path) -> None:
    code = (
        "import sys, dominozoo, pettingzoo; del sys.modules['dominozoo']; import dominozoo; "
        "print([str(pettingzoo.make('aec', name)) for name in dominozoo.AEC_IDS])"
    )
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.stderr == ""
    assert result.stdout.strip() == str([f"{name}_v0" for name in VARIANTS])


def test_a_registered_game_takes_its_options() -> None:
    env: Any = pettingzoo.make("aec", "dominozoo/draw-v0", players=3)
    assert str(env.unwrapped.rules) == "draw(players=3)"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("six-love", "six_love"),
        ("SixLove", "six_love"),
        ("BLOCK", "block"),
        ("block-v0", "block"),
        ("dominozoo/Truc-v0", "truc"),
        ("partnerhsip(tie=void)", "partnership"),
    ],
)
def test_a_near_miss_of_a_games_name_gets_a_hint(written: str, meant: str) -> None:
    with pytest.raises(RulesError, match=f"unknown game .* .did you mean '{meant}'"):
        parse(written)
    assert str(parse("block_v0")) == "block"


def test_an_action_id_out_of_range_is_a_value_error() -> None:
    env = raw("block", seed=1)
    for action in (-1, 58, 10**30):
        with pytest.raises(ValueError, match=r"no action of block_v0: ids are 0\.\.57"):
            env.step(action)


def test_what_needs_a_deal_says_so_before_the_first_reset() -> None:
    env = importlib.import_module("dominozoo.truc_v0").raw_env()
    for ask in (env.position, env.record, env.svg, partial(env.view, "player_0")):
        with pytest.raises(ValueError, match=r"call reset\(\) first"):
            ask()


def test_the_package_brings_its_modules_when_asked() -> None:
    assert dominozoo.six_love_v0.raw_env is importlib.import_module("dominozoo.six_love_v0").raw_env
    assert {"block_v0", "truc_v0", "load_bot"} <= set(dir(dominozoo))


@pytest.mark.parametrize("game", ["block", "truc"])
def test_a_raw_table_is_not_read_before_it_is_dealt(game: str) -> None:
    env = raw(game)
    calls: dict[str, Any] = {
        "step()": partial(env.step, 0),
        "last()": env.last,
        "observe()": partial(env.observe, "player_0"),
        "state()": env.state,
        "position()": env.position,
    }
    for name, call in calls.items():
        words = f"{name}: no table has been dealt yet; call reset() first"
        with pytest.raises(ValueError, match=f"^{re.escape(words)}$"):
            call()


@pytest.mark.parametrize("agent", ["player_9", None, 0, ["player_0"]])
def test_an_unknown_agent_observes_nothing(agent: Any) -> None:
    with pytest.raises(ValueError, match=r"observe\(\): no agent .*; there are player_0, player_1"):
        raw("block", seed=1).observe(agent)


@pytest.mark.parametrize("action", [-1, 58, 1 << 62, 1 << 63, 10**20, -(10**20)])
def test_an_impossible_action_is_named(action: int) -> None:
    with pytest.raises(ValueError, match=f"action {action} is illegal: .*ids are 0..57"):
        raw("block", seed=1).step(action)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"players": np.int64(3)}, "block(players=3)"),
        ({"target": np.uint8(7)}, "block(target=7)"),
        ({"draw": np.True_, "players": np.int32(2)}, "cutthroat(players=2, draw=True)"),
        ({"tie": np.str_("void")}, "cutthroat(tie=void)"),
    ],
)
def test_options_may_come_from_numpy(given: Json, text: str) -> None:
    rules = module_of(text).raw_env(**given).rules
    assert rules == parse(text)
    assert json.loads(json.dumps(rules.options)) == parse(text).options
    with pytest.raises(RulesError, match="players=9 is not taken"):
        make_rules("block", players=np.int64(9))
    with pytest.raises(RulesError, match="players=True is not taken"):
        make_rules("block", players=np.True_)


@pytest.mark.parametrize("text", [None, 5, b"block", {"players": 3}])
def test_only_a_text_names_a_game(text: Any) -> None:
    with pytest.raises(RulesError, match=r"a game is named by a text like 'block' or .*, not "):
        parse(text)
