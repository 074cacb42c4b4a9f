"""From the words of the command line to a configuration and a run's folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from dominozoo.bots.shipping import BUNDLE
from dominozoo.rules import RulesError, parse
from dominozoo_training.learning.config import (
    Config,
    ConfigError,
    check,
    load_config,
    merge,
    read_override,
)
from dominozoo_training.policy.folders import CheckpointError, policy_folder

CONFIGS: Final = Path("configs")
RUNS: Final = Path("runs")


def is_setting(word: str) -> bool:
    """True for ``ppo.clip=0.1``, False for ``block`` and ``draw(players=3)``."""
    return "=" in word.partition("(")[0]


def config_files(game: str | None, explicit: Path | None) -> list[Path]:
    """The files to read: ``configs/default.yaml``, then the given one or the game's own.

    A game with options has a file of its own, ``draw-players=3.yaml``, or else ``draw.yaml``.
    """
    own = explicit
    if own is None and game is not None:
        try:
            rules = parse(game)
        except RulesError as error:
            raise ConfigError(f"game: {error}") from None
        names = (slug(str(rules)), rules.game)
        found = [file for name in names if (file := CONFIGS / f"{name}.yaml").exists()]
        own = found[0] if found else None
    files = [CONFIGS / "default.yaml"]
    return [*(file for file in files if file.exists()), *([] if own is None else [own])]


def plan(
    game: str | None,
    settings: Sequence[str],
    *,
    config: Path | None = None,
    out: Path | None = None,
    resume: Path | None = None,
    options: dict[str, Any] | None = None,
) -> tuple[Config, Path]:
    """Work out what to do and where.

    Args:
        game: text form; None takes the configuration's.
        settings: ``key=value`` overrides.
        config: a YAML file.
        out: the run's folder; None makes one under ``runs/`` from the game's text form.
        resume: an earlier run's folder; its configuration is the base.
        options: dotted keys with values that win over everything; None values are left out.

    Raises:
        ConfigError: as ``load_config``, or for options that exclude each other.
        CheckpointError: if ``resume`` is no run with a checkpoint, or ``start`` no policy.
    """
    words = [*settings, *(f"{k}={v}" for k, v in (options or {}).items() if v is not None)]
    if resume is not None:
        from dominozoo_training.learning.state import resumable_config  # needs torch

        if out is not None or config is not None:
            raise ConfigError("--resume goes on in its own folder: leave out --out and --config")
        data = resumable_config(resume)
        if game is not None:
            data["game"] = str(parse(game))
        for word in words:
            merge(data, read_override(word))
        return check(data), resume
    found = load_config(game, config_files(game, config), words)
    if found.start is not None:
        start_folder(found.start)
    return found, out if out is not None else RUNS / run_name(found)


def start_folder(start: str) -> Path:
    """The folder of the policy that a run starts from; CheckpointError if the name means none."""
    try:
        return policy_folder(start)
    except CheckpointError as error:
        raise CheckpointError(
            f"start: {error}; name the folder of a policy or a run, no {BUNDLE} file and no player"
        ) from error


def run_folder(name: str) -> Path:
    """The folder of ``--name`` below ``runs/``; ConfigError for one that would lie elsewhere."""
    folder = Path(name)
    if not name or folder.is_absolute() or not folder.parts or ".." in folder.parts:
        raise ConfigError(f"name: {name!r} is no folder below {RUNS}/; --out takes any folder")
    return folder


def run_name(config: Config) -> str:
    """A folder's name for a game and seed: ``draw-players=3-seed=1``."""
    return f"{slug(config.game)}-seed={config.seed}"


def slug(game: str) -> str:
    """A game's text form as a part of a file's name.

    >>> slug("draw(players=3, target=50)")
    'draw-players=3-target=50'
    """
    return game.replace("(", "-").replace(")", "").replace(", ", "-")
