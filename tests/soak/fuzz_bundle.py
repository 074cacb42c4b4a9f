"""Feeds the reader of bundles with damaged ones; each must be read, or refused in one line.

    cd tests && python -m soak.fuzz_bundle --inputs 500000

A small bundle is changed in the zip's bytes; in its manifest, under right checksums, as a forger
would; in its weights, vectors and golden games, and, where onnx is installed, in its graph. What is
let pass is then played, so that nothing can hide behind a check. A run says how many inputs of each
kind were let pass and refused, and how much memory the process took.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from dominozoo.bots.archive import (
    CARD,
    GAMES,
    GRAPH,
    MANIFEST,
    VECTORS,
    WEIGHTS,
    BundleError,
    read_json,
    read_members,
    read_weights,
    unpack,
)
from dominozoo.bots.bundle import Bot, Bundle, bundle_of
from dominozoo.bots.network import Network
from dominozoo.bots.shipping import shipped_path
from dominozoo.notation import replay
from dominozoo_training.export import games
from dominozoo_training.export.packing import entry, pack
from dominozoo_training.export.replaying import mistakes
from dominozoo_training.export.vectors import read_objects

from .fuzz_protocol import ODD, memory, places

MARK: Final = "@@@@"  # stands nowhere else
ODD_TEXTS: Final = tuple(json.dumps(value) for value in ODD)
DECISIONS: Final = 4  # of the game that is damaged: what is short is quick
Json = dict[str, Any]
Attempt = Callable[["Goods", random.Random], None]


class Text:
    """JSON as a text that knows where its values stand, so that damage costs next to nothing."""

    def __init__(self, value: Any) -> None:
        self.text = json.dumps(value)
        self.spans: list[tuple[int, int]] = []
        for container, key in list(places(value)):
            kept, container[key] = container[key], MARK
            at = json.dumps(value).index(MARK) - 1
            container[key] = kept
            self.spans.append((at, at + len(json.dumps(kept))))

    def damaged(self, chance: random.Random) -> bytes:
        """The text with odd values, other places' values or nothing where values or names were."""
        (start, end), (other, stop) = chance.choices(self.spans, k=2)
        text, how = self.text, chance.randrange(5)
        if how == 0:  # another name, as if the field were missing
            start = max(text.rfind('"', 0, start - 3), 0)
            return (text[: start + 1] + "_" + text[start + 1 :]).encode()
        value = text[other:stop] if how == 1 else chance.choice(ODD_TEXTS)
        if how == 2 and text[start:end].isdigit():
            value = str(int(text[start:end]) + chance.choice((-1, 1, 28, 2**40)))
        return (text[:start] + value + text[end:]).encode()


@dataclass(frozen=True)
class Goods:
    """A sound bundle, and the parts of it that are damaged."""

    bundle: Bundle
    small: dict[str, bytes]  # members that only checksums look at are cut short
    zipped: bytes
    manifest: Text
    weights: bytes
    vector: Text
    game: Text
    graph: bytes


def goods(name: str = "block") -> Goods:
    """The bot that ships for a game, made small."""
    path = shipped_path(name)
    assert path is not None
    members = read_members(path)
    bundle = bundle_of(members, str(path))
    rng = np.random.default_rng(1)
    small = {**members, WEIGHTS: tiny_weights(bundle, rng)}
    small |= dict.fromkeys((GRAPH, VECTORS, GAMES, CARD), b"not looked at")
    manifest = json.loads(members[MANIFEST])
    manifest["files"] = {name: entry(data) for name, data in small.items() if name != MANIFEST}
    small[MANIFEST] = json.dumps(manifest).encode()
    vector = Text(json.loads(members[VECTORS].splitlines()[70]))
    game = Text(short(json.loads(members[GAMES].splitlines()[0]), bundle))
    return Goods(
        bundle, small, pack(small), Text(manifest), small[WEIGHTS], vector, game, members[GRAPH]
    )


def tiny_weights(bundle: Bundle, rng: np.random.Generator) -> bytes:
    """Weights of a network of the bundle's shape with two hidden units."""
    header: Json = {}
    body = b""
    for name, inputs in (
        ("score", bundle.shape.score_columns),
        ("worth", bundle.shape.value_columns),
    ):
        for layer, shape in ((0, [2, inputs]), (2, [1, 2])):
            for part, size in (("weight", shape), ("bias", shape[:1])):
                data = rng.normal(0, 0.1, size).astype(np.float32).tobytes()
                offsets = [len(body), len(body) + len(data)]
                key = f"{name}.{layer}.{part}"
                header[key] = {"dtype": "F32", "shape": size, "data_offsets": offsets}
                body += data
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + body


def short(game: Json, bundle: Bundle) -> Json:
    """The beginning of a golden game."""
    cut = game["decisions"][DECISIONS]["at"]
    record, decisions = game["record"][:cut], game["decisions"][:DECISIONS]
    table = replay(record)
    views = [table.view(seat) for seat in range(bundle.rules.players)]
    found = {"record": record, "decisions": decisions, "end": {"views": views}}
    assert not list(mistakes(golden(found, bundle), bundle.rules))
    return found


def golden(game: Any, bundle: Bundle) -> games.Golden:
    """A game as the reader takes it."""
    return games.read_game(game, bundle, "game")


