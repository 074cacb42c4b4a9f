"""A client of the HTTP server, with Python's standard library alone: two seats ask for their moves.

Start ``dominozoo serve block --http 8080`` first. A program in another language sends the same bytes.
"""

from __future__ import annotations

import argparse
import http.client
import json
from typing import Any

from dominozoo import block_v0


class Client:
    """Asks a server for moves, over one connection that is kept open."""

    def __init__(self, host: str, port: int) -> None:
        self.connection = http.client.HTTPConnection(host, port, timeout=10)

    def call(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """The answer to one request; RuntimeError with the server's reason if it is an error."""
        text = None if body is None else json.dumps(body)
        self.connection.request(method, path, text, {"Content-Type": "application/json"})
        answer: dict[str, Any] = json.loads(self.connection.getresponse().read())
        if answer.get("op") == "error":
            raise RuntimeError(f"{answer['code']}: {answer['message']}")
        return answer


def main() -> None:
    """Play one hand of Block: seat 0 asks for the bot's best, seat 1 for its easy level."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8080)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()

    client = Client(options.host, options.port)
    for bot in client.call("GET", "/v1/info")["bots"]:
        print(f"{bot['id']} plays {bot['game']} {bot['rules']}")
    env = block_v0.raw_env(max_hands=1)
    env.reset(seed=options.seed)
    while not env.terminations[env.agent_selection]:
        agent = env.agent_selection
        view = env.view(agent)
        request = {"view": view, "level": "hard" if agent == "player_0" else "easy", "seed": 1}
        answer = client.call("POST", "/v1/act", request)
        print(f"{agent}: {answer['text']}")
        env.step(answer["action"])
    print(f"rewards: {env.rewards}")


if __name__ == "__main__":
    main()
