"""Everything that a run consists of, and how it is saved and restored bit by bit.

A checkpoint of a run is a policy's folder (``policy.checkpoint``) with four files more:
``training.safetensors`` (critic, optimiser), ``tables.npy`` (the tables' records, where hands stand
in mid-play), ``generator.json`` and ``state.json`` (counters, configuration); further processes have
tables and generators of their own beside them.
"""

from __future__ import annotations

import copy
import io
import json
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import safetensors.torch
import torch
from torch import Tensor, nn

from dominozoo.tables import Tables
from dominozoo_training.learning.config import Config
from dominozoo_training.learning.distributed import SOLO, Team, command_of
from dominozoo_training.learning.rollout import Player
from dominozoo_training.learning.start import start_folder
from dominozoo_training.policy.checkpoint import (
    Policy,
    as_json,
    check_fit,
    describe_policy,
    load_policy,
    load_weights,
    policy_files,
    versions,
)
from dominozoo_training.policy.folders import (
    CHECKPOINTS,
    CheckpointError,
    checkpoints_of,
    read_file,
    read_meta,
    write_folder,
)
from dominozoo_training.policy.network import Critic, Layers, PolicyNetwork

TRAINING: Final = "training.safetensors"
TABLES: Final = "tables.npy"
STATE: Final = "state.json"
GENERATOR: Final = "generator.json"

# What a resumed run may change: how long and how closely it is watched, not what is learned.
FREE: Final = ("budget", "evaluation", "checkpoints", "device", "threads", "compile")


@dataclass(slots=True)
class Learner:
    """A run in memory.

    Attributes:
        magnet: the policy that follows slowly, None without one.
        team: the processes that learn together, each with its tables and its generator.
        decisions: made so far, forced moves not counted.
        updates: batches learned from.
        seconds: spent so far, evaluation included.
        start: what the weights were before the first update, for ``meta.json``; None = fresh.
    """

    config: Config
    device: torch.device
    tables: Tables
    policy: PolicyNetwork
    critic: Critic
    optimiser: torch.optim.Optimizer
    rng: np.random.Generator
    magnet: PolicyNetwork | None = None
    team: Team = SOLO
    decisions: int = 0
    updates: int = 0
    seconds: float = 0.0
    start: dict[str, Any] | None = None

    def player(self) -> Player:
        """What plays the tables."""
        bf16 = self.config.ppo.bf16
        return Player(self.tables, self.policy, self.critic, self.rng, self.device, bf16)

    def follow(self) -> None:
        """Let the magnet become the policy when it is time."""
        if self.magnet is not None and self.updates % self.config.ppo.magnet_every == 0:
            self.magnet.load_state_dict(self.policy.state_dict())


def choose_device(name: str) -> torch.device:
    """The device that a configuration means.

    Raises:
        CheckpointError: if CUDA is asked for and not there.
    """
    if name == "cuda" and not torch.cuda.is_available():
        raise CheckpointError("device=cuda: this torch finds no CUDA device; take auto or cpu")
    chosen = "cuda" if name == "cuda" or (name == "auto" and torch.cuda.is_available()) else "cpu"
    return torch.device(chosen)


def new_learner(config: Config, team: Team = SOLO) -> Learner:
    """Start a run: fresh weights, freshly dealt tables, all from the configuration's seed.

    The processes of a team have the same weights, and each of them tables of its own.
    """
    device, sizes = choose_device(config.device), config.network
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.seed)
        policy = PolicyNetwork.for_rules(
            config.rules, hidden=sizes.hidden, value_hidden=sizes.value_hidden
        ).to(device)
        critic = Critic.for_rules(config.rules, sizes.critic_hidden).to(device)
    weights = [*policy.parameters(), *critic.parameters()]
    optimiser = torch.optim.Adam(weights, lr=config.ppo.learning_rate, eps=1e-5, fused=True)
    tables = Tables(
        config.rules,
        config.rollout.tables,
        seed=config.seed,
        first_table=team.rank * config.rollout.tables,
        reward="match" if config.rollout.goal == "match" else "hand",
        auto_forced=True,
        checked=False,
    )
    rng = np.random.default_rng(config.seed if team.leads else [config.seed, team.rank])
    magnet = copy.deepcopy(policy).requires_grad_(False) if config.ppo.magnet > 0 else None
    if config.compile:
        compile_networks([policy.score, policy.worth, critic.net], device)
        if magnet is not None:
            compile_networks([magnet.score], device)
    return Learner(config, device, tables, policy, critic, optimiser, rng, magnet, team)


def compile_networks(networks: Iterable[Layers], device: torch.device) -> None:
    """Compile networks in place; weights and their names stay.

    How many actions are legal differs from moment to moment, so no size of a batch is built in.

    Raises:
        CheckpointError: they can't be compiled here.
    """
    for network in networks:
        network.compile(dynamic=True)
        first = network[0]
        assert isinstance(first, nn.Linear)
        try:
            network(torch.zeros(2, first.in_features, device=device))
        except Exception as error:  # of many kinds: torch's, the compiler's, the system's
            reason = str(error).strip().partition("\n")[0]
            raise CheckpointError(
                f"compile=true: torch.compile fails ({type(error).__name__}: {reason}); "
                "on the CPU it needs a C++ compiler, else leave it false"
            ) from error


