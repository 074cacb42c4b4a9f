"""Tables of Le Truc for the tests: set up, played on at random, with hidden tiles permuted."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from dominozoo.rules import make_rules
from dominozoo.tables import Tables
from dominozoo.tiles import ALL_TILES, TRUC_NAMES, mask_of, tiles_of, truc_slot
from dominozoo.truc import batch
from dominozoo.truc.game import TrucGame
from dominozoo.truc.score import HAND_ENDED

N, D = 0, 1  # in the examples seat 1 deals
WORDS = {"propose": 56, "stand": 57, "accept": 58, "reject": 59}
STRONG = ["8-4", "8-3", "6-4"]
TWINS = ["7-5", "7-4", "7-3"]  # each ties the strong tile of its place
WEAK = ["4-1", "4-0", "3-1"]


def action_of(word: str) -> int:
    """An action: a tile's name, "x" before it for a call, or a word."""
    if word in WORDS:
        return WORDS[word]
    return truc_slot(word.removeprefix("x")) + (28 if word.startswith("x") else 0)


def random_step(game: TrucGame, rng: np.random.Generator) -> int:
    """A random legal action, made; the code that ``step`` returns."""
    _, mask = game.observe(int(game.tables[0]["turn"]))
    code = game.step(int(rng.choice(np.flatnonzero(mask))))
    if code == batch.ENDED * HAND_ENDED:
        game.deal()
    return code


def positions(count: int, seed: int = 0, **options: Any) -> list[TrucGame]:
    """Tables in mid-hand, one after another of the same random matches."""
    game, rng = TrucGame(make_rules("truc", **options)), np.random.default_rng(seed)
    found = []
    game.reset((seed, 0), {})
    for _ in range(count):
        if random_step(game, rng) >= batch.ENDED * 2:
            game.reset(None, {})
        twin = TrucGame(game.rules)
        twin.tables, twin.history = game.tables.copy(), game.history[-1:]
        found.append(twin)
    return found


def unseen(record: Any, seat: int) -> int:
    """The tiles that a seat can't know the place of."""
    plays = [
        int(slot)
        for k, slot in enumerate(record["played"][: record["plays"]])
        if record["played_by"][k] == seat or not (record["face_down"] and k == record["plays"] - 1)
    ]
    known = mask_of(plays) | int(record["hands"][seat]) | int(record["discards"][seat])
    return ALL_TILES & ~known


def shuffled(game: TrucGame, seat: int, rng: np.random.Generator) -> TrucGame:
    """The same table with the tiles that a seat can't see permuted among themselves."""
    tables = game.tables.copy()
    record = tables[0]
    hidden = tiles_of(unseen(record, seat))
    new = list(range(28))
    for slot, other in zip(hidden, rng.permutation(hidden).tolist(), strict=True):
        new[slot] = other
    for name in ("hands", "held", "discards"):
        record[name][1 - seat] = mask_of(new[s] for s in tiles_of(record[name][1 - seat]))
    record["deck"] = [new[s] for s in record["deck"].tolist()]
    for k in range(int(record["plays"])):
        record["played"][k] = new[record["played"][k]]
    twin = TrucGame(game.rules)
    twin.tables, twin.history = tables, game.history
    return twin


def play(options: str, steps: int = 80) -> str:
    """Pseudo-random legal moves on three tables; the digest of everything seen."""
    tables = Tables(options, 3, seed=5)
    digest = hashlib.sha256()
    rng = np.random.default_rng(0)
    for _ in range(steps):
        tables.step((tables.mask * rng.random(tables.mask.shape)).argmax(axis=1))
        for array in (tables.observation, tables.mask, tables.turn, tables.reward):
            digest.update(array.tobytes())
        digest.update(tables.records.tobytes())
    return digest.hexdigest()


PLAIN = ["truc", "truc(max_redeals=3)", "truc(target=2)", "truc(max_redeals=0)"]


def start(n: list[str], d: list[str], *words: str, **options: Any) -> TrucGame:
    game = TrucGame(make_rules("truc", **options))
    game.reset((1, 0), {"deal": {"hands": [n, d]}, "dealer": D})
    for word in words:
        game.step(action_of(word))
    return game


STOCK = [n for n in TRUC_NAMES if n not in {"7-3", "8-4", "4-1", "6-6", "5-0", "3-1"}]
