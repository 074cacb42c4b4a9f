import json
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from dominozoo.rules import parse
from dominozoo.tables import Tables
from dominozoo_training.policy.checkpoint import Policy, describe_policy, load_policy, policy_files
from dominozoo_training.policy.folders import (
    META,
    WEIGHTS,
    CheckpointError,
    checkpoints_of,
    policy_folder,
    require_writable,
    write_folder,
)
from dominozoo_training.policy.network import PolicyNetwork

SHIPPED = sorted((Path(__file__).resolve().parents[2] / "checkpoints").glob(f"**/{META}"))


def fresh(game: str = "block") -> Policy:
    """A policy with random weights."""
    torch.manual_seed(3)
    return Policy(
        PolicyNetwork.for_rules(parse(game), hidden=(16,), value_hidden=(8,)), parse(game)
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A policy's folder."""
    policy = fresh()
    write_folder(tmp_path / "p", policy_files(policy, describe_policy(policy, decisions=5), "# p"))
    return tmp_path / "p"


def change_meta(folder: Path, **changes: Any) -> None:
    """Change entries of meta.json."""
    meta = json.loads((folder / META).read_text())
    (folder / META).write_text(json.dumps(meta | changes))


@pytest.mark.parametrize("game", ["block", "draw(players=3)", "french"])
def test_a_policy_comes_back_as_it_was(game: str, tmp_path: Path) -> None:
    policy, tables = fresh(game), Tables(game, 32, seed=1)
    write_folder(tmp_path / "p", policy_files(policy, describe_policy(policy), "# card"))
    loaded = load_policy(tmp_path / "p")
    assert loaded.rules == parse(game)
    np.testing.assert_array_equal(
        loaded.probabilities(tables.observation, tables.mask),
        policy.probabilities(tables.observation, tables.mask),
    )
    assert (tmp_path / "p" / "card.md").read_text() == "# card"
    assert [path.name for path in tmp_path.iterdir()] == ["p"], "nothing else is left"


def test_writing_again_replaces_the_folder(folder: Path) -> None:
    (folder / "stale").write_text("x")
    policy = fresh()
    write_folder(folder, policy_files(policy, describe_policy(policy, decisions=6)))
    assert load_policy(folder).meta["decisions"] == 6
    assert not (folder / "stale").exists()


def test_a_failed_write_leaves_the_old_folder(folder: Path) -> None:
    bad: dict[str, Any] = {"ok": b"1", "no/such/place": b"2"}
    with pytest.raises(CheckpointError, match="can't write"):
        write_folder(folder, bad)
    assert load_policy(folder).meta["decisions"] == 5
    assert [path.name for path in folder.parent.iterdir()] == ["p"]


@pytest.mark.parametrize("how", ["cut", "flipped", "empty", "swapped"])
def test_changed_weights_are_refused(how: str, folder: Path) -> None:
    data = bytearray((folder / WEIGHTS).read_bytes())
    if how == "cut":
        data = data[:-100]
    elif how == "flipped":
        data[-5] ^= 1
    elif how == "empty":
        data = bytearray()
    else:
        data = bytearray(policy_files(fresh("french"), {})[WEIGHTS])
    (folder / WEIGHTS).write_bytes(data)
    with pytest.raises(CheckpointError, match="is cut or changed"):
        load_policy(folder)


def test_weights_of_another_network_are_refused(folder: Path) -> None:
    meta = json.loads((folder / META).read_text())
    change_meta(folder, network={**meta["network"], "hidden": [17]})
    with pytest.raises(CheckpointError, match=r"does not fit the network.*size mismatch"):
        load_policy(folder)


def test_weights_that_are_no_numbers_are_refused(tmp_path: Path) -> None:
    policy = fresh()
    with torch.no_grad():
        next(policy.network.parameters())[0, 0] = float("nan")
    write_folder(tmp_path / "p", policy_files(policy, describe_policy(policy)))
    with pytest.raises(CheckpointError, match="no finite numbers"):
        load_policy(tmp_path / "p")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": 2}, "format 2; this program reads 1"),
        ({"observation": {"name": "line", "version": 0}}, "made for observation"),
        ({"encoding": 99}, "made for encoding 99"),
        ({"actions": 114}, "made for actions 114"),
        ({"rules": {"players": 2}}, "made for rules"),
        ({"game": "blok"}, "did you mean 'block'"),
        ({"game": "french"}, "made for actions 58"),
        ({"network": {}}, "in 'game' or 'network'"),
        ({"network": {"ends": 2, "seats": 2, "hidden": "x", "value_hidden": []}}, "'network'"),
    ],
)
def test_a_checkpoint_for_something_else_is_refused(
    changes: dict[str, Any], message: str, folder: Path
) -> None:
    change_meta(folder, **changes)
    with pytest.raises(CheckpointError, match=message) as caught:
        load_policy(folder)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", [META, WEIGHTS])
def test_a_missing_file_is_named(name: str, folder: Path) -> None:
    (folder / name).unlink()
    with pytest.raises(CheckpointError, match=name):
        load_policy(folder)


@pytest.mark.parametrize("text", ["", "{", "[]", "\xff"])
def test_a_broken_meta_is_refused(text: str, folder: Path) -> None:
    (folder / META).write_text(text, encoding="latin-1")
    with pytest.raises(CheckpointError, match=META):
        load_policy(folder)


def test_a_run_stands_for_its_last_or_best_checkpoint(folder: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    for name, decisions in (("checkpoints/000001", 1), ("checkpoints/000002", 2), ("best", 9)):
        shutil.copytree(folder, run / name)
        change_meta(run / name, decisions=decisions)
    assert load_policy(run).meta["decisions"] == 2
    assert load_policy(f"{run}@last").meta["decisions"] == 2
    assert load_policy(f"{run}@best").meta["decisions"] == 9
    (run / "best").rename(run / "gone")
    with pytest.raises(CheckpointError, match=r"has no best/.*run alone names its last policy"):
        load_policy(f"{run}@best")
    assert [path.name for path in checkpoints_of(run)] == ["000001", "000002"]
    with pytest.raises(CheckpointError, match="is no folder"):
        load_policy(f"{run}@worst")


def test_an_empty_folder_is_no_policy(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"neither meta\.json nor a run"):
        load_policy(tmp_path)


def test_a_file_in_the_way_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CheckpointError, match="can't write"):
        require_writable(tmp_path / "file" / "run")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder_is_a_clear_error(tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    with pytest.raises(CheckpointError, match=r"can't write .* Permission denied"):
        require_writable(tmp_path / "run")
    tmp_path.chmod(0o755)


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: str(path.parent.name))
def test_every_shipped_checkpoint_plays(path: Path) -> None:
    policy = load_policy(path.parent)
    assert path.with_name(WEIGHTS).stat().st_size <= 300_000
    assert policy.meta["strength"], "how strong it is was measured"
    assert str(policy.rules) in path.with_name("card.md").read_text()
    tables = Tables(policy.rules, 16, seed=2)
    for _ in range(40):
        tables.step(policy.play(tables.observation, tables.mask))


def test_a_finished_run_is_its_published_policy(folder: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    for name, decisions in (("checkpoints/000001", 1), ("checkpoints/000002", 2), ("policy", 2)):
        shutil.copytree(folder, run / name)
        change_meta(run / name, decisions=decisions)
    assert policy_folder(run) == run / "policy"
    assert policy_folder(f"{run}@last") == run / "checkpoints" / "000002"
    shutil.copytree(folder, run / "checkpoints" / "000003")
    assert policy_folder(run) == run / "checkpoints" / "000003"
