"""Tables: what a step writes, what it refuses, and that the deal depends on nothing else."""

from __future__ import annotations

import re
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pytest

from dominozoo.fields import LINE_LAYOUT
from dominozoo.line.table import TABLE
from dominozoo.rules import VARIANTS, RulesError, make_rules, pack_line, parse
from dominozoo.tables import Tables
from dominozoo.tiles import HIGH, LOW, NAMES, PIPS, TILE_COUNT, TILES, mask_of, tile_id, tiles_of

LINE_GAMES = ["block", "draw(players=3)", "partnership", "cutthroat", "chiva", "french"]


def random_actions(tables: Tables, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """A random legal action for each table."""
    noise = (rng.random(tables.mask.shape) + 1) * tables.mask
    return np.asarray(noise.argmax(axis=1), np.int64)


def play(tables: Tables, steps: int, seed: int = 0) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(steps):
        tables.step(random_actions(tables, rng))


def snapshot(tables: Tables) -> bytes:
    arrays = (tables.records, tables.observation, tables.mask, tables.turn, tables.reward)
    return b"".join(np.ascontiguousarray(a).tobytes() for a in arrays)


def test_tile_ids_are_the_triangular_numbers() -> None:
    assert [hi * (hi + 1) // 2 + lo for hi, lo in TILES] == list(range(TILE_COUNT))
    assert (tile_id("0-0"), tile_id("1-0"), tile_id("6-6")) == (0, 1, 27)
    assert tiles_of(mask_of([3, 5, 27])) == [3, 5, 27]
    with pytest.raises(ValueError, match="'7-1' is no tile"):
        tile_id("7-1")


def test_a_table_is_at_most_256_bytes() -> None:
    assert TABLE.itemsize <= 256


@pytest.mark.parametrize("game", LINE_GAMES)
def test_the_deal_depends_on_seed_table_and_hand_alone(game: str) -> None:
    many = Tables(game, 5, seed=9)
    play(many, 60)
    later = Tables(game, 1, seed=9, first_table=3)
    while later.records["deals"][0] < many.records["deals"][3]:
        later.step(later.mask.argmax(axis=1))
    assert many.records["deals"][3] > 1
    assert (later.records["deck"][0] == many.records["deck"][3]).all()


def test_seeds_deal_differently_and_all_64_bits_count() -> None:
    decks = {Tables("block", 1, seed=s).records["deck"].tobytes() for s in (0, 1, 1 << 32, 1 << 63)}
    assert len(decks) == 4


def test_without_a_seed_every_table_set_is_another() -> None:
    first, second = Tables("block", 8), Tables("block", 8)
    assert first.records["deck"].tobytes() != second.records["deck"].tobytes()


def test_shuffle_puts_every_tile_everywhere_equally_often() -> None:
    deck = Tables("block", 40_000, seed=3).records["deck"]
    for place in (0, 6, 7, 20, 27):
        seen = np.bincount(deck[:, place], minlength=TILE_COUNT)
        expected = len(deck) / TILE_COUNT
        chi_square = float(((seen - expected) ** 2 / expected).sum())
        assert chi_square < 60, f"place {place}: 27 degrees of freedom, {chi_square:.0f}"


@pytest.mark.parametrize("auto_forced", [False, True])
def test_illegal_actions_are_refused_and_nothing_moves(auto_forced: bool) -> None:
    tables = Tables("block", 16, seed=2, auto_forced=auto_forced)
    play(tables, 10)
    before = snapshot(tables)
    actions = random_actions(tables, np.random.default_rng(1))
    for bad in (int(np.flatnonzero(tables.mask[7] == 0)[0]), -1, 58, 10**6):
        actions[7] = bad
        with pytest.raises(ValueError, match=rf"table 7: action {bad} is illegal for seat"):
            tables.step(actions)
        assert snapshot(tables) == before


@pytest.mark.parametrize(
    "actions", [np.zeros(3, np.int64), np.zeros(4, np.float32), np.zeros((4, 1), np.int64)]
)
def test_actions_of_a_wrong_shape_or_type_are_refused(actions: Any) -> None:
    with pytest.raises(ValueError, match=r"actions must be integers of shape \(4,\)"):
        Tables("block", 4, seed=1).step(actions)


@pytest.mark.parametrize("game", [*LINE_GAMES, "cutthroat(players=2, draw=True)"])
def test_every_masked_action_is_accepted_and_no_other(game: str) -> None:
    tables = Tables(game, 1, seed=4)
    rng = np.random.default_rng(0)
    for _ in range(25):
        for action in range(tables.num_actions):
            trial = tables.copy()
            if tables.mask[0, action]:
                trial.step(np.array([action]))
            else:
                with pytest.raises(ValueError, match="is illegal"):
                    trial.step(np.array([action]))
        tables.step(random_actions(tables, rng))


@pytest.mark.parametrize("game", LINE_GAMES)
def test_auto_forced_plays_exactly_the_moves_without_a_choice(game: str) -> None:
    slow, fast = Tables(game, 1, seed=6), Tables(game, 1, seed=6, auto_forced=True)
    rng = np.random.default_rng(0)
    forced = 0
    for _ in range(300):
        action = random_actions(fast, rng)
        fast.step(action)
        slow.step(action)
        reward, ended, moves = slow.reward.copy(), int(slow.hands_ended[0]), 0
        while not slow.terminated[0] and slow.mask[0].sum() == 1:
            slow.step(slow.mask.argmax(axis=1))
            reward += slow.reward
            ended += int(slow.hands_ended[0])
            moves += 1
        assert moves == fast.forced[0]
        assert ended == fast.hands_ended[0]
        assert np.allclose(reward, fast.reward)
        assert slow.terminated[0] == fast.terminated[0]
        assert (slow.observation == fast.observation).all()
        forced += moves
    assert forced > 50


@pytest.mark.parametrize("game", LINE_GAMES)
def test_observations_stay_within_the_layout_and_rewards_sum_to_zero(game: str) -> None:
    tables = Tables(game, 64, seed=8)
    rng = np.random.default_rng(0)
    high = LINE_LAYOUT.high()
    ended = 0
    for _ in range(150):
        tables.step(random_actions(tables, rng))
        assert (tables.observation >= 0).all()
        assert (tables.observation <= high).all()
        assert np.abs(tables.reward.sum(axis=1)).max() < 1e-5
        assert ((tables.reward != 0).any(axis=1) <= (tables.hands_ended > 0)).all()
        assert tables.mask.sum(axis=1).min() >= 1
        ended += int(tables.hands_ended.sum())
    assert ended > 64


def test_max_hands_terminates_by_hand_and_truncates_by_match() -> None:
    by_hand = Tables("block", 32, seed=1, max_hands=2)
    by_match = Tables("block", 32, seed=1, max_hands=2, reward="match")
    rng = np.random.default_rng(0)
    cut = 0
    for _ in range(120):
        actions = random_actions(by_hand, rng)
        by_hand.step(actions)
        by_match.step(actions)
        assert not by_hand.truncated.any()
        assert (by_hand.terminated == (by_match.terminated | by_match.truncated)).all()
        assert (by_match.reward[by_match.truncated] == 0).all()
        assert by_hand.records["hand_number"].max() <= 2
        cut += int(by_match.truncated.sum())
    assert cut > 32


def test_reset_where_restarts_only_those_tables() -> None:
    tables = Tables("draw", 6, seed=1)
    play(tables, 40)
    before = tables.records.copy()
    where = np.array([True, False, False, True, False, False])
    tables.reset(where=where)
    assert (tables.records[~where] == before[~where]).all()
    assert (tables.records["hand_number"][where] == 1).all()
    assert (tables.records["deals"][where] == before["deals"][where] + 1).all()


def test_posers_open_freely_and_only_where_the_game_has_them() -> None:
    tables = Tables("partnership", 4, seed=1)
    tables.reset(posers=[2, -1, 0, 3])
    assert (tables.turn[[0, 2, 3]] == [2, 0, 3]).all()
    assert tables.mask.sum(axis=1).tolist() == [7, 1, 7, 7]
    with pytest.raises(ValueError, match="posers must be -1 or a seat below 4"):
        tables.reset(posers=4)
    with pytest.raises(ValueError, match="block opens every hand by rule"):
        Tables("block", 1, seed=1).reset(posers=0)


def test_a_copy_plays_on_identically_and_shares_nothing() -> None:
    tables = Tables("french", 8, seed=3)
    play(tables, 25)
    twin = tables.copy()
    play(tables, 50, seed=5)
    assert snapshot(tables) != snapshot(twin)
    play(twin, 50, seed=5)
    assert snapshot(tables) == snapshot(twin)


def test_records_can_be_put_back_to_undo() -> None:
    tables = Tables("draw", 3, seed=3)
    play(tables, 12)
    kept, seen = tables.records.copy(), tables.observation.copy()
    play(tables, 7)
    tables.records[:] = kept
    tables.refresh()
    assert (tables.observation == seen).all()


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"num_tables": 0}, "num_tables must be at least 1"),
        ({"num_tables": 2.5}, "num_tables must be an integer"),
        ({"seed": -1}, "seed must lie in"),
        ({"seed": "x"}, "seed must be an integer"),
        ({"reward": "pips"}, "reward must be one of hand, match"),
        ({"first_table": -1}, "first_table must lie in"),
        ({"first_table": 1 << 32}, "first_table must lie in"),
        ({"game": 5}, "game must be a text form"),
        ({"max_hands": 0}, "max_hands must be None or an integer of at least 1"),
    ],
)
def test_arguments_out_of_range_are_refused(arguments: dict[str, Any], text: str) -> None:
    usual: dict[str, Any] = {"game": "block", "num_tables": 4}
    with pytest.raises(ValueError, match=text):
        Tables(**(usual | arguments))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("blok", "did you mean 'block'"),
        ("block(player=2)", "did you mean 'players'"),
        ("block(players=5)", "players: 2, 3, 4"),
        ("block(players=True)", "players: 2, 3, 4"),
        ("block(target=0)", "target: 1..1000"),
        ("block(decider=True)", "block has no option 'decider'; it takes players, target"),
        ("cutthroat(draw=True)", "draw=True needs players=2"),
        ("partnership(tie=flip)", "tie: reset, void, escalate, double"),
        ("block(players)", "is no option"),
        ("block(players=2, players=3)", "stands twice"),
        ("block(players=2", "names no game"),
        ("", "names no game"),
    ],
)
def test_unknown_games_options_and_values_are_refused(text: str, reason: str) -> None:
    with pytest.raises(RulesError, match=reason.replace("(", r"\(")):
        parse(text)


