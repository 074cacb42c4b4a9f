"""What is Le Truc's own in training: its encoding, secrets, the magnet, moves drawn by chance."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from rich.console import Console
from typer.testing import CliRunner

from dominozoo import load_bot
from dominozoo.bots.bundle import read_bundle
from dominozoo.bots.truc_network import ACTION_CLASS, GOES, LATEST, NONE, TrucShape
from dominozoo.rules import parse
from dominozoo.tables import Tables
from dominozoo.tiles import TILE_COUNT
from dominozoo.truc.strength import BEATS, CLASS, HIS, MINE, TIED
from dominozoo_training.cli import app
from dominozoo_training.evaluation.arena import evaluate
from dominozoo_training.export.bundle import export_policy
from dominozoo_training.export.parity import check_bundle
from dominozoo_training.learning import ppo
from dominozoo_training.learning.config import Config, load_config
from dominozoo_training.learning.display import Display
from dominozoo_training.learning.state import Learner, frozen_policy, new_learner
from dominozoo_training.learning.trainer import train
from dominozoo_training.policy.checkpoint import Policy, load_policy
from dominozoo_training.policy.network import PolicyNetwork

RULES = parse("truc")
CALL = 28


def small(*overrides: str) -> Config:
    """A configuration that learns in seconds."""
    words = ["rollout.tables=256", "ppo.minibatch=256", "rollout.steps=8", "budget.decisions=4096"]
    return load_config("truc", overrides=[*words, *overrides])


def called(count: int = 512) -> Tables:
    """Tables in the middle of random rounds; at some a tile lies face down."""
    tables, rng = Tables(RULES, count, seed=3), np.random.default_rng(3)
    for _ in range(6):
        tables.step((tables.mask * (rng.random(tables.mask.shape) + 0.1)).argmax(axis=1))
    return tables


# The encoding.


def test_classes_compare_as_their_tiles_do() -> None:
    for a in range(TILE_COUNT):
        for b in range(TILE_COUNT):
            won, lost = BEATS[a] >> b & 1, BEATS[b] >> a & 1
            assert GOES[CLASS[a], CLASS[b]] == (MINE if won else HIS if lost else TIED)
    assert (GOES[NONE] == 0).all()
    assert (GOES[:, NONE] == 0).all()


def test_a_play_that_ends_the_round_is_seen_to() -> None:
    """What the table of verdicts says of a play is what the play does."""
    tables, rng, met = Tables(RULES, 4096, seed=8), np.random.default_rng(8), set()
    for _ in range(24):
        state = TrucShape().state(tables.observation)
        actions = (tables.mask * (rng.random(tables.mask.shape) + 0.1)).argmax(axis=1)
        goes = GOES[ACTION_CLASS[actions], state.lying]
        verdict = LATEST[state.won[:, 0], state.won[:, 1], goes]
        turn, played = tables.turn.copy(), actions < CALL
        tables.step(actions)
        winner = np.where(tables.reward.any(axis=1), tables.reward.argmax(axis=1), -1)
        ended = tables.hands_ended > 0
        expected = np.where(winner < 0, TIED, np.where(winner == turn, MINE, HIS))
        assert (verdict[played] == np.where(ended, expected, 0)[played]).all()
        met.update(verdict[played].tolist())
    assert met == {0, MINE, HIS, TIED}


def test_a_tile_face_down_is_the_critics_alone() -> None:
    tables = called()
    encoder = PolicyNetwork.for_rules(RULES).encoder
    before = encoder.secrets(tables.records, tables.turn)
    seen = tables.observation.copy()
    last = tables.records["plays"].astype(np.int64) - 1
    down = np.flatnonzero(tables.records["face_down"])
    assert 20 < len(down) < len(seen)
    for row in down:
        hidden = int(before[row, 2])
        assert hidden == 1 << int(tables.records["played"][row, last[row]])
        tables.records["played"][row, last[row]] = (hidden.bit_length()) % TILE_COUNT
    tables.refresh()
    np.testing.assert_array_equal(tables.observation, seen)
    after = encoder.secrets(tables.records, tables.turn)
    assert (after[down, 2] != before[down, 2]).all()
    others = np.setdiff1d(np.arange(len(seen)), down)
    assert (before[others, 2] == 0).all()


def test_tiles_of_one_class_are_worth_the_same() -> None:
    """8-4 and 7-5 sum to 12, neither is a double: exchanged, they change no probability."""
    shape, tables = TrucShape(), called(64)
    rows, actions = np.nonzero(tables.mask)
    columns = shape.score_inputs(shape.state(tables.observation), rows, actions)
    same = (CLASS[:, None] == CLASS) & ~np.eye(TILE_COUNT, dtype=bool)
    pairs = 0
    for row in range(64):
        hand = np.flatnonzero(tables.mask[row, :TILE_COUNT])
        for a, b in ((a, b) for a in hand for b in hand if same[a, b]):
            at = [int(np.flatnonzero((rows == row) & (actions == tile))[0]) for tile in (a, b)]
            np.testing.assert_array_equal(columns[at[0]], columns[at[1]])
            pairs += 1
    assert pairs


# The magnet.


def terms(learner: Learner, magnet: PolicyNetwork | None) -> ppo.Terms:
    """The policy's terms on one moment of play."""
    batch = learner.player().play(2, 0.9)
    moment = ppo.minibatches(batch, 256, np.random.default_rng(0))[0]
    return ppo.policy_terms(learner.policy, moment, learner.config.ppo, magnet)


