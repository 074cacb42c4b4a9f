"""The house's one direction: which module may import which, and what stays out of the games."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = {"dominozoo": ROOT / "envs", "dominozoo_training": ROOT / "training"}

# A module may import those of an earlier line, and those of its own folder.
# A new module needs a place here.
LAYERS = [
    {"dominozoo.numba_start"},
    {"dominozoo.compiler"},
    {"dominozoo.tiles"},
    {"dominozoo.bits", "dominozoo.records", "dominozoo.sharing"},
    {"dominozoo.fields"},
    {"dominozoo.onehot"},
    {"dominozoo.rules"},
    {"dominozoo.line"},
    {"dominozoo.truc"},
    {"dominozoo.buffers", "dominozoo.crew"},
    {"dominozoo.tables"},
    {"dominozoo.notation"},
    {"dominozoo.render"},
    {"dominozoo.bots"},
    {"dominozoo.guard"},
    {"dominozoo.aec", "dominozoo.single"},
    {"dominozoo.manual"},
    {"dominozoo._v0"},
    {"dominozoo.testing"},
    {"dominozoo"},
    {"dominozoo_training", "dominozoo_training.compiling", "dominozoo_training.files"},
    {"dominozoo_training.policy"},
    {"dominozoo_training.evaluation"},
    {"dominozoo_training.learning", "dominozoo_training.export"},
    {"dominozoo_training.bench", "dominozoo_training.play", "dominozoo_training.watch"},
    {"dominozoo_training.cli"},
]
RANK = {name: rank for rank, layer in enumerate(LAYERS) for name in layer}
KERNELS = ("bits", "tiles", "onehot", "rules", "line", "truc", "sharing", "tables")

# Paths that exist on one machine only, or beside the checkout.
PRIVATE_PATH = re.compile(r"(?<![\w.~-])/(home|root|Users|work|opt)/\w|\.\./s[h]ared")
TEXT = {".py", ".md", ".toml", ".txt", ".yaml", ".yml", ".json", ".jsonl", ".svg", ""}


def modules() -> list[tuple[str, Path]]:
    """Every module of both packages as (dotted name, file)."""
    found = []
    for package, base in PACKAGES.items():
        for path in sorted((base / package).rglob("*.py")):
            name = ".".join(path.relative_to(base).with_suffix("").parts)
            found.append((name.removesuffix(".__init__"), path))
    return found


def module_id(value: object) -> str:
    """Test ids: the module's name alone."""
    return "" if isinstance(value, Path) else str(value)


def room(name: str) -> str:
    """The entry of LAYERS that a module belongs to: its package's first level."""
    parts = name.split(".")[:2]
    if len(parts) == 2 and parts[0] == "dominozoo" and re.fullmatch(r"\w+_v\d+", parts[1]):
        return "dominozoo._v0"
    return ".".join(parts)


def imports(path: Path, name: str) -> Iterator[str]:
    """Dotted names that a file imports, those inside functions included."""
    is_package = path.name == "__init__.py"
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parts = name.split(".")
            base = parts[: len(parts) - node.level + is_package] if node.level else []
            source = ".".join([*base, *filter(None, [node.module])])
            # `from dominozoo import tables` imports a module, `from dominozoo import __version__` a name.
            yield from (f"{source}.{alias.name}" for alias in node.names)


def python(code: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run code in a fresh interpreter, away from the checkout."""
    command = [sys.executable, "-W", "error", "-c", code]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


def wrong_imports(path: Path, name: str) -> list[str]:
    """The imports of a module that go against the one direction."""
    own, wrong = room(name), []
    for target in imports(path, name):
        if target.split(".")[0] not in PACKAGES or room(target) == own:
            continue
        # A name of the package itself, such as __version__, stands with the package.
        rank = RANK.get(room(target), RANK[target.split(".")[0]])
        if rank >= RANK[own] and room(target) != "dominozoo.__version__":
            wrong.append(target)
    return wrong


@pytest.mark.parametrize(("name", "path"), modules(), ids=module_id)
def test_imports_go_one_way(name: str, path: Path) -> None:
    assert room(name) in RANK, f"give {name} a place in LAYERS"
    assert not wrong_imports(path, name)


def test_a_wrong_import_is_found(tmp_path: Path) -> None:
    path = tmp_path / "tables.py"
    path.write_text("from dominozoo import tiles\n\ndef f():\n    from .aec import raw_env\n")
    assert wrong_imports(path, "dominozoo.tables") == ["dominozoo.aec.raw_env"]
    path.write_text("import dominozoo_training.policy.network\nfrom dominozoo.bots import search\n")
    assert wrong_imports(path, "dominozoo.tables") == [
        "dominozoo_training.policy.network",
        "dominozoo.bots.search",
    ]


def test_the_kernels_know_no_rl_library() -> None:
    seen = 0
    for name, path in modules():
        if room(name) in {f"dominozoo.{kernel}" for kernel in KERNELS}:
            seen += 1
            roots = {target.split(".")[0] for target in imports(path, name)}
            assert not roots & {"gymnasium", "pettingzoo"}, name
    assert seen


def test_importing_the_games_imports_no_heavy_library(tmp_path: Path) -> None:
    code = "import dominozoo, sys; print([m for m in {names} if m in sys.modules])"
    names = ["torch", "pygame", "PIL", "pydantic", "onnx", "onnxruntime", "dominozoo_training"]
    result = python(code.format(names=names), tmp_path)
    assert (result.stdout.strip(), result.stderr) == ("[]", "")


def test_importing_the_games_prints_and_warns_nothing(tmp_path: Path) -> None:
    result = python("import dominozoo", tmp_path)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


@pytest.mark.parametrize("folder", ["envs", "training", "tests"])
def test_the_folders_are_no_packages(folder: str, tmp_path: Path) -> None:
    result = python(f"import {folder}", tmp_path)
    assert "ModuleNotFoundError" in result.stderr


def test_the_command_line_lists_the_games_without_torch(tmp_path: Path) -> None:
    blocked = "import sys; sys.modules.update(dict.fromkeys({names}))\n".format(
        names=["torch", "yaml", "safetensors", "tensorboard", "onnx", "onnxruntime"]
    )
    code = "sys.argv = ['dominozoo', 'list']\nfrom dominozoo_training.cli import main\nmain()"
    result = python(blocked + code, tmp_path)
    assert result.returncode == 0, result.stderr
    assert "block" in result.stdout


def texts() -> Iterator[Path]:
    """Every text file that the project ships, whether or not git is at hand."""
    folders = [
        "envs",
        "training",
        "tests",
        "configs",
        "checkpoints",
        ".ci",
        "docs",
        "web",
        "examples",
    ]
    files = [path for name in folders for path in (ROOT / name).rglob("*")]
    for path in [*files, *ROOT.iterdir()]:
        generated = {"__pycache__", "node_modules"} & set(path.parts)
        if path.is_file() and path.suffix in TEXT and not generated and path.name != ".git":
            yield path


def test_no_file_names_a_path_of_one_machine() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in texts()
        for number, line in enumerate(path.read_bytes().splitlines(), 1)
        if PRIVATE_PATH.search(line.decode(errors="replace"))
    ]
    assert not found


def test_a_path_of_one_machine_is_found() -> None:
    for folder in ("home", "root", "opt"):
        assert PRIVATE_PATH.search(f"see /{folder}/somebody/notes")
    assert not PRIVATE_PATH.search("https://example.org/home/page")
