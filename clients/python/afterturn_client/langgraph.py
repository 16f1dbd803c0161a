"""Memory in a LangGraph agent: nodes that say what is known and hand over what was said, tools, and a store.

Whose memory it is comes from `config["configurable"]["user_id"]` and never from what a model says; without it nothing
is known and nothing is kept. Needs the extra `langgraph`; the tools alone are in `afterturn_client.langchain`.
"""

from __future__ import annotations

import logging
import uuid
from asyncio import Task, create_task
from collections.abc import Callable, Mapping, Sequence
from itertools import takewhile
from threading import Thread
from typing import Any, Final

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, RemoveMessage, SystemMessage
from langchain_core.runnables import RunnableConfig, RunnableLambda

from afterturn_client import requests
from afterturn_client.aio import AsyncClient
from afterturn_client.client import Client
from afterturn_client.errors import AfterturnError, RequestFailed, Unavailable
from afterturn_client.langchain import memory_tools, user_and_agent
from afterturn_client.langgraph_store import AfterturnStore
from afterturn_client.model import Context, Remembered
from afterturn_client.requests import Request

__all__ = ["CONTEXT_ID", "AfterturnStore", "context_node", "hot_path_node", "memory_tools", "turn_node"]

CONTEXT_ID: Final = "afterturn-context"
"""The id of the message that says what is known: the one of this turn takes the place of the one before."""
_ALL_MESSAGES: Final = "__remove_all__"
"""The id by which `add_messages` takes away all that is there (`REMOVE_ALL_MESSAGES` of `langgraph.graph.message`)."""
_UNTRUSTED: Final = 0.6
"""How far what the hot path proposes is believed: nobody has checked it ("S3 Vectors plan", trigger)."""

_log = logging.getLogger("afterturn_client")


def context_node(
    client: Client | AsyncClient, *, tokens: int = 600, bullets: int | None = 3
) -> RunnableLambda[Mapping[str, Any], dict[str, list[Any]]]:
    """Return a node for before the agent: it adds a system message with what is known on the last thing the user said.

    It stands before the conversation, behind system messages that do: some providers take none elsewhere, and one alone
    or several together. The state needs `messages` with LangGraph's `add_messages`. A service that is away leaves the
    messages as they are, and is logged: a conversation goes on without memory.
    """

    def asked(state: Mapping[str, Any], config: RunnableConfig) -> Request[Context] | None:
        user, agent = user_and_agent(config)
        if user is None:
            return None
        return requests.context(user, _question(state["messages"]), agent_id=agent, tokens=tokens, bullets=bullets)

    if isinstance(client, AsyncClient):

        async def add_context_async(state: Mapping[str, Any], config: RunnableConfig) -> dict[str, list[Any]]:
            request = asked(state, config)
            try:
                return {} if request is None else _with_context(state["messages"], await client.send(request))
            except Unavailable as error:
                _log.warning("the agent goes on without memory: %s", error)
                return {}

        return RunnableLambda(add_context_async, name="memory_context")

    def add_context(state: Mapping[str, Any], config: RunnableConfig) -> dict[str, list[Any]]:
        request = asked(state, config)
        try:
            return {} if request is None else _with_context(state["messages"], client.send(request))
        except Unavailable as error:
            _log.warning("the agent goes on without memory: %s", error)
            return {}

    return RunnableLambda(add_context, name="memory_context")


def hot_path_node(
    client: Client | AsyncClient, propose: Callable[[str], str | None]
) -> RunnableLambda[Mapping[str, Any], dict[str, list[Any]]]:
    """Return a node for before the agent: what cannot wait for the turn's end is remembered beside the answer.

    `propose` is given what the user said last, and answers one sentence of the third person, or None: rules, or a small
    model with a time limit of its own. The node returns at once. What becomes of the sentence is decided as of any
    other and told by the service's events; a failure is logged, and the turn is processed all the same.
    """

    def proposed(state: Mapping[str, Any], config: RunnableConfig) -> Request[Remembered] | None:
        user, agent = user_and_agent(config)
        question = _question(state["messages"])
        summary = propose(question) if user is not None and question else None
        if not summary:
            return None
        return requests.remember(summary, user_id=user, agent_id=agent, confidence=_UNTRUSTED)

    if isinstance(client, AsyncClient):
        under_way: set[Task[None]] = set()

        async def remember(request: Request[Remembered]) -> None:
            try:
                await client.send(request)
            except RequestFailed as error:
                _log.warning("the hot path did not remember: %s", error)

        async def noted_async(state: Mapping[str, Any], config: RunnableConfig) -> dict[str, list[Any]]:
            if (request := proposed(state, config)) is not None:
                task = create_task(remember(request))
                # The loop alone would let go of it.
                under_way.add(task)
                task.add_done_callback(under_way.discard)
            return {}

        return RunnableLambda(noted_async, name="memory_hotpath")

    def send(request: Request[Remembered]) -> None:
        try:
            client.send(request)
        except RequestFailed as error:
            _log.warning("the hot path did not remember: %s", error)

    def noted(state: Mapping[str, Any], config: RunnableConfig) -> dict[str, list[Any]]:
        if (request := proposed(state, config)) is not None:
            Thread(target=send, args=(request,), name="afterturn-hot-path", daemon=True).start()
        return {}

    return RunnableLambda(noted, name="memory_hotpath")


