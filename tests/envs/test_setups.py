"""Set-ups of the line games: deals, openers, scores, positions to go on from."""

import copy
import importlib
import json
import random
from typing import Any

import numpy as np
import pytest

from dominozoo.aec import TableEnv
from dominozoo.rules import VARIANTS, make_rules, parse
from dominozoo.tiles import NAMES

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
    "chiva(players=3, tie=escalate, decider=True, broken=leader_loss)",
]
DEAL = [
    ["6-6", "6-5", "6-4", "6-3", "6-2", "6-1", "6-0"],
    ["5-5", "5-4", "5-3", "5-2", "5-1", "5-0", "4-4"],
    ["4-3", "4-2", "4-1", "4-0", "3-3", "3-2", "3-1"],
    ["3-0", "2-2", "2-1", "2-0", "1-1", "1-0", "0-0"],
]


def raw(game: str, seed: int | None = 1, **options: Any) -> TableEnv:
    rules = parse(game)
    module = importlib.import_module(f"dominozoo.{rules.module}")
    env: TableEnv = module.raw_env(**rules.options)
    env.reset(seed=seed, options=options)
    return env


def wander(env: TableEnv, seed: int, steps: int) -> None:
    rng = random.Random(seed)
    for _ in range(steps):
        if any(env.terminations.values()):
            return
        mask = env.observe(env.agent_selection)["action_mask"]
        env.step(rng.choice(np.flatnonzero(mask).tolist()))


def in_hand(game: str, seed: int = 1, steps: int = 12) -> TableEnv:
    """A table in mid-hand of a later hand, the match not over."""
    env = raw(game, seed)
    wander(env, seed, 40)
    while env.position()["phase"] != "play" or len(env.position()["events"]) < steps:
        wander(env, seed, 1)
    return env


# A deal


def test_a_deal_is_taken_as_given() -> None:
    env = raw("partnership", deal={"hands": DEAL})
    assert [set(hand) for hand in env.position()["hands"]] == [set(hand) for hand in DEAL]
    assert env.position()["turn"] == 0


def test_an_open_boneyard_comes_by_seed() -> None:
    first, again, other = (raw("draw", seed, deal={"hands": DEAL[:2]}) for seed in (1, 1, 2))
    assert first.position()["boneyard"] == again.position()["boneyard"]
    assert first.position()["boneyard"] != other.position()["boneyard"]
    assert set(first.position()["boneyard"]) == {tile for hand in DEAL[2:] for tile in hand}


def test_a_given_boneyard_lies_in_drawing_order() -> None:
    order = [*reversed(DEAL[2]), *DEAL[3]]
    for deal in ({"hands": DEAL[:2], "boneyard": order}, {"boneyard": order}):
        env = raw("draw", deal=deal)
        assert env.position()["boneyard"] == order
    env = raw("draw", deal={"hands": [DEAL[0], DEAL[1]], "boneyard": order})
    env.step(27)
    env.step(56)
    assert env.position()["events"][1]["tile"] == order[0]


def test_tiles_may_be_written_either_way() -> None:
    hands = [[tile[::-1] for tile in hand] for hand in DEAL]
    assert raw("block(players=4)", deal={"hands": hands}).position()["hands"][0][0] == "6-0"


def test_the_next_hand_does_not_depend_on_the_set_up() -> None:
    hands = []
    for deal in ({}, {"hands": DEAL}):
        env = raw("partnership", 7, deal=deal)
        while env.position()["hand_number"] == 1:
            wander(env, 1, 1)
        hands.append(env.position()["hands"])
    assert hands[0] == hands[1]


