"""A bundle's files as one zip, the same for the same contents, written whole or not at all."""

from __future__ import annotations

import hashlib
import io
import os
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from dominozoo.bots.archive import MANIFEST

EARLIEST: Final = (1980, 1, 1, 0, 0, 0)  # the oldest time that a zip can hold
PLAIN_FILE: Final = 0o100644 << 16


class ExportError(ValueError):
    """A policy that cannot be exported, or a file that cannot be written; one line says why."""


def entry(data: bytes) -> dict[str, Any]:
    """Checksum and size of a file, as the manifest lists them."""
    return {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def pack(members: dict[str, bytes]) -> bytes:
    """Zip files so that the same contents give the same bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in (MANIFEST, *sorted(set(members) - {MANIFEST})):
            info = zipfile.ZipInfo(name, EARLIEST)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.create_system, info.external_attr = 3, PLAIN_FILE
            archive.writestr(info, members[name])
    return buffer.getvalue()


def require_writable(path: Path) -> None:
    """Refuse a place that can't be written, before minutes are spent on what goes there."""
    try:
        if path.is_dir():
            raise IsADirectoryError(21, "it is a folder")
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise _cannot_write(path, error) from error


def write_whole(path: Path, data: bytes, check: Callable[[Path], None]) -> None:
    """Write a file under another name, check it, then rename it: it is there whole or not at all."""
    temporary = None
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        temporary = Path(name)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        check(temporary)
        temporary.chmod(0o644)
        temporary.replace(path)
    except OSError as error:
        raise _cannot_write(path, error) from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def _cannot_write(path: Path, error: OSError) -> ExportError:
    return ExportError(f"cannot write {path}: {error.strerror or error}")
