import numpy as np
import numpy.typing as npt
import pytest
import torch

from dominozoo_training.evaluation.arena import evaluate
from dominozoo_training.learning import ppo
from dominozoo_training.learning.config import Config, load_config
from dominozoo_training.learning.rollout import Seen, gae, look, sample, turned
from dominozoo_training.learning.state import frozen_policy, new_learner
from dominozoo_training.policy.encoder import relative_hands
from dominozoo_training.policy.network import MASKED, spread

GAMES = ["block", "draw(players=3)", "partnership(poser=team)", "french"]


def small(game: str = "block", *overrides: str) -> Config:
    """A configuration that learns in seconds."""
    words = ["rollout.tables=256", "ppo.minibatch=256", "rollout.steps=8", "budget.decisions=1000"]
    return load_config(game, overrides=[*words, *overrides])


def slow_gae(
    rewards: list[float], values: list[float], ends: list[bool], lam: float
) -> list[float]:
    """The definition: the weighted sum of all later one-step errors of the same episode."""
    errors = [
        reward + (0.0 if end else after) - before
        for reward, end, before, after in zip(rewards, ends, values, values[1:], strict=False)
    ]
    advantages = []
    for t in range(len(errors)):
        total, weight = 0.0, 1.0
        for k in range(t, len(errors)):
            total += weight * errors[k]
            weight *= lam
            if ends[k]:
                break
        advantages.append(total)
    return advantages


@pytest.mark.parametrize("lam", [0.0, 0.7, 1.0])
def test_gae_is_the_sum_of_later_errors(lam: float) -> None:
    rng = np.random.default_rng(1)
    rewards = rng.normal(size=(9, 5, 3)).astype(np.float32)
    values = rng.normal(size=(10, 5, 3)).astype(np.float32)
    ends = rng.random((9, 5)) < 0.3
    found = gae(rewards, values, ends, lam)
    for table in range(5):
        for seat in range(3):
            expected = slow_gae(
                rewards[:, table, seat].tolist(),
                values[:, table, seat].tolist(),
                ends[:, table].tolist(),
                lam,
            )
            np.testing.assert_allclose(found[:, table, seat], expected, rtol=1e-4, atol=1e-5)


def test_turning_seats_and_back() -> None:
    by_seat = np.array([[10.0, 11.0, 12.0], [10.0, 11.0, 12.0]])
    turn = np.array([1, 2], np.int8)
    relative = turned(by_seat, turn, 1)
    assert relative.tolist() == [[11.0, 12.0, 10.0], [12.0, 10.0, 11.0]]
    assert turned(relative, turn, -1).tolist() == by_seat.tolist()


def test_hands_are_seen_from_the_seat_to_move() -> None:
    tables = new_learner(small("draw(players=3)")).tables
    found = relative_hands(tables.records, tables.turn, 3)
    for table, record in enumerate(tables.records):
        expected = [record["hands"][(tables.turn[table] + away) % 3] for away in range(3)]
        assert found[table].tolist() == expected
    own = (found[:, :1].astype(np.int64) >> np.arange(28)) & 1
    assert np.array_equal(own, tables.observation[:, :28])


def test_sparse_log_probabilities_equal_dense_ones() -> None:
    learner = new_learner(small())
    seen = look(learner.tables, learner.policy.encoder, learner.device)
    flat = torch.randn(len(seen.ids))
    grid = torch.log_softmax(spread(flat, seen.rows, seen.columns, 256), dim=1)
    dense = torch.full((256, learner.policy.action_count), MASKED)
    dense[seen.rows, seen.ids] = flat
    expected = torch.log_softmax(dense, dim=1)[seen.rows, seen.ids]
    torch.testing.assert_close(grid[seen.rows, seen.columns], expected)


def test_moves_are_drawn_by_their_chances() -> None:
    logits = torch.tensor([[0.0, 1.0, 2.0, MASKED]]).repeat(20_000, 1)
    chance = torch.from_numpy(1 - np.random.default_rng(0).random(20_000, np.float32))
    chosen, log_probs = sample(logits, chance)
    expected = torch.softmax(logits[0], dim=0)
    counts = torch.bincount(chosen, minlength=4) / 20_000
    torch.testing.assert_close(counts, expected, atol=0.02, rtol=0)
    torch.testing.assert_close(log_probs.exp(), expected[chosen])


@pytest.mark.parametrize("edge", [1e-38, 1.0])
def test_no_draw_leaves_the_legal_moves(edge: float) -> None:
    logits = torch.tensor([[-200.0, 5.0, MASKED], [5.0, -200.0, MASKED]])
    chosen, log_probs = sample(logits, torch.tensor([edge, edge]))
    assert (chosen < 2).all()
    assert torch.isfinite(log_probs).all()