@pytest.mark.parametrize(
    ("game", "deal", "message"),
    [
        ("block", {"hands": DEAL[:1]}, r"deal.hands: must have 2 entries, not 1"),
        ("block", {"hands": [DEAL[0][:6], DEAL[1]]}, r"deal.hands\[0\]: must have 7 tiles, not 6"),
        ("block", {"hands": [DEAL[0], DEAL[0]]}, r"deal.hands\[1\]: 6-6 is already in deal.hands"),
        ("block", {"hands": [["6-6"] * 7, DEAL[1]]}, r"deal.hands\[0\]: 6-6 is already in"),
        ("block", {"hands": [["9-9", *DEAL[0][1:]], DEAL[1]]}, r"hands\[0\]: '9-9' is no tile"),
        ("block", {"hands": [[1, *DEAL[0][1:]], DEAL[1]]}, r"hands\[0\]: 1 is no tile"),
        ("block", {"hands": "6-6"}, r"deal.hands: must be a list, not '6-6'"),
        ("block", {"boneyard": DEAL[2]}, r"deal.boneyard: must have 14 tiles, not 7"),
        ("block", {"hands": DEAL[:2], "boneyard": DEAL[1] + DEAL[2]}, r"deal.boneyard: 5-5 is"),
        ("block", {"hands": DEAL[:2], "bone": []}, r"deal: 'bone' is unknown; it takes hands and"),
        ("block", ["6-6"], r"deal: must be a mapping"),
        ("partnership", {"hands": DEAL, "boneyard": ["6-6"]}, r"boneyard: must have 0 tiles"),
        (
            "cutthroat(players=3)",
            {"hands": [["0-0", *DEAL[0], "5-5"], [], []]},
            r"deal.hands\[1\]: must have 9 tiles, not 0",
        ),
        (
            "cutthroat(players=3)",
            {
                "hands": [
                    [*DEAL[0], "0-0", "5-5"],
                    DEAL[1][1:] + DEAL[2][:3],
                    DEAL[2][3:] + DEAL[3][:5],
                ]
            },
            r"deal.hands\[0\]: 0-0 is not in this game's set",
        ),
    ],
)
def test_a_wrong_deal_is_refused(game: str, deal: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        raw(game, deal=deal)


# Opener, scores, stake, decider


def test_the_opener_poses_any_tile() -> None:
    position = raw("partnership", opener=3, scores=[0, 4]).position()
    assert (position["turn"], position["poser"], position["opener"]) == (3, 3, None)
    assert len(position["legal"]) == 7
    assert position["scores"] == [0, 4]


def test_without_an_opener_the_rule_opens() -> None:
    position = raw("partnership", scores=[0, 4]).position()
    assert (position["poser"], [m["tile"] for m in position["legal"]]) == (None, ["6-6"])


def test_a_decider_is_worth_two() -> None:
    position = raw("partnership(decider=True)", decider=True, scores=[0, 1]).position()
    assert (position["decider"], position["stake"]) == (True, 2)


@pytest.mark.parametrize(
    ("game", "options"),
    [
        ("partnership(tie=escalate)", {"stake": 5}),
        ("six_love", {"stake": 2, "scores": [5, 0, 3, 1]}),
        ("cutthroat", {"scores": [5, 5, 5, 0]}),
        ("cutthroat(decider=True)", {"scores": [1, 0, 1, 1], "decider": True, "stake": 2}),
        ("cutthroat(decider=True, broken=leader_loss)", {"scores": [0, 0, 1, 0], "decider": True}),
        (
            "partnership(decider=True, tie=escalate)",
            {"scores": [1, 0], "decider": True, "stake": 4},
        ),
        ("block", {"scores": [99, 99], "stake": 1, "decider": False, "opener": None}),
        ("french", {"scores": [0, 99, 50, 3]}),
    ],
)
def test_scores_that_a_match_can_have(game: str, options: Json) -> None:
    position = raw(game, **options).position()
    for name, value in options.items():
        assert position[name] == value


@pytest.mark.parametrize(
    ("game", "options", "message"),
    [
        ("block", {"opener": 0}, "opener: block_v0 opens every hand by rule; leave opener out"),
        ("french", {"opener": 0}, "opener: french_v0 opens every hand by rule"),
        ("partnership", {"opener": 4}, r"opener: must be an integer in 0..3, not 4"),
        ("partnership", {"opener": True}, "opener: must be an integer"),
        ("partnership", {"dealer": 0}, "dealer: partnership_v0 has none"),
        ("partnership", {"scores": [6, 0]}, r"scores: must be an integer in 0..5, not 6"),
        ("partnership", {"scores": [-1, 0]}, "scores: must be an integer"),
        ("partnership", {"scores": [0, 0, 0]}, "scores: must have 2 entries, not 3"),
        ("partnership", {"scores": 3}, "scores: must be a list"),
        ("partnership", {"scores": [2, 1]}, "scores: .* one side at least has 0"),
        ("cutthroat", {"scores": [1, 1, 1, 1]}, "scores: .* one side at least has 0"),
        (
            "cutthroat(broken=leader_loss)",
            {"scores": [1, 1, 0, 0]},
            "scores: .* only one side has points",
        ),
        ("partnership", {"stake": 2}, 'stake: in partnership it is 1; more needs tie="escalate"'),
        ("partnership(decider=True)", {"stake": 2}, "stake: .* it is 1"),
        ("partnership(tie=double)", {"stake": 3}, "stake: .* at most 2, not 3"),
        ("partnership(tie=escalate)", {"stake": 0}, "stake: must be an integer in 1.."),
        ("block", {"stake": 2}, "stake: in block it is 1"),
        ("partnership", {"decider": True, "scores": [1, 0]}, "decider: partnership has no decider"),
        ("partnership(decider=True)", {"decider": True}, "decider: scores must be those of a repl"),
        ("partnership(decider=True)", {"decider": 1}, "decider: must be true or false"),
        (
            "partnership(decider=True)",
            {"decider": True, "scores": [1, 0], "stake": 1},
            "stake: a decider is worth at least 2",
        ),
        (
            "partnership(decider=True)",
            {"decider": True, "scores": [1, 0], "stake": 3},
            'stake: 3 needs tie="escalate"',
        ),
        (
            "cutthroat(decider=True)",
            {"decider": True, "scores": [1, 1, 0, 0]},
            "decider: scores must be those of a replayed 1-1, 3 of the sides",
        ),
    ],
)
def test_what_no_game_reaches_is_refused(game: str, options: Json, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        raw(game, **options)


# Keys


@pytest.mark.parametrize("key", ["options", "reset_mask", "seed", "players", "hint", 1])
def test_unknown_keys_are_ignored(key: Any) -> None:
    env = raw("block")
    env.reset(seed=4, options={key: 1})
    assert env.position() == raw("block", 4).position()


@pytest.mark.parametrize("key", ["deel", "Deal", "open", "openner", "score", "positions", "stakes"])
def test_a_slip_of_the_pen_is_refused(key: str) -> None:
    with pytest.raises(ValueError, match=f"options: '{key}' is unknown; did you mean"):
        raw("partnership", **{key: 1})


def test_options_are_a_mapping() -> None:
    options: Any = ["deal"]
    with pytest.raises(ValueError, match="options must be a mapping"):
        raw("block").reset(options=options)


def test_a_refused_reset_leaves_the_table_as_it_was() -> None:
    env = in_hand("draw(players=3)")
    before, twin = (env.position(), env.infos, env.rewards), copy.deepcopy(env)
    wrong: list[Json] = [{"deal": {"hands": []}}, {"position": {}}, {"scores": [1]}, {"deel": 1}]
    for options in wrong:
        with pytest.raises(ValueError, match=r"deal|position|scores"):
            env.reset(seed=9, options=options)
        assert (env.position(), env.infos, env.rewards) == before
    wander(env, 3, 30)
    wander(twin, 3, 30)
    assert env.position() == twin.position()
    env.reset()
    twin.reset()
    assert env.position() == twin.position()


# Positions


@pytest.mark.parametrize("game", VARIED)
def test_going_on_from_any_position(game: str) -> None:
    env, rng = raw(game, 5), random.Random(6)
    for _ in range(60):
        if any(env.terminations.values()):
            break
        position = json.loads(json.dumps(env.position()))
        other = raw(game, 99)
        other.reset(options={"position": position})
        assert other.position() == position
        assert other.agent_selection == env.agent_selection
        for agent in env.possible_agents:
            assert other.view(agent) == env.view(agent)
            seen, here = other.observe(agent), env.observe(agent)
            assert all((seen[name] == here[name]).all() for name in here)
        assert (other.state() == env.state()).all()
        mask = env.observe(env.agent_selection)["action_mask"]
        env.step(rng.choice(np.flatnonzero(mask).tolist()))
    other = raw(game, 99)
    if not any(env.terminations.values()):
        other.reset(options={"position": env.position()})
        wander(env, 7, 100)
        wander(other, 7, 100)
        assert other.position() == env.position()


def test_what_may_be_missing() -> None:
    env = in_hand("partnership")
    full = env.position()
    for name in ("legal", "over", "winners", "ends", "last_hand", "rng"):
        position = {k: v for k, v in full.items() if k != name}
        env.reset(seed=3, options={"position": position})
        found = env.position()
        if name == "last_hand":
            assert found[name] is None
        elif name == "rng":
            assert found[name]["seed"] == [3, 0]
        else:
            assert found == full


OTHER_VALUES: Json = {
    "game": "block_v0",
    "rules": {},
    "hand_number": 0,
    "phase": "pose",
    "turn": 9,
    "board": [],
    "ends": [0, 0],
    "locked": [True],
    "scores": [9, 9],
    "stake": 3,
    "decider": 5,
    "passes": 7,
    "opener": 9,
    "poser": 9,
    "legal": [],
    "over": "x",
    "winners": [1],
    "rng": {"seed": [1, 2, 3], "table": 0, "deals": 1},
}


@pytest.mark.parametrize("name", OTHER_VALUES)
def test_each_field_that_disagrees_is_named(name: str) -> None:
    env = in_hand("draw", 4)
    position = {**env.position(), name: OTHER_VALUES[name]}
    named = {"over": "phase", "scores": "last_hand.scores"}.get(name, name)
    with pytest.raises(ValueError, match=f"^position.{named}"):
        env.reset(options={"position": position})


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("seat", 1, r"hands\[0\]: .* 6 tiles, but 7 were dealt"),
        ("seat", 4, r"events\[0\].seat: must be an integer in 0..3"),
        ("kind", "shout", r"events\[0\].kind: 'shout' is none of"),
        ("kind", "pass", r"(hands\[0\]|events\[0\].kind)"),
        ("tile", None, r"events\[0\].tile: None is no tile"),
        ("end", 1, r"events\[0\].tile: the first tile of a hand is laid at end 0"),
        ("end", 5, r"events\[0\].end: 5 is none of 0..1"),
        ("ends_after", [0, 0], r"events\[0\].ends_after: it was \[6, 6\], not \[0, 0\]"),
        ("colour", "red", r"events\[0\].colour: is unknown"),
    ],
)
def test_each_event_that_disagrees_is_named(field: str, value: Any, message: str) -> None:
    env = raw("partnership", deal={"hands": DEAL})
    env.step(27)
    position = env.position()
    position["events"][0][field] = value
    with pytest.raises(ValueError, match=f"^position.{message}"):
        env.reset(options={"position": position})