def begin(learner: Learner) -> None:
    """Take over the weights of the policy that ``config.start`` names, if it names one.

    The critic starts afresh: it isn't kept with a policy.

    Raises:
        CheckpointError: if the policy can't be read, or its network isn't the configuration's.
    """
    if learner.config.start is None:
        return
    folder = start_folder(learner.config.start)
    try:
        policy = load_policy(folder)
    except CheckpointError as error:
        raise CheckpointError(f"start: {error}") from error
    require_same_network(policy, learner)
    weights = policy.network.state_dict()
    learner.policy.load_state_dict(weights)
    if learner.magnet is not None:
        learner.magnet.load_state_dict(weights)
    kept = ("game", "goal", "decisions", "seed", "sha256")
    learner.start = {key: policy.meta[key] for key in kept if key in policy.meta}


def require_same_network(policy: Policy, learner: Learner) -> None:
    """Refuse weights that don't fit the run's network; says what differs."""
    old, new = policy.network, learner.policy
    what = f"start: {learner.config.start} plays {policy.rules}"
    if type(old.encoder) is not type(new.encoder) or old.encoder.sizes != new.encoder.sizes:
        raise CheckpointError(
            f"{what}, whose seats or ends aren't those of {learner.config.rules}: "
            "start from a game with the same"
        )
    for name in ("hidden", "value_hidden"):
        if getattr(old, name) != getattr(new, name):
            widths = list(getattr(old, name))
            raise CheckpointError(
                f"{what} with network.{name}={widths}, not {list(getattr(new, name))}: "
                f"give 'network.{name}={widths}'"
            )


def frozen_policy(learner: Learner) -> Policy:
    """The policy as it is now, on the CPU, apart from further learning."""
    sizes = learner.config.network
    network = PolicyNetwork.for_rules(
        learner.config.rules, hidden=sizes.hidden, value_hidden=sizes.value_hidden
    )
    network.load_state_dict(
        {name: value.cpu() for name, value in learner.policy.state_dict().items()}
    )
    network.eval().requires_grad_(False)
    return Policy(network, learner.config.rules)


def policy_meta(learner: Learner, policy: Policy, **more: Any) -> dict[str, Any]:
    """``meta.json`` of the run's policy."""
    if learner.start is not None:
        more["start"] = learner.start
    return describe_policy(
        policy,
        goal=learner.config.rollout.goal,
        decisions=learner.decisions,
        minutes=round(learner.seconds / 60, 2),
        seed=learner.config.seed,
        **more,
    )


def snapshot(learner: Learner) -> dict[str, bytes]:
    """The files of a checkpoint: the whole run, as it is now; of who doesn't lead its part alone."""
    if not learner.team.leads:
        return own_files(learner)
    policy = frozen_policy(learner)
    tensors = {f"critic.{k}": v for k, v in learner.critic.state_dict().items()}
    if learner.magnet is not None:
        tensors |= {f"magnet.{k}": v for k, v in learner.magnet.state_dict().items()}
    for index, slots in learner.optimiser.state_dict()["state"].items():
        tensors |= {f"adam.{index}.{name}": value for name, value in slots.items()}
    state = {
        "decisions": learner.decisions,
        "updates": learner.updates,
        "seconds": learner.seconds,
        "processes": learner.team.size,
        "start": learner.start,
        "config": learner.config.model_dump(mode="json"),
        "versions": versions(),
    }
    plain = {name: value.detach().cpu().contiguous() for name, value in tensors.items()}
    return {
        **policy_files(policy, policy_meta(learner, policy)),
        TRAINING: safetensors.torch.save(plain),
        STATE: as_json(state),
        **own_files(learner),
    }


def own_files(learner: Learner) -> dict[str, bytes]:
    """What each process of a team has for itself: its tables and its generator."""
    rank, records = learner.team.rank, io.BytesIO()
    np.save(records, learner.tables.records, allow_pickle=False)
    return {
        of_rank(TABLES, rank): records.getvalue(),
        of_rank(GENERATOR, rank): as_json(learner.rng.bit_generator.state),
    }


def of_rank(name: str, rank: int) -> str:
    """The file of a process: ``tables.npy`` of who leads, ``tables.1.npy`` of the next.

    >>> of_rank("tables.npy", 1)
    'tables.1.npy'
    """
    stem, _, ending = name.rpartition(".")
    return name if rank == 0 else f"{stem}.{rank}.{ending}"


def collected(learner: Learner, files: dict[str, bytes]) -> dict[str, bytes]:
    """The files of all processes together, for who leads; the others get an empty dictionary."""
    together: dict[str, bytes] = {}
    for part in learner.team.gather(files):
        together |= part
    return together


def save(run: Path, files: dict[str, bytes], keep: int) -> Path:
    """Write a checkpoint into a run's folder and remove all but the newest ``keep``."""
    decisions = json.loads(files[STATE])["decisions"]
    folder = run / CHECKPOINTS / f"{decisions:012d}"
    write_folder(folder, files)
    for old in checkpoints_of(run)[:-keep]:
        shutil.rmtree(old, ignore_errors=True)
    return folder


