"""Each file of examples/ in its quick setting, as a user starts it."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# "against random: 51.20% of 1000 hands won (95 % interval 48.1%..54.3%), +0.0012 points a hand"
RESULT = re.compile(
    r"(?P<rival>[\w ]+): (?P<rate>[\d.]+)% of (?P<hands>\d+) hands won "
    r"\(95 % interval (?P<low>[\d.]+)%\.\.(?P<high>[\d.]+)%\)"
)


def run(name: str, folder: Path, *arguments: str) -> list[str]:
    """The lines that an example prints."""
    command = [sys.executable, str(ROOT / "examples" / name), "--quick", "--seed", "3", *arguments]
    result = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, timeout=600
    )
    assert result.returncode == 0, result.stderr[-3000:]
    return result.stdout.splitlines()


def results(lines: list[str]) -> dict[str, tuple[float, int]]:
    """Win rates in per cent and numbers of hands, by rival; the intervals are looked at."""
    found = {}
    for match in filter(None, map(RESULT.match, lines)):
        rate, low, high = (float(match[key]) for key in ("rate", "low", "high"))
        assert 0 <= low < rate < high <= 100
        assert high - low < 20
        found[match["rival"]] = (rate, int(match["hands"]))
    return found


def needs(*packages: str) -> pytest.MarkDecorator:
    """Skip where a package is missing; naming it, and the extra that brings it."""
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    extra = "rllib" if "ray" in packages else "examples"
    return pytest.mark.skipif(
        bool(missing), reason=f"{', '.join(missing)} missing: pip install '.[{extra}]'"
    )


needs_serve = pytest.mark.skipif(
    importlib.util.find_spec("uvicorn") is None, reason="uvicorn missing: pip install '.[serve]'"
)


def test_every_example_is_run() -> None:
    here = Path(__file__).read_text(encoding="utf-8")
    files = [path.name for path in (ROOT / "examples").glob("*.py")]
    assert len(files) >= 5
    played = {"http_client.py"}  # with its server, below
    assert [name for name in files if f'run("{name}"' not in here] == sorted(played)


def test_a_loop_with_a_player_of_ones_own(tmp_path: Path) -> None:
    found = results(run("pettingzoo_loop.py", tmp_path))
    rate, hands = found["Heaviest against the shipped bot"]
    assert hands == 200
    assert 15 < rate < 65  # about 40 % over many hands


@needs("torch", "sb3_contrib")
def test_maskable_ppo(tmp_path: Path) -> None:
    lines = run("sb3_maskable_ppo.py", tmp_path, "--out", "kept/policy.zip")
    found = results(lines)
    assert set(found) == {"against random", "against normal", "against hard"}
    assert {hands for _, hands in found.values()} == {1000}
    assert found["against random"][0] > 45
    assert any("ep_rew_mean" in line for line in lines)
    assert re.fullmatch(r"match against hard: (won|lost) \d+:\d+ in [1-9]\d* hands", lines[-2])
    assert lines[-1] == "saved kept/policy.zip"
    assert (tmp_path / "kept" / "policy.zip").stat().st_size > 10_000


@needs("torch", "pydantic", "sb3_contrib")
def test_two_learners_with_the_same_time(tmp_path: Path) -> None:
    lines = run("compare_maskable_ppo.py", tmp_path, "block")
    rate = r"\d+\.\d\d% \((\d+\.\d\d)%\.\.(\d+\.\d\d)%\)"
    forms = [r"block, 0\.0167 minutes of the processor each, seed 3"]
    for name in ("house", "MaskablePPO"):
        forms.append(rf"{name}: [1-9]\d+ decisions, [1-9]\d+ a second")
        forms += [f"{name} against {rival}: {rate}" for rival in ("random", "hard")]
    forms.append(f"house against MaskablePPO: {rate}")
    found = [re.fullmatch(*pair) for pair in zip(forms, lines, strict=True)]
    assert all(found), lines
    rates = [match for match in found if match and match.re.groups]
    assert all(float(match[1]) < float(match[2]) for match in rates)


@needs("pydantic", "rich")
def test_where_the_score_changes_play(tmp_path: Path) -> None:
    lines = run("compare_scores.py", tmp_path, "truc", "shipped")
    assert lines[0] == "truc: shipped, 512 decisions of its play at 0-0, seed 3"
    rate = r" ?(\d+\.\d\d)% \(\d+\.\d\d%\.\.\d+\.\d\d%\)"
    for case, counted, shown in zip(
        ("29-0", "0-29", "29-29"), lines[1::2], lines[2::2], strict=True
    ):
        form = rf"{case} +a chance changes by more than 0\.1: {rate}; the likeliest move: {rate}"
        match = re.fullmatch(form, counted)
        assert match, counted
        assert 2 < float(match[1]) < 60
        assert float(match[2]) < float(match[1])
        # "  hand 6-6 5-1: 6-6 63% -> 23%; 5-1 0% -> 0%; ...": the first decision changed most.
        moves = re.findall(r"(\d+)% -> (\d+)%", shown)
        assert max(abs(int(before) - int(after)) for before, after in moves) > 10
        assert all(98 <= sum(map(int, column)) <= 102 for column in zip(*moves, strict=True))


@needs("torch")
def test_ppo_in_one_file(tmp_path: Path) -> None:
    lines = run("cleanrl_ppo.py", tmp_path)
    found = results(lines)
    assert set(found) == {"against random", "against normal", "against hard"}
    assert {hands for _, hands in found.values()} == {1000}
    assert found["against random"][0] > 45
    assert sum(bool(re.match(r"step \d+: [+-]\d\.\d+ points a hand", line)) for line in lines) >= 5


@needs("torch", "torchrl", "tensordict")
def test_torchrl(tmp_path: Path) -> None:
    lines = run("torchrl_pettingzoo.py", tmp_path)
    found = results(lines)
    assert set(found) == {"against random", "against hard"}
    assert found["against random"][0] > 42
    updates = [re.match(r"update \d+: (\d+) decisions in (\d+) hands", line) for line in lines]
    counts = [(int(m[1]), int(m[2])) for m in updates if m]
    assert len(counts) == 3
    # One seat acts in each step, and a hand takes a dozen steps or so.
    assert all(decisions == 512 and 25 < hands < 80 for decisions, hands in counts)


@needs("torch", "ray")
def test_rllib(tmp_path: Path) -> None:
    lines = run("rllib_self_play.py", tmp_path)
    found = results(lines)
    assert set(found) == {"against random", "against hard"}
    assert found["against random"][0] > 42
    assert not any("Illegal" in line for line in lines)
    assert any(re.match(r"iteration 2: \d+ hands", line) for line in lines)


@needs_serve
def test_a_client_of_the_server(tmp_path: Path) -> None:
    serve = [sys.executable, "-m", "dominozoo_training.cli", "serve", "block", "--http", "0"]
    with subprocess.Popen(serve, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        try:
            line = next(line for line in iter(server.stderr.readline, "") if "serving" in line)
            port = line.strip().rpartition(":")[2]
            command = [sys.executable, str(ROOT / "examples" / "http_client.py"), "--port", port]
            done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
        finally:
            server.terminate()
    assert done.stdout.startswith("block plays block_v0")
    assert "player_1: " in done.stdout
    assert re.search(r"rewards: \{'player_0': -?[\d.]+", done.stdout)
