"""A line of ``dombot-line/1`` as a request: text, JSON, its depth, its fields."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from pydantic import ValidationError

from dominozoo_training.export.messages import (
    DEPTH,
    LINE_BYTES,
    NAME,
    REQUESTS,
    SEEDS,
    Request,
    RequestError,
)

SURROGATE: Final = re.compile("[\ud800-\udfff]")
BRACKETS: Final = bytes.maketrans(b"{}", b"[]")  # of one kind
BETWEEN: Final = bytes(sorted(set(range(256)) - set(b'[]{}"')))


def parse(text: bytes) -> dict[str, Any]:
    """A line as an object; RequestError if it is none."""
    if len(text) > LINE_BYTES:
        raise RequestError("too_long", f"more than {LINE_BYTES} bytes")
    try:
        found = DECODER.decode(text.decode())
    except RecursionError:
        raise RequestError("bad_json", f"nested deeper than {DEPTH}") from None
    except ValueError as error:
        raise RequestError("bad_json", f"no JSON: {str(error)[:200]}") from None
    if not isinstance(found, dict):
        raise RequestError("bad_json", "a request is one JSON object")
    if not _surely_flat(text):
        _check_depth(found)
    return found


def _surely_flat(text: bytes) -> bool:
    """Whether the brackets of valid JSON alone show that it isn't nested too deeply.

    Of a text without escapes brackets and quotes are left; a string without brackets is then two
    quotes side by side, and any other leaves its first quote behind. Each round takes away the
    innermost pairs of brackets.
    """
    if b"\\" in text:
        return False
    rest = text.translate(BRACKETS, BETWEEN).replace(b'""', b"")
    for _ in range(DEPTH):
        rest = rest.replace(b"[]", b"")
    return not rest


def _check_depth(found: dict[str, Any]) -> None:
    """Refuse what is nested too deeply for the rest to walk through."""
    level: list[Any] = [found]
    for _ in range(DEPTH):
        level = [
            part
            for whole in level
            for part in (whole.values() if type(whole) is dict else whole)
            if type(part) is dict or type(part) is list
        ]
        if not level:
            return
    raise RequestError("bad_json", f"nested deeper than {DEPTH}")


def _refuse(word: str) -> Any:
    raise ValueError(f"{word} is no JSON number")


DECODER: Final = json.JSONDecoder(parse_constant=_refuse)


def read_request(found: dict[str, Any]) -> Request:
    """The model of a request; RequestError naming the first field that is wrong."""
    op = found.get("op")
    model = REQUESTS.get(op) if isinstance(op, str) else None
    if model is None:
        raise RequestError("unknown_op", f"op must be one of {', '.join(REQUESTS)}", "op")
    try:
        return model.model_validate(without_nulls(found))
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        field = ".".join(str(part) for part in first["loc"][:1])
        raise RequestError("bad_request", f"{field}: {first['msg']}", field) from None


def without_nulls(fields: dict[str, Any]) -> dict[str, Any]:
    """An object without the fields that are null: that is the same as leaving them out."""
    return {name: value for name, value in fields.items() if value is not None}


def id_of(found: dict[str, Any]) -> str | int | None:
    """The id of a request, if it may come back."""
    given = found.get("id")
    if isinstance(given, str) and len(given) <= NAME:
        return given if not SURROGATE.search(given) else None
    return given if type(given) is int and abs(given) <= SEEDS else None
