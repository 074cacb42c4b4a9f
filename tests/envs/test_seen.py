"""Views from programs that aren't trusted: what is read, and what is refused."""

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from dominozoo.notation import mask_from_view, new_game, observation_from_view, read_view
from dominozoo.rules import parse

GAMES = (
    *("block", "draw(players=3)", "partnership(poser=team)", "cutthroat(opening=informal)"),
    *("six_love", "chiva", "chiva(players=2)", "french", "truc(max_redeals=2)", "truc"),
)
Json = dict[str, Any]


def views(text: str, seed: int = 5, decisions: int = 150) -> Iterator[Json]:
    """Views of the seat to move in random play."""
    rules, chance = parse(text), random.Random(seed)
    game = new_game(rules)
    turn = game.reset((seed, 0), {})
    for _ in range(decisions):
        view = game.view(turn)
        yield view
        code = game.step(chance.choice(view["legal"])["id"])
        if code >= 4:
            if game.position()["over"]:
                return
            code = game.deal()
        turn = code


@pytest.mark.parametrize("text", GAMES)
def test_a_view_is_read_as_the_table_is_seen(text: str) -> None:
    for view in views(text):
        observation, mask = read_view(parse(text), view)
        np.testing.assert_array_equal(observation, observation_from_view(view))
        np.testing.assert_array_equal(mask, mask_from_view(view))


def view_of(text: str, wanted: Any, seed: int = 5) -> Json:
    """The first view for which ``wanted`` holds."""
    return next(view for view in views(text, seed) if wanted(view))


def told(text: str, view: Json) -> str:
    """Why a view is refused."""
    with pytest.raises(ValueError, match=r".+") as caught:
        read_view(parse(text), view)
    return str(caught.value)


def midway(view: Json) -> bool:
    """A line has begun, and the seat has a few tiles."""
    return len(view["events"]) > 3 and len(view["hand"]) > 2


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"hand": lambda v: [v["hand"][0], *v["hand"][:-1]]}, "hand"),
        ({"hand": lambda v: [*v["hand"][:-1], v["events"][0]["tile"]]}, ""),
        ({"hand": lambda v: v["hand"][:-1]}, "hand"),
        ({"hand": lambda v: [*v["hand"][:-1], "7-7"]}, "hand"),
        ({"sizes": lambda v: [v["sizes"][0] + 1, *v["sizes"][1:]]}, "sizes"),
        ({"boneyard_size": lambda v: v["boneyard_size"] + 1}, "boneyard_size"),
        ({"ends": lambda v: [6 - v["ends"][0], v["ends"][1]]}, "ends"),
        ({"board": lambda v: v["board"][:-1]}, "board"),
        ({"passes": lambda v: True}, "passes"),
        ({"opener": lambda v: 1 - v["opener"]}, "opener"),
        ({"turn": lambda v: 1 - v["turn"]}, "turn"),
        ({"seat": lambda v: 2}, "seat"),
        ({"phase": lambda v: "pose"}, "phase"),
        ({"scores": lambda v: [0, 10**9]}, "scores"),
        ({"scores": lambda v: ["0", 0]}, "scores"),
        ({"stake": lambda v: 2}, "stake"),
        ({"hand_number": lambda v: -1}, "hand_number"),
        ({"poser": lambda v: 0}, "poser"),
        ({"events": lambda v: [None]}, "events[0]"),
        ({"events": lambda v: {}}, "events"),
        ({"events": lambda v: [v["events"][0]] * 2}, ""),
        ({"events": lambda v: v["events"][:1] + v["events"][2:]}, ""),
        (
            {"events": lambda v: [{**e, "ends_after": [0, 1]} for e in v["events"]]},
            "events[0].ends_after",
        ),
        ({"events": lambda v: [*v["events"], v["events"][-2]]}, ""),
        ({"legal": lambda v: v["legal"][1:]}, "legal"),
        ({"legal": lambda v: [{"id": 57}]}, "legal"),
        ({"legal": lambda v: [{"id": v["legal"][0]["id"], "tile": "0-0"}]}, "legal"),
        ({"legal": lambda v: [*v["legal"], v["legal"][0]]}, "legal"),
        ({"legal": lambda v: 7}, "legal"),
    ],
)
def test_a_view_of_a_line_that_cannot_be_is_refused(changes: Json, field: str) -> None:
    view = view_of("block", lambda v: midway(v) and len(v["legal"]) > 1)
    wrong = {**view, **{name: change(view) for name, change in changes.items()}}
    text = told("block", wrong)
    assert text.startswith(f"{field}:") or not field, text


