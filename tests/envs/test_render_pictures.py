"""Pictures of tables: geometry, what a view hides, SVG, pixels, errors."""

import importlib
import itertools
import random
import sys
import warnings
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from pettingzoo.test.render_test import render_test

from dominozoo.aec import RENDER_MODES, TableEnv
from dominozoo.line.batch import ENDED
from dominozoo.notation import new_game
from dominozoo.render.scene import HEIGHT, LABEL, LOCKED, WIDTH, scene_of
from dominozoo.render.shapes import IVORY, PIPS, VEILED, Box, Dot, Scene, Text, Tile
from dominozoo.render.svg import draw_svg
from dominozoo.rules import VARIANTS, parse
from dominozoo.tables import split_seed

Json = dict[str, Any]

TABLES = (
    *VARIANTS,
    *("block(players=3)", "block(players=4)", "draw(players=3)", "cutthroat(players=2)"),
    *("cutthroat(players=3)", "cutthroat(players=2, draw=True)", "chiva(players=2)"),
)


def hand_of(text: str, seed: int) -> Iterator[tuple[Json, list[Json]]]:
    """Positions and views of a hand played by chance; the last is the table as it was left."""
    rules = parse(text)
    game = new_game(rules)
    chance = random.Random(seed)
    game.reset(split_seed(seed), {})
    code = 0
    while True:
        tables = [game.position(), *map(game.view, range(rules.players))]
        if code >= ENDED:
            tables = [{**table, "phase": "over", "turn": None, "legal": []} for table in tables]
        yield tables[0], tables[1:]
        if code >= ENDED:
            return
        code = game.step(chance.choice(tables[0]["legal"])["id"])


def boxes(scene: Scene) -> list[Tile | Box]:
    """What must not overlap: tiles, and the plates that name open ends."""
    plates = [
        item for item in scene.items if isinstance(item, Box) and item.fill in (LABEL, LOCKED)
    ]
    return [*scene.tiles, *plates]


def check_geometry(scene: Scene) -> None:
    assert (scene.width, scene.height) == (WIDTH, HEIGHT)
    found = boxes(scene)
    for item in found:
        assert 0 <= item.x <= item.x + item.width <= WIDTH
        assert 0 <= item.y <= item.y + item.height <= HEIGHT
        assert min(item.width, item.height) >= 10, "too small to read"
    for one, two in itertools.combinations(found, 2):
        across = min(one.x + one.width, two.x + two.width) - max(one.x, two.x)
        down = min(one.y + one.height, two.y + two.height) - max(one.y, two.y)
        assert across < 0.01 or down < 0.01, (one, two)
    for shape in scene.shapes():
        if isinstance(shape, Text):
            wide = len(shape.text) * shape.size * 0.62
            left = shape.x - {"start": 0, "middle": wide / 2, "end": wide}[shape.anchor]
            assert left >= 0, shape
            assert left + wide <= WIDTH, shape


def open_tiles(scene: Scene) -> list[tuple[int, ...]]:
    found = [tuple(sorted(tile.numbers)) for tile in scene.tiles if tile.numbers is not None]
    return sorted(found)


def pair(tile: str) -> tuple[int, ...]:
    return tuple(sorted(map(int, tile.split("-"))))


def flat(board: list[Any]) -> list[str]:
    return [tile for part in board for tile in (part if isinstance(part, list) else [part])]


@pytest.mark.parametrize("text", TABLES)
def test_every_tile_lies_in_the_picture_and_on_no_other(text: str) -> None:
    for seed in range(3):
        for ply, (position, _) in enumerate(hand_of(text, seed)):
            if ply % 4 == 0 or position["turn"] is None:
                check_geometry(scene_of(position))


@pytest.mark.parametrize("text", TABLES)
def test_a_position_shows_each_tile_once(text: str) -> None:
    for position, _ in hand_of(text, 4):
        tiles = [tile for hand in position["hands"] for tile in hand]
        if "trick" in position:
            tiles += [e["tile"] for e in position["events"] if e["kind"] in ("play", "double")]
        else:
            cross = position["locked"] and position["opener"] is not None
            tiles += [*flat(position["board"]), *(["0-0"] if cross else [])]
        assert open_tiles(scene_of(position)) == sorted(map(pair, tiles))


