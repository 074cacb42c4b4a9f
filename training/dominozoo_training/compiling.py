"""Which kernels a command is about to compile, and what it says meanwhile."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from dominozoo.bots import kernels
from dominozoo.bots.search import kernel_of
from dominozoo.rules import Rules
from dominozoo.tables import FAMILIES


def of_tables(rules: Rules) -> Any:
    """The kernel that steps many tables of a game."""
    return FAMILIES[rules.variant.family].batch.step_tables


def of_game(rules: Rules) -> Any:
    """The kernel that plays one table of a game."""
    return FAMILIES[rules.variant.family].batch.step_one


def of_bots(rules: Rules) -> Any:
    """The kernel with which a game's scripted bots play on."""
    return kernels(rules).advance


def of_search(rules: Rules, entrants: Iterable[Any]) -> Any:
    """The kernel with which some players search; None if none of them does."""
    return kernel_of(rules) if any(entrant.choose for entrant in entrants) else None


def notice(kernel: Any, search: Any = None) -> str:
    """Why the first start takes so long, if a kernel that is needed isn't at hand; else "".

    Args:
        kernel: one that the command always needs; what it calls is compiled with it.
        search: one that brings the solver, a minute's worth of others; None = none is needed.
    """
    cache = getattr(kernel, "_cache", None)
    if cache is None:  # plain Python
        return ""
    if cache.cache_path is None:
        return "compiling the kernels, name a writable folder in NUMBA_CACHE_DIR to keep them"
    if search is not None and not is_kept(search):
        return "compiling the kernels that search, once; this takes a minute or two"
    return "" if is_kept(kernel) else "compiling the kernels, once; this takes a while"


def is_kept(kernel: Any) -> bool:
    """True if a compiled kernel was kept earlier."""
    return any(Path(kernel._cache.cache_path).glob(f"*.{kernel.__name__}-*.nbi"))
