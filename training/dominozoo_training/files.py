"""Files that a command writes: whole or not at all, and what went wrong in one line."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path


class OutputError(OSError):
    """A file that can't be written; names the option, the path and what to do."""


@contextmanager
def writing(option: str, path: str | Path) -> Iterator[None]:
    """Turn what the system says of an output into an OutputError.

    Args:
        option: the name of the option that names the output, without dashes.
        path: the output.
    """
    try:
        yield
    except OutputError:
        raise
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            told = f"no space is left for {path}: make room, or name another place"
        else:
            told = f"{path} can't be written: {error.strerror or error}; name another place"
        raise OutputError(f"{option}: {told}") from error


def check_writable(path: str | Path | None, what: str = "json") -> None:
    """Refuse an output file that could not be written, before anything is computed.

    Args:
        path: the file; "-" prints, None writes nothing.
        what: the option that names it.

    Raises:
        OSError: naming option and path.
    """
    if path is None or path == "-":
        return
    file = Path(path)
    if not file.parent.is_dir():
        raise FileNotFoundError(f"{what}: the folder {file.parent} does not exist; make it first")
    if file.is_dir() or not os.access(file.parent, os.W_OK):
        raise PermissionError(f"{what}: {path} can't be written; name a file in a writable folder")
    if file.exists() and not file.is_file():  # a device would be replaced by a file
        raise PermissionError(f"{what}: {path} is no ordinary file; name another")


def check_folder(folder: Path, what: str) -> None:
    """Make an output folder and see that files can be written there.

    Raises:
        OutputError: it can't be made or written.
    """
    if folder.exists() and not folder.is_dir():
        raise OutputError(f"{what}: {folder} is no folder; name another place")
    with writing(what, folder):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass


def write_file(path: Path, data: bytes) -> None:
    """Write a file, whole or not at all."""
    write_files(path.parent, {path.name: data})


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files of a folder by name; all are on the disk before the first gets its name."""
    done: dict[str, Path] = {}
    try:
        for name, data in files.items():
            handle, temporary = tempfile.mkstemp(dir=folder, prefix=f".{name}.")
            done[name] = Path(temporary)
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            done[name].chmod(0o644)
        for name, path in done.items():
            path.replace(folder / name)
    finally:
        for path in done.values():
            path.unlink(missing_ok=True)
