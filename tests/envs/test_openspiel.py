"""Block and the pair games against OpenSpiel's two domino games, move by move.

OpenSpiel lets player 0 begin with any tile, jumps over who must pass and names an action by the
number that it covers, not by the end. Its block game agrees with ours. Of its team game the moves,
the passes and the ends do; it always compares the pairs' pips, as Chiva does on a block, while our
sides win by going out and Partnership looks for the single lowest hand.
"""

from __future__ import annotations

import os
import re
from typing import Any

import numpy as np
import pytest

from dominozoo.line.batch import ENDED
from dominozoo.line.game import LineGame
from dominozoo.line.table import ANY_TILE
from dominozoo.rules import Rules, parse

pyspiel: Any = pytest.importorskip("pyspiel", reason="needs open-spiel, see the extra dev")
pytest.importorskip("open_spiel.python.games")  # registers the games

GAMES = int(os.environ.get("OPENSPIEL_GAMES", "150"))
PASS = 57

Json = dict[str, Any]
Move = tuple[str, int | None]  # a tile and the number that it covers, None at the pose


class Theirs:
    """A game of OpenSpiel in our words."""

    def __init__(self, hands: list[list[str]]) -> None:
        pairs = len(hands) == 4
        self.state = pyspiel.load_game(f"python_{'team' if pairs else 'block'}_dominoes")
        self.state = self.state.new_initial_state()
        deals = {self.words(action): action for action in self.state.legal_actions()}
        rows = zip(*hands, strict=True) if pairs else hands  # a tile each in turn, or a hand each
        for tile in [tile for row in rows for tile in row]:
            high, low = tile.split("-")
            self.state.apply_action(deals[f"Deal ({low}.0, {high}.0)"])

    def words(self, action: int) -> str:
        return str(self.state.action_to_string(action))

    @property
    def turn(self) -> int | None:
        """The seat to move, None at the end."""
        return None if self.state.is_terminal() else int(self.state.current_player())

    def moves(self) -> dict[Move, int]:
        """The legal moves with their action ids."""
        found: dict[Move, int] = {}
        for action in self.state.legal_actions():
            match = re.search(r"tile:\((\d)\.0, (\d)\.0\) pip:(\d|None)", self.words(action))
            assert match is not None
            low, high, covered = match.groups()
            found[f"{high}-{low}", None if covered == "None" else int(covered)] = action
        return found


class Ours:
    """A line game whose first hand seat 0 opens with any tile."""

    def __init__(self, rules: Rules, seed: int) -> None:
        self.rules = rules
        self.game = LineGame(rules)
        self.ended = False
        self.game.reset((seed, 0), {} if rules.value("always_by_rule", False) else {"opener": 0})
        record = self.game.tables[0]
        record["turn"], record["opening"] = 0, ANY_TILE  # Block's rules know no free pose

    def step(self, action: int) -> None:
        self.ended = self.game.step(action) >= ENDED

    def skip_passes(self) -> None:
        """Pass while that is all there is, as OpenSpiel does by itself."""
        while not self.ended and self.table()["legal"][0]["id"] == PASS:
            self.step(PASS)

    def table(self) -> Json:
        return self.game.position()

    def moves(self) -> dict[Move, list[int]]:
        """The legal moves; equal ends make two actions one."""
        found: dict[Move, list[int]] = {}
        table = self.table()
        for move in table["legal"]:
            covered = None if table["ends"] is None else table["ends"][move["end"]]
            found.setdefault((move["tile"], covered), []).append(move["id"])
        return found


def play(rules: Rules, seed: int) -> tuple[Ours, Theirs]:
    """A random hand, compared at each decision."""
    rng = np.random.default_rng(seed)
    ours = Ours(rules, seed)
    theirs = Theirs(ours.table()["hands"])
    while not ours.ended:
        moves, same = ours.moves(), theirs.moves()
        assert ours.table()["turn"] == theirs.turn
        assert moves.keys() == same.keys()
        move = sorted(moves, key=str)[rng.integers(len(moves))]
        ours.step(int(rng.choice(moves[move])))
        theirs.state.apply_action(same[move])
        ours.skip_passes()
        assert ours.ended == (theirs.turn is None)
    return ours, theirs


def pips(hand: list[str]) -> int:
    return sum(int(tile[0]) + int(tile[2]) for tile in hand)


def check_hands(last: Json, theirs: Theirs) -> None:
    """The tiles left, and that a hand is out exactly if it was won so."""
    left = [sorted(f"{high:.0f}-{low:.0f}" for low, high in hand) for hand in theirs.state.hands]
    assert [sorted(hand) for hand in last["hands"]] == left
    assert ([] in left) == (last["reason"] == "out")


def test_block_agrees_with_openspiel() -> None:
    rules = parse("block")
    reasons = set()
    for seed in range(GAMES):
        ours, theirs = play(rules, seed)
        last = ours.game.last_hand()
        assert last is not None
        check_hands(last, theirs)
        assert [reward * rules.target for reward in ours.game.rewards] == pytest.approx(
            theirs.state.returns()
        )
        reasons.add(last["reason"])
    assert reasons == {"out", "block", "tie"}


@pytest.mark.parametrize("game", ["partnership", "chiva"])
def test_pair_games_agree_with_openspiel_but_for_going_out(game: str) -> None:
    reasons = set()
    for seed in range(GAMES):
        ours, theirs = play(parse(game), seed)
        last = ours.game.last_hand()
        assert last is not None
        check_hands(last, theirs)
        even, odd = (pips(last["hands"][side] + last["hands"][side + 2]) for side in (0, 1))
        worth = 0 if even == odd else odd if even < odd else -even
        assert theirs.state.returns() == [worth, -worth, worth, -worth]
        if last["reason"] == "out":
            assert last["hands"][last["seat"]] == []
        elif game == "chiva":
            assert last["winner"] == (None if worth == 0 else int(worth < 0))
        reasons.add(last["reason"])
    assert {"out", "block"} <= reasons
