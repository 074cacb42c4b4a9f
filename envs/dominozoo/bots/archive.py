"""Reading a bot bundle that nobody vouches for: a zip of data, never unpacked, never executed.

Every member has a known name and a size limit; JSON has a depth limit; weights are read by a small
reader of safetensors that checks each offset. Whatever is wrong raises :class:`BundleError`.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import re
import stat
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

MANIFEST: Final = "manifest.json"
GRAPH: Final = "policy.onnx"
WEIGHTS: Final = "weights.safetensors"
VECTORS: Final = "vectors.jsonl"
GAMES: Final = "games.jsonl"  # older bundles have none
CARD: Final = "card.md"
REQUIRED: Final = (MANIFEST, GRAPH, WEIGHTS, VECTORS, CARD)

# What a bundle may hold, and how large each may be in bytes.
LIMITS: Final[dict[str, int]] = {
    MANIFEST: 1 << 16,
    GRAPH: 1 << 24,
    WEIGHTS: 1 << 24,
    VECTORS: 1 << 22,
    CARD: 1 << 18,
    GAMES: 1 << 23,
    "contract.json": 1 << 18,
    "CONTRACT.md": 1 << 18,
    "LICENSE": 1 << 16,
    "NOTICE": 1 << 16,
}
MAX_ENTRIES: Final = 16
MAX_RATIO: Final = 100  # unpacked to packed
MAX_FILE: Final = 40 << 20
MAX_DEPTH: Final = 12
MAX_HEADER: Final = 1 << 20
DTYPES: Final[dict[str, str]] = {"F32": "<f4", "F16": "<f2"}

_ZIP_START: Final = b"PK\x03\x04"
_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)


class BundleError(ValueError):
    """A file that is no bundle, a damaged one, or one that this version cannot play."""


def read_members(path: str | Path) -> dict[str, bytes]:
    """Read all members of a bundle into memory.

    Returns:
        The contents by name; every required member is there.

    Raises:
        BundleError: if the file cannot be read, is no zip, or holds anything unexpected.
        TypeError: if it is no path; numbers would name files that are open.
    """
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"a bundle's path must be a text or a path, not {path!r}")
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_FILE + 1)
    except OSError as error:
        raise BundleError(f"cannot read {path}: {error.strerror or error}") from error
    return unpack(data, str(path))


def unpack(data: bytes, path: str) -> dict[str, bytes]:
    """The members of a bundle's bytes; ``path`` is what errors name. Raises as :func:`read_members`."""
    if len(data) > MAX_FILE:
        raise BundleError(f"{path} is larger than {MAX_FILE >> 20} MiB: no bundle")
    if not data.startswith(_ZIP_START):
        raise BundleError(f"{path} is no bundle: it is not a zip file")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return _read_all(archive)
    except BundleError as error:
        raise BundleError(f"{path}: {error}") from None
    except (
        *(zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError),
        *(ValueError, OverflowError, IndexError, OSError),
    ) as error:
        raise BundleError(f"{path} is truncated or damaged: {error}") from error


def _read_all(archive: zipfile.ZipFile) -> dict[str, bytes]:
    entries = archive.infolist()
    if len(entries) > MAX_ENTRIES:
        raise BundleError(f"{len(entries)} entries, at most {MAX_ENTRIES} are allowed")
    members: dict[str, bytes] = {}
    for entry in entries:
        _check_entry(entry)
        if entry.filename in members:
            raise BundleError(f"{entry.filename} stands twice")
        with archive.open(entry) as stream:
            content = stream.read(LIMITS[entry.filename] + 1)
        if len(content) != entry.file_size:
            raise BundleError(f"{entry.filename} has not the size that it claims")
        members[entry.filename] = content
    for name in REQUIRED:
        if name not in members:
            raise BundleError(f"{name} is missing")
    return members


def _check_entry(entry: zipfile.ZipInfo) -> None:
    """Refuse an entry by what its header says, before anything of it is unpacked."""
    name = entry.orig_filename
    if name not in LIMITS or name != entry.filename:
        raise BundleError(f"unexpected entry {name[:80]!r}; a bundle holds {', '.join(LIMITS)}")
    mode = entry.external_attr >> 16
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        raise BundleError(f"{name} is a link or no plain file")
    if entry.flag_bits & 0x1:
        raise BundleError(f"{name} is encrypted")
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise BundleError(f"{name} is packed by a method other than store and deflate")
    if entry.file_size > LIMITS[name]:
        raise BundleError(f"{name} has {entry.file_size} bytes, at most {LIMITS[name]} are allowed")
    if entry.file_size > MAX_RATIO * max(entry.compress_size, 1):
        raise BundleError(f"{name} unpacks to more than {MAX_RATIO} times its packed size")


