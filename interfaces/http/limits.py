"""Middleware for every request: an id, a bound on its size, no copy of its answer in a cache, and where no key is asked
for, this machine alone."""

from __future__ import annotations

import re
import uuid
from http import HTTPStatus
from typing import Final
from urllib.parse import urlsplit

from fastapi import Request
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from interfaces.http.problems import problem

_HERE: Final = ("localhost", "127.0.0.1", "::1")
_WITH_KEYS: Final = ("/api/v1/", "/mcp")
_DOCUMENTS: Final = "/api/v1/documents/"
_STATE: Final = "request_id"
_REQUEST_ID: Final = re.compile(r"[A-Za-z0-9._-]{1,100}")


def received_again(body: bytes, receive: Receive) -> Receive:
    """Return what gives a body that was read already, whole, and then what comes behind it."""
    whole: Message | None = {"type": "http.request", "body": body, "more_body": False}

    async def receive_whole() -> Message:
        nonlocal whole
        if whole is None:
            return await receive()
        message, whole = whole, None
        return message

    return receive_whole


class RequestIds:
    """Gives every answer the `X-Request-ID` of its request, or one of its own."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = Headers(scope=scope).get("x-request-id", "")
        request_id = given if _REQUEST_ID.fullmatch(given) else uuid.uuid4().hex
        scope.setdefault("state", {})[_STATE] = request_id

        async def send_with_id(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)["X-Request-ID"] = request_id
            await send(message)

        await self._app(scope, receive, send_with_id)


def request_id_of(request: Request) -> str:
    """Return the `X-Request-ID` that the answer to a request has."""
    return str(getattr(request.state, _STATE))


class Uncached:
    """Lets no cache keep what is told to who has a key: one that many clients ask through knows `Authorization`, and
    takes an answer to an `X-API-Key` for everybody's (RFC 9111, 3.5)."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_uncached(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)["Cache-Control"] = "private, no-store"
            await send(message)

        wants_key = scope["type"] == "http" and scope["path"].startswith(_WITH_KEYS)
        await self._app(scope, receive, send_uncached if wants_key else send)


class BodyLimit:
    """Refuses a body of more than `most` bytes with 413, whether or not its length was announced; a document may have
    more. No more than that is ever held of one."""

    def __init__(self, app: ASGIApp, most: int, most_of_documents: int) -> None:
        self._app, self._most, self._most_of_documents = app, most, most_of_documents

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        is_document = scope["method"] == "PUT" and scope["path"].startswith(_DOCUMENTS)
        most = self._most_of_documents if is_document else self._most
        announced = Headers(scope=scope).get("content-length", "0")
        if announced.isdecimal() and int(announced) > most:
            await self._refuse(scope, receive, send, most)
            return
        body: list[bytes] = []
        size = 0
        more = True
        while more:
            message = await receive()
            if message["type"] != "http.request":
                return
            body.append(message.get("body", b""))
            size += len(body[-1])
            more = message.get("more_body", False)
            if size > most:
                await self._refuse(scope, receive, send, most)
                return
        await self._app(scope, received_again(b"".join(body), receive), send)

    async def _refuse(self, scope: Scope, receive: Receive, send: Send, most: int) -> None:
        answer = problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a request may have {most} bytes")
        await answer(scope, receive, send)


class OnlyThisMachine:
    """Refuses requests under another name than this machine's, and from pages of elsewhere: where no key is asked for,
    no page in a browser here reads or changes memories, under whatever name it was made to lead here."""

    def __init__(self, app: ASGIApp, address: str) -> None:
        self._app, self._names = app, frozenset({*_HERE, address})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        if self._is_elsewhere(f"//{headers.get('host', '')}"):
            refused = problem(HTTPStatus.MISDIRECTED_REQUEST, "this service answers under this machine's names alone")
            await refused(scope, receive, send)
        elif (origin := headers.get("origin")) and self._is_elsewhere(origin):
            await problem(HTTPStatus.FORBIDDEN, "pages of other sites may ask nothing here")(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _is_elsewhere(self, address: str) -> bool:
        try:
            return urlsplit(address).hostname not in self._names
        except ValueError:
            return True
