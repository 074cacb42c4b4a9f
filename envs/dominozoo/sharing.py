"""Rows of a compiled call that threads share without the interpreter: it would cost as much.

The caller of a step posts an order on a *board*, an array of words; helpers poll it from inside
compiled code for a while after each order. Rows are claimed in chunks, each worker's own first, then
those of others. So the caller never waits for a helper that isn't at work, and a late one costs
nothing but its help. On every path the board's rules are these: a helper counts itself in before it
looks whether the order is open, and the caller closes the order before it waits for the count to
fall to 0; so whatever a closed order pointed to may be freed.
"""

from __future__ import annotations

import os
import platform
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np import arrayobj

from dominozoo.compiler import njit

# Numba's inner parts have no types, and an intrinsic is called without the first argument of its
# definition, which type checkers can't know.
_intrinsic: Any = intrinsic
_tools: Any = cgutils
_arrays: Any = arrayobj
_ir: Any = _tools.ir

# Words of the board. What several threads write has lines of the processor's cache to itself,
# fetched in pairs.
LINE: Final = 16
OPEN: Final = 0  # the number of the order to work on, 0 = none
INSIDE: Final = LINE  # helpers that may be at work
ORDER: Final = 2 * LINE  # what the order is:
KIND: Final = ORDER
NUMBER: Final = ORDER + 1  # of the last order
WORKERS: Final = ORDER + 2  # 1 = the caller alone: helpers aren't to see the order
MAX_HANDS: Final = ORDER + 3
BY_MATCH: Final = ORDER + 4
AUTO_FORCED: Final = ORDER + 5
LINGER: Final = ORDER + 6  # how often helpers look for another order before they sleep
ARRAYS: Final = ORDER + 7  # addresses of the arrays' first rows:
RECORDS, ACTIONS, OBSERVATION, MASK, TURN, REWARD, HANDS_ENDED, TERMINATED, TRUNCATED, FORCED = (
    range(ARRAYS, ARRAYS + 10)
)
ILLEGAL: Final = 4 * LINE  # 1 = a chunk held an illegal action
PARTS: Final = 5 * LINE  # a line a worker: its next row, the end of its rows, whether it sleeps
NEXT: Final = 0
END: Final = 1
ASLEEP: Final = 2

# Kinds of orders.
NOTHING: Final = 0
CHECK: Final = 1
STEP: Final = 2

CHUNK: Final = 256  # rows that are claimed at once
# A look at the board takes 25 to 45 ns. As many as these for an order that is about to come, and for
# a helper that is still at work before the processor is offered.
LOOKS: Final = 8000
PATIENCE: Final = 500

# What a polling thread tells the processor, so that it slows nobody else down: an intrinsic of LLVM
# with its arguments.
_PAUSES: Final[dict[str, tuple[str, tuple[int, ...]]]] = {
    **dict.fromkeys(("x86_64", "AMD64"), ("llvm.x86.sse2.pause", ())),
    **dict.fromkeys(("aarch64", "arm64"), ("llvm.aarch64.isb", (15,))),
}


def new_board(workers: int) -> npt.NDArray[np.int64]:
    """A board without orders for the caller, worker 0, and its helpers, all of them asleep."""
    board = np.zeros(PARTS + LINE * workers, np.int64)
    board[WORKERS] = 1
    board[PARTS + ASLEEP :: LINE] = 1
    return board


def _word(context: Any, builder: Any, board: Any, value: Any, index: Any) -> Any:
    return builder.gep(_arrays.make_array(board)(context, builder, value).data, [index])


def _atomic_load(typing_context: Any, board: Any, index: Any) -> Any:
    """A word that other threads write."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load_atomic(_word(context, builder, board, *args), "seq_cst", 8)

    return types.int64(board, types.int64), generate


def _atomic_store(typing_context: Any, board: Any, index: Any, word: Any) -> Any:
    """Write a word that other threads read; what was written before is seen before it."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = _word(context, builder, board, *args[:2])
        builder.store_atomic(args[2], place, "seq_cst", 8)
        return context.get_dummy_value()

    return types.none(board, types.int64, types.int64), generate


def _atomic_add(typing_context: Any, board: Any, index: Any, word: Any) -> Any:
    """Add to a word; returns what it was before."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = _word(context, builder, board, *args[:2])
        return builder.atomic_rmw("add", place, args[2], "seq_cst")

    return types.int64(board, types.int64, types.int64), generate


def _pause(typing_context: Any) -> Any:
    """Tell the processor that this thread polls."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        if platform.machine() in _PAUSES:
            name, given = _PAUSES[platform.machine()]
            word = _ir.IntType(32)
            kind = _ir.FunctionType(_ir.VoidType(), [word] * len(given))
            function = _tools.get_or_insert_function(builder.module, kind, name)
            builder.call(function, [word(number) for number in given])
        return context.get_dummy_value()

    return types.none(), generate


