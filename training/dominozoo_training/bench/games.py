"""What the games are measured by: each function returns chunks, or figures, of one case."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from typing import Any, Final

import gymnasium
import numpy as np
import numpy.typing as npt

from dominozoo import GYMNASIUM_IDS
from dominozoo.bots import BOTS, kernels, seed_bots
from dominozoo.rules import Rules
from dominozoo.tables import FAMILIES, Tables
from dominozoo_training.bench.c_program import CTables
from dominozoo_training.bench.timing import Chunk, timed

SEED: Final = 1
KERNEL_BATCH: Final = 256
KERNEL_MOVES: Final = 256
SCRIPT_MOVES: Final = 1 << 17  # of a recorded script, all tables together
THREAD_MOVES: Final = 1 << 19  # where helpers have to wake first
SCRIPT_STEPS: Final = (8, 4096)  # at least and at most

Clock = Callable[[], float]


def words_for(batch: int) -> npt.NDArray[np.uint32]:
    """A generator word a table for ``random_play``, none of them 0."""
    rng = np.random.default_rng(SEED)
    return rng.integers(1, 1 << 32, batch, dtype=np.uint32)


def random_play(tables: Tables) -> Any:
    """The compiled random play of the tables' family."""
    return FAMILIES[tables.rules.variant.family].batch.random_play


def kernel(rules: Rules) -> Chunk:
    """Random moves inside one call, nothing written but the tables."""
    tables = Tables(rules, KERNEL_BATCH, seed=SEED)
    words, counts = words_for(KERNEL_BATCH), np.zeros(16, np.int64)
    play = random_play(tables)

    def work() -> int:
        play(tables.records, tables.packed, words, KERNEL_MOVES, counts)
        return KERNEL_BATCH * KERNEL_MOVES

    return lambda: timed(work)


def c_program(rules: Rules) -> Chunk:
    """The same deals and choices in C.

    Raises:
        Unavailable: no compiler, or a game that isn't played in C.
    """
    tables = CTables(rules, KERNEL_BATCH, SEED)
    words, counts = words_for(KERNEL_BATCH), np.zeros(16, np.int64)

    def work() -> int:
        tables.play(words, KERNEL_MOVES, counts)
        return KERNEL_BATCH * KERNEL_MOVES

    return lambda: timed(work)


def moves_a_hand(rules: Rules) -> float:
    """Moves of a hand in random play, passes and draws among them."""
    tables = Tables(rules, 512, seed=SEED)
    counts = np.zeros(16, np.int64)
    random_play(tables)(tables.records, tables.packed, words_for(512), 4000, counts)
    return float(counts[0] / counts[1])


def random_legal(mask: npt.NDArray[np.int8], rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """A random legal action a row, (B,): the first in one random order of all actions."""
    order = rng.random(mask.shape[1], dtype=np.float32) + np.float32(0.5)
    return np.asarray((mask * order).argmax(axis=1), np.int64)


def mix(tables: Tables) -> None:
    """Play on from the deal, so that the tables stand in different places of their hands."""
    words, counts = words_for(len(tables)), np.zeros(16, np.int64)
    random_play(tables)(tables.records, tables.packed, words, 64, counts)
    tables.refresh()


def script(tables: Tables, moves: int | None = None) -> list[npt.NDArray[np.int64]]:
    """Play ``moves`` or SCRIPT_MOVES, all tables together, and write down each step's actions.

    The tables are put back as they were.
    """
    before, rng = tables.records.copy(), np.random.default_rng(SEED)
    least, most = SCRIPT_STEPS
    actions = []
    for _ in range(min(most, max(least, (moves or SCRIPT_MOVES) // len(tables)))):
        actions.append(random_legal(tables.mask, rng))
        tables.step(actions[-1])
    tables.records[:] = before
    tables.refresh()
    return actions


def replay(
    tables: Tables, actions: list[npt.NDArray[np.int64]], clock: Clock = time.process_time
) -> Chunk:
    """Steps of written-down actions, so that no choice is timed; each chunk begins anew."""
    before = tables.records.copy()

    def work() -> int:
        for chosen in actions:
            tables.step(chosen)
        return len(actions) * len(tables)

    def chunk() -> tuple[int, float]:
        tables.records[:] = before
        tables.refresh()
        return timed(work, clock)

    return chunk


def step(rules: Rules, batch: int, one_hot: bool = False) -> Chunk:
    """`Tables.step`, checked, with observation, mask and reward."""
    tables = Tables(rules, batch, seed=SEED, one_hot=one_hot)
    mix(tables)
    return replay(tables, script(tables))


def step_float32(rules: Rules, batch: int) -> Chunk:
    """The same with the observation's one-hot form, float32."""
    return step(rules, batch, one_hot=True)


def step_threads(rules: Rules, batch: int, threads: tuple[int, ...]) -> list[Chunk]:
    """The same by numbers of threads, by the clock on the wall."""
    first = Tables(rules, batch, seed=SEED)
    mix(first)
    actions, chunks = script(first, THREAD_MOVES), []
    for number in threads:
        tables = Tables(rules, batch, seed=SEED, threads=number)
        tables.records[:] = first.records
        chunks.append(replay(tables, actions, time.perf_counter))
    return chunks


def aec(factory: str, rules: Rules, batch: None = None, moves: int = 500) -> Chunk:
    """``last`` and ``step`` of the AEC environment with a cheap choice among the mask's ones."""
    make = getattr(importlib.import_module(f"dominozoo.{rules.module}"), factory)
    env = make(**rules.options)
    env.reset(seed=SEED)
    word = 1

    def work() -> int:
        nonlocal word
        done = 0
        while done < moves:
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.reset()
                continue
            legal = observation["action_mask"].nonzero()[0]
            word = word * 1103515245 + 12345 & 0x7FFFFFFF
            env.step(legal[word % len(legal)])
            done += 1
        return done

    return lambda: timed(work)


def vector_env(rules: Rules, batch: int) -> Chunk:
    """Decisions of the learning seats against hard opponents; the choice isn't timed."""
    name = next(key for key, game in GYMNASIUM_IDS.items() if game == rules.game)
    options: dict[str, Any] = {"opponents": "hard", **rules.options}
    env = gymnasium.make_vec(name, num_envs=batch, **options)
    rng = np.random.default_rng(SEED)
    mask = env.reset(seed=SEED)[0]["action_mask"]

    def chunk() -> tuple[int, float]:
        nonlocal mask
        actions = random_legal(mask, rng)
        start = time.process_time()
        mask = env.step(actions)[0]["action_mask"]
        return batch, time.process_time() - start

    return chunk


def bot(name: str, rules: Rules, batch: int) -> Chunk:
    """Decisions of a scripted bot, forced ones among them; the tables' steps aren't timed."""
    tables = Tables(rules, batch, seed=SEED, checked=False)
    bots = kernels(rules)
    codes = np.full((batch, rules.players), BOTS[name], np.int8)
    rng = np.zeros((batch, 4), np.uint32)
    seed_bots(rng, SEED, 0, 0)
    actions, everywhere = np.zeros(batch, np.int64), np.ones(batch, np.bool_)

    def work() -> int:
        bots.choose(tables.records, tables.packed, codes, rng, actions, everywhere)
        return batch

    def chunk() -> tuple[int, float]:
        count, seconds = timed(work)
        tables.step(actions)
        return count, seconds

    return chunk


def table_bytes(rules: Rules) -> float:
    """Bytes of a table's record, which is the whole game."""
    return float(Tables(rules, 1, seed=SEED).records.itemsize)
