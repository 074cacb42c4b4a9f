"""Tournaments: who meets whom, when they stop, and that how they are played changes nothing."""

from __future__ import annotations

import collections
import contextlib
import errno
import io
import itertools
import json
import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner

from dominozoo.bots.shipping import SHIPPED
from dominozoo_training.cli import app
from dominozoo_training.evaluation import formats, journal, tournament
from dominozoo_training.evaluation.asking import Conduct
from dominozoo_training.evaluation.entrants import Entrant, load_entrant, scripted
from dominozoo_training.evaluation.intervals import bootstrap_interval
from dominozoo_training.evaluation.journal import Journal
from dominozoo_training.evaluation.outcome import Outcome, as_json
from dominozoo_training.evaluation.playing import Job, Room, slots_by_side
from dominozoo_training.evaluation.setting import ArenaError, make_setting
from dominozoo_training.evaluation.show import pairs_table
from dominozoo_training.evaluation.tournament import State, make_plan, play_tournament
from dominozoo_training.evaluation.workers import undisturbed

Json = dict[str, Any]

NAMES = ("hard", "normal", "easy", "random", "mobility")
# A player whom other processes can load; SLOW is how many seconds it takes an answer.
PLAYER = """
import multiprocessing, os, signal, time

def play(observation, mask):
    time.sleep(float(os.environ.get("SLOW", 0)))
    return mask.argmax(axis=1)

def die(observation, mask):
    if multiprocessing.parent_process() is not None:
        os.kill(os.getpid(), signal.SIGKILL)
    return mask.argmax(axis=1)

def fail(observation, mask):
    raise RuntimeError("no idea")
"""


