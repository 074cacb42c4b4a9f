"""Players who crash, cheat or dawdle don't end a tournament; with strict conduct they do."""

from __future__ import annotations

import contextlib
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from typer.testing import CliRunner

from dominozoo.bots import BOTS, kernels
from dominozoo.rules import Rules
from dominozoo_training.cli import app
from dominozoo_training.evaluation import asking
from dominozoo_training.evaluation.asking import Conduct
from dominozoo_training.evaluation.entrants import Entrant, scripted
from dominozoo_training.evaluation.outcome import Outcome
from dominozoo_training.evaluation.setting import ArenaError, make_setting
from dominozoo_training.evaluation.tournament import make_plan, play_tournament

Array = npt.NDArray[Any]


def first_legal(observation: Array, mask: Array, u: Array | None = None) -> Array:
    actions: Array = mask.argmax(axis=1)
    return actions


def meet(player: Entrant, game: str = "block", deals: int = 30, **conduct: Any) -> Outcome:
    """A player against random."""
    entrants = [player, scripted("random")]
    given = Conduct(**{"strict": False, **conduct})
    return play_tournament(
        make_plan(make_setting(game, deals, 1), entrants, conduct=given), entrants
    )


def fallbacks(outcome: Outcome) -> dict[str, int]:
    counts: dict[str, int] = outcome.counted()[0]["fallbacks"]
    return counts


def raises(observation: Array, mask: Array, u: Array) -> Array:
    raise RuntimeError("no idea")


def leaves(observation: Array, mask: Array, u: Array) -> Array:
    raise SystemExit(3)


def hangs(observation: Array, mask: Array, u: Array) -> Array:
    while True:
        with contextlib.suppress(Exception):
            time.sleep(0.01)


WRONG = {
    "illegal": lambda o, m, u: m.argmin(axis=1),
    "too large": lambda o, m, u: np.full(len(m), 10**12),
    "negative": lambda o, m, u: np.full(len(m), -1),
    "too few": lambda o, m, u: m.argmax(axis=1)[:-1],
    "one too deep": lambda o, m, u: m.argmax(axis=1)[:, None],
    "floats": lambda o, m, u: m.argmax(axis=1) * 1.0,
    "truths": lambda o, m, u: m.argmax(axis=1) > 0,
    "texts": lambda o, m, u: np.full(len(m), "6-6"),
    "nothing": lambda o, m, u: None,
}


@pytest.mark.parametrize("wrong", WRONG)
def test_illegal_answers_are_played_by_the_stand_in(wrong: str) -> None:
    found = meet(Entrant("bad", act=WRONG[wrong]))
    decisions = found.counted()[0]["decisions"]
    assert decisions > 50
    assert fallbacks(found) == {"illegal": decisions, "crashed": 0, "late": 0}
    assert found.results()[0] == meet(Entrant("bad", act=WRONG["illegal"])).results()[0]


@pytest.mark.parametrize("act", [raises, leaves])
def test_crashes_are_played_by_the_stand_in(act: Any) -> None:
    found = meet(Entrant("bad", act=act))
    decisions = found.counted()[0]["decisions"]
    assert fallbacks(found) == {"illegal": 0, "crashed": decisions, "late": 0}
    again = meet(Entrant("bad", act=act))
    assert found.results() == again.results()


def test_the_stand_in_is_the_bot_random() -> None:
    found = meet(Entrant("bad", act=raises), deals=3000).results()[0]
    assert found.low < 0.5 < found.high
    hard = [Entrant("bad", act=raises), scripted("hard")]
    plan = make_plan(make_setting("block", 3000, 1), hard)
    assert play_tournament(plan, hard).results()[0].win_rate < 0.42


def test_a_crash_costs_its_own_decision_alone() -> None:
    def picky(observation: Array, mask: Array, u: Array) -> Array:
        if (mask.sum(axis=1) == 5).any():
            raise ValueError("five are too many")
        return first_legal(observation, mask)

    seen: list[int] = []

    def counting(observation: Array, mask: Array, u: Array) -> Array:
        seen.extend(mask.sum(axis=1).tolist())
        return first_legal(observation, mask)

    counts = fallbacks(meet(Entrant("picky", act=picky)))
    meet(Entrant("counting", act=counting))
    assert 0 < counts["crashed"] < len(seen) / 4
    assert (counts["illegal"], counts["late"]) == (0, 0)


def test_what_a_player_does_to_its_arrays_is_its_own_affair() -> None:
    def scribbling(observation: Array, mask: Array, u: Array) -> Array:
        mask[:] = 1
        observation[:] = -1
        return np.full(len(mask), 3)

    assert fallbacks(meet(Entrant("bad", act=scribbling)))["illegal"] > 0


def test_late_answers_are_played_by_the_stand_in() -> None:
    def slow(observation: Array, mask: Array, u: Array) -> Array:
        end = time.perf_counter() + 0.002 * len(mask)
        while time.perf_counter() < end:
            sum(range(100))
        return first_legal(observation, mask)

    found = meet(Entrant("slow", act=slow), deals=3, move_time=0.001)
    decisions = found.counted()[0]["decisions"]
    assert fallbacks(found) == {"illegal": 0, "crashed": 0, "late": decisions}
    assert fallbacks(meet(Entrant("slow", act=slow), deals=3, move_time=1.0))["late"] == 0
    assert fallbacks(meet(Entrant("slow", act=slow), deals=3))["late"] == 0


