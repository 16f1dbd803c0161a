"""The protocol over HTTP: streamable and stateless, at a route of the app and with the same keys as its others."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Final

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types import INVALID_REQUEST, ErrorData, JSONRPCError, jsonrpc_message_adapter
from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import from_json
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from interfaces.http.credentials import principal_behind, subject_of
from interfaces.http.limits import received_again
from interfaces.http.problems import Unauthorized, problem
from interfaces.http.rates import RateClass
from interfaces.http.service import Service
from interfaces.mcp import server
from interfaces.mcp.protected_resource import challenge
from interfaces.mcp.server import as_agent, create_server, tools_named
from policies.access import acting
from recall.tools import TOOLS, Effect, ToolContext
from schema import Principal, Subject
from schema.turn import Identifier

_ASKED: Final = "afterturn.asked"
"""Where in a request's scope it stands who asks about whom."""
_NO_MESSAGE: Final = JSONRPCError(
    jsonrpc="2.0",
    id=None,
    error=ErrorData(
        code=INVALID_REQUEST, message="this is no JSON-RPC 2.0 message: send one with `jsonrpc`, `method` and `id`"
    ),
).model_dump_json(by_alias=True, exclude_unset=True)
_NAMED: Final = TypeAdapter(Identifier)


class McpRoute:
    """Takes one message a request, from whom its key stands for."""

    path: Final = "/mcp"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # The framework names its own routes alone, by which requests are limited and measured.
        scope["route"] = self
        request = Request(scope, receive)
        if request.method != "POST":
            # There are no sessions, so there is nothing to listen to or to end.
            raise HTTPException(HTTPStatus.METHOD_NOT_ALLOWED, headers={"Allow": "POST"})
        body = await request.body()
        scope[_ASKED] = await asyncio.to_thread(_asked, request, _rate_class_of(body))
        if (refusal := _refusal_of(request, body)) is not None:
            await refusal(scope, receive, send)
            return
        await request.app.state.mcp.handle_request(scope, received_again(body, receive), send)


@asynccontextmanager
async def serving(app: FastAPI, service: Service) -> AsyncIterator[None]:
    """Let the route of an app answer until the block ends.

    Raises:
        SettingsError: AFTERTURN_MCP_TOOLS names a tool that is none.
    """

    def caller(request: server.Request) -> ToolContext:
        assert request.request is not None
        principal, subject = request.request.scope[_ASKED]
        return ToolContext(principal, subject, service.context, datetime.now(UTC))

    manager = StreamableHTTPSessionManager(
        create_server(caller, tools_named(service.settings.mcp_tools)),
        json_response=True,
        stateless=True,
        max_request_body_size=service.settings.http_max_body_bytes,
    )
    app.state.mcp = manager
    async with manager.run():
        yield


def _refusal_of(request: Request, body: bytes) -> Response | None:
    """Return the answer to what is no message of the protocol: the library's own repeats what was sent. None for what
    may be one, and for what is no JSON, of which the library says where it ends."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        return problem(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "send JSON, with Content-Type: application/json")
    try:
        jsonrpc_message_adapter.validate_python(from_json(body), by_name=False)
    except ValidationError:
        return Response(_NO_MESSAGE, HTTPStatus.BAD_REQUEST, media_type="application/json")
    except ValueError:
        return None
    return None


def _rate_class_of(body: bytes) -> RateClass:
    """Return the class of a message: what calls a tool that writes is a write, all else reads, and so is what the
    server will refuse."""
    try:
        message = _Message.model_validate_json(body)
    except ValidationError:
        return RateClass.READ
    tool = TOOLS.get(message.params.name) if message.method == "tools/call" else None
    return RateClass.READ if tool is None or tool.effect is Effect.READS else RateClass.WRITE


class _Called(BaseModel):
    name: str = ""


class _Message(BaseModel):
    method: str
    params: _Called = _Called()


def _asked(request: Request, rate_class: RateClass) -> tuple[Principal, Subject]:
    """Return who asks about whom: as everywhere under /api/v1, with `user_id`, `subject_id` and `agent_id` in the
    query for a key that may name them."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    secret = request.headers.get("x-api-key") or (token.strip() if scheme.lower() == "bearer" else None)
    service: Service = request.app.state.service
    try:
        principal = principal_behind(secret or None, request, service, rate_class)
    except Unauthorized as refused:
        raise Unauthorized(str(refused), challenge(request, service.settings)) from refused
    user_id, subject_id, agent_id = (_identifier(request, name) for name in ("user_id", "subject_id", "agent_id"))
    asker = acting(principal, user_id, agent_id)
    return as_agent(asker), subject_of(asker, subject_id or user_id)


def _identifier(request: Request, name: str) -> str | None:
    given = request.query_params.get(name)
    try:
        return None if given is None else _NAMED.validate_python(given)
    except ValidationError as error:
        wrong = [{**problem, "loc": ("query", name)} for problem in error.errors(include_input=False)]
        raise RequestValidationError(wrong) from error
