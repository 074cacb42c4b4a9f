"""How good is a policy that somebody else has trained: single hands against bots.

>>> import dominozoo
>>> from dominozoo.single import win_rate
>>> bot = dominozoo.load_bot("block")
>>> found = win_rate(bot.act, "block", opponents="random", deals=100, seed=1)
>>> found.hands, found.low < found.rate < found.high
(200, True)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from statistics import NormalDist
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from dominozoo.rules import Rules
from dominozoo.single.opponents import Player
from dominozoo.single.vector import SeatVectorEnv

Array = npt.NDArray[Any]
# A policy: int16 (k, layout size) and int8 (k, actions) to action ids (k,).
Policy = Callable[[Array, Array], Any]

Z95: Final = NormalDist().inv_cdf(0.975)
# Arguments of the environments that are fixed here.
FIXED: Final = ("num_envs", "seat", "reward", "max_hands", "autoreset_mode", "render_mode")


class WinRate(NamedTuple):
    """How often hands were won.

    Attributes:
        rate: 0..1; a hand without a winner counts as shared by all, joint winners share it.
        low: lower end of the 95 % interval over deals.
        high: its upper end.
        points: mean reward of a hand.
        hands: number of hands played.
    """

    rate: float
    low: float
    high: float
    points: float
    hands: int

    def __str__(self) -> str:
        """In one line, as percentages."""
        return (
            f"{self.rate:.2%} of {self.hands} hands won "
            f"(95 % interval {self.low:.2%}..{self.high:.2%}), {self.points:+.4f} points a hand"
        )


def win_rate(
    policy: Policy,
    game: str | Rules,
    *,
    opponents: Player | Sequence[Player] = "random",
    partner: Player | None = None,
    deals: int = 10_000,
    seed: int,
    **options: Any,
) -> WinRate:
    """Play each deal once from every seat against bots.

    Args:
        policy: asked for many tables at once: ``policy(observation, mask)``, int16 (k, layout size)
            and int8 (k, actions, 1 = legal), returns integers (k,). An exported bot's ``act`` is one.
        game: the text form, "block" or "draw(players=3)", or rules.
        opponents: as for :class:`SeatEnv`.
        partner: as for :class:`SeatEnv`; the policy itself holds one seat.
        deals: number of deals, at least 2; each is played from every seat.
        seed: of deals and bots, 0..2**64-1 less ``deals``; keep it apart from seeds of training.
        **options: the game's options, if not in the text form.

    Raises:
        ValueError: arguments that can't be, answers of the policy that aren't integers (k,), or an
            illegal action.
    """
    for name in FIXED:
        if name in options:
            raise ValueError(
                f"win_rate takes no {name}: single hands are played from every seat; leave it out"
            )
    if not callable(policy):
        raise ValueError(f"policy must be a function (observation, mask), not {policy!r}")
    if isinstance(deals, bool) or not isinstance(deals, int | np.integer) or deals < 2:
        raise ValueError(f"deals must be an integer of at least 2, not {deals!r}")
    first = SeatVectorEnv(game, 1, opponents=opponents, partner=partner, **options)
    shares, points = [], []
    for seat in range(first.rules.players):
        env = SeatVectorEnv(
            game,
            int(deals),
            opponents=opponents,
            partner=partner,
            seat=seat,
            max_hands=1,
            **options,
        )
        rewards = _first_hands(env, policy, seed)
        mine = rewards[:, seat]
        best = rewards == rewards.max(axis=1, keepdims=True)
        shares.append(best[:, seat] / best.sum(axis=1) * (env.rules.players // env.rules.sides))
        points.append(mine)
    by_deal = np.mean(shares, axis=0)
    rate, half = float(by_deal.mean()), Z95 * float(by_deal.std(ddof=1)) / math.sqrt(len(by_deal))
    return WinRate(rate, rate - half, rate + half, float(np.mean(points)), len(shares) * int(deals))


def _first_hands(env: SeatVectorEnv, policy: Policy, seed: int) -> npt.NDArray[np.float64]:
    """Everybody's rewards of the first hand of each table, float64 (tables, players)."""
    observation, _ = env.reset(seed=seed)
    rewards = np.zeros((env.num_envs, env.rules.players))
    waiting = np.ones(env.num_envs, np.bool_)
    while waiting.any():
        rows = np.flatnonzero(waiting)  # tables that are through play on, with any legal action
        mask = observation["action_mask"]
        actions = mask.argmax(axis=1)
        actions[rows] = _ask(policy, observation["observation"][rows], mask[rows])
        observation, _, terminated, _, info = env.step(actions)
        through = terminated & waiting
        if through.any():
            rewards[through] = info["final_info"]["rewards"][through]
            waiting &= ~through
    return rewards


def _ask(policy: Policy, seen: Array, mask: Array) -> Array:
    """The policy's actions, integers (k,); ValueError if they are anything else, or illegal."""
    count, answer = len(mask), policy(seen, mask.copy())
    try:
        actions = np.asarray(answer)
    except Exception as error:  # ragged lists, tensors on other devices
        raise ValueError(f"policy must return integers of shape ({count},): {error}") from error
    if actions.dtype.kind not in "iu" or actions.shape != (count,):
        found = type(answer).__name__ if actions.dtype == object else actions.dtype
        raise ValueError(
            f"policy must return integers of shape ({count},), not {found} of shape {actions.shape}"
        )
    outside = (actions < 0) | (actions >= mask.shape[1])
    if outside.any():
        raise ValueError(
            f"the policy chose {actions[outside][0]}, which is none of 0..{mask.shape[1] - 1}"
        )
    illegal = mask[np.arange(count), actions] == 0
    if illegal.any():
        raise ValueError(f"the policy chose {actions[illegal][0]}, which is illegal")
    return actions