def test_the_magnet_pulls_as_far_as_it_is_away() -> None:
    learner = new_learner(small("ppo.magnet=0.5"))
    assert learner.magnet is not None
    assert terms(learner, learner.magnet).magnet.item() == pytest.approx(0, abs=1e-6)
    with torch.no_grad():
        for weight in learner.policy.score.parameters():
            weight.add_(torch.randn(weight.shape, generator=torch.Generator().manual_seed(1)) / 5)
    pull = terms(learner, learner.magnet).magnet
    assert pull.item() > 0.05
    assert not any(weight.requires_grad for weight in learner.magnet.parameters())
    assert terms(learner, None).magnet.item() == 0


def test_a_heavy_magnet_holds_the_policy() -> None:
    moved = []
    for weight in ("0", "1"):
        learner = new_learner(small(f"ppo.magnet={weight}", "ppo.magnet_every=1000"))
        start = frozen_policy(learner)
        for _ in range(6):
            batch = learner.player().play(8, 0.9)
            settings = learner.config.ppo
            networks = (learner.policy, learner.critic, learner.optimiser)
            ppo.update(*networks, batch, settings, learner.rng, 0, learner.magnet)
        tables = called()
        chances = [
            p.probabilities(tables.observation, tables.mask)
            for p in (start, frozen_policy(learner))
        ]
        moved.append(float(np.abs(chances[0] - chances[1]).mean()))
    assert moved[1] < 0.6 * moved[0]


def test_the_magnet_follows_when_it_is_time() -> None:
    learner = new_learner(small("ppo.magnet=0.5", "ppo.magnet_every=3"))
    magnet = learner.magnet
    assert magnet is not None

    def away() -> float:
        one, other = (
            torch.cat([weight.flatten() for weight in network.parameters()])
            for network in (learner.policy, magnet)
        )
        return float((one - other).detach().norm())

    with torch.no_grad():
        next(iter(learner.policy.parameters())).add_(1)
    for updates in (1, 2, 4):
        learner.updates = updates
        learner.follow()
        assert away() > 1
    learner.updates = 6
    learner.follow()
    assert away() == 0


# Training.


def test_it_learns_to_beat_random() -> None:
    """80 thousand decisions win about 70 % of the rounds; the untrained network about half."""
    torch.set_num_threads(1)
    words = ["rollout.tables=1024", "ppo.minibatch=1024", "ppo.entropy=0.05", "seed=1"]
    learner = new_learner(small(*words))
    figures: dict[str, float] = {}
    for update in range(10):
        batch = learner.player().play(8, 0.9)
        networks = (learner.policy, learner.critic, learner.optimiser)
        figures = ppo.update(*networks, batch, learner.config.ppo, learner.rng, update / 10)
    result = evaluate(frozen_policy(learner), "truc", ["random"], 500, 3)["random"]
    assert result.points > 0.3 / 30
    assert figures["explained"] > 0.1


