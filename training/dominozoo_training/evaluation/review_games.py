"""Where the decisions of a review come from: hands played for it, or game records.

Kept of each decision with a choice: the table before it, whose it was and what was played.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dominozoo.bots import OUTSIDE, kernels, seed_bots
from dominozoo.notation import HEADER, Game, new_game, read_record, replay
from dominozoo.records import copied
from dominozoo.rules import Rules
from dominozoo.tables import FAMILIES, Tables, split_seed
from dominozoo_training.evaluation.asking import Conduct, Desk
from dominozoo_training.evaluation.entrants import Entrant

Array = npt.NDArray[Any]
Json = dict[str, Any]


class ReviewError(ValueError):
    """A review that can't be made; the text begins with the field."""


@dataclass(frozen=True, slots=True)
class Record:
    """A game in a file: its lines, and how many stand before them."""

    file: Path
    first: int
    lines: list[Json]


@dataclass(slots=True)
class Played:
    """Decisions with a choice, in the order in which they were made in each game.

    Attributes:
        rules: the game.
        names: of who moved, by number; seats where games were read.
        entrants: the players by number; where games were read whose opinion is asked there, None:
            nobody's.
        tables: the table records before the moves, (k,).
        game: int64 (k,), number of the game.
        player: int64 (k,), number of the player who decided.
        action: int64 (k,), the move played.
        seed: of deals and bots, None for games that were read.
        unfinished: (game, hand) where a record stops in mid-hand.
    """

    rules: Rules
    names: list[str]
    entrants: list[Entrant] | None
    tables: Array
    game: npt.NDArray[np.int64]
    player: npt.NDArray[np.int64]
    action: npt.NDArray[np.int64]
    seed: int | None = None
    unfinished: list[tuple[int, int]] = field(default_factory=list)

    @property
    def read(self) -> bool:
        """Whether the games were read: others than ``entrants`` have moved."""
        return self.seed is None

    @property
    def asked(self) -> list[str] | None:
        """Whose opinion is asked about each seat of a record; None: nobody's."""
        if not self.read or self.entrants is None:
            return None
        return [entrant.label for entrant in self.entrants]

    @property
    def packed(self) -> Array:
        """The packed rules."""
        return FAMILIES[self.rules.variant.family].pack(self.rules)


def hands_of(played: Played) -> npt.NDArray[np.int64]:
    """A number for the hand of each decision."""
    number = played.tables["hand_number"].astype(np.int64)
    return played.game * (int(number.max(initial=0)) + 1) + number


def play_hands(rules: Rules, entrants: Sequence[Entrant], hands: int, seed: int) -> Played:
    """Let players play hands of which every one starts a match; player (seat + hand) mod players.

    Args:
        rules: the game.
        entrants: one a seat, or fewer: they are repeated.
        hands: how many, at least 1; hand k is the first of table k of the seed.
        seed: of deals and bots.

    Raises:
        ReviewError: more players than seats, or no hand.
        ArenaError, EntrantError: a player failed.
    """
    check_players(rules, entrants)
    check_hands(hands)
    tables = Tables(rules, hands, seed=seed)
    records, packed = tables.records, tables.packed
    rng = np.zeros((hands, 4), np.uint32)
    seed_bots(rng, *split_seed(seed), 0)
    desk = Desk(rules, packed, entrants, Conduct(strict=True))
    place = np.arange(rules.players) + np.arange(hands)[:, None]
    seats = place % len(entrants)
    actions = np.full(hands, OUTSIDE, np.int64)
    outside = np.full((hands, rules.players), OUTSIDE, np.int8)
    reward, ended = np.zeros((hands, rules.players), np.float32), np.zeros(hands, np.int32)
    parts: list[tuple[Array, ...]] = []
    while True:
        kernels(rules).advance(records, packed, outside, rng, actions, 1, reward, ended)
        waiting = np.flatnonzero(records["turn"] >= 0)
        if not len(waiting):
            break
        who = seats[waiting, records["turn"][waiting]]
        actions[:] = -1
        actions[waiting] = moves_at(desk, records, seats, rng, waiting, who)
        parts.append((waiting, who, copied(records[waiting]), actions[waiting].copy()))
    game, player, before, action = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.argsort(game, kind="stable")
    names = [entrant.label for entrant in entrants]
    taken = (game[order].astype(np.int64), player[order].astype(np.int64), action[order])
    return Played(rules, names, list(entrants), before[order], *taken, seed=seed)


def check_players(rules: Rules, entrants: Sequence[Entrant]) -> None:
    """ReviewError if there are more players than seats."""
    if len(entrants) > rules.players:
        raise ReviewError(f"players: {rules} has {rules.players} seats, not {len(entrants)}")


def check_hands(hands: int) -> None:
    """ReviewError unless there is a hand to play."""
    if hands < 1:
        raise ReviewError(f"games: must be at least 1, not {hands}")


