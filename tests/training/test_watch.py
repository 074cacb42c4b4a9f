"""``dominozoo watch``: bots in the terminal, frames and animations."""

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dominozoo.rules import parse
from dominozoo_training.cli import app
from dominozoo_training.evaluation.entrants import Entrant, scripted
from dominozoo_training.watch import Show, watch, written

QUICK = ["--delay", "0", "--seed", "3"]


def run(*words: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["watch", *words, *QUICK])
    return result.exit_code, result.output


def test_the_same_seed_plays_the_same_game() -> None:
    code, text = run("partnership", "--players", "hard,random")
    assert code == 0
    assert text.startswith("partnership, seed 3: 0: hard, 1: random, 2: hard, 3: random\n")
    assert "player_0 to move" in text
    assert "the hand is over, the match is not" in text
    assert (code, text) == run("partnership", "--players", "hard,random")


def test_a_match_ends_with_its_winner() -> None:
    code, text = run("truc(target=2)", "--hands", "0", "--players", "random")
    assert code == 0
    assert "the match is over: won by side" in text


def test_frames_are_written(tmp_path: Path) -> None:
    folder = tmp_path / "frames"
    code, text = run("french", "--svg", str(folder))
    assert code == 0
    names = sorted(path.name for path in folder.iterdir())
    assert names == [f"frame_{k:04}.svg" for k in range(1, len(names) + 1)]
    assert f"{len(names)} pictures" in text
    last = (folder / names[-1]).read_text(encoding="utf-8")
    assert ET.fromstring(last) is not None
    assert "the hand is over" in last
    assert "0: hard" in last
    code, text = run("french", "--svg", str(folder))
    assert code == 2
    assert "holds pictures already" in text


def test_an_animation_is_written(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    file = tmp_path / "game.gif"
    code, text = run("truc", "--gif", str(file))
    assert code == 0
    with image.open(file) as gif:
        assert gif.n_frames > 2
        assert f"{file}: {gif.n_frames} pictures" in text
        assert gif.size == (720, 540)
    assert [path.name for path in tmp_path.iterdir()] == ["game.gif"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["blok"], "unknown game 'blok' (did you mean 'block'?)"),
        (["block", "--players", "hard,hard,hard"], "players: block has 2 seats, not 3"),
        (["block", "--players", "hrad"], "players: 'hrad' is nobody (did you mean 'hard'?)"),
        (["block", "--svg", "nowhere/frames"], "svg: the folder nowhere does not exist"),
        (["block", "--gif", "nowhere/x.gif"], "gif: the folder nowhere does not exist"),
        (["block", "--gif", "."], "gif: . can't be written"),
    ],
)
def test_bad_input_is_one_line(
    words: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "--gif" in words:
        pytest.importorskip("PIL")
    monkeypatch.chdir(tmp_path)
    code, text = run(*words)
    assert code == 2
    assert message in text
    assert text.count("\n") == 1


def test_a_file_is_whole_or_not_there(tmp_path: Path) -> None:
    target = tmp_path / "x"
    target.write_text("before")

    def fail() -> None:
        with written(target) as path:
            path.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert target.read_text() == "before"
    assert list(tmp_path.iterdir()) == [target]


def test_functions_play_too_and_ctrl_c_ends() -> None:
    first = Entrant("first", act=lambda observation, mask, u: mask.argmax(axis=1))
    show = Show(parse("draw(players=3)"), [first, scripted("easy")], 1, 1)
    assert show.names == ["0: first", "1: easy", "2: first"]
    seen = []

    def say(frame: object) -> None:
        seen.append(frame)
        if len(seen) == 5:
            raise KeyboardInterrupt

    assert watch(show, say, None, None, 0) == len(seen) == 5
