"""The HTTP server: the same answers as on a line, and what it does to the clumsy and the rude."""

import contextlib
import http.client
import json
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("uvicorn", reason="the extra serve is not installed")

from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin

from dominozoo.notation import new_game
from dominozoo.rules import parse as parse_rules
from dominozoo_training.export import server as rooms
from dominozoo_training.export import wire
from dominozoo_training.export.messages import LINE_BYTES, RequestError
from dominozoo_training.export.protocol import Desk, load_bots
from dominozoo_training.export.schema import openapi

Json = dict[str, Any]


@contextlib.contextmanager
def serving(desk: Desk, **options: Any) -> Iterator[int]:
    """A server in a thread; gives its port."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        server = rooms.make_server(desk, "127.0.0.1", 0, **options)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        while not server.started:
            time.sleep(0.01)
        yield listening.getsockname()[1]
        server.should_exit = True
        thread.join(10)
        assert not thread.is_alive()


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
    game = new_game(parse_rules("block"))
    return game.view(game.reset((1, 0), {}))


def call(port: int, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
    """Status and JSON of one request."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    text = body if isinstance(body, bytes | None) else json.dumps(body).encode()
    connection.request(method, path, text, headers)
    response = connection.getresponse()
    found = response.read()
    connection.close()
    kind = response.headers.get("content-type", "")
    return response.status, json.loads(found) if kind == "application/json" else found


def test_the_answers_are_those_of_a_line(desk: Desk, port: int, view: Json) -> None:
    for path, op in (("/v1/act", "ask"), ("/v1/legal", "legal")):
        line = desk.answer(json.dumps({"op": op, "id": 4, "view": view}).encode())
        assert call(port, "POST", path, {"id": 4, "view": view}) == (
            200,
            json.loads(line.model_dump_json()),
        )
    assert call(port, "GET", "/v1/info")[1]["bots"][0]["id"] == "block"
    assert call(port, "POST", "/v1/can", {"game": "block"})[1]["yes"]
    assert call(port, "GET", "/healthz") == (200, {"status": "ok"})
    assert call(port, "GET", "/openapi.json") == (200, openapi())


def test_an_error_has_the_status_of_its_code(port: int, view: Json) -> None:
    wrong = {**view, "hand": [view["hand"][0]] * len(view["hand"])}
    for path, body, status, code in (
        ("/v1/act", b"{", 400, "bad_json"),
        ("/v1/act", {}, 422, "bad_request"),
        ("/v1/act", {"view": wrong}, 422, "bad_view"),
        ("/v1/act", {"view": view, "bot": "x"}, 404, "unknown_bot"),
        ("/v1/act", {"view": {**view, "phase": "over"}}, 409, "over"),
        ("/v1/legal", b" " * (LINE_BYTES + 1), 413, "too_long"),
    ):
        found = call(port, "POST", path, body)
        assert (found[0], found[1]["code"]) == (status, code)
    assert call(port, "GET", "/v1/act")[0] == 405
    assert call(port, "GET", "/v1/../etc/passwd")[0] == 404


def test_a_body_that_grows_too_long_is_cut_off(port: int) -> None:
    def endless() -> Iterator[bytes]:
        while True:
            yield b"x" * 8192

    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    with contextlib.suppress(OSError):
        connection.request("POST", "/v1/act", endless(), encode_chunked=True)
        pytest.fail("the server should have hung up")
    connection.close()
    assert call(port, "GET", "/healthz")[0] == 200


def test_pages_from_elsewhere_may_ask_only_where_it_is_allowed(desk: Desk, port: int) -> None:
    headers = {"Origin": "https://example.org"}

    def allowed(at: int) -> str | None:
        connection = http.client.HTTPConnection("127.0.0.1", at, timeout=20)
        with contextlib.closing(connection):
            connection.request("GET", "/healthz", headers=headers)
            with connection.getresponse() as response:
                return response.headers.get("access-control-allow-origin")

    assert allowed(port) is None
    with serving(desk, cors=["https://example.org"]) as other:
        assert allowed(other) == "https://example.org"


def test_a_websocket_of_a_page_from_elsewhere_is_refused_unless_it_is_allowed(
    desk: Desk, port: int
) -> None:
    def status(at: int, origin: str | None) -> int:
        try:
            with connect(f"ws://127.0.0.1:{at}/v1/ws", origin=Origin(origin or ""), proxy=None):
                return 101
        except InvalidStatus as error:
            return error.response.status_code

    assert status(port, "https://example.org") == 403
    assert status(port, f"http://127.0.0.1:{port}") == 101
    with serving(desk, cors=["https://example.org"]) as other:
        assert status(other, "https://example.org") == 101
        assert status(other, "https://example.com") == 403


