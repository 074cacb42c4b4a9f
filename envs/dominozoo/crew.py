"""Threads that share the rows of compiled calls, and the slices that they take.

Kernels give up the interpreter's lock, so plain threads are enough.
"""

from __future__ import annotations

import os
import queue
import threading
import weakref
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Final, TypeVar

import numpy as np

Part = TypeVar("Part")
Result = TypeVar("Result")

# A thread is woken in the time that a kernel needs for some hundred tables, more on a busy machine,
# so fewer rows than these for each aren't worth it.
ROWS_A_THREAD: Final = 1024


def check_threads(threads: Any) -> int:
    """Return the number; ValueError unless it is an integer of at least 1."""
    whole = isinstance(threads, int | np.integer) and not isinstance(threads, bool)
    if not whole or threads < 1:
        raise ValueError(f"threads must be an integer of at least 1, not {threads!r}")
    return int(threads)


def slices(rows: int, threads: int) -> list[slice]:
    """Cut rows 0..rows-1 into at most ``threads`` parts of about the same size."""
    parts = max(1, min(threads, rows // ROWS_A_THREAD))
    bounds = [rows * k // parts for k in range(parts + 1)]
    return [slice(a, b) for a, b in pairwise(bounds)]


class Crew:
    """The calling thread and its helpers, which start when they are first needed.

    Copies and unpickled ones start their own, and so does a forked process. Helpers end with
    their crew.

    Attributes:
        size: number of threads, the caller's included.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._process = 0  # whose helpers wait for orders; 0 = nobody's
        self._orders: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def __reduce__(self) -> tuple[type[Crew], tuple[int]]:
        return Crew, (self.size,)

    def run(self, work: Callable[[Part], Result], parts: Sequence[Part]) -> list[Result]:
        """Do ``work`` on each part side by side; the results in the order of the parts.

        Raises:
            Exception: what ``work`` raised, for the first part that failed, once all are done.
        """
        if len(parts) == 1:
            return [work(parts[0])]
        self._start()
        for k in range(1, len(parts)):
            self._orders.put((work, k, parts[k]))
        try:
            answers = [_attempt(work, 0, parts[0])]
            answers += [self._answers.get() for _ in parts[1:]]
        except BaseException:  # interrupted: late answers belong to nobody
            self._process = 0
            raise
        answers.sort(key=lambda answer: answer[0])
        for _, _, error in answers:
            if error is not None:
                raise error
        return [result for _, result, _ in answers]

    def _start(self) -> None:
        if self._process == os.getpid():
            return
        self._orders, self._answers = queue.SimpleQueue(), queue.SimpleQueue()
        for _ in range(self.size - 1):
            threading.Thread(
                target=_serve, args=(self._orders, self._answers), name="tables", daemon=True
            ).start()
        weakref.finalize(self, _dismiss, self._orders, self.size - 1)
        self._process = os.getpid()


def _attempt(work: Callable[[Any], Any], k: int, part: Any) -> tuple[int, Any, Exception | None]:
    try:
        return k, work(part), None
    except Exception as error:  # noqa: BLE001 - raised again in the thread that asked
        return k, None, error


def _serve(orders: queue.SimpleQueue[Any], answers: queue.SimpleQueue[Any]) -> None:
    while (order := orders.get()) is not None:
        answers.put(_attempt(*order))
        del order  # keeps no tables alive while it waits


def _dismiss(orders: queue.SimpleQueue[Any], helpers: int) -> None:
    for _ in range(helpers):
        orders.put(None)
