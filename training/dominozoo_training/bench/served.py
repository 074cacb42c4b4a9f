"""How fast exported bots answer: in NumPy, on a line, over HTTP. Those that ship are asked."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import selectors
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from dominozoo.bots.bundle import load_bot
from dominozoo.bots.shipping import shipped_path
from dominozoo.notation import new_game
from dominozoo.rules import Rules
from dominozoo.tables import Tables
from dominozoo_training.bench.timing import Chunk, Unavailable, timed

SEED: Final = 1
REQUESTS: Final = 256
CLIENTS: Final = 16
ENDED: Final = 4  # a game's step returns ENDED * status when the hand ended


def shipped(rules: Rules) -> str:
    """The name of the bot that ships for a game; Unavailable if there is none."""
    if shipped_path(rules.module) is None or load_bot(rules.module).rules != rules:
        raise Unavailable(f"bot_numpy, stdio, http: no bot ships for {rules}")
    return rules.module


def bot_numpy(rules: Rules, batch: None = None) -> Chunk:
    """Moves of the shipped bot, a position at a time, where it has a choice."""
    bot, tables = load_bot(shipped(rules)), Tables(rules, 16, seed=SEED)
    rng, choices = np.random.default_rng(SEED), list[tuple[Any, Any]]()
    while len(choices) < REQUESTS:
        seen, legal = tables.observation.copy(), tables.mask.copy()
        choices += [(seen[row], legal[row]) for row in np.flatnonzero(legal.sum(axis=1) > 1)]
        order = rng.random(tables.mask.shape[1]) + 0.5
        tables.step((tables.mask * order).argmax(axis=1))

    def work() -> int:
        for observation, mask in choices:
            bot.act(observation, mask)
        return len(choices)

    return lambda: timed(work)


def requests_of(rules: Rules, count: int | None = None) -> list[bytes]:
    """What a client asks in games of random moves, forced ones among them; JSON, a request each."""
    game, rng = new_game(rules), np.random.default_rng(SEED)
    turn, found = game.reset((SEED, 0), {}), list[bytes]()
    while len(found) < (count or REQUESTS):
        view = game.view(turn)
        found.append(json.dumps({"op": "ask", "id": len(found), "view": view}).encode())
        code = game.step(view["legal"][rng.integers(len(view["legal"]))]["id"])
        if code < ENDED:
            turn = code
        elif game.position()["over"]:
            turn = game.reset((SEED, len(found)), {})
        else:
            turn = game.deal()
    return found


def command(bots: list[str], *arguments: str) -> list[str]:
    """The command line of a server; Unavailable without what it needs."""
    for name in ("pydantic", "starlette", "uvicorn", "httptools"):
        if importlib.util.find_spec(name) is None:
            raise Unavailable(
                "stdio, http: they need the extra serve: pip install 'dominozoo[serve]'"
            )
    return [sys.executable, "-m", "dominozoo_training.cli", "serve", *bots, *arguments]


@contextlib.contextmanager
def stdio_server(bots: list[str]) -> Iterator[subprocess.Popen[bytes]]:
    """A server of lines; it is ended with the block."""
    with subprocess.Popen(
        command(bots, "--stdio"), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        try:
            yield process
        finally:
            process.kill()


@contextlib.contextmanager
def http_server(bots: list[str]) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """A server of HTTP and its port; it is ended with the block.

    Raises:
        Unavailable: it doesn't start.
    """
    with subprocess.Popen(command(bots, "--http", "0"), stderr=subprocess.PIPE) as process:
        try:
            assert process.stderr is not None
            for line in process.stderr:
                if b"serving" in line:
                    yield process, int(line.rpartition(b":")[2])
                    return
            raise Unavailable("http: the server doesn't start")
        finally:
            process.kill()


@contextlib.contextmanager
def stdio(rules: Rules) -> Iterator[Chunk]:
    """Round trips to a server in another process, one at a time, by the clock on the wall."""
    lines = [line + b"\n" for line in requests_of(rules)]
    with stdio_server([shipped(rules)]) as process:
        source, sink = process.stdout, process.stdin
        assert source is not None
        assert sink is not None

        def work() -> int:
            for line in lines:
                sink.write(line)
                sink.flush()
                _check(source.readline())
            return len(lines)

        yield lambda: timed(work, time.perf_counter)


def _check(answer: bytes) -> None:
    if b'"op":"act"' not in answer:
        raise Unavailable(f"the server answers {answer[:200].decode(errors='replace')!r}")


@contextlib.contextmanager
def http(rules: Rules) -> Iterator[tuple[Chunk, list[float]]]:
    """Requests of clients that keep their connections and ask again once answered, by the wall.

    Gives the chunk and a list to which each call adds its answers' seconds.
    """
    head = b"POST /v1/act HTTP/1.1\r\nhost: bench\r\ncontent-type: application/json\r\n"
    asked = [head + b"content-length: %d\r\n\r\n" % len(body) + body for body in requests_of(rules)]
    seconds: list[float] = []
    with contextlib.ExitStack() as stack:
        _, port = stack.enter_context(http_server([shipped(rules)]))
        ready = stack.enter_context(selectors.DefaultSelector())
        for _ in range(CLIENTS):
            client = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            ready.register(client, selectors.EVENT_READ)

        def work() -> int:
            seconds.extend(_ask_all(ready, asked))
            return len(asked)

        yield (lambda: timed(work, time.perf_counter)), seconds


def _ask_all(ready: selectors.BaseSelector, asked: list[bytes]) -> list[float]:
    """Send all requests, one on each connection at a time; returns the seconds of the answers."""
    seconds, left = list[float](), list(reversed(asked))
    begun: dict[Any, float] = {}
    texts: dict[Any, bytes] = {}

    def send(client: Any) -> None:
        begun[client], texts[client] = time.perf_counter(), b""
        client.sendall(left.pop())

    for key in list(ready.get_map().values()):
        send(key.fileobj)
    while len(seconds) < len(asked):
        for key, _ in ready.select():
            client: Any = key.fileobj
            piece = client.recv(65536)
            if not piece:
                raise Unavailable("http: the server hung up")
            texts[client] += piece
            if not is_whole(texts[client]):
                continue
            _check(texts[client])
            seconds.append(time.perf_counter() - begun[client])
            if left:
                send(client)
    return seconds


def is_whole(text: bytes) -> bool:
    """Whether a response of HTTP with a content-length has arrived."""
    head, gap, body = text.partition(b"\r\n\r\n")
    return bool(gap) and len(body) >= int(head.lower().partition(b"content-length:")[2].split()[0])
