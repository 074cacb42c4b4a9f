"""The bots that come with the package: one file for each game and number of players."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from dominozoo.rules import Rules, RulesError, parse

SHIPPED: Final = Path(__file__).parent / "shipped"
BUNDLE: Final = ".dombot"


def shipped_games() -> list[str]:
    """The games that a bot ships for, in text form, sorted.

    >>> "block" in shipped_games()
    True
    """
    return sorted(game_of(file.stem) for file in SHIPPED.glob(f"*{BUNDLE}"))


def stem_of(rules: Rules) -> str:
    """The name under which a game's policy ships, as a file or a folder.

    >>> stem_of(parse("cutthroat(players=2, draw=True)"))
    'cutthroat_v0-players=2-draw=True'
    """
    game, _, options = str(rules).partition("(")
    return "-".join([f"{game}_v0", *options.removesuffix(")").split(", ")]).removesuffix("-")


def game_of(stem: str) -> str:
    """The game that a name of :func:`stem_of` means.

    >>> game_of("cutthroat_v0-players=2-draw=True"), game_of("block_v0")
    ('cutthroat(players=2, draw=True)', 'block')
    """
    game, *options = stem.split("-")
    return game.removesuffix("_v0") + (f"({', '.join(options)})" if options else "")


def shipped_path(name: str) -> Path | None:
    """The file of the bot that ships for a game, None if there is none.

    Args:
        name: ``french``, ``french_v0``, ``cutthroat(players=3)``.
    """
    if name.endswith(")"):
        try:
            stem = stem_of(parse(name))
        except RulesError:
            return None
    elif name.isidentifier():
        stem = f"{name.removesuffix('_v0')}_v0"
    else:
        return None
    file = SHIPPED / f"{stem}{BUNDLE}"
    return file if file.is_file() else None


def shipped_for(rules: Rules) -> Path | None:
    """The file of the bot that plays a game as it ships: of other options, the most alike.

    Returns:
        None if nothing ships for the game with so many players.
    """

    def alike(path: Path) -> int:
        other = parse(game_of(path.stem)).options
        return sum(other.get(name) == value for name, value in rules.options.items())

    files = sorted(SHIPPED.glob(f"{rules.game}_v0*{BUNDLE}"))
    fitting = [file for file in files if parse(game_of(file.stem)).players == rules.players]
    return max(fitting, key=alike, default=None)
