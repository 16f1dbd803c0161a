"""The namespaces of the LangGraph store under which a user's memories lie, against the real service."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from afterturn_client import AsyncClient, Client
from afterturn_client.langgraph import AfterturnStore
from tests.e2e.service import Served


@pytest.fixture(scope="module")
def client(service: Served, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with Client(service.url, service.key(), spool_dir=tmp_path_factory.mktemp("spool")) as client:
        yield client


def test_what_is_remembered_is_found_and_got_under_its_namespace(client: Client, user: str) -> None:
    client.remember("Anna plays the violin.", user_id=user, category="Personal", importance=0.8)
    client.remember("Anna's trip to Rome was lovely.", user_id=user, memory_type="conversation_context")
    store = AfterturnStore(client)
    for namespace in ((user, "memories", "semantic"), (user, "semantic")):
        [hit] = store.search(namespace, query="Which instrument does Anna play?")
        assert (hit.namespace, hit.key, hit.value["summary"]) == (namespace, hit.value["id"], "Anna plays the violin.")
        assert (hit.value["importance"], hit.value["category"], hit.value["user_id"]) == (4, "Personal", user)
        assert hit.score is not None
        got = store.get(namespace, hit.key)
        assert got is not None
        assert got.value["summary"] == "Anna plays the violin."
        assert store.search(namespace, query="") == store.search(namespace) == []
        assert store.search(namespace, query="Which instrument?", filter={"category": "Finance"}) == []
        assert store.get((user, "memories", "episodic"), hit.key) is None, "it is of another type"
    assert store.get((user, "memories", "semantic"), "no-such-key") is None
    assert store.search((user,)) == [], "it is no item"


def test_a_put_is_remembered_under_its_key_changed_and_forgotten(client: Client, user: str) -> None:
    store, namespace = AfterturnStore(client), (user, "memories", "semantic")
    store.put(namespace, "diet", {"summary": "Anna is vegan.", "importance": 5, "tags": ["food"]})
    [memory] = client.memories(user_id=user)
    assert (memory.content, memory.importance, memory.type) == ("Anna is vegan.", 1.0, "semantic")
    item = store.get(namespace, "diet")
    assert item is not None
    assert (item.key, item.value["id"], item.value["summary"]) == ("diet", memory.memory_id, "Anna is vegan.")
    [listed] = store.search((user,))
    assert (listed.key, listed.value) == ("diet", item.value)
    store.put(namespace, "diet", {**item.value, "summary": "Anna is vegetarian.", "pinned": True})
    [changed] = client.memories(user_id=user)
    assert (changed.memory_id, changed.content, changed.pinned) == (memory.memory_id, "Anna is vegetarian.", True)
    store.delete(namespace, "diet")
    assert store.get(namespace, "diet") is None
    assert [*client.memories(user_id=user)] == []
    assert store.search((user,)) == []
    store.put(namespace, "diet", {"content": "Anna eats fish."})
    assert [one.content for one in client.memories(user_id=user)] == ["Anna eats fish."]


def test_a_long_query_finds_too(client: Client, user: str) -> None:
    store = AfterturnStore(client)
    store.put((user, "memories", "semantic"), "diet", {"summary": "Maya is vegan."})
    [hit] = store.search((user, "memories", "semantic"), query="Is Maya vegan? " * 500, limit=5)
    assert hit.value["summary"] == "Maya is vegan."


def test_what_was_forgotten_elsewhere_is_under_no_key_any_more(client: Client, user: str) -> None:
    store, namespace = AfterturnStore(client), (user, "semantic")
    store.put(namespace, "diet", {"summary": "Anna is vegan."})
    [memory] = client.memories(user_id=user)
    client.forget(memory.memory_id, user_id=user)
    assert store.get(namespace, "diet") is None
    assert store.search((user,)) == []


def test_a_value_that_is_no_memory_is_refused_before_anything_is_sent(client: Client, user: str) -> None:
    store, namespace = AfterturnStore(client, user_id=user), (user, "memories", "semantic")
    for value in ({"food": "vegan"}, {"summary": " "}, {}):
        with pytest.raises(ValueError, match="memory"):
            store.put(namespace, "k", value)
    with pytest.raises(ValueError, match="ttl"):
        store.put(namespace, "k", {"summary": "Anna is vegan."}, ttl=5)
    with pytest.raises(ValueError, match="category"):
        store.search(namespace, query="food", filter={"mood": "good"})


def test_who_is_named_elsewhere_in_a_namespace_is_not_whose_memories_are_meant(client: Client, user: str) -> None:
    client.remember("Anna plays the violin.", user_id=user)
    other = f"{user}-other"
    assert AfterturnStore(client, user_id=other).search((user, "semantic"), query="Which instrument?") == []
    [hit] = AfterturnStore(client, user_at=1).search(("app", user, "memories", "semantic"), query="Which instrument?")
    assert hit.value["summary"] == "Anna plays the violin."


def test_an_awaited_client_reads_and_states_memories_too(service: Served, user: str, tmp_path: Path) -> None:
    async def use() -> list[str]:
        async with AsyncClient(service.url, service.key(), spool_dir=tmp_path) as awaited:
            store = AfterturnStore(awaited)
            await store.aput((user, "memories", "semantic"), "k", {"summary": "Anna plays the violin."})
            assert await store.aget((user, "memories", "semantic"), "missing") is None
            hits = await store.asearch((user, "memories", "semantic"), query="Which instrument does Anna play?")
            return [hit.value["summary"] for hit in hits]

    assert asyncio.run(use()) == ["Anna plays the violin."]
