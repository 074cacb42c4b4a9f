"""``dombot-line/1`` over standard input and output: a line in, a line out."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType
from typing import IO

from dominozoo_training.export.messages import LINE_BYTES, Bye, RequestError
from dominozoo_training.export.protocol import Desk, error_answer


def serve(desk: Desk, source: IO[bytes], sink: IO[bytes]) -> None:
    """Answer line by line until ``quit`` or the end of the input; blank lines are passed over."""
    while True:
        line = source.readline(LINE_BYTES + 2)
        if not line:
            return
        text = line.rstrip(b"\r\n")
        if len(text) > LINE_BYTES:
            if not line.endswith(b"\n"):
                _skip(source)
            too_long = RequestError("too_long", f"more than {LINE_BYTES} bytes")
            sink.write(error_answer(too_long).model_dump_json().encode() + b"\n")
            sink.flush()
            continue
        if not text.strip():
            continue
        answer = desk.answer(text)
        sink.write(answer.model_dump_json().encode() + b"\n")
        sink.flush()
        if isinstance(answer, Bye):
            return


def _skip(source: IO[bytes]) -> None:
    """Read on to the end of a line, a piece at a time."""
    while True:
        piece = source.readline(LINE_BYTES)
        if not piece or piece.endswith(b"\n"):
            return


def main(desk: Desk) -> None:
    """Serve this process's standard streams; what else is printed goes to the error stream."""
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as sink:
        sys.stdout = sys.stderr
        signal.signal(signal.SIGTERM, _end)
        try:
            serve(desk, sys.stdin.buffer, sink)
        except (KeyboardInterrupt, BrokenPipeError):
            _forget(sink)


def _end(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _forget(sink: IO[bytes]) -> None:
    """Let a closed pipe's rest go where closing it can't fail."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sink.fileno())
    os.close(nowhere)
