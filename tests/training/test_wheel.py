"""What a built distribution holds."""

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-t", "sdist"]
    subprocess.run([*command, "-d", str(out)], cwd=ROOT, check=True, capture_output=True)
    return out


def names(built: Path) -> list[str]:
    (wheel,) = built.glob("*.whl")
    return zipfile.ZipFile(wheel).namelist()


def test_the_wheel_holds_the_two_packages_and_nothing_else(built: Path) -> None:
    tops = {name.split("/")[0] for name in names(built)}
    assert {top for top in tops if not top.endswith(".dist-info")} == {
        "dominozoo",
        "dominozoo_training",
    }


def test_the_wheel_is_typed_licensed_and_has_its_command(built: Path) -> None:
    found = names(built)
    assert {"dominozoo/py.typed", "dominozoo_training/py.typed"} <= set(found)
    assert any(name.endswith("licenses/LICENSE") for name in found)
    assert any(name.endswith("entry_points.txt") for name in found)
    assert not [name for name in found if "__pycache__" in name]


def test_the_source_distribution_leaves_checkpoints_out(built: Path) -> None:
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        folders = {name.split("/")[1] for name in archive.getnames()}
    assert {"envs", "training", "tests", "README.md", "constraints.txt"} <= folders
    assert not folders & {"checkpoints", "runs", ".venv"}
