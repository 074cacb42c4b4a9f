"""``dombot-line/1`` over HTTP and WebSocket, by Starlette and Uvicorn, in one process.

It takes no uploads and opens no file on a request. A body is read up to its limit and within some
seconds; of requests in progress there is a bounded number; whoever sends half a request and then
nothing is cut off. Most requests never come here: ``wire`` answers them.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import urlsplit

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from dominozoo_training.export import wire
from dominozoo_training.export.messages import LINE_BYTES, Answer, Bye, RequestError
from dominozoo_training.export.protocol import Desk, error_answer
from dominozoo_training.export.schema import openapi
from dominozoo_training.export.wire import Doorman

IDLE: Final = 600.0  # seconds that a WebSocket may be silent
TRY_LATER: Final = 1013  # WebSocket's codes
FOREIGN: Final = 1008


class Rooms:
    """The addresses of the server, each a method.

    Attributes:
        desk: where requests are answered.
        doorman: who may come in.
        cors: origins whose pages may ask; "*" = all.
    """

    def __init__(self, desk: Desk, doorman: Doorman, cors: Sequence[str] = ()) -> None:
        self.desk = desk
        self.doorman = doorman
        self.cors = cors
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
            async with asyncio.timeout(wire.STALL):
                body = await read_body(request)
            return respond(self.desk.answer(body, op))
        except TimeoutError:
            return respond(error_answer(wire.too_slow()), status=408)
        except RequestError as error:
            return respond(error_answer(error))
        finally:
            self.doorman.leave(who)

    async def talk(self, socket: WebSocket) -> None:
        """A WebSocket: each text message is a line."""
        who = socket.client.host if socket.client else ""
        if not self._may_ask(socket):
            await socket.close(FOREIGN)
            return
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

    def _may_ask(self, socket: WebSocket) -> bool:
        """Whether its page, if it is one's, may ask: no browser keeps a WebSocket to its origin."""
        origin = socket.headers.get("origin")
        if origin is None or "*" in self.cors or origin in self.cors:
            return True
        return urlsplit(origin).netloc == socket.headers.get("host")

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
        raise wire.too_long()
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > LINE_BYTES:
            raise wire.too_long()
    return bytes(body)


def respond(answer: Answer, status: int | None = None) -> Response:
    """An answer as JSON; errors have the status of their code, and end the connection if need be."""
    code = status or wire.status_of(answer)
    headers = {"retry-after": "1"} if code == 429 else {}
    if wire.ends_connection(code):
        headers["connection"] = "close"
    return Response(answer.model_dump_json(), code, headers, media_type="application/json")


def application(desk: Desk, doorman: Doorman, cors: Sequence[str] = ()) -> Starlette:
    """The ASGI application.

    Args:
        desk: where requests are answered.
        doorman: who may come in.
        cors: origins whose pages may ask, none by default; "*" = all.
    """
    rooms = Rooms(desk, doorman, cors)
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
    """A server that isn't started yet; SIGTERM and Ctrl-C end it after the requests in progress.

    Args:
        desk: where requests are answered.
        host: the address to listen at.
        port: its port.
        cors: origins whose pages may ask, none by default; "*" = all.
        rate: requests a second that an address may make, 0 = any.
    """
    doorman = Doorman(rate)
    connection: Any = functools.partial(wire.Wire, desk, doorman, bool(cors))
    config = uvicorn.Config(
        application(desk, doorman, cors),
        host=host,
        port=port,
        http=connection,
        ws="websockets-sansio",
        ws_max_size=LINE_BYTES,
        ws_per_message_deflate=False,
        lifespan="off",
        access_log=False,
        log_level="warning",
        limit_concurrency=wire.CONNECTIONS,
        timeout_keep_alive=int(wire.STALL),
        timeout_graceful_shutdown=int(wire.STALL),
        server_header=False,
        proxy_headers=False,
        backlog=256,
    )
    return uvicorn.Server(config)
