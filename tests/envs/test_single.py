"""One learning seat as a Gymnasium environment."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

import dominozoo
from dominozoo.bots.bundle import Bot, BundleError
from dominozoo.rules import VARIANTS, RulesError, make_rules, parse
from dominozoo.single import OpponentError, SeatEnv, SeatVectorEnv
from dominozoo.testing import steady

Json = dict[str, Any]


def first_legal(observation: Json) -> int:
    return int(observation["action_mask"].argmax())


def play(env: Any, seed: int | None = None, steps: int = 10_000) -> Iterator[Any]:
    """Play an episode with the first legal move; yields what each step returned."""
    observation, _ = env.reset(seed=seed)
    for _ in range(steps):
        result = env.step(first_legal(observation))
        yield result
        observation, _, terminated, truncated, _ = result
        if terminated or truncated:
            return


class Stub(Bot):
    """A loaded bot without a file: plays the first legal move."""

    def __init__(self, text: str = "block") -> None:
        self.rules = make_rules(text)
        self.asked = 0

    def act(self, observation: Any, mask: Any = None, **how: Any) -> Any:
        self.asked += len(mask)
        return mask.argmax(axis=1)


# Registration


def test_every_game_is_registered() -> None:
    assert sorted(dominozoo.GYMNASIUM_IDS.values()) == sorted(VARIANTS)
    for name, game in dominozoo.GYMNASIUM_IDS.items():
        env = gymnasium.make(name)
        assert isinstance(env.unwrapped, SeatEnv)
        assert env.unwrapped.rules.game == game
        assert isinstance(gymnasium.make_vec(name, num_envs=2), SeatVectorEnv)


def test_importing_the_games_brings_no_compiler(tmp_path: Path) -> None:
    code = (
        "import dominozoo, gymnasium, sys\n"
        "assert 'dominozoo/Block-v0' in gymnasium.registry\n"
        "print([m for m in ('numba', 'dominozoo.single') if m in sys.modules])"
    )
    command = [sys.executable, "-W", "error", "-c", code]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert (result.stdout.strip(), result.stderr) == ("[]", "")


@pytest.mark.parametrize("name", dominozoo.GYMNASIUM_IDS)
def test_gymnasiums_own_check(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("PIL")  # it makes an environment of every render mode
    check_env(gymnasium.make(name, opponents="easy").unwrapped)
    assert "to move" in capsys.readouterr().out


# Play


def test_an_episode_tells_its_hands_and_how_it_came_out() -> None:
    env: Any = gymnasium.make(
        "dominozoo/Partnership-v0", opponents="normal", partner="hard"
    ).unwrapped
    won = set()
    for seed in range(12):
        hands, total, steps = [], 0.0, list(play(env, seed))
        for _, reward, terminated, truncated, info in steps:
            assert info["hands_ended"] == len(info["hands"])
            assert reward == info["rewards"][info["seat"]]
            assert abs(info["rewards"].sum()) < 1e-9
            assert ("is_success" in info) == (terminated or truncated)
            hands += info["hands"]
            total += reward
        _, _, terminated, truncated, info = steps[-1]
        position, side = env.position(), info["seat"] % 2
        assert terminated
        assert not truncated
        assert (info["match_over"], info["scores"].tolist()) == (True, position["scores"])
        assert np.flatnonzero(info["winners"]).tolist() == position["winners"]
        assert info["is_success"] == (side in position["winners"])
        assert len(hands) == position["hand_number"]
        points = [h["points"] if h["winner"] == side else -h["points"] for h in hands]
        assert total == sum(points)
        won.add(info["is_success"])
    assert won == {True, False}


def test_the_seat_is_drawn_anew_or_stays() -> None:
    env = SeatEnv("cutthroat", max_hands=1)
    assert {env.reset(seed=seed)[1]["seat"] for seed in range(30)} == {0, 1, 2, 3}
    assert len({env.reset()[1]["seat"] for _ in range(30)}) == 4
    seat: Any = np.int64(2)
    fixed = SeatEnv("cutthroat", seat=seat, max_hands=1)
    assert {fixed.reset()[1]["seat"] for _ in range(5)} == {2}
    assert fixed.view()["seat"] == 2


def test_only_choices_are_asked_after_the_first_turn() -> None:
    env = SeatEnv("block", opponents="easy")
    for seed in range(5):
        for observation, _, terminated, _, _ in play(env, seed):
            assert terminated or observation["action_mask"].sum() > 1
    firsts = [env.reset(seed=seed)[0]["action_mask"].sum() for seed in range(60)]
    assert min(firsts) == 1


@pytest.mark.parametrize(("reward", "truncated"), [("hand", False), ("match", True)])
def test_max_hands_cuts_an_episode(reward: str, truncated: bool) -> None:
    env = SeatEnv("draw", reward=reward, max_hands=1)
    for seed in range(6):
        *_, (observation, gained, terminated, cut, info) = play(env, seed)
        assert (terminated, cut) == (not truncated, truncated)
        assert not observation["action_mask"].any()
        assert not info["match_over"]
        assert info["is_success"] == (gained > 0)


def test_a_match_pays_at_its_end() -> None:
    env = SeatEnv("truc", reward="match", target=4, opponents="hard")
    for seed in range(6):
        *_, (_, gained, terminated, _, info) = play(env, seed)
        assert terminated
        assert gained == (1 if info["is_success"] else -1)


def test_an_illegal_action_ends_the_episode_with_its_reason() -> None:
    env = SeatEnv("block", seat=0)
    observation, _ = env.reset(seed=1)
    illegal = int(observation["action_mask"].argmin())
    observation, reward, terminated, truncated, info = env.step(illegal)
    assert (reward, terminated, truncated) == (-1.0, True, False)
    assert f"action {illegal} is illegal: " in info["illegal"]
    assert (info["is_success"], info["match_over"]) == (False, False)
    assert not observation["action_mask"].any()
    assert not env.action_masks().any()


def test_the_masks_that_sb3_contrib_asks_for() -> None:
    env = gymnasium.make("dominozoo/French-v0", opponents="easy")
    observation, _ = env.reset(seed=1)
    masks = env.get_wrapper_attr("action_masks")()
    assert masks.dtype == np.bool_
    assert (masks == observation["action_mask"]).all()
    env.action_space.sample(observation["action_mask"])


def test_seeds_repeat_and_without_one_the_stream_goes_on() -> None:
    env, twin = SeatEnv("block", opponents="hard"), SeatEnv("block", opponents="hard")
    one = [(r, o["observation"].tolist()) for o, r, *_ in play(env, 5)]
    assert one == [(r, o["observation"].tolist()) for o, r, *_ in play(twin, 5)]
    on = env.reset()[0]["observation"].tolist()
    assert on == twin.reset()[0]["observation"].tolist()
    assert on != env.reset(seed=5)[0]["observation"].tolist()
    fresh = [SeatEnv("block").reset()[0]["observation"].tolist() for _ in range(2)]
    assert fresh[0] != fresh[1]


@pytest.mark.parametrize("way", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_a_copy_goes_on_alike(way: Any) -> None:
    env = SeatEnv("chiva", opponents=["hard", "easy"], partner="normal")
    observation, _ = env.reset(seed=3)
    for _ in range(15):
        observation = env.step(first_legal(observation))[0]
    other = way(env)
    for _ in range(15):
        mine, theirs = env.step(first_legal(observation)), other.step(first_legal(observation))
        observation = mine[0]
        assert mine[1:4] == theirs[1:4]
        assert (observation["observation"] == theirs[0]["observation"]).all()


def test_set_ups_reach_the_table() -> None:
    env = SeatEnv("partnership", seat=1, opponents="easy")
    env.reset(seed=1, options={"scores": [4, 0], "opener": 1, "reset_mask": None})
    assert env.position()["scores"] == [4, 0]
    assert env.position()["opener"] is None
    position = env.position()
    other = SeatEnv("partnership", seat=1)
    other.reset(seed=9, options={"position": position})
    assert other.view()["hand"] == env.view()["hand"]


def test_a_seat_without_another_turn_is_refused() -> None:
    env = SeatEnv("block", seat=0, max_hands=1, opponents="easy")
    reasons = set()
    for seed in range(30):
        try:
            env.reset(seed=seed, options={"position": last_decision(seed)})
        except ValueError as error:
            reasons.add(str(error))
    assert reasons == {"the episode ends before seat 0, the learner's, moves"}


def last_decision(seed: int) -> Json:
    """The last position of a hand in which seat 1 still has to decide."""
    env = SeatEnv("block", seat=1, max_hands=1)
    observation, _ = env.reset(seed=seed)
    while True:
        position = env.position()
        observation, _, over, *_ = env.step(first_legal(observation))
        if over:
            return position


def test_rendering(capsys: pytest.CaptureFixture[str]) -> None:
    env = SeatEnv("block", seat=0, render_mode="ansi")
    for draw in (env.render, env.svg):
        with pytest.raises(ValueError, match=r"no table has been dealt yet; call reset\(\)"):
            draw()
    env.reset(seed=1)
    assert "player_0 to move" in str(env.render())
    assert env.svg().startswith("<svg")
    assert env.svg(own=True) != env.svg()
    human = SeatEnv("block", seat=0, render_mode="human")
    human.reset(seed=1)
    assert "player_0 to move" in capsys.readouterr().out
    with pytest.warns(UserWarning, match="one of human, ansi, rgb_array"):
        assert SeatEnv("block").render() is None


def test_pixels() -> None:
    pytest.importorskip("PIL")
    env = SeatEnv("truc", render_mode="rgb_array")
    env.reset(seed=1)
    pixels: Any = env.render()
    assert pixels.dtype == np.uint8
    assert pixels.shape[2] == 3


def test_without_pillow_only_pixels_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    monkeypatch.delitem(sys.modules, "dominozoo.render.pixels", raising=False)
    SeatEnv("block")
    with pytest.raises(ImportError, match="Pillow"):
        SeatEnv("block", render_mode="rgb_array")


# Opponents


def test_a_bot_a_function_and_a_code_at_one_table() -> None:
    seen: list[int] = []

    def friend(observation: Json) -> int:
        seen.append(int(observation["observation"].shape[0]))
        assert observation["action_mask"].sum() > 1
        return steady(observation)

    stub = Stub("partnership")
    for env in (
        SeatEnv("partnership", opponents=[stub, "hard"], partner=friend, max_hands=1),
        SeatVectorEnv("partnership", 5, opponents=[stub, "hard"], partner=friend, max_hands=1),
    ):
        observation, _ = env.reset(seed=4)
        asked = stub.asked, len(seen)
        env.step(observation["action_mask"].argmax(axis=-1))
        assert stub.asked > asked[0] or len(seen) > asked[1]
    assert set(seen) == {178}


def test_an_error_names_the_place_of_the_function() -> None:
    def fails(observation: Json) -> int:
        raise RuntimeError("no idea")

    env = SeatEnv("cutthroat", opponents=["easy", fails, "easy"], seat=0)
    with pytest.raises(OpponentError, match=r"opponents\[1\], seat 2: .*RuntimeError: no idea"):
        go_on(env)
    twice = SeatEnv("cutthroat", opponents=["easy", fails, fails], seat=3)
    with pytest.raises(OpponentError, match=r"opponents\[[12]\], seat [12]: .*no idea"):
        go_on(twice)
    minds: Any = twice._cast.minds
    assert {mind.name for mind in minds.values()} == {"opponents[1]", "opponents[2]"}


def test_one_for_all_plays_the_partner_too() -> None:
    env = SeatEnv("partnership", opponents="hard")
    assert len(set(env._cast.codes[1:])) == 1
    apart = SeatEnv("partnership", opponents="hard", partner="random")
    assert apart._cast.codes[1] == apart._cast.codes[3] != apart._cast.codes[2]
    each = SeatEnv("cutthroat", opponents=("easy", "normal", "hard"))
    assert list(each._cast.codes[1:]) == [1, 2, 3]


def test_a_stronger_player_wins_more() -> None:
    """The bots sit where they are said to sit: hard beats random as opponent and as partner."""

    def success(**players: Any) -> float:
        env = SeatVectorEnv("partnership", 400, max_hands=1, seat=0, **players)
        observation, _ = env.reset(seed=1)
        done, won = 0, 0
        while done < 1500:
            actions = observation["action_mask"].argmax(axis=1)
            observation, _, over, _, info = env.step(actions)
            done += int(over.sum())
            won += int(info["final_info"]["is_success"].sum()) if over.any() else 0
        return won / done

    assert success(opponents="random") > success(opponents="hard", partner="random") + 0.1
    assert success(opponents="random", partner="hard") > success(opponents="random") + 0.02


BOTH = [SeatEnv, lambda game, **arguments: SeatVectorEnv(game, 2, **arguments)]


@pytest.mark.parametrize("make", BOTH, ids=["one", "many"])
@pytest.mark.parametrize(
    ("game", "arguments", "error", "message"),
    [
        ("block", {"opponents": "hrad"}, OpponentError, "opponents: 'hrad' is nobody .*'hard'"),
        ("block", {"opponents": ["hard", 3]}, OpponentError, "block has 1, 2 are named"),
        ("block(players=3)", {"opponents": ["hard"]}, OpponentError, "has 2, 1 are named"),
        (
            "cutthroat",
            {"opponents": ["hard", 3, "easy"]},
            OpponentError,
            r"opponents\[1\]: 3 is no",
        ),
        ("block", {"opponents": {"player_1": "hard"}}, OpponentError, "one player or a list"),
        ("block", {"opponents": None}, OpponentError, "None is nobody"),
        ("block", {"partner": "hard"}, OpponentError, "block is played without partners"),
        ("chiva(players=3)", {"partner": "hard"}, OpponentError, "without partners"),
        ("partnership", {"opponents": ["hard", "hard"]}, OpponentError, "partner: must be named"),
        ("partnership", {"partner": "hrd"}, OpponentError, "partner: 'hrd' is nobody"),
        ("draw(players=3)", {"opponents": Stub("draw")}, OpponentError, "made for draw, it can't"),
        ("french", {"opponents": Stub("partnership")}, OpponentError, "it can't play french"),
        ("truc", {"opponents": Stub("block")}, OpponentError, "it can't play truc"),
        ("block", {"opponents": "no/such.dombot"}, BundleError, "no/such.dombot"),
        ("block", {"opponents": Path("no/such.dombot")}, BundleError, "no/such.dombot"),
        ("block", {"seat": 2}, ValueError, "a seat 0..1 of block, not 2"),
        ("block", {"seat": -1}, ValueError, "not -1"),
        ("block", {"seat": "first"}, ValueError, "'random' or a seat"),
        ("block", {"seat": True}, ValueError, "not True"),
        ("block", {"reward": "win"}, ValueError, "reward must be one of hand, match"),
        ("block", {"max_hands": 0}, ValueError, "max_hands must be None"),
        ("block", {"render_mode": "rgb"}, ValueError, "render_mode must be None"),
        ("block", {"tie": "void"}, RulesError, "block has no option 'tie'"),
        ("block", {"opponent": "hard"}, RulesError, "did you mean 'opponents'"),
        ("partnership", {"partners": "hard"}, RulesError, "did you mean 'partner'"),
        ("block", {"maxhands": 1}, RulesError, "did you mean 'max_hands'"),
        ("blok", {}, RulesError, "did you mean 'block'"),
    ],
)
def test_wrong_arguments(make: Any, game: str, arguments: Json, error: Any, message: str) -> None:
    rules = parse(game) if game != "blok" else None
    name, options = (rules.game, rules.options) if rules else (game, {})
    with pytest.raises(error, match=message):
        make(name, **options, **arguments)


@pytest.mark.parametrize("make", BOTH, ids=["one", "many"])
@pytest.mark.parametrize(
    ("function", "message"),
    [
        (
            lambda seen: 57 if not seen["action_mask"][57] else 0,
            "opponents, seat 1: action 57 is illegal; l",
        ),
        (lambda seen: 1000, "action 1000 is illegal"),
        (lambda seen: -1, "action -1 is illegal"),
        (lambda seen: "pass", "opponents, seat 1: 'pass' is no action id"),
        (lambda seen: None, "None is no action id"),
        (lambda seen: 1 // 0, "opponents, seat 1: the function raised ZeroDivisionError"),
    ],
)
def test_a_function_that_fails_to_move(make: Any, function: Any, message: str) -> None:
    env = make("block", opponents=function, seat=0)
    with pytest.raises(OpponentError, match=message):
        go_on(env)
    actions: Any = np.zeros(2, np.int64) if isinstance(env, SeatVectorEnv) else 0
    with pytest.raises(ValueError, match=r"call reset\(\)"):
        env.step(actions)


def test_an_ids_game_is_that_ids_game() -> None:
    makes: tuple[Any, ...] = (gymnasium.make, gymnasium.make_vec)
    for make in makes:
        with pytest.raises(RulesError, match="game: this id is block's: leave game='draw' out"):
            make("dominozoo/Block-v0", game="draw")
        env = make("dominozoo/Block-v0", players=3)
        assert str(env.unwrapped.rules) == "block(players=3)"


def go_on(env: Any) -> None:
    observation, _ = env.reset(seed=1)
    for _ in range(20):
        observation, *_ = env.step(observation["action_mask"].argmax(axis=-1))


@pytest.mark.parametrize(
    ("action", "message"),
    [(58, "none of 0..57"), (-1, "none of 0..57"), ("3", "no action id"), (1.0, "no action id")],
)
def test_what_is_no_action(action: Any, message: str) -> None:
    env = SeatEnv("block", seat=0)
    observation, _ = env.reset(seed=1)
    with pytest.raises(ValueError, match=message):
        env.step(action)
    env.step(np.array(first_legal(observation)))  # type: ignore[arg-type]


def test_calls_out_of_order() -> None:
    env = SeatEnv("block", max_hands=1)
    with pytest.raises(ValueError, match=r"call reset\(\)"):
        env.step(0)
    for _ in play(env, 1):
        pass
    with pytest.raises(ValueError, match=r"the episode is over.*call reset\(\)"):
        env.step(0)
    for seed in (-1, 1 << 64, 1.5, True):
        with pytest.raises(ValueError, match="seed must"):
            env.reset(seed=seed)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="did you mean 'scores'"):
        env.reset(options={"score": [0, 0]})
    with pytest.raises(RulesError, match="no option 'autoreset_mode'"):
        gymnasium.make("dominozoo/Block-v0", autoreset_mode=AutoresetMode.DISABLED)


@pytest.mark.parametrize("make", [SeatEnv, SeatVectorEnv])
def test_a_game_may_be_named_with_its_options(make: Any) -> None:
    for game, options in (
        ("draw(players=3, target=50)", {}),
        ("draw_v0(players=3)", {"target": 50}),
        (parse("draw(players=3)"), {"target": 50}),
        ("draw", {"players": 3, "target": 50}),
    ):
        assert str(make(game, **options).rules) == "draw(players=3, target=50)"
    with pytest.raises(RulesError, match=r"players: given twice, in .draw\(players=3\). and as"):
        make("draw(players=3)", players=3)
    with pytest.raises(RulesError, match="did you mean 'opponents'"):
        make("draw(players=3)", oponents="easy")
    with pytest.raises(RulesError, match=r"a game is named by a text like 'block'.*, not None"):
        make(None)


def test_without_stable_baselines_its_room_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['stable_baselines3'] = None\n"
        "try: import dominozoo.single.sb3\n"
        "except ModuleNotFoundError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == (
        "dominozoo.single.sb3 needs Stable-Baselines3: pip install stable-baselines3 sb3-contrib"
    )