@pytest.mark.parametrize("game", VARIANTS)
def test_the_text_form_comes_back(game: str) -> None:
    for players in VARIANTS[game].options["players"].values:
        for name, option in VARIANTS[game].options.items():
            for value in (option.values[0], option.values[-1]):
                chosen: dict[str, Any] = {"players": players, name: value}
                if chosen.get("draw") is True and players != 2:
                    continue
                rules = make_rules(game, **chosen)
                assert parse(str(rules)) == rules
                assert make_rules(rules.module, **rules.options) == rules
    assert str(make_rules(game)) == game


def test_text_form_lists_what_differs_in_table_order() -> None:
    rules = make_rules("cutthroat", tie="escalate", players=3)
    assert str(rules) == "cutthroat(players=3, tie=escalate)"


def test_deals_of_each_game() -> None:
    dealt = {
        "cutthroat(players=2)": (14, 0, 28),
        "cutthroat(players=2, draw=True)": (7, 14, 28),
        "cutthroat(players=3)": (9, 0, 27),
        "cutthroat": (7, 0, 28),
        "chiva(players=2)": (7, 14, 28),
        "chiva(players=3)": (7, 7, 28),
        "block": (7, 14, 28),
        "french": (7, 0, 28),
    }
    for game, (hand, boneyard, tiles) in dealt.items():
        tables = Tables(game, 20, seed=1)
        n = tables.rules.players
        assert (tables.records["sizes"][:, :n] == hand).all()
        assert (tables.records["boneyard"] == boneyard).all()
        assert int(pack_line(tables.rules)[0]["no_blank"]) == 28 - tiles
        everything = np.bitwise_or.reduce(tables.records["hands"][:, :n], axis=1)
        assert all(int(m).bit_count() == n * hand for m in everything)


