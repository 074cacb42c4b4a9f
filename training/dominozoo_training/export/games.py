"""Golden games: whole hands with what every seat saw, and what the policy said of it.

A vector shows whether a position is encoded rightly. A golden game shows whether somebody's rules
and views are right as well: played again from its record, every decision must show the same view,
the same legal moves and the same probabilities. One JSON object a line, one game a line.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from dominozoo.bots.archive import GAMES, BundleError, read_json
from dominozoo.bots.bundle import Bundle
from dominozoo.line.batch import ENDED
from dominozoo.line.score import MATCH_OVER
from dominozoo.notation import HAND, HAND_END, MATCH_END, new_game, record_of
from dominozoo.rules import TRUC, Rules
from dominozoo_training.export.positions import matches
from dominozoo_training.export.readers import Reader
from dominozoo_training.export.vectors import Vectors, answers, as_objects, read_objects

FEWEST: Final = 3  # fewer prove little
WRITTEN: Final = (4, 6)  # at least, at most
MOST_READ: Final = 64
MOST_DECISIONS: Final = 4096  # read, of one game
HANDS: Final = 2  # of a game
CANDIDATES: Final = 400  # hands played to choose from
TIED: Final = (
    ("6-6", "6-5", "5-5"),
    ("8-4", "8-3", "6-4"),
)  # hands of Le Truc: nobody wins a trick
WORTHS: Final = (16, 32)  # of rounds of Le Truc
QUIET: Final = ("accept", "stand", "play", "pass")
RAISING: Final = ("accept", "stand", "double", "play")

Json = dict[str, Any]


@dataclass(frozen=True)
class Golden:
    """A golden game.

    Attributes:
        record: the game record's lines.
        decisions: what each mover saw, and the policy's answers.
        actions: the action that was taken at each decision.
        at: by decision, the index in ``record`` of the event that tells of the action.
        views: what each seat sees at the end.
    """

    record: list[Json]
    decisions: Vectors
    actions: list[int]
    at: list[int]
    views: list[Json]


def golden_games(rules: Rules, reader: Reader, seed: int = 1) -> list[Golden]:
    """Games that show, together, whatever comes up in some hundred hands, and what hardly ever does.

    They depend on game and seed.
    """
    chosen = [*choose(candidates(rules, seed)), *rarities(rules, seed)]
    return [golden(played, reader) for played in chosen]


@dataclass(frozen=True)
class Played:
    """Some hands of a match: the table where they begin, and the moves."""

    rules: Rules
    start: Json
    actions: list[int]

    def again(self) -> Any:
        """The table at the start."""
        table: Any = new_game(self.rules)
        table.reset(None, {"position": self.start})
        return table


def candidates(rules: Rules, seed: int) -> list[Played]:
    """Pairs of consecutive hands of some matches, and their last hands."""
    hands: list[tuple[Json, list[int]]] = []
    for table, seat, action in matches(rules, seed):
        if not table.view(seat)["events"]:
            if len(hands) == CANDIDATES:
                break
            hands.append((table.position(), []))
        hands[-1][1].append(action)
    found = []
    for k in range(len(hands) - 1):
        # The last hand of a match stands alone.
        alone = hands[k + 1][0]["hand_number"] == 1
        part = hands[k : k + 1 if alone else k + HANDS]
        found.append(Played(rules, part[0][0], [action for _, moves in part for action in moves]))
    return found


def play_again(played: Played) -> Any:
    """The table after the moves."""
    table = played.again()
    for action in played.actions:
        code = table.step(action)
        if code >= ENDED and not code // ENDED & MATCH_OVER:
            table.deal()
    return table


def traits(record: list[Json]) -> set[tuple[Any, ...]]:
    """What a game is an example of."""
    found: set[tuple[Any, ...]] = set()
    for line in record[1:]:
        kind = line["kind"]
        if kind == HAND_END:
            shown = ("reason", "effect", "key", "winner")
            found |= {(name, line[name]) for name in shown if line.get(name) is not None}
        elif kind == HAND:
            found.add((kind, line["poser"] is None if "poser" in line else line["dealer"]))
            found.add(("stake", min(line["stake"], 3), any(line["scores"])))
        elif kind == MATCH_END:
            found.add((kind, line["over"]))
        else:
            found.add((kind, line["end"]))
    return found


def choose(games: list[Played]) -> list[Played]:
    """The first game, one that ends a match if there is one, and what shows most else."""
    left = [(played, traits(record_of(play_again(played)))) for played in games]
    chosen = [left.pop(0)]
    ending = next((pair for pair in left if (MATCH_END, True) in pair[1]), None)
    if ending is not None:
        left.remove(ending)
        chosen.append(ending)
    while left and len(chosen) < WRITTEN[1]:
        seen = set().union(*(shown for _, shown in chosen))
        best = max(left, key=lambda pair: len(pair[1] - seen))
        if len(chosen) >= WRITTEN[0] and not best[1] - seen:
            break
        left.remove(best)
        chosen.append(best)
    return [played for played, _ in chosen]


def rarities(rules: Rules, seed: int) -> list[Played]:
    """Hands with results that chance hardly ever brings, set up for them.

    Le Truc: a void round, one worth 16 and one worth 32. French: a match with joint winners.
    """
    if rules.variant.family == TRUC:
        void = play_out(rules, seed, {"deal": {"hands": TIED}})
        return [void, *(round_worth(rules, seed, worth) for worth in WORTHS)]
    if rules.value("scoring", "") == "penalties":
        return joint_winners(rules, seed)
    return []


def play_out(rules: Rules, seed: int, setup: Json, worth: int = 1) -> Played:
    """A hand that is set up, with the moves that stand first in ``QUIET`` or ``RAISING``.

    Args:
        rules: the game.
        seed: of the deal.
        setup: as ``reset(options=...)`` takes it.
        worth: what a round of Le Truc is raised to, if it lasts so long.
    """
    table: Any = new_game(rules)
    code = table.reset((seed, 0), setup)
    played = Played(rules, table.position(), [])
    while code < ENDED:
        view = table.view(code)
        kinds = RAISING if view.get("multiplier", worth) < worth else QUIET
        action = next(
            move["id"] for kind in kinds for move in view["legal"] if move["action"] == kind
        )
        played.actions.append(action)
        code = table.step(action)
    return played


def round_worth(rules: Rules, seed: int, worth: int) -> Played:
    """The first round of Le Truc that lasts until it is worth so much."""
    rounds = (play_out(rules, seed + k, {}, worth) for k in itertools.count())
    return next(one for one in rounds if hand_end(one)["points"] == worth)


def joint_winners(rules: Rules, seed: int) -> list[Played]:
    """A hand of French before which the scores stand so that all but one win the match with it.

    Empty where the target is too low for that.
    """
    points = hand_end(play_out(rules, seed, {}))["points"]
    most = points.index(max(points))
    scores = [rules.target - 1 - (0 if k == most else p) for k, p in enumerate(points)]
    if min(scores) < 0:
        return []
    return [play_out(rules, seed, {"scores": scores})]


def hand_end(played: Played) -> Json:
    """How the last hand of some ended, as its record tells it."""
    record = record_of(play_again(played))
    return next(line for line in reversed(record) if line["kind"] == HAND_END)


def golden(played: Played, reader: Reader) -> Golden:
    """Play a game again and write down what everybody saw, and what a policy says of it."""
    table, cases, seats = played.again(), [], []
    for action in played.actions:
        seats.append(seat := int(table.tables["turn"][0]))
        cases.append((*table.observe(seat), table.view(seat)))
        code = table.step(action)
        if code >= ENDED and not code // ENDED & MATCH_OVER:
            table.deal()
    record = record_of(table)
    views = [table.view(seat) for seat in range(played.rules.players)]
    at = places(record, played.again())
    return Golden(record, answers(cases, reader), played.actions, at, views)


def places(record: list[Json], table: Any) -> list[int]:
    """The indices of the events that tell of an action; the others follow by themselves."""
    kinds = (HAND_END, HAND, MATCH_END)
    return [
        k
        for k, line in enumerate(record)
        if k and line["kind"] not in kinds and table.action_of(line) is not None
    ]


def as_lines(games: Iterable[Golden]) -> bytes:
    """Golden games as JSON lines."""
    lines = []
    for game in games:
        told = zip(as_objects(game.decisions), game.actions, game.at, strict=True)
        decisions = [{"at": at, "action": action, **answer} for answer, action, at in told]
        line = {"record": game.record, "decisions": decisions, "end": {"views": game.views}}
        lines.append(json.dumps(line, separators=(",", ":")) + "\n")
    return "".join(lines).encode()


def read_games(data: bytes, bundle: Bundle) -> list[Golden]:
    """Read a bundle's golden games; whether they can be played is seen by playing them.

    Raises:
        BundleError: naming the game and what is wrong with it.
    """
    lines = data.splitlines()
    if not FEWEST <= len(lines) <= MOST_READ:
        raise BundleError(f"{GAMES}: {len(lines)} games; {FEWEST}..{MOST_READ} are taken")
    found = []
    for k, line in enumerate(lines):
        name = f"{GAMES}: game {k}"
        try:
            found.append(read_game(read_json(line, name), bundle, name))
        except ValueError as error:
            if isinstance(error, BundleError):
                raise
            raise BundleError(f"{name}: {error}") from None
    return found


def read_game(game: Any, bundle: Bundle, name: str) -> Golden:
    """Read one golden game as JSON types; ValueError says what is wrong with it."""
    if not isinstance(game, dict):
        raise ValueError("it must be an object")
    record, decisions = (_objects(game, key) for key in ("record", "decisions"))
    views = _objects(game["end"] if isinstance(game.get("end"), dict) else {}, "views")
    if not 1 <= len(decisions) <= MOST_DECISIONS:
        raise ValueError(f"{len(decisions)} decisions; 1..{MOST_DECISIONS} are taken")
    for key in ("action", "at"):
        if not all(type(decision.get(key)) is int for decision in decisions):
            raise ValueError(f"{key} of a decision must be a whole number")
    vectors = read_objects(decisions, bundle, f"{name}: decision")
    if not all(vectors.views):
        raise ValueError("every decision needs a view")
    actions, at = ([decision[key] for decision in decisions] for key in ("action", "at"))
    return Golden(record, vectors, actions, at, views)


def _objects(holder: Json, key: str) -> list[Json]:
    found: Any = holder.get(key)
    if not isinstance(found, list) or not all(isinstance(part, dict) for part in found):
        raise ValueError(f"{key} must be a list of objects")
    return found