def _rows_at(typing_context: Any, like: Any, address: Any, start: Any, count: Any) -> Any:
    """Rows ``start`` to ``start + count`` of the array at an address, else as ``like``, C-ordered.

    None stays None. The rows hold no share in the memory's reference count.
    """
    if isinstance(like, types.NoneType):
        return types.none(like, types.int64, types.int64, types.int64), _nothing

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        source = _arrays.make_array(like)(context, builder, args[0])
        rows = _arrays.make_array(like)(context, builder)
        shape = _tools.unpack_tuple(builder, source.shape, like.ndim)
        strides = _tools.unpack_tuple(builder, source.strides, like.ndim)
        first = builder.add(args[1], builder.mul(args[2], strides[0]))
        _arrays.populate_array(
            rows,
            data=builder.inttoptr(first, source.data.type),
            shape=[args[3], *shape[1:]],
            strides=strides,
            itemsize=source.itemsize,
            meminfo=None,
            parent=None,
        )
        return rows._getvalue()

    return like(like, types.int64, types.int64, types.int64), generate


def _nothing(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    return context.get_dummy_value()


atomic_load: Final = _intrinsic(_atomic_load)
atomic_store: Final = _intrinsic(_atomic_store)
atomic_add: Final = _intrinsic(_atomic_add)
pause: Final = _intrinsic(_pause)
rows_at: Final = _intrinsic(_rows_at)

# Offers the processor to other threads.
give_way: Final[Any] = types.ExternalFunction(
    "SwitchToThread" if os.name == "nt" else "sched_yield", types.int32()
)


@njit(cache=True)
def address(array: Any) -> Any:
    """Where an array's memory begins."""
    return np.int64(array.ctypes.data)


@njit(cache=True)
def write_order(
    board: Any,
    options: Any,
    tables: Any,
    actions: Any,
    observation: Any,
    mask: Any,
    turn: Any,
    reward: Any,
    hands_ended: Any,
    terminated: Any,
    truncated: Any,
    forced: Any,
    one_hot: Any,
) -> None:
    """Write down what is to be done; ``options`` are (max_hands, by_match, auto_forced)."""
    board[MAX_HANDS], board[BY_MATCH], board[AUTO_FORCED] = options
    board[RECORDS] = address(tables)
    board[ACTIONS] = address(actions)
    board[OBSERVATION] = address(observation) if one_hot is None else address(one_hot)
    board[MASK] = address(mask)
    board[TURN] = address(turn)
    board[REWARD] = address(reward)
    board[HANDS_ENDED] = address(hands_ended)
    board[TERMINATED] = address(terminated)
    board[TRUNCATED] = address(truncated)
    board[FORCED] = address(forced)
    board[ILLEGAL] = 0


@njit(cache=True)
def post(board: Any, kind: Any, rows: Any) -> Any:
    """Open an order for ``rows`` rows, cut into a part a worker; nobody is at work. Its number."""
    workers = board[WORKERS]
    for k in range(workers):
        board[PARTS + LINE * k + NEXT] = rows * k // workers
        board[PARTS + LINE * k + END] = rows * (k + 1) // workers
    board[KIND] = kind
    board[NUMBER] += 1
    if workers > 1:
        atomic_store(board, OPEN, board[NUMBER])
    return board[NUMBER]


@njit(cache=True, nogil=True)
def close(board: Any) -> None:
    """Close the order and wait until nobody is at work."""
    atomic_store(board, OPEN, 0)
    looks = 0
    while atomic_load(board, INSIDE) != 0:
        looks += 1
        if looks % PATIENCE == 0:
            give_way()
        pause()


@njit(cache=True)
def enter(board: Any, last: Any, looks: Any) -> Any:
    """Helpers: wait for an order after number ``last`` and count in; its number, 0 after ``looks``."""
    for _ in range(looks):
        number = atomic_load(board, OPEN)
        if number != 0 and number != last:
            atomic_add(board, INSIDE, 1)
            if atomic_load(board, OPEN) == number:
                return number
            atomic_add(board, INSIDE, -1)
        pause()
    return np.int64(0)


@njit(cache=True)
def go_on(board: Any, me: Any, number: Any, rows: Any) -> Any:
    """The order after the one that ``me`` has nothing left to do for; 0 = none.

    The caller, worker 0, has the checked actions played if all are legal.
    """
    if me != 0:
        looks = np.int64(LOOKS) if board[KIND] == CHECK else board[LINGER]
        atomic_add(board, INSIDE, -1)
        return enter(board, number, looks)
    close(board)
    if board[KIND] == CHECK and board[ILLEGAL] == 0:
        return post(board, STEP, rows)
    return np.int64(0)


@njit(cache=True)
def claim(board: Any, me: Any) -> Any:
    """The next rows for worker ``me``: (first, count), count 0 when all are taken."""
    workers = board[WORKERS]
    for k in range(workers):
        part = PARTS + LINE * ((me + k) % workers)
        end = board[part + END]
        if atomic_load(board, part + NEXT) < end:
            start = atomic_add(board, part + NEXT, CHUNK)
            if start < end:
                return start, min(np.int64(CHUNK), end - start)
    return np.int64(0), np.int64(0)
