"""The report: one page that needs nothing else, whatever the players are called."""

from __future__ import annotations

import copy
import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from dominozoo_training.evaluation import plots, report
from dominozoo_training.evaluation.curves import panels_of
from dominozoo_training.evaluation.report import main, page, write_plots, write_report

Json = dict[str, Any]
VOID = {"meta", "wbr", "br"}
HOSTILE = '</td><script>alert(1)</script>"onload=x $a$ & \u9f8d'


def entrant(name: str, **more: Any) -> Json:
    none = {"illegal": 0, "crashed": 0, "late": 0}
    figures = {"cheats": False, "decisions": 0, "seconds_per_decision": None, "fallbacks": none}
    return {"name": name, **figures, "style": None, **more}


def pair(a: str, b: str, rate: float, games: int = 800) -> Json:
    bounds = {"low": rate - 0.03, "high": rate + 0.03}
    return {"a": a, "b": b, "games": games, "win_rate": rate, **bounds, "points": 0.1}


def tournament(*names: str, **more: Any) -> Json:
    """A result of the arena with all that it can have."""
    pairs = [(a, b) for k, a in enumerate(names) for b in names[k + 1 :]]
    rows = [
        {"name": name, "rating": 50.0 - 20 * k, "low": 40.0 - 20 * k, "high": 60.0 - 20 * k}
        for k, name in enumerate(names)
    ]
    ratings = {"method": "Bradley-Terry", "scale": "400/log(10), mean 0", "rows": rows}
    return {
        "game": "block(target=50)",
        "unit": "hand",
        "opening": "rule",
        "deals": 400,
        "rotations": 2,
        "seed": 7,
        "format": "all",
        "command": "dominozoo arena block",
        "results": [pair(a, b, 0.55 + 0.01 * k) for k, (a, b) in enumerate(pairs)],
        "entrants": [entrant(name) for name in names],
        "ratings": ratings if len(names) > 2 else None,
        "version": "0.1.0",
        "machine": "a machine, 2 cores",
        **more,
    }


class Reader(HTMLParser):
    """Checks that elements are closed in order; keeps their names, attributes and the text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run's folder with a log, its last line cut short."""
    folder = tmp_path / "run"
    folder.mkdir()
    lines: list[Json] = []
    for k in range(1, 700):
        lines.append({"kind": "train", "decisions": 1000 * k, "entropy": 1 / k})
        if k % 100 == 0:
            rates = {"hard_win_rate": 0.4 + k / 7000, "hard_low": 0.39, "hard_high": 0.52}
            lines.append({"kind": "evaluation", "decisions": 1000 * k, **rates})
    text = "\n".join(map(json.dumps, lines))
    (folder / "metrics.jsonl").write_text(text + '\n{"kind": "train", "deci', encoding="utf-8")
    return folder


def test_the_page_tells_all(tmp_path: Path, run: Path) -> None:
    result = tournament("hard", "omniscient", "runs/a", "slow:f")
    result["entrants"][1]["cheats"] = True
    result["entrants"][0]["style"] = {"passes per hand": 1.25, "draws per hand": 0.5}
    result["entrants"][2]["style"] = {"passes per hand": 1.5}
    failed = {"illegal": 3, "crashed": 0, "late": 12}
    result["entrants"][3].update(decisions=2000, seconds_per_decision=0.0123, fallbacks=failed)
    write_report(tmp_path / "r.html", result, [run, tmp_path / "absent"])
    read = Reader((tmp_path / "r.html").read_text(encoding="utf-8"))
    for text in (
        *(
            "Arena: block(target=50)",
            "400 deals",
            "2 rotations",
            "opened by rule",
            "Even is 50.0 %",
        ),
        *("omniscient (sees all tiles)", "Bradley-Terry", "+50.0"),
        *("40.0 to 60.0", "55.00 %", "52.0 to 58.0", "passes per hand", "1.250", "2,000", "12.3"),
        *("played by the bot random", "% won on the way", "DominoZoo 0.1.0", "a machine, 2 cores"),
        "dominozoo arena block",
    ):
        assert text in read.text, text
    assert "absent" not in read.text
    titles = [value for name, value in read.attributes if name == "title"]
    assert "hard against omniscient: 55.0 % (52.0 to 58.0), 800 games" in titles
    assert "omniscient against hard: 45.0 % (42.0 to 48.0), 800 games" in titles
    assert read.tags.count("svg") == 2


def test_the_page_fetches_and_runs_nothing(run: Path) -> None:
    read = Reader(text := page(tournament("a", "b", "c"), [run]))
    assert not {"script", "link", "iframe", "img", "object", "image"} & set(read.tags)
    names = {name for name, _ in read.attributes}
    assert not {"src", "srcset", "data", "action"} & names
    assert not [name for name in names if name.startswith("on")]
    for name, value in read.attributes:
        if name.endswith("href"):
            assert (value or "").startswith("#")  # within a picture
    assert "@import" not in text
    assert not re.search(r"url\((?!#)", text)
    assert "prefers-color-scheme: dark" in text
    assert "@media print" in text