def moves_at(
    desk: Desk, records: Array, seats: Array, rng: Array, waiting: Array, who: Array
) -> Any:
    """The moves at the tables that wait, scripted bots' by their kernel."""
    codes = np.array([player.code for player in desk.players], np.int8)
    actions = np.zeros(len(records), np.int64)
    scripted = codes[who] != OUTSIDE
    where = np.zeros(len(records), np.bool_)
    where[waiting[scripted]] = True
    kernels(desk.rules).choose(records, desk.packed, codes[seats], rng, actions, where)
    others = waiting[~scripted]
    if len(others):
        actions[others] = desk.moves(records, rng, others, who[~scripted])
    return actions[waiting]


def split_records(lines: Sequence[Json]) -> list[list[Json]]:
    """The games of a file: each begins with its header."""
    games: list[list[Json]] = []
    for line in lines:
        if line.get("kind") == HEADER or not games:
            games.append([])
        games[-1].append(line)
    return games


def read_records(files: Sequence[Path]) -> list[Record]:
    """Read game records, not yet played; a file may hold several, one after the other.

    Raises:
        ReviewError: a file that isn't there, or is no game record; the text names file and line.
    """
    records: list[Record] = []
    for file in files:
        first = 0
        for lines in split_records(_lines_of(file)):
            records.append(Record(file, first, lines))
            first += len(lines)
    if not records:
        raise ReviewError(f"{', '.join(map(str, files))}: holds no game")
    return records


def _lines_of(file: Path) -> list[Json]:
    try:
        return read_record(file)
    except FileNotFoundError:
        raise ReviewError(f"{file}: there is no such file") from None
    except IsADirectoryError:
        raise ReviewError(f"{file}: is a folder; name the files in it") from None
    except UnicodeDecodeError as error:
        text = f"{file}: is no game record: byte {error.start + 1} is no UTF-8"
        raise ReviewError(text) from None
    except OSError as error:
        raise ReviewError(f"{file}: can't be read: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise ReviewError(f"{file}: {error}") from None


def play_again(records: Sequence[Record]) -> list[Game]:
    """Play records again.

    Raises:
        ReviewError: one says otherwise than its moves; the text names file and line.
    """
    games: list[Game] = []
    for record in records:
        try:
            games.append(replay(record.lines))
        except ValueError as error:
            after = f" (game from line {record.first + 1})" if record.first else ""
            raise ReviewError(f"{record.file}{after}: {error}") from None
    return games


def read_games(files: Sequence[Path]) -> list[Game]:
    """Read game records and play them again: :func:`read_records`, :func:`play_again`."""
    return play_again(read_records(files))


def from_games(games: Sequence[Game], entrants: Sequence[Entrant] | None = None) -> Played:
    """The decisions of games that were played.

    Args:
        games: tables where their records end, of one game.
        entrants: whose opinion is asked, one a seat, or fewer: they are repeated; None: nobody's.

    Raises:
        ReviewError: games that differ, more players than seats, or no decision at all.
    """
    rules = games[0].rules
    for game in games:
        if game.rules != rules:
            raise ReviewError(f"games: {game.rules} and {rules} can't be reviewed together")
    if entrants is not None:
        check_players(rules, entrants)
    rows: list[tuple[int, int, int]] = []
    tables: list[Array] = []
    for number, game in enumerate(games):
        for twin, action in retrace(game):
            tables.append(copied(twin.tables))
            rows.append((number, int(twin.tables[0]["turn"]), action))
    if not rows:
        raise ReviewError("games: nobody ever had a choice")
    numbers, who, actions = (np.array(column, np.int64) for column in zip(*rows, strict=True))
    seats = range(rules.players)
    asked = [entrants[k % len(entrants)] for k in seats] if entrants else None
    names, ends = [f"seat {k}" for k in seats], _unfinished(games)
    return Played(
        *(rules, names, asked, np.concatenate(tables), numbers, who, actions), unfinished=ends
    )


def _unfinished(games: Sequence[Game]) -> list[tuple[int, int]]:
    """(game, hand) where a record stops in mid-hand."""
    ends = [(number, game.position()) for number, game in enumerate(games)]
    return [
        (number, int(table["hand_number"]))
        for number, table in ends
        if table["turn"] is not None and table["events"]
    ]


def retrace(game: Game) -> Iterator[tuple[Any, int]]:
    """Play a game again: yields (table, action) before each decision with a choice."""
    start, rules = game.start(), game.rules
    twin: Any = new_game(rules)
    twin.reset(None, {"position": start})
    for action in game.actions():
        _, mask = twin.observe(int(twin.tables[0]["turn"]))
        if mask.sum() > 1:
            yield twin, action
        code = twin.step(action)
        if code >= FAMILIES[rules.variant.family].batch.ENDED and twin.tables[0]["turn"] >= 0:
            twin.deal()


def game_of(played: Played) -> Game:
    """The first hand that :func:`play_hands` played, as a table at its end."""
    assert played.seed is not None
    game: Any = new_game(played.rules, 1)
    turn = game.reset(split_seed(played.seed), {})
    actions = iter(played.action[played.game == 0].tolist())
    ended = FAMILIES[played.rules.variant.family].batch.ENDED
    while turn < ended:
        _, mask = game.observe(turn)
        legal = np.flatnonzero(mask)
        turn = game.step(int(legal[0]) if len(legal) == 1 else int(next(actions)))
    kept: Game = game
    return kept