# Ways of doing damage.


def change_bytes(data: bytes, chance: random.Random, first: int = 1 << 30) -> bytes:
    """A copy that is cut, repeated and overwritten, all within the ``first`` bytes."""
    found = bytearray(data)
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(min(len(found), first))
        how = chance.randrange(5)
        if how == 0:
            del found[at : at + chance.randint(1, 30)]
        elif how == 1:
            found[at:at] = chance.randbytes(chance.randint(1, 8))
        elif how == 2:
            found[at : at + 4] = chance.choice((b"\xff" * 4, bytes(4), b"\x00\x00\x00\x80"))
        else:
            found[at] = chance.randrange(256)
    return bytes(found)


# What is damaged; each raises BundleError, or comes to an end.


def zip_bytes(good: Goods, chance: random.Random) -> None:
    """The file."""
    play(bundle_of(unpack(change_bytes(good.zipped, chance), "x"), "x"))


def manifests(good: Goods, chance: random.Random) -> None:
    """The manifest's fields."""
    play(bundle_of({**good.small, MANIFEST: good.manifest.damaged(chance)}, "x"))


def weights(good: Goods, chance: random.Random) -> None:
    """The weights: mostly their header, which has to be believed before anything is read."""
    data = change_bytes(good.weights, chance, chance.choice((12, 700, 1 << 30)))
    ask(refusing(lambda: Network(read_weights(data), good.bundle.shape)), good.bundle)


def vectors(good: Goods, chance: random.Random) -> None:
    """A vector."""
    read_objects([read_json(good.vector.damaged(chance), "vector")], good.bundle, "vector")


def golden_games(good: Goods, chance: random.Random) -> None:
    """A golden game: what can be read is played again, and the engine finds what is wrong."""
    data = good.game.damaged(chance)
    read = refusing(lambda: golden(read_json(data, "game"), good.bundle))
    for words in mistakes(read, good.bundle.rules):
        raise BundleError(words)


def graphs(good: Goods, chance: random.Random) -> None:
    """The graph: what the check lets pass must be run, or refused by the runtime."""
    from dominozoo_training.export import graph

    data = change_bytes(good.graph, chance)
    layout, count = good.bundle.shape.layout, good.bundle.action_count
    try:
        graph.check(data, layout, count)
        ask(graph.GraphPolicy(data), good.bundle)
    except graph.GraphError as error:
        raise BundleError(str(error)) from None


def refusing(read: Callable[[], Any]) -> Any:
    """What is read; a ValueError of the reader is its refusal."""
    try:
        return read()
    except ValueError as error:
        raise BundleError(str(error)) from None


def play(bundle: Bundle) -> None:
    """Ask the bot of a bundle."""
    ask(Bot(bundle).network, bundle)


def ask(reader: Any, bundle: Bundle) -> None:
    """Ask a reader about an empty table, whatever it holds."""
    seen = np.zeros((1, bundle.shape.layout.size), np.int16)
    reader.evaluate(seen, np.ones((1, bundle.action_count), np.int8))


# By kind, how often of a hundred it is tried.
KINDS: Final[dict[str, tuple[Attempt, int]]] = {
    "zip": (zip_bytes, 25),
    "manifest": (manifests, 25),
    "weights": (weights, 25),
    "vector": (vectors, 15),
    "game": (golden_games, 8),
    "graph": (graphs, 2),
}


def fuzz(
    inputs: int,
    seed: int = 1,
    kinds: tuple[str, ...] = tuple(KINDS),
    minutes: float = math.inf,
) -> Counter[str]:
    """Feed damaged bundles.

    Args:
        inputs: how many at the most.
        seed: same seed, same inputs.
        kinds: what is damaged.
        minutes: by the clock, after which no more are fed.

    Returns:
        How many of each kind were let pass and refused, as ``zip passed``, ``zip refused``.

    Raises:
        AssertionError: something else than a refusal in one line came of one.
    """
    good, chance, counts = goods(), random.Random(seed), Counter[str]()
    shares = [KINDS[kind][1] for kind in kinds]
    end = time.monotonic() + 60 * minutes
    for k in range(inputs):
        if time.monotonic() > end:
            break
        (kind,) = chance.choices(kinds, shares)
        refusal = ""
        try:
            with np.errstate(all="ignore"):  # weights may be as large as they like
                KINDS[kind][0](good, chance)
        except BundleError as error:
            refusal = str(error)
        except Exception as error:
            raise AssertionError(f"input {k}, {kind}: {error!r}") from error
        assert "\n" not in refusal, (k, kind, refusal)
        counts[f"{kind} {'refused' if refusal else 'passed'}"] += 1
    return counts


def main() -> None:
    """Fuzz and tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=500_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=math.inf, help="Stop then.")
    options = parser.parse_args()
    start, early = time.process_time(), memory()
    counts = fuzz(options.inputs, options.seed, minutes=options.minutes)
    print(f"{counts.total()} inputs, {time.process_time() - start:.0f} s of processor time")
    print(", ".join(f"{kind} {count}" for kind, count in sorted(counts.items())))
    print(f"memory: {early} kB before, {memory()} kB at the end")


if __name__ == "__main__":
    main()
