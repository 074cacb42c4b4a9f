"""A training run from its configuration to a policy with a card.

A run's folder: ``config.yaml``, ``metrics.jsonl``, ``tensorboard/``, ``checkpoints/<decisions>/``
(each can be played and resumed), ``best/`` (the strongest so far) and at the end ``policy/``, ready
to be published.
"""

from __future__ import annotations

import math
import shutil
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import FrameType
from typing import Final, NoReturn

import torch
from rich.console import Console

from dominozoo_training.learning import ppo
from dominozoo_training.learning.config import Config, to_yaml
from dominozoo_training.learning.display import Display, Metrics
from dominozoo_training.learning.distributed import command_of, joined
from dominozoo_training.learning.judging import UNITS, card, measure, report, strengths
from dominozoo_training.learning.rollout import Player
from dominozoo_training.learning.state import (
    Learner,
    begin,
    collected,
    frozen_policy,
    last_checkpoint,
    new_learner,
    policy_meta,
    restore,
    save,
    snapshot,
)
from dominozoo_training.policy.checkpoint import policy_files
from dominozoo_training.policy.folders import (
    BEST,
    CHECKPOINTS,
    PUBLISHED,
    CheckpointError,
    cannot_write,
    read_meta,
    require_writable,
    write_file,
    write_folder,
)

OWN: Final = (CHECKPOINTS, BEST, PUBLISHED, "tensorboard")


class TrainingError(RuntimeError):
    """Training that can't go on; the text says what was saved."""


class Stop:
    """Whether somebody asked the run to end, and by which signal."""

    def __init__(self) -> None:
        self.by: str | None = None

    def ask(self, number: int, frame: FrameType | None) -> None:
        """Handle a signal: the loop ends after this update; a second Ctrl-C ends at once."""
        if self.by is not None:
            raise KeyboardInterrupt
        self.by = signal.Signals(number).name


