"""How hands of a policy are counted."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest

import dominozoo
from dominozoo.rules import make_rules
from dominozoo.single import win_rate
from dominozoo.single.vector import SeatVectorEnv

Json = dict[str, Any]


def first(observation: Any, mask: Any) -> Any:
    return mask.argmax(axis=1)


def last(observation: Any, mask: Any) -> Any:
    return mask.shape[1] - 1 - mask[:, ::-1].argmax(axis=1)


@pytest.mark.parametrize(
    ("game", "options", "even"),
    [
        ("block", {}, 1 / 2),
        ("block", {"players": 3}, 1 / 3),
        ("partnership", {}, 1 / 2),
        ("french", {}, 1 / 4),
        ("truc", {}, 1 / 2),
    ],
)
def test_who_plays_as_the_others_do_wins_his_share(game: str, options: Json, even: float) -> None:
    def same(observation: Json) -> int:
        return int(observation["action_mask"].argmax())

    found = win_rate(first, game, opponents=same, deals=60, seed=3, **options)
    # All play alike, so from all seats of a deal together exactly the even share is won.
    assert (found.rate, found.low, found.high) == pytest.approx((even, even, even))
    assert found.points == pytest.approx(0)
    assert found.hands == 60 * make_rules(game, **options).players


def test_a_good_bot_wins_more() -> None:
    bot = dominozoo.load_bot("block")
    good = win_rate(bot.act, "block", deals=2000, seed=1)
    assert 0.58 < good.low < good.rate < good.high < 0.66
    assert good.points > 0.02
    assert good == win_rate(bot.act, "block", deals=2000, seed=1)
    assert good != win_rate(bot.act, "block", deals=2000, seed=2)
    assert f"{good.rate:.2%} of 4000 hands won" in str(good)


def test_the_interval_is_that_of_deals_seat_by_seat() -> None:
    found = win_rate(last, "block", opponents="easy", deals=40, seed=9)
    by_deal = np.zeros(40)
    for seat in range(2):
        env = SeatVectorEnv(
            "block", 40, opponents="easy", seat=seat, max_hands=1, autoreset_mode="Disabled"
        )
        observation, _ = env.reset(seed=9)
        sums, over = np.zeros(40), np.zeros(40, np.bool_)
        while not over.all():
            reset = over.copy()
            if reset.any():
                env.reset(options={"reset_mask": reset})
            observation = env._observe()
            _, reward, terminated, _, _ = env.step(last(None, observation["action_mask"]))
            sums += np.where(over, 0, reward)
            over |= terminated
        by_deal += (np.sign(sums) + 1) / 4
    assert found.rate == pytest.approx(by_deal.mean())
    half = 1.959964 * by_deal.std(ddof=1) / math.sqrt(40)
    assert found.high - found.rate == pytest.approx(half)


@pytest.mark.parametrize("deals", [0, 1, 2.0, True])
def test_wrong_numbers_of_deals(deals: Any) -> None:
    with pytest.raises(ValueError, match=f"deals must be an integer of at least 2, not {deals}"):
        win_rate(first, "block", deals=deals, seed=1)


def test_an_illegal_choice_is_refused() -> None:
    with pytest.raises(ValueError, match="the policy chose 57, which is illegal"):
        win_rate(lambda seen, mask: np.full(len(mask), 57), "block", deals=5, seed=1)


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        (lambda seen, mask: mask.argmax(axis=1) + 0.5, "float64 of shape (10,)"),
        (lambda seen, mask: mask.argmax(axis=1)[:1], "int64 of shape (1,)"),
        (lambda seen, mask: mask.argmax(axis=1)[:-1], "int64 of shape (9,)"),
        (lambda seen, mask: mask.argmax(axis=1)[:, None], "int64 of shape (10, 1)"),
        (lambda seen, mask: 0, "int64 of shape ()"),
        (lambda seen, mask: math.nan, "float64 of shape ()"),
        (lambda seen, mask: mask.any(axis=1), "bool of shape (10,)"),
        (lambda seen, mask: None, "NoneType of shape ()"),
    ],
)
def test_a_policy_returns_an_integer_a_position(answer: Any, found: str) -> None:
    wanted = f"policy must return integers of shape (10,), not {found}"
    with pytest.raises(ValueError, match=f"^{re.escape(wanted)}$"):
        win_rate(answer, "block", deals=10, seed=1)


def test_answers_of_uneven_lengths() -> None:
    with pytest.raises(ValueError, match=r"policy must return integers of shape \(2,\): "):
        win_rate(lambda seen, mask: [[1], [1, 2]], "block", deals=2, seed=1)


@pytest.mark.parametrize("action", [-1, 58, 1 << 40])
def test_actions_that_no_game_has(action: int) -> None:
    with pytest.raises(ValueError, match=f"the policy chose {action}, which is none of 0..57"):
        win_rate(lambda seen, mask: np.full(len(mask), action), "block", deals=5, seed=1)


@pytest.mark.parametrize(
    "fixed", [{"max_hands": 1}, {"seat": 0}, {"reward": "match"}, {"num_envs": 4}]
)
def test_what_a_win_rate_is_made_of_cannot_be_given(fixed: Json) -> None:
    with pytest.raises(ValueError, match=f"win_rate takes no {next(iter(fixed))}: single hands"):
        win_rate(first, "block", deals=5, seed=1, **fixed)


def test_a_policy_is_a_function() -> None:
    policy: Any = "easy"
    with pytest.raises(ValueError, match=r"policy must be a function .*, not 'easy'"):
        win_rate(policy, "block", deals=5, seed=1)
