"""Asks a server over HTTP and on lines for minutes, well and badly; each must be answered, nothing grow.

    python -m tests.soak.serve --minutes 10

Clients keep their connections, ask good and damaged requests, send halves and hang up. A run says how
often it got which status, what went wrong, how long good answers took, the servers' processor time for
each, and what memory they had at the start, after a minute and at the end.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import random
import subprocess
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from dominozoo.rules import parse
from dominozoo_training.bench.served import http_server, requests_of, stdio_server
from dominozoo_training.export.messages import CODES, LINE_BYTES

from .fuzz_protocol import change_bytes, change_fields

BOTS: Final = ["block", "truc"]
CLIENTS: Final = 8
PATIENCE: Final = 60.0  # seconds after which an answer counts as missing
STATUSES: Final = {200, 404, 405, *CODES.values()} - {CODES["internal"]}


@dataclass
class Report:
    """What happened.

    Attributes:
        answers: how many had which status; on a line 200 or the error's.
        errors: what shouldn't have been, and how often.
        seconds: of good requests, by "http" and "stdio".
        memory: resident kB of the servers by the minute, the first at the start.
        busy: seconds of processor time that the servers took.
    """

    answers: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    seconds: dict[str, list[float]] = field(default_factory=lambda: {"http": [], "stdio": []})
    memory: dict[str, list[int]] = field(default_factory=lambda: {"http": [], "stdio": []})
    busy: dict[str, float] = field(default_factory=dict)

    def lines(self) -> list[str]:
        """The report as text."""
        told = [f"answers: {', '.join(f'{k} {n}' for k, n in sorted(self.answers.items()))}"]
        told.append(f"errors: {dict(self.errors) or 'none'}")
        for way, seconds in self.seconds.items():
            ms = [1000 * s for s in sorted(seconds)] or [0.0]
            asked = sum(n for key, n in self.answers.items() if key.startswith(way))
            told.append(
                f"{way}: {len(seconds)} good answers, p50 {ms[len(ms) // 2]:.2f} ms, "
                f"p99 {ms[len(ms) * 99 // 100]:.2f} ms by the wall; server's processor time "
                f"{1000 * self.busy.get(way, 0) / max(asked, 1):.3f} ms an answer"
            )
        for way, memory in self.memory.items():
            first, minute, last = memory[0], memory[min(1, len(memory) - 1)], memory[-1]
            told.append(f"{way} memory: {first} kB, after a minute {minute}, at the end {last}")
        return told


def resident(pid: int) -> int:
    """Resident kilobytes of a process, 0 where the system doesn't tell."""
    path = Path(f"/proc/{pid}/status")
    if not path.exists():
        return 0
    line = next(x for x in path.read_text("ascii").splitlines() if x.startswith("VmRSS"))
    return int(line.split()[1])


def processor_time(pid: int) -> float:
    """Seconds of processor time that a process has taken, 0 where the system doesn't tell."""
    path = Path(f"/proc/{pid}/stat")
    if not path.exists():
        return 0.0
    ticks = path.read_text("ascii").rpartition(")")[2].split()[11:13]
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


def post(body: bytes, path: str = "/v1/act", **headers: str) -> bytes:
    """A request of HTTP."""
    more = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    head = f"POST {path} HTTP/1.1\r\nhost: soak\r\n{more}content-length: {len(body)}\r\n\r\n"
    return head.encode() + body


def bad_request(good: bytes, chance: random.Random) -> bytes:
    """A whole request that is damaged in one way or another."""
    how = chance.randrange(8)
    if how == 0:
        return post(b"x" * (LINE_BYTES + 1))
    if how == 1:
        return post(b'{"view": ' + b"[" * 200 + b"]" * 200 + b"}", "/v1/legal")
    if how == 2:
        return b"GET /v1/act HTTP/1.1\r\nhost: soak\r\n\r\n"
    if how == 3:
        return post(good, "/v1/nothing")
    if how == 4:
        return post(good, "/v1/legal", connection="close")
    change = change_bytes if how == 5 else change_fields
    return post(change(json.loads(good), chance), chance.choice(("/v1/act", "/v1/legal")))


async def read_response(reader: asyncio.StreamReader) -> tuple[int, bool]:
    """Status, and whether the connection stays; ValueError if the body is no JSON of ours."""
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = int(head.partition(b"content-length:")[2].split()[0])
    body = await reader.readexactly(length)
    if b"application/json" in head:
        json.loads(body)
    return int(head.split()[1]), b"connection: close" not in head