@contextmanager
def stop_on_signals(stop: Stop) -> Iterator[None]:
    """Turn SIGINT and SIGTERM into a wish to stop."""
    old = {number: signal.signal(number, stop.ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)


def train(
    config: Config,
    run: Path,
    *,
    resume: bool = False,
    force: bool = False,
    display: Display | None = None,
    command: str = "",
    stop: Stop | None = None,
) -> Path:
    """Train until the budget is used or somebody asks to stop.

    Args:
        config: what to do.
        run: the run's folder.
        resume: go on from the folder's last checkpoint.
        force: replace an earlier run in the folder.
        display: where progress is shown; None prints to standard error.
        command: how the run was started, for the card.
        stop: says afterwards whether the run was stopped, and by what.

    Returns:
        The folder of the policy: ``run/policy``, or the last checkpoint of a run that was stopped.
        A finished run that is resumed with the budget it had is left as it is.

    Raises:
        CheckpointError: the folder can't be written, holds a run already, or can't be resumed.
        TrainingError: the losses are no numbers any more; the last good state is saved.
    """
    torch.set_num_threads(config.threads)
    torch.set_flush_denormal(True)
    with joined(config.device) as team:
        learner = new_learner(config, team)
        policy = _train(learner, run, resume, force, display, command, stop or Stop())
        team.wait()
        return policy


def _train(
    learner: Learner,
    run: Path,
    resume: bool,
    force: bool,
    display: Display | None,
    command: str,
    stop: Stop,
) -> Path:
    """As :func:`train`, with its learner at hand."""
    config, team = learner.config, learner.team
    if resume:
        restore(learner, last_checkpoint(run))
    else:
        begin(learner)
    display = display or Display(
        f"{config.rules} in {run}", *([] if team.leads else [Console(quiet=True)])
    )
    if resume and is_finished(learner, run):
        display.say(f"finished already: {run / PUBLISHED}; a larger budget goes on")
        return run / PUBLISHED
    if team.leads:
        prepare(run, config, resume=resume, force=force)
    with ExitStack() as stack:
        stack.enter_context(stop_on_signals(stop))
        stack.enter_context(display)
        metrics = stack.enter_context(Metrics(run, learner.decisions)) if team.leads else None
        loop(learner, run, metrics, display, stop)
        last = save_all(learner, run, snapshot(learner))
        if stop.by is not None:
            display.say(f"stopped by {stop.by}; to go on: {command_of(team.size)} --resume {run}")
            return last
        if metrics is None:
            return run / PUBLISHED
        return publish(learner, run, metrics, display, command)


def is_finished(learner: Learner, run: Path) -> bool:
    """True if the budget is used and the policy that came of it is there, judged."""
    published = run / PUBLISHED
    if progress(learner) < 1 or not published.exists():
        return False
    return bool(read_meta(published).get("decisions") == learner.decisions)


def prepare(run: Path, config: Config, *, resume: bool, force: bool) -> None:
    """Make the run's folder and see that it can be written, before any work is done."""
    require_writable(run)
    if not resume and (run / CHECKPOINTS).exists():
        if not force:
            raise CheckpointError(
                f"{run} already holds a run: take another --out, or --resume it, or --force"
            )
        for name in OWN:
            shutil.rmtree(run / name, ignore_errors=True)
        (run / "metrics.jsonl").unlink(missing_ok=True)
    try:
        write_file(run / "config.yaml", to_yaml(config).encode())
    except OSError as error:
        raise cannot_write(run, error) from error


class Clock:
    """When something that happens every so many minutes is due."""

    def __init__(self, minutes: float) -> None:
        self.seconds = 60 * minutes
        self.last = time.perf_counter()

    def due(self) -> bool:
        """True once each period."""
        if time.perf_counter() - self.last < self.seconds:
            return False
        self.last = time.perf_counter()
        return True


def loop(
    learner: Learner, run: Path, metrics: Metrics | None, display: Display, stop: Stop
) -> None:
    """Play and learn until the budget is used or ``stop`` is set, in all processes of a team.

    Whatever ends or saves is agreed upon once an update: clocks and signals differ.
    """
    config, team, player = learner.config, learner.team, learner.player()
    saving = Clock(config.checkpoints.every_minutes)
    judging = Clock(config.evaluation.every_minutes)
    best = best_so_far(run)
    first, began = learner.decisions, time.process_time()
    stopped = agreed(learner, stop)
    while not stopped and progress(learner) < 1:
        good, start = snapshot(learner), time.perf_counter()
        before = learner.decisions
        figures = learn_once(learner, player)
        if team.any(not all_finite(figures)):
            give_up(learner, run, good, figures)
        spent = time.perf_counter() - start
        figures["decisions_per_second"] = (learner.decisions - before) / spent
        learner.seconds += spent
        start = time.perf_counter()
        if metrics is not None:
            metrics.write("train", learner.decisions, figures)
            display.show(figures)
            if judging.due():
                best = watch(learner, run, metrics, display, best)
        learner.seconds += time.perf_counter() - start
        stopped = agreed(learner, stop)
        if team.any(saving.due()):
            save_all(learner, run, snapshot(learner))
    if metrics is not None and learner.decisions > first:
        made = (learner.decisions - first) / team.size
        display.say(where_time_went(player, made / (time.process_time() - began)))


def where_time_went(player: Player, rate: float) -> str:
    """A line on speed: what the shares of learning's time are, without judging and saving.

    Args:
        player: tells what it spent.
        rate: decisions a second of the processor's time, all threads and everything included.
    """
    total = sum(player.spent.values())
    shares = ", ".join(f"{name} {s / total:.0%}" for name, s in player.spent.items())
    return f"{rate / 1e3:.1f} k decisions per CPU second; time of learning: {shares}"


def agreed(learner: Learner, stop: Stop) -> bool:
    """Set the clocks of a team's processes alike; returns whether one of them is to stop."""
    learner.seconds = learner.team.most(learner.seconds)
    stopped = learner.team.any(stop.by is not None)
    if stopped and stop.by is None:
        stop.by = "another process"
    return stopped


def save_all(learner: Learner, run: Path, files: dict[str, bytes]) -> Path:
    """Write a checkpoint from all processes' files; who leads does, the others hand theirs over."""
    files = collected(learner, files)
    if learner.team.leads:
        return save(run, files, learner.config.checkpoints.keep)
    return run


def learn_once(learner: Learner, player: Player) -> dict[str, float]:
    """Play a batch and learn from it; returns its figures, which may be infinite or no numbers."""
    config = learner.config
    batch = player.play(config.rollout.steps, config.ppo.gae_lambda, config.rollout.goal)
    with player.timed("update"):
        figures = ppo.update(
            learner.policy,
            learner.critic,
            learner.optimiser,
            batch,
            config.ppo,
            learner.rng,
            progress(learner),
            learner.magnet,
            learner.team,
        )
    learner.decisions += batch.chosen.numel() * learner.team.size
    learner.updates += 1
    learner.follow()
    return figures | {
        "decisions": learner.decisions,
        "progress": progress(learner),
        "forced_share": batch.forced / (batch.forced + batch.chosen.numel()),
        "hands": batch.hands,
    }


def all_finite(figures: dict[str, float]) -> bool:
    """Whether learning went well: no figure is infinite or no number."""
    return all(math.isfinite(value) for value in figures.values())


def progress(learner: Learner) -> float:
    """How much of the budget is used, 0..1 and beyond."""
    budget = learner.config.budget
    decisions = learner.decisions / budget.decisions if budget.decisions else 0.0
    minutes = learner.seconds / 60 / budget.minutes if budget.minutes else 0.0
    return max(decisions, minutes)


def give_up(
    learner: Learner, run: Path, good: dict[str, bytes], figures: dict[str, float]
) -> NoReturn:
    """Save the state before the last update and say what became infinite or not a number."""
    names = ", ".join(name for name, value in figures.items() if not math.isfinite(value))
    folder = save_all(learner, run, good)
    raise TrainingError(
        f"training diverged: {names or 'figures of another process'} no finite number; the last "
        f"good state is {folder}; try a smaller ppo.learning_rate"
    )


def best_so_far(run: Path) -> float:
    """Win rate of the run's best policy against the last opponent; -inf before there is one."""
    if not (run / BEST).exists():
        return -math.inf
    return float(read_meta(run / BEST)["strength"][-1]["win_rate"])


def watch(learner: Learner, run: Path, metrics: Metrics, display: Display, best: float) -> float:
    """Judge the policy, keep it if it is the strongest against the last opponent; returns that."""
    settings = learner.config.evaluation
    results = measure(learner, settings.deals, settings.seed, settings.unit)
    report(learner, metrics, display, "eval", results)
    if results[-1].win_rate <= best:
        return best
    policy = frozen_policy(learner)
    meta = policy_meta(learner, policy, strength=strengths(results, settings.seed, settings.unit))
    write_folder(run / BEST, policy_files(policy, meta))
    return results[-1].win_rate


def publish(learner: Learner, run: Path, metrics: Metrics, display: Display, command: str) -> Path:
    """Judge the final policy on fresh deals and write its folder, with a card."""
    settings, measured = learner.config.evaluation, []
    for unit, deals in settings.finals.items():
        results = measure(learner, deals, settings.final_seed, unit)
        kind = "final" if unit == settings.unit else f"final_{UNITS[unit]}"
        report(learner, metrics, display, kind, results)
        measured += strengths(results, settings.final_seed, unit)
    policy = frozen_policy(learner)
    meta = policy_meta(learner, policy, command=command, strength=measured)
    write_folder(run / PUBLISHED, policy_files(policy, meta, card(learner, measured, command)))
    display.say(f"done: {run / PUBLISHED}")
    return run / PUBLISHED
