"""Small tools of the kernels: bit masks of up to 63 bits, and rows of matrices.

Masks are int64 throughout: Numba turns uint64 with int64 into float64. What Numba lacks is added by
intrinsics, written for LLVM so that they hold on every platform: vectors become what the processor
has. With ``NUMBA_DISABLE_JIT=1`` plain Python stands in.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numba import types
from numba.core import cgutils, codegen, config
from numba.extending import intrinsic
from numba.np import arrayobj

from dominozoo.compiler import njit
from dominozoo.tiles import TILE_COUNT

# Numba's inner parts have no types, and an intrinsic is called without the first argument of its
# definition, which type checkers can't know.
_config: Any = config
_tools: Any = cgutils
_arrays: Any = arrayobj
_ir: Any = _tools.ir
_binding: Any = codegen

LANES: Final = 16  # entries that the spreading tools write at once


def _or_plain(code: Callable[..., Any], plain: Callable[..., Any]) -> Any:
    """The intrinsic, or its stand-in without compilation."""
    return plain if _config.DISABLE_JIT else intrinsic(code)


def _count_ones(typing_context: Any, mask: Any) -> Any:
    """The processor's own population count, through LLVM on every platform."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.int64), generate


def _count_zeros_below(typing_context: Any, mask: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], context.get_constant(types.boolean, False))

    return types.int64(types.int64), generate