def test_a_tile_that_does_not_fit_or_lies_already_is_refused() -> None:
    view = view_of("block", midway)
    events = view["events"]
    for tile in (events[0]["tile"], view["hand"][0], "5-4"):
        changed = [*events[:-1], {**events[-1], "tile": tile}]
        for event in changed:
            event.pop("ends_after", None)
        assert told("block", {**view, "events": changed}).startswith(f"events[{len(events) - 1}]")


def test_a_view_of_a_seat_that_is_not_to_move_is_refused() -> None:
    passed = view_of("cutthroat", lambda v: v["events"] and v["legal"][0]["action"] == "pass")
    events, hand = passed["events"], passed["hand"]
    other = next(e for e in reversed(events) if e["kind"] == "pass" or e["seat"] != passed["seat"])
    hands = [view for view in views("cutthroat") if view["seat"] == other["seat"]]
    theirs = next(view["hand"] for view in hands if len(view["events"]) > len(events))
    changed = {**passed, "seat": other["seat"], "hand": theirs}
    assert hand != theirs
    assert told("cutthroat", changed).startswith("turn:")


def test_a_drawn_tile_is_shown_to_its_seat_alone() -> None:
    def drew(own: bool, v: Json) -> bool:
        return any(e["kind"] == "draw" and (e["seat"] == v["seat"]) == own for e in v["events"])

    for own, tile in ((True, None), (False, "0-0")):
        view = view_of("draw", lambda v, own=own: drew(own, v))
        at = next(
            k
            for k, e in enumerate(view["events"])
            if e["kind"] == "draw" and (e["seat"] == view["seat"]) == own
        )
        view["events"][at]["tile"] = tile
        assert told("draw", view).startswith(f"events[{at}].tile")


def test_what_follows_from_the_events_may_be_left_out() -> None:
    view = view_of("block", midway)
    observation, mask = read_view(parse("block"), view)
    follow = ("legal", "board", "ends", "locked", "passes", "opener", "last_hand", "over")
    for event in view["events"]:
        event["ends_after"] = None
    nulls = {**view, **dict.fromkeys(follow)}
    for name in follow:
        del view[name]
    for less in (
        read_view(parse("block"), {**view, "unknown": 1}),
        read_view(parse("block"), nulls),
    ):
        np.testing.assert_array_equal(less[0], observation)
        np.testing.assert_array_equal(less[1], mask)
    assert nulls["board"] is None, "the view given is left as it was"


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (lambda v: v.update(hand=[v["hand"][0]] * len(v["hand"])), "hand"),
        (lambda v: v.update(sizes=[3, 3]), "sizes"),
        (lambda v: v.update(boneyard_size=1), "boneyard_size"),
        (lambda v: v.update(multiplier=9), "multiplier"),
        (lambda v: v.update(leader=1 - v["leader"]), "leader"),
        (lambda v: v.update(trick=3), "trick"),
        (lambda v: v.update(redeals=2), "boneyard_size"),
        (lambda v: v.update(events=[*v["events"], {"kind": "reveal"}]), "events"),
        (lambda v: v.update(legal=[{"id": 56}]), "legal"),
        (lambda v: v["trick"]["called"].update(tile="0-0"), "trick"),
        (lambda v: v["events"][-1].update(tile="0-0"), "events"),
    ],
)
def test_a_view_of_le_truc_that_cannot_be_is_refused(change: Any, field: str) -> None:
    view = view_of("truc", lambda v: v["phase"] == "call" and len(v["hand"]) > 1)
    change(view)
    assert told("truc", view).startswith(field)
