"""Each game's manual: its module's own text, completed from the tables that the code reads.

A module writes down what only it knows: rules, sources, an example, the history of its versions.
Options come from ``VARIANTS``, the observation from its layout, so ``help(dominozoo.block_v0)``,
the documentation's pages and the code cannot say different things. The form is Markdown.

>>> from dominozoo import block_v0
>>> [line for line in block_v0.__doc__.splitlines() if line.startswith("## ")][:3]
['## Sources', '## Example', '## At a glance']
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from dominozoo.aec import RENDER_MODES
from dominozoo.fields import Field, Layout
from dominozoo.rules import LINE, VARIANTS, Option, Variant, make_rules
from dominozoo.tables import FAMILIES, REWARDS
from dominozoo.tiles import TILE_COUNT

HISTORY: Final = "## Version history"

# Options of every environment; they are no rules of the game.
ARGUMENTS: Final = (
    ("reward", "hand", ", ".join(REWARDS), "what is rewarded, see below"),
    ("max_hands", None, "None, or at least 1", "hands after which an episode ends"),
    ("render_mode", None, ", ".join(("None", *RENDER_MODES)), "`rgb_array` needs Pillow"),
)

# How a hand is rewarded, by what it scores.
HAND_REWARDS: Final = {
    "wins": "+p to each seat of the winning side and -p / (sides - 1) to every other seat; "
    "p = the points that the hand is worth, also when the score doesn't move; 0 without a winner",
    "pips": "+v / target to the winner and -v / (target * (players - 1)) to every other player; "
    "v = the points scored; 0 without a winner",
    "penalties": "to each player (mean penalty of the hand - own penalty) / target",
    "tricks": "+m / target to the winner and -m / target to the loser; m = the points scored; 0 in a void round",
}
MATCH_REWARD: Final = (
    "at the match's end +1 to each seat of the winning side and -1 / (sides - 1) to every other; "
    "k joint winners among n sides have (n - k) / (k * (n - 1)) each"
)
OPTION_NAMES: Final = ("tie", "key_card")  # options that one game fixes


def manual(game: str, text: str | None) -> str:
    """A game's manual.

    Args:
        game: the game's name in ``VARIANTS``.
        text: its module's own docstring; what stands under "Version history" goes last. None, as
            under ``python -OO``, leaves out what only the module knows.

    Returns:
        Markdown.
    """
    own, heading, history = (text or "").partition(HISTORY)
    variant = VARIANTS[game]
    parts = (
        own.rstrip(),
        "## At a glance\n\n" + glance(game),
        "## Options\n\nKeyword arguments of `env()` and `raw_env()`.\n\n" + options(game),
        "## Actions\n\n" + actions(variant),
        "## Observation\n\n" + observation(variant),
        "## Rewards\n\n" + rewards(variant),
        heading + history.rstrip(),
    )
    return "\n\n".join(part for part in parts if part) + "\n"


def table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table, aligned so that it can be read as plain text, too."""
    cells = [list(heads), *([str(cell) for cell in row] for row in rows)]
    widths = [max(3, *(len(row[k]) for row in cells)) for k in range(len(heads))]
    widths[-1] = 3  # nothing stands to the right of the last column
    cells.insert(1, ["-" * width for width in widths])
    lines = (
        " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        for row in cells
    )
    return "\n".join(f"| {line.rstrip()} |" for line in lines)


def glance(game: str) -> str:
    """The table of what an environment is."""
    variant = VARIANTS[game]
    family = FAMILIES[variant.family]
    players = variant.options["players"].takes()
    count = action_count(game)
    id_ = game.replace("_", "-")
    rows = [
        ("PettingZoo", f'`pettingzoo.make("aec", "dominozoo/{id_}-v0")`'),
        ("Gymnasium", f'`gymnasium.make("dominozoo/{game.title().replace("_", "")}-v0")`'),
        ("players", f"{players}: `player_0`, `player_1`, ... in playing order"),
        (
            "sides",
            "seats 0 and 2 against 1 and 3" if variant.fixed.get("pairs") else "each seat its own",
        ),
        ("actions", f"`Discrete({count})`"),
        ("observation", f"`int16 ({family.layout.size},)`"),
        ("action mask", f"`int8 ({count},)`"),
        ("episode", "a match, or `max_hands` hands"),
    ]
    if variant.fixed.get("pairs") and players != "4":
        rows[3] = (
            "sides",
            "with four players seats 0 and 2 against 1 and 3, else each seat its own",
        )
    return table(("import", f"`from dominozoo import {game}_v0`"), rows)


def action_count(game: str) -> int:
    """Size of a game's action space."""
    return FAMILIES[VARIANTS[game].family].num_actions(make_rules(game))