@pytest.fixture
def player(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a player's module, entered."""
    (tmp_path / "lodger.py").write_text(PLAYER)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.delitem(sys.modules, "lodger", raising=False)
    return tmp_path


def bots(*names: str) -> list[Entrant]:
    return [scripted(name) for name in names]


def play(game: str, names: tuple[str, ...], deals: int, **more: Any) -> Outcome:
    entrants = [load_entrant(name, make_setting(game, 1, 1).rules) for name in names]
    running = {key: more.pop(key) for key in ("processes", "out", "report") if key in more}
    plan = make_plan(make_setting(game, deals, 3), entrants, **more)
    return play_tournament(plan, entrants, **running)


def timeless(result: Json) -> Json:
    """A result without what the clock says."""
    told: Json = json.loads(json.dumps(result))
    told.pop("command", None)
    for row in told["entrants"]:
        row.pop("seconds_per_decision")
    return told


# Who sits where


def test_each_side_is_held_in_turn_by_the_first_of_a_pair() -> None:
    sides = slots_by_side(make_setting("six_love", 5, 1), 2, 0, 3).reshape(4, 3, 4)
    for turn in range(4):
        assert (sides[turn] == (np.arange(4) != turn)).all()


@pytest.mark.parametrize("game", ["french", "cutthroat(players=3)", "draw(players=4)"])
def test_at_tables_everybody_holds_every_seat_once_a_deal(game: str) -> None:
    setting = make_setting(game, 500, 1)
    n = setting.rules.sides
    sides = slots_by_side(setting, n, 0, 500).reshape(n, 500, n)
    assert (np.sort(sides, axis=2) == np.arange(n)).all()  # all different at a table
    assert (np.sort(sides, axis=0) == np.arange(n)[:, None, None]).all()  # every seat in turn
    first = collections.Counter(map(tuple, sides[0].tolist()))
    assert len(first) == math.factorial(n)  # all orders come up
    assert max(first.values()) < 3 * 500 / len(first)
    apart = slots_by_side(setting, n, 100, 50).reshape(n, 50, n)
    assert (apart == sides[:, 100:150]).all()  # a deal's order is its own


def test_tables_of_a_player_against_itself_are_exactly_even() -> None:
    found = play("french", ("hard",) * 4, 40, form="tables")
    for result in found.results():
        assert result.b == "others"
        assert result.games == 40 * 4
    total = sum(result.win_rate for result in found.results())
    assert total == pytest.approx(1, abs=1e-12)
    shares = found.games[0, 1, 2, 3].won()
    assert shares.shape == (40, 4, 4)
    assert (shares.sum(axis=2) == 12).all()


def test_a_table_ranks_as_pairs_do() -> None:
    rates = [r.win_rate for r in play("cutthroat", NAMES[:4], 1500, form="tables").results()]
    assert rates[0] > rates[1] > rates[2] - 0.01
    assert sum(rates) == pytest.approx(1)


def test_at_tables_a_deal_is_one_observation_at_how_many_tables_ever() -> None:
    found = play("cutthroat(players=3)", NAMES[:4], 60, form="tables")
    assert len(found.games) == 4
    for player, result in enumerate(found.results()):
        mine = [g for lineup, g in found.games.items() if player in lineup]
        by_deal = np.mean([g.by_deal(g.lineup.index(player)) for g in mine], axis=0)
        assert len(mine) == 3
        assert result.games == 3 * 60 * 3
        assert (result.win_rate, result.low, result.high) == bootstrap_interval(by_deal)
        points = sum(g.reward(g.lineup.index(player)) for g in mine) / sum(g.hands() for g in mine)
        assert result.points == pytest.approx(points)
    assert sum(r.win_rate for r in found.results()) == pytest.approx(4 / 3)
    assert sum(r.points for r in found.results()) == pytest.approx(0, abs=1e-6)


def test_all_tables_are_played_or_a_selection_in_which_all_sit_equally_often() -> None:
    assert formats.tables_of(5, 4, 1) == list(itertools.combinations(range(5), 4))
    assert len(formats.tables_of(8, 4, 1)) == 70
    for players, seats in ((9, 4), (12, 4), (13, 3), (80, 3)):
        chosen = formats.tables_of(players, seats, 5)
        assert len(chosen) == len(set(chosen)) <= max(formats.MOST_TABLES, players)
        sat = collections.Counter(player for table in chosen for player in table)
        assert len(sat) == players
        assert len(set(sat.values())) == 1
        assert all(len(set(table)) == seats for table in chosen)
        assert formats.tables_of(players, seats, 5) == chosen
    assert formats.tables_of(12, 4, 5) != formats.tables_of(12, 4, 6)
    met = collections.Counter(
        pair for table in formats.tables_of(12, 4, 5) for pair in itertools.combinations(table, 2)
    )
    assert len(met) == 12 * 11 // 2
    assert max(met.values()) <= 3 * min(met.values())


def test_with_two_sides_tables_are_pairs() -> None:
    found = play("partnership", NAMES[:3], 20, form="tables")
    assert found.plan.format == "all"
    assert list(found.games) == [(0, 1), (0, 2), (1, 2)]


# Swiss


@pytest.mark.parametrize("players", [2, 3, 4, 5, 8, 9, 16])
def test_swiss_rounds_pair_everybody_with_somebody_new(players: int) -> None:
    rng = np.random.default_rng(players)
    for _ in range(30):
        met: set[tuple[int, ...]] = set()
        for _ in range(formats.most_rounds(players)):
            pairs = formats.swiss_round(rng.permutation(players).tolist(), met)
            assert met.isdisjoint(pairs)
            met.update(pairs)
            seated = [player for pair in pairs for player in pair if player >= 0]
            assert sorted(seated) == list(range(players))
            assert sum(-1 in pair for pair in pairs) == players % 2
    assert formats.usual_rounds(players) <= formats.most_rounds(players)


def test_neighbours_in_the_standing_meet() -> None:
    assert formats.swiss_round([3, 1, 0, 2], set()) == [(1, 3), (0, 2)]
    assert formats.swiss_round([3, 1, 0, 2], {(1, 3)}) == [(0, 3), (1, 2)]
    assert formats.swiss_round([3, 1, 0], set()) == [(1, 3), (-1, 0)]
    assert formats.swiss_round([3, 1, 0], {(-1, 0), (1, 3)}) == [(0, 3), (-1, 1)]


def test_swiss_brings_the_best_together() -> None:
    found = play("block", NAMES, 800, form="swiss", rounds=3)
    assert len(found.games) == 6
    assert all(games.won().shape == (800, 2, 2) for games in found.games.values())
    strengths = found.standing()
    assert strengths[0] == max(strengths)
    ratings = found.ratings()
    assert ratings is not None
    assert ratings["rows"][0]["name"] == "hard"
    assert found.plan.rounds == 3
    assert list(play("block", NAMES, 800, form="swiss", rounds=3).games) == list(found.games)


# Until the interval is narrow


def test_until_ci_stops_at_the_first_checkpoint_that_is_narrow_enough(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tournament, "DEALS", 50)
    found = play("block", NAMES[:3], 20_000, until_ci=2.0)
    step = 50 * tournament.CHECK
    widths = [50 * (r.high - r.low) for r in found.results()]
    assert max(widths) <= 2.0
    assert found.deals % step == 0
    assert 0 < found.deals < 20_000
    assert {games.won().shape[0] for games in found.games.values()} == {found.deals}
    before = play("block", NAMES[:3], found.deals - step)
    assert max(50 * (r.high - r.low) for r in before.results()) > 2.0
    whole = play("block", NAMES[:3], found.deals)
    assert whole.results() == found.results()  # the same deals, however it was decided
    assert as_json(found)["deals"] == found.deals


def test_until_ci_ends_with_the_deals() -> None:
    assert play("block", NAMES[:2], 100, until_ci=0.01).deals == 100


def test_progress_tells_of_deals_and_of_the_interval_as_it_shrinks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tournament, "DEALS", 50)
    states: list[State] = []
    play("block", NAMES[:2], 400, report=states.append)
    assert [state.done for state in states] == list(range(50, 401, 50))
    assert {state.total for state in states} == {400}
    widths = [state.width for state in states if state.width is not None]
    assert len(widths) == 8
    assert widths[-1] < widths[0] / 2


