"""The page on adding memory to a chat backend: its code is run, against the real service."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage, RemoveMessage
from langchain_core.runnables import RunnableConfig
from starlette.testclient import TestClient

from afterturn_client import AsyncClient, Client
from afterturn_client.langgraph import CONTEXT_ID, context_node, memory_tools
from memory.events import stream_key
from schema import Subject
from stores.queue import create_celery, open_mailbox
from stores.redis import open_redis
from tests.conftest import free_port
from tests.e2e.service import Served

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "add-memory-to-a-chat-backend.md"


def code(holds: str) -> str:
    """The one example on the page that holds some words."""
    [found] = [text for text in re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.M | re.S) if holds in text]
    return str(found)


def run(holds: str, **given: Any) -> dict[str, Any]:
    """Run an example of the page, and return what it defines."""
    # Not in a dictionary of its own alone: FastAPI looks the types of a route up by its module.
    defined: dict[str, Any] = {"__name__": "page", **given}
    exec(compile(code(holds), str(PAGE), "exec"), defined)
    return defined


@pytest.fixture
def environment(service: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the page exports."""
    monkeypatch.setenv("AFTERTURN_URL", service.url)
    monkeypatch.setenv("AFTERTURN_API_KEY", service.key())
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


@pytest.fixture
def client(environment: None) -> Iterator[Client]:
    with Client() as client:
        yield client


def test_the_ten_lines_answer_with_what_is_known_and_hand_the_turn_over(service: Served, client: Client) -> None:
    async def ask_model(system: str, user: str) -> str:
        return f"[{system}] {user}"

    client.remember("Maya is allergic to peanuts.", user_id="maya")
    page = run("FastAPI()", ask_model=ask_model)
    with TestClient(page["app"]) as browser:
        answer = browser.post("/chat/maya", json={"text": "What can I not eat?"}).json()
        assert "allergic to peanuts" in answer
        assert asyncio.run(page["memory"].flush(30)) == 0
    redis = open_redis(service.settings)
    mailbox = open_mailbox(service.settings, redis, create_celery(service.settings))
    [parked] = mailbox.parked(Subject(tenant_id="acme", subject_id="maya")).values()
    redis.close()
    said = [(message["role"], message["content"]) for message in json.loads(parked.body)["messages"]]
    assert said == [("user", "What can I not eat?"), ("assistant", answer)]
    page["memory"]._enqueuer.close(1)


def test_ten_lines_are_ten_lines() -> None:
    assert len([line for line in code("FastAPI()").splitlines() if line.strip()]) <= 10


def test_a_chat_goes_on_without_memory_while_the_service_is_away(tmp_path: Path, capsys: Any) -> None:
    async def ask() -> str:
        async with AsyncClient(f"http://127.0.0.1:{free_port()}", spool_dir=tmp_path, attempts=1) as memory:
            return str(await run("known_of")["known_of"](memory, "maya", "What can I eat?"))

    assert asyncio.run(ask()) == ""
    assert "goes on without memory" in capsys.readouterr().out


def test_a_person_corrects_what_is_known(client: Client) -> None:
    client.remember("Nora lives in Lisbon.", user_id="nora")
    correct = run("def correct")["correct"]
    assert correct(client, "nora", "Nora lives in Lisbon.", "Nora lives in Porto.")
    assert not correct(client, "nora", "Nora lives in Lisbon.", "Nora lives in Rome.")
    assert [memory.content for memory in client.memories(user_id="nora")] == ["Nora lives in Porto."]


def test_a_listener_prints_what_happens(service: Served, client: Client) -> None:
    """The page's listener never ends; here its printing does."""

    class Enough(Exception):
        """One was printed."""

    printed: list[tuple[Any, ...]] = []

    def stop(*said: Any) -> None:
        printed.append(said)
        raise Enough

    redis = open_redis(service.settings)
    fields: dict[Any, Any] = {"event_id": 1, "event": "memory.error", "at": datetime.now(UTC).isoformat()}
    redis.xadd(stream_key(Subject(tenant_id="acme", subject_id="otto")), {**fields, "payload": '{"turn_id": "t1"}'})
    redis.close()
    with pytest.raises(Enough):
        run("def follow", print=stop)["follow"](client, "otto", "0")
    assert [said[1:] for said in printed] == [("memory.error", {"turn_id": "t1"})]


# -- LangGraph ----------------------------------------------------------------------------------------------------


def config(user: str | None) -> RunnableConfig:
    return {"configurable": {"user_id": user} if user else {}}


def test_a_node_says_what_is_known_and_tools_search_and_remember(client: Client) -> None:
    page = run("context_node(client")
    search, remember = page["tools"]
    assert [search.name, remember.name] == ["search_memory", "remember"]
    assert list(search.args) == ["text"]
    assert remember.invoke({"text": "Pia is vegan."}, config("pia")) == "Pia is vegan."
    assert "Pia is vegan." in search.invoke({"text": "What does Pia eat?"}, config("pia"))
    state = {"messages": [HumanMessage("What can I cook?")]}
    [told] = page["node"].invoke(state, config("pia"))["messages"]
    assert "Pia is vegan." in told.text
    # The one of this turn takes the place of the one before.
    assert told.id == CONTEXT_ID
    page["client"].close(1)


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
    [told] = node.invoke({"messages": said}, config("quinn"))["messages"]
    client.forget(remembered.memory_id, user_id="quinn")
    [gone] = node.invoke({"messages": [*said, told]}, config("quinn"))["messages"]
    assert gone == RemoveMessage(id=CONTEXT_ID)


def test_the_awaited_client_serves_an_agent_too_and_an_absent_service_stops_none(
    environment: None, tmp_path: Path
) -> None:
    async def ask() -> tuple[str, dict[str, Any]]:
        state = {"messages": [HumanMessage("What can I cook?")]}
        async with AsyncClient() as memory, AsyncClient("http://127.0.0.1:1", spool_dir=tmp_path / "away") as away:
            [_, remember] = memory_tools(memory, may_write=True)
            await remember.ainvoke({"text": "Rosa is vegan."}, config("rosa"))
            [told] = (await context_node(memory).ainvoke(state, config("rosa")))["messages"]
            return told.text, await context_node(away).ainvoke(state, config("rosa"))

    text, nothing = asyncio.run(ask())
    assert "Rosa is vegan." in text
    assert nothing == {}
