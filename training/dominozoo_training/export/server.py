"""``dombot-line/1`` over HTTP and WebSocket, by Starlette and Uvicorn, in one process.

It takes no uploads and opens no file on a request. A body is read up to its limit and within some
seconds; of requests in progress there is a bounded number; whoever sends half a request and then
nothing is cut off.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from dominozoo_training.export.messages import CODES, LINE_BYTES, Answer, Bye, Error, RequestError
from dominozoo_training.export.protocol import Desk, error_answer
from dominozoo_training.export.schema import openapi

STALL: Final = 5.0  # seconds that a request may take to arrive, and a kept connection may be silent
IDLE: Final = 600.0  # the same for a WebSocket
IN_FLIGHT: Final = 64  # requests in progress, and open WebSockets
A_CLIENT: Final = 32  # of them by one address
CONNECTIONS: Final = 512
CLIENTS: Final = 4096  # addresses whose rate is remembered
TRY_LATER: Final = 1013  # WebSocket's code


@dataclass(slots=True)
class Doorman:
    """Who may come in.

    Attributes:
        rate: requests a second that an address may make, in bursts of twice as many; 0 = any.
        inside: requests in progress by address.
        buckets: by address what is left, and when that was.
    """

    rate: float = 0.0
    inside: Counter[str] = field(default_factory=Counter)
    buckets: dict[str, tuple[float, float]] = field(default_factory=dict)

    def enter(self, who: str) -> None:
        """Count a request in; RequestError if there are too many."""
        if self.inside.total() >= IN_FLIGHT or self.inside[who] >= A_CLIENT:
            raise RequestError("overloaded", "too many requests at once: try again later")
        if self.rate and not self.take(who):
            raise RequestError("overloaded", f"more than {self.rate:g} requests a second")
        self.inside[who] += 1

    def leave(self, who: str) -> None:
        """Count it out."""
        self.inside[who] -= 1
        if not self.inside[who]:
            del self.inside[who]

    def take(self, who: str) -> bool:
        """Whether an address may make a request more at its rate; counts it."""
        now = time.monotonic()
        left, then = self.buckets.pop(who, (2 * self.rate, now))
        left = min(2 * self.rate, left + (now - then) * self.rate)
        if len(self.buckets) >= CLIENTS:  # the one that has been silent for longest
            del self.buckets[next(iter(self.buckets))]
        self.buckets[who] = (max(left - 1, 0.0) if left >= 1 else left, now)
        return left >= 1


class Impatient(HttpToolsProtocol):
    """Cuts off who doesn't finish sending a request's head."""

    waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Start to wait for a request."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Wait on unless the head is complete."""
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop()
        else:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._stop()
        super().connection_lost(exc)

    def _wait(self) -> None:
        if self.waiting is None:
            self.waiting = self.loop.call_later(STALL, self.transport.close)

    def _stop(self) -> None:
        if self.waiting is not None:
            self.waiting.cancel()
            self.waiting = None