# Processes and folders


def test_processes_change_nothing(player: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tournament, "DEALS", 40)
    names = ("hard", "lodger:play", str(SHIPPED / "block_v0.dombot"))
    conduct = Conduct(style=True)
    one, two = (play("block", names, 150, processes=n, conduct=conduct) for n in (1, 2))
    assert timeless(as_json(one, one.ratings())) == timeless(as_json(two, two.ratings()))
    assert one.counted()[1]["decisions"] > 100
    assert one.counted()[1]["style"]["decisions per hand"] > 1


def test_a_player_of_this_process_alone_cannot_be_played_by_others() -> None:
    entrants = [Entrant("mine", act=lambda o, m, u: m.argmax(axis=1)), scripted("hard")]
    plan = make_plan(make_setting("block", 10, 1), entrants)
    with pytest.raises(ArenaError, match="mine lives in this process alone"):
        play_tournament(plan, entrants, processes=2)


def test_a_worker_that_dies_is_told_of_and_what_is_finished_is_kept(player: Path) -> None:
    out = player / "kept"
    told = r". at lodger:die against hard, deals 0\.\.9; finished"
    with pytest.raises(
        ArenaError, match=rf"a playing process died .signal SIGKILL{told}.*same command"
    ):
        play("block", ("lodger:die", "hard"), 10, processes=2, out=out)
    found = play("block", ("lodger:die", "hard"), 10, processes=1, out=out)
    assert found.deals == 10


def test_an_error_in_a_worker_is_the_one_of_a_single_process(player: Path) -> None:
    for processes in (1, 2):
        with pytest.raises(ValueError, match="lodger:fail failed: RuntimeError: no idea"):
            play(
                *("block", ("lodger:fail", "hard"), 10),
                processes=processes,
                conduct=Conduct(strict=True),
            )


