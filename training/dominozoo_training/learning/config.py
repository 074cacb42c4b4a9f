"""What a training run is told: YAML files, ``key=value`` overrides, checked names and types.

>>> config = load_config("block", overrides=["ppo.learning_rate=0.001", "seed=3"])
>>> config.seed, config.ppo.learning_rate
(3, 0.001)
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import ErrorDetails

from dominozoo.rules import Rules, RulesError, parse

Count = Annotated[int, Field(ge=1, le=1 << 40)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Deals = Annotated[int, Field(ge=2, le=1 << 24)]
Share = Annotated[float, Field(ge=0, le=1)]
Seed = Annotated[int, Field(ge=0, lt=1 << 63)]
Widths = Annotated[
    tuple[Annotated[int, Field(ge=1, le=4096)], ...], Field(max_length=4, strict=False)
]
Opponent = Literal["random", "easy", "normal", "hard", "mobility"]


class ConfigError(ValueError):
    """A configuration that can't be used; the text names the key and what it takes."""


class Section(BaseModel):
    """A part of the configuration: unknown keys are errors, types are exact, values never change."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Network(Section):
    """Widths of the hidden layers.

    Attributes:
        hidden: the policy's score of an action.
        value_hidden: the policy's own value of a position, exported with it.
        critic_hidden: the critic, which sees every hand and is not kept.
    """

    hidden: Widths = (64, 64)
    value_hidden: Widths = (32,)
    critic_hidden: Widths = (64, 64)


class Rollout(Section):
    """What is played between two updates.

    Attributes:
        tables: tables side by side.
        steps: decisions on each.
        goal: what is maximised: a hand's points, won hands, or won matches.
    """

    tables: Annotated[int, Field(ge=1, le=1 << 20)] = 2048
    steps: Annotated[int, Field(ge=1, le=4096)] = 32
    goal: Literal["points", "win", "match"] = "points"


class Ppo(Section):
    """The update; a value and its ``_end`` make a linear schedule over the budget.

    Attributes:
        minibatch: decisions in a gradient step; ``rollout.tables`` must be a multiple of it.
        magnet: weight of the divergence from a policy that follows slowly, the magnet; 0 = none.
        magnet_every: updates after which the magnet becomes the policy as it is then.
        critic_weight: of the critic's loss.
        value_weight: of the loss of the policy's own value.
        bf16: networks multiply in bfloat16, while playing, too; weights and losses stay float32.
    """

    learning_rate: Positive = 3e-3
    learning_rate_end: Share = 1e-4
    entropy: Share = 0.02
    entropy_end: Share = 0.002
    magnet: Share = 0.0
    magnet_every: Count = 20
    clip: Positive = 0.2
    gae_lambda: Share = 0.9
    minibatch: Count = 2048
    epochs: Annotated[int, Field(ge=1, le=100)] = 1
    critic_weight: Share = 0.5
    value_weight: Share = 0.5
    max_grad_norm: Positive = 0.5
    bf16: bool = False


class Budget(Section):
    """When training ends: at whichever comes first; None sets no limit."""

    minutes: Positive | None = None
    decisions: Count | None = None


class Evaluation(Section):
    """How strength is watched: duplicate deals against fixed opponents.

    Attributes:
        unit: what is won while training: hands, or whole matches.
        deals: deals each time, each played from every side.
        final_deals: deals of single hands at the end of the run.
        final_matches: first deals of whole matches at the end; None = none are played, or as many
            as hands where matches are what is watched.
        seed: of the deals while training.
        final_seed: of the deals at the end, which nothing was chosen by.
    """

    every_minutes: Positive = 0.25
    unit: Literal["hand", "match"] = "hand"
    deals: Deals = 1000
    final_deals: Deals = 20_000
    final_matches: Deals | None = None
    opponents: Annotated[tuple[Opponent, ...], Field(strict=False, min_length=1)] = (
        "random",
        "normal",
        "hard",
    )
    seed: Seed = 1_000_003
    final_seed: Seed = 2_000_003

    @property
    def finals(self) -> dict[str, int]:
        """Deals at the end of the run by what is won."""
        matches = self.final_matches
        if matches is None and self.unit == "match":
            matches = self.final_deals
        return {"hand": self.final_deals} | ({} if matches is None else {"match": matches})


class Checkpoints(Section):
    """How often the run is saved, and how many checkpoints are kept beside the best."""

    every_minutes: Positive = 1.0
    keep: Count = 3


class Config(Section):
    """A whole run.

    Attributes:
        start: a policy whose weights are where learning begins, as ``load_policy`` takes it, also of
            another game with the same seats and ends; None = fresh weights.
        threads: torch's, on the CPU.
        compile: hand the networks to ``torch.compile``; on the CPU it needs a C++ compiler.
    """

    game: str = "block"
    start: str | None = None
    seed: Seed = 0
    device: Literal["auto", "cpu", "cuda"] = "auto"
    threads: Annotated[int, Field(ge=1, le=1024)] = 1
    compile: bool = False
    network: Network = Network()
    rollout: Rollout = Rollout()
    ppo: Ppo = Ppo()
    budget: Budget = Budget(minutes=5.0)
    evaluation: Evaluation = Evaluation()
    checkpoints: Checkpoints = Checkpoints()

    @model_validator(mode="after")
    def _fits_together(self) -> Config:
        if self.rollout.tables % self.ppo.minibatch:
            raise ValueError(
                f"rollout.tables={self.rollout.tables} must be a multiple of "
                f"ppo.minibatch={self.ppo.minibatch}"
            )
        if self.budget.minutes is None and self.budget.decisions is None:
            raise ValueError("give budget.minutes or budget.decisions, else training never ends")
        return self

    @property
    def rules(self) -> Rules:
        """The rules of ``game``."""
        return parse(self.game)


def load_config(
    game: str | None = None,
    files: Iterable[Path | str] = (),
    overrides: Iterable[str] = (),
) -> Config:
    """Merge files and overrides, later ones winning, and check the result.

    Args:
        game: text form of the game; None leaves it to the files.
        files: YAML files.
        overrides: ``key=value`` with dotted keys and YAML values.

    Raises:
        ConfigError: a file that can't be read, an unknown key, a value that isn't taken.
    """
    data: dict[str, Any] = {}
    for file in files:
        merge(data, read_yaml(Path(file)))
    if game is not None:
        data["game"] = game
    for override in overrides:
        merge(data, read_override(override))
    return check(data)


def read_yaml(path: Path) -> dict[str, Any]:
    """Read a YAML file that holds a mapping.

    Raises:
        ConfigError: if the file is missing, no YAML or no mapping.
    """
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror or error}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is no YAML: {' '.join(str(error).split())}") from error
    if data is None:
        return {}
    if not isinstance(data, dict) or not all(isinstance(key, str) for key in data):
        raise ConfigError(f"{path} must hold keys and values, like 'seed: 1'")
    return data


def read_override(text: str) -> dict[str, Any]:
    """Turn ``ppo.clip=0.1`` into nested dictionaries.

    Raises:
        ConfigError: if there is no ``=`` or the value is no YAML.
    """
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise ConfigError(f"{text!r} is no setting; write it like 'ppo.learning_rate=0.001'")
    try:
        parsed = yaml.safe_load(value)
    except yaml.YAMLError as error:
        raise ConfigError(f"{key}: {value!r} is no YAML value") from error
    for part in reversed(key.strip().split(".")):
        parsed = {part: parsed}
    assert isinstance(parsed, dict)
    return parsed


def merge(into: dict[str, Any], new: Mapping[str, Any]) -> None:
    """Write ``new`` over ``into``, section by section."""
    for key, value in new.items():
        old = into.get(key)
        if isinstance(old, dict) and isinstance(value, Mapping):
            merge(old, value)
        else:
            into[key] = dict(value) if isinstance(value, Mapping) else value


def check(data: Mapping[str, Any]) -> Config:
    """Check a dictionary of settings.

    Raises:
        ConfigError: naming the first wrong key, the nearest right one or what it takes.
    """
    try:
        config = Config.model_validate(numbers_from_text(data))
        rules = config.rules
    except ValidationError as error:
        raise ConfigError(explain(error.errors()[0])) from None
    except RulesError as error:
        raise ConfigError(f"game: {error}") from None
    return config.model_copy(update={"game": str(rules)})


def numbers_from_text(data: Mapping[str, Any]) -> dict[str, Any]:
    """Read ``1e-3`` and ``2e6`` as numbers: YAML 1.1 wants a dot in them and takes them as text."""
    plain: dict[str, Any] = {}
    for key, value in data.items():
        if isinstance(value, Mapping):
            plain[key] = numbers_from_text(value)
        elif isinstance(value, str) and re.fullmatch(r"\d+(\.\d*)?[eE][+-]?\d+", value):
            number = float(value)
            plain[key] = int(number) if number.is_integer() else number
        else:
            plain[key] = value
    return plain


def explain(error: ErrorDetails) -> str:
    """One line for an error of Pydantic's."""
    place = [str(part) for part in error["loc"] if isinstance(part, str)]
    if error["type"] == "extra_forbidden":
        known = known_keys(place[:-1])
        near = difflib.get_close_matches(place[-1], known, n=1)
        close = [".".join([*place[:-1], key]) for key in near] or nearest_elsewhere(place[-1])
        hint = f" (did you mean {close[0]!r}?)" if close else ""
        return f"unknown key {'.'.join(place)!r}{hint}; known here: {', '.join(known)}"
    if error["type"] == "value_error":
        return str(error["ctx"]["error"]) if "ctx" in error else error["msg"]
    wanted = error["msg"].removeprefix("Input should be ")
    return f"{'.'.join(place)} takes {wanted}, not {error['input']!r}"


def known_keys(place: list[str]) -> list[str]:
    """The keys of a section, by its dotted place."""
    model: type[BaseModel] = Config
    for part in place:
        annotation = model.model_fields[part].annotation
        assert isinstance(annotation, type)
        model = annotation
    return list(model.model_fields)


def nearest_elsewhere(word: str) -> list[str]:
    """The most similar dotted key of any section."""
    dotted = {
        key: f"{section}.{key}"
        for section, entry in Config.model_fields.items()
        if isinstance(entry.annotation, type) and issubclass(entry.annotation, BaseModel)
        for key in entry.annotation.model_fields
    }
    return [dotted[key] for key in difflib.get_close_matches(word, list(dotted), n=1)]


def to_yaml(config: Config) -> str:
    """The configuration as YAML, every key."""
    return yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False)
