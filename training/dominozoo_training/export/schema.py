"""JSON Schema for every message of ``dombot-line/1``, and the OpenAPI document of the HTTP server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from pydantic.json_schema import models_json_schema

from dominozoo import __version__
from dominozoo_training.export.messages import ANSWERS, CODES, PROTOCOL, REQUESTS

Json = dict[str, Any]
REF: Final = "#/components/schemas/{model}"
# Address, request, answer; a GET takes no request.
POSTS: Final = {
    "/v1/act": ("ask", "act"),
    "/v1/legal": ("legal", "legal"),
    "/v1/can": ("can", "can"),
}


def schemas() -> dict[str, Json]:
    """By message the JSON Schema (draft 2020-12): ``request.ask``, ``answer.act``, ..."""
    found: dict[str, Json] = {}
    for kind, models in (("request", REQUESTS), ("answer", ANSWERS)):
        for op, model in models.items():
            schema = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
            found[f"{kind}.{op}"] = {**schema, **model.model_json_schema()}
    return found


def openapi() -> Json:
    """The OpenAPI 3.1 document of the HTTP server."""
    models = [(model, "validation") for model in (*REQUESTS.values(), *ANSWERS.values())]
    _, defined = models_json_schema(models, ref_template=REF)  # type: ignore[arg-type]
    parts = defined["$defs"]
    for op, _ in POSTS.values():  # the address says the operation
        parts[REQUESTS[op].__name__]["required"].remove("op")
    health = {"description": "Alive.", "content": {"application/json": {"schema": {}}}}
    paths: Json = {
        "/healthz": {"get": {"summary": "It is alive.", "responses": {"200": health}}},
        "/v1/info": {"get": _operation("What hello says.", None, "Hello")},
    }
    for path, (op, answer) in POSTS.items():
        request = REQUESTS[op]
        text = (request.__doc__ or "").strip()
        paths[path] = {"post": _operation(text, request.__name__, ANSWERS[answer].__name__)}
    return {
        "openapi": "3.1.0",
        "info": {"title": f"Domino bots, {PROTOCOL}", "version": __version__},
        "paths": paths,
        "components": {"schemas": parts},
    }


def _operation(summary: str, request: str | None, answer: str) -> Json:
    operation: Json = {"summary": summary, "responses": {"200": _content("The answer.", answer)}}
    if request is None:
        return operation
    operation["requestBody"] = {"required": True, **_content("The request.", request)}
    by_status: dict[int, list[str]] = {}
    for code, status in CODES.items():
        by_status.setdefault(status, []).append(code)
    for status, codes in sorted(by_status.items()):
        operation["responses"][str(status)] = _content(", ".join(codes), "Error")
    operation["responses"]["408"] = _content("late: the request was too slow", "Error")
    return operation


def _content(description: str, model: str) -> Json:
    schema = {"$ref": REF.format(model=model)}
    return {"description": description, "content": {"application/json": {"schema": schema}}}


def write_schemas(folder: Path) -> list[Path]:
    """Write a file a message and ``openapi.json`` into a folder, which is made if need be."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, schema in {**schemas(), "openapi": openapi()}.items():
        path = folder / f"{name}.json"
        partial = folder / f".{name}.json.partial"
        partial.write_text(json.dumps(schema, indent=1) + "\n", encoding="utf-8")
        partial.replace(path)
        written.append(path)
    return written