def test_tiles_must_be_where_the_events_leave_them() -> None:
    env = in_hand("draw", 4)
    full = env.position()

    def refused(message: str, **change: Any) -> None:
        with pytest.raises(ValueError, match=message):
            env.reset(options={"position": {**full, **change}})

    hands, boneyard = full["hands"], full["boneyard"]
    refused(r"position.hands\[1\]: .* is already in hands\[0\]", hands=[hands[0], hands[0]])
    refused(r"position.hands\[0\]: .* tiles, but 7 were dealt", hands=[hands[0][1:], hands[1]])
    refused(r"position.hands: must have 2 entries", hands=hands[:1])
    refused(r"position.boneyard: \d+ tiles in all", boneyard=boneyard[1:])
    swapped = [hands[1][:1] + hands[0][1:], hands[0][:1] + hands[1][1:]]
    refused("position", hands=swapped)
    played = next(e for e in full["events"] if e["kind"] == "play")
    refused("position.*is already in", boneyard=[played["tile"], *boneyard[1:]])
    refused(r"position.hands\[1\]: .* has 8", events=[full["events"][0], *full["events"]])


def test_positions_that_cannot_be_gone_on_from() -> None:
    env = in_hand("partnership")
    with pytest.raises(ValueError, match=r"position.hands: is missing: this is a view"):
        env.reset(options={"position": env.view("player_0")})
    with pytest.raises(ValueError, match=r"position.scorse: is unknown"):
        env.reset(options={"position": {**env.position(), "scorse": 1}})
    with pytest.raises(ValueError, match="position: says all; leave scores out"):
        env.reset(options={"position": env.position(), "scores": [0, 0]})
    with pytest.raises(ValueError, match=r"position.rules: .* are not this environment's"):
        raw("partnership(tie=void)").reset(options={"position": env.position()})
    wander(env, 1, 100_000)
    with pytest.raises(ValueError, match=r"position.phase: the position is over"):
        env.reset(options={"position": env.position()})


