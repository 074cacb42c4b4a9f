"""The one-hot form of observations, compiled: int16 rows become float32 rows.

``Layout.expand`` says in plain NumPy what the form is. Here the same field table becomes straight
vector code: eight columns at a time, each block one load, one shuffle, one comparison or division,
one store.

>>> import numpy as np
>>> from dominozoo.fields import LINE_LAYOUT
>>> from dominozoo.onehot import expand
>>> expand(LINE_LAYOUT, np.zeros((4, LINE_LAYOUT.size), np.int16)).shape
(4, 295)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types
from numba.core import cgutils, config
from numba.extending import intrinsic
from numba.np import arrayobj

from dominozoo.bits import row_of
from dominozoo.compiler import njit
from dominozoo.fields import (
    LINE_LAYOUT,
    LINE_STATE_LAYOUT,
    TRUC_LAYOUT,
    TRUC_STATE_LAYOUT,
    Layout,
)

# Numba's inner parts have no types.
_config: Any = config
_tools: Any = cgutils
_arrays: Any = arrayobj
_ir: Any = _tools.ir

LANES: Final = 8


class Columns(NamedTuple):
    """Where each column of the one-hot form comes from; vectors of length ``layout.columns``.

    Attributes:
        entry: int64, index into the observation; never falls, and rises by 1 at most.
        case: int64, the value for which the column is 1; 0 = the entry itself, divided.
        scale: float32, the divisor.
    """

    entry: npt.NDArray[np.int64]
    case: npt.NDArray[np.int64]
    scale: npt.NDArray[np.float32]


def columns_of(layout: Layout) -> Columns:
    """Read the columns from the field table."""
    entry: list[int] = []
    case: list[int] = []
    scale: list[int] = []
    at = 0
    for f in layout.fields:
        cases = range(1, f.high + 1) if f.kind == "category" else range(1)
        entry += [at + k for k in range(f.size) for _ in cases]
        case += [*cases] * f.size
        scale += [f.scale] * f.columns
        at += f.size
    return Columns(np.array(entry), np.array(case), np.array(scale, np.float32))


def _vector(kind: Any, values: Any = None) -> Any:
    """A constant of eight lanes, or what to start from."""
    vector = _ir.VectorType(kind, LANES)
    return _ir.Constant(vector, _ir.Undefined if values is None else list(values))


def _block(builder: Any, window: Any, columns: Columns, first: int, low: int) -> Any:
    """Eight float32 columns from ``first`` on, out of the eight entries from ``low`` on."""
    part = slice(first, first + LANES)
    entry, case, scale = (values[part].tolist() for values in columns)
    short, real = _ir.IntType(16), _ir.FloatType()
    picks = _vector(_ir.IntType(32), [e - low for e in entry])
    values = builder.shuffle_vector(window, _vector(short), picks)
    hot = numbers = None
    if any(case):
        same = builder.icmp_signed("==", values, _vector(short, case))
        hot = builder.uitofp(same, _ir.VectorType(real, LANES))
    if not all(case):
        numbers = builder.sitofp(values, _ir.VectorType(real, LANES))
        if set(scale) != {1.0}:
            numbers = builder.fdiv(numbers, _vector(real, scale))
    if hot is None or numbers is None:
        return hot or numbers
    return builder.select(_vector(_ir.IntType(1), [c > 0 for c in case]), hot, numbers)


def expander(layout: Layout) -> Any:
    """A function for kernels: ``(source, target)`` expands one row.

    It takes C-ordered vectors, int16 of length ``layout.size`` and float32 of ``layout.columns``,
    and returns nothing. A layout has at least eight entries.
    """
    columns = columns_of(layout)

    def plain(source: Any, target: Any) -> None:
        values = source[columns.entry]
        target[:] = np.where(columns.case > 0, values == columns.case, values / columns.scale)

    def code(typing_context: Any, source: Any, target: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            entries = _ir.VectorType(_ir.IntType(16), LANES)
            floats = _ir.VectorType(_ir.FloatType(), LANES)
            rows = zip((source, target), args, strict=True)
            data = [_arrays.make_array(kind)(context, builder, row).data for kind, row in rows]

            def at(row: Any, index: int, lanes: Any) -> Any:
                where = builder.gep(row, [_ir.Constant(_ir.IntType(64), index)])
                return builder.bitcast(where, lanes.as_pointer())

            # The last block ends with the row, whatever it writes twice.
            for first in [*range(0, layout.columns - LANES, LANES), layout.columns - LANES]:
                low = min(int(columns.entry[first]), layout.size - LANES)
                window = builder.load(at(data[0], low, entries), align=2)
                block = _block(builder, window, columns, first, low)
                builder.store(block, at(data[1], first, floats), align=4)
            return context.get_dummy_value()

        return types.void(source, target), generate

    return plain if _config.DISABLE_JIT else intrinsic(code)


expand_line: Final = expander(LINE_LAYOUT)
expand_line_state: Final = expander(LINE_STATE_LAYOUT)
expand_truc: Final = expander(TRUC_LAYOUT)
expand_truc_state: Final = expander(TRUC_STATE_LAYOUT)


@njit(cache=True, nogil=True)
def _line(sources: Any, targets: Any) -> None:
    for i in range(sources.shape[0]):
        expand_line(row_of(sources, i), row_of(targets, i))


@njit(cache=True, nogil=True)
def _line_state(sources: Any, targets: Any) -> None:
    for i in range(sources.shape[0]):
        expand_line_state(row_of(sources, i), row_of(targets, i))


@njit(cache=True, nogil=True)
def _truc(sources: Any, targets: Any) -> None:
    for i in range(sources.shape[0]):
        expand_truc(row_of(sources, i), row_of(targets, i))


@njit(cache=True, nogil=True)
def _truc_state(sources: Any, targets: Any) -> None:
    for i in range(sources.shape[0]):
        expand_truc_state(row_of(sources, i), row_of(targets, i))


# Each is compiled when it is first called.
_KERNELS: Final[dict[str, tuple[Layout, Callable[[Any, Any], None]]]] = {
    "line": (LINE_LAYOUT, _line),
    "line_state": (LINE_STATE_LAYOUT, _line_state),
    "truc": (TRUC_LAYOUT, _truc),
    "truc_state": (TRUC_STATE_LAYOUT, _truc_state),
}


def expand(
    layout: Layout, observation: npt.NDArray[Any], out: npt.NDArray[np.float32] | None = None
) -> npt.NDArray[np.float32]:
    """Expand observations to the one-hot form: what ``layout.expand`` returns, much faster.

    Args:
        layout: of the observations; one of ``dominozoo.fields``.
        observation: integers (..., layout.size), within int16.
        out: float32 (..., layout.columns), C-ordered, to write into; None makes a new array.

    Returns:
        ``out``, float32 (..., layout.columns).

    Raises:
        ValueError: a shape, dtype or order that doesn't fit; a layout that isn't in
            ``dominozoo.fields``.
    """
    known, kernel = _KERNELS.get(layout.name, (None, None))
    if kernel is None or known != layout:
        raise ValueError(f"layout {layout.name!r} isn't compiled: use its own expand")
    source = np.asarray(observation)
    if source.ndim == 0 or source.shape[-1] != layout.size or source.dtype.kind not in "iu":
        raise ValueError(
            f"observation must be integers of shape (..., {layout.size}), "
            f"not {source.dtype} of shape {source.shape}"
        )
    shape = (*source.shape[:-1], layout.columns)
    target = np.empty(shape, np.float32) if out is None else out
    if target.shape != shape or target.dtype != np.float32:
        raise ValueError(
            f"out must be float32 of shape {shape}, not {target.dtype} of shape {target.shape}"
        )
    if not (target.flags.c_contiguous and target.flags.writeable):
        raise ValueError("out must be C-ordered and writable")
    rows = np.ascontiguousarray(source, np.int16).reshape(-1, layout.size)
    kernel(rows, target.reshape(-1, layout.columns))
    return target
