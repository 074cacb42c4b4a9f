"""Conservation: tiles, rewards and scores."""

from __future__ import annotations

import math
import random
from typing import Any, Final

from dominozoo.rules import TRUC, Rules
from dominozoo.testing.walk import Env, MakeEnv, expect, is_over, legal_of, started
from dominozoo.tiles import NAMES, TRUC_NAMES

Json = dict[str, Any]

NEARLY: Final = 1e-9
LAYING: Final = ("play", "double")  # kinds of events that put a tile on the table


def check_conservation(make_env: MakeEnv, *, seed: int = 0, steps: int = 200) -> None:
    """Check that no tile, no reward and no point is lost or made.

    At every move each tile of the set is in one place. Rewards are zero-sum, come with a hand's end
    and are those of its points; points and scores are counted again from the tiles and events.

    Args:
        make_env: makes an environment with ``reward="hand"``, ``position()`` and ``rules``.
        seed: of the game and of the moves.
        steps: moves to make.

    Raises:
        AssertionError: naming the tile, the reward or the score.
    """
    env, rng = started(make_env, seed), random.Random(seed)
    rules: Rules = env.unwrapped.rules
    before = env.unwrapped.position()
    for step in range(steps):
        where = f"move {step}"
        _check_tiles(before, rules, where)
        if is_over(env):
            env.reset()
            before = env.unwrapped.position()
            continue
        env.step(rng.choice(legal_of(env)))
        after = env.unwrapped.position()
        ended = after["hand_number"] > before["hand_number"] or after["phase"] == "over"
        _check_rewards(env, rules, after["last_hand"] if ended else None, where)
        if ended:
            _check_score(before, after, rules, where)
        else:
            expect(after["scores"] == before["scores"], f"{where}: the scores changed in mid-hand")
        before = after


def _check_tiles(position: Json, rules: Rules, where: str) -> None:
    laid = [e["tile"] for e in position["events"] if e["kind"] in LAYING]
    held = [*position["hands"], *position.get("discards", [])]
    places = [*laid, *position["boneyard"], *(tile for tiles in held for tile in tiles)]
    names = TRUC_NAMES if rules.variant.family == TRUC else NAMES
    whole = set(names) - ({"0-0"} if _lacks_blank(rules) else set())
    twice = sorted({tile for tile in places if places.count(tile) > 1})
    expect(not twice, f"{where}: in two places at once: {twice}")
    missing, strange = sorted(whole - set(places)), sorted(set(places) - whole)
    expect(not missing, f"{where}: nowhere: {missing}")
    expect(not strange, f"{where}: not in the set: {strange}")


def _lacks_blank(rules: Rules) -> bool:
    return bool(rules.value("deal_all", False)) and rules.players == 3


def _check_rewards(env: Env, rules: Rules, last: Json | None, where: str) -> None:
    rewards = [float(env.rewards[agent]) for agent in env.possible_agents]
    total = math.fsum(rewards)
    expect(abs(total) < NEARLY, f"{where}: the rewards {rewards} add up to {total}")
    expected = [0.0] * rules.players if last is None else expected_rewards(rules, last)
    expect(
        all(abs(a - b) < NEARLY for a, b in zip(rewards, expected, strict=True)),
        f"{where}: the rewards are {rewards}, by the hand's points {expected}",
    )


def expected_rewards(rules: Rules, last: Json) -> list[float]:
    """What each seat gets for a finished hand with ``reward="hand"``, by its points."""
    n = rules.players
    if isinstance(last["points"], list):
        mean = sum(last["points"]) / n
        return [(mean - own) / rules.target for own in last["points"]]
    if last["winner"] is None:
        return [0.0] * n
    worth = last["points"] / (1 if _counts_wins(rules) else rules.target)
    share = worth / (rules.sides - 1)
    return [worth if rules.side_of(seat) == last["winner"] else -share for seat in range(n)]


def _counts_wins(rules: Rules) -> bool:
    return rules.variant.family != TRUC and rules.value("scoring", "wins") == "wins"


def _pips(tiles: list[str]) -> int:
    return sum(int(number) for tile in tiles for number in tile.split("-"))


def _penalty(tiles: list[str]) -> int:
    double = any(tile.split("-")[0] == tile.split("-")[1] for tile in tiles)
    return _pips(tiles) * (2 if double else 1)


def _check_score(before: Json, after: Json, rules: Rules, where: str) -> None:
    """Count a finished hand's points and the scores after it again."""
    last = after["last_hand"]
    scoring = "tricks" if rules.variant.family == TRUC else rules.value("scoring", "wins")
    if last["reason"] == "out":
        expect(not last["hands"][last["seat"]], f"{where}: who went out still holds tiles")
    points = last["points"]
    if scoring == "penalties":
        counted: Any = [_penalty(tiles) for tiles in last["hands"]]
    elif scoring == "pips" and last["seat"] is not None:
        counted = sum(_pips(tiles) for s, tiles in enumerate(last["hands"]) if s != last["seat"])
    else:
        counted = points
    expect(points == counted, f"{where}: the hand counts {counted}, not {points}")
    expect(after["scores"] == last["scores"], f"{where}: last_hand.scores are not the scores")
    scores = _scores_after(before, last, rules)
    expect(after["scores"] == scores, f"{where}: the scores are {after['scores']}, not {scores}")


def _scores_after(before: Json, last: Json, rules: Rules) -> list[int]:
    scores = list(before["scores"])
    if isinstance(last["points"], list):
        return [a + b for a, b in zip(scores, last["points"], strict=True)]
    if last["effect"] in ("reset", "bruck"):
        return [0] * rules.sides
    if last["winner"] is None or last["effect"] == "decider":
        return scores
    if before["decider"]:
        scores = [0] * rules.sides
    scores[last["winner"]] += last["points"]
    return scores
