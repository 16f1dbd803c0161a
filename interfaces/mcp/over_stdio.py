"""The protocol over standard input and output: one client, which started the process."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from mcp.server.stdio import stdio_server

from interfaces.mcp.server import Request, as_agent, create_server, tools_named
from memory.context import MemoryContext
from recall.tools import ToolContext
from schema import Principal, Subject


async def serve_stdio(asker: Callable[[], Principal], subject: Subject, context: MemoryContext) -> None:
    """Answer a client until it closes its end. `asker` says at every request who asks, so that a key that was revoked
    ends at once.

    Raises:
        SettingsError: AFTERTURN_MCP_TOOLS names a tool that is none.
    """

    def caller(_: Request) -> ToolContext:
        return ToolContext(as_agent(asker()), subject, context, datetime.now(UTC))

    server = create_server(caller, tools_named(context.settings.mcp_tools))
    async with stdio_server() as (reads, writes):
        await server.run(reads, writes, server.create_initialization_options())
