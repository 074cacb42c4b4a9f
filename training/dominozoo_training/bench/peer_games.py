"""Random legal play in other packages, run as a process: ``peer_games SECONDS GAME ...``.

Prints a JSON object a game: ``{"game", "figures", "moves"}``, or ``{"game", "error"}``. Figures are
moves a second of processor time; a move is a decision: no dead steps, no chance nodes, no passes
that a package makes by itself. ``moves`` is their number in a game.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import logging
import os
import random
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any, Final

from dominozoo_training.bench.timing import rates

# Plays one game, or many at once; returns (moves, games).
Play = Callable[[], tuple[int, int]]

PGX_BATCH: Final = 4096
PGX_STEPS: Final = 16
SLICE: Final = 0.01  # seconds of a chunk at least, so that the clock costs nothing


def _module(name: str) -> Any:
    return importlib.import_module(name)


def _spiel_game(name: str) -> Any:
    if name.startswith("python_"):
        _module("open_spiel.python.games")  # registers them
    return _module("pyspiel").load_game(name)


def _spiel_play(game: Any, rng: random.Random, tensor: bool) -> tuple[int, int]:
    state, moves = game.new_initial_state(), 0
    while not state.is_terminal():
        if state.is_chance_node():
            outcomes, chances = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(rng.choices(outcomes, chances)[0])
            continue
        if tensor:
            state.observation_tensor(state.current_player())
            state.legal_actions_mask()
        state.apply_action(rng.choice(state.legal_actions()))
        moves += 1
    return moves, 1


def open_spiel(name: str, tensor: bool = False) -> Play:
    """OpenSpiel's state interface from Python; with ``tensor`` also observation and mask."""
    game, rng = _spiel_game(name), random.Random(1)
    if tensor and not game.get_type().provides_observation_tensor:
        raise ValueError(f"{name} has no observation tensor")
    return lambda: _spiel_play(game, rng, tensor)


def _aec(env: Any) -> Play:
    """An AEC environment: ``last`` and ``step`` with a cheap choice among the mask's ones."""
    env.reset(seed=1)
    rng = random.Random(1)

    def play() -> tuple[int, int]:
        env.reset()
        moves = 0
        while env.agents:
            observation, _, terminated, truncated, info = env.last()
            if terminated or truncated:
                env.step(None)
                continue
            masked = isinstance(observation, dict) and "action_mask" in observation
            legal = (observation if masked else info)["action_mask"].nonzero()[0]
            env.step(legal[int(rng.random() * len(legal))])
            moves += 1
        return moves, 1

    return play


def pettingzoo(name: str, factory: str = "env") -> Play:
    """A classic game of PettingZoo."""
    return _aec(getattr(_module(f"pettingzoo.classic.{name}"), factory)())


def shimmy(name: str) -> Play:
    """OpenSpiel as an AEC environment."""
    made = _module("shimmy.openspiel_compatibility").OpenSpielCompatibilityV0
    return _aec(made(env=_spiel_game(name), render_mode=None))


def dominoes(name: str) -> Play:
    """The package dominoes: four players, two teams."""
    package = _module("dominoes")
    player = getattr(package.players, name)

    def play() -> tuple[int, int]:
        game, moves = package.Game.new(), 0
        while game.result is None:
            player(game)
            game.make_move(*game.valid_moves[0])
            moves += 1
        return moves, 1

    return play


def rlcard(name: str) -> Play:
    """RLCard's step, the observation included."""
    env, rng = _module("rlcard").make(name), random.Random(1)

    def play() -> tuple[int, int]:
        state, _ = env.reset()
        moves = 0
        while not env.is_over():
            state, _ = env.step(rng.choice(list(state["legal_actions"])))
            moves += 1
        return moves, 1

    return play


def pgx(name: str) -> Play:
    """Many games in one compiled loop, finished ones started anew."""
    jax, jnp = _module("jax"), _module("jax.numpy")
    env = _module("pgx").make(name)
    init, step = jax.vmap(env.init), jax.vmap(env.step)

    def body(carry: Any, _: Any) -> Any:
        state, key = carry
        key, choice, deal = jax.random.split(key, 3)
        logits = jnp.where(state.legal_action_mask, 0.0, -1e9)
        state = step(state, jax.random.categorical(choice, logits, axis=-1))
        over = state.terminated | state.truncated
        fresh = init(jax.random.split(deal, PGX_BATCH))

        def renew(new: Any, old: Any) -> Any:
            return jnp.where(over.reshape((-1,) + (1,) * (old.ndim - 1)), new, old)

        return (jax.tree_util.tree_map(renew, fresh, state), key), over.sum()

    roll = jax.jit(lambda carry: jax.lax.scan(body, carry, None, length=PGX_STEPS))
    start = init(jax.random.split(jax.random.PRNGKey(0), PGX_BATCH))
    carry = jax.block_until_ready((start, jax.random.PRNGKey(1)))

    def play() -> tuple[int, int]:
        nonlocal carry
        carry, over = jax.block_until_ready(roll(carry))
        return PGX_STEPS * PGX_BATCH, int(over.sum())

    return play


# What stands before a game's colon.
GAMES: Final[dict[str, Callable[[str], Play]]] = {
    "openspiel": open_spiel,
    "openspiel+tensor": lambda name: open_spiel(name, tensor=True),
    "shimmy": shimmy,
    "dominoes": dominoes,
    "pettingzoo": pettingzoo,
    "pettingzoo-raw": lambda name: pettingzoo(name, "raw_env"),
    "rlcard": rlcard,
    "pgx": pgx,
}


def measure(game: str, seconds: float) -> dict[str, Any]:
    """Play a game for some processor seconds."""
    kind, _, name = game.partition(":")
    play = GAMES[kind](name)
    total = [0, 0]

    def chunk() -> tuple[int, float]:
        done, start = 0, time.process_time()
        while (spent := time.process_time() - start) < SLICE:
            moves, games = play()
            done, total[0], total[1] = done + moves, total[0] + moves, total[1] + games
        return done, spent

    [figures] = rates(chunk, seconds=seconds)
    return {"game": game, "figures": figures, "moves": total[0] / max(1, total[1])}


def answer(game: str, seconds: float) -> dict[str, Any]:
    """:func:`measure`, or what went wrong in one line."""
    try:
        return measure(game, seconds)
    except Exception as error:  # noqa: BLE001 whatever a package fails with is its line
        words = " ".join(str(error).split())[:200]
        return {"game": game, "error": f"{type(error).__name__}: {words}"}


def main() -> None:
    """Play what the command line names."""
    seconds, games = float(sys.argv[1]), sys.argv[2:]
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    # Answers alone on stdout: what a package prints goes to stderr.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    with answers, contextlib.redirect_stdout(sys.stderr):
        for game in games:
            print(json.dumps(answer(game, seconds)), file=answers, flush=True)


if __name__ == "__main__":
    main()