def last_checkpoint(run: Path) -> Path:
    """The newest checkpoint of a run; CheckpointError if there is none."""
    found = checkpoints_of(run)
    if not found:
        raise CheckpointError(f"{run} holds no checkpoint to resume from")
    return found[-1]


def read_state(folder: Path) -> dict[str, Any]:
    """Read ``state.json``."""
    try:
        state = json.loads(read_file(folder / STATE))
    except ValueError as error:
        if isinstance(error, CheckpointError):
            raise
        raise CheckpointError(f"{folder / STATE} is no JSON: {error}") from error
    if not isinstance(state, dict):
        raise CheckpointError(f"{folder / STATE} holds no keys and values")
    return state


def restore(learner: Learner, folder: Path) -> None:
    """Put a fresh learner into the state of a checkpoint.

    Raises:
        CheckpointError: if the checkpoint is damaged or of another configuration; the first
            differences are named.
    """
    state = read_state(folder)
    require_same(state, learner.config)
    require_size(state, learner.team.size)
    rank = learner.team.rank
    meta = read_meta(folder)
    check_fit(folder, meta, learner.config.rules, learner.policy)
    load_weights(learner.policy, folder, meta)
    try:
        tensors = safetensors.torch.load(read_file(folder / TRAINING))
        learner.critic.load_state_dict(named(tensors, "critic."))
        if learner.magnet is not None:
            learner.magnet.load_state_dict(named(tensors, "magnet."))
        load_adam(learner.optimiser, tensors)
        load_tables(learner.tables, np.load(io.BytesIO(read_file(folder / of_rank(TABLES, rank)))))
        learner.rng.bit_generator.state = generator_of(folder, state, rank)
        learner.decisions, learner.updates = int(state["decisions"]), int(state["updates"])
        learner.seconds = float(state["seconds"])
        learner.start = state.get("start")
    except CheckpointError:
        raise
    except (safetensors.SafetensorError, RuntimeError, ValueError, KeyError, TypeError) as error:
        reason = " ".join(str(error).split())
        raise CheckpointError(f"{folder} can't be resumed: {reason}") from error


def generator_of(folder: Path, state: dict[str, Any], rank: int) -> Any:
    """The state of a process's generator; before there were several it stood in ``state.json``."""
    return (
        state["rng"] if "rng" in state else json.loads(read_file(folder / of_rank(GENERATOR, rank)))
    )


def require_size(state: dict[str, Any], size: int) -> None:
    """Refuse another number of processes than the run was started with."""
    was = state.get("processes", 1)
    if was != size:
        raise CheckpointError(
            f"the run was started with {was} process{'es' if was > 1 else ''}, not {size}: "
            f"go on by {command_of(was)} --resume RUN"
        )


def named(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """The tensors whose names begin so, without that beginning."""
    return {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}


def require_same(state: dict[str, Any], config: Config) -> None:
    """Refuse a configuration that would learn something else than the checkpoint did.

    A setting that the checkpoint's program didn't have yet stood at its default.
    """
    old = flat({k: v for k, v in state.get("config", {}).items() if k not in FREE})
    old = flat({k: v for k, v in Config().model_dump(mode="json").items() if k not in FREE}) | old
    new = flat({k: v for k, v in config.model_dump(mode="json").items() if k not in FREE})
    for key in sorted(old.keys() | new.keys()):
        if old.get(key) != new.get(key):
            raise CheckpointError(
                f"the run was started with {key}={old.get(key)}, not {new.get(key)}; "
                f"a resumed run may only change {', '.join(FREE)}"
            )


def flat(data: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested dictionaries with dotted keys."""
    found: dict[str, Any] = {}
    for key, value in data.items():
        if isinstance(value, dict):
            found |= flat(value, f"{prefix}{key}.")
        else:
            found[prefix + key] = value
    return found


def load_adam(optimiser: torch.optim.Optimizer, tensors: dict[str, Tensor]) -> None:
    """Restore the optimiser's moments from entries ``adam.<number>.<name>``."""
    state: dict[int, dict[str, Tensor]] = {}
    for key, value in tensors.items():
        if key.startswith("adam."):
            _, index, name = key.split(".")
            state.setdefault(int(index), {})[name] = value
    groups = optimiser.state_dict()["param_groups"]
    optimiser.load_state_dict({"state": state, "param_groups": groups})


def load_tables(tables: Tables, records: npt.NDArray[Any]) -> None:
    """Put tables into the states of saved records."""
    if records.dtype.descr != tables.records.dtype.descr or len(records) != len(tables):
        raise CheckpointError("the tables were saved by another version of the games")
    tables.records[:] = records
    tables.refresh()


def resumable_config(run: Path) -> dict[str, Any]:
    """The configuration that a run's last checkpoint was made with."""
    folder = last_checkpoint(run)
    config = read_state(folder).get("config")
    if not isinstance(config, dict):
        raise CheckpointError(f"{folder / STATE} holds no configuration")
    return config
