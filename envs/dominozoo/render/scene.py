"""The picture of a table: header, seats round the board, the board, what has just happened.

Whoever looks sits at the bottom: player_0, or a view's seat. Play goes round to the right, as at
a Jamaican table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from dominozoo.render import tricks, words
from dominozoo.render.shapes import INK, MARK, Area, Box, Scene, Shape, Text, Tile
from dominozoo.render.snake import Board, Spot, fit, lay_cross, lay_line
from dominozoo.rules import Rules, make_rules

Table = Mapping[str, Any]
Item = Shape | Tile

WIDTH: Final = 960
HEIGHT: Final = 720
EDGE: Final = 12
HEAD: Final = 48
FOOT: Final = 40
ROW: Final = 84  # height of a seat above or below the board
COLUMN: Final = 148  # width of a seat beside it

PAGE: Final = "#f1ede3"
FELT: Final = "#3f7d62"
FELT_EDGE: Final = "#2f6049"
FELT_TEXT: Final = "#e4f0e6"
FELT_GHOST: Final = "#6fa389"
PANEL: Final = "#fffdf7"
PANEL_EDGE: Final = "#cfc7b4"
FAINT: Final = "#5d6470"
SIDES: Final = ("#2f6db5", "#c0563b")  # of the two pairs
LABEL: Final = "#ffe08a"
LOCKED: Final = "#f2a18c"

LARGEST: Final = 28.0  # pixels of a half tile on the board
HAND_UNIT: Final = 28.0
LETTERS: Final = 18  # of a name

KEYS: Final = (
    *("game", "rules", "hand_number", "phase", "turn", "board", "ends", "locked", "scores"),
    *("stake", "decider", "opener", "events", "last_hand", "over", "winners"),
)
POSITION_KEYS: Final = ("hands", "boneyard")
VIEW_KEYS: Final = ("seat", "hand", "sizes", "boneyard_size")
TRUC_KEYS: Final = ("dealer", "leader", "trick", "tricks", "multiplier", "redeals")


@dataclass(frozen=True, slots=True)
class Seat:
    """What is drawn of a seat.

    Attributes:
        name: shown.
        tiles: of the hand, None = face down.
        score: in words.
        side: 0 or 1 in pair games, else None.
        tag: what it has just done or is to do, "" = nothing.
        moves: it is to move.
    """

    name: str
    tiles: list[str | None]
    score: str
    side: int | None
    tag: str
    moves: bool


def scene_of(table: Table, names: Sequence[str] | None = None) -> Scene:
    """The picture of a position or a view; arguments and errors as ``draw_svg``."""
    _check(table)
    try:
        return _scene(table, names)
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise ValueError(f"table: can't be drawn: {type(error).__name__}: {error}") from error


def _check(table: Table) -> None:
    if not isinstance(table, Mapping):
        raise ValueError(f"table: must be what position() or view(agent) gives, not {table!r}")
    keys = (*KEYS, *(POSITION_KEYS if "hands" in table else VIEW_KEYS))
    if str(table.get("game")).startswith("truc"):
        keys = (*keys, *TRUC_KEYS)
    missing = [key for key in keys if key not in table]
    if missing:
        raise ValueError(
            f"table: {', '.join(missing)} missing; it must be all that position() or view(agent) "
            "gives"
        )


def _scene(table: Table, names: Sequence[str] | None) -> Scene:
    rules = make_rules(table["game"], **table["rules"])
    names = _names(rules, names)
    seats = _seats(table, rules, names)
    if len(seats) != rules.players:
        raise ValueError(f"table: {rules} has {rules.players} seats, not {len(seats)}")
    viewer = table.get("seat", 0)
    areas, felt = _areas(rules.players)
    items: list[Item] = [Box(0, 0, WIDTH, HEIGHT, PAGE)]
    items += _header(table, rules)
    items.append(Box(felt.x, felt.y, felt.width, felt.height, FELT, FELT_EDGE, 2, 14))
    inner = Area(felt.x + 6, felt.y + 6, felt.width - 12, felt.height - 12)
    items += _middle(table, inner, names, viewer)
    for place, area in enumerate(areas):
        items += _panel(seats[(viewer + place) % rules.players], area)
    items += _footer(table, rules, names)
    outlook = words.outlook(table, rules, names)
    title = f"{rules.variant.title}, hand {table['hand_number']}: {outlook}"
    return Scene(WIDTH, HEIGHT, title, tuple(items))


def _names(rules: Rules, names: Sequence[str] | None) -> list[str]:
    if names is None:
        return [f"player_{seat}" for seat in range(rules.players)]
    if len(names) != rules.players:
        raise ValueError(f"names: {rules} has {rules.players} seats, not {len(names)}")
    return [name if len(name) <= LETTERS else name[: LETTERS - 2] + ".." for name in names]


def _areas(players: int) -> tuple[list[Area], Area]:
    """The seats' areas in playing order from the bottom, and the board's."""
    wide = WIDTH - 2 * EDGE
    bottom = Area(EDGE, HEIGHT - FOOT - ROW, wide, ROW)
    board_top = HEAD + ROW + 8
    tall = bottom.y - 8 - board_top
    if players == 2:
        return [bottom, Area(EDGE, HEAD, wide, ROW)], Area(EDGE, board_top, wide, tall)
    if players == 3:
        half = (wide - 8) / 2
        right, left = (Area(x, HEAD, half, ROW) for x in (EDGE + half + 8, EDGE))
        return [bottom, right, left], Area(EDGE, board_top, wide, tall)
    right, left = (Area(x, board_top, COLUMN, tall) for x in (WIDTH - EDGE - COLUMN, EDGE))
    top = Area(EDGE, HEAD, wide, ROW)
    felt = Area(EDGE + COLUMN + 8, board_top, wide - 2 * (COLUMN + 8), tall)
    return [bottom, right, top, left], felt


# Words above and below


def _header(table: Table, rules: Rules) -> list[Item]:
    undealt = table["boneyard_size"] if "boneyard_size" in table else len(table["boneyard"])
    worth = table["stake"] * table.get("multiplier", 1)
    parts = [f"hand {table['hand_number']}", f"target {rules.target}"]
    parts += ["decider"] if table["decider"] else []
    parts += [f"worth {worth}"] if worth > 1 else []
    right = WIDTH - EDGE - 2
    items: list[Item] = [Text(EDGE + 2, 32, rules.variant.title, 22, bold=True)]
    if undealt:
        word = "stock" if "trick" in table else "boneyard"
        label = f"{word} {undealt}"
        items.append(Text(right, 31, label, 15, FAINT, "end"))
        right -= 9 * len(label) + 20  # no letter is wider on the average
        items.append(Tile(right, 13, 13, 26, None))
        right -= 24
    items.append(Text(right, 31, ", ".join(parts), 15, FAINT, "end"))
    return items


def _footer(table: Table, rules: Rules, names: Sequence[str]) -> list[Item]:
    last = table["last_hand"]
    if table["turn"] is None and last is not None:
        left, bold = words.result(last, names), True
    elif table["events"]:
        left, bold = words.last_move(table, names), False
    else:
        left, bold = "" if last is None else f"last hand: {words.result(last, names)}", False
    right = words.outlook(table, rules, names)
    y = HEIGHT - 14
    return [
        Text(EDGE + 2, y, left, 15, INK if bold else FAINT, bold=bold),
        Text(WIDTH - EDGE - 2, y, right, 15, INK, "end", bold=True),
    ]


# Seats


def _seats(table: Table, rules: Rules, names: Sequence[str]) -> list[Seat]:
    hands = _hands(table)
    seats = []
    for seat, name in enumerate(names[: len(hands)]):
        side = rules.side_of(seat)
        score = f"score {table['scores'][side]}"
        moves = table["turn"] == seat
        pair = side if rules.pairs else None
        seats.append(Seat(name, hands[seat], score, pair, _tag(table, seat, side), moves))
    return seats


def _hands(table: Table) -> list[list[str | None]]:
    if "hands" in table:
        return [list(hand) for hand in table["hands"]]
    if table["phase"] == "over" and table["last_hand"] is not None and "trick" not in table:
        return [list(hand) for hand in table["last_hand"]["hands"]]  # turned up at the end
    hands: list[list[str | None]] = [[None] * size for size in table["sizes"]]
    hands[table["seat"]] = list(table["hand"])
    return hands


def _tag(table: Table, seat: int, side: int) -> str:
    if table["turn"] == seat:
        return "to move"
    if table["over"]:
        return "won" if side in table["winners"] else ""
    if table["turn"] is None:
        return "won" if table["last_hand"] and table["last_hand"]["seat"] == seat else ""
    own = [event["kind"] for event in table["events"] if event["seat"] == seat]
    if own and own[-1] == "pass":
        return "passed"
    return "deals" if table.get("dealer") == seat else ""


def _panel(seat: Seat, area: Area) -> list[Item]:
    x, y = area.x + 16, area.y
    edge, line = (MARK, 3.0) if seat.moves else (PANEL_EDGE, 1.0)
    items: list[Item] = [Box(area.x, y, area.width, area.height, PANEL, edge, line, 8)]
    if seat.side is not None:
        items.append(Box(area.x + 5, y + 10, 4, ROW - 20, SIDES[seat.side], radius=2))
    count = "1 tile" if len(seat.tiles) == 1 else f"{len(seat.tiles)} tiles"
    score = seat.score if seat.side is None else f"{seat.score}, pair {'AB'[seat.side]}"
    size = 15 if len(seat.name) <= 12 else 11
    items.append(Text(x, y + 25, seat.name, size, bold=True))
    items.append(Text(x, y + 46, count, 13, FAINT))
    items.append(Text(x, y + 67, score, 13, FAINT))
    if seat.tag:
        fill = MARK if seat.moves else "#e2dccb"
        items.append(Box(x + 57, y + 32, 66, 19, fill, radius=9))
        items.append(Text(x + 90, y + 46, seat.tag, 12, anchor="middle"))
    if area.width > area.height:
        hand = Area(area.x + COLUMN, y + 8, area.width - COLUMN - 10, area.height - 16)
        return items + _row(seat.tiles, hand)
    hand = Area(area.x + 10, y + ROW, area.width - 20, area.height - ROW - 8)
    return items + _column(seat.tiles, hand)


def _row(hand: Sequence[str | None], area: Area) -> list[Item]:
    """Tiles standing side by side."""
    if not hand:
        return []
    step = min(HAND_UNIT * 1.2, area.width / len(hand), area.height / 2 * 1.2)
    unit = step / 1.2
    y = area.y + area.height / 2 - unit
    return [
        Tile(area.x + k * step, y, unit, 2 * unit, tile_numbers(tile))
        for k, tile in enumerate(hand)
    ]


def _column(hand: Sequence[str | None], area: Area) -> list[Item]:
    """Tiles lying one below the other."""
    if not hand:
        return []
    step = min(HAND_UNIT * 1.2, area.height / len(hand), area.width / 2 * 1.2)
    unit = step / 1.2
    x = area.x + area.width / 2 - unit
    return [
        Tile(x, area.y + k * step, 2 * unit, unit, tile_numbers(tile))
        for k, tile in enumerate(hand)
    ]


def tile_numbers(tile: str | None) -> tuple[int, int] | None:
    """A tile's two numbers as it lies, None if it is hidden.

    Raises:
        ValueError: if the text is no tile.
    """
    if tile is None:
        return None
    parts = tile.split("-")
    if len(parts) != 2 or not all(len(p) == 1 and p in "0123456789" for p in parts):
        raise ValueError(f"table: {tile!r} is no tile")
    return int(parts[0]), int(parts[1])


# The board


def _middle(table: Table, area: Area, names: Sequence[str], viewer: int) -> list[Item]:
    if "trick" in table:
        return list(tricks.draw(table, area, names, viewer))
    if table["opener"] is None:
        x, y = area.x + area.width / 2, area.y + area.height / 2
        return [Text(x, y, "no tile lies yet", 18, FELT_TEXT, "middle")]
    inner = Area(area.x + 4, area.y + 4, area.width - 8, area.height - 8)
    return _cross(table, inner) if table["locked"] else _line(table, inner)


def _line(table: Table, area: Area) -> list[Item]:
    line = [tile_numbers(tile) or (0, 0) for tile in table["board"]]
    laid = [event for event in table["events"] if event["kind"] == "play"]
    pose = _find(line, laid[0]["tile"]) if laid else 0
    board = fit(lambda w, h: lay_line(line, pose, w, h), area.width, area.height, LARGEST)
    labels = [str(end) for end in table["ends"]]
    return _board(board, area, laid[-1]["tile"] if laid else None, labels, (False, False))


def _find(line: Sequence[tuple[int, int]], tile: str) -> int:
    wanted = sorted(tile_numbers(tile) or ())
    return [sorted(numbers) for numbers in line].index(wanted)


def _cross(table: Table, area: Area) -> list[Item]:
    arms = [[tile_numbers(tile) or (0, 0) for tile in arm] for arm in table["board"]]
    board = fit(lambda w, h: lay_cross(arms, w, h), area.width, area.height, LARGEST)
    laid = [event["tile"] for event in table["events"] if event["kind"] == "play"]
    labels = [
        "" if end is None else f"{end}-{end}" if locked else str(end)
        for end, locked in zip(table["ends"], table["locked"], strict=True)
    ]
    unit = board.unit
    items: list[Item] = []
    for arm, (dx, dy) in enumerate(((1, 0), (0, 1), (-1, 0), (0, -1))):
        x, y = board.left + area.x, board.top + area.y
        if not arms[arm]:
            width, height = (2, 1) if dx else (1, 2)
            ghost = Spot(dx * 1.5 - width / 2, dy * 2 - height / 2, width, height)
            box = (ghost.x * unit + x, ghost.y * unit + y, width * unit, height * unit)
            items.append(Box(*box, None, FELT_GHOST, 1.5, unit * 0.16))
        # Beside the arm's first tile, on the side that its rows leave free.
        at = (dx * 1.6, -0.62 * dx if dx > 0 else 1.0) if dx else (0.68 * dy, dy * 2 + 0.15)
        anchor = "middle" if dx else "start" if dy > 0 else "end"
        place = (x + at[0] * unit, y + at[1] * unit)
        items.append(Text(*place, f"arm {arm}", unit * 0.46, FELT_TEXT, anchor))
    return items + _board(board, area, laid[-1] if laid else None, labels, table["locked"])


def _board(
    board: Board, area: Area, last: str | None, labels: Sequence[str], locked: Sequence[bool]
) -> list[Item]:
    unit, left, top = board.unit, board.left + area.x, board.top + area.y
    marked = sorted(tile_numbers(last) or ())
    items: list[Item] = []
    for spot in (spot for arm in board.tiles for spot in arm):
        box = (spot.x * unit + left, spot.y * unit + top, spot.width * unit, spot.height * unit)
        items.append(Tile(*box, spot.numbers, sorted(spot.numbers) == marked))
    for spot, label, closed in zip(board.ends, labels, locked, strict=True):
        if label:
            x = (spot.x + spot.width / 2) * unit + left
            y = (spot.y + spot.height / 2) * unit + top
            items += end_label(x, y, unit, label, LOCKED if closed else LABEL)
    return items


def end_label(x: float, y: float, unit: float, label: str, fill: str) -> list[Item]:
    """The number of an open end in a small plate."""
    width = unit * (1.0 if len(label) == 1 else 1.6)
    return [
        Box(x - width / 2, y - unit / 2, width, unit, fill, FELT_EDGE, 1, unit / 2),
        Text(x, y + unit * 0.24, label, unit * 0.66, INK, "middle", bold=True),
    ]
