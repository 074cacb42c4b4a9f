"""The arena: who wins more, over the same deals in every seat.

Deal k is table k of the seed. Every deal is played once for each side: ``a`` holds one side in
turn and ``b`` all others, so that nobody gains by the tiles. The bots' chance is split from the
deals' and is the same in every rotation: a player against itself gives exactly an even share.

>>> from dominozoo_training.evaluation.entrants import scripted
>>> bots = [scripted("hard"), scripted("hard")]
>>> run_arena("block", bots, deals=50, seed=1)[0].win_rate
0.5
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dominozoo.bots import kernels, seed_bots, uniforms
from dominozoo.rules import LINE, SCORING, Rules, parse
from dominozoo.tables import FAMILIES, Tables, split_seed
from dominozoo_training.evaluation.entrants import Entrant, Policy, policy_entrant, scripted

Array = npt.NDArray[Any]
Progress = Callable[[int, int], None]

UNITS: Final = ("hand", "match")
OPENINGS: Final = ("both", "rule", "free")
CHUNK: Final = 2048  # deals dealt at a time
ROWS: Final = 4096  # positions asked of an outside player at a time
Z95: Final = 1.959964  # normal quantile of a 95 % interval


class ArenaError(ValueError):
    """A setting that the arena doesn't take, or a player's illegal move; names the field."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What is played; made by :func:`make_setting`, which checks it.

    Attributes:
        rules: the game.
        deals: how many deals, each played in every rotation.
        seed: of the deals and, in streams of their own, of the bots.
        unit: "hand" or "match".
        opening: "rule", "free" or "both": by rule and freely in turn.
    """

    rules: Rules
    deals: int
    seed: int
    unit: str
    opening: str


@dataclass(frozen=True, slots=True)
class Result:
    """How one pair of entrants did.

    Attributes:
        a: name of the player whose side is rated.
        b: name of the player of all other sides.
        games: games played, deals times rotations.
        win_rate: share of games won by a's side, 0..1; shared games count in parts.
        low: lower bound of the 95 % interval of ``win_rate``.
        high: upper bound.
        points: mean of a's ``reward="hand"`` a seat and hand.
    """

    a: str
    b: str
    games: int
    win_rate: float
    low: float
    high: float
    points: float


def make_setting(
    game: str | Rules,
    deals: int,
    seed: int,
    unit: str = "hand",
    opening: str | None = None,
) -> Setting:
    """Check what is to be played.

    Args:
        game: text form or rules.
        deals: 1..2**32.
        seed: 0..2**64-1.
        unit: "hand": a hand from scores 0 and stake 1; "match": whole matches.
        opening: how a hand opens, "both", "rule" or "free"; None takes "both" where previous
            winners pose. A match starts by rule, and so does every hand of Block, Draw, French
            and Le Truc.

    Raises:
        RulesError: unknown game or option.
        ArenaError: any other value out of range; names it and what is taken.
    """
    rules = parse(game) if isinstance(game, str) else game
    if isinstance(deals, bool) or not isinstance(deals, int) or not 1 <= deals <= 1 << 32:
        raise ArenaError(f"deals must be an integer from 1 to 2**32, not {deals!r}")
    try:
        split_seed(seed)
    except ValueError as error:
        raise ArenaError(str(error)) from None
    if unit not in UNITS:
        raise ArenaError(f"unit must be one of {', '.join(UNITS)}, not {unit!r}")
    if opening is not None and opening not in OPENINGS:
        raise ArenaError(f"opening must be one of {', '.join(OPENINGS)}, not {opening!r}")
    posed = rules.variant.family == LINE and not rules.value("always_by_rule", False)
    if unit == "match" and opening in ("both", "free"):
        raise ArenaError(f"opening={opening} is for hands; a match starts by rule: leave it out")
    if opening == "free" and not posed:
        raise ArenaError(f"opening=free: {rules.game} opens every hand by rule: leave it out")
    by_rule = unit == "match" or not posed
    return Setting(rules, deals, seed, unit, "rule" if by_rule else opening or "both")


def rotations(rules: Rules) -> int:
    """How often each deal is played: once for every side that ``a`` can hold."""
    return rules.sides


def posers(setting: Setting, first: int, count: int) -> npt.NDArray[np.int64]:
    """Who poses deals first..first+count-1 freely, -1 = opened by rule; int64 (count,)."""
    deal = np.arange(first, first + count)
    players = setting.rules.players
    if setting.opening == "rule":
        return np.full(count, -1, np.int64)
    if setting.opening == "free":
        return deal % players
    return np.where(deal % 2 == 0, -1, deal // 2 % players)


def shares(rules: Rules, records: Array, unit: str) -> npt.NDArray[np.float64]:
    """Each side's share of the win at finished tables, float64 (B, sides); rows sum to 1."""
    sides = np.arange(rules.sides)
    if unit == "match":
        won = records["winners"][:, None] >> sides & 1
    elif rules.value("scoring", SCORING[0]) == "penalties":
        penalties = records["last_points"][:, : rules.sides]
        won = penalties == penalties.min(axis=1, keepdims=True)
    else:
        won = records["last_winner"][:, None] == sides
    won = np.where(won.any(axis=1, keepdims=True), won, True)
    share: npt.NDArray[np.float64] = won / won.sum(axis=1, keepdims=True)
    return share


