"""The folders that policies and runs lie in: finding, reading and writing them, without torch."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any, Final

FORMAT: Final = 1
WEIGHTS: Final = "weights.safetensors"
META: Final = "meta.json"
CARD: Final = "card.md"
CHECKPOINTS: Final = "checkpoints"
BEST: Final = "best"
PUBLISHED: Final = "policy"  # a finished run's, with its card and measured strength
LARGEST: Final = 64 << 20  # bytes; a larger weights file isn't read at all


class CheckpointError(ValueError):
    """A checkpoint that can't be read, or a folder that can't be written; one line says why."""


def write_folder(folder: Path, files: dict[str, bytes]) -> None:
    """Write a folder so that it is there with all its files or not at all; an old one is replaced.

    Raises:
        CheckpointError: if it can't be written (no permission, disk full); nothing is left behind.
    """
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        room = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    except OSError as error:
        raise cannot_write(folder, error) from error
    try:
        new, old = room / "new", room / "old"
        new.mkdir()
        for name, data in files.items():
            write_file(new / name, data)
        if folder.exists():
            folder.rename(old)
        new.rename(folder)
    except OSError as error:
        raise cannot_write(folder, error) from error
    finally:
        shutil.rmtree(room, ignore_errors=True)


def write_file(path: Path, data: bytes) -> None:
    """Write a file and wait until it lies on the disk."""
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def cannot_write(path: Path, error: OSError) -> CheckpointError:
    """The error of a place that refuses to be written."""
    return CheckpointError(f"can't write {path}: {error.strerror or error}")


def require_writable(folder: Path) -> None:
    """Make a folder and try to write into it, before hours are spent on what goes there.

    Raises:
        CheckpointError: if that fails.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise cannot_write(folder, error) from error


def checkpoints_of(run: Path) -> list[Path]:
    """The checkpoints of a run, oldest first."""
    folder = run / CHECKPOINTS
    return sorted(path for path in folder.glob("[0-9]*") if path.is_dir())


def policy_folder(path: str | Path) -> Path:
    """The folder that a name means: a checkpoint, a run (its last checkpoint), ``run@best``.

    Raises:
        CheckpointError: if there is none.
    """
    name, _, which = str(path).rpartition("@") if not Path(path).exists() else (str(path), "", "")
    if which not in ("", "last", BEST):
        name, which = str(path), ""
    folder = Path(name)
    if not folder.is_dir():
        raise CheckpointError(f"{folder} is no folder of a policy or a run")
    if which == BEST:
        if not (folder / BEST / META).is_file():
            raise CheckpointError(
                f"{folder} has no {BEST}/: a run keeps its best policy from its first evaluation on, "
                f"which evaluation.every_minutes sets; {folder} alone names its last policy"
            )
        return folder / BEST
    if which or not (folder / META).exists():
        found = checkpoints_of(folder)
        if not found:
            raise CheckpointError(f"{folder} holds neither {META} nor a run with checkpoints")
        return found[-1] if which else finished(folder, found[-1])
    return folder


def finished(run: Path, last: Path) -> Path:
    """A run's published policy, with its strength, if it is what the last checkpoint holds."""
    published = run / PUBLISHED
    if not (published / META).is_file():
        return last
    same = read_meta(published).get("decisions") == read_meta(last).get("decisions")
    return published if same else last


def read_file(path: Path) -> bytes:
    """Read a file of a checkpoint; CheckpointError if it is missing or far too large."""
    try:
        if path.stat().st_size > LARGEST:
            raise CheckpointError(f"{path} is too large for a policy")
        return path.read_bytes()
    except OSError as error:
        raise CheckpointError(f"can't read {path}: {error.strerror or error}") from error


def read_meta(folder: Path) -> dict[str, Any]:
    """Read ``meta.json`` and check its format."""
    try:
        meta = json.loads(read_file(folder / META))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise CheckpointError(f"{folder / META} is no JSON: {error}") from error
    if not isinstance(meta, dict) or meta.get("format") != FORMAT:
        found = meta.get("format") if isinstance(meta, dict) else None
        raise CheckpointError(f"{folder / META}: format {found!r}; this program reads {FORMAT}")
    return meta
