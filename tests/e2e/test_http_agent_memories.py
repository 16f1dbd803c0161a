"""The routes for memories as "VOS Memory System" asks them, request by request as that page writes them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import httpx
import pytest

from schema import Capability
from tests.e2e.service import Served

FAHRENHEIT: Final = {
    "content": "User prefers Fahrenheit for temperature",
    "memory_type": "user_preference",
    "agent_id": "primary_agent",
    "scope": "shared",
    "importance": 0.9,
    "confidence": 0.95,
    "tags": ["temperature", "units", "preference"],
}
PROCEDURE: Final = {
    "content": "When OpenWeatherMap API times out, wait 5 seconds and retry with fallback to cached data",
    "memory_type": "agent_procedure",
    "scope": "individual",
    "agent_id": "weather_agent",
    "importance": 0.85,
    "tags": ["error_handling", "api", "timeout", "retry"],
}
CORE_FIELDS: Final = {
    *("memory_id", "agent_id", "memory_type", "content", "embedding", "scope", "source", "importance", "confidence"),
    *("tags", "related_memories", "created_at", "updated_at", "last_accessed", "access_count"),
}
MEMORIES: Final = "/api/v1/memories/"


@pytest.fixture
def agents(service: Served, user: str) -> Iterator[httpx.Client]:
    """The agents of a user, who share a key that may name any of them."""
    with service.client(service.key(user=user)) as client:
        yield client


@pytest.fixture
def ids(agents: httpx.Client) -> dict[str, str]:
    """The ids of what two agents remembered."""
    made = {}
    for body in (FAHRENHEIT, PROCEDURE):
        answer = agents.post(MEMORIES, json=body)
        assert answer.status_code == 201, answer.text
        made[str(body["agent_id"])] = answer.json()["memory_id"]
    return made


def found(client: httpx.Client, path: str = "search", **params: Any) -> list[str]:
    answer = client.get(f"{MEMORIES}{path}", params=params)
    assert answer.status_code == 200, answer.text
    memories = answer.json() if path else answer.json()["items"]
    return [memory["memory_id"] for memory in memories]


def test_what_is_created_is_answered_with_its_id_and_all_that_was_said_of_it(agents: httpx.Client) -> None:
    answer = agents.post(MEMORIES, json=FAHRENHEIT)
    made = answer.json()
    assert (answer.status_code, made["memory_id"]) == (201, made["memory"]["memory_id"])
    assert {field: made["memory"][field] for field in FAHRENHEIT} == FAHRENHEIT


def test_a_search_takes_each_of_the_parameters_and_needs_none(agents: httpx.Client, ids: dict[str, str]) -> None:
    preference = [ids["primary_agent"]]
    assert found(agents, query="temperature preferences", limit=5, min_importance=0.7) == preference
    assert found(agents) == preference
    for wanted in (
        {"memory_type": "user_preference"},
        {"scope": "shared"},
        {"tags": "temperature,units"},
        {"min_confidence": 0.9},
        {"agent_id": "primary_agent"},
    ):
        assert found(agents, **wanted) == found(agents, query="temperature units", **wanted) == preference, wanted
    for unwanted in (
        {"memory_type": "knowledge"},
        {"tags": "temperature,weather"},
        {"min_importance": 0.95},
        {"min_confidence": 0.96},
        {"agent_id": "notes_agent"},
    ):
        assert found(agents, **unwanted) == found(agents, query="temperature units", **unwanted) == [], unwanted
    assert agents.get(f"{MEMORIES}search", params={"limit": 101}).status_code == 422


def test_an_agent_is_found_what_it_keeps_for_itself(
    service: Served, agents: httpx.Client, ids: dict[str, str], user: str
) -> None:
    asked = {"query": "the API times out", "memory_type": "agent_procedure", "agent_id": "weather_agent"}
    assert found(agents, **asked) == [ids["weather_agent"]]
    with service.client(service.key(Capability.READ, user=user, agent="notes_agent")) as other:
        assert found(other, **asked) == []
        assert found(other, query="temperature units", agent_id="primary_agent") == [ids["primary_agent"]]


def test_whoever_asks_as_an_agent_is_told_what_all_agents_share_and_what_is_its_own(
    agents: httpx.Client, ids: dict[str, str]
) -> None:
    assert set(found(agents, "", as_agent="weather_agent")) == set(ids.values())
    assert found(agents, "", as_agent="notes_agent") == [ids["primary_agent"]]


def test_a_list_skips_as_many_as_it_is_told_to(agents: httpx.Client) -> None:
    for instrument in ("violin", "cello", "oboe", "harp"):
        agents.post(MEMORIES, json={"content": f"Anna plays the {instrument}.", "agent_id": "primary_agent"})
    whole = found(agents, "", agent_id="primary_agent", limit=50, offset=0)
    assert len(whole) == 4
    pages = [found(agents, "", agent_id="primary_agent", limit=3, offset=offset) for offset in (0, 3, 4)]
    assert pages == [whole[:3], whole[3:], []]


def test_a_memory_is_read_with_every_core_field_and_its_embedding_where_that_is_asked_for(
    agents: httpx.Client, ids: dict[str, str]
) -> None:
    path = f"{MEMORIES}{ids['primary_agent']}"
    plain, whole = agents.get(path).json(), agents.get(path, params={"include": "embedding"}).json()
    assert set(whole) >= CORE_FIELDS
    assert plain["embedding"] is None
    assert sum(number * number for number in whole["embedding"]) == pytest.approx(1, abs=1e-4)


def test_a_memory_is_updated_and_deleted(agents: httpx.Client, ids: dict[str, str]) -> None:
    path = f"{MEMORIES}{ids['primary_agent']}"
    wanted = {"importance": 0.95, "tags": ["temperature", "units", "preference", "weather"]}
    changed = agents.patch(path, json=wanted)
    assert changed.status_code == 200
    assert {field: changed.json()[field] for field in wanted} == wanted
    assert agents.delete(path).status_code == 204
    assert agents.get(path).status_code == 404


def test_what_is_no_longer_believed_is_recalled_no_more(agents: httpx.Client, ids: dict[str, str]) -> None:
    assert agents.patch(f"{MEMORIES}{ids['primary_agent']}", json={"confidence": 0.0}).status_code == 200
    assert found(agents, query="temperature units") == []


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_the_slash_at_the_end_may_be_left_out(agents: httpx.Client, method: str) -> None:
    body = FAHRENHEIT if method == "POST" else None
    assert agents.request(method, MEMORIES.rstrip("/"), json=body).status_code in {200, 201}
