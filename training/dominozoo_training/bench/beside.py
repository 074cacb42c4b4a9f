"""Steps in two processes at once: what a second core adds here and now, threads or not.

Virtual cores may share a real one, and then two of them do little more than one does.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
import threading
from collections.abc import Iterator
from multiprocessing.connection import Connection

from dominozoo.rules import Rules
from dominozoo_training.bench.games import step_threads
from dominozoo_training.bench.timing import Chunk, Unavailable


def _partner(pipe: Connection, rules: Rules, batch: int) -> None:
    """Do a chunk whenever asked, and tell what it took, until the one who asks has ended."""
    [chunk] = step_threads(rules, batch, (1,))
    chunk()
    with contextlib.suppress(EOFError, OSError):
        pipe.send(None)
        while pipe.recv():
            pipe.send(chunk())


@contextlib.contextmanager
def _interrupts_ignored() -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():  # which alone may say so
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextlib.contextmanager
def _told_if_it_ends() -> Iterator[None]:
    try:
        yield
    except (EOFError, OSError):
        raise Unavailable("step_processes: the second process has ended") from None


@contextlib.contextmanager
def step_processes(rules: Rules, batch: int) -> Iterator[Chunk]:
    """Steps of two processes with one thread and ``batch`` tables each, by the clock on the wall.

    A chunk's seconds are such that its rate is the sum of both.

    Raises:
        Unavailable: the second process fails.
    """
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    partner = context.Process(target=_partner, args=(theirs, rules, batch), daemon=True)
    with _interrupts_ignored():  # the partner inherits it: Ctrl-C is for the one who asks
        partner.start()
    theirs.close()
    try:
        with _told_if_it_ends():
            ours.recv()
        [mine] = step_threads(rules, batch, (1,))

        def both() -> tuple[int, float]:
            with _told_if_it_ends():
                ours.send(True)
                count, seconds = mine()
                other, longer = ours.recv()
            return count + other, (count + other) / (count / seconds + other / longer)

        yield both
    finally:
        partner.kill()
        partner.join()
