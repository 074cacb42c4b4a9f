"""Numba's start, spared an import that no kernel needs."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from typing import Any


def spare_scipy() -> None:
    """Let Numba take an installed SciPy for granted until its linear algebra is really used.

    At the first call of any kernel Numba imports ``scipy.linalg`` only to see whether it is there:
    a third of a second and 30 MB. Call this before that; later it does nothing.
    """
    if "numba.np.arraymath" in sys.modules:
        return
    linalg: Any = importlib.import_module("numba.np.linalg")
    ensure = getattr(linalg, "ensure_blas", None)
    if ensure is None:  # another Numba than those known
        return
    linalg.ensure_blas = _is_installed
    try:
        arrays: Any = importlib.import_module("numba.np.arraymath")
    finally:
        linalg.ensure_blas = ensure
    arrays.ensure_blas = ensure


def _is_installed() -> None:
    if importlib.util.find_spec("scipy") is None:
        raise ImportError("no SciPy")
