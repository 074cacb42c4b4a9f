"""One position at a time: the same as in a batch, in every family of games."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import dominozoo
from dominozoo.bots import one_line, one_truc
from dominozoo.bots.levels import Level, choose, choose_one
from dominozoo.bots.network import Looks, Network, Shape
from dominozoo.bots.truc_network import TrucShape
from dominozoo.tables import Tables

# Games, and what a network of theirs looks at: also one that knows more seats than sit there.
GAMES: list[tuple[str, Looks]] = [
    ("block", Shape(2, 2)),
    ("block", Shape(2, 4)),
    ("block(players=3)", Shape(2, 3)),
    ("draw(players=4)", Shape(2, 4)),
    ("partnership(poser=team, tie=escalate)", Shape(2, 4)),
    ("cutthroat(players=2, draw=True)", Shape(2, 2)),
    ("chiva(players=3)", Shape(2, 4)),
    ("french", Shape(4, 4)),
    ("truc", TrucShape()),
    ("truc(target=4, max_redeals=2)", TrucShape()),
]
IDS = [f"{text}-{shape}" for text, shape in GAMES]
STEPS = 40


def network(shape: Looks) -> Network:
    """Random weights, large enough that a wrong column shows."""
    rng, weights = np.random.default_rng(4), {}
    for name, columns in (("score", shape.score_columns), ("worth", shape.value_columns)):
        for k, (inputs, outputs) in enumerate(((columns, 16), (16, 16), (16, 1))):
            weights[f"{name}.{2 * k}.weight"] = rng.normal(0, 0.5, (outputs, inputs))
            weights[f"{name}.{2 * k}.bias"] = rng.normal(0, 0.5, outputs)
    return Network(weights, shape)


def positions(text: str) -> tuple[npt.NDArray[np.int16], npt.NDArray[np.int8]]:
    """Observations and masks of random play, poses and late positions among them."""
    tables, rng = Tables(text, 8, seed=3), np.random.default_rng(1)
    seen, legal = [], []
    for _ in range(STEPS):
        seen.append(tables.observation.copy())
        legal.append(tables.mask.copy())
        order = rng.random(tables.mask.shape[1]) + 0.5
        tables.step((tables.mask * order).argmax(axis=1))
    return np.concatenate(seen), np.concatenate(legal)


@pytest.mark.plain
@pytest.mark.parametrize(("text", "shape"), GAMES, ids=IDS)
def test_a_position_alone_has_the_columns_that_it_has_in_a_batch(text: str, shape: Looks) -> None:
    seen, legal = positions(text)
    batch: Any = shape
    state = batch.state(seen)
    values = batch.value_inputs(state)
    reading: Any = one_line if isinstance(shape, Shape) else one_truc
    sizes = (shape.ends, shape.seats) if isinstance(shape, Shape) else ()
    for row, (observation, mask) in enumerate(zip(seen, legal, strict=True)):
        sight = reading.look(observation, *sizes)
        actions = np.flatnonzero(mask)
        found = np.array(reading.score_columns(sight, actions.tolist())).reshape(len(actions), -1)
        wanted = batch.score_inputs(state, np.full(len(actions), row), actions)
        np.testing.assert_allclose(found, wanted, atol=1e-6)
        np.testing.assert_allclose(reading.value_columns(sight), values[row], atol=1e-6)


@pytest.mark.parametrize(("text", "shape"), GAMES, ids=IDS)
def test_a_position_alone_gets_what_it_gets_in_a_batch(text: str, shape: Looks) -> None:
    made, (seen, legal) = network(shape), positions(text)
    chances, values = made.evaluate(seen, legal)
    assert ((chances > 0.05).sum(axis=1) > 1).mean() > 0.2  # not all decided by one column
    for row in range(len(seen)):
        one = slice(row, row + 1)
        alone, value = made.evaluate(seen[one], legal[one])
        assert alone.shape == (1, legal.shape[1])
        assert alone.dtype == value.dtype == np.dtype(np.float32)
        np.testing.assert_allclose(alone[0], chances[row], atol=1e-5)
        np.testing.assert_allclose(value, values[one], rtol=1e-5, atol=1e-5)
        np.testing.assert_array_equal(made.probabilities(seen[one], legal[one]), alone)
        np.testing.assert_array_equal(made.value(seen[one]), value)
        assert not alone[0][legal[row] == 0].any()


@pytest.mark.parametrize("name", ["block", "truc"])
def test_a_bot_plays_alone_what_it_plays_in_a_batch(name: str) -> None:
    bot, (seen, legal) = dominozoo.load_bot(name), positions(name)
    chances = bot.probabilities(seen, legal)
    alone = [bot.act(o, m, greedy=True) for o, m in zip(seen, legal, strict=True)]
    assert all(type(action) is int for action in alone)
    # Two tiles of Le Truc may be worth the same: then rounding decides.
    best = chances[np.arange(len(seen)), alone]
    np.testing.assert_allclose(best, chances.max(axis=1), atol=1e-6)
    forced = np.flatnonzero(legal.sum(axis=1) == 1)
    for row in forced.tolist():
        np.testing.assert_array_equal(bot.probabilities(seen[row], legal[row]), legal[row])


@pytest.mark.plain
def test_a_level_chooses_alone_what_it_chooses_in_a_batch() -> None:
    rng = np.random.default_rng(2)
    for temperature in (0.0, 0.4, 1.0, 3.0):
        level = Level(0.3, temperature)
        for _ in range(200):
            mask = (rng.random((1, 9)) < 0.5).astype(np.int8)
            mask[0, rng.integers(9)] = 1
            chances = rng.random((1, 9)).astype(np.float32) ** 3 * mask
            legal, numbers = np.flatnonzero(mask), rng.random(2)
            alone = choose_one(chances[0, legal].tolist(), level, *numbers.tolist())
            assert legal[alone] == choose(chances, mask, level, *numbers[:, None])[0]
