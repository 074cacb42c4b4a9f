"""Tables that write into torch tensors."""

import numpy as np
import pytest
import torch

from dominozoo.tables import Tables

COUNT, STEPS = 5, 12


def test_a_rollout_of_tensors_is_filled_step_by_step() -> None:
    plain = Tables("block", COUNT, seed=1)
    seen = torch.zeros(STEPS + 1, COUNT, plain.layout.columns)
    masks = torch.zeros(STEPS + 1, COUNT, plain.num_actions, dtype=torch.int8)
    rewards = torch.zeros(STEPS, COUNT, 2)
    tables = Tables("block", COUNT, seed=1, one_hot=True, observation=seen[0], mask=masks[0])
    for t in range(STEPS):
        actions = masks[t].argmax(dim=1)
        tables.step(actions.numpy(), observation=seen[t + 1], mask=masks[t + 1], reward=rewards[t])
        plain.step(actions.numpy())
        assert np.array_equal(seen[t + 1].numpy(), plain.layout.expand(plain.observation))
        assert np.array_equal(masks[t + 1].numpy(), plain.mask)
        assert np.array_equal(rewards[t].numpy(), plain.reward)
    assert rewards.any()


def test_a_tensor_that_learns_is_refused() -> None:
    learns = torch.zeros(COUNT, 295, requires_grad=True)
    with pytest.raises(ValueError, match=r"observation can't be shared with NumPy: .*grad"):
        Tables("block", COUNT, seed=1, one_hot=True, observation=learns)
