"""What ``dominozoo review`` does between its options and its values."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.progress import Progress

from dominozoo.notation import Game
from dominozoo.rules import TRUC, Rules, RulesError, make_rules, parse
from dominozoo_training.compiling import of_bots, of_game
from dominozoo_training.evaluation.entrants import Entrant, load_entrant, split_players
from dominozoo_training.evaluation.review import (
    Review,
    check_numbers,
    judge,
    value_line,
    value_truc,
)
from dominozoo_training.evaluation.review_games import (
    Played,
    Record,
    ReviewError,
    check_hands,
    check_players,
    from_games,
    game_of,
    play_again,
    play_hands,
    read_records,
)
from dominozoo_training.evaluation.review_page import show_review, write_page

__all__ = [
    "check_numbers",
    "gather",
    "judge_all",
    "kernels_of",
    "prepare",
    "show_review",
    "write_page",
]

HANDS: Final = 100  # played where --games isn't given


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be reviewed, with its options checked.

    Attributes:
        rules: the game that is to be played, None for files.
        hands: to play of it.
        entrants: who plays them.
        records: games that were read.
        players: whose opinion is asked about them, short codes; None: nobody's.
    """

    rules: Rules | None
    hands: int = 0
    entrants: Sequence[Entrant] = ()
    records: Sequence[Record] = ()
    players: str | None = None


def prepare(games: Sequence[str], players: str | None, hands: int | None, page: bool) -> Wanted:
    """Check what was asked for, before a kernel is compiled.

    Args:
        games: files of game records, or the text form of one game.
        players: their short codes; None: with files nobody is asked, else ``hard`` plays.
        hands: to play of the game named; None = 100.
        page: a page is wanted, which shows one game.

    Raises:
        ReviewError, RulesError, EntrantError: what can't be; the text names the field.
    """
    text = _text_form(games)
    if text is None:
        if hands is not None:
            raise ReviewError("games: --games goes with a game's name; files hold their games")
        records = read_records([Path(name) for name in games])
        _check_page(page, len(records), "name a file with one game")
        return Wanted(None, records=records, players=players)
    rules, count = parse(text), HANDS if hands is None else hands
    _check_page(page, count, "use --games 1")
    bots = [load_entrant(spec, rules) for spec in split_players(players or "hard")]
    check_players(rules, bots)
    check_hands(count)
    return Wanted(rules, count, bots)


def kernels_of(wanted: Wanted) -> tuple[Any, Any]:
    """What a review compiles: the kernel that plays, the one that values moves.

    None for both where a record names no game: it will be refused.
    """
    rules, playing = wanted.rules, of_bots
    if rules is None:
        playing = of_game
        try:
            rules = make_rules(wanted.records[0].lines[0]["game"])
        except (RulesError, KeyError):
            return None, None
    return playing(rules), value_truc if rules.variant.family == TRUC else value_line


def gather(wanted: Wanted, seed: int) -> tuple[Played, Game | None]:
    """The decisions to review, and the game itself if it is one.

    Args:
        wanted: as :func:`prepare` gives it.
        seed: of the hands that are played.

    Raises:
        ReviewError, EntrantError: what can't be; the text names the field.
    """
    if wanted.rules is None:
        found = play_again(wanted.records)
        entrants = None
        if wanted.players is not None:
            entrants = [load_entrant(s, found[0].rules) for s in split_players(wanted.players)]
        return from_games(found, entrants), found[0] if len(found) == 1 else None
    played = play_hands(wanted.rules, wanted.entrants, wanted.hands, seed)
    return played, game_of(played) if wanted.hands == 1 else None


def _text_form(games: Sequence[str]) -> str | None:
    """The text form of a game if that is what was given, None for files."""
    missing = [name for name in games if not Path(name).is_file()]
    if not missing:
        return None
    if len(games) == 1:
        try:
            return str(parse(games[0]))
        except RulesError as error:
            if Path(games[0]).is_dir():
                raise ReviewError(_folder(games[0])) from None
            if Path(games[0]).suffix or "/" in games[0]:
                raise ReviewError(f"games: there is no file {games[0]}") from None
            raise ReviewError(f"games: there is no such file, and {error}") from None
    if Path(missing[0]).is_dir():
        raise ReviewError(_folder(missing[0]))
    raise ReviewError(f"games: there is no file {missing[0]}; one game's name stands alone")


def _folder(name: str) -> str:
    return f"games: {name} is a folder; name the files in it"


def _check_page(page: bool, games: int, remedy: str) -> None:
    if page and games != 1:
        raise ReviewError(f"html: a page shows one game, not {games}; {remedy}")


def judge_all(played: Played, deals: int, budget: int, objective: str, seed: int) -> Review:
    """:func:`judge` behind a progress bar on stderr, where that is a terminal."""
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task("decisions", total=len(played.action))
        return judge(
            *(played, deals, budget, objective, seed),
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )
