"""What ``dominozoo review`` does between its options and its values."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.progress import Progress

from dominozoo.notation import Game
from dominozoo.rules import RulesError, parse
from dominozoo_training.evaluation.entrants import Entrant, load_entrant, split_players
from dominozoo_training.evaluation.review import Review, judge
from dominozoo_training.evaluation.review_games import (
    Played,
    ReviewError,
    from_games,
    game_of,
    play_hands,
    read_games,
)
from dominozoo_training.evaluation.review_page import show_review, write_page

__all__ = ["gather", "judge_all", "show_review", "write_page"]

HANDS: Final = 100  # played where --games isn't given


def gather(
    games: Sequence[str], players: str | None, hands: int | None, seed: int, page: bool
) -> tuple[Played, Game | None]:
    """The decisions to review, and the game itself if it is one.

    Args:
        games: files of game records, or the text form of one game.
        players: their short codes; None: with files nobody is asked, else ``hard`` plays.
        hands: to play of the game named; None = 100.
        seed: of the hands that are played.
        page: a page is wanted, which shows one game.

    Raises:
        ReviewError, RulesError, EntrantError: what can't be; the text names the field.
    """
    text = _text_form(games)
    if text is None:
        if hands is not None:
            raise ReviewError("games: --games goes with a game's name; files hold their games")
        found = read_games([Path(name) for name in games])
        _check_page(page, len(found), "name a file with one game")
        entrants = None
        if players is not None:
            entrants = [load_entrant(spec, found[0].rules) for spec in split_players(players)]
        return from_games(found, entrants), found[0] if len(found) == 1 else None
    rules, count = parse(text), HANDS if hands is None else hands
    _check_page(page, count, "use --games 1")
    bots: list[Entrant] = [load_entrant(s, rules) for s in split_players(players or "hard")]
    played = play_hands(rules, bots, count, seed)
    return played, game_of(played) if count == 1 else None


def _text_form(games: Sequence[str]) -> str | None:
    """The text form of a game if that is what was given, None for files."""
    missing = [name for name in games if not Path(name).is_file()]
    if not missing:
        return None
    if len(games) == 1:
        try:
            return str(parse(games[0]))
        except RulesError as error:
            if Path(games[0]).suffix or "/" in games[0]:
                raise ReviewError(f"games: there is no file {games[0]}") from None
            raise ReviewError(f"games: there is no such file, and {error}") from None
    raise ReviewError(f"games: there is no file {missing[0]}; one game's name stands alone")


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
