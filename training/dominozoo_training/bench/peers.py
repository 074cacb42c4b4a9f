"""Other packages' games in the same run, each in a process of its own.

A package that isn't installed, can't be imported, fails or crashes costs a line, nothing else.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from dominozoo.rules import parse
from dominozoo_training.bench import Job, plan
from dominozoo_training.bench.games import moves_a_hand
from dominozoo_training.bench.timing import Row, summarise

Key = tuple[str, str, int | None]


@dataclass(frozen=True, slots=True)
class Peer:
    """A package's games that are played, each beside a case of ours.

    Attributes:
        package: the distribution that is measured.
        pip: what installs it.
        games: name in ``peer_games.GAMES`` -> (our game, case, batch).
    """

    package: str
    pip: str
    games: dict[str, Key]


_RAW: Final[Key] = ("block", "raw_env", None)
_ENV: Final[Key] = ("block", "env", None)
_RAW4: Final[Key] = ("partnership", "raw_env", None)
_STEP: Final[Key] = ("block", "step", 4096)

PEERS: Final = (
    Peer(
        "open-spiel",
        "pip install open-spiel",
        {
            "openspiel:python_block_dominoes": _RAW,
            "openspiel+tensor:python_block_dominoes": _RAW,
            "openspiel:python_team_dominoes": _RAW4,
            "openspiel+tensor:python_team_dominoes": _RAW4,
        },
    ),
    Peer(
        "shimmy",
        "pip install shimmy open-spiel",
        {"shimmy:python_block_dominoes": _ENV, "shimmy:leduc_poker": _ENV},
    ),
    Peer("dominoes", "pip install dominoes", {"dominoes:random": _RAW4}),
    Peer(
        "pettingzoo",
        "pip install 'pettingzoo[classic]'",
        {
            "pettingzoo:tictactoe_v3": _ENV,
            "pettingzoo:connect_four_v3": _ENV,
            "pettingzoo:leduc_holdem_v4": _ENV,
            "pettingzoo:texas_holdem_v4": _ENV,
            "pettingzoo-raw:tictactoe_v3": _RAW,
            "pettingzoo-raw:connect_four_v3": _RAW,
            "pettingzoo-raw:leduc_holdem_v4": _RAW,
        },
    ),
    Peer(
        "rlcard",
        "pip install rlcard",
        {
            "rlcard:leduc-holdem": _RAW,
            "rlcard:limit-holdem": _RAW,
            "rlcard:uno": _RAW,
            "rlcard:gin-rummy": _RAW,
        },
    ),
    Peer(
        "pgx",
        "pip install pgx",
        {
            "pgx:tic_tac_toe": _STEP,
            "pgx:connect_four": _STEP,
            "pgx:leduc_holdem": _STEP,
        },
    ),
)

# One thread, no windows, no greetings.
ENVIRONMENT: Final = {
    **dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"),
    "JAX_PLATFORMS": "cpu",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
    "PYGAME_HIDE_SUPPORT_PROMPT": "1",
    "SDL_VIDEODRIVER": "dummy",
}
PATIENCE: Final = 120.0  # seconds for importing and compiling a package's games, beside measuring


def needed(peers: Iterable[Peer] = PEERS) -> list[Key]:
    """Our cases that installed peers are compared with."""
    keys = [key for peer in peers if version_of(peer.package) for key in peer.games.values()]
    return list(dict.fromkeys(keys))


def missing_jobs(jobs: Iterable[Job], seconds: float) -> list[Job]:
    """Jobs for those of our cases that peers are compared with and that aren't planned."""
    planned = {(job.game, job.case, job.batch) for job in jobs}
    extra = [
        job
        for game, case in dict.fromkeys((game, case) for game, case, _ in needed())
        for job in plan((game,), (case,), seconds)
    ]
    wanted = set(needed()) - planned
    return [job for job in extra if (job.game, job.case, job.batch) in wanted]


def version_of(package: str) -> str | None:
    """The installed version of a distribution, or None."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def play(peer: Peer, seconds: float) -> tuple[list[dict[str, Any]], list[str]]:
    """Play a package's games in a new process; its answers, and a line for each failure."""
    code = [sys.executable, "-m", "dominozoo_training.bench.peer_games"]
    command = [*code, str(seconds), *peer.games]
    patience = PATIENCE + 20 * seconds * len(peer.games)
    try:
        run = subprocess.run(
            command,
            env={**os.environ, **ENVIRONMENT},
            capture_output=True,
            text=True,
            timeout=patience,
            check=False,
        )
        output, end = run.stdout, f"ended with exit code {run.returncode}"
    except subprocess.TimeoutExpired as late:
        output = late.stdout.decode() if isinstance(late.stdout, bytes) else late.stdout or ""
        end = f"took longer than {patience:.0f} seconds"
    # Packages print, too: an answer is a line that is an object with a game.
    answers = [json.loads(line) for line in output.splitlines() if line.startswith('{"game": ')]
    failed = [f"{a['game']}: {a['error']}" for a in answers if "error" in a]
    lost = [game for game in peer.games if game not in {a["game"] for a in answers}]
    failed += [f"{game}: {peer.package} {end}" for game in lost]
    return [a for a in answers if "error" not in a], failed


@cache
def _our_moves(game: str) -> float:
    return moves_a_hand(parse(game))


def compare(peer: Peer, answer: dict[str, Any], ours: dict[Key, float]) -> dict[str, Any]:
    """A peer's figures beside ours; in dominoes also by hands, as not all count passes as moves."""
    key = peer.games[answer["game"]]
    row = summarise("", "peer", None, "1/s", answer["figures"])
    ratio = ours[key] / row.median
    hands = ratio * answer["moves"] / _our_moves(key[0]) if "domino" in answer["game"] else None
    return {
        "package": peer.package,
        "version": version_of(peer.package),
        "game": answer["game"],
        "median": row.median,
        "unit": "1/s",
        "spread": row.spread,
        "moves_a_game": answer["moves"],
        "our_game": key[0],
        "our_case": key[1],
        "our_batch": key[2],
        "our_median": ours[key],
        "ratio": ratio,
        "hands_ratio": hands,
    }


def run_peers(
    rows: Sequence[Row],
    seconds: float,
    tell: Callable[[str], None],
    peers: Sequence[Peer] = PEERS,
) -> tuple[list[dict[str, Any]], list[str]]:
    """Play whatever is installed; what isn't is named with what installs it.

    Args:
        rows: of ours; those of :func:`needed` must be among them.
        seconds: processor time a game.
        tell: called with a line a package.
        peers: the packages.
    """
    ours = {(row.game, row.case, row.batch): row.median for row in rows}
    found: list[dict[str, Any]] = []
    missing: list[str] = []
    for peer in peers:
        if version_of(peer.package) is None:
            missing.append(f"{peer.package} is not installed: {peer.pip}")
            continue
        tell(f"peers: {peer.package} {version_of(peer.package)}")
        answers, failed = play(peer, seconds)
        found += [compare(peer, answer, ours) for answer in answers]
        missing += failed
    return found, missing
