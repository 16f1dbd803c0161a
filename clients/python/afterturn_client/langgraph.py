"""Memory in a LangGraph agent: a node that says what is known, and tools that search and remember.

Whose memory it is comes from `config["configurable"]["user_id"]` and never from what a model says; without it nothing
is known and nothing is kept. Needs the extra `langgraph` (or `langchain`, for the tools alone).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from langchain_core.messages import AnyMessage, HumanMessage, RemoveMessage, SystemMessage
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langchain_core.tools import BaseTool, StructuredTool

from afterturn_client import requests
from afterturn_client.aio import AsyncClient
from afterturn_client.client import Client
from afterturn_client.errors import Unavailable
from afterturn_client.model import Context, Hit, Remembered
from afterturn_client.requests import Request

CONTEXT_ID: Final = "afterturn-context"
"""The id of the message that says what is known: the one of this turn takes the place of the one before."""
_NOBODY: Final = "Nobody is known by name here, so there is no memory."

_log = logging.getLogger("afterturn_client")


def context_node(
    client: Client | AsyncClient, *, tokens: int = 600, bullets: int | None = 3
) -> RunnableLambda[Mapping[str, Any], dict[str, list[Any]]]:
    """Return a node for before the agent: it adds a system message with what is known on the last thing the user said.

    The state needs `messages` with LangGraph's `add_messages`. A service that is away leaves the messages as they are,
    and is logged: a conversation goes on without memory.
    """

    def asked(state: Mapping[str, Any], config: RunnableConfig) -> Request[Context] | None:
        user, agent = _who(config)
        if user is None:
            return None
        return requests.context(user, _question(state["messages"]), agent_id=agent, tokens=tokens, bullets=bullets)

    if isinstance(client, AsyncClient):

        async def told_async(state: Mapping[str, Any], config: RunnableConfig) -> dict[str, list[Any]]:
            request = asked(state, config)
            try:
                return {} if request is None else _told(state["messages"], await client.send(request))
            except Unavailable as error:
                _log.warning("the agent goes on without memory: %s", error)
                return {}

        return RunnableLambda(told_async, name="memory_context")

    def told(state: Mapping[str, Any], config: RunnableConfig) -> dict[str, list[Any]]:
        request = asked(state, config)
        try:
            return {} if request is None else _told(state["messages"], client.send(request))
        except Unavailable as error:
            _log.warning("the agent goes on without memory: %s", error)
            return {}

    return RunnableLambda(told, name="memory_context")


def memory_tools(client: Client | AsyncClient, *, may_write: bool = False) -> list[BaseTool]:
    """Return tools for an agent: `search_memory`, and `remember` where the agent may write."""

    def search_memory(text: str, config: RunnableConfig) -> Request[tuple[Hit, ...]] | None:
        """Search what is known about the user, to answer with what they said before."""
        user, agent = _who(config)
        return None if user is None else requests.search(text, user_id=user, agent_id=agent, limit=5)

    def remember(text: str, config: RunnableConfig) -> Request[Remembered] | None:
        """Remember one lasting fact about the user, in a sentence of the third person, as they said it."""
        user, agent = _who(config)
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


def _who(config: RunnableConfig) -> tuple[str | None, str | None]:
    named = config.get("configurable") or {}
    return named.get("user_id"), named.get("agent_id")


def _question(messages: Sequence[AnyMessage]) -> str:
    said = next((message for message in reversed(messages) if isinstance(message, HumanMessage)), None)
    return "" if said is None else str(said.text)[:4_000]


def _told(messages: Sequence[AnyMessage], context: Context) -> dict[str, list[Any]]:
    if context.text:
        return {"messages": [SystemMessage(context.text, id=CONTEXT_ID)]}
    is_there = any(message.id == CONTEXT_ID for message in messages)
    return {"messages": [RemoveMessage(id=CONTEXT_ID)]} if is_there else {}