@pytest.mark.parametrize("text", TABLES)
def test_a_view_shows_no_tile_that_its_seat_may_not_know(text: str) -> None:
    for position, views in hand_of(text, 5):
        for seat, view in enumerate(views):
            scene = scene_of(view)
            hidden = [
                tile
                for other, hand in enumerate(position["hands"])
                if other != seat
                for tile in hand
            ]
            if position["turn"] is None and "trick" not in position:
                hidden = []  # the hand is over: the tiles are turned up
            called = (position.get("trick") or {}).get("called")
            if called is not None and called["seat"] != seat:
                hidden.append(called["tile"])
            assert not set(map(pair, hidden)) & set(open_tiles(scene))
            backs = sum(tile.numbers is None for tile in scene.tiles)
            assert backs == len(hidden) + (view["boneyard_size"] > 0)


def walk_of(seed: int, start: int, left_out: tuple[tuple[int, int], ...] = ()) -> list[str]:
    """A line of all tiles of the set but some, drawn by chance."""
    chance = random.Random(seed)
    beside: dict[int, list[int]] = {number: [] for number in range(7)}
    for a, b in itertools.combinations_with_replacement(range(7), 2):
        if (a, b) not in left_out:
            beside[a].append(b)
            if a != b:
                beside[b].append(a)
    for numbers in beside.values():
        chance.shuffle(numbers)
    stack, path = [start], []
    while stack:
        here = stack[-1]
        if beside[here]:
            there = beside[here].pop()
            if there != here:
                beside[there].remove(here)
            stack.append(there)
        else:
            path.append(stack.pop())
    path.reverse()
    return [f"{a}-{b}" for a, b in itertools.pairwise(path)]


def made(text: str, board: list[Any], laid: list[str], ends: list[int]) -> Json:
    """A position with a board that no game by chance would reach."""
    game = new_game(parse(text))
    game.reset((1, 2), {})
    events = [
        {"kind": "play", "seat": 0, "tile": tile, "end": 0, "ends_after": None} for tile in laid
    ]
    locked = [len(arm) == 1 for arm in board] if isinstance(board[0], list) else []
    return {
        **game.position(),
        "board": board,
        "events": events,
        "ends": ends,
        "opener": 0,
        "locked": locked,
    }


@pytest.mark.parametrize("text", ["partnership", "cutthroat(players=2)"])
@pytest.mark.parametrize("seed", range(6))
def test_the_longest_lines_fit(text: str, seed: int) -> None:
    line = walk_of(seed, seed)
    assert len(line) == 28
    for pose in (0, 9, 14, 27):
        table = made(text, line, [line[pose], line[-1]], [seed, seed])
        check_geometry(scene_of({**table, "hands": [[]] * len(table["hands"])}))


@pytest.mark.parametrize("seed", range(8))
def test_the_longest_arms_of_the_cross_fit(seed: int) -> None:
    short = [["0-3"], ["0-4"], ["0-5"]]
    long = walk_of(seed, 0, ((0, 0), (0, 3), (0, 4), (0, 5)))
    arms = [*short[: seed % 4], long, *short[seed % 4 :]]
    table = made("french", arms, ["0-0", long[-1]], [int(arm[-1][2]) for arm in arms])
    scene = scene_of({**table, "hands": [[]] * 4})
    check_geometry(scene)
    assert len(scene.tiles) == 28


def test_tiles_touch_where_their_numbers_agree() -> None:
    line = walk_of(3, 3)
    table = made("block", line, [line[14]], [3, 3])
    unit_of = {True: lambda tile: tile.height, False: lambda tile: tile.width}
    tiles = {
        pair("-".join(map(str, tile.numbers))): tile
        for tile in scene_of({**table, "hands": [[], []]}).tiles
        if tile.numbers
    }

    def halves(tile: Tile) -> list[tuple[int, float, float]]:
        lies = tile.width > tile.height
        unit = unit_of[lies](tile)
        x, y = tile.x + unit / 2, tile.y + unit / 2
        first, second = tile.numbers or (0, 0)
        return [(first, x, y), (second, x + unit * lies, y + unit * (not lies))]

    for one, two in itertools.pairwise(line):
        a, b = tiles[pair(one)], tiles[pair(two)]
        unit = min(a.width, a.height)
        near = min(
            abs(x - p) + abs(y - q)
            for first, x, y in halves(a)
            for second, p, q in halves(b)
            if first == second == int(one[2])
        )
        assert near <= 1.51 * unit, (one, two)


