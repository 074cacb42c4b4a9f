"""Feeds the bot protocol with damaged requests; each must get one line of JSON, and nothing grow.

    python tests/soak/fuzz_protocol.py --inputs 1000000

Good requests of every game are changed in their bytes or in their fields; a run says how many inputs
got which answer, and how much memory the process took at a tenth of the way and at the end.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import io
import json
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from dominozoo.notation import new_game
from dominozoo.rules import parse
from dominozoo_training.export.messages import CODES
from dominozoo_training.export.protocol import Desk, load_bots

BOTS: Final = ("block", "truc(max_redeals=2)")  # who plays them ships
GAMES: Final = ("block", "draw", "cutthroat", "french", "truc(max_redeals=2)")
ODD: Final[tuple[Any, ...]] = (
    *(None, True, False, 0, -1, 1, 3, 255, 2**31, 2**63, 2**64, 1e308, -0.0, 0.5, "", "6-6", "0-0"),
    *("7-7", "play", "draw", "\ud800", "\x00", "é" * 50, [], {}, [[]], [None], {"id": {}}),
)
ENDINGS: Final = {"act", "legal", "can", "hello", "bye"}


def good_requests() -> list[dict[str, Any]]:
    """Requests that are answered, of all kinds."""
    found: list[dict[str, Any]] = [
        {"op": "hello", "id": 1},
        {"op": "can", "game": "block", "rules": {"players": 2}, "id": "x"},
    ]
    for text in GAMES:
        game, chance = new_game(parse(text)), random.Random(3)
        turn = game.reset((3, 0), {})
        for k in range(40):
            view = game.view(turn)
            op = "ask" if k % 3 and text in BOTS else "legal"
            more = {"seed": k, "level": "easy"} if k % 2 else {"probabilities": True}
            found.append({"op": op, "id": k, "view": view, **more})
            code = game.step(chance.choice(view["legal"])["id"])
            turn = game.deal() if code >= 4 else code
    return found


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every (container, key) inside a JSON value."""
    keys: Any = value.keys() if isinstance(value, dict) else range(len(value))
    for key in list(keys):
        yield value, key
        if isinstance(value[key], dict | list):
            yield from places(value[key])


def change_fields(request: dict[str, Any], chance: random.Random) -> bytes:
    """Put odd values, other places' values or nothing where fields were."""
    request = copy.deepcopy(request)
    for _ in range(chance.randint(1, 3)):
        spots = list(places(request))
        if not spots:
            break
        container, key = chance.choice(spots)
        other, other_key = chance.choice(spots)
        how = chance.randrange(4)
        if how == 0:
            del container[key]
        elif how == 1:
            container[key] = copy.deepcopy(other[other_key])
        elif how == 2 and isinstance(container[key], int):
            container[key] += chance.choice((-1, 1, 28, 2**40))
        else:
            container[key] = copy.deepcopy(chance.choice(ODD))
    return json.dumps(request).encode()


def change_bytes(request: dict[str, Any], chance: random.Random) -> bytes:
    """Cut, repeat and overwrite bytes."""
    text = bytearray(json.dumps(request).encode())
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(text) + 1)
        how = chance.randrange(4)
        if how == 0:
            del text[at : at + chance.randint(1, 40)]
        elif how == 1:
            text[at:at] = bytes(chance.randrange(256) for _ in range(chance.randint(1, 8)))
        elif how == 2:
            text[at:at] = text[at : at + 30] * chance.randint(1, 5)
        else:
            text[at : at + 1] = chance.choice(
                (b"[" * 20, b"{", b'"', b"\\", b"1e999", b"-", b"\xff")
            )
    return bytes(text)


CHANGES: Final[tuple[Callable[[dict[str, Any], random.Random], bytes], ...]] = (
    change_fields,
    change_fields,
    change_fields,
    change_bytes,
)


def memory() -> int:
    """Resident kilobytes of this process, 0 where the system doesn't tell."""
    path = Path("/proc/self/status")
    if not path.exists():
        return 0
    line = next(x for x in path.read_text("ascii").splitlines() if x.startswith("VmRSS"))
    return int(line.split()[1])


def fuzz(inputs: int, seed: int = 1) -> tuple[Counter[str], int, int]:
    """Feed damaged requests.

    Args:
        inputs: how many.
        seed: same seed, same inputs.

    Returns:
        How many got which answer, and the memory in kB after a tenth of them and at the end.

    Raises:
        AssertionError: an answer is no line of the protocol, or the server failed.
    """
    desk, chance, good = Desk(load_bots(["block", "truc"])), random.Random(seed), good_requests()
    counts: Counter[str] = Counter()
    early, faults = 0, io.StringIO()
    for k in range(inputs):
        text = chance.choice(CHANGES)(chance.choice(good), chance)
        with contextlib.redirect_stderr(faults):
            line = desk.answer(text).model_dump_json()
        answer = json.loads(line)
        kind = answer["code"] if answer["op"] == "error" else answer["op"]
        assert "\n" not in line, text
        assert kind in CODES or kind in ENDINGS, text
        assert kind != "internal", (text, faults.getvalue())
        counts[kind] += 1
        if k == inputs // 10:
            early = memory()
    return counts, early, memory()


def main() -> None:
    """Fuzz and tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    start = time.process_time()
    counts, early, late = fuzz(options.inputs, options.seed)
    print(f"{options.inputs} inputs, {time.process_time() - start:.0f} s of processor time")
    print(", ".join(f"{kind} {count}" for kind, count in counts.most_common()))
    print(f"memory: {early} kB after a tenth, {late} kB at the end")


if __name__ == "__main__":
    main()
