"""The messages of ``dombot-line/1``: one place for their fields, limits and meanings.

From these models come the checks of what arrives, the JSON Schema of every message and the OpenAPI
document of the HTTP server. ``docs/reference/protocol.md`` tells what they mean.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

PROTOCOL: Final = "dombot-line/1"
LINE_BYTES: Final = 64 * 1024
DEPTH: Final = 16
TIME_MS: Final = 2000
MOST_MS: Final = 10_000
SEEDS: Final = 2**53 - 1  # what JavaScript's numbers hold exactly
NAME: Final = 128

CODES: Final = {
    "bad_json": 400,
    "too_long": 413,
    "bad_request": 422,
    "unknown_op": 422,
    "unknown_bot": 404,
    "wrong_game": 422,
    "bad_view": 422,
    "not_your_turn": 409,
    "over": 409,
    "late": 504,
    "overloaded": 429,
    "internal": 500,
}
"""Codes of errors, and the status that they have over HTTP."""

ABOUT: Final = ("title", "description", "default")  # what JSON Schema says beside a field's type

Id = Annotated[str, Field(max_length=NAME)] | Annotated[int, Field(ge=-SEEDS, le=SEEDS)]
Name = Annotated[str, Field(max_length=NAME)]
# Checked by the game itself, whose messages name the field and what it should be.
View = Annotated[
    dict[str, Any],
    WithJsonSchema(
        {
            "type": "object",
            "description": "What one seat may know, as the page on positions and views lists it.",
            "required": ["game", "rules", "seat", "turn", "phase", "hand", "sizes", "events"],
            "properties": {
                "game": {"type": "string"},
                "rules": {"type": "object"},
                "seat": {"type": "integer", "minimum": 0, "maximum": 3},
                "turn": {"type": ["integer", "null"]},
                "phase": {"type": "string"},
                "hand": {"type": "array", "items": {"type": "string"}},
                "sizes": {"type": "array", "items": {"type": "integer"}},
                "events": {"type": "array", "items": {"type": "object"}},
                "legal": {"type": ["array", "null"], "items": {"type": "object"}},
            },
        }
    ),
]


def _nullable(schema: dict[str, Any]) -> None:
    """Let the JSON Schema of a request say that an optional field may be null."""
    required = schema.get("required", ())
    for name, field in schema["properties"].items():
        if name not in required and {"type": "null"} not in field.get("anyOf", ()):
            about = {key: field.pop(key) for key in ABOUT if key in field}
            schema["properties"][name] = {"anyOf": [field, {"type": "null"}], **about}


class Message(BaseModel):
    """Strict types; what is unknown is ignored."""

    model_config = ConfigDict(strict=True, extra="ignore", allow_inf_nan=False)


class Request(Message):
    """What every request may carry; a field that is null is taken as left out."""

    model_config = ConfigDict(json_schema_extra=_nullable)

    id: Id | None = Field(None, description="Comes back in the answer.")


class HelloRequest(Request):
    """Who is there?"""

    op: Literal["hello"]
    protocol: Name | None = Field(None, description=f"Refused unless it is {PROTOCOL}.")


class CanRequest(Request):
    """May these rules be played?"""

    op: Literal["can"]
    game: Name = Field(description="As block_v0.")
    rules: dict[str, Any] = Field({}, description="Options; those left out have their defaults.")
    bot: Name | None = Field(None, description="Ask this bot alone.")


class AskRequest(Request):
    """What would a bot play?"""

    op: Literal["ask"]
    view: View
    bot: Name | None = Field(None, description="Default: the first that plays this game.")
    level: Literal["easy", "normal", "hard"] = "hard"
    select: Literal["greedy", "sampled"] | None = Field(None, description="Default: the bot's.")
    temperature: float = Field(
        1.0, ge=0.05, le=10, description="Times the level's: below 1 sharper."
    )
    seed: int | None = Field(None, ge=0, le=SEEDS, description="Same seed, same draws.")
    time_ms: int = Field(TIME_MS, ge=1, le=MOST_MS, description="Then a random move is answered.")
    fallback: bool = Field(True, description="False: an answer that is late is an error.")
    probabilities: bool = Field(False, description="Tell the probabilities of the legal actions.")
    value: bool = Field(False, description="Tell the expected reward of this hand.")


class LegalRequest(Request):
    """What may the seat to move do?"""

    op: Literal["legal"]
    view: View


class QuitRequest(Request):
    """End the connection."""

    op: Literal["quit"]


class Answer(Message):
    """What every answer carries."""

    id: Id | None = None


class Option(Message):
    """A field of ``ask`` with what it takes."""

    type: Literal["enum", "number", "integer", "boolean"]
    values: list[str] | None = None
    min: float | None = None
    max: float | None = None
    default: str | float | bool | None = None


class BotInfo(Message):
    """A bot and what it plays."""

    id: str
    version: str
    licence: str
    game: str
    rules: dict[str, Any]
    levels: dict[str, dict[str, Any]] = Field(description="By level how it is spoilt, how strong.")
    options: dict[str, Option]
    value: Any = Field(None, description="What the value is worth, as its bundle says.")
    strength: Any = Field(None, description="Win rates, as its bundle says.")


class Hello(Answer):
    """The bots, and the limits of what may be asked."""

    op: Literal["hello"] = "hello"
    protocol: str = PROTOCOL
    server: str
    limits: dict[str, int]
    bots: list[BotInfo]


class Can(Answer):
    """Whether rules are played, and by whom."""

    op: Literal["can"] = "can"
    yes: bool
    exact: bool = Field(description="A bot was trained with exactly these options.")
    bots: list[str]
    reason: str | None = Field(description="Why not, else null.")


class Move(Message):
    """An action of the game."""

    id: int
    action: str
    tile: str | None
    end: int | None


class Chance(Message):
    """An action with its probability."""

    id: int
    probability: float


class Act(Answer):
    """A move."""

    op: Literal["act"] = "act"
    bot: str
    version: str
    action: int = Field(description="Its id.")
    text: str = Field(description="As play 6-5 0, draw, double 3-1.")
    tile: str | None
    end: int | None
    forced: bool = Field(description="It was the only legal one.")
    fallback: bool = Field(description="The bot was late: it was drawn from the legal ones.")
    value: float | None = Field(description="Expected reward of this hand, if asked for.")
    probabilities: list[Chance] | None = None


class Legal(Answer):
    """The legal moves."""

    op: Literal["legal"] = "legal"
    legal: list[Move]


class Bye(Answer):
    """The last line."""

    op: Literal["bye"] = "bye"


class Error(Answer):
    """What was wrong."""

    op: Literal["error"] = "error"
    code: str = Field(json_schema_extra={"enum": list(CODES)})
    message: str
    field: str | None = Field(None, description="The field that is wrong, if it is one.")


REQUESTS: Final[dict[str, type[Request]]] = {
    "hello": HelloRequest,
    "can": CanRequest,
    "ask": AskRequest,
    "legal": LegalRequest,
    "quit": QuitRequest,
}
ANSWERS: Final[dict[str, type[Answer]]] = {
    "hello": Hello,
    "can": Can,
    "act": Act,
    "legal": Legal,
    "bye": Bye,
    "error": Error,
}


class RequestError(ValueError):
    """A request that isn't answered; ``code`` is one of ``CODES``."""

    def __init__(self, code: str, message: str, field: str | None = None) -> None:
        """Keep what the error object will say."""
        super().__init__(message)
        self.code = code
        self.field = field
