"""A real client of the Model Context Protocol, with a key of a service."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import cache
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, TextContent, TextResourceContents

from tests.e2e.service import Served

REVISIONS = ("2026-07-28", "legacy")
"""The current revision of the protocol, and the handshake of those before it."""
_tls = cache(httpx2.create_ssl_context)
"""One for all clients: to read the authorities takes 50 ms of the processor."""


@asynccontextmanager
async def connected(url: str, key: str | None = None, *, mode: str = REVISIONS[0]) -> AsyncIterator[Client]:
    headers = {"X-API-Key": key} if key else {}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=30.0, verify=_tls()) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as client,
    ):
        yield client


def over_http(
    service: Served, key: str, do: Callable[[Client], Awaitable[Any]], *, mode: str = REVISIONS[0], query: str = ""
) -> Any:
    """What a client does over HTTP, with a key."""

    async def ask() -> Any:
        async with connected(f"{service.url}/mcp{query}", key, mode=mode) as client:
            return await do(client)

    return asyncio.run(ask())


async def done(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """The answer of a tool, checked by the client against its schema; a failure as it is told."""
    result = await client.call_tool(tool, arguments)
    assert isinstance(result, CallToolResult)
    [text] = result.content
    assert isinstance(text, TextContent)
    told: dict[str, Any] = json.loads(text.text)
    assert result.is_error == (told["status"] == "ERROR")
    assert result.is_error or result.structured_content == told
    return told


async def text_of(client: Client, uri: str) -> str:
    [contents] = (await client.read_resource(uri)).contents
    assert isinstance(contents, TextResourceContents)
    return contents.text