@pytest.mark.parametrize("size", [100_000, 2_000_000])
def test_a_head_without_end_is_refused(port: int, size: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=20) as line:
        with contextlib.suppress(OSError):  # the rest isn't read
            line.sendall(b"GET /healthz HTTP/1.1\r\nhost: x\r\nlong: " + b"x" * size)
        assert line.recv(64).startswith(b"HTTP/1.1 431 ")
    assert call(port, "GET", "/healthz")[0] == 200


def test_a_flood_is_told_to_come_back_later(desk: Desk, view: Json) -> None:
    with serving(desk, rate=3) as port:
        statuses = [call(port, "POST", "/v1/act", {"view": view})[0] for _ in range(12)]
        assert statuses[:6] == [200] * 6
        assert 429 in statuses[6:]
        time.sleep(0.5)
        assert call(port, "POST", "/v1/act", {"view": view})[0] == 200


def test_the_doorman_counts_who_is_inside() -> None:
    doorman = wire.Doorman()
    for _ in range(wire.A_CLIENT):
        doorman.enter("a")
    with pytest.raises(RequestError, match="at once"):
        doorman.enter("a")
    for k in range(wire.IN_FLIGHT - wire.A_CLIENT):
        doorman.enter(str(k))
    with pytest.raises(RequestError, match="at once"):
        doorman.enter("b")
    doorman.leave("a")
    doorman.enter("b")
    limited = wire.Doorman(rate=1)
    for k in range(2 * wire.CLIENTS):
        limited.enter(str(k))
        limited.leave(str(k))
    assert len(limited.buckets) == wire.CLIENTS


def test_a_stalled_client_is_cut_off(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "STALL", 1.0)
    head = b"POST /v1/act HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n"
    with serving(desk) as port:
        for sent, answered in ((b"", False), (head, False), (head + b"\r\n{", True)):
            with socket.create_connection(("127.0.0.1", port), timeout=8) as client:
                client.sendall(sent)
                found, start = b"", time.monotonic()
                while piece := client.recv(4096):
                    found += piece
                assert time.monotonic() - start < 6
                assert found.startswith(b"HTTP/1.1 408") == answered
        with socket.create_connection(("127.0.0.1", port), timeout=8) as client:
            start = time.monotonic()
            with contextlib.suppress(OSError):  # a byte now and then keeps nobody in
                for byte in head:
                    client.sendall(bytes([byte]))
                    time.sleep(0.1)
                    if time.monotonic() - start > 6:
                        pytest.fail("the server should have hung up")


def test_a_websocket_speaks_lines(desk: Desk, port: int, view: Json) -> None:
    with connect(f"ws://127.0.0.1:{port}/v1/ws", proxy=None) as talk:
        talk.send("{")
        assert json.loads(talk.recv())["code"] == "bad_json"
        line = json.dumps({"op": "ask", "view": view})
        talk.send(line)
        assert talk.recv() == desk.answer(line.encode()).model_dump_json()
        talk.send('{"op": "quit"}')
        assert json.loads(talk.recv())["op"] == "bye"
        with pytest.raises(ConnectionClosed):
            talk.recv()
    with connect(f"ws://127.0.0.1:{port}/v1/ws", proxy=None) as talk:
        talk.send("x" * (LINE_BYTES + 1))
        with pytest.raises(ConnectionClosed):
            talk.recv()


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_the_command_ends_cleanly(how: signal.Signals) -> None:
    command = [sys.executable, "-m", "dominozoo_training.cli", "serve", "block", "--http", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            lines = iter(process.stderr.readline, "")
            line = next(line for line in lines if "serving" in line)
            assert "http://127.0.0.1:" in line
            port = int(line.rpartition(":")[2])
            with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port)) as kept:
                for method, path, body in (("GET", "/healthz", None), ("POST", "/v1/can", b"{}")):
                    kept.request(method, path, body)  # the long way and the short one
                    kept.getresponse().read()
                start = time.monotonic()
                process.send_signal(how)
                assert process.wait(20) == 0
                assert time.monotonic() - start < wire.STALL, "nobody waits for who is silent"
        finally:
            process.kill()
        assert "Traceback" not in process.stderr.read()
