"""Tables shared by threads: the same results, whatever their number."""

from __future__ import annotations

import os
import pickle
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from dominozoo import crew
from dominozoo.crew import LONGEST, SHORTEST, TRIAL, Crew, Pace, useful_threads
from dominozoo.sharing import (
    ASLEEP,
    CHECK,
    CHUNK,
    ILLEGAL,
    INSIDE,
    LINE,
    OPEN,
    PARTS,
    STEP,
    WORKERS,
    claim,
    close,
    enter,
    go_on,
    new_board,
    post,
    write_order,
)
from dominozoo.tables import FAMILIES, RESULTS, VIEWS, Tables

COUNT = 101  # divisible by no number of threads below


@pytest.fixture(autouse=True)
def few_rows_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crew, "ROWS_A_THREAD", 4)


@pytest.fixture
def always_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps are shared whether that pays or not."""

    class Always:
        shared = True

        def note(self, seconds: float) -> None:
            pass

    monkeypatch.setattr(crew, "Pace", Always)


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


@pytest.mark.usefixtures("always_shared")
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


@pytest.mark.usefixtures("always_shared")
@pytest.mark.parametrize("count", [COUNT, 4 * CHUNK + 1])
def test_helpers_take_rows_of_their_own_and_of_others(count: int) -> None:
    """Each row is stepped once, whoever comes when."""
    tables = Tables("block", count, seed=1, threads=3)
    for _ in range(300):
        plies = tables.records["hand_number"].astype(int) * 100 + tables.records["ply"]
        tables.step(tables.mask.argmax(axis=1))
        after = tables.records["hand_number"].astype(int) * 100 + tables.records["ply"]
        again = (tables.hands_ended > 0) | tables.terminated
        assert ((after == plies + 1) | again).all()


@pytest.mark.usefixtures("always_shared")
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


@pytest.mark.parametrize(
    ("rows", "threads", "useful"), [(1, 9, 1), (8, 2, 2), (11, 9, 2), (99, 3, 3)]
)
def test_no_thread_is_woken_for_a_few_rows(rows: int, threads: int, useful: int) -> None:
    assert useful_threads(rows, threads) == useful
    assert Tables("block", rows, seed=1, threads=threads).threads == threads


def helpers() -> int:
    return sum(thread.name == "tables" for thread in threading.enumerate())


def wait_for_helpers(number: int) -> None:
    for _ in range(500):
        if helpers() == number:
            return
        time.sleep(0.01)


def run(team: Crew, kernel: Callable[..., Any]) -> Any:
    return team.run(kernel, ("mine",), [("like",)] * (team.size - 1))


def test_helpers_start_when_needed_and_end_with_their_crew() -> None:
    wait_for_helpers(0)
    team = Crew(3)
    assert helpers() == 0
    assert run(team, lambda board, me, given: (me, given)) == (0, "mine")
    assert helpers() == 2
    del team
    wait_for_helpers(0)
    assert helpers() == 0


@pytest.mark.usefixtures("always_shared")
def test_the_work_is_done_side_by_side() -> None:
    meeting = threading.Barrier(3, timeout=30)
    given = set()

    def work(board: Any, me: int, mine: str) -> int:
        given.add((me, mine))
        return meeting.wait()

    team = Crew(3)
    run(team, lambda *_: None)
    assert run(team, work) in {0, 1, 2}
    assert given == {(0, "mine"), (1, "like"), (2, "like")}


@pytest.mark.usefixtures("always_shared")
def test_a_helper_is_woken_once_and_sleeps_again() -> None:
    done, went_on = threading.Event(), threading.Event()
    woken = []

    def work(board: Any, me: int, mine: str) -> None:
        if me:
            woken.append(me)
            went_on.wait(30)
            done.set()

    team = Crew(2)
    for _ in range(3):  # the first starts the helper, which is at work still when the third comes
        run(team, work)
    went_on.set()
    assert done.wait(30)
    asleep = PARTS + LINE + ASLEEP
    for _ in range(500):
        if team._board[asleep]:
            break
        time.sleep(0.01)
    assert woken == [1]
    run(team, work)
    for _ in range(500):
        if len(woken) == 2:
            break
        time.sleep(0.01)
    assert woken == [1, 1]


def opened(kind: int, rows: int, workers: int = 2) -> tuple[npt.NDArray[np.int64], int]:
    """A board with an order, and its number."""
    board = new_board(workers)
    board[WORKERS] = workers
    return board, post(board, kind, rows)


def test_rows_are_claimed_once_each_worker_s_own_first() -> None:
    board, _ = opened(STEP, 3 * CHUNK + 10)
    half = (3 * CHUNK + 10) // 2
    taken = [claim(board, 1), claim(board, 0), claim(board, 1), claim(board, 1), claim(board, 1)]
    rest = half - CHUNK
    assert taken == [(half, CHUNK), (0, CHUNK), (half + CHUNK, rest), (CHUNK, rest), (0, 0)]
    assert claim(board, 0) == (0, 0)


def test_an_order_closes_when_the_last_helper_has_left() -> None:
    close(new_board(1))  # compiles
    board, number = opened(STEP, 10)
    assert enter(board, 0, 1) == number
    closing = threading.Thread(target=close, args=(board,), daemon=True)
    closing.start()
    closing.join(0.2)
    assert closing.is_alive()
    assert board[OPEN] == 0
    assert go_on(board, 1, number, 10) == 0
    closing.join(30)
    assert not closing.is_alive()


def test_no_helper_enters_a_closed_order_or_one_it_has_left() -> None:
    board, number = opened(STEP, 10)
    assert enter(board, number, 5) == 0
    close(board)
    assert enter(board, 0, 5) == 0
    assert board[INSIDE] == 0
    assert enter(board, number, 5) == 0 != post(board, STEP, 10)
    assert enter(board, number, 5) == number + 1


def test_legal_actions_are_played_after_the_check_and_illegal_ones_never() -> None:
    board, number = opened(CHECK, 10)
    assert go_on(board, 0, number, 10) == number + 1
    assert go_on(board, 0, number + 1, 10) == 0
    board, number = opened(CHECK, 10)
    board[ILLEGAL] = 1
    assert go_on(board, 0, number, 10) == 0


def test_helpers_do_not_see_what_the_caller_does_alone() -> None:
    board, number = opened(STEP, 10, workers=1)
    assert enter(board, 0, 5) == 0
    assert claim(board, 0) == (0, 10)
    assert go_on(board, 0, number, 10) == 0


@pytest.mark.parametrize("one_hot", [False, True])
@pytest.mark.parametrize("game", ["block", "truc"])
def test_a_helper_does_the_whole_step_if_nobody_else_comes(game: str, one_hot: bool) -> None:
    tables = Tables(game, COUNT, seed=1, threads=2, one_hot=one_hot)
    alone = tables.copy()
    actions = tables.mask.argmax(axis=1).astype(np.int64)
    arrays = [getattr(tables, name) for name in VIEWS + RESULTS]
    _, options, _, *mine = tables._shared(tables.records, actions, *arrays)
    board = new_board(2)
    board[WORKERS] = 2
    write_order(board, options, *mine)
    post(board, STEP, COUNT)
    FAMILIES[tables.rules.variant.family].share_steps(board, 1, *tables._likes[0])
    assert board[INSIDE] == 0
    assert snapshot(tables) != snapshot(alone)
    alone.step(actions)
    assert snapshot(tables) == snapshot(alone)


def played(pace: Pace, alone: float, shared: float, steps: int) -> list[bool]:
    """How the steps are made when they take so long alone and shared."""
    how = []
    for _ in range(steps):
        how.append(pace.shared)
        pace.note(shared if pace.shared else alone)
    return how


@pytest.mark.parametrize(("shared", "wins"), [(0.6, True), (1.2, False), (50.0, False)])
def test_steps_are_shared_where_that_pays(shared: float, wins: bool) -> None:
    how = played(Pace(), 1.0, shared, 40_000)
    assert how.count(wins) > 0.99 * len(how)
    lost = how.count(True) * shared + how.count(False) - len(how) * min(shared, 1.0)
    assert lost < 0.04 * len(how)  # what the trials cost


def test_what_pays_is_tried_anew() -> None:
    pace = Pace()
    assert played(pace, 1.0, 0.5, 3 * LONGEST)[-1]
    assert not played(pace, 1.0, 2.0, LONGEST + 3 * TRIAL)[-1]
    assert played(pace, 1.0, 0.5, SHORTEST + 3 * TRIAL)[-1]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_process_starts_its_own_helpers() -> None:
    team = Crew(2)
    run(team, lambda *_: None)
    child = os.fork()
    if child == 0:
        run(team, lambda *_: None)
        os._exit(0 if helpers() == 1 else 1)
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
