"""`make bench-check`: costs against stored ones."""

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from dominozoo_training.bench import guard
from dominozoo_training.bench.guard import STORED, compare, cost, main, read_costs
from dominozoo_training.bench.timing import Chunk, Unavailable

ROOT = Path(__file__).resolve().parents[2]


def lasting(*seconds: float) -> Chunk:
    """A chunk of one thing that takes these times in turn, then the last one again."""
    left = list(seconds)
    return lambda: (1, left.pop(0) if len(left) > 1 else left[0])


@pytest.fixture
def costs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Stored costs: a 10, b 10, c 10; nothing is measured yet."""
    path = tmp_path / "costs.json"
    path.write_text(json.dumps({"costs": {"a": 10, "b": 10, "c": 10}}))
    monkeypatch.setattr(guard, "COSTS", {})
    return path


def now(monkeypatch: pytest.MonkeyPatch, **chunks: Chunk) -> None:
    made = {
        name: (lambda chunk=chunk: chunk, lambda: lasting(1.0)) for name, chunk in chunks.items()
    }
    monkeypatch.setattr(guard, "COSTS", made)


def no_compiler() -> Chunk:
    raise Unavailable("c: no C compiler found")


def checked(path: Path) -> tuple[int, str]:
    text = io.StringIO()
    return guard.check(path, Console(file=text, width=120), 0.1), text.getvalue()


def test_a_cost_is_our_time_in_units_of_the_yardstick() -> None:
    assert cost(lasting(3.0), lasting(2.0), 0.1) == pytest.approx(1.5)


def test_a_cost_is_the_median_of_turns() -> None:
    slow_for_a_while = lasting(*[2.0] * 3, *[50.0] * 2, 2.0)
    assert cost(slow_for_a_while, lasting(1.0), 0.1) == pytest.approx(2.0)


def test_verdicts_by_how_much_slower() -> None:
    measured = {"a": 12.9, "b": 13.0, "c": 15.0, "d": 1.0}
    words = {v.name: v.word for v in compare({"a": 10, "b": 10, "c": 10, "e": 1}, measured)}
    assert words == {
        "a": "ok",
        "b": "WARNING",
        "c": "FAILED",
        "e": "not measured",
        "d": "not stored",
    }
    assert compare({"a": 10}, {"a": 5})[0].word == "faster"
    assert compare({"a": 10}, {"a": 15})[0].times == 1.5
    assert compare({"a": 10}, {})[0].times is None


def test_what_is_slower_fails(costs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now(monkeypatch, a=lasting(10.0), b=lasting(14.0), c=lasting(16.0))
    code, text = checked(costs)
    assert code == 1
    lines = {line.split("│")[1].strip(): line for line in text.splitlines() if "│" in line}
    assert "100%" in lines["a"]
    assert "ok" in lines["a"]
    assert "140%" in lines["b"]
    assert "WARNING" in lines["b"]
    assert "160%" in lines["c"]
    assert "FAILED" in lines["c"]


def test_a_warning_alone_passes(costs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now(monkeypatch, a=lasting(14.0))
    assert checked(costs)[0] == 0


def test_what_looked_slow_once_is_measured_again(
    costs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now(monkeypatch, a=lasting(*[30.0] * (1 + guard.REPEATS), 11.0))
    code, text = checked(costs)
    assert code == 0
    assert "once more" in text


def test_what_cannot_be_measured_here_is_said_and_passes(
    costs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard, "COSTS", {"a": (lambda: lasting(1.0), no_compiler)})
    code, text = checked(costs)
    assert code == 0
    assert "a: not measured: c: no C compiler found" in text


def test_update_stores_what_check_then_reads(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "costs.json"
    now(monkeypatch, a=lasting(1.23456789), b=lasting(250.0))
    arguments = ["--stored", str(path), "--seconds", "0.1"]
    assert main(arguments) == 2
    assert main([*arguments, "--update"]) == 0
    assert read_costs(path) == {"a": 1.235, "b": 250.0}
    assert main(arguments) == 0
    now(monkeypatch, a=lasting(2.0), b=lasting(250.0))
    assert main(arguments) == 1


def test_update_keeps_what_it_could_not_measure_anew(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "costs.json"
    now(monkeypatch, a=lasting(1.0), b=lasting(2.0))
    assert main(["--stored", str(path), "--seconds", "0.1", "--update"]) == 0
    before = path.read_bytes()
    monkeypatch.setattr(guard, "COSTS", {**guard.COSTS, "a": (lambda: lasting(1.0), no_compiler)})
    assert main(["--stored", str(path), "--seconds", "0.1", "--update"]) == 2
    assert path.read_bytes() == before
    assert "not measured: a; the stored costs are left as they are" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--seconds", "0"], "--seconds must be a number above 0"),
        (["--seconds", "nan"], "--seconds must be a number above 0"),
        (["--update", "--stored", "no/such/folder/costs.json"], "can't be written"),
    ],
)
def test_bad_input_is_told_before_anything_is_measured(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    told = capsys.readouterr().err
    assert words in told.replace("\n", " ")
    assert len(told.splitlines()) == 1


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"costs": {"a": "x"}}', '{"costs": 1}'])
def test_a_file_of_another_kind_is_refused(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "costs.json"
    path.write_text(text)
    assert main(["--stored", str(path)]) == 2
    assert "--update writes it anew" in capsys.readouterr().err


def test_every_cost_is_stored() -> None:
    assert read_costs(ROOT / STORED).keys() == guard.COSTS.keys()


def test_the_loop_counts_its_rounds() -> None:
    count, seconds = guard.python_loop()()
    assert count == 20_000
    assert seconds > 0
