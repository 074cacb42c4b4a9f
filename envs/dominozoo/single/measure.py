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
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from dominozoo.single.opponents import Player
from dominozoo.single.vector import SeatVectorEnv

Array = npt.NDArray[Any]
# A policy: int16 (k, layout size) and int8 (k, actions) to action ids (k,).
Policy = Callable[[Array, Array], Any]

Z95: Final = 1.96


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
    game: str,
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
        game: the game's name, "block".
        opponents: as for :class:`SeatEnv`.
        partner: as for :class:`SeatEnv`; the policy itself holds one seat.
        deals: number of deals, at least 2; each is played from every seat.
        seed: of deals and bots, 0..2**64-1 less ``deals``; keep it apart from seeds of training.
        **options: the game's options.

    Raises:
        ValueError: arguments that can't be, or an illegal action.
    """
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
        actions[rows] = np.asarray(policy(observation["observation"][rows], mask[rows]))
        illegal = mask[np.arange(len(mask)), actions] == 0
        if illegal.any():
            raise ValueError(f"the policy chose {actions[illegal][0]}, which is illegal")
        observation, _, terminated, _, info = env.step(actions)
        through = terminated & waiting
        if through.any():
            rewards[through] = info["final_info"]["rewards"][through]
            waiting &= ~through
    return rewards
