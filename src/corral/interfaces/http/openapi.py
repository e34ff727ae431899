"""The OpenAPI document, made from the table of routes and the Structs that it names."""

import sys
from collections.abc import Iterable
from functools import cache
from typing import Any

import msgspec
from msgspec import Struct

from corral import __version__
from corral.interfaces.http.routes import Route

_REF = "#/components/schemas/{name}"
_ERRORS = {
    "400": "the request cannot be parsed, or a value is out of bounds",
    "401": "no token, a wrong one, or an expired one",
    "403": "the caller may not do or see this",
    "404": "there is no such thing",
    "408": "the body took too long to arrive",
    "409": "a rule forbids this now",
    "413": "the body is too large",
    "415": "the body is not JSON",
    "421": "the Host header does not name this server",
    "429": "too many requests at once",
    "503": "the machine or the log could not carry it out",
}
_ERROR = {
    "type": "object",
    "required": ["ok", "error"],
    "properties": {
        "ok": {"const": False},
        "error": {
            "type": "object",
            "required": ["code", "message", "hint"],
            "properties": {name: {"type": "string"} for name in ("code", "message", "hint")},
        },
    },
}
_EVENT = {  # one event of a stream
    "type": "object",
    "properties": {name: {"type": "string"} for name in ("id", "event", "data")},
}
_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "a request that is repeated with the same key is carried out once",
    "schema": {"type": "string", "pattern": "^[A-Za-z0-9_-]{8,64}$"},
}


@cache
def document(routes: tuple[Route, ...]) -> bytes:
    """Return the document as JSON."""
    kinds: list[Any] = []
    for route in routes:
        kinds += [route.query, route.answer, *([route.body] if route.body else [])]
    schemas, components = msgspec.json.schema_components(kinds, ref_template=_REF)
    paths: dict[str, dict[str, Any]] = {}
    found = iter(schemas)
    for route in routes:
        _, answer, body = next(found), next(found), next(found) if route.body else None
        operation = _operation(route, answer, body)
        paths.setdefault(route.path, {})[route.method.lower()] = operation
    return msgspec.json.encode(
        {
            "openapi": "3.1.0",
            "info": {
                "title": "Corral",
                "version": __version__,
                "description": "Run a herd of coding agents on one repository, safely.",
            },
            "security": [{"token": []}, {"cookie": []}],
            "paths": paths,
            "components": {
                "schemas": components | {"Refusal": _ERROR},
                "securitySchemes": {
                    "token": {"type": "http", "scheme": "bearer"},
                    "cookie": {"type": "apiKey", "in": "cookie", "name": "corral_LOG"},
                },
            },
        }
    )


def _operation(route: Route, answer: Any, body: Any) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": f"{route.method.lower()} {route.path}",
        "summary": route.summary,
        "parameters": [*_path_parameters(route), *_query_parameters(route.query)],
        "responses": {**_good(route, answer), **_bad(route.method == "POST")},
    }
    if route.body is not None:
        operation["parameters"] += [_KEY] * route.keyed
        operation["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": body}},
        }
    return operation


def _good(route: Route, answer: Any) -> dict[str, Any]:
    if route.path == "/login":
        return {"303": {"description": "the cookie is set"}}
    if route.kind == "text/event-stream":
        content: dict[str, Any] = {route.kind: {"schema": _EVENT}}
    elif route.kind != "json":
        content = {route.kind: {}}
    else:
        data = {"ok": {"const": True}, "data": answer}
        schema = {"type": "object", "required": ["ok", "data"], "properties": data}
        content = {"application/json": {"schema": schema}}
    found: dict[str, Any] = {"200": {"description": "done", "content": content}}
    if route.method == "GET":
        found["304"] = {"description": "as it was, by If-None-Match"}
    return found


def _bad(writes: bool) -> dict[str, Any]:
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/Refusal"}}}
    return {
        status: {"description": text, "content": content}
        for status, text in _ERRORS.items()
        if writes or status not in ("408", "409", "413", "415")
    }


def _path_parameters(route: Route) -> Iterable[dict[str, Any]]:
    for name in route.names:
        schema = {"type": "string", "minLength": 1}
        yield {"name": name, "in": "path", "required": True, "schema": schema}


def _query_parameters(query: type[Struct]) -> Iterable[dict[str, Any]]:
    known = msgspec.json.schema_components([query])[1].get(query.__name__, {})
    for name, schema in known.get("properties", {}).items():
        required = name in known.get("required", ())
        yield {"name": name, "in": "query", "required": required, "schema": schema}


if __name__ == "__main__":  # for the types of the dashboard
    from corral.interfaces.http.api import ROUTER

    sys.stdout.buffer.write(document(ROUTER.routes))