def test_a_hostile_name_stays_a_name(tmp_path: Path) -> None:
    result = tournament(HOSTILE, "hard", "normal", command=HOSTILE, machine=HOSTILE)
    result["game"] = result["version"] = HOSTILE
    result["ratings"]["method"] = result["ratings"]["scale"] = HOSTILE
    style = {HOSTILE: 1.0}
    result["entrants"] = [entrant(HOSTILE, style=style, decisions=5, cheats=True)]
    folder = tmp_path / "<b onclick=x>"
    folder.mkdir()
    entry = {"kind": "final", "decisions": 5, f"{HOSTILE}_win_rate": 0.5}
    entry |= {f"{HOSTILE}_low": 0.4, f"{HOSTILE}_high": 0.6}
    (folder / "metrics.jsonl").write_text(json.dumps(entry), encoding="utf-8")
    read = Reader(page(result, [folder]))
    assert not {"script", "b onclick=x"} & set(read.tags)
    assert not [name for name, _ in read.attributes if name.startswith("on")]
    assert read.text.count("alert(1)") >= 8
    two = Reader(page(tournament(HOSTILE, "hard")))
    assert "script" not in two.tags


def test_older_results_lack_keys() -> None:
    result = tournament("a", "b")
    for key in ("format", "entrants", "ratings", "command", "version", "machine"):
        del result[key]
    read = Reader(page(result))
    assert "a v b" in read.text
    assert "Style" not in read.text
    assert "This plays it again" not in read.text
    three = tournament("a", "b", "c")
    three["ratings"] = None
    assert "row against column" in Reader(page(three)).text


def test_tables_and_games_of_more_sides() -> None:
    result = tournament("a", "b", "c", "d", rotations=4, format="tables", game="french")
    result["results"] = [pair(name, "others", 0.25 + 0.02 * k) for k, name in enumerate("abcd")]
    read = Reader(page(result))
    assert "Different players sat at each table" in read.text
    assert "row against column" not in read.text
    assert "a wins" not in read.text
    one_way = Reader(page(tournament("a", "b", "c", rotations=4)))
    assert "the second the other 3" in one_way.text
    titles = [value or "" for name, value in one_way.attributes if name == "title"]
    assert any(title.startswith("a against b") for title in titles)
    assert not any(title.startswith("b against a") for title in titles)
    assert "won on average" not in one_way.text
    assert "won on average" in Reader(page(tournament("a", "b", "c"))).text


def test_a_result_without_games_is_refused() -> None:
    with pytest.raises(ValueError, match="results: there are none"):
        page({**tournament("a", "b"), "results": []})


def test_nothing_half_written_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "r.html"
    write_report(target, tournament("a", "b"))
    before = target.read_bytes()

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="No space"):
        write_report(target, tournament("a", "b", "c"))
    assert target.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["r.html"]


def test_the_same_result_gives_the_same_page(run: Path) -> None:
    result = tournament("a", "b", "c")
    assert page(result, [run]) == page(copy.deepcopy(result), [run])


def test_pictures_as_files(tmp_path: Path, run: Path) -> None:
    written = write_plots(tmp_path / "new" / "plots", tournament("a", "b", "c"), [run])
    names = [path.name for path in written]
    assert names == [f"{n}.{s}" for n in ("ranking", "cross", "run-1") for s in ("svg", "png")]
    for path in written:
        start = path.read_bytes()[:8]
        assert start == (b"\x89PNG\r\n\x1a\n" if path.suffix == ".png" else b"<?xml ve")
    assert len(list((tmp_path / "new" / "plots").iterdir())) == 6


def test_a_runs_curves(run: Path) -> None:
    panels = panels_of(run)
    (rates,), (entropy,) = panels.values()
    assert (rates.label, rates.x[:2], rates.low[0]) == ("v hard", [100_000, 200_000], 39)
    assert len(entropy.x) <= 300
    assert entropy.x[-1] == 699_000
    assert entropy.y[0] == pytest.approx((1 + 1 / 2 + 1 / 3) / 3)
    assert panels_of(run / "nothing") == {}


def test_who_sees_all_tiles_is_marked_in_pictures() -> None:
    result = tournament("a", "b")
    result["entrants"][1]["cheats"] = True
    (dot,), unit, even = report.ranking(result)
    assert (dot.label, unit, even) == ("a v b (sees all tiles)", "% won by the first", 50)


def test_without_matplotlib_the_remedy_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ModuleNotFoundError, match=r"pictures need matplotlib: .*\[report\]"):
        write_report(tmp_path / "r.html", tournament("a", "b"))
    assert list(tmp_path.iterdir()) == []


def test_a_kept_result_becomes_a_page(tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text(json.dumps(tournament("a", "b")), encoding="utf-8")
    main([str(tmp_path / "r.json"), str(tmp_path / "r.html")])
    assert (tmp_path / "r.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    with pytest.raises(SystemExit, match="say which"):
        main([])


def test_shades_are_thin_enough_to_read_on() -> None:
    for rate in (0.0, 0.5, 1.0):
        cell = report.shaded(rate, "", 0.5, 0.5)
        found = re.search(r", ([\d.]+)\)", cell)
        assert found is not None
        assert float(found[1]) <= 0.5
    assert plots.short("x" * 200) == "x" * 13 + "\u2026" + "x" * 13
