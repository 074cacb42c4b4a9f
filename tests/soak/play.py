"""Random play at length: invariants of every game and option, and the figures that they give.

    python tests/soak/play.py [--hands 1000000] [--seed 1]

Checks after every move that tiles are conserved, sizes agree with hands, and after every hand that
rewards sum to zero; then prints plies a hand, blocked and tied hands, hands a match. Exit code 1 on
the first failure.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any

import numpy as np

from dominozoo.bits import bits, lowest
from dominozoo.compiler import njit
from dominozoo.line.batch import play_on
from dominozoo.line.play import legal
from dominozoo.line.score import CUT, HAND_ENDED, MATCH_OVER
from dominozoo.line.table import BLOCK, NOBODY, TIED, deck_size
from dominozoo.rules import LINE, VARIANTS, Rules, make_rules
from dominozoo.tables import Tables
from dominozoo.tiles import ALL_TILES, TILE_COUNT

GOOD, LOST_TILE, WRONG_SIZE, NOT_ZERO_SUM, NO_MOVE = range(5)
FAULTS = ("", "a tile is lost or twice", "a size is wrong", "rewards don't sum to 0", "no move")
COUNTS = ("hands", "plies", "blocked", "tied", "matches")


@njit(cache=True)
def random_action(t: Any, rules: Any, word: Any) -> Any:
    """A legal action chosen by a random word, or -1 if there is none."""
    masks = legal(t, rules)
    total = 0
    for mask in masks:
        total += bits(mask)
    if total == 0:
        return np.int64(-1)
    pick = word % total
    for end in range(5):
        mask = masks[end]
        if pick < bits(mask):
            for _ in range(pick):
                mask &= mask - 1
            base = end * TILE_COUNT if end < 4 else rules.ends * TILE_COUNT
            return base + lowest(mask)
        pick -= bits(mask)
    return np.int64(-1)


@njit(cache=True)
def check_table(t: Any, rules: Any) -> Any:
    """GOOD, or what is wrong with the tiles of a table in play."""
    seen = np.int64(t.laid)
    total = bits(seen)
    for seat in range(rules.players):
        hand = np.int64(t.hands[seat])
        if bits(hand) != t.sizes[seat]:
            return WRONG_SIZE
        seen |= hand
        total += bits(hand)
    for k in range(deck_size(rules) - t.boneyard, deck_size(rules)):
        seen |= np.int64(1) << np.int64(t.deck[k])
        total += 1
    whole = ALL_TILES - rules.no_blank
    return GOOD if seen == whole and total == deck_size(rules) else LOST_TILE


@njit(cache=True)
def play_many(tables: Any, packed: Any, hands: Any, max_hands: Any, counts: Any, seed: Any) -> Any:
    """Play random hands on every table until ``hands`` have ended in all; returns a fault or 0."""
    rules = packed[0]
    word = np.int64(seed)
    reward = np.zeros(4, np.float32)
    i = 0
    while counts[0] < hands:
        t = tables[i]
        i = (i + 1) % tables.shape[0]
        status = 0
        plies = 0
        while status & HAND_ENDED == 0:
            word = (word * 6364136223846793005 + 1442695040888963407) & 0x7FFFFFFFFFFFFFFF
            action = random_action(t, rules, word >> 33)
            if action < 0:
                return NO_MOVE
            plies += 1
            reward[:] = 0
            status = play_on(t, rules, action, max_hands, 0, reward)
            fault = check_table(t, rules)
            if fault != GOOD:
                return fault
            if abs(reward.sum()) > 1e-4:
                return NOT_ZERO_SUM
        counts[0] += 1
        counts[1] += plies
        counts[2] += t.last_reason == BLOCK or t.last_reason == TIED
        counts[3] += t.last_reason == TIED
        counts[4] += status & (MATCH_OVER | CUT) != 0
    return GOOD


def settings() -> list[Rules]:
    """Every game and player count, with each option value one at a time."""
    found: dict[str, Rules] = {}
    for game, variant in VARIANTS.items():
        for players in variant.options["players"].values:
            for name, option in variant.options.items():
                for value in option.values if len(option.values) < 10 else (option.default, 3):
                    chosen = {"players": players, name: value}
                    if chosen.get("draw") is True and players != 2:
                        continue
                    rules = make_rules(game, **chosen)
                    found[str(rules)] = rules
    return list(found.values())


def soak(rules: Rules, hands: int, seed: int, max_hands: int = 0) -> dict[str, int]:
    """Play at least ``hands`` random hands; returns the counts, raises AssertionError on a fault."""
    if rules.variant.family != LINE:
        return soak_truc(rules, hands, seed, max_hands)
    tables = Tables(rules, 64, seed=seed, max_hands=max_hands or None)
    counts = np.zeros(len(COUNTS), np.int64)
    fault = play_many(tables.records, tables.packed, hands, max_hands, counts, seed + 1)
    assert fault == GOOD, f"{rules}: {FAULTS[fault]}"
    return dict(zip(COUNTS, map(int, counts), strict=True))


def soak_truc(rules: Rules, hands: int, seed: int, max_hands: int = 0) -> dict[str, int]:
    """The same for Le Truc; a tied hand is a void round, none is blocked."""
    tables = Tables(rules, 1024, seed=seed, max_hands=max_hands or None)
    rng = np.random.default_rng(seed)
    counts: dict[str, int] = dict.fromkeys(COUNTS, 0)
    while counts["hands"] < hands:
        noise = (rng.random(tables.mask.shape, dtype=np.float32) + 1) * tables.mask
        tables.step(noise.argmax(axis=1))
        t = tables.records
        lying = np.arange(6) < t["plays"][:, None]
        played = np.bitwise_or.reduce(np.where(lying, 1 << t["played"].astype(np.int64), 0), axis=1)
        parts = [
            t["hands"][:, 0],
            t["hands"][:, 1],
            t["discards"][:, 0],
            t["discards"][:, 1],
            played,
        ]
        gone = np.bitwise_or.reduce(np.array([p.astype(np.int64) for p in parts]), axis=0)
        whole = sum(np.bitwise_count(p.astype(np.int64)).astype(np.int64) for p in parts)
        assert (np.bitwise_count(gone) == whole).all(), f"{rules}: a tile stands twice"
        assert (whole + t["stock"] == TILE_COUNT).all(), f"{rules}: {FAULTS[LOST_TILE]}"
        assert t["multiplier"].max() <= 32, f"{rules}: multiplier {t['multiplier'].max()}"
        assert (np.abs(tables.reward.sum(axis=1)) < 1e-4).all(), f"{rules}: {FAULTS[NOT_ZERO_SUM]}"
        ended = tables.hands_ended > 0
        counts["plies"] += len(tables)
        counts["hands"] += int(ended.sum())
        counts["tied"] += int((t["last_winner"][ended] == NOBODY).sum())
        counts["matches"] += int((tables.terminated | tables.truncated).sum())
    return counts


def main() -> int:
    """Soak every setting and print a line each."""
    parser = argparse.ArgumentParser(description="Random play at length")
    parser.add_argument("--hands", type=int, default=1_000_000, help="hands in all")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    games = settings()
    each = -(-given.hands // (2 * len(games)))
    start, played = time.time(), 0
    for rules in games:
        try:
            by_rule = soak(rules, each, given.seed, max_hands=1)
            running = soak(rules, each, given.seed + 1)
        except AssertionError as fault:
            print(f"FAILED {fault}")
            return 1
        played += by_rule["hands"] + running["hands"]
        n = by_rule["hands"]
        print(
            f"{rules!s:58} plies {by_rule['plies'] / n:6.2f}  blocked {by_rule['blocked'] / n:6.1%}"
            f"  tied {by_rule['tied'] / n:5.1%}"
            f"  hands/match {running['hands'] / max(running['matches'], 1):7.1f}"
        )
    print(f"{played:,} hands, {len(games)} settings, no failure, {time.time() - start:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