def ends_of(variant: Variant) -> int:
    """Ends that tiles are laid at: 2, or French's four arms."""
    return 4 if variant.fixed.get("cross") else 2


def options(game: str) -> str:
    """The table of a game's options, then what their values mean."""
    variant = VARIANTS[game]
    rows = [
        (f"`{name}`", f"`{o.default!r}`", o.takes(), o.meaning)
        for name, o in variant.options.items()
    ]
    rows += [(f"`{name}`", f"`{default!r}`", takes, m) for name, default, takes, m in ARGUMENTS]
    parts = [table(("option", "default", "takes", "decides"), rows)]
    parts += [values(name, o) for name, o in variant.options.items() if o.says]
    fixed = [f"`{k}={variant.fixed[k]}`" for k in OPTION_NAMES if k in variant.fixed]
    if fixed:
        parts.append(f"As if {' and '.join(fixed)} were set; they can't be changed here.")
    return "\n\n".join(parts)


def values(name: str, option: Option) -> str:
    """What each value of an option means, as a list."""
    lines = [f"`{name}`: {option.meaning} ({option.source})."]
    lines.append("")
    assert not isinstance(option.values, range)
    for value, words in zip(option.values, option.says, strict=True):
        lines.append(f"* `{value}`: {words}")
    return "\n".join(lines)


def actions(variant: Variant) -> str:
    """The table of action ids with what they mean."""
    if variant.family != LINE:
        rows = [
            ("`tile`", "play it face up; a tile is its slot 0..27 in `dominozoo.tiles.TRUC_NAMES`"),
            ("`28 + tile`", "play it face down and call double"),
            ("`56`", "propose an exchange"),
            ("`57`", "stand: play with the tiles held"),
            ("`58`", "accept a proposal or a call"),
            ("`59`", "reject a proposal, refuse a call"),
        ]
        return table(("action", "meaning"), rows)
    ends = ends_of(variant)
    where = "arm, 0..3" if ends == 4 else "end, 0 left, 1 right"
    rows = [
        ("`end * 28 + tile`", f"lay a tile at an {where}"),
        (f"`{ends * TILE_COUNT}`", "draw a tile"),
        (f"`{ends * TILE_COUNT + 1}`", "pass"),
    ]
    notes = (
        "A tile's id is `hi * (hi + 1) / 2 + lo`: 0-0 is 0, 1-0 is 1, 6-6 is 27. The first tile of "
        "a hand is laid at end 0, its higher number left. Where both ends show the same number "
        "both actions are legal. Drawing and passing are actions like any other, made where the rules "
        "demand them."
    )
    return table(("action", "meaning"), rows) + "\n\n" + notes


def observation(variant: Variant) -> str:
    """What an agent sees: words, then the table of the fields."""
    layout = FAMILIES[variant.family].layout
    seat = "1 = me, 2 = the other" if variant.family != LINE else "0 = me, then in playing order"
    return (
        f"A dictionary: `observation`, the fields below one after the other, and `action_mask`, "
        f"1 where an action is legal, all zeros for agents not to move and after the end. Seats "
        f"are relative: {seat}. Fields that a game has no use for stay 0. Layout "
        f"`{layout.name}`, version {layout.version}; `dominozoo.fields` reads it.\n\n"
        + fields(layout)
    )


def fields(layout: Layout) -> str:
    """The table of a layout's fields: where they lie, what they hold."""
    rows = [
        (span(layout, f), f"`{f.name}`", shape(f), f"0..{f.high}", f.kind, f.meaning)
        for f in layout.fields
    ]
    return table(("index", "field", "shape", "values", "kind", "meaning"), rows)


def span(layout: Layout, field: Field) -> str:
    """The indices of a field in the vector, as `28..55`."""
    at = layout.offset(field.name)
    return str(at) if field.size == 1 else f"{at}..{at + field.size - 1}"


def shape(field: Field) -> str:
    """A field's shape, as `4 x 7`."""
    return " x ".join(str(n) for n in field.shape)


def rewards(variant: Variant) -> str:
    """What is rewarded, by the option `reward`."""
    scores = "tricks" if variant.family != LINE else str(variant.fixed.get("scoring", "wins"))
    return (
        f"Zero-sum.\n\n"
        f"* `reward='hand'`: in the step that ends a hand {HAND_REWARDS[scores]}.\n"
        f"* `reward='match'`: {MATCH_REWARD}. A match without a winner gives 0.\n\n"
        f"An illegal action raises `ValueError` in `raw_env()`; in `env()` it ends the episode "
        f"at -1 for who made it."
    )
