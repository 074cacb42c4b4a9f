"""Exported bots are measured as they are asked: what is sent is sound, and all of it is answered."""

import json

import pytest

pytest.importorskip("uvicorn", reason="the extra serve is not installed")

from dominozoo.notation import read_view
from dominozoo.rules import parse
from dominozoo_training.bench import CASES, clock_of, served
from dominozoo_training.bench.timing import Unavailable


@pytest.fixture(autouse=True)
def few_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(served, "REQUESTS", 40)


@pytest.mark.parametrize("text", ["block", "truc"])
def test_what_is_asked_are_views_of_many_hands(text: str) -> None:
    views = [json.loads(line)["view"] for line in served.requests_of(parse(text), 60)]
    for view in views:
        read_view(parse(text), view)
    assert len({(view["hand_number"], str(view["scores"])) for view in views}) > 2


def test_a_game_without_a_bot_is_no_figure() -> None:
    with pytest.raises(Unavailable, match="no bot ships for block\\(players=3\\)"):
        served.bot_numpy(parse("block(players=3)"))


def test_each_way_answers_all() -> None:
    rules = parse("block")
    count, seconds = served.bot_numpy(rules)()
    assert count >= 40
    assert seconds > 0
    with served.stdio(rules) as chunk:
        assert chunk()[0] == 40
    with served.http(rules) as (chunk, waited):
        count, seconds = chunk()
        assert count == len(waited) == 40
        assert 0 < max(waited) <= seconds
    assert [clock_of(case) for case in ("bot_numpy", "stdio", "http")] == ["cpu", "wall", "wall"]
    assert {"bot_numpy", "stdio", "http"} <= set(CASES)


def test_a_response_is_read_to_its_end() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n"
    assert not served.is_whole(head)
    assert not served.is_whole(head + b"\r\nab")
    assert served.is_whole(head + b"\r\nabc")
