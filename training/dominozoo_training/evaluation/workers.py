"""Units of work played by several processes.

Each worker is a fresh interpreter that loads the players itself, plays what it is sent and sends back
what it came to. The main process alone writes files. A worker leaves when the main process is gone.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from typing import Any

from dominozoo_training.evaluation.asking import Conduct
from dominozoo_training.evaluation.entrants import Entrant, EntrantError, failure, load_entrant
from dominozoo_training.evaluation.playing import Job, Part, Room
from dominozoo_training.evaluation.setting import ArenaError, Setting


class Crew:
    """Who plays: this process, or workers.

    Args:
        room: the setting and the players.
        processes: 1: this process; more: as many workers.

    Raises:
        ArenaError: ``processes`` is below 1, or a player can't be loaded by another process.
    """

    def __init__(self, room: Room, processes: int = 1) -> None:
        if isinstance(processes, bool) or not isinstance(processes, int) or processes < 1:
            raise ArenaError(f"processes must be an integer of 1 or more, not {processes!r}")
        self.room, self.processes = room, processes
        self.workers: list[Worker] = []
        if processes > 1:
            for entrant in room.entrants:
                if not can_travel(entrant):
                    raise ArenaError(
                        f"players: {entrant.name} lives in this process alone; give processes=1, or "
                        "name it as module:callable"
                    )

    def play(self, jobs: Sequence[Job]) -> Iterator[Part]:
        """Play units; they come as they are finished, in this process in their order.

        Raises:
            ArenaError: a player failed and the conduct is strict, or a worker died.
        """
        if self.processes == 1 or not jobs:
            yield from map(self.room.play, jobs)
            return
        yield from self._share(list(reversed(jobs)))

    def _share(self, left: list[Job]) -> Iterator[Part]:
        """Send units to idle workers until all are back."""
        with undisturbed():
            while len(self.workers) < min(self.processes, len(left)):
                self.workers.append(Worker(self.room))
        busy: dict[Connection, Worker] = {}
        for worker in self.workers:
            if left:
                worker.send(left.pop())
                busy[worker.pipe] = worker
        while busy:
            for pipe in wait(list(busy)):
                assert isinstance(pipe, Connection)
                worker = busy.pop(pipe)
                part = worker.receive()
                if left:
                    worker.send(left.pop())
                    busy[worker.pipe] = worker
                yield part

    def close(self) -> None:
        """Send the workers home; what they are playing is lost."""
        for worker in self.workers:
            worker.stop()
        self.workers.clear()


class Worker:
    """A process that plays units of a room."""

    def __init__(self, room: Room) -> None:
        self.names = [entrant.name for entrant in room.entrants]
        self.job: Job | None = None
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        specs = [(e.name, e.code, e.mark) for e in room.entrants]
        self.process = context.Process(
            target=serve, args=(theirs, room.setting, room.conduct, specs), daemon=True
        )
        self.process.start()
        theirs.close()

    def send(self, job: Job) -> None:
        """Give it a unit to play; one that has died is found out when it should answer."""
        self.job = job
        with contextlib.suppress(OSError):
            self.pipe.send(job)

    def receive(self) -> Part:
        """What it has played.

        Raises:
            ArenaError: it died.
            EntrantError, ArenaError: as in :meth:`Room.play`.
        """
        try:
            found = self.pipe.recv()
        except (EOFError, OSError):
            self.process.join(1)
            code = self.process.exitcode
            raise ArenaError(
                f"a playing process died ({died_of(code)}) at {self.playing()}; finished units are kept where a folder "
                "was named: give the same command again, with fewer processes if memory ran out"
            ) from None
        if isinstance(found, Exception):
            raise found
        assert isinstance(found, Part)
        return found

    def playing(self) -> str:
        """What it was sent, in words."""
        if self.job is None:
            return "its start"
        first, last = self.job.first, self.job.first + self.job.count - 1
        who = " against ".join(self.names[k] for k in self.job.lineup)
        return f"{who}, deals {first}..{last}"

    def stop(self) -> None:
        """End it."""
        self.pipe.close()
        self.process.terminate()
        self.process.join(5)


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Let Ctrl-C wait until the end; processes that are started here never hear it.

    They inherit the blocked signal, which holds from their first moment on.
    """
    main = threading.current_thread() is threading.main_thread()
    if not main or not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # its own start would lift the block
    heard: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: heard.append(number))
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, before)
    if heard and callable(before):
        before(signal.SIGINT, None)


def died_of(code: int | None) -> str:
    """An exit code in words."""
    if code is not None and code < 0:
        with contextlib.suppress(ValueError):
            return f"signal {signal.Signals(-code).name}"
    return f"exit code {code}"


def can_travel(entrant: Entrant) -> bool:
    """Whether another process can make this player from its name."""
    return entrant.loaded or (entrant.act is None and entrant.choose is None)


def serve(
    pipe: Connection, setting: Setting, conduct: Conduct, specs: Sequence[tuple[str, int, str]]
) -> None:
    """A worker's life: load the players, play what comes, end when the other side is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the main process says when to end
    with contextlib.suppress(EOFError, OSError):
        try:
            room = Room(setting, conduct, list(loaded(specs, setting)))
        except Exception as error:  # noqa: BLE001  whatever it is, the main process tells it
            pipe.recv()
            pipe.send(sendable(error))
            return
        one_thread()
        while True:
            job = pipe.recv()
            try:
                found: Any = room.play(job)
            except Exception as error:  # noqa: BLE001
                found = sendable(error)
            pipe.send(found)


def loaded(specs: Iterable[tuple[str, int, str]], setting: Setting) -> Iterator[Entrant]:
    """The players of the main process, loaded once more."""
    for name, code, mark in specs:
        entrant = load_entrant(name, setting.rules)
        if (entrant.code, entrant.mark) != (code, mark):
            raise EntrantError(f"players: {name} has changed while it was loaded; start again")
        yield entrant


def sendable(error: Exception) -> Exception:
    """An error as it can travel between processes: its text, ours by its class."""
    kind = type(error) if type(error) in (ArenaError, EntrantError) else ArenaError
    told = str(error) if kind is type(error) else failure(error)
    return kind(told)


def one_thread() -> None:
    """Let torch compute in one thread: quicker for small networks, and the same everywhere."""
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(1)
