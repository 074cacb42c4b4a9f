"""Programs that answer ``dombot-line/1`` on their standard streams, as players of the arena.

The program is started once in each process, without a shell, in a process group of its own, and gets
one seat's view at a time. What it prints on its error stream goes nowhere. Where it dies, stays
silent or answers nonsense the arena's rules for failures hold, and it is started again.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import json
import os
import select
import shlex
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dominozoo.bots import uniforms
from dominozoo.line import batch as line_batch
from dominozoo.line import position as line_position
from dominozoo.rules import TRUC, Rules
from dominozoo.truc import position as truc_position
from dominozoo_training.evaluation.entrants import Entrant, EntrantError, checksum

Array = npt.NDArray[Any]

PREFIX: Final = "stdio:"
PATIENCE: Final = 10.0  # seconds for an answer where the arena sets no limit
LONGEST: Final = 64 * 1024  # bytes of a line
KEPT: Final = ("PATH", "HOME", "LANG", "TMPDIR", "SYSTEMROOT", "NUMBA_CACHE_DIR")


@dataclass(slots=True)
class Program:
    """A program that is asked line by line.

    Attributes:
        command: its words.
    """

    command: list[str]
    process: subprocess.Popen[bytes] | None = None
    owner: int = 0
    asked: int = 0
    rest: bytearray = field(default_factory=bytearray)

    def ask(self, request: dict[str, Any]) -> Any:
        """Its answer to a request; EntrantError if there is none."""
        self.asked += 1
        line = json.dumps({**request, "id": self.asked}, separators=(",", ":")).encode() + b"\n"
        process = self._running()
        assert process.stdin is not None
        try:
            process.stdin.write(line)
            process.stdin.flush()
            return self._answer(process, time.monotonic() + PATIENCE)
        except (OSError, ValueError) as error:
            self.stop()
            raise EntrantError(f"players: {shlex.join(self.command)}: {error}") from None

    def _running(self) -> subprocess.Popen[bytes]:
        """The process, started if need be: after it died, and in a fork of the one that did."""
        if self.process is None or self.owner != os.getpid() or self.process.poll() is not None:
            if self.owner == os.getpid():
                self.stop()
            self.owner, self.rest = os.getpid(), bytearray()
            self.process = subprocess.Popen(
                self.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={name: os.environ[name] for name in KEPT if name in os.environ},
                start_new_session=True,
            )
        return self.process

    def _answer(self, process: subprocess.Popen[bytes], until: float) -> Any:
        """The line that answers the last request; those of earlier ones are passed over."""
        assert process.stdout is not None
        while True:
            line, newline, after = bytes(self.rest).partition(b"\n")
            if newline:
                self.rest = bytearray(after)
                found = json.loads(line)
                if isinstance(found, dict) and found.get("id") == self.asked:
                    return found
                continue
            if len(line) > LONGEST:
                raise ValueError(f"answered with more than {LONGEST} bytes")
            left = until - time.monotonic()
            if left <= 0 or not select.select([process.stdout], [], [], left)[0]:
                raise ValueError(f"no answer within {PATIENCE:g} s")
            piece = os.read(process.stdout.fileno(), LONGEST)
            if not piece:
                raise ValueError("it has ended")
            self.rest += piece

    def stop(self) -> None:
        """End the process and all that it started."""
        process, self.process = self.process, None
        if process is None or self.owner != os.getpid():
            return
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        process.wait()


def view_of(rules: Rules, tables: Array, packed: Array) -> dict[str, Any]:
    """The view of the seat to move at a table, shape (1,); its last hand is left out.

    A line's log isn't kept by the kernels. The record tells it: who laid what and when, and in the
    plies between who couldn't play had no choice.
    """
    seat = int(tables[0]["turn"])
    if rules.variant.family == TRUC:
        seen = truc_position.seen_by(tables, seat)
        return truc_position.view_of(seen, packed, rules, None, seat)
    log = line_position.new_log()
    again, laid_at = tables.copy(), tables[0]["laid_at"].tolist()
    line_batch.reopen_one(again, packed)
    mask = np.zeros(int(packed[0]["ends"]) * 28 + 2, np.int8)
    reward = np.zeros(4)
    for ply in range(1, int(tables[0]["ply"]) + 1):
        if ply in laid_at:
            tile = laid_at.index(ply)
            action = int(tables[0]["laid_end"][tile]) * 28 + tile
        else:
            line_batch.mask_one(again, packed, mask)
            action = len(mask) - (2 if mask[-2] else 1)
        line_batch.step_one(again, packed, action, 0, 0, log, reward)
    seen, seen_log = line_position.seen_by(again, log, seat)
    return line_position.view_of(seen, packed, rules, seen_log, None, seat)


def load_program(spec: str, rules: Rules) -> Entrant:
    """A program as an entrant, by ``stdio:COMMAND``.

    Raises:
        EntrantError: the command can't be started or doesn't read as one.
    """
    try:
        command = shlex.split(spec.removeprefix(PREFIX))
    except ValueError as error:
        raise EntrantError(f"players: {spec}: {error}") from None
    if not command or shutil.which(command[0]) is None:
        raise EntrantError(f"players: {spec}: there is no program {''.join(command[:1])!r}")
    program = Program(command)
    atexit.register(program.stop)

    def choose(rules: Rules, tables: Array, packed: Array, rng: Array, rows: Array) -> Array:
        u = np.zeros(len(rows), np.float64)
        uniforms(rng, rows, u)
        found = np.zeros(len(rows), np.int64)
        for k, row in enumerate(rows.tolist()):
            view = view_of(rules, tables[row : row + 1], packed)
            answer = program.ask({"op": "ask", "view": view, "seed": int(u[k] * 2**53)})
            action = answer.get("action")
            if type(action) is not int or abs(action) > 2**31:
                raise EntrantError(f"players: {spec}: no action in {str(answer)[:200]}")
            found[k] = action
        return found

    files = [Path(word) for word in command if Path(word).is_file()]
    mark = checksum(files) if files else hashlib.sha256(spec.encode()).hexdigest()
    return Entrant(spec, choose=choose, slow=True, mark=mark)
