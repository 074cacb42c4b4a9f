"""Eight bytes at once: what the observation writes for each play, in a few vector instructions.

A *word* is eight bytes in an int64, the first play's in the lowest.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from numba import types
from numba.core import cgutils, config
from numba.extending import intrinsic
from numba.np import arrayobj

# Numba's inner parts have no types.
_config: Any = config
_tools: Any = cgutils
_arrays: Any = arrayobj
_ir: Any = _tools.ir

LANES: Final = 8


def _intrinsic(code: Callable[..., Any]) -> Any:
    return intrinsic(code)


def _at(context: Any, builder: Any, row: Any, value: Any, index: Any, kind: Any) -> Any:
    data = _arrays.make_array(row)(context, builder, value).data
    return builder.bitcast(builder.gep(data, [index]), kind.as_pointer())


@_intrinsic
def _word_of(typing_context: Any, entries: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        start = _ir.Constant(_ir.IntType(64), 0)
        where = _at(context, builder, entries, args[0], start, _ir.IntType(64))
        return builder.load(where, align=1)

    return types.int64(entries), generate


@_intrinsic
def _write_word(typing_context: Any, word: Any, row: Any, index: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        short = _ir.VectorType(_ir.IntType(16), LANES)
        lanes = builder.bitcast(args[0], _ir.VectorType(_ir.IntType(8), LANES))
        where = _at(context, builder, row, args[1], args[2], short)
        builder.store(builder.zext(lanes, short), where, align=2)
        return context.get_dummy_value()

    return types.void(types.int64, row, types.int64), generate


def _plain_word_of(entries: Any) -> Any:
    return int.from_bytes(entries.tobytes(), "little")


def _plain_write_word(word: Any, row: Any, index: Any) -> None:
    row[index : index + LANES] = [word >> 8 * k & 255 for k in range(LANES)]


# The first eight bytes from an array inside a record; a shorter one must have others behind it.
word_of: Final[Any] = _plain_word_of if _config.DISABLE_JIT else _word_of

# Write a word as eight int16 into a row, from an index on.
write_word: Final[Any] = _plain_write_word if _config.DISABLE_JIT else _write_word
