"""Threads that share the rows of compiled steps: how they start, sleep and end.

What they do while awake is compiled, see ``sharing``.
"""

from __future__ import annotations

import os
import queue
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from numba.core import config

from dominozoo.sharing import ASLEEP, LINE, LINGER, LOOKS, PARTS, WORKERS, new_board

# Fewer rows than these for each thread aren't worth a second one.
ROWS_A_THREAD: Final = 256

# How many steps a trial of one way takes, and how many are made between two trials.
TRIAL: Final = 8
SHORTEST: Final = 256
LONGEST: Final = 4096

# Helpers stay awake for some time after a step that came within these seconds of the one before.
# Waking them takes as long as a thousand tables' steps.
NEAR: Final = 2e-4

_config: Any = config


def check_threads(threads: Any) -> int:
    """Return the number; ValueError unless it is an integer of at least 1."""
    whole = isinstance(threads, int | np.integer) and not isinstance(threads, bool)
    if not whole or threads < 1:
        raise ValueError(f"threads must be an integer of at least 1, not {threads!r}")
    return int(threads)


def useful_threads(rows: int, threads: int) -> int:
    """How many of ``threads`` are worth waking for the rows; 1 where nothing is compiled."""
    return 1 if _config.DISABLE_JIT else max(1, min(threads, rows // ROWS_A_THREAD))


class Pace:
    """Whether sharing pays: both ways are tried now and then, and the quicker one is kept for a while.

    On a busy machine, or in a container with less than a processor a thread, it doesn't.

    Attributes:
        shared: how the next step is to be made.
    """

    def __init__(self) -> None:
        self.shared = False
        self._trial = True
        self._left, self._took = TRIAL, 0.0
        self._alone = 0.0  # what the steps of a trial took alone
        self._paid, self._stay = False, SHORTEST

    def note(self, seconds: float) -> None:
        """Count a step that took so long."""
        self._left -= 1
        self._took += seconds
        failed = self._trial and self.shared and self._took > self._alone
        if self._left > 0 and not failed:
            return
        if not self._trial:
            self._go_on(trial=True, shared=False, steps=TRIAL)
        elif not self.shared:
            self._alone = self._took
            self._go_on(trial=True, shared=True, steps=TRIAL)
        else:
            self._stay = SHORTEST if self._paid is failed else min(2 * self._stay, LONGEST)
            self._paid = not failed
            self._go_on(trial=False, shared=self._paid, steps=self._stay)

    def _go_on(self, trial: bool, shared: bool, steps: int) -> None:
        self._trial, self.shared, self._left, self._took = trial, shared, steps, 0.0


class Crew:
    """The calling thread and its helpers, which start after the first step: that one compiles.

    Copies and unpickled crews start their own, and so does a forked process. Helpers end with
    their crew.

    Attributes:
        size: number of threads, the caller's included.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._process = 0  # whose helpers wait for orders; 0 = nobody's
        self._last = 0.0  # when the last step ended

    def __reduce__(self) -> tuple[type[Crew], tuple[int]]:
        return Crew, (self.size,)

    def run(
        self,
        kernel: Callable[..., Any],
        mine: tuple[Any, ...],
        likes: Sequence[tuple[Any, ...]],
    ) -> Any:
        """Call ``kernel(board, 0, *mine)``, while helpers call it with their numbers if that pays.

        Args:
            kernel: one of the ``share_steps``.
            mine: its arguments from the third on.
            likes: each helper's arguments, of the same types.

        Returns:
            What the kernel returned to the caller.
        """
        if self._process != os.getpid():
            answer = kernel(new_board(self.size), 0, *mine)
            self._start()
            return answer
        start = time.perf_counter()
        self._board[WORKERS] = self.size if self._pace.shared else 1
        if self._pace.shared:
            self._board[LINGER] = LOOKS if start - self._last < NEAR else 0
            self._wake(kernel, likes)
        answer = kernel(self._board, 0, *mine)
        self._last = time.perf_counter()
        self._pace.note(self._last - start)
        return answer

    def _wake(self, kernel: Callable[..., Any], likes: Sequence[tuple[Any, ...]]) -> None:
        for k, like in enumerate(likes, 1):
            asleep = PARTS + LINE * k + ASLEEP
            if self._board[asleep]:
                self._board[asleep] = 0
                self._orders[k - 1].put((kernel, like))

    def _start(self) -> None:
        self._board, self._pace = new_board(self.size), Pace()
        self._orders: list[queue.SimpleQueue[Any]] = []
        for k in range(1, self.size):
            self._orders.append(queue.SimpleQueue())
            arguments = (self._orders[-1], self._board, k)
            threading.Thread(target=_serve, args=arguments, name="tables", daemon=True).start()
        weakref.finalize(self, _dismiss, self._orders)
        self._process = os.getpid()


def _serve(orders: queue.SimpleQueue[Any], board: npt.NDArray[np.int64], me: int) -> None:
    while (order := orders.get()) is not None:
        kernel, like = order
        kernel(board, me, *like)
        board[PARTS + LINE * me + ASLEEP] = 1


def _dismiss(orders: list[queue.SimpleQueue[Any]]) -> None:
    for helper in orders:
        helper.put(None)