def test_pips_and_names_agree() -> None:
    for tile, name in enumerate(NAMES):
        assert name == f"{HIGH[tile]}-{LOW[tile]}"
        assert PIPS[tile] == int(name[0]) + int(name[2])


def test_one_hot_form_has_a_column_a_case() -> None:
    tables = Tables("french", 32, seed=1)
    play(tables, 20)
    expanded = LINE_LAYOUT.expand(tables.observation)
    assert expanded.shape == (32, LINE_LAYOUT.columns)
    assert LINE_LAYOUT.columns <= 400
    parts, at = LINE_LAYOUT.split(tables.observation), 0
    for field in LINE_LAYOUT.fields:
        block = expanded[:, at : at + field.columns]
        at += field.columns
        raw = parts[field.name].reshape(32, -1)
        if field.kind == "category":
            hot = block.reshape(32, field.size, field.high)
            assert (hot.sum(axis=2) == (raw > 0)).all()
            assert ((hot.argmax(axis=2) + 1)[raw > 0] == raw[raw > 0]).all()
        else:
            assert np.allclose(block * field.scale, raw)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"players": 3}, "options stand in the game's text form, 'block(players=3)'"),
        ({"thread": 2}, "unexpected argument 'thread' (did you mean 'threads'?)"),
        ({"onehot": True}, "(did you mean 'one_hot'?)"),
        ({"terminated": 0}, "give it to step()"),
    ],
)
def test_arguments_that_tables_lack(given: Any, words: str) -> None:
    with pytest.raises(TypeError, match=re.escape(words)):
        Tables("block", 2, seed=1, **given)