def test_the_last_hand_must_agree() -> None:
    env = in_hand("partnership")
    full = env.position()

    def refused(message: str, **change: Any) -> None:
        last = {**full["last_hand"], **change}
        with pytest.raises(ValueError, match=f"position.last_hand{message}"):
            env.reset(options={"position": {**full, "last_hand": last}})

    refused(".scores: the hand ended at", scores=[0, 5])
    refused(".effect: 'match' ended the match", effect="match")
    refused(".effect: it started a decider", effect="decider")
    refused(": must be null or have", extra=1)
    with pytest.raises(ValueError, match=r"position.last_hand: must be null in hand 1"):
        env.reset(options={"position": {**full, "hand_number": 1}})


@pytest.mark.parametrize("game", GAMES)
def test_every_tile_is_somewhere(game: str) -> None:
    position = in_hand(game, 3, 6).position()
    lines = [*position["board"], ["0-0"]] if position["locked"] else [position["board"]]
    lying = [tile if tile in NAMES else tile[::-1] for line in lines for tile in line]
    held = [tile for hand in position["hands"] for tile in hand]
    missing = ["0-0"] if game == "cutthroat(players=3)" else []
    assert sorted([*held, *position["boneyard"], *lying, *missing]) == sorted(NAMES)


@pytest.mark.parametrize("key", ["hands", "boneyard"])
def test_a_deals_own_key_at_the_top_is_refused(key: str) -> None:
    env = importlib.import_module("dominozoo.block_v0").raw_env()
    with pytest.raises(ValueError, match=f"'{key}' belongs inside 'deal'"):
        env.reset(options={key: []})


@pytest.mark.parametrize("game", ["block", "draw", "french", "six_love"])
def test_no_remedy_names_an_option_that_the_game_lacks(game: str) -> None:
    with pytest.raises(ValueError, match=f"^decider: {game} has no deciders; leave it out$"):
        raw(game, decider=True)
    if game != "six_love":  # its ties make 2 points of a hand
        with pytest.raises(ValueError, match=f"^stake: in {game} it is 1; leave it out$"):
            raw(game, stake=2)
    with pytest.raises(ValueError, match=r"use the option decider=True$"):
        raw("partnership", decider=True)