async def ask_http(port: int, good: list[bytes], seed: int, end: float, report: Report) -> None:
    """A client of HTTP: nine good requests in ten, some of them in pairs; the rest is damaged."""
    chance, link = random.Random(seed), contextlib.AsyncExitStack()
    reader = writer = None
    while time.monotonic() < end:
        if writer is None or reader is None:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            link.callback(writer.close)
        body, well = chance.choice(good), chance.random() < 0.9
        count = 2 if well and chance.random() < 0.1 else 1
        text = post(body) * count if well else bad_request(body, chance)
        half, start = not well and chance.random() < 0.2, time.perf_counter()
        stays = True
        try:
            writer.write(text[: chance.randrange(len(text))] if half else text)
            for _ in range(0 if half else count):
                async with asyncio.timeout(PATIENCE):
                    status, stays = await read_response(reader)
                report.answers[f"http {status}"] += 1
                if status not in STATUSES or (well and status != 200):
                    report.errors[f"http {status}"] += 1
            if well:
                report.seconds["http"].append((time.perf_counter() - start) / count)
        except (OSError, ValueError, EOFError, TimeoutError) as error:
            # Who is refused while it still sends may find the connection closed before the answer.
            stays = False
            if len(text) <= LINE_BYTES:
                report.errors[f"http {type(error).__name__}"] += 1
        if half or not stays:
            writer.close()
            reader = writer = None
    await link.aclose()


def ask_line(process: subprocess.Popen[bytes], line: bytes) -> bytes:
    """One line, and its answer."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(line + b"\n")
    process.stdin.flush()
    return process.stdout.readline()


def ask_lines(
    process: subprocess.Popen[bytes], good: list[bytes], seed: int, end: float, report: Report
) -> None:
    """A client of lines, which waits for each answer."""
    chance = random.Random(seed)
    while time.monotonic() < end:
        line, well = chance.choice(good), chance.random() < 0.9
        if not well:
            change = chance.choice((change_bytes, change_fields))
            line = change(json.loads(line), chance).replace(b"\n", b" ")
        if not line.strip() or b'"quit"' in line:
            continue
        start = time.perf_counter()
        answer = json.loads(ask_line(process, line))
        status = CODES[answer["code"]] if answer["op"] == "error" else 200
        report.answers[f"stdio {status}"] += 1
        if status not in STATUSES or (well and status != 200):
            report.errors[f"stdio {status}"] += 1
        if well:
            report.seconds["stdio"].append(time.perf_counter() - start)


async def watch(pids: dict[str, int], end: float, every: float, report: Report) -> None:
    """Write down the memory now and then."""
    while True:
        for way, pid in pids.items():
            report.memory[way].append(resident(pid))
        left = end - time.monotonic()
        if left <= 0:
            return
        await asyncio.sleep(min(every, left))


async def soak(minutes: float, seed: int = 1, every: float = 60.0) -> Report:
    """Run both servers and their clients.

    Args:
        minutes: how long.
        seed: same seed, same requests.
        every: seconds between two looks at the memory.
    """
    report, good = Report(), [line for bot in BOTS for line in requests_of(parse(bot))]
    with http_server(BOTS) as (web, port), stdio_server(BOTS) as lines:
        pids = {"http": web.pid, "stdio": lines.pid}
        for body in good[:20]:  # what is made at the first request isn't growth
            await ask_once(port, body)
            await asyncio.to_thread(ask_line, lines, body)
        begun = {way: processor_time(pid) for way, pid in pids.items()}
        end = time.monotonic() + 60 * minutes
        await asyncio.gather(
            *(ask_http(port, good, seed + k, end, report) for k in range(CLIENTS)),
            asyncio.to_thread(ask_lines, lines, good, seed, end, report),
            watch(pids, end, every, report),
        )
        report.busy = {way: processor_time(pid) - begun[way] for way, pid in pids.items()}
    return report


async def ask_once(port: int, body: bytes) -> None:
    """One request on a connection of its own."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(post(body))
    await read_response(reader)
    writer.close()
    await writer.wait_closed()


def main() -> None:
    """Soak and tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    report = asyncio.run(soak(options.minutes, options.seed))
    print("\n".join(report.lines()))


if __name__ == "__main__":
    main()
