"""Connections of the HTTP server: what travels oddly, and who is cut off."""

import contextlib
import http.client
import json
import socket
import time
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("uvicorn", reason="the extra serve is not installed")

from websockets.sync.client import connect

from dominozoo.notation import new_game
from dominozoo.rules import parse as parse_rules
from dominozoo_training.export import wire
from dominozoo_training.export.messages import DEPTH
from dominozoo_training.export.protocol import Desk, load_bots

from .test_server import call, serving

Json = dict[str, Any]


@pytest.fixture(scope="module")
def desk() -> Desk:
    made = Desk(load_bots(["block"]))
    made.warm_up()
    return made


@pytest.fixture(scope="module")
def port(desk: Desk) -> Iterator[int]:
    with serving(desk) as port:
        yield port


@pytest.fixture(scope="module")
def view() -> Json:
    """A view with an event of the other seat."""
    game = new_game(parse_rules("block"))
    turn = game.reset((1, 0), {})
    while not game.view(turn)["events"]:
        turn = game.step(game.view(turn)["legal"][0]["id"])
    return game.view(turn)


def post(body: bytes, head: str = "", path: str = "/v1/act", version: str = "1.1") -> bytes:
    """A request's bytes."""
    first = f"POST {path} HTTP/{version}\r\nHost: x\r\n{head}"
    return f"{first}Content-Length: {len(body)}\r\n\r\n".encode() + body


def answers(client: socket.socket, count: int) -> list[tuple[int, bytes, str]]:
    """Status, body and connection header of the next responses."""
    stream, found = client.makefile("rb"), []
    for _ in range(count):
        status = int(stream.readline().split()[1])
        if status == 100:
            assert stream.readline() == b"\r\n"
            found.append((status, b"", ""))
            continue
        headers = http.client.parse_headers(stream)
        body = stream.read(int(headers["content-length"]))
        found.append((status, body, headers.get("connection", "")))
    return found


def test_requests_sent_together_are_answered_in_their_order(port: int, view: Json) -> None:
    ask = [json.dumps({"id": k, "view": view}).encode() for k in range(3)]
    health = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=20) as client:
        client.sendall(post(ask[0]) + health + post(ask[1]) + post(b"{") + health + post(ask[2]))
        found = answers(client, 6)
    assert [status for status, _, _ in found] == [200, 200, 200, 400, 200, 200]
    assert [json.loads(found[k][1])["id"] for k in (0, 2, 5)] == [0, 1, 2]


def test_a_body_may_come_in_pieces(port: int, view: Json) -> None:
    text = post(json.dumps({"view": view}).encode(), "Expect: 100-continue\r\n")
    with socket.create_connection(("127.0.0.1", port), timeout=20) as client:
        for at in range(0, len(text), 500):
            client.sendall(text[at : at + 500])
            time.sleep(0.01)
        assert [status for status, _, _ in answers(client, 2)] == [100, 200]
    chunks = iter([b'{"view": ', json.dumps(view).encode(), b"}"])
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    with contextlib.closing(connection):
        connection.request("POST", "/v1/act", chunks, encode_chunked=True)
        with connection.getresponse() as response:
            assert response.status == 200


@pytest.mark.parametrize(("head", "version"), [("Connection: close\r\n", "1.1"), ("", "1.0")])
def test_who_wants_it_closed_gets_it_closed(port: int, head: str, version: str) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=20) as client:
        client.sendall(post(b"{", head, version=version))
        [(status, _, connection)] = answers(client, 1)
        assert (status, connection) == (400, "close")
        assert client.recv(1) == b""


def test_a_page_of_another_origin_goes_the_long_way(desk: Desk, view: Json) -> None:
    origin = "https://example.org"
    with serving(desk, cors=[origin]) as port:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        with contextlib.closing(connection):
            body = json.dumps({"view": view})
            connection.request("POST", "/v1/act", body, {"Origin": origin})
            with connection.getresponse() as response:
                assert response.headers["access-control-allow-origin"] == origin
                assert json.loads(response.read())["op"] == "act"


def test_who_hangs_up_is_counted_out(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "A_CLIENT", 2)
    half = post(b"{}")[:-1]
    with serving(desk) as port:
        with contextlib.ExitStack() as stack:
            for _ in range(2):
                client = socket.create_connection(("127.0.0.1", port), timeout=20)
                stack.enter_context(client).sendall(half)
            deadline = time.monotonic() + 20
            while (status := call(port, "POST", "/v1/act", b"{")[0]) != 429:
                assert time.monotonic() < deadline
        deadline = time.monotonic() + 20
        while (status := call(port, "POST", "/v1/act", b"{")[0]) == 429:
            assert time.monotonic() < deadline
    assert status == 400


def test_who_does_not_read_is_cut_off(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "STALL", 1.0)
    many = post(b"{") * 500
    with serving(desk) as port, socket.create_connection(("127.0.0.1", port), timeout=60) as client:
        with pytest.raises((ConnectionResetError, BrokenPipeError)):
            client.sendall(many * 1000)
        assert call(port, "GET", "/healthz")[0] == 200


def test_a_websocket_may_be_silent_for_long(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "STALL", 0.5)
    with serving(desk) as port, connect(f"ws://127.0.0.1:{port}/v1/ws", proxy=None) as talk:
        time.sleep(1.5)
        talk.send('{"op": "hello"}')
        assert json.loads(talk.recv())["op"] == "hello"


def test_what_a_view_must_not_say_is_refused_over_http(port: int, view: Json) -> None:
    laid = view["events"][0]["tile"]
    deep: Any = 0
    for _ in range(DEPTH):
        deep = [deep]
    for changes, status, field in (
        ({"hand": [view["hand"][0], *view["hand"][:-1]]}, 422, "view.hand"),
        ({"hand": [laid, *view["hand"][1:]]}, 422, None),
        ({"hand": "6-6"}, 422, "view.hand"),
        ({"seat": "0"}, 409, "view.turn"),
        ({"events": [{**view["events"][0], "kind": "draw"}]}, 422, "view.events[0].tile"),
        ({"sizes": {}}, 422, "view.sizes"),
        ({"more": deep}, 400, None),
        ({"more": "is not looked at"}, 200, None),
    ):
        found = call(port, "POST", "/v1/act", {"view": {**view, **changes}})
        assert found[0] == status, (changes, found)
        assert field is None or found[1]["field"] == field
