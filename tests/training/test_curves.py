import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dominozoo_training.cli import app
from dominozoo_training.learning.config import load_config
from dominozoo_training.learning.curves import CurvesError, load_curve
from dominozoo_training.learning.trainer import train

# (decisions, minutes, win rate) of each evaluation; the last one is the final.
POINTS = [(1000, 0.5, 0.50), (2000, 1.0, 0.56), (3000, 1.5, 0.54)]


def make_run(folder: Path, shift: float = 0.0, *, minutes: bool = True) -> Path:
    """A run's log, with a line that was cut short."""
    folder.mkdir()
    (folder / "config.yaml").write_text("game: block\n")
    lines = [json.dumps({"kind": "train", "decisions": 500, "entropy": 0.5})]
    for number, (decisions, minute, rate) in enumerate(POINTS):
        entry = {
            "kind": "final" if number == len(POINTS) - 1 else "eval",
            "decisions": decisions,
            **({"minutes": minute} if minutes else {}),
            "hard_win_rate": rate + shift,
            "hard_low": rate + shift - 0.01,
            "hard_high": rate + shift + 0.01,
        }
        lines.append(json.dumps(entry))
    (folder / "metrics.jsonl").write_text("\n".join([*lines, '{"kind": "ev']))
    return folder


def test_a_run_s_points(tmp_path: Path) -> None:
    curve = load_curve(make_run(tmp_path / "a"), "hard", "minutes")
    assert [(p.decisions, p.minutes, p.win_rate) for p in curve.points] == POINTS
    assert curve.game == "block"
    assert curve.best.decisions == 2000
    drawn = curve.curve("minutes")
    assert drawn.x == [0.5, 1.0, 1.5]
    assert drawn.y == pytest.approx([50, 56, 54])
    assert drawn.low == pytest.approx([49, 55, 53])


def test_several_runs_in_one_picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    make_run(Path("a"))
    make_run(Path("b"), 0.02)
    words = ["curves", "a", "b", "--x", "minutes", "--out", "both.svg", "--json", "both.json"]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.stderr
    for text in ("54.0 (53.0..55.0)", "56.0 (55.0..57.0)", "58.0 (57.0..59.0)", "2.00", "block"):
        assert text.replace("2.00", "0.00 M, 1.5 min") in result.stdout
    picture = Path("both.svg").read_text()
    for text in ("minutes", ">a<", ">b<", "% won against hard"):
        assert text in picture
    data = json.loads(Path("both.json").read_text())
    assert [run["run"] for run in data["runs"]] == ["a", "b"]
    assert data["runs"][1]["points"][0]["win_rate"] == 0.52
    assert CliRunner().invoke(app, ["curves", "a", "--out", "a.png"]).exit_code == 0
    assert Path("a.png").read_bytes().startswith(b"\x89PNG")


def test_a_log_of_before_minutes_has_decisions(tmp_path: Path) -> None:
    run = make_run(tmp_path / "old", minutes=False)
    assert load_curve(run, "hard").points[0].minutes is None
    with pytest.raises(CurvesError, match=r"x=minutes: the log of .*old doesn't tell them"):
        load_curve(run, "hard", "minutes")


def test_a_real_run_tells_its_minutes(tmp_path: Path) -> None:
    words = ["rollout.tables=64", "ppo.minibatch=64", "rollout.steps=4", "budget.decisions=512"]
    judged = ["evaluation.deals=10", "evaluation.final_deals=10", "evaluation.every_minutes=1e-9"]
    config = load_config("block", overrides=[*words, *judged, "evaluation.opponents=[random]"])
    train(config, tmp_path / "run")
    points = load_curve(tmp_path / "run", "random", "minutes").points
    assert [(p.kind, p.decisions) for p in points] == [("eval", 256), ("eval", 512), ("final", 512)]
    minutes = [p.minutes for p in points if p.minutes is not None]
    assert len(minutes) == 3
    assert minutes == sorted(minutes)
    assert 0 < minutes[0] < minutes[-1] < 5


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nowhere"], "nowhere is no run: it holds no metrics.jsonl"),
        (["a", "--opponent", "easy"], "a was not judged against 'easy', only against hard"),
        (["a", "--x", "steps"], "x takes decisions or minutes, not 'steps'"),
        (["a", "--out", "a.pdf"], "out: a.pdf must end in .png or .svg"),
        (["a", "--out", "none/a.png"], "out: the folder none does not exist"),
    ],
)
def test_what_cannot_be_drawn_is_refused_in_one_line(
    words: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    make_run(Path("a"))
    result = CliRunner().invoke(app, ["curves", *words])
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_without_matplotlib_the_table_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    make_run(Path("a"))
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert CliRunner().invoke(app, ["curves", "a"]).exit_code == 0
    result = CliRunner().invoke(app, ["curves", "a", "--out", "a.png"])
    assert result.exit_code == 2
    assert "pictures need matplotlib" in result.stderr
    assert not Path("a.png").exists()
