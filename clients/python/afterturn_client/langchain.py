"""Tools that search and remember, for any LangChain agent. Needs the extra `langchain`.

Whose memory it is comes from `config["configurable"]["user_id"]` and never from what a model says; without it nothing
is known and nothing is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool

from afterturn_client import requests
from afterturn_client.aio import AsyncClient
from afterturn_client.client import Client
from afterturn_client.model import Hit, Remembered
from afterturn_client.requests import Request

_NOBODY: Final = "Nobody is known by name here, so there is no memory."


def memory_tools(client: Client | AsyncClient, *, may_write: bool = False) -> list[BaseTool]:
    """Return tools for an agent: `search_memory`, and `remember` where the agent may write."""

    def search_memory(text: str, config: RunnableConfig) -> Request[tuple[Hit, ...]] | None:
        """Search what is known about the user, to answer with what they said before."""
        user, agent = user_and_agent(config)
        return None if user is None else requests.search(text, user_id=user, agent_id=agent, limit=5)

    def remember(text: str, config: RunnableConfig) -> Request[Remembered] | None:
        """Remember one lasting fact about the user, in a sentence of the third person, as they said it."""
        user, agent = user_and_agent(config)
        return None if user is None else requests.remember(text, user_id=user, agent_id=agent)

    tools = [_tool(client, search_memory, _found)]
    return [*tools, _tool(client, remember, _kept)] if may_write else tools


def _tool(
    client: Client | AsyncClient, build: Callable[..., Request[Any] | None], say: Callable[[Any], str]
) -> BaseTool:
    """Make a tool that sends what `build` builds, and says the answer."""
    if isinstance(client, AsyncClient):

        async def sent_async(text: str, config: RunnableConfig) -> str:
            request = build(text, config)
            return _NOBODY if request is None else say(await client.send(request))

        return StructuredTool.from_function(coroutine=sent_async, name=build.__name__, description=build.__doc__)

    def sent(text: str, config: RunnableConfig) -> str:
        request = build(text, config)
        return _NOBODY if request is None else say(client.send(request))

    return StructuredTool.from_function(func=sent, name=build.__name__, description=build.__doc__)


def _found(hits: Sequence[Hit]) -> str:
    return "\n".join(f"- {hit.content} ({hit.occurred_at:%Y-%m-%d})" for hit in hits) or "Nothing is known about that."


def _kept(remembered: Remembered) -> str:
    return remembered.memory.content if remembered.memory else "It was not kept."


def user_and_agent(config: RunnableConfig) -> tuple[str | None, str | None]:
    """Return for whom a graph runs, and which agent of theirs."""
    named = config.get("configurable") or {}
    return named.get("user_id"), named.get("agent_id")
