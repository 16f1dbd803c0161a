"""The page on adding memory to a chat backend: its code is run, against the real service."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from afterturn_client import AsyncClient, Client
from memory.events import stream_key
from schema import Capability, Subject
from stores.queue import create_celery, open_mailbox
from stores.redis import open_redis
from tests.conftest import free_port
from tests.e2e.pages import Page
from tests.e2e.service import Served

PAGE = Page("add-memory-to-a-chat-backend")


@pytest.fixture
def client(environment: None) -> Iterator[Client]:
    with Client() as client:
        yield client


def test_the_ten_lines_answer_with_what_is_known_and_hand_the_turn_over(
    service: Served, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def ask_model(system: str, user: str) -> str:
        return f"[{system}] {user}"

    client.remember("Maya is allergic to peanuts.", user_id="maya")
    monkeypatch.setenv("AFTERTURN_API_KEY", service.key(Capability.READ, Capability.TURNS, Capability.ACT_AS))
    page = PAGE.run("FastAPI()", ask_model=ask_model)
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
    assert len([line for line in PAGE.code("FastAPI()").splitlines() if line.strip()]) <= 10


def test_a_chat_goes_on_without_memory_while_the_service_is_away(tmp_path: Path, capsys: Any) -> None:
    async def ask() -> str:
        async with AsyncClient(f"http://127.0.0.1:{free_port()}", spool_dir=tmp_path, attempts=1) as memory:
            return str(await PAGE.run("known_of")["known_of"](memory, "maya", "What can I eat?"))

    assert asyncio.run(ask()) == ""
    assert "goes on without memory" in capsys.readouterr().out


def test_a_person_corrects_what_is_known(client: Client) -> None:
    client.remember("Nora lives in Lisbon.", user_id="nora")
    correct = PAGE.run("def correct")["correct"]
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
        PAGE.run("def follow", print=stop)["follow"](client, "otto", "0")
    [(_, event, data)] = printed
    assert (event, data["turn_id"], data["event_id"]) == ("memory.error", "t1", 1)