def _count_zeros_above(typing_context: Any, mask: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        zeros = builder.ctlz(args[0], context.get_constant(types.boolean, False))
        return builder.sub(context.get_constant(types.int64, 63), zeros)

    return types.int64(types.int64), generate


def _deposit_bits(typing_context: Any, source: Any, mask: Any) -> Any:
    """BMI2's pdep: the bits of ``source`` from the lowest on, put where ``mask`` has ones."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        word = _ir.IntType(64)
        pdep = _tools.get_or_insert_function(
            builder.module, _ir.FunctionType(word, [word, word]), "llvm.x86.bmi.pdep.64"
        )
        return builder.call(pdep, args)

    return types.int64(types.int64, types.int64), generate


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


def _fetch_ahead(typing_context: Any, array: Any, index: Any) -> Any:
    """Ask for the first line of cache of an entry that is wanted soon; past the end it is no harm."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        source = _arrays.make_array(array)(context, builder, args[0])
        at = builder.mul(args[1], source.itemsize)
        line = _tools.pointer_add(builder, source.data, at)
        small = _ir.IntType(32)
        kind = _ir.FunctionType(_ir.VoidType(), [line.type, small, small, small])
        fetch = _tools.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(fetch, [line, small(0), small(3), small(1)])  # to read, to keep, data
        return context.get_dummy_value()

    return types.none(array, types.int64), generate


def _vector(lane: Any, count: int) -> Any:
    return _ir.VectorType(lane, count)


def _entries(context: Any, builder: Any, array: Any, value: Any, at: Any, lanes: int) -> Any:
    """Pointer to ``lanes`` entries of an array from index ``at`` on, as one vector."""
    data = _arrays.make_array(array)(context, builder, value).data
    vector = _vector(context.get_value_type(array.dtype), lanes)
    return builder.bitcast(builder.gep(data, [at]), vector.as_pointer())


def _store_wide(context: Any, builder: Any, row: Any, args: Any, vector: Any, lanes: int) -> Any:
    """Store a vector of smaller unsigned integers into ``row``, args (row, at, ...)."""
    wide = builder.zext(vector, _vector(context.get_value_type(row.dtype), lanes))
    builder.store(wide, _entries(context, builder, row, args[0], args[1], lanes), align=1)
    return context.get_dummy_value()


def _flags_writer(lanes: int) -> Any:
    """Intrinsic (row, at, mask): the lowest bits of a mask as ``lanes`` zeros and ones."""

    def write(typing_context: Any, row: Any, at: Any, mask: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            word = builder.trunc(args[2], _ir.IntType(lanes))
            flags = builder.bitcast(word, _vector(_ir.IntType(1), lanes))
            return _store_wide(context, builder, row, args, flags, lanes)

        return types.none(row, types.int64, types.int64), generate

    return write


def _write_bytes(typing_context: Any, row: Any, at: Any, word: Any) -> Any:
    """The four bytes of a 32-bit word, the lowest first, as four entries."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        four = builder.bitcast(builder.trunc(args[2], _ir.IntType(32)), _vector(_ir.IntType(8), 4))
        return _store_wide(context, builder, row, args, four, 4)

    return types.none(row, types.int64, types.int64), generate


def _copy_bytes(typing_context: Any, row: Any, at: Any, source: Any, start: Any) -> Any:
    """Sixteen bytes of ``source`` from index ``start`` on, as sixteen entries."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = _entries(context, builder, source, args[2], args[3], LANES)
        small = builder.load(pointer, align=1)
        return _store_wide(context, builder, row, args, small, LANES)

    return types.none(row, types.int64, source, types.int64), generate


def _copy_seats(
    typing_context: Any, row: Any, at: Any, source: Any, start: Any, me: Any, players: Any
) -> Any:
    """As :func:`_copy_bytes`, seats + 1 counted from ``me``: 1 = me; 0 stays 0."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        byte = _ir.IntType(8)
        lanes = _vector(byte, LANES)

        def all_lanes(value: Any) -> Any:
            one = builder.insert_element(
                _ir.Constant(lanes, _ir.Undefined), builder.trunc(value, byte), _ir.IntType(32)(0)
            )
            zeros = _ir.Constant(_vector(_ir.IntType(32), LANES), None)
            return builder.shuffle_vector(one, one, zeros)

        none = _ir.Constant(lanes, None)
        seats = builder.load(_entries(context, builder, source, args[2], args[3], LANES), align=1)
        away = builder.sub(seats, all_lanes(args[4]))
        past = builder.icmp_signed("<=", away, none)
        away = builder.select(past, builder.add(away, all_lanes(args[5])), away)
        away = builder.select(builder.icmp_signed("==", seats, none), none, away)
        return _store_wide(context, builder, row, args, away, LANES)

    return types.none(row, types.int64, source, types.int64, types.int64, types.int64), generate


def _load_word(typing_context: Any, source: Any) -> Any:
    """The first four bytes of ``source`` as a 32-bit word, the first one lowest."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        zero = context.get_constant(types.int64, 0)
        pointer = _entries(context, builder, source, args[0], zero, 4)
        word = builder.bitcast(builder.load(pointer, align=1), _ir.IntType(32))
        return builder.zext(word, _ir.IntType(64))

    return types.int64(source), generate


def _seven_tiles(typing_context: Any, deck: Any, at: Any) -> Any:
    """The mask of seven tiles from a place of the deck on, byte by byte.

    To load them as a vector takes longer: the shuffle has only just written them, and such a load
    waits until the last of its bytes has left the processor's store buffer.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = _arrays.make_array(deck)(context, builder, args[0]).data
        word = _ir.IntType(64)
        bits_of = []
        for k in range(7):
            tile = builder.load(builder.gep(data, [builder.add(args[1], word(k))]))
            bits_of.append(builder.shl(word(1), builder.zext(tile, word)))
        return functools.reduce(builder.or_, bits_of)

    return types.int64(deck, types.int64), generate


def _plain_row_of(matrix: Any, index: Any) -> Any:
    return matrix[index]


def _plain_fetch_ahead(array: Any, index: Any) -> None:
    pass


def _plain_bits(mask: Any) -> Any:
    return int(mask).bit_count()


def _plain_lowest(mask: Any) -> Any:
    return (int(mask) & -int(mask)).bit_length() - 1 if mask else 64


def _plain_highest(mask: Any) -> Any:
    return int(mask).bit_length() - 1


def _plain_deposit(source: Any, mask: Any) -> Any:
    result, rest = 0, int(mask)
    while rest and source:
        result |= (rest & -rest) * (int(source) & 1)
        rest, source = rest & rest - 1, int(source) >> 1
    return result


def _plain_flags16(row: Any, at: Any, mask: Any) -> None:
    for k in range(16):
        row[at + k] = int(mask) >> k & 1


def _plain_flags32(row: Any, at: Any, mask: Any) -> None:
    for k in range(32):
        row[at + k] = int(mask) >> k & 1


def _plain_write_bytes(row: Any, at: Any, word: Any) -> None:
    for k in range(4):
        row[at + k] = int(word) >> 8 * k & 255


def _plain_copy_bytes(row: Any, at: Any, source: Any, start: Any) -> None:
    row[at : at + LANES] = source[start : start + LANES]


def _plain_copy_seats(row: Any, at: Any, source: Any, start: Any, me: Any, players: Any) -> None:
    for k in range(LANES):
        seat = int(source[start + k])
        row[at + k] = (seat - 1 - me) % players + 1 if seat else 0


def _plain_seven_tiles(deck: Any, at: Any) -> Any:
    return sum(1 << int(tile) for tile in deck[at : at + 7])


def _plain_load_word(source: Any) -> Any:
    return sum(int(source[k]) << 8 * k for k in range(4))


# Row of a C-ordered matrix that outlives it. `matrix[index]` counts references atomically, 40 ns
# each time it is handed to a function: more than writing an action mask takes.
row_of: Final = _or_plain(_borrowed_row, _plain_row_of)

fetch_ahead: Final = _or_plain(_fetch_ahead, _plain_fetch_ahead)

# Number of ones in a mask.
bits: Final = _or_plain(_count_ones, _plain_bits)

# Index of the lowest one in a mask, 64 if there is none; of the highest one, else -1.
lowest: Final = _or_plain(_count_zeros_below, _plain_lowest)
highest: Final = _or_plain(_count_zeros_above, _plain_highest)

deposit: Final = _or_plain(_deposit_bits, _plain_deposit)
flags16: Final = _or_plain(_flags_writer(16), _plain_flags16)
flags32: Final = _or_plain(_flags_writer(32), _plain_flags32)
write_bytes: Final = _or_plain(_write_bytes, _plain_write_bytes)
copy_bytes: Final = _or_plain(_copy_bytes, _plain_copy_bytes)
copy_seats: Final = _or_plain(_copy_seats, _plain_copy_seats)
load_word: Final = _or_plain(_load_word, _plain_load_word)
seven_tiles: Final = _or_plain(_seven_tiles, _plain_seven_tiles)


def nth_by_deposit(mask: Any, n: Any) -> Any:
    """:func:`nth` by BMI2: no branch that depends on ``n``."""
    return lowest(deposit(np.int64(1) << n, mask))


def nth_by_loop(mask: Any, n: Any) -> Any:
    """:func:`nth` on any processor."""
    for _ in range(n):
        mask &= mask - 1
    return lowest(mask)


def has_deposit() -> bool:
    """True where Numba compiles for a processor with pdep."""
    if sys.maxsize < 1 << 32 or _config.DISABLE_JIT:
        return False
    chosen: str | None = _config.CPU_FEATURES
    if chosen is not None:
        return "+bmi2" in chosen.split(",")
    return bool(_binding.ll.get_host_cpu_features().get("bmi2", False))


# Index of the n-th one in a mask, from 0; 64 if there are no more than n.
nth: Final = njit(cache=True)(nth_by_deposit if has_deposit() else nth_by_loop)


@njit(cache=True, inline="always")
def spread_tiles(mask: Any, row: Any, at: Any) -> None:
    """Write a mask of 28 tiles as 28 zeros and ones into a row of integers, from index ``at`` on.

    Two vectors that overlap; LLVM makes no vectors of a loop over bits.
    """
    flags16(row, at, mask)
    flags16(row, at + TILE_COUNT - LANES, mask >> (TILE_COUNT - LANES))


@njit(cache=True, inline="always")
def spread_actions(mask: Any, row: Any, at: Any, count: Any) -> None:
    """Write a mask of 32..63 actions as ``count`` zeros and ones, as :func:`spread_tiles`."""
    flags32(row, at, mask)
    flags32(row, at + count - 32, mask >> (count - 32))