class Rooms:
    """The addresses of the server, each a method.

    Attributes:
        desk: where requests are answered.
        doorman: who may come in.
    """

    def __init__(self, desk: Desk, rate: float = 0.0) -> None:
        self.desk = desk
        self.doorman = Doorman(rate)
        self.document = openapi()

    async def health(self, request: HttpRequest) -> Response:
        """It is alive."""
        return JSONResponse({"status": "ok"})

    async def openapi(self, request: HttpRequest) -> Response:
        """The OpenAPI document."""
        return JSONResponse(self.document)

    async def info(self, request: HttpRequest) -> Response:
        """What ``hello`` says."""
        return respond(self.desk.answer(b"{}", "hello"))

    async def can(self, request: HttpRequest) -> Response:
        """May these rules be played?"""
        return await self._post(request, "can")

    async def act(self, request: HttpRequest) -> Response:
        """One ``ask``."""
        return await self._post(request, "ask")

    async def legal(self, request: HttpRequest) -> Response:
        """The legal moves of a view."""
        return await self._post(request, "legal")

    async def _post(self, request: HttpRequest, op: str) -> Response:
        who = request.client.host if request.client else ""
        try:
            self.doorman.enter(who)
        except RequestError as error:
            return respond(error_answer(error))
        try:
            async with asyncio.timeout(STALL):
                body = await read_body(request)
            return respond(self.desk.answer(body, op))
        except TimeoutError:
            late = RequestError("late", f"the request took more than {STALL:g} s to arrive")
            return respond(error_answer(late), status=408)
        except RequestError as error:
            return respond(error_answer(error))
        finally:
            self.doorman.leave(who)

    async def talk(self, socket: WebSocket) -> None:
        """A WebSocket: each text message is a line."""
        who = socket.client.host if socket.client else ""
        try:
            self.doorman.enter(who)
        except RequestError:
            await socket.close(TRY_LATER)
            return
        try:
            await socket.accept()
            with contextlib.suppress(WebSocketDisconnect, TimeoutError):
                await self._answer_all(socket, who)
        finally:
            self.doorman.leave(who)

    async def _answer_all(self, socket: WebSocket, who: str) -> None:
        while True:
            async with asyncio.timeout(IDLE):
                message = await socket.receive()
            if message["type"] != "websocket.receive":
                return
            if self.doorman.rate and not self.doorman.take(who):
                answer: Answer = error_answer(RequestError("overloaded", "too many requests"))
            else:
                text = message.get("text") or message.get("bytes") or b""
                answer = self.desk.answer(text.encode() if isinstance(text, str) else text)
            await socket.send_text(answer.model_dump_json())
            if isinstance(answer, Bye):
                await socket.close()
                return
            await asyncio.sleep(0)  # one who never stops asking lets the others in


async def read_body(request: HttpRequest) -> bytes:
    """The body; RequestError as soon as it is too long."""
    declared = request.headers.get("content-length", "0")
    if declared.isdigit() and int(declared) > LINE_BYTES:
        raise RequestError("too_long", f"more than {LINE_BYTES} bytes")
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > LINE_BYTES:
            raise RequestError("too_long", f"more than {LINE_BYTES} bytes")
    return bytes(body)


def respond(answer: Answer, status: int | None = None) -> Response:
    """An answer as JSON; errors have the status of their code, and end the connection if need be."""
    code = CODES[answer.code] if isinstance(answer, Error) else 200
    headers = {"retry-after": "1"} if code == 429 else {}
    if code in (413, 429) or status is not None:
        headers["connection"] = "close"  # what is left of the body isn't read
    return Response(
        answer.model_dump_json(), status or code, headers, media_type="application/json"
    )


def application(desk: Desk, cors: Sequence[str] = (), rate: float = 0.0) -> Starlette:
    """The ASGI application.

    Args:
        desk: where requests are answered.
        cors: origins whose pages may ask, none by default; "*" = all.
        rate: requests a second that an address may make, 0 = any.
    """
    rooms = Rooms(desk, rate)
    allowed = Middleware(
        CORSMiddleware,
        allow_origins=list(cors),
        allow_methods=["GET", "POST"],
        allow_headers=["content-type"],
    )
    return Starlette(
        routes=[
            Route("/healthz", rooms.health),
            Route("/openapi.json", rooms.openapi),
            Route("/v1/info", rooms.info),
            Route("/v1/can", rooms.can, methods=["POST"]),
            Route("/v1/act", rooms.act, methods=["POST"]),
            Route("/v1/legal", rooms.legal, methods=["POST"]),
            WebSocketRoute("/v1/ws", rooms.talk),
        ],
        middleware=[allowed] if cors else [],
    )


def make_server(
    desk: Desk, host: str, port: int, cors: Sequence[str] = (), rate: float = 0.0
) -> uvicorn.Server:
    """A server that isn't started yet; SIGTERM and Ctrl-C end it after the requests in progress."""
    config = uvicorn.Config(
        application(desk, cors, rate),
        host=host,
        port=port,
        http=Impatient,
        ws="websockets-sansio",
        ws_max_size=LINE_BYTES,
        ws_per_message_deflate=False,
        lifespan="off",
        access_log=False,
        log_level="warning",
        limit_concurrency=CONNECTIONS,
        timeout_keep_alive=int(STALL),
        timeout_graceful_shutdown=int(STALL),
        server_header=False,
        proxy_headers=False,
        backlog=256,
    )
    return uvicorn.Server(config)
