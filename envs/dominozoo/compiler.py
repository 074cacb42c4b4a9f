"""Numba's compiler as the kernels use it.

Compiled code is kept beside the sources, or in the user's cache where that folder is read-only, or
in ``NUMBA_CACHE_DIR``. Where none of them can be written, as for a service without a home, Numba
refuses to compile at all; then the kernels are compiled anew in each process.
"""

from __future__ import annotations

import functools
import gc
from collections.abc import Callable
from typing import Any, Final, TypeVar

import numba

from dominozoo.numba_start import spare_scipy

spare_scipy()

Function = TypeVar("Function", bound=Callable[..., Any])
_numba: Any = numba  # its own types don't let options be handed on

# No entry for C, which nobody calls: a tenth of the time that compiling takes.
_LEAN: Final = {"no_cfunc_wrapper": True}


def njit(**options: Any) -> Callable[[Function], Function]:
    """``numba.njit(**options)``, without ``cache`` where there is no folder to keep it in."""

    def compiled(function: Function) -> Function:
        try:
            kernel: Function = _numba.njit(**{**_LEAN, **options})(function)
        except RuntimeError as error:
            if "no locator available" not in str(error):
                raise
            kernel = _numba.njit(**{**_LEAN, **options, "cache": False})(function)
        _spare_collections(kernel)
        return kernel

    return compiled


def helper(**options: Any) -> Callable[[Function], Function]:
    """Numba's compiler for what other kernels call and Python doesn't: it has no entry for Python.

    That saves a twentieth of the time that compiling takes. Numba itself would crash where Python
    calls one; here that is a TypeError.
    """

    def compiled(function: Function) -> Function:
        kernel: Any = njit(cache=True, no_cpython_wrapper=True, **options)(function)
        if kernel is function:  # nothing is compiled
            return function
        if not (hasattr(kernel, "_insert") and hasattr(kernel, "_compile_for_args")):
            return njit(cache=True, **options)(function)  # another Numba than those known
        kernel._insert = _find_nothing
        kernel._compile_for_args = functools.partial(_refuse, function.__qualname__)
        refusing: Function = kernel
        return refusing

    return compiled


def _find_nothing(*_: Any) -> None:
    """What is compiled isn't shown to callers from Python."""


def _refuse(name: str, *_: Any, **__: Any) -> None:
    raise TypeError(f"{name}: only kernels call it; wrap it in one with numba.njit")


def _spare_collections(kernel: Any) -> None:
    """Let a kernel be compiled without looking for garbage, which takes a tenth of the time.

    The compiler makes objects by the million, and each of Python's looks goes over all that Numba
    holds.
    """
    compile_anew = getattr(kernel, "_compile_for_args", None)
    if compile_anew is None:  # nothing is compiled, or by another Numba than those known
        return

    @functools.wraps(compile_anew)
    def without_collecting(*args: Any, **more: Any) -> Any:
        collecting = gc.isenabled()
        gc.disable()
        try:
            return compile_anew(*args, **more)
        finally:
            if collecting:
                gc.enable()

    kernel._compile_for_args = without_collecting
