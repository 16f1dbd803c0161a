"""The page on LangGraph: its code is run, against the real service."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, RemoveMessage, SystemMessage, ToolMessage
from langchain_core.runnables import RunnableConfig

from afterturn_client import AsyncClient, Client
from afterturn_client.langgraph import CONTEXT_ID, context_node, hot_path_node, memory_tools, turn_node
from schema import Subject
from stores.queue import create_celery, open_mailbox
from stores.redis import open_redis
from tests.e2e.command import wait_until
from tests.e2e.pages import Page
from tests.e2e.service import Served

PAGE = Page("use-from-langgraph")


@pytest.fixture
def client(environment: None) -> Iterator[Client]:
    with Client() as client:
        yield client


def config(user: str | None) -> RunnableConfig:
    return {"configurable": {"user_id": user} if user else {}}


def test_a_node_says_what_is_known_and_tools_search_and_remember(client: Client) -> None:
    page = PAGE.run("context_node(client")
    search, remember = PAGE.run("memory_tools(")["tools"]
    assert [search.name, remember.name] == ["search_memory", "remember"]
    assert list(search.args) == ["text"]
    assert remember.invoke({"text": "Pia is vegan."}, config("pia")) == "Pia is vegan."
    assert "Pia is vegan." in search.invoke({"text": "What does Pia eat?"}, config("pia"))
    state = {"messages": [HumanMessage("What can I cook?")]}
    [_, told, _] = page["before"][1].invoke(state, config("pia"))["messages"]
    assert "Pia is vegan." in told.text
    assert told.id == CONTEXT_ID
    page["client"].close(1)


def test_what_is_known_stands_before_the_conversation_however_long_it_gets(client: Client) -> None:
    client.remember("Pavel is vegan.", user_id="pavel")
    node = context_node(client)

    def told(*messages: AnyMessage) -> list[str]:
        return [str(message.id) for message in node.invoke({"messages": messages}, config("pavel"))["messages"]]

    prompt, asked = SystemMessage("You are a cook.", id="prompt"), HumanMessage("What can I cook?", id="asked")
    known, answer = SystemMessage("", id=CONTEXT_ID), AIMessage("A curry.", id="answer")
    everything = "__remove_all__"
    assert told(asked) == [everything, CONTEXT_ID, "asked"]
    assert told(prompt, asked) == [everything, "prompt", CONTEXT_ID, "asked"]
    assert told(prompt, asked, known, answer) == [everything, "prompt", CONTEXT_ID, "asked", "answer"]
    # The one of this turn takes the place of the one before.
    assert told(prompt, known, asked, answer) == [CONTEXT_ID]


def test_without_a_user_nothing_is_known_or_kept(client: Client) -> None:
    [search, remember] = memory_tools(client, may_write=True)
    assert "Nobody" in remember.invoke({"text": "Pia is vegan."}, config(None))
    assert "Nobody" in search.invoke({"text": "Pia"}, config(None))
    assert context_node(client).invoke({"messages": [HumanMessage("Hello.")]}, config(None)) == {}


def test_what_is_known_no_more_is_taken_out_of_the_conversation(client: Client) -> None:
    remembered = client.remember("Quinn is vegan.", user_id="quinn").memory
    assert remembered is not None
    node = context_node(client)
    said = [HumanMessage("What can I cook?", id="1")]
    [_, told, _] = node.invoke({"messages": said}, config("quinn"))["messages"]
    client.forget(remembered.memory_id, user_id="quinn")
    [gone] = node.invoke({"messages": [told, *said]}, config("quinn"))["messages"]
    assert gone == RemoveMessage(id=CONTEXT_ID)


def test_the_awaited_client_serves_an_agent_too_and_an_absent_service_stops_none(
    environment: None, tmp_path: Path
) -> None:
    async def ask() -> tuple[str, dict[str, Any]]:
        state = {"messages": [HumanMessage("What can I cook?")]}
        async with AsyncClient() as memory, AsyncClient("http://127.0.0.1:1", spool_dir=tmp_path / "away") as away:
            [_, remember] = memory_tools(memory, may_write=True)
            await remember.ainvoke({"text": "Rosa is vegan."}, config("rosa"))
            [_, told, _] = (await context_node(memory).ainvoke(state, config("rosa")))["messages"]
            return told.text, await context_node(away).ainvoke(state, config("rosa"))

    text, nothing = asyncio.run(ask())
    assert "Rosa is vegan." in text
    assert nothing == {}


def known(client: Client, user: str) -> list[str]:
    return [memory.content for memory in client.memories(user_id=user)]


def test_the_hot_path_remembers_what_is_proposed_beside_the_answer(client: Client) -> None:
    page = PAGE.run("hot_path_node(client")
    node = page["before"][0]
    for said in ("Hello.", "Remember: Sven is allergic to nuts."):
        assert node.invoke({"messages": [HumanMessage(said)]}, config("sven")) == {}
    assert node.invoke({"messages": [HumanMessage("Remember: Sven is vegan.")]}, config(None)) == {}
    wait_until(lambda: known(client, "sven") == ["Sven is allergic to nuts."], "it is remembered")
    page["client"].close(1)


def parked(service: Served, user: str) -> list[dict[str, Any]]:
    redis = open_redis(service.settings)
    mailbox = open_mailbox(service.settings, redis, create_celery(service.settings))
    turns = mailbox.parked(Subject(tenant_id="acme", subject_id=user)).values()
    redis.close()
    return [json.loads(turn.body) for turn in turns]


EXCHANGE: list[AnyMessage] = [
    HumanMessage("Hello.", id="1"),
    AIMessage("Hi!", id="2"),
    HumanMessage("I live in Porto.", id="3"),
    AIMessage("", id="4", tool_calls=[{"name": "look", "args": {}, "id": "c"}]),
    ToolMessage("Porto has bridges.", tool_call_id="c", id="5"),
    AIMessage("A fine town.", id="6"),
]


def test_the_last_exchange_is_handed_over_once(service: Served, client: Client, tmp_path: Path) -> None:
    named: RunnableConfig = {"configurable": {"user_id": "tove", "thread_id": "th1"}}

    async def hand_over_again() -> int:
        async with AsyncClient(spool_dir=tmp_path / "async", budget_ms=20_000) as memory:
            await turn_node(memory).ainvoke({"messages": EXCHANGE}, named)
            return await memory.flush(30)

    with Client(spool_dir=tmp_path / "sync", budget_ms=20_000) as patient:
        for _ in range(2):
            turn_node(patient).invoke({"messages": EXCHANGE}, named)
        assert patient.flush(30) == 0
    assert asyncio.run(hand_over_again()) == 0
    [turn] = parked(service, "tove")
    assert turn["conversation_id"] == "th1"
    said = [(message["role"], message["content"]) for message in turn["messages"]]
    assert said == [("user", "I live in Porto."), ("assistant", "A fine town.")]


def test_an_awaited_hot_path_remembers_too(environment: None) -> None:
    async def note() -> list[str]:
        async with AsyncClient() as memory:
            node = hot_path_node(memory, lambda said: "Ulla is vegan." if said else None)
            assert await node.ainvoke({"messages": [HumanMessage("I am vegan.")]}, config("ulla")) == {}
            async with asyncio.timeout(20):
                while not (found := [one.content async for one in memory.memories(user_id="ulla")]):
                    await asyncio.sleep(0.05)
            return found

    assert asyncio.run(note()) == ["Ulla is vegan."]


def test_the_store_of_the_page_finds_what_it_kept(environment: None) -> None:
    page = PAGE.run("AfterturnStore(")
    assert [item.value["text"] for item in page["found"]] == ["Prefers short answers"]
    page["store"]._client.close(1)