def play_deals(
    setting: Setting, a: Entrant, b: Entrant, first: int, count: int
) -> tuple[npt.NDArray[np.float64], float, int]:
    """Play deals first..first+count-1 in every rotation.

    Returns:
        a's share of the wins by deal, mean over the rotations, float64 (count,); a's summed reward
        a seat; hands played.

    Raises:
        ArenaError: an illegal move of an outside player.
    """
    rules, turns = setting.rules, rotations(setting.rules)
    tables = Tables(rules, count, seed=setting.seed, first_table=first)
    if setting.opening != "rule":
        tables.reset(setting.seed, posers=posers(setting, first, count))
    records = np.concatenate([tables.records] * turns)
    side = np.repeat(np.arange(turns), count)
    held = np.arange(rules.players) % rules.sides == side[:, None]  # by a: (B, players)
    rng = np.zeros((count, 4), np.uint32)
    seed_bots(rng, *split_seed(setting.seed), first)
    reward, hands = _play_out(
        setting, tables.packed, records, (a, b), held, np.concatenate([rng] * turns)
    )
    won = shares(rules, records, setting.unit)[np.arange(len(side)), side]
    earned = float((reward * held).sum(dtype=np.float64)) / (rules.players // rules.sides)
    return won.reshape(turns, count).mean(axis=0), earned, int(hands.sum())


def _play_out(
    setting: Setting,
    packed: Array,
    records: Array,
    pair: tuple[Entrant, Entrant],
    held: Array,
    rng: Array,
) -> tuple[Array, Array]:
    """Play all tables to their end; returns reward float32 (B, players) and hands int32 (B,)."""
    b, n = held.shape
    advance = kernels(setting.rules).advance
    codes = np.where(held, pair[0].code, pair[1].code).astype(np.int8)
    reward, hands = np.zeros((b, n), np.float32), np.zeros(b, np.int32)
    actions = np.full(b, -1, np.int64)
    max_hands = int(setting.unit == "hand")
    while True:
        advance(records, packed, codes, rng, actions, max_hands, reward, hands)
        waiting = np.flatnonzero(records["turn"] >= 0)
        if not len(waiting):
            return reward, hands
        actions[:] = -1
        for start in range(0, len(waiting), ROWS):
            where = waiting[start : start + ROWS]
            actions[where] = _ask(
                setting.rules, packed, records[where], pair, held[where], rng, where
            )


def _ask(
    rules: Rules,
    packed: Array,
    records: Array,
    pair: tuple[Entrant, Entrant],
    held: Array,
    rng: Array,
    where: Array,
) -> npt.NDArray[np.int64]:
    """The moves of outside players at some tables, int64 (k,)."""
    family, k = FAMILIES[rules.variant.family], len(records)
    observation = np.zeros((k, family.layout.size), np.int16)
    mask = np.zeros((k, family.num_actions(rules)), np.int8)
    turn = np.zeros(k, np.int8)
    family.batch.observe_tables(records, packed, observation, mask, turn)
    u = np.zeros(k, np.float64)
    uniforms(rng, where, u)
    actions = np.zeros(k, np.int64)
    is_a = held[np.arange(k), turn]
    for player, rows in zip(pair, (is_a, ~is_a), strict=True):
        if rows.any():
            actions[rows] = _moves(player, observation[rows], mask[rows], u[rows])
    return actions


def _moves(player: Entrant, observation: Array, mask: Array, u: Array) -> Array:
    """One outside player's moves, checked."""
    if player.act is None:
        raise ArenaError(f"{player.name} has neither a bot's code nor act")
    moves = np.asarray(player.act(observation, mask, u))
    if moves.shape != u.shape or moves.dtype.kind not in "iu":
        raise ArenaError(
            f"{player.name}: moves must be integers of shape {u.shape}, "
            f"not {moves.dtype} of shape {moves.shape}"
        )
    inside = (moves >= 0) & (moves < mask.shape[1])
    legal = inside & (mask[np.arange(len(moves)), np.where(inside, moves, 0)] != 0)
    if not legal.all():
        row = int(np.argmin(legal))
        raise ArenaError(
            f"{player.name}: move {int(moves[row])} is illegal; legal: "
            f"{np.flatnonzero(mask[row]).tolist()}"
        )
    return moves


def interval(by_deal: npt.NDArray[np.float64]) -> tuple[float, float, float]:
    """Mean and normal 95 % interval over deals; the rotations of a deal are one observation."""
    mean = float(by_deal.mean())
    if len(by_deal) < 2:
        return mean, 0.0, 1.0
    half = Z95 * float(by_deal.std(ddof=1)) / len(by_deal) ** 0.5
    return mean, max(0.0, mean - half), min(1.0, mean + half)


def play_pair(setting: Setting, a: Entrant, b: Entrant, progress: Progress | None = None) -> Result:
    """Play one pair of entrants over all deals.

    Args:
        setting: what is played.
        a: the player who is rated.
        b: the player of all other sides.
        progress: called with (deals done, deals) after each chunk.

    Raises:
        ArenaError: an illegal move.
    """
    won, points, hands = [], 0.0, 0
    for first in range(0, setting.deals, CHUNK):
        count = min(CHUNK, setting.deals - first)
        part, earned, played = play_deals(setting, a, b, first, count)
        won.append(part)
        points += earned
        hands += played
        if progress is not None:
            progress(first + count, setting.deals)
    games = setting.deals * rotations(setting.rules)
    return Result(a.name, b.name, games, *interval(np.concatenate(won)), points / hands)


def run_arena(
    game: str | Rules,
    entrants: Sequence[Entrant],
    deals: int,
    seed: int,
    unit: str = "hand",
    opening: str | None = None,
    progress: Progress | None = None,
) -> list[Result]:
    """Play every pair of entrants, the earlier one as ``a``; arguments as :func:`make_setting`.

    Args:
        game: text form or rules.
        entrants: two or more.
        deals: deals of each pair, the same for all.
        seed: same seed, same result.
        unit: "hand" or "match".
        opening: "both", "rule", "free" or None.
        progress: called with (deals done, deals) over all pairs.

    Raises:
        RulesError: unknown game or option, or a game without bots.
        ArenaError: other values out of range, fewer than two entrants, an illegal move.
    """
    setting = make_setting(game, deals, seed, unit, opening)
    if len(entrants) < 2:
        raise ArenaError(f"players: an arena needs two or more, not {len(entrants)}")
    pairs = list(itertools.combinations(entrants, 2))
    results = []
    for k, (a, b) in enumerate(pairs):

        def report(done: int, total: int, before: int = k * deals) -> None:
            if progress is not None:
                progress(before + done, total * len(pairs))

        results.append(play_pair(setting, a, b, report))
    return results


def as_json(setting: Setting, results: Sequence[Result]) -> dict[str, Any]:
    """The arena's result as JSON types."""
    return {
        "game": str(setting.rules),
        "unit": setting.unit,
        "opening": setting.opening,
        "deals": setting.deals,
        "rotations": rotations(setting.rules),
        "seed": setting.seed,
        "results": [asdict(result) for result in results],
    }


def evaluate(
    policy: Policy,
    game: str | Rules,
    opponents: Sequence[str],
    deals: int,
    seed: int,
    opening: str = "rule",
) -> dict[str, Result]:
    """How a policy in training does against scripted bots, hands played greedily.

    Args:
        policy: anything with ``probabilities(observation, mask)``.
        game: text form or rules.
        opponents: short codes of scripted bots.
        deals: duplicate deals against each.
        seed: of the deals; keep it apart from the seeds of final reports.
        opening: as in :func:`make_setting`.

    Returns:
        A result by opponent, of the policy named "policy".

    Raises:
        KeyError: an opponent that is no scripted bot.
        RulesError, ArenaError: as :func:`run_arena`.
    """
    setting = make_setting(game, deals, seed, "hand", opening)
    player = policy_entrant("policy", policy)
    return {name: play_pair(setting, player, scripted(name)) for name in opponents}
