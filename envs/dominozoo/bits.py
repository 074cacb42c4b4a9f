"""Small tools of the kernels: bit masks of up to 63 bits, and rows of matrices.

Masks are int64 throughout: Numba turns uint64 with int64 into float64. What Numba lacks is added by
intrinsics; with ``NUMBA_DISABLE_JIT=1`` plain Python stands in.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from numba import types
from numba.core import cgutils, config
from numba.extending import intrinsic
from numba.np import arrayobj

from dominozoo.compiler import njit
from dominozoo.tiles import TILE_COUNT

# Numba's inner parts have no types, and an intrinsic is called without the first argument of its
# definition, which type checkers can't know.
_config: Any = config
_tools: Any = cgutils
_arrays: Any = arrayobj


def _intrinsic(code: Callable[..., Any]) -> Any:
    return intrinsic(code)


@_intrinsic
def _count_ones(typing_context: Any, mask: Any) -> Any:
    """The processor's own population count, through LLVM on every platform."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.int64), generate


@_intrinsic
def _count_zeros_below(typing_context: Any, mask: Any) -> Any:
    """Number of zeros below the lowest one; undefined for 0."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], context.get_constant(types.boolean, True))

    return types.int64(types.int64), generate


@_intrinsic
def _borrowed_row(typing_context: Any, matrix: Any, index: Any) -> Any:
    """Row ``index`` of a C-ordered matrix, without a share in its memory's reference count."""
    row_type = types.Array(matrix.dtype, 1, "C")

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        source = _arrays.make_array(matrix)(context, builder, args[0])
        row = _arrays.make_array(row_type)(context, builder)
        shape = _tools.unpack_tuple(builder, source.shape, 2)
        strides = _tools.unpack_tuple(builder, source.strides, 2)
        at = builder.mul(args[1], strides[0])
        _arrays.populate_array(
            row,
            data=_tools.pointer_add(builder, source.data, at, source.data.type),
            shape=[shape[1]],
            strides=[strides[1]],
            itemsize=source.itemsize,
            meminfo=None,
            parent=None,
        )
        return row._getvalue()

    return row_type(matrix, types.int64), generate


def _row_of(matrix: Any, index: Any) -> Any:
    return _borrowed_row(matrix, np.int64(index))


def _bits(mask: Any) -> Any:
    return _count_ones(np.int64(mask))


def _lowest(mask: Any) -> Any:
    return _count_zeros_below(np.int64(mask))


def _plain_row_of(matrix: Any, index: Any) -> Any:
    return matrix[index]


def _plain_bits(mask: Any) -> Any:
    return int(mask).bit_count()


def _plain_lowest(mask: Any) -> Any:
    return (int(mask) & -int(mask)).bit_length() - 1


def _compiled(function: Callable[..., Any], plain: Callable[..., Any]) -> Callable[..., Any]:
    """The function compiled into its callers, or its stand-in without compilation."""
    if _config.DISABLE_JIT:
        return plain
    inlined: Callable[..., Any] = njit(cache=True, inline="always")(function)
    return inlined


# Row of a C-ordered matrix that outlives it. `matrix[index]` counts references atomically, 40 ns
# each time it is handed to a function: more than writing an action mask takes.
row_of: Final = _compiled(_row_of, _plain_row_of)

# Number of ones in a mask.
bits: Final = _compiled(_bits, _plain_bits)

# Index of the lowest one in a mask that isn't 0.
lowest: Final = _compiled(_lowest, _plain_lowest)

# A byte's bits as eight entries: one load and store instead of eight shifts, which LLVM
# doesn't vectorise for rows of small integers.
_SPREAD8: Final[npt.NDArray[np.int8]] = np.array(
    [[byte >> k & 1 for k in range(8)] for byte in range(256)], np.int8
)
_SPREAD16: Final[npt.NDArray[np.int16]] = _SPREAD8.astype(np.int16)


@njit(cache=True)
def spread_tiles8(mask: Any, row: Any, at: Any) -> None:
    """Write a mask of 28 tiles as 28 zeros and ones into an int8 row, from index ``at`` on."""
    for k in range(3):
        byte = mask >> (8 * k) & 255
        for j in range(8):
            row[at + 8 * k + j] = _SPREAD8[byte, j]
    byte = mask >> 24 & 15
    for j in range(TILE_COUNT - 24):
        row[at + 24 + j] = _SPREAD8[byte, j]


@njit(cache=True)
def spread_tiles16(mask: Any, row: Any, at: Any) -> None:
    """Write a mask of 28 tiles as 28 zeros and ones into an int16 row, from index ``at`` on."""
    for k in range(3):
        byte = mask >> (8 * k) & 255
        for j in range(8):
            row[at + 8 * k + j] = _SPREAD16[byte, j]
    byte = mask >> 24 & 15
    for j in range(TILE_COUNT - 24):
        row[at + 24 + j] = _SPREAD16[byte, j]


@njit(cache=True)
def spread_numbers16(mask: Any, row: Any, at: Any) -> None:
    """Write a mask of the numbers 0..6 as 7 zeros and ones into an int16 row."""
    for j in range(7):
        row[at + j] = _SPREAD16[mask, j]
