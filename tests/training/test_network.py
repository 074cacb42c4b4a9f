import numpy as np
import numpy.typing as npt
import pytest
import torch

from dominozoo.rules import parse
from dominozoo.tables import Tables
from dominozoo.tiles import TILE_COUNT
from dominozoo_training.policy.checkpoint import Policy
from dominozoo_training.policy.compiled import describe
from dominozoo_training.policy.encoding import LineEncoder
from dominozoo_training.policy.network import Critic, PolicyNetwork, legal_entries

GAMES = [
    "block",
    "block(players=3)",
    "draw(players=4)",
    "partnership(poser=team)",
    "cutthroat(players=3)",
    "french",
    "truc",
    "truc(target=3, max_redeals=3)",
]


def played(game: str, steps: int, count: int = 64) -> Tables:
    """Tables in the middle of random games."""
    tables, rng = Tables(game, count, seed=5), np.random.default_rng(5)
    for _ in range(steps):
        tables.step((tables.mask * (rng.random(tables.mask.shape) + 0.1)).argmax(axis=1))
    return tables


def held(hands: npt.NDArray[np.uint32]) -> torch.Tensor:
    """Masks of tiles as zeros and ones, (..., 28)."""
    return torch.from_numpy((hands[..., None].astype(np.int64) >> np.arange(TILE_COUNT)) & 1)


@pytest.mark.parametrize("game", GAMES)
def test_the_compiled_encoding_equals_the_tensors(game: str) -> None:
    torch.manual_seed(0)
    network, critic = PolicyNetwork.for_rules(parse(game)), Critic.for_rules(parse(game))
    for steps in (0, 1, 7, 20, 33):
        tables = played(game, steps)
        secrets = network.encoder.secrets(tables.records, tables.turn)
        state = network.encoder.state(torch.from_numpy(tables.observation))
        legal = legal_entries(torch.from_numpy(tables.mask))
        found = describe(network.encoder, tables.observation, tables.mask, secrets)
        assert np.array_equal(found.ids, legal.actions)
        assert np.array_equal(found.rows, legal.rows)
        pairs = [
            (found.actions, network.action_inputs(state, legal)),
            (found.values, network.encoder.values(state)),
            (found.critic, critic.encoder.critic(state, held(secrets))),
        ]
        for compiled, tensor in pairs:
            np.testing.assert_allclose(compiled, tensor.numpy(), atol=1e-6)


@pytest.mark.parametrize("game", GAMES)
def test_flat_probabilities_equal_the_exported_graphs(game: str) -> None:
    torch.manual_seed(0)
    policy = Policy(PolicyNetwork.for_rules(parse(game)).eval(), parse(game))
    for layer in policy.network.score:  # away from the nearly even start
        if isinstance(layer, torch.nn.Linear):
            torch.nn.init.normal_(layer.weight, std=0.5)
    tables = played(game, 11)
    with torch.no_grad():
        chances, value = policy.network(
            torch.from_numpy(tables.observation), torch.from_numpy(tables.mask)
        )
    found = policy.probabilities(tables.observation, tables.mask)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, chances.numpy(), atol=1e-5)
    np.testing.assert_allclose(policy.value(tables.observation), value.numpy(), atol=1e-5)
    assert (found[tables.mask == 0] == 0).all()
    assert ((found > 0.02) & (found < 0.98)).any(), "nothing to compare"


def test_play_is_greedy_or_drawn_by_the_chances() -> None:
    torch.manual_seed(0)
    rules = parse("block")
    policy, tables = Policy(PolicyNetwork.for_rules(rules).eval(), rules), played("block", 3, 1)
    observation = np.repeat(tables.observation, 4000, axis=0)
    mask = np.repeat(tables.mask, 4000, axis=0)
    chances = policy.probabilities(observation, mask)[0]
    assert (policy.play(observation, mask) == chances.argmax()).all()
    drawn = policy.play(observation, mask, np.random.default_rng(0))
    counts = np.bincount(drawn, minlength=len(chances)) / 4000
    assert (counts[mask[0] == 0] == 0).all()
    np.testing.assert_allclose(counts, chances, atol=0.05)


def test_a_hidden_tile_changes_nothing_that_the_policy_says() -> None:
    """The critic reads the other hands; the policy must not."""
    rules = parse("block")
    policy, tables = Policy(PolicyNetwork.for_rules(rules).eval(), rules), played("block", 0, 8)
    before = policy.probabilities(tables.observation, tables.mask)
    for record, me in zip(tables.records, tables.turn, strict=True):
        record["hands"][1 - me] = 0
    tables.refresh()
    np.testing.assert_array_equal(policy.probabilities(tables.observation, tables.mask), before)


@pytest.mark.parametrize("bad", ["shape", "mask", "empty"])
def test_wrong_arrays_are_refused(bad: str) -> None:
    rules = parse("block")
    policy, tables = Policy(PolicyNetwork.for_rules(rules), rules), played("block", 2, 4)
    observation, mask = tables.observation, tables.mask
    if bad == "shape":
        observation = observation[:, :-1]
    elif bad == "mask":
        mask = mask[:2]
    else:
        mask = np.zeros_like(mask)
    with pytest.raises(ValueError, match=r"mask|observation"):
        policy.probabilities(observation, mask)


def test_fewer_seats_see_the_same_game() -> None:
    """Seats that a game lacks are zero in the observation: leaving them out loses nothing."""
    tables = played("block", 9)
    wide, narrow = (PolicyNetwork(LineEncoder(2, seats)) for seats in (4, 2))
    observation = torch.from_numpy(tables.observation)
    states = wide.encoder.state(observation), narrow.encoder.state(observation)
    legal = legal_entries(torch.from_numpy(tables.mask))
    a, b = (
        {tuple(column) for column in net.action_inputs(state, legal).T.tolist()}
        for net, state in zip((wide, narrow), states, strict=True)
    )
    assert b <= a