@pytest.mark.parametrize("number", range(10))
@pytest.mark.parametrize("lies", [True, False])
def test_pips_are_counted_and_lie_on_the_tile(number: int, lies: bool) -> None:
    tile = Tile(10, 20, *((40, 20) if lies else (20, 40)), (number, 0))
    pips = [shape for shape in tile.shapes() if isinstance(shape, Dot)]
    assert len(pips) == number == len(set(PIPS[number]))
    shift = sum(pip.x - 20 for pip in pips), sum(pip.y - 30 for pip in pips)
    assert shift == pytest.approx((0, 0))
    assert all(10 < pip.x < 30 and 20 < pip.y < 40 for pip in pips)


def test_six_is_two_rows_along_the_tile() -> None:
    pips = [s for s in Tile(0, 0, 40, 20, (6, 0)).shapes() if isinstance(s, Dot)]
    assert len({round(pip.y, 3) for pip in pips}) == 2
    assert len({round(pip.x, 3) for pip in pips}) == 3


def texts(table: Json) -> str:
    return "\n".join(item.text for item in scene_of(table).items if isinstance(item, Text))


def test_what_stands_beside_the_tiles() -> None:
    played = [position for position, _ in hand_of("partnership", 1)]
    start, end = texts(played[0]), texts(played[-1])
    for words in ("Jamaican Partnership", "hand 1, target 6", "player_3", "7 tiles", "pair B"):
        assert words in start
    assert "no tile lies yet" in start
    assert "to move" in start
    assert "the hand is over" in end
    marked = [tile for tile in scene_of(played[-1]).tiles if tile.marked]
    assert len(marked) == 1
    draw = texts(next(iter(hand_of("draw", 1)))[0])
    assert "boneyard 14" in draw


def test_doubles_lie_across() -> None:
    position = next(p for p, _ in hand_of("block", 2) if len(p["board"]) == 3)
    board = [tile for tile in scene_of({**position, "hands": [[], []]}).tiles if tile.numbers]
    assert board
    for tile in board:
        assert tile.numbers is not None
        assert (tile.height > tile.width) == (tile.numbers[0] == tile.numbers[1])


def test_a_called_tile_is_face_down_to_the_other_and_veiled_to_its_owner() -> None:
    for seed in range(20):
        for position, views in hand_of("truc", seed):
            called = position["trick"]["called"]
            if called is None or position["turn"] is None:
                continue
            own = [t for t in scene_of(views[called["seat"]]).tiles if t.veiled]
            assert [t.numbers for t in own] == [tuple(map(int, called["tile"].split("-")))]
            assert any(isinstance(s, Box) and s.fill == VEILED for s in own[0].shapes())
            other = scene_of(views[1 - called["seat"]]).tiles
            assert [t.numbers for t in other if t.marked] == [None]
            return
    pytest.fail("no call was made")


def test_a_tile_face_down_has_no_pips() -> None:
    shapes = Tile(0, 0, 20, 40, None).shapes()
    assert not any(isinstance(s, Dot) or (isinstance(s, Box) and s.fill == IVORY) for s in shapes)


# SVG


@pytest.mark.parametrize("text", ["partnership", "french", "truc"])
def test_svg_is_well_formed_and_repeatable(text: str) -> None:
    for position, views in itertools.islice(hand_of(text, 6), 0, None, 5):
        for table in (position, views[-1]):
            svg = draw_svg(table)
            root = ET.fromstring(svg)
            assert root.tag == "{http://www.w3.org/2000/svg}svg"
            assert svg == draw_svg(table)
            assert len(svg) < 40_000


