"""A tournament's folder: its plan, and a file for each finished unit of work.

A unit's file is written under a temporary name, brought to the disk and renamed, so a program that is
killed at any moment leaves whole units behind. Each holds its checksum; one that is damaged is
played again.

    manifest.json             what is played; another plan is refused
    units/0-1_000001024.json  players 0 and 1 from deal 1024 on
"""

from __future__ import annotations

import base64
import contextlib
import errno
import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, Final

import numpy as np
import numpy.typing as npt

from dominozoo_training.evaluation.asking import Tally
from dominozoo_training.evaluation.playing import WHOLE, Job, Part
from dominozoo_training.evaluation.setting import ArenaError

Json = dict[str, Any]

MANIFEST: Final = "manifest.json"
PARTS: Final = "units"
LOCK: Final = ".lock"
TEMPORARY: Final = ".tmp"


class Journal:
    """What is kept of a tournament.

    Args:
        folder: made if it is missing.
        plan: what is played, JSON types; see :func:`check_plan`.

    Raises:
        ArenaError: the folder belongs to another plan, is in use, or can't be written.
    """

    def __init__(self, folder: Path, plan: Mapping[str, Any]) -> None:
        self.folder = folder
        self._lock: IO[str] | None = None
        try:
            with explained(folder):
                self._open(plan)
        except BaseException:
            self.close()
            raise

    def _open(self, plan: Mapping[str, Any]) -> None:
        """Make the folder, or see that it is this plan's."""
        folder, file = self.folder, self.folder / MANIFEST
        if folder.exists() and not folder.is_dir():
            raise ArenaError(f"out: {folder} is a file; name a folder")
        if folder.is_dir() and not file.is_file() and not only_begun(folder):
            raise ArenaError(f"out: {folder} holds other things; name a new folder")
        if file.is_file():
            check_plan(folder, plan)
        (folder / PARTS).mkdir(parents=True, exist_ok=True)
        self._lock = locked(folder)
        for left_over in folder.rglob(f".*{TEMPORARY}"):
            left_over.unlink()
        if not file.is_file():
            write_whole(file, json.dumps(plan, indent=1) + "\n")

    def close(self) -> None:
        """Let others use the folder."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def path(self, job: Job) -> Path:
        """The file of a unit."""
        players = "-".join(map(str, job.lineup))
        return self.folder / PARTS / f"{players}_{job.first:09}.json"

    def load(self, job: Job) -> Part | None:
        """A unit that was finished before; None if there is none, or none that is sound."""
        try:
            return part_of(job, self.path(job).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError):
            return None

    def keep(self, part: Part) -> None:
        """Write a finished unit.

        Raises:
            ArenaError: it can't be written; says what to do.
        """
        with explained(self.folder):
            write_whole(self.path(part.job), text_of(part))


def only_begun(folder: Path) -> bool:
    """Whether a folder holds no more than what is made before the manifest."""
    names = {path.name for path in folder.iterdir() if path.suffix != TEMPORARY}
    return names <= {PARTS, LOCK} and not any(folder.glob(f"{PARTS}/*"))


@contextlib.contextmanager
def explained(folder: Path) -> Any:
    """Turn what the system says of a folder into what to do about it."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise ArenaError(
                f"out: no space is left for {folder}: make room, then give the same command again; "
                "finished units are kept"
            ) from error
        raise ArenaError(
            f"out: {folder} can't be written: {error.strerror or error}; name another folder, or "
            "mend it and give the same command again"
        ) from error


def locked(folder: Path) -> IO[str] | None:
    """Hold a folder for this process until the file is closed or the process ends."""
    try:
        import fcntl
    except ImportError:  # no such locks on this system
        return None
    file = (folder / LOCK).open("w", encoding="utf-8")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        file.close()
        if error.errno not in (errno.EAGAIN, errno.EACCES):
            return None  # a file system without locks
        raise ArenaError(
            f"out: another arena is playing in {folder}; wait for it, or name another folder"
        ) from None
    return file


def check_plan(folder: Path, plan: Mapping[str, Any]) -> None:
    """Refuse a plan that isn't the folder's.

    Raises:
        ArenaError: naming what differs.
    """
    try:
        kept = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        if not isinstance(kept, dict):
            raise ValueError("it is no object")
    except ValueError as error:
        raise ArenaError(
            f"out: {folder / MANIFEST} is damaged ({error}); name another folder"
        ) from None
    for key in dict.fromkeys((*plan, *kept)):
        if kept.get(key) != plan.get(key):
            raise ArenaError(
                f"out: {folder} was begun with {difference(key, kept.get(key), plan.get(key))}; "
                "give that again, or name another folder"
            )


def difference(key: str, old: Any, new: Any) -> str:
    """What differs in an entry, in words."""
    if key == "players" and isinstance(old, list) and isinstance(new, list):
        names = [",".join(player["name"] for player in players) for players in (old, new)]
        if names[0] == names[1]:
            changed = next(b["name"] for a, b in zip(old, new, strict=True) if a != b)
            return f"another {changed}: its files have changed since"
        old, new = names
    return f"{key.replace('_', '-')}={old}, not {new}"


def write_whole(path: Path, text: str) -> None:
    """Write a file, whole or not at all, and wait until it lies on the disk."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=TEMPORARY)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def text_of(part: Part) -> str:
    """A unit as JSON with its checksum."""
    data = {
        "lineup": part.job.lineup,
        "first": part.job.first,
        "count": part.job.count,
        "won": {"shape": part.won.shape, "bytes": base64.b64encode(part.won.tobytes()).decode()},
        "reward": part.reward.tolist(),
        "hands": part.hands,
        "decisions": part.tally.decisions.tolist(),
        "seconds": part.tally.seconds.tolist(),
        "fallbacks": part.tally.fallbacks.tolist(),
        "style": part.style.tolist(),
    }
    return json.dumps({"sha256": checksum(data), "data": data}) + "\n"


def checksum(data: Json) -> str:
    """SHA-256 of JSON in its one canonical form."""
    text = json.dumps(data, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def part_of(job: Job, text: str) -> Part:
    """Read a unit; ValueError, KeyError or TypeError if it is damaged or another's."""
    file = json.loads(text)
    data = file["data"]
    if file["sha256"] != checksum(data):
        raise ValueError("the checksum differs")
    if (tuple(data["lineup"]), data["first"], data["count"]) != (job.lineup, job.first, job.count):
        raise ValueError("another unit's file")
    k = len(job.lineup)
    won = np.frombuffer(base64.b64decode(data["won"]["bytes"]), np.uint8)
    won = won.reshape(data["won"]["shape"])
    if won.shape[0] != job.count or (won.sum(axis=2) != WHOLE).any():
        raise ValueError("shares that aren't whole")

    def whole(key: str, *shape: int) -> npt.NDArray[np.int64]:
        return np.array(data[key], np.int64).reshape(shape)

    tally = Tally(whole("decisions", k), np.array(data["seconds"], float), whole("fallbacks", k, 3))
    return Part(
        job, won, np.array(data["reward"], float), int(data["hands"]), tally, whole("style", k, -1)
    )
