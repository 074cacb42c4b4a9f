"""One exported bot for all tests: tracing a network takes many seconds."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from dominozoo.rules import parse
from dominozoo_training.policy.checkpoint import Policy
from dominozoo_training.policy.network import PolicyNetwork

# A job in the background may ignore Ctrl-C, and all that it starts with it; some tests press it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def random_policy(game: str) -> Policy:
    """A policy with random weights whose outputs differ clearly from move to move."""
    rules = parse(game)
    network = PolicyNetwork.for_rules(rules, hidden=(32, 16), value_hidden=(16,)).eval()
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for weight in network.parameters():
            scale = 1.5 * weight.shape[-1] ** -0.5 if weight.dim() == 2 else 0.1
            weight.copy_(torch.randn(weight.shape, generator=generator) * scale)
    meta = {"decisions": 0, "seed": 5, "strength": {"vs hard": 0.5}}
    return Policy(network.requires_grad_(False), rules, meta)


@pytest.fixture(scope="session")
def make_policy() -> Callable[[str], Policy]:
    """Makes a policy for a game, with random weights, the same everywhere."""
    return random_policy


@pytest.fixture(scope="session")
def policy() -> Policy:
    """A policy for Block with random weights, the same everywhere."""
    return random_policy("block")


@pytest.fixture(scope="session")
def exported(policy: Policy, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle of ``policy``, made once for all workers."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    path = shared / "exported.dombot"
    try:
        (shared / "exporting").mkdir()
    except FileExistsError:
        for _ in range(1800):
            if path.exists():
                return path
            time.sleep(0.1)
        pytest.fail("another worker should have exported the bot")
    from dominozoo_training.export.bundle import export_policy

    export_policy(policy, path)
    return path