def command(folder: Path, *more: str, out: str = "kept", deals: int = 3000) -> list[str]:
    players = "lodger:play,hard,random"
    words = ["arena", "block", "--players", players, "--deals", str(deals), "--style"]
    return [*words, "--out", str(folder / out), "--json", str(folder / f"{out}.json"), *more]


def run(*words: str) -> Any:
    return CliRunner().invoke(app, list(words))


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no kill -9 here")
def test_killed_and_started_again_it_comes_to_the_same(player: Path) -> None:
    whole = run(*command(player, out="whole"))
    assert whole.exit_code == 0, whole.output
    start = [sys.executable, "-c", "from dominozoo_training.cli import main; main()"]
    for least in (1, 4):
        with subprocess.Popen(
            [*start, *command(player)],
            env={**os.environ, "SLOW": "0.05"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as process:
            units, limit = player / "kept" / "units", time.monotonic() + 120
            while len(list(units.glob("[0-9]*.json"))) < least:
                assert process.poll() is None
                assert time.monotonic() < limit
                time.sleep(0.01)
            process.kill()
    done = {path.name: path.stat().st_mtime_ns for path in units.glob("[0-9]*.json")}
    assert least <= len(done) < 9
    assert not (player / "kept.json").exists()
    resumed = run(*command(player))
    assert resumed.exit_code == 0, resumed.output
    after = {path.name: path.stat().st_mtime_ns for path in units.glob("[0-9]*.json")}
    assert len(after) == 9
    assert done.items() <= after.items()  # none was played twice
    results = [json.loads((player / f"{name}.json").read_text()) for name in ("whole", "kept")]
    assert timeless(results[0]) == timeless(results[1])
    tables = [text.partition("Decisions")[0].rstrip() for text in (whole.stdout, resumed.stdout)]
    assert tables[0] == tables[1]
    assert "Ratings" in tables[0]


def test_ctrl_c_keeps_what_is_finished(player: Path) -> None:
    start = [sys.executable, "-c", "from dominozoo_training.cli import main; main()"]
    with subprocess.Popen(
        [*start, *command(player, "--processes", "2")],
        env={**os.environ, "SLOW": "0.05"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        units, limit = player / "kept" / "units", time.monotonic() + 120
        while not list(units.glob("[0-9]*.json")):
            assert process.poll() is None
            assert time.monotonic() < limit
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: the workers hear it, too
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors.strip().splitlines()[-1] == (
        f"dominozoo: interrupted; finished units are kept in {player / 'kept'}: "
        "the same command goes on there"
    )
    assert "Traceback" not in errors
    assert list(units.glob("[0-9]*.json"))
    assert not list(units.glob(".*"))


def test_ctrl_c_while_workers_start_is_one_line(player: Path) -> None:
    start = [sys.executable, "-c", "from dominozoo_training.cli import main; main()"]
    (player / "lodger.py").write_text(
        f"import multiprocessing, pathlib, time\n"
        f"if multiprocessing.parent_process() is not None:\n"
        f"    pathlib.Path({str(player / 'begun')!r}).touch()\n"
        f"    time.sleep(60)\n{PLAYER}"
    )
    with subprocess.Popen(
        [*start, *command(player, "--processes", "2")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        limit = time.monotonic() + 120
        while not (player / "begun").exists():
            assert process.poll() is None
            assert time.monotonic() < limit
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    kept = player / "kept"
    assert errors.strip().splitlines()[-1] == (
        f"dominozoo: interrupted; no unit was finished, so {kept} keeps none: "
        "the same command starts from the first"
    )
    assert "Traceback" not in errors


def test_ctrl_c_waits_while_processes_are_started_and_these_never_hear_it() -> None:
    told = "import signal; print(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, []))"
    reached = []

    def start() -> None:
        with undisturbed():
            os.kill(os.getpid(), signal.SIGINT)
            reached.append(subprocess.check_output([sys.executable, "-c", told], text=True).strip())

    with pytest.raises(KeyboardInterrupt):
        start()
    assert reached == ["True"]
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_who_takes_part_twice_has_a_number_but_not_against_itself() -> None:
    outcome = play("block", ("hard", "hard", "random", "hard"), 10)
    result = as_json(outcome, outcome.ratings())
    names = ["hard", "hard #2", "random", "hard #3"]
    assert [entrant["name"] for entrant in result["entrants"]] == names
    assert {row["name"] for row in result["ratings"]["rows"]} == set(names)
    met = [(row["a"], row["b"]) for row in result["results"]]
    assert met == list(itertools.combinations(names, 2))
    assert [(r.a, r.b) for r in play("block", ("hard", "hard"), 10).results()] == [("hard", "hard")]
    tables = play("french", ("hard", "hard", "random", "easy"), 10, form="tables")
    assert [r.a for r in tables.results()] == ["hard", "hard #2", "random", "easy"]


@pytest.mark.parametrize("option", ["html", "json", "plots"])
@pytest.mark.parametrize(
    ("number", "told"),
    [
        (errno.ENOSPC, "no space is left for {}: make room, or name another place"),
        (errno.EIO, "{} can't be written: Input/output error; name another place"),
    ],
)
def test_outputs_that_cannot_be_written_name_option_and_remedy(
    option: str, number: int, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")
    real, opened = os.fdopen, []

    def full(handle: int, *more: Any) -> Any:
        opened.append(handle)
        if len(opened) > (option == "plots"):  # the second of a folder's files
            os.close(handle)
            raise OSError(number, os.strerror(number))
        return real(handle, *more)

    monkeypatch.setattr(os, "fdopen", full)
    target = tmp_path / "x"
    result = run(
        *("arena", "block", "--players", "hard,easy,random", "--deals", "30"),
        *(f"--{option}", str(target)),
    )
    assert result.exit_code == 2
    assert result.stderr == f"dominozoo: {option}: {told.format(target)}\n"
    assert "hard" in result.stdout  # what was played isn't lost
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


@pytest.mark.parametrize("option", ["html", "json", "plots"])
def test_a_device_is_no_output(option: str) -> None:
    words = ("arena", "block", "--players", "hard,easy", "--deals", "5")
    result = run(*words, f"--{option}", os.devnull)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"dominozoo: {option}: {os.devnull} is no ")
    assert result.stderr.count("\n") == 1
    assert not Path(os.devnull).is_file()


def damaged(text: str) -> list[str]:
    """Ways in which a file can be cut or changed."""
    value = json.loads(text)
    value["data"]["hands"] += 1
    other = json.loads(text)
    other["data"]["first"] = 77
    other["sha256"] = journal.checksum(other["data"])
    return [
        text[: len(text) // 2],
        "",
        "\0" * 100,
        "{}",
        "[]",
        json.dumps(value),
        json.dumps(other),
    ]


def test_damaged_units_are_played_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tournament, "DEALS", 20)
    found = play("block", NAMES[:2], 60, out=tmp_path)
    path = tmp_path / "units" / "0-1_000000020.json"
    text = path.read_text()
    played: list[Job] = []
    usual = Room.play

    def watching(room: Room, job: Job) -> Any:
        played.append(job)
        return usual(room, job)

    monkeypatch.setattr(Room, "play", watching)
    for broken in damaged(text):
        path.write_text(broken)
        played.clear()
        assert play("block", NAMES[:2], 60, out=tmp_path).results() == found.results()
        assert played == [Job((0, 1), 20, 20)]
        assert path.read_text() == text
    (path.parent / ".left.tmp").write_text("half a un")
    played.clear()
    assert play("block", NAMES[:2], 60, out=tmp_path).results() == found.results()
    assert not played
    assert not list(path.parent.glob(".*"))


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (["--deals", "50"], "deals=40, not 50"),
        (["--seed", "2"], "seed=1, not 2"),
        (["--unit", "match"], "unit=hand, not match"),
        (["--players", "hard,random"], "players=hard,easy, not hard,random"),
        (["--until-ci", "1"], "until-ci=None, not 1.0"),
        (["--style"], "style=False, not True"),
        (["--strict"], "strict=False, not True"),
    ],
)
def test_a_folder_of_another_plan_is_refused(more: list[str], told: str, tmp_path: Path) -> None:
    base = ["arena", "block", "--players", "hard,easy", "--deals", "40", "--out", str(tmp_path)]
    assert run(*base).exit_code == 0
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.json")}
    result = run(*base, *more)
    assert result.exit_code == 2
    assert f"was begun with {told}; give that again, or name another folder" in result.stderr
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.json")} == before
    assert run(*base).exit_code == 0


def test_a_player_whose_files_have_changed_is_another(player: Path) -> None:
    out = player / "kept"
    play("block", ("lodger:play", "hard"), 10, out=out)
    with (player / "lodger.py").open("a") as file:
        file.write("# better now\n")
    with pytest.raises(ArenaError, match="another lodger:play: its files have changed since"):
        play("block", ("lodger:play", "hard"), 10, out=out)


def test_folders_of_other_things_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(ArenaError, match="holds other things; name a new folder"):
        play("block", NAMES[:2], 10, out=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
    with pytest.raises(ArenaError, match=r"mine.txt is a file; name a folder"):
        play("block", NAMES[:2], 10, out=tmp_path / "mine.txt")
    for text in ("{", "[1]", '{"game": "block"}'):
        folder = tmp_path / f"other{len(text)}"
        folder.mkdir()
        (folder / "manifest.json").write_text(text)
        with pytest.raises(ArenaError, match=r"is damaged|was begun with arena=None"):
            play("block", NAMES[:2], 10, out=folder)
        assert [path.name for path in folder.iterdir()] == ["manifest.json"]


def test_two_arenas_do_not_share_a_folder(tmp_path: Path) -> None:
    pytest.importorskip("fcntl")
    entrants = bots(*NAMES[:2])
    plan = tournament.manifest(make_plan(make_setting("block", 10, 3), entrants), entrants)
    held = Journal(tmp_path, plan)
    with pytest.raises(ArenaError, match="another arena is playing in"):
        play("block", NAMES[:2], 10, out=tmp_path)
    held.close()
    play("block", NAMES[:2], 10, out=tmp_path)


@pytest.mark.parametrize(
    ("number", "told"),
    [
        (errno.ENOSPC, "no space is left for .* make room, then give the same command again"),
        (errno.EIO, "can't be written: Input/output error; name another folder"),
    ],
)
def test_a_disk_that_is_full_says_so_and_loses_nothing(
    number: int, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tournament, "DEALS", 20)
    whole = play("block", NAMES[:2], 60).results()
    usual, calls = os.fsync, itertools.count()

    def full(handle: int) -> None:
        if next(calls) == 2:  # the manifest, a unit, and no more
            raise OSError(number, os.strerror(number))
        usual(handle)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(ArenaError, match=told):
            play("block", NAMES[:2], 60, out=tmp_path)
    assert [path.name for path in (tmp_path / "units").iterdir()] == ["0-1_000000000.json"]
    assert play("block", NAMES[:2], 60, out=tmp_path).results() == whole


# Bad input, and what is shown


def test_reports_are_written_and_what_draws_them_is_looked_for_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")
    words = ["arena", "block", "--players", "hard,easy,random", "--deals", "30"]
    html, plots = tmp_path / "x.html", tmp_path / "plots"
    result = run(*words, "--html", str(html), "--plots", str(plots))
    assert result.exit_code == 0, result.output
    assert "hard" in html.read_text()
    assert (plots / "ranking.png").stat().st_size > 1000
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setattr(Room, "play", None)
    result = run(*words, "--html", str(tmp_path / "y.html"))
    assert result.exit_code == 2
    assert result.stderr.startswith("dominozoo: pictures need matplotlib: ")
    result = run(*words, "--html", str(tmp_path / "nowhere" / "y.html"))
    assert f"html: the folder {tmp_path / 'nowhere'} does not exist" in result.stderr


def test_tables_without_what_rates_them_are_shown_without_ratings(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "openskill", None)
    monkeypatch.setitem(sys.modules, "openskill.models", None)
    words = ["arena", "french", "--players", "hard,normal,easy,random", "--format", "tables"]
    result = run(*words, "--deals", "10", "--json", "-")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["ratings"] is None
    assert result.stderr.startswith("dominozoo: ratings of tables need openskill")


@pytest.mark.parametrize(
    ("game", "players", "more", "told"),
    [
        ("block", 2, {"form": "cup"}, "format must be one of all, swiss, tables, not 'cup'"),
        ("french", 5, {"form": "swiss"}, "format=swiss pairs two sides; french has 4"),
        ("french", 3, {"form": "tables"}, "format=tables needs 4 different players or more"),
        ("block", 4, {"rounds": 2}, "rounds are for format=swiss, not all"),
        ("block", 4, {"form": "swiss", "rounds": 3}, r"rounds must lie in 1\.\.2 with 4 players"),
        ("block", 4, {"form": "swiss", "rounds": 0}, r"rounds must lie in 1\.\.2"),
        ("block", 2, {"form": "swiss", "rounds": 3}, "rounds must be 1 with 2 players, not 3"),
        ("block", 2, {"until_ci": 0.0}, "--until-ci must lie above 0 and up to 50 points, not 0"),
        ("block", 2, {"until_ci": math.nan}, "--until-ci must lie above 0"),
        ("block", 2, {"conduct": Conduct(move_time=0)}, "--move-time must lie above 0"),
        ("block", 1, {}, "players: an arena needs two or more, not 1"),
    ],
)
def test_bad_plans_are_refused(game: str, players: int, more: Json, told: str) -> None:
    with pytest.raises(ArenaError, match=told):
        make_plan(make_setting(game, 10, 1), bots(*NAMES[:players]), **more)


@pytest.mark.parametrize("processes", [0, -1, True, 1.5])
def test_numbers_of_processes_out_of_range_are_refused(processes: Any) -> None:
    with pytest.raises(ArenaError, match="processes must be an integer of 1 or more"):
        play("block", NAMES[:2], 10, processes=processes)


def shown(outcome: Outcome) -> str:
    console = Console(file=io.StringIO(), width=200)
    console.print(pairs_table(outcome, as_json(outcome)))
    assert isinstance(console.file, io.StringIO)
    return " ".join(console.file.getvalue().split())


def test_the_caption_says_who_sits_where() -> None:
    assert "A pair each." in shown(play("partnership", NAMES[:2], 5))
    assert "a holds one seat in turn, b the other three." in shown(play("french", NAMES[:2], 5))
    three = shown(play("block(players=3)", NAMES[:2], 5))
    assert "a holds one seat in turn, b the other two." in three
    assert "seat" not in shown(play("block", NAMES[:2], 5))
    tables = shown(play("french", NAMES[:4], 5, form="tables"))
    assert "4 different players at each table, in every seat in turn." in tables


def test_who_sees_all_tiles_is_marked() -> None:
    entrants = [
        Entrant("omniscient", act=lambda o, m, u: m.argmax(axis=1), cheats=True),
        scripted("hard"),
    ]
    found = play_tournament(make_plan(make_setting("block", 5, 1), entrants), entrants)
    assert "omniscient (sees all tiles)" in shown(found)
    assert [row["cheats"] for row in as_json(found)["entrants"]] == [True, False]


def test_names_are_shown_as_they_are() -> None:
    entrants = [
        Entrant("[red]runs/x[/red]", act=lambda o, m, u: m.argmax(axis=1)),
        scripted("hard"),
    ]
    found = play_tournament(make_plan(make_setting("block", 5, 1), entrants), entrants)
    with contextlib.suppress(ImportError):
        assert "[red]runs/x[/red]" in shown(found)
