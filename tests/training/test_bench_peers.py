"""Other packages in the bench: what isn't there, or fails, is a line."""

import sys
from typing import Any

import pytest

from dominozoo_training.bench import Row, peers
from dominozoo_training.bench.peer_games import GAMES, answer
from dominozoo_training.bench.peers import PEERS, Peer, run_peers

RAW = ("block", "raw_env", None)
OURS = [Row(*RAW, 60_000.0, "1/s", 0.1)]


def run(*games: str, package: str = "numpy") -> tuple[list[dict[str, Any]], list[str], list[str]]:
    told: list[str] = []
    peer = Peer(package, f"pip install {package}", dict.fromkeys(games, RAW))
    found, missing = run_peers(OURS, 0.01, told.append, (peer,))
    return found, missing, told


def test_what_is_not_installed_is_named_with_what_installs_it() -> None:
    found, missing, told = run("rlcard:uno", package="no-such-package")
    assert (found, told) == ([], [])
    assert missing == ["no-such-package is not installed: pip install no-such-package"]


def test_a_game_that_fails_costs_one_line() -> None:
    found, missing, _ = run("pettingzoo:no_such_game", "nonsense:x")
    assert found == []
    [first, second] = missing
    assert first.startswith("pettingzoo:no_such_game: ModuleNotFoundError: No module named ")
    assert second == "nonsense:x: KeyError: 'nonsense'"


def test_a_process_that_dies_costs_a_line_a_game(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    found, missing, told = run("a:b", "c:d")
    assert found == []
    assert missing == ["a:b: numpy ended with exit code 1", "c:d: numpy ended with exit code 1"]
    assert told == [f"peers: numpy {peers.version_of('numpy')}"]


def test_a_process_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers, "PATIENCE", 0.0)
    _, missing, _ = run("openspiel:python_block_dominoes")
    assert missing == ["openspiel:python_block_dominoes: numpy took longer than 0 seconds"]


def test_openspiels_dominoes_are_played_and_compared() -> None:
    pytest.importorskip("pyspiel", reason="open-spiel is not installed")
    [row], missing, _ = run("openspiel+tensor:python_block_dominoes", package="open-spiel")
    assert missing == []
    assert 9 < row["moves_a_game"] < 12
    assert row["ratio"] == pytest.approx(60_000 / row["median"])
    # A hand of ours has more moves, as passes count.
    assert row["hands_ratio"] == pytest.approx(row["ratio"] * row["moves_a_game"] / 13.06, rel=0.01)
    assert 0 < row["ratio"] < 1000


def test_every_peer_says_how_it_is_played_and_compared() -> None:
    for peer in PEERS:
        assert peer.package in peer.pip
        assert {game.partition(":")[0] for game in peer.games} <= GAMES.keys()


def test_our_cases_are_planned_for_peers_unless_they_already_are() -> None:
    pytest.importorskip("pyspiel", reason="open-spiel is not installed")
    planned = peers.missing_jobs([], 0.1)
    keys = {(job.game, job.case, job.batch) for job in planned}
    assert keys == set(peers.needed())
    assert RAW in keys
    assert peers.missing_jobs(planned, 0.1) == []


def test_an_answer_is_an_error_or_figures() -> None:
    assert answer("openspiel:", 0.01).keys() == {"game", "error"}
