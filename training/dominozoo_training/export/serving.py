"""What ``dominozoo serve`` does."""

from __future__ import annotations

import signal
import socket
import sys
from collections.abc import Sequence

from dominozoo_training.export import stdio as lines
from dominozoo_training.export.protocol import Desk, load_bots
from dominozoo_training.export.schema import write_schemas

__all__ = ["http", "make_desk", "stdio", "write_schemas"]


def make_desk(files: Sequence[str]) -> Desk:
    """The bots of some files, ready to be asked; ValueError or OSError for a bad file."""
    desk = Desk(load_bots(files))
    desk.warm_up()
    return desk


def stdio(desk: Desk) -> None:
    """Answer standard input until it ends."""
    lines.main(desk)


def http(desk: Desk, host: str, port: int, cors: Sequence[str], rate: float) -> None:
    """Answer HTTP until SIGTERM or Ctrl-C; port 0 takes a free one, which stderr tells.

    Raises:
        OSError: the address can't be listened at.
    """
    from dominozoo_training.export.server import make_server

    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((host, port))
            listening.listen(256)  # who reads the line below may ask at once
        except OSError as error:
            raise OSError(f"--http: {host}:{port} can't be listened at: {error}") from None
        where = f"[{host}]" if ":" in host else host
        url = f"http://{where}:{listening.getsockname()[1]}"
        print(f"dominozoo: serving {', '.join(desk.bots)} at {url}", file=sys.stderr, flush=True)
        server = make_server(desk, host, port, cors, rate)
        # Uvicorn raises the signal that ended it again; the end that was asked for is no failure.
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: None)
        server.run(sockets=[listening])