def test_names_are_shown_and_escaped() -> None:
    position, _ = next(iter(hand_of("block", 1)))
    svg = draw_svg(position, ["<a & b>", "a name that is far too long"])
    assert ET.fromstring(svg) is not None
    assert "&lt;a &amp; b&gt;" in svg
    assert "a name that is f.." in svg
    with pytest.raises(ValueError, match="names: block has 2 seats, not 1"):
        draw_svg(position, ["a"])


def env_of(game: str, **arguments: Any) -> TableEnv:
    env: TableEnv = importlib.import_module(f"dominozoo.{game}_v0").raw_env(**arguments)
    return env


def test_svg_of_an_environment() -> None:
    env = env_of("truc")
    with pytest.raises(ValueError, match=r"svg\(\): no table has been dealt yet; call reset"):
        env.svg()
    env.reset(seed=1)
    assert env.svg() == draw_svg(env.position())
    assert env.svg("player_1") == draw_svg(env.view("player_1")) != env.svg()
    with pytest.raises(ValueError, match="no agent 'player_2'; there are player_0, player_1"):
        env.svg("player_2")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (None, "must be what position"),
        ({}, "game, rules, hand_number.* missing"),
        ({"board": ...}, "board missing"),
        ({"hands": ...}, "seat, hand, sizes, boneyard_size missing"),
        ({"hands": [["6-6"]]}, "block has 2 seats, not 1"),
        ({"hands": [["6-x"], []]}, "'6-x' is no tile"),
        ({"opener": 0, "board": []}, "can't be drawn"),
        ({"scores": []}, "can't be drawn"),
        ({"game": "bloc"}, "unknown game 'bloc'"),
    ],
)
def test_a_half_set_up_table_is_refused(change: Json | None, message: str) -> None:
    position, _ = next(iter(hand_of("block", 1)))
    table: Any = change
    if change:
        table = {**position, **change}
        table = {key: value for key, value in table.items() if value is not ...}
    with pytest.raises(ValueError, match=message):
        draw_svg(table)


# Pixels and render modes


@pytest.mark.parametrize("mode", RENDER_MODES)
def test_render_before_reset_is_refused(mode: str) -> None:
    if mode == "rgb_array":
        pytest.importorskip("PIL")
    with pytest.raises(ValueError, match=r"render\(\): no table has been dealt yet"):
        env_of("block", render_mode=mode).render()


def test_without_pillow_only_pixels_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    monkeypatch.delitem(sys.modules, "dominozoo.render.pixels", raising=False)
    env = env_of("block", render_mode="ansi")
    env.reset(seed=1)
    assert env.svg()
    assert "to move" in str(env.render())
    with pytest.raises(ImportError, match=r"pip install 'dominozoo\[render\]'"):
        env_of("block", render_mode="rgb_array")


def test_pixels_show_the_scene() -> None:
    pytest.importorskip("PIL")
    pixels = importlib.import_module("dominozoo.render.pixels")
    env = env_of("partnership", render_mode="rgb_array")
    env.reset(seed=1)
    picture = env.render()
    assert isinstance(picture, np.ndarray)
    assert picture.shape == (HEIGHT, WIDTH, 3)
    assert picture.dtype == np.uint8
    assert (picture == pixels.draw_pixels(env.position())).all()
    for tile in scene_of(env.position()).tiles:
        # Between a half's pips and its rim lies the tile's own colour.
        x, y = int(tile.x + tile.width / 2), int(tile.y + tile.height * 0.08)
        if tile.height > tile.width:
            assert "#" + "".join(f"{level:02x}" for level in picture[y, x]) == IVORY
    env.step(int(np.flatnonzero(env.observe(env.agent_selection)["action_mask"])[0]))
    assert (picture != env.render()).any()


@pytest.mark.parametrize("game", VARIANTS)
def test_pettingzoo_render(game: str, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("PIL")
    module = importlib.import_module(f"dominozoo.{game}_v0")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        render_test(module.env)
    assert f"{VARIANTS[game].title}, hand 1" in capsys.readouterr().out
    assert module.raw_env.metadata["render_modes"] == ["human", "ansi", "rgb_array"]
    assert module.raw_env.metadata["render_fps"] > 0
