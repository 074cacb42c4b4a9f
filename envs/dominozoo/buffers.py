"""Arrays of the caller that a step writes into: what they must be."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any, TypedDict

import numpy as np
import numpy.typing as npt


class Views(TypedDict, total=False):
    """Arrays that say what each table waits for, by their names in ``Tables``."""

    observation: Any
    mask: Any
    turn: Any


class Buffers(Views, total=False):
    """Every array that a step writes, by its name in ``Tables``."""

    reward: Any
    hands_ended: Any
    terminated: Any
    truncated: Any
    forced: Any


def as_buffer(
    name: str, given: Any, dtype: np.dtype[Any], shape: tuple[int, ...]
) -> npt.NDArray[Any]:
    """The caller's memory as a NumPy array.

    Args:
        name: what to call it in errors.
        given: a NumPy array, or what shares its memory through ``__array__`` or DLPack, such as a
            torch tensor on the CPU.
        dtype: that it must have.
        shape: that it must have.

    Raises:
        ValueError: memory that can't be shared, or not as asked.
    """
    array = _shared(name, given)
    if array.dtype != dtype or array.shape != shape:
        raise ValueError(
            f"{name} must be {dtype} of shape {shape}, not {array.dtype} of shape {array.shape}"
        )
    if not array.flags.carray:
        raise ValueError(f"{name} must be C-ordered, aligned and writable")
    return array


def refuse_overlaps(given: Mapping[str, Any], held: Mapping[str, Any]) -> None:
    """Refuse arrays that would write over each other.

    Args:
        given: the new arrays by name, each contiguous.
        held: others by name; what is given replaces them.

    Raises:
        ValueError: two of them share memory.
    """
    for (one, array), (other, taken) in combinations({**held, **given}.items(), 2):
        if np.may_share_memory(array, taken):  # exact, since they are contiguous
            raise ValueError(f"{one} and {other} overlap in memory: give each its own")


def _shared(name: str, given: Any) -> npt.NDArray[Any]:
    if isinstance(given, np.ndarray):
        return np.asarray(given)
    try:
        if not hasattr(given, "__array__") and hasattr(given, "__dlpack__"):
            return np.from_dlpack(given)
        array, again = np.asarray(given), np.asarray(given)
    except Exception as error:
        raise ValueError(f"{name} can't be shared with NumPy: {error}") from error
    if array.__array_interface__["data"] != again.__array_interface__["data"]:  # copies
        raise ValueError(
            f"{name} must be a NumPy array or a tensor that shares its memory, "
            f"not {type(given).__name__}"
        )
    return array
