"""The app's OpenAPI document, completed: failures as problem documents, and the header fields of answers."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any, Final

from fastapi import FastAPI
from fastapi.routing import APIRoute

from interfaces.http.unknown_parameters import REFUSED_UNDER

_PROBLEM: Final = {
    "title": "Problem",
    "description": "A failure (RFC 9457), without anything that somebody said.",
    "type": "object",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string", "format": "uri-reference"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "scope": {"description": "whose quota is full", "enum": ["user", "tenant"]},
        "stores": {
            "type": "object",
            "description": "which stores of the service answer",
            "additionalProperties": {"enum": ["ok", "away"]},
        },
        "errors": {
            "type": "array",
            "description": "the fields that are missing or wrong",
            "items": {
                "type": "object",
                "required": ["field", "message"],
                "properties": {"field": {"type": "string"}, "message": {"type": "string"}},
            },
        },
    },
}
_SENT_WHERE_LIMITED: Final = (
    "; sent only where the service limits the key's requests of that class (AFTERTURN_HTTP_READS_PER_MINUTE, "
    "AFTERTURN_HTTP_WRITES_PER_MINUTE, AFTERTURN_HTTP_LLM_PER_MINUTE, AFTERTURN_HTTP_TURNS_PER_MINUTE; 0 is no limit) "
    "and could count this one: not without a key, not before the key is read, and not while the broker is away"
)
_HEADERS: Final = {
    "X-Request-ID": {"description": "the id that the request gave, or a new one", "schema": {"type": "string"}},
    "RateLimit-Policy": {
        "description": 'the limit of the key for such requests: `"read";q=600;w=60` is 600 in 60 seconds'
        + _SENT_WHERE_LIMITED,
        "schema": {"type": "string"},
    },
    "RateLimit": {
        "description": 'how it stands: `"read";r=598;t=1` is 598 left, and one more in a second' + _SENT_WHERE_LIMITED,
        "schema": {"type": "string"},
    },
    "Retry-After": {"description": "in how many seconds to ask again", "schema": {"type": "integer"}},
    "WWW-Authenticate": {"description": "how to send a key", "schema": {"type": "string"}},
    "ETag": {
        "description": "what a change is to name in If-Match, and who reads it again in If-None-Match",
        "schema": {"type": "string"},
    },
}
_FAILURES: Final = {
    HTTPStatus.BAD_REQUEST: "The body cannot be read",
    HTTPStatus.UNAUTHORIZED: "No key in force was sent",
    HTTPStatus.FORBIDDEN: "The key, or a page of another site, may not do that",
    HTTPStatus.NOT_FOUND: "There is no such thing that the key may see",
    HTTPStatus.CONFLICT: "It cannot be done as things are, or the same request still goes on",
    HTTPStatus.PRECONDITION_FAILED: "It is not what If-Match (`if_match`) names, or is what If-None-Match names",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "The body has more bytes than AFTERTURN_HTTP_MAX_BODY_BYTES",
    HTTPStatus.MISDIRECTED_REQUEST: "The service answers under this machine's names alone: no key is asked for",
    HTTPStatus.UNPROCESSABLE_ENTITY: "A field is missing, wrong or unknown, or what it says may not be kept",
    HTTPStatus.TOO_MANY_REQUESTS: "The key's limit is reached",
    HTTPStatus.SERVICE_UNAVAILABLE: "A part that the service needs does not answer; nothing was done",
}
_NOT_MODIFIED: Final = "It has an ETag that If-None-Match names: nobody changed it"
_LATER: Final = frozenset({HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE})
_OF_ELSEWHERE: Final = (HTTPStatus.FORBIDDEN, HTTPStatus.MISDIRECTED_REQUEST)
_OF_KEYS: Final = (
    HTTPStatus.UNAUTHORIZED,
    HTTPStatus.FORBIDDEN,
    HTTPStatus.NOT_FOUND,
    HTTPStatus.TOO_MANY_REQUESTS,
    HTTPStatus.SERVICE_UNAVAILABLE,
)


def operation_id(route: APIRoute) -> str:
    """Return how a generated client calls a route: `memories_search`, and not by its path and method."""
    return "_".join([*map(str, route.tags[:1]), route.name.rstrip("_")])


def describe(app: FastAPI) -> None:
    """Let the app's OpenAPI document name every failure, and every field of an answer, of each of its routes."""
    of_framework = app.openapi

    def described() -> dict[str, Any]:
        if app.openapi_schema is None:
            _complete(of_framework(), is_for_this_machine=app.state.anonymous_is_allowed)
        return of_framework()

    app.openapi = described  # type: ignore[method-assign]


def _complete(document: dict[str, Any], *, is_for_this_machine: bool) -> None:
    components = document.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    schemas["Problem"] = _PROBLEM
    components["headers"] = _HEADERS
    for path, item in document["paths"].items():
        is_read = "get" in item
        for method, operation in item.items():
            conditions = _parameters(operation) & {"if-match", "if-none-match"}
            # What was deleted has none; its parts, deleted by a path of their own, leave the whole with one.
            has_etag = bool(conditions) and not (method == "delete" and is_read)
            if method == "get" and conditions:
                operation["responses"][str(HTTPStatus.NOT_MODIFIED.value)] = {"description": _NOT_MODIFIED}
            failures = _failures_of(method, operation) + (list(_OF_ELSEWHERE) if is_for_this_machine else [])
            if path.startswith(REFUSED_UNDER):
                failures.append(HTTPStatus.UNPROCESSABLE_ENTITY)
            _complete_operation(operation, failures, has_etag=has_etag)


def _complete_operation(operation: dict[str, Any], failures: list[HTTPStatus], *, has_etag: bool) -> None:
    responses = operation["responses"]
    for status in failures:
        responses[str(status.value)] = {
            "description": _FAILURES[status],
            "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
        }
    for status_code, response in responses.items():
        names = _fields_of(HTTPStatus(int(status_code)), operation)
        if has_etag and (status_code.startswith("2") or int(status_code) == HTTPStatus.NOT_MODIFIED):
            names.append("ETag")
        refs = {name: {"$ref": f"#/components/headers/{name}"} for name in names}
        response["headers"] = response.get("headers", {}) | refs


def _fields_of(status: HTTPStatus, operation: dict[str, Any]) -> list[str]:
    names = ["X-Request-ID"]
    if status is HTTPStatus.UNAUTHORIZED:
        names.append("WWW-Authenticate")
    elif "security" in operation:
        names += ["RateLimit-Policy", "RateLimit"]
    still_goes_on = status is HTTPStatus.CONFLICT and "idempotency-key" in _parameters(operation)
    if status in _LATER or still_goes_on:
        names.append("Retry-After")
    return names


def _parameters(operation: dict[str, Any]) -> set[str]:
    return {parameter["name"].lower() for parameter in operation.get("parameters", ())}


def _failures_of(method: str, operation: dict[str, Any]) -> list[HTTPStatus]:
    failures = list(_OF_KEYS) if "security" in operation else []
    failures += [status for status in map(HTTPStatus, map(int, operation["responses"])) if status in _FAILURES]
    if "requestBody" in operation:
        failures.append(HTTPStatus.BAD_REQUEST)
    if method != "get" and _parameters(operation) & {"if-match", "if-none-match"}:
        failures.append(HTTPStatus.PRECONDITION_FAILED)
    if method != "get":
        # A body that a route does not read may be too large, too.
        failures += [HTTPStatus.CONFLICT, HTTPStatus.REQUEST_ENTITY_TOO_LARGE]
    return failures
