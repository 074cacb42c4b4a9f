"""`dominozoo bench`: what is measured, how it is told, what is refused."""

import contextlib
import json
import multiprocessing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from dominozoo.rules import parse
from dominozoo.tables import Tables
from dominozoo_training.bench import (
    CASES,
    Row,
    as_json,
    clock_of,
    games,
    machine,
    measure,
    plan,
    start,
    summarise,
)
from dominozoo_training.bench.beside import step_processes
from dominozoo_training.bench.timing import Unavailable, rates
from dominozoo_training.cli import app


def bench(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["bench", *arguments])


def figures(path: Path) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return value


@pytest.fixture
def short_scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps of a few actions: what is measured is no matter."""
    monkeypatch.setattr(games, "SCRIPT_STEPS", (1, 4))


@pytest.mark.usefixtures("short_scripts")
def test_the_json_is_the_contract(tmp_path: Path) -> None:
    path = tmp_path / "bench.json"
    cases = "kernel,step,raw_env,env,bot:hard,bytes"
    result = bench("--games", "block", "--cases", cases, "--seconds", "0.01", "--json", str(path))
    assert result.exit_code == 0, result.output
    value = figures(path)
    assert value["machine"] == machine()
    rows = value["rows"]
    assert all(row.keys() == {*Row.__dataclass_fields__} for row in rows)
    found = [(row["game"], row["case"], row["batch"], row["unit"]) for row in rows]
    steps = [("block", "step", batch, "1/s") for batch in (1, 64, 512, 4096, 16384, 65536)]
    assert found == [
        ("block", "kernel", 256, "1/s"),
        *steps,
        ("block", "raw_env", None, "1/s"),
        ("block", "env", None, "1/s"),
        ("block", "bot:hard", 1024, "1/s"),
        ("block", "bytes", None, "B"),
    ]
    assert all(row["median"] > 0 and row["spread"] >= 0 for row in rows)
    assert rows[-1]["median"] == Tables("block", 1, seed=1).records.itemsize
    assert value["clocks"] == dict.fromkeys(("kernel", "step", "raw_env", "env", "bot:hard"), "cpu")
    assert [path.name for path in tmp_path.iterdir()] == ["bench.json"]


def test_json_can_stand_alone_on_stdout() -> None:
    result = bench("--games", "draw(players=3)", "--cases", "bytes", "--json", "-")
    assert [row["game"] for row in json.loads(result.stdout)["rows"]] == ["draw(players=3)"]


@pytest.mark.usefixtures("short_scripts")
def test_progress_and_table_say_which_clock_ran() -> None:
    result = bench("--games", "block", "--cases", "raw_env,step_threads", "--seconds", "0.001")
    assert "[1/3] block raw_env: " in result.stderr
    assert "[3/3] block step_threads 65536: " in result.stderr
    lines = [line for line in result.stdout.splitlines() if "│ block" in line]
    clocks = {line.split("│")[2].strip(): line.split("│")[5].strip() for line in lines}
    assert clocks["raw_env"] == "/ CPU second"
    assert clocks["step_wall"] == clocks["step_threads"] == "/ wall second"
    assert "block: step_threads / step_wall at 4096 tables: " in result.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--games", "blok"], "did you mean 'block'"),
        (["--games", "block(players=9)"], "players=9 is not taken"),
        (["--games", ""], "'' names no game"),
        (["--cases", "stepp"], "there is no 'stepp'; there are kernel, c, step, "),
        (["--cases", "bot:nobody"], "there is no 'bot:nobody'"),
        (["--cases", "step,"], "there is no ''"),
        (["--seconds", "0"], "seconds must be a number above 0"),
        (["--seconds", "nan"], "seconds must be a number above 0"),
        (["--json", "no/such/folder/x.json"], "folder no/such/folder does not exist"),
        (["--json", "."], "can't be written"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_measured(arguments: list[str], words: str) -> None:
    result = bench(*arguments)
    assert result.exit_code == 2
    assert words in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert result.stdout == ""


def test_every_case_is_planned_for_every_game_and_a_start_once() -> None:
    jobs = plan(["block", "french"])
    for game in ("block", "french"):
        planned = {job.case.partition(":")[0] for job in jobs if job.game == game}
        once = {"import", "start"} if game == "block" else set()
        # The kernel's measurement is also C's.
        assert planned == {*CASES} - {"c", "import", "cold_start", "cached_start"} | once


def test_older_names_of_cases_keep_working() -> None:
    jobs = plan(["block"], ("step", "raw_env", "env", "bot", "start"))
    assert len([job for job in jobs if job.case.startswith("bot:")]) == 5
    assert [job.case for job in jobs][-1] == "start"


def test_starts_are_measured_in_new_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    def seconds_of(code: str, **environment: str) -> float:
        folder = Path(environment["NUMBA_CACHE_DIR"])
        seen.append("cached" if list(folder.iterdir()) else "cold")
        (folder / "kernel.nbi").touch()
        return 4.0 if seen[-1] == "cold" else 1.0

    monkeypatch.setattr(start, "seconds_of", seconds_of)
    rows = list(measure(["truc"], ["start"]))
    assert seen == ["cold", "cached"] * 3
    assert [(row.case, row.median, row.unit) for row in rows] == [
        ("cold_start", 4.0, "s"),
        ("cached_start", 1.0, "s"),
    ]


def test_a_process_that_fails_is_no_figure() -> None:
    assert 0 < start.seconds_of("print(0.25)") < 0.5
    with pytest.raises(Unavailable, match="ZeroDivisionError"):
        start.seconds_of("1 / 0")


def test_the_import_is_timed_in_a_new_process() -> None:
    assert all(0 < seconds < 60 for seconds in start.import_times(1))


def test_without_a_compiler_the_kernel_is_measured_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    path = tmp_path / "bench.json"
    common = ("--games", "block", "--seconds", "0.001", "--json", str(path))
    result = bench("--cases", "kernel,c", *common)
    assert "not measured: c: no C compiler found" in result.stdout
    assert [row["case"] for row in figures(path)["rows"]] == ["kernel"]
    assert figures(path)["skipped"] == [
        "c: no C compiler found; install gcc or clang, or name one in CC"
    ]


def test_measurements_take_turns_until_their_time_is_spent() -> None:
    calls: list[str] = []

    def chunk(name: str, count: int) -> tuple[int, float]:
        calls.append(name)
        return count, 0.5

    found = rates(lambda: chunk("a", 2), lambda: chunk("b", 3), seconds=2.0, repeats=2)
    assert found == [[4.0, 4.0], [6.0, 6.0]]
    assert calls == ["a", "b", *("a", "a", "b", "b") * 2]


def test_rows_are_medians_with_their_spread() -> None:
    row = summarise("block", "step", 64, "1/s", [4.0, 1.0, 2.0])
    assert (row.median, row.spread) == (2.0, 1.5)


def test_ratios_stand_between_cases_of_one_game_and_batch() -> None:
    rows = [
        Row(game, case, batch, median, "1/s", 0.0)
        for game, case, batch, median in [
            ("block", "kernel", 256, 30.0),
            ("block", "c", 256, 40.0),
            ("draw", "kernel", 256, 7.0),
            ("block", "step_wall", 64, 2.0),
            ("block", "step_threads", 4096, 3.0),
        ]
    ]
    assert [(r["game"], r["case"], r["ratio"]) for r in as_json(rows)["ratios"]] == [
        ("block", "kernel", 0.75)
    ]


def test_what_has_no_seconds_has_no_clock() -> None:
    assert [clock_of(case) for case in ("bytes", "import", "bot:hard")] == ["", "wall", "cpu"]


def test_choices_are_legal_and_differ() -> None:
    tables, rng = Tables("partnership", 500, seed=1), np.random.default_rng(1)
    tables.step(games.random_legal(tables.mask, rng))
    rows = np.arange(len(tables))
    chosen = [games.random_legal(tables.mask, rng) for _ in range(20)]
    assert all(tables.mask[rows, actions].all() for actions in chosen)
    free = tables.mask.sum(axis=1) > 1
    assert (np.ptp(np.array(chosen), axis=0) > 0)[free].mean() > 0.9


def test_a_script_leaves_the_tables_and_can_be_played_again() -> None:
    tables = Tables("block", 2048, seed=1)
    before, mask = tables.records.copy(), tables.mask.copy()
    actions = games.script(tables)
    assert len(actions) * len(tables) >= games.SCRIPT_MOVES
    assert np.array_equal(tables.records, before)
    assert np.array_equal(tables.mask, mask)
    chunk = games.replay(tables, actions)
    ends = []
    for _ in range(2):
        count, seconds = chunk()
        assert count == len(actions) * len(tables)
        assert seconds > 0
        ends.append(tables.records.copy())
    assert np.array_equal(ends[0], ends[1])
    assert not np.array_equal(ends[0], before)


def test_tables_are_mixed_before_steps_are_measured() -> None:
    tables = Tables("block", 512, seed=1)
    games.mix(tables)
    assert len(np.unique(tables.records["ply"])) > 5
    assert (tables.mask.sum(axis=1) > 0).all()


def test_a_hand_of_random_block_is_as_long_as_known() -> None:
    assert games.moves_a_hand(parse("block")) == pytest.approx(13.06, abs=0.05)


@pytest.mark.usefixtures("short_scripts")
def test_the_second_process_works_and_ends_with_the_measurement() -> None:
    [alone] = games.step_threads(parse("block"), 64, (1,))
    with step_processes(parse("block"), 64) as both:
        [partner] = multiprocessing.active_children()
        count, seconds = both()
        assert count > alone()[0]
        assert seconds > 0
        assert partner.is_alive()
    assert not multiprocessing.active_children()


@pytest.mark.usefixtures("short_scripts")
def test_a_second_process_that_has_ended_is_told() -> None:
    with step_processes(parse("block"), 64) as both:
        [partner] = multiprocessing.active_children()
        partner.kill()
        partner.join()
        for _ in range(2):
            with pytest.raises(Unavailable, match="step_processes: the second process has ended"):
                both()


@pytest.mark.usefixtures("short_scripts")
def test_threads_are_measured_without_a_second_process_too(monkeypatch: pytest.MonkeyPatch) -> None:
    @contextlib.contextmanager
    def nobody(rules: Any, batch: int) -> Iterator[Any]:
        raise Unavailable("step_processes: the second process has ended")
        yield

    monkeypatch.setattr("dominozoo_training.bench.step_processes", nobody)
    job, _ = plan(["block"], ["step_threads"], 0.001)
    rows: list[Row] = []
    found = job.run()
    with pytest.raises(Unavailable, match="step_processes"):
        rows.extend(found)
    assert [row.case for row in rows] == ["step_wall", "step_threads"]
