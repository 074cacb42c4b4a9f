"""Compiled kernels are kept where that can be, and they run where it can't."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import dominozoo

# A kernel that calls another: what is told of it holds of all, and it is compiled in a second.
COUNT = "from dominozoo.line.score import pip_count; print(pip_count(0b111))"


def run(code: str, packages: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """Run code on a copy of the package."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env={**os.environ, "PYTHONPATH": str(packages), **env},
        cwd=packages,
        capture_output=True,
        text=True,
        check=False,
    )


def copied(folder: Path) -> Path:
    """A copy of the package, without any cache beside it, where none can be made either."""
    source = Path(dominozoo.__file__).parent
    ignored = shutil.ignore_patterns("__pycache__")
    package = folder / "dominozoo"
    shutil.copytree(source, package, ignore=ignored)
    for sub in [package, *package.rglob("*")]:
        if sub.is_dir():  # a file of that name: even root can make no folder there
            (sub / "__pycache__").touch()
    return folder


def test_a_package_that_cannot_be_written_keeps_kernels_in_the_users_cache(tmp_path: Path) -> None:
    packages, home = copied(tmp_path / "packages"), tmp_path / "home"
    home.mkdir()
    env = {"HOME": str(home), "XDG_CACHE_HOME": str(home / ".cache"), "NUMBA_CACHE_DIR": ""}
    result = run(COUNT, packages, **env)
    assert result.returncode == 0, result.stderr
    assert list(home.rglob("*.nbi"))


def test_without_any_place_for_a_cache_they_still_run(tmp_path: Path) -> None:
    packages, nowhere = copied(tmp_path / "packages"), tmp_path / "nowhere"
    nowhere.touch()
    env = {"HOME": str(nowhere), "XDG_CACHE_HOME": str(nowhere / "x"), "NUMBA_CACHE_DIR": ""}
    result = run(COUNT, packages, **env)
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == "3"