def test_a_player_who_hangs_is_interrupted_and_soon_not_asked_any_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(asking, "WARM_UP", 0.05)
    monkeypatch.setattr(asking, "PATIENCE", 0.05)
    asked: list[int] = []

    def counted(observation: Array, mask: Array, u: Array) -> Array:
        asked.append(len(mask))
        return hangs(observation, mask, u)

    start = time.perf_counter()
    found = meet(Entrant("stuck", act=counted), deals=20, move_time=0.02)
    assert len(asked) == 1 + asking.GIVE_UP  # the first isn't counted
    assert time.perf_counter() - start < 5
    decisions = found.counted()[0]["decisions"]
    assert decisions > 50
    assert fallbacks(found) == {"illegal": 0, "crashed": 0, "late": decisions}


def test_the_first_answer_is_not_timed() -> None:
    started: list[float] = []

    def cold(observation: Array, mask: Array, u: Array) -> Array:
        if not started:
            started.append(time.perf_counter())
            time.sleep(0.3)
        return first_legal(observation, mask)

    assert fallbacks(meet(Entrant("cold", act=cold), deals=1, move_time=0.05))["late"] == 0


@pytest.mark.parametrize(
    ("act", "conduct", "message"),
    [
        (raises, {}, "players: bad failed: RuntimeError: no idea"),
        (leaves, {}, "players: bad failed: SystemExit: 3"),
        (WRONG["illegal"], {}, "bad: move .* is illegal; legal: "),
        (WRONG["floats"], {}, "bad: moves must be integers of shape"),
        (hangs, {"move_time": 0.001}, r"bad took .* s for \d+ decisions; --move-time is 0.001"),
    ],
)
def test_strict_conduct_stops(
    act: Any, conduct: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "WARM_UP", 0.05)
    with pytest.raises(ArenaError, match=message):
        meet(Entrant("bad", act=act), deals=2, strict=True, **conduct)


def test_ctrl_c_in_a_player_ends_the_arena() -> None:
    def interrupted(observation: Array, mask: Array, u: Array) -> Array:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        meet(Entrant("x", act=interrupted))


class Watching:
    """Plays as a scripted bot, on the tables themselves."""

    cheats = True

    def choose(self, rules: Rules, tables: Array, packed: Array, rng: Array, where: Array) -> Array:
        actions, rows = np.zeros(len(tables), np.int64), np.zeros(len(tables), np.bool_)
        rows[where] = True
        codes = np.full((len(tables), rules.players), BOTS["normal"], np.int8)
        kernels(rules).choose(tables, packed, codes, rng, actions, rows)
        chosen: Array = actions[where]
        return chosen


@pytest.mark.parametrize("game", ["block", "partnership", "cutthroat", "truc"])
def test_who_decides_on_the_tables_plays_as_inside_the_kernel(game: str) -> None:
    entrants = [Entrant("watching", choose=Watching().choose), scripted("normal")]
    setting = make_setting(game, 200, 1)
    found = play_tournament(make_plan(setting, entrants), entrants).results()[0]
    assert found.win_rate == pytest.approx(1 / setting.rules.sides, abs=0.04)
    itself = [entrants[0], entrants[0]]
    even = play_tournament(make_plan(setting, itself), itself).results()[0]
    assert even.win_rate == pytest.approx(1 / setting.rules.sides, abs=1e-12)


def test_time_is_counted_by_decision() -> None:
    def slow(observation: Array, mask: Array, u: Array) -> Array:
        time.sleep(0.0005 * len(mask))
        return first_legal(observation, mask)

    asked, inside = meet(Entrant("slow", act=slow), deals=10).counted()
    assert asked["decisions"] > 20
    assert 0.0005 <= asked["seconds_per_decision"] < 0.05
    assert (inside["decisions"], inside["seconds_per_decision"]) == (0, None)


def test_the_tables_and_the_json_tell_of_failures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "faulty.py").write_text(
        "def crash(observation, mask):\n    print('hello')\n    return 1 / 0\n"
        "def play(observation, mask):\n    print('hello')\n    return mask.argmax(axis=1)\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "faulty", raising=False)
    words = ["arena", "block", "--players", "faulty:crash,faulty:play", "--deals", "10"]
    shown = CliRunner().invoke(app, words)
    assert shown.exit_code == 0, shown.output
    assert "were played by the bot random" in " ".join(shown.stdout.split())
    result = CliRunner().invoke(app, [*words, "--json", "-"])
    crash, play = json.loads(result.stdout)["entrants"]  # what players print goes elsewhere
    assert crash["fallbacks"] == {"illegal": 0, "crashed": crash["decisions"], "late": 0}
    assert play["fallbacks"] == {"illegal": 0, "crashed": 0, "late": 0}
    assert play["decisions"] > 10
    strict = CliRunner().invoke(app, [*words, "--strict"])
    assert strict.exit_code == 2
    assert "faulty:crash failed: ZeroDivisionError" in strict.stderr