@pytest.mark.parametrize("name", ["auto_forced", "checked", "one_hot"])
@pytest.mark.parametrize("value", ["yes", None, 1, 0.0])
def test_flags_are_true_or_false(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"{name} must be True or False, not {value!r}"):
        Tables("block", 2, seed=1, **{name: value})
    Tables("block", 2, seed=1, **cast(Any, {name: np.True_}))


def test_what_is_no_reward_and_no_poser() -> None:
    rewards: Any = np.zeros(2)
    with pytest.raises(ValueError, match="reward must be one of hand, match, not ndarray"):
        Tables("block", 2, seed=1, reward=rewards)
    tables = Tables("partnership", 2, seed=1)
    for posers in (1.5, [0.0, 1.0], True, "1", [0, 1, 2], [[0, 1]]):
        with pytest.raises(ValueError, match=r"posers must be one integer or integers of shape"):
            tables.reset(posers=posers)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("dtype", [">i8", ">i2", ">u4", "<i4"])
def test_actions_of_either_byte_order_are_taken(dtype: str, threads: int) -> None:
    tables, twin = Tables("block", 600, seed=1, threads=threads), Tables("block", 600, seed=1)
    for _ in range(4):
        actions = twin.mask.argmax(axis=1)
        tables.step(actions.astype(dtype))
        twin.step(actions)
    assert np.array_equal(tables.records, twin.records)