def check_sums(members: Mapping[str, bytes], files: object) -> None:
    """Compare every member but the manifest with the manifest's ``files``.

    Raises:
        BundleError: if a file is not listed, listed but missing, or not what its checksum says.
    """
    if not isinstance(files, dict):
        raise BundleError(f"{MANIFEST}: files must be an object")
    others = {name for name in members if name != MANIFEST}
    if set(files) != others:
        odd = min(set(files) ^ others)
        raise BundleError(f"{MANIFEST} and the bundle disagree about {str(odd)[:80]!r}")
    for name in sorted(others):
        entry = files[name]
        sha, size = (entry.get("sha256"), entry.get("bytes")) if isinstance(entry, dict) else (0, 0)
        if size != len(members[name]) or sha != hashlib.sha256(members[name]).hexdigest():
            raise BundleError(f"{name} is not the file that {MANIFEST} describes: checksum differs")


def read_json(data: bytes, name: str) -> Any:
    """Read JSON strictly: UTF-8, no duplicate keys, no NaN, at most ``MAX_DEPTH`` levels.

    Raises:
        BundleError: with ``name`` and the reason.
    """
    try:
        text = data.decode("utf-8")
        depth = 0
        for bracket in re.findall(r"[\[\]{}]", _STRING.sub("", text)):
            depth += 1 if bracket in "[{" else -1
            if depth > MAX_DEPTH:
                raise ValueError(f"nested deeper than {MAX_DEPTH} levels")
        return json.loads(text, object_pairs_hook=_no_duplicates, parse_constant=_no_constant)
    except ValueError as error:
        raise BundleError(f"{name} is not valid: {error}") from None


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return found


def _no_constant(word: str) -> float:
    raise ValueError(f"{word} is no JSON number")


def read_weights(data: bytes) -> dict[str, npt.NDArray[np.float32]]:
    """Read safetensors bytes: the tensors by name, as float32 copies.

    Raises:
        BundleError: if header and data don't fit each other exactly, a type is not F32 or F16, or
            a number is not finite.
    """
    length = int.from_bytes(data[:8], "little")
    if len(data) < 8 or length > min(MAX_HEADER, len(data) - 8):
        raise BundleError(f"{WEIGHTS}: the header is longer than the file or its limit")
    header = read_json(data[8 : 8 + length], f"{WEIGHTS}: the header")
    if not isinstance(header, dict):
        raise BundleError(f"{WEIGHTS}: the header must be an object")
    header.pop("__metadata__", None)
    body = data[8 + length :]
    tensors: dict[str, npt.NDArray[np.float32]] = {}
    covered = 0
    for name, entry in sorted(header.items(), key=_offset):
        dtype, shape, start, stop = _check_tensor(name, entry)
        if start != covered or stop > len(body):
            raise BundleError(f"{WEIGHTS}: {name!r} overlaps, leaves a gap or ends outside")
        covered = stop
        values = np.frombuffer(body[start:stop], dtype).reshape(shape).astype(np.float32)
        if not np.isfinite(values).all():
            raise BundleError(f"{WEIGHTS}: {name!r} holds numbers that are not finite")
        tensors[name] = values
    if covered != len(body):
        raise BundleError(f"{WEIGHTS}: {len(body) - covered} bytes belong to no tensor")
    return tensors


def _offset(item: tuple[str, Any]) -> int:
    name, entry = item
    return _check_tensor(name, entry)[2]


def _check_tensor(name: str, entry: Any) -> tuple[str, list[int], int, int]:
    """One entry of the header as (NumPy dtype, shape, start, stop)."""
    if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
        raise BundleError(f"{WEIGHTS}: {name!r} needs dtype, shape and data_offsets")
    dtype, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(dtype, str) or dtype not in DTYPES:
        raise BundleError(f"{WEIGHTS}: {name!r} has the type {dtype!r}; only F32 and F16 are read")
    if not _naturals(shape) or len(shape) > 4 or not _naturals(offsets) or len(offsets) != 2:
        raise BundleError(f"{WEIGHTS}: shape or offsets of {name!r} are no lists of sizes")
    start, stop = offsets
    if stop - start != math.prod(shape) * np.dtype(DTYPES[dtype]).itemsize:
        raise BundleError(f"{WEIGHTS}: the offsets of {name!r} don't fit its shape")
    return DTYPES[dtype], shape, start, stop


def _naturals(values: Any) -> bool:
    return isinstance(values, list) and all(
        type(value) is int and 0 <= value <= MAX_FILE for value in values
    )