@pytest.mark.parametrize("game", GAMES)
def test_no_illegal_move_is_ever_played(game: str) -> None:
    """Across the border of two rollouts, where a stale observation would show."""
    learner = new_learner(small(game))
    tables = learner.tables
    tables.checked = True  # step() refuses an illegal move
    player = learner.player()
    for _ in range(3):
        batch = player.play(8, 0.9)
        assert all(bool((seen.ids >= 0).all()) for seen in batch.seen)
    packed = tables.records
    laid = np.array([int(record["laid"]) for record in packed])
    hands = np.array([[int(hand) for hand in record["hands"]] for record in packed])
    for seat in range(tables.rules.players):
        assert not (laid & hands[:, seat]).any()


def test_the_moments_remember_what_was_played() -> None:
    """The log probability kept is the one of the move made, by the network that made it."""
    learner = new_learner(small())
    batch = learner.player().play(8, 0.9)
    for t, seen in enumerate(batch.seen):
        logits = learner.policy.score(seen.actions).squeeze(-1)
        grid = torch.log_softmax(spread(logits, seen.rows, seen.columns, 256), dim=1)
        found = grid.gather(1, batch.chosen[t].unsqueeze(1)).squeeze(1)
        torch.testing.assert_close(found, batch.log_probs[t], atol=1e-5, rtol=1e-5)


def test_returns_are_zero_sum_rewards_at_a_hands_end() -> None:
    learner = new_learner(small())
    batch = learner.player().play(8, 1.0)
    assert batch.hands > 0
    assert batch.returns.shape == (8, 256, 2)
    assert float(batch.returns.abs().max()) <= 1.5


@pytest.mark.parametrize(("goal", "highest"), [("points", 0.9), ("win", 1.0)])
def test_the_goal_says_what_a_hand_is_worth(goal: str, highest: float) -> None:
    learner = new_learner(small("block(players=3)", f"rollout.goal={goal}"))
    player = learner.player()
    seen: list[npt.NDArray[np.float32]] = []
    for _ in range(12):
        player.play(1, 0.9, goal)
        rewards, ends = player.result(goal)
        seen.append(rewards[ends])
    rewards = np.concatenate(seen)
    assert len(rewards)
    np.testing.assert_allclose(rewards.sum(axis=1), 0, atol=1e-6)
    best = np.unique(rewards.max(axis=1).round(4))
    assert best.max() <= highest
    assert (set(best.tolist()) <= {0.0, 1.0}) == (goal == "win")


def test_parts_of_a_moment_add_up() -> None:
    learner = new_learner(small())
    seen = look(learner.tables, learner.policy.encoder, learner.device)
    parts = [seen.part(0, 100), seen.part(100, 256)]
    assert torch.equal(torch.cat([part.actions for part in parts]), seen.actions)
    assert torch.equal(parts[1].rows + 100, seen.rows[len(parts[0].rows) :])
    assert [len(part.values) for part in parts] == [100, 156]


def test_decisions_without_a_choice_are_not_learned_from() -> None:
    learner = new_learner(small())
    coder = learner.policy.encoder
    seen = Seen(
        actions=torch.randn(3, coder.action_columns + coder.state_columns),
        rows=torch.tensor([0, 1, 1]),
        columns=torch.tensor([0, 0, 1]),
        ids=torch.tensor([0, 1, 2]),
        values=torch.zeros(2, 1),
        critic=torch.zeros(2, 1),
    )
    losses = []
    for forced in (-5.0, 5.0):
        batch = ppo.Minibatch(
            seen,
            torch.tensor([0, 1]),
            torch.tensor([0.0, -0.7]),
            torch.tensor([forced, 1.0]),
            torch.zeros(2, 2),
        )
        losses.append(ppo.policy_terms(learner.policy, batch, learner.config.ppo).loss.item())
    assert losses[0] == losses[1]


def test_schedules_are_linear_and_stay_in_bounds() -> None:
    points = [ppo.between(1.0, 0.0, at) for at in (-1, 0, 0.25, 1, 2)]
    assert points == [1.0, 1.0, 0.75, 0.0, 0.0]


def test_ppo_learns_to_beat_random() -> None:
    """300 thousand decisions give about 60 %; an untrained network stays below 53 %."""
    torch.set_num_threads(1)
    overrides = ["rollout.tables=1024", "ppo.minibatch=1024", "rollout.steps=16"]
    learner = new_learner(load_config("block", overrides=[*overrides, "seed=1"]))
    before = evaluate(frozen_policy(learner), "block", ["random"], 1000, 3)["random"]
    player, figures = learner.player(), {"kl": 1.0}
    for update in range(18):
        batch = player.play(16, 0.9)
        figures = ppo.update(
            learner.policy,
            learner.critic,
            learner.optimiser,
            batch,
            learner.config.ppo,
            learner.rng,
            update / 18,
        )
    after = evaluate(frozen_policy(learner), "block", ["random"], 1000, 3)["random"]
    assert before.low < 0.53
    assert after.low > 0.55
    assert figures["explained"] > 0.1
    assert 0 <= figures["kl"] < 0.1