def test_a_run_is_judged_by_rounds_and_matches(tmp_path: Path) -> None:
    words = ["evaluation.unit=match", "evaluation.final_deals=20", "evaluation.opponents=[random]"]
    config = small(*words, "rollout.goal=match", "budget.decisions=2048")
    folder = train(config, tmp_path / "run", display=Display("test", Console(quiet=True)))
    policy = load_policy(folder)
    assert [entry["unit"] for entry in policy.meta["strength"]] == ["hand", "match"]
    card = (folder / "card.md").read_text()
    assert "draws its moves by their chances" in card
    assert "| random | matches |" in card
    assert "--unit match --deals 20 " in card
    assert "--opening rule --deals 20 " in card


# The bundle.


@pytest.fixture(scope="module")
def bot_file(
    make_policy: Callable[[str], Policy], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    path = tmp_path_factory.mktemp("truc") / "truc.dombot"
    export_policy(make_policy("truc"), path)
    return path


def test_the_bundle_says_what_it_needs_and_verifies(bot_file: Path) -> None:
    bundle = read_bundle(bot_file)
    manifest = bundle.manifest
    assert manifest["min_reader"] == 2
    assert manifest["network"]["architecture"] == "truc-actions/1"
    assert manifest["select"]["default"] == "sampled"
    assert (manifest["actions"]["table"], manifest["actions"]["count"]) == ("truc/1", 60)
    assert manifest["observation"]["layout"] == "truc"
    report = check_bundle(bundle)
    assert set(report.vectors) == {"NumPy", "onnxruntime", "PyTorch", "views"}
    assert report.games
    assert report.failed == ""
    result = CliRunner().invoke(app, ["verify", str(bot_file)])
    assert result.output.count("all vectors are right") == 4


def test_vectors_show_every_phase(bot_file: Path) -> None:
    lines = read_bundle(bot_file).members["vectors.jsonl"].splitlines()
    views = [json.loads(line)["view"] for line in lines]
    assert {v["phase"] for v in views} == {"exchange", "answer", "lead", "follow", "call"}
    assert any(v["multiplier"] > 1 for v in views)
    assert any(v["redeals"] for v in views)


def test_the_bot_draws_unless_asked_otherwise(bot_file: Path) -> None:
    bot, tables = load_bot(bot_file), called(1)
    observation = np.repeat(tables.observation, 4000, axis=0)
    mask = np.repeat(tables.mask, 4000, axis=0)
    chances = bot.probabilities(observation, mask)[0]
    counts = np.bincount(bot.act(observation, mask), minlength=60) / 4000
    np.testing.assert_allclose(counts, chances, atol=0.05)
    assert len(set(bot.act(observation, mask).tolist())) > 1
    assert (bot.act(observation, mask, greedy=True) == chances.argmax()).all()
    drawn = [bot.act(observation, mask, rng=np.random.default_rng(5)) for _ in range(2)]
    np.testing.assert_array_equal(*drawn)
    single = {"observation": observation[0], "action_mask": mask[0]}
    assert mask[0, bot.act(single)]


def test_the_bot_refuses_what_it_cannot_read(bot_file: Path) -> None:
    bot, tables = load_bot(bot_file), called(1)
    wrong = tables.observation.copy()
    wrong[0, 126] = 9
    with pytest.raises(ValueError, match=r"observation\[126\] is out of range 0..5"):
        bot.act(wrong, tables.mask)
    with pytest.raises(ValueError, match=r"shape \(..., 139\)"):
        bot.act(wrong[:, :-1], tables.mask)


def test_a_person_plays_against_it(bot_file: Path) -> None:
    words = ["play", "truc", "--against", str(bot_file), "--seed", "4", "--hands", "2"]
    text = "h\n" + "\n".join(["9", "s", "r", "1 d", "1", "1 x"] * 40)
    result = CliRunner().invoke(app, words, input=text)
    assert result.exit_code == 0, result.output
    assert "would play:" in result.output
    assert "lays" in result.output
    assert "No tile can be played now" in result.output or "That is no move" in result.output
    assert result.output.count("Scores:") == 2
    assert CliRunner().invoke(app, words, input=text).output == result.output
