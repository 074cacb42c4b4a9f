"""Tables shared by threads: the same results, whatever their number."""

from __future__ import annotations

import os
import pickle
import threading
import time
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from dominozoo import crew
from dominozoo.crew import Crew, slices
from dominozoo.tables import Tables

COUNT = 101  # divisible by no number of threads below


@pytest.fixture(autouse=True)
def few_rows_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crew, "ROWS_A_THREAD", 4)


def choose(mask: npt.NDArray[np.int8], rng: np.random.Generator) -> npt.NDArray[np.int64]:
    return np.asarray(((rng.random(mask.shape) + 1) * mask).argmax(axis=1), np.int64)


def snapshot(tables: Tables) -> bytes:
    arrays = (
        tables.records,
        tables.observation,
        tables.mask,
        tables.turn,
        tables.reward,
        tables.hands_ended,
        tables.terminated,
        tables.truncated,
        tables.forced,
    )
    return b"".join(np.ascontiguousarray(a).tobytes() for a in arrays)


@pytest.mark.parametrize("one_hot", [False, True])
@pytest.mark.parametrize("game", ["block", "truc"])
def test_the_results_do_not_depend_on_the_number_of_threads(game: str, one_hot: bool) -> None:
    options: dict[str, Any] = {"seed": 4, "one_hot": one_hot, "max_hands": 2, "auto_forced": True}
    alone = Tables(game, COUNT, **options)
    crews = [Tables(game, COUNT, threads=n, **options) for n in (2, 3, 7)]
    rng = np.random.default_rng(0)
    ended = 0
    for step in range(40):
        actions = choose(alone.mask, rng)
        for tables in (alone, *crews):
            tables.step(actions)
            if step == 20:
                tables.refresh()
        assert len({snapshot(tables) for tables in (alone, *crews)}) == 1
        ended += int(alone.terminated.sum())
    assert ended > COUNT


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
@pytest.mark.parametrize("table", [0, 50, COUNT - 1])
def test_an_illegal_action_in_any_slice_moves_nothing(threads: int, table: int) -> None:
    tables = Tables("block", COUNT, seed=4, threads=threads)
    before = snapshot(tables)
    actions = tables.mask.argmax(axis=1)
    actions[table] = 57
    with pytest.raises(ValueError, match=rf"^table {table}: action 57 is illegal"):
        tables.step(actions)
    assert snapshot(tables) == before
    actions[-1] = actions[table] = 57
    with pytest.raises(ValueError, match=rf"^table {table}: "):
        tables.step(actions)


@pytest.mark.parametrize("how", ["copy", "pickle"])
def test_copies_play_on_with_threads_of_their_own(how: str) -> None:
    tables = Tables("draw", COUNT, seed=1, threads=3)
    tables.step(tables.mask.argmax(axis=1))
    twin = tables.copy() if how == "copy" else pickle.loads(pickle.dumps(tables))
    assert twin.threads == 3
    for _ in range(3):
        actions = tables.mask.argmax(axis=1)
        tables.step(actions)
        assert snapshot(tables) != snapshot(twin)
        twin.step(actions)
        assert snapshot(tables) == snapshot(twin)


@pytest.mark.parametrize("threads", [0, -1, 1.5, "2", True, None])
def test_numbers_of_threads_that_cannot_be_are_refused(threads: Any) -> None:
    with pytest.raises(ValueError, match="threads must be an integer of at least 1, not "):
        Tables("block", 4, seed=1, threads=threads)


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
@pytest.mark.parametrize("rows", [1, 3, 4, 8, 27, COUNT])
def test_slices_cover_each_row_once_and_none_is_small(rows: int, threads: int) -> None:
    parts = slices(rows, threads)
    assert [row for part in parts for row in range(rows)[part]] == list(range(rows))
    assert len(parts) == max(1, min(threads, rows // 4))
    sizes = [part.stop - part.start for part in parts]
    assert max(sizes) - min(sizes) <= 1


def helpers() -> int:
    return sum(thread.name == "tables" for thread in threading.enumerate())


def wait_for_helpers(number: int) -> None:
    for _ in range(500):
        if helpers() == number:
            return
        time.sleep(0.01)


def test_helpers_start_when_needed_and_end_with_their_crew() -> None:
    wait_for_helpers(0)
    team = Crew(3)
    assert helpers() == 0
    assert team.run(abs, [-1]) == [1]
    assert helpers() == 0
    assert team.run(abs, [-1, 2, -3]) == [1, 2, 3]
    assert team.run(abs, [-4, -5]) == [4, 5]
    assert helpers() == 2
    del team
    wait_for_helpers(0)
    assert helpers() == 0


def test_the_work_is_done_side_by_side() -> None:
    meeting = threading.Barrier(3, timeout=30)
    assert sorted(Crew(3).run(lambda _: meeting.wait(), [0, 0, 0])) == [0, 1, 2]


def test_the_first_error_is_raised_once_all_are_done() -> None:
    done = []

    def work(part: int) -> None:
        if part == 3:
            time.sleep(0.1)
        done.append(part)
        if part in {1, 2}:
            raise ValueError(f"part {part}")

    team = Crew(4)
    with pytest.raises(ValueError, match="part 1"):
        team.run(work, [0, 1, 2, 3])
    assert sorted(done) == [0, 1, 2, 3]
    assert team.run(abs, [-1, -2]) == [1, 2]


def test_an_interrupted_crew_does_not_mistake_late_answers() -> None:
    team = Crew(2)

    def work(part: int) -> int:
        if part == 0:
            raise KeyboardInterrupt
        time.sleep(0.05)
        return part

    with pytest.raises(KeyboardInterrupt):
        team.run(work, [0, 7])
    assert team.run(abs, [-1, -2]) == [1, 2]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_process_starts_its_own_helpers() -> None:
    team = Crew(2)
    team.run(abs, [-1, -2])
    child = os.fork()
    if child == 0:
        os._exit(0 if team.run(abs, [-3, -4]) == [3, 4] else 1)
    for _ in range(1000):
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            break
        time.sleep(0.01)
    else:
        os.kill(child, 9)
        os.waitpid(child, 0)
        pytest.fail("the child waits for helpers that it hasn't")
    assert os.waitstatus_to_exitcode(status) == 0
