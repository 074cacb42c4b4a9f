"""What a connection of the HTTP server does: its limits, and the short way of a request.

A ``POST`` to one of the addresses in ``OPERATIONS`` is answered where its last byte arrives, in one
write, without a task or an ASGI cycle: a move takes less time than these. All else goes Uvicorn's way.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from dominozoo_training.export.messages import CODES, LINE_BYTES, Answer, Error, RequestError
from dominozoo_training.export.protocol import Desk, error_answer

STALL: Final = 5.0  # seconds that a request may take to arrive, and a kept connection may be silent
IN_FLIGHT: Final = 64  # requests in progress, and open WebSockets
A_CLIENT: Final = 32  # of them by one address
CONNECTIONS: Final = 512
CLIENTS: Final = 4096  # addresses whose rate is remembered

OPERATIONS: Final = {b"/v1/act": "ask", b"/v1/can": "can", b"/v1/legal": "legal"}
TYPE: Final = b"content-type: application/json\r\n"


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


def too_long() -> RequestError:
    """The refusal of a body beyond the limit."""
    return RequestError("too_long", f"more than {LINE_BYTES} bytes")


def too_slow() -> RequestError:
    """The refusal of a request that doesn't arrive."""
    return RequestError("late", f"the request took more than {STALL:g} s to arrive")


def status_of(answer: Answer) -> int:
    """The status of an answer, an error's by its code."""
    return CODES[answer.code] if isinstance(answer, Error) else 200


def ends_connection(status: int) -> bool:
    """Whether the rest of a request isn't read: too slow, too long, one too many."""
    return status in (408, 413, 429, 431)


class Wire(HttpToolsProtocol):
    """A connection; ``desk`` answers, ``doorman`` counts, ``pages`` = pages of others may ask.

    Who sends half a request, or nothing, or doesn't read what it is sent, is cut off after
    ``STALL`` seconds: one timer looks after that for as long as the connection lives.
    """

    parser: Any  # the base class's; None only after the connection is lost

    def __init__(self, desk: Desk, doorman: Doorman, pages: bool, **given: Any) -> None:
        super().__init__(**given)
        self.desk = desk
        self.doorman = doorman
        self.pages = pages
        self.op: str | None = None  # of a request that goes the short way
        self.inside = False  # it was counted in
        self.text = b""
        self.begun = 0.0
        self.leaving = False
        self.heading = True  # what comes belongs to a request's head
        self.head = 0  # bytes of it so far
        self.watch: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Start to look at the clock."""
        super().connection_made(transport)
        self.begun = self.loop.time()
        self.watch = self.loop.call_later(STALL, self._look)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop, and count out what was in progress."""
        self._stop()
        self._forget()
        super().connection_lost(exc)

    def handle_websocket_upgrade(self) -> None:
        """A WebSocket has a clock of its own."""
        self._stop()
        super().handle_websocket_upgrade()

    def on_response_complete(self) -> None:
        """The long way has come to its end."""
        self.begun = self.loop.time()
        super().on_response_complete()

    def _stop(self) -> None:
        if self.watch is not None:
            self.watch.cancel()

    def _look(self) -> None:
        """Cut off who is late; look again when the next could be."""
        if self.cycle is not None and not self.cycle.response_complete:
            self.begun = self.loop.time()  # the long way has a clock of its own
        left = self.begun + STALL - self.loop.time()
        if left > 0:
            self.watch = self.loop.call_later(left, self._look)
        elif self.flow.write_paused:
            self.transport.abort()
        elif self.op is not None:
            self._refuse(too_slow(), 408)
        else:
            self.transport.close()

    def on_message_begin(self) -> None:
        """A request's time begins."""
        super().on_message_begin()
        self.begun = self.loop.time()

    def on_headers_complete(self) -> None:
        """Choose the way."""
        self.op, self.heading = None, False
        if self.transport.is_closing():
            return
        if self.parser.get_method() == b"POST" and not self._needs_the_long_way():
            self.op = OPERATIONS.get(self.url)
        if self.op is None:
            super().on_headers_complete()
            return
        self.text = b""
        try:
            self.doorman.enter(self._who())
        except RequestError as error:
            self._refuse(error)
            return
        self.inside = True
        length = next((value for name, value in self.headers if name == b"content-length"), b"0")
        if int(length) > LINE_BYTES:
            self._refuse(too_long())
        elif self.expect_100_continue:
            self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    def _needs_the_long_way(self) -> bool:
        """An upgrade, a page of another origin, one request too many, or others before it."""
        return (
            self.parser.should_upgrade()
            or (self.pages and any(name == b"origin" for name, _ in self.headers))
            or len(self.connections) >= CONNECTIONS
            or (self.cycle is not None and not self.cycle.response_complete)
        )

    def _who(self) -> str:
        return self.client[0] if self.client else ""

    def on_body(self, body: bytes) -> None:
        """A piece of a body."""
        if self.op is None:
            if not self.transport.is_closing():
                super().on_body(body)
            return
        self.text += body
        if len(self.text) > LINE_BYTES:
            self._refuse(too_long())

    def on_message_complete(self) -> None:
        """Answer what went the short way."""
        self.heading, self.head = True, 0
        if self.op is not None:
            self._send(self.desk.answer(self.text, self.op))
        elif not self.transport.is_closing():
            super().on_message_complete()

    def _refuse(self, error: RequestError, status: int | None = None) -> None:
        self._send(error_answer(error), status)

    def _send(self, answer: Answer, status: int | None = None) -> None:
        """Write an answer; the request is over with it."""
        self._forget()
        body, code = answer.model_dump_json().encode(), status or status_of(answer)
        stays = not self.leaving and not ends_connection(code) and self.parser.should_keep_alive()
        parts = [STATUS_LINE[code], TYPE, b"content-length: %d\r\n" % len(body)]
        parts += [b"%b: %b\r\n" % header for header in self.server_state.default_headers]
        if code == 429:
            parts.append(b"retry-after: 1\r\n")
        if not stays:
            parts.append(b"connection: close\r\n")
        self.transport.write(b"".join((*parts, b"\r\n", body)))
        self.server_state.total_requests += 1
        self.begun = self.loop.time()
        if not stays:
            self.transport.close()

    def _forget(self) -> None:
        """Leave the short way."""
        self.op, self.text = None, b""
        if self.inside:
            self.inside = False
            self.doorman.leave(self._who())

    def data_received(self, data: bytes) -> None:
        """Read on, but for what follows a request that ended the connection."""
        if self.transport.is_closing():
            return
        self.head += len(data)
        super().data_received(data)
        if self.heading and self.head > LINE_BYTES and not self.transport.is_closing():
            self._refuse(too_long(), 431)

    def shutdown(self) -> None:
        """End once the request in progress is answered."""
        if self.op is None:
            super().shutdown()
        else:
            self.leaving = True

    def pause_writing(self) -> None:
        """Read no more requests of who doesn't read the answers."""
        super().pause_writing()
        self.flow.pause_reading()

    def resume_writing(self) -> None:
        """Read on."""
        super().resume_writing()
        self.flow.resume_reading()