def turn_node(client: Client | AsyncClient) -> RunnableLambda[Mapping[str, Any], dict[str, list[Any]]]:
    """Return a node for behind the agent: it hands over what the user said last and what was answered.

    It takes at most 50 ms whatever the service does. The conversation is the graph's `thread_id`; a node that is run
    again for the same messages hands over the same turn. What is not accepted is logged.
    """

    def handed(
        state: Mapping[str, Any], config: RunnableConfig
    ) -> tuple[str | None, list[dict[str, str]], dict[str, Any]]:
        user, agent = user_and_agent(config)
        exchange = _exchange(state["messages"])
        thread = str((config.get("configurable") or {}).get("thread_id") or "default")
        turn_id = _turn_id(user, thread, state["messages"])
        return user, exchange, {"agent_id": agent, "conversation_id": thread, "turn_id": turn_id}

    if isinstance(client, AsyncClient):

        async def hand_over_async(state: Mapping[str, Any], config: RunnableConfig) -> dict[str, list[Any]]:
            user, exchange, named = handed(state, config)
            try:
                if user is not None and exchange:
                    await client.enqueue(user, exchange, **named)
            except AfterturnError as error:
                _log.warning("a turn was not accepted: %s", error)
            return {}

        return RunnableLambda(hand_over_async, name="memory_turn")

    def hand_over(state: Mapping[str, Any], config: RunnableConfig) -> dict[str, list[Any]]:
        user, exchange, named = handed(state, config)
        try:
            if user is not None and exchange:
                client.enqueue(user, exchange, **named)
        except AfterturnError as error:
            _log.warning("a turn was not accepted: %s", error)
        return {}

    return RunnableLambda(hand_over, name="memory_turn")


def _exchange(messages: Sequence[AnyMessage]) -> list[dict[str, str]]:
    """Return the last thing the user said and what was answered to it, without what passed between agent and tools."""
    last = _last_of_user(messages)
    if last is None:
        return []
    exchange = [{"role": "user", "content": str(messages[last].text)}]
    answers = [message for message in messages[last + 1 :] if isinstance(message, AIMessage) and str(message.text)]
    return exchange + [{"role": "assistant", "content": str(message.text)} for message in answers[-1:]]


def _turn_id(user: str | None, thread: str, messages: Sequence[AnyMessage]) -> str | None:
    last = _last_of_user(messages)
    named = None if last is None else messages[last].id
    return None if named is None else str(uuid.uuid5(uuid.NAMESPACE_URL, f"{user}|{thread}|{named}"))


def _last_of_user(messages: Sequence[AnyMessage]) -> int | None:
    places = [index for index, message in enumerate(messages) if isinstance(message, HumanMessage)]
    return places[-1] if places else None


def _question(messages: Sequence[AnyMessage]) -> str:
    message = next((message for message in reversed(messages) if isinstance(message, HumanMessage)), None)
    return "" if message is None else str(message.text)


def _with_context(messages: Sequence[AnyMessage], context: Context) -> dict[str, list[Any]]:
    at = next((at for at, message in enumerate(messages) if message.id == CONTEXT_ID), None)
    if not context.text:
        return {} if at is None else {"messages": [RemoveMessage(id=CONTEXT_ID)]}
    instruction = SystemMessage(context.text, id=CONTEXT_ID)
    others = [message for message in messages if message.id != CONTEXT_ID]
    instructions = list(takewhile(lambda message: isinstance(message, SystemMessage), others))
    if at == len(instructions):
        return {"messages": [instruction]}
    # A message with an id that is there takes its place, any other goes to the end: who wants another order sends all.
    rest = others[len(instructions) :]
    return {"messages": [RemoveMessage(id=_ALL_MESSAGES), *instructions, instruction, *rest]}
