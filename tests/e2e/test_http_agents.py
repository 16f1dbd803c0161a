"""What agents keep for themselves over HTTP: documents by version, and the topic that is open with a user."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

import httpx
import pytest

from schema import Capability
from tests.e2e.service import Served

_agents = count()
OPEN = "memory_creator_wait_topic"


@pytest.fixture
def path() -> str:
    """Where an agent of the test keeps what it knows."""
    return f"/api/v1/agents/agent-{next(_agents)}/metadata"


@pytest.fixture
def backend(service: Served) -> Iterator[httpx.Client]:
    """A backend that may name users and agents."""
    with service.client(service.key()) as client:
        yield client


def kept(client: httpx.Client, path: str, **query: str) -> dict[str, Any]:
    answer = client.get(path, params=query)
    assert answer.status_code == 200, answer.text
    document: dict[str, Any] = answer.json()
    return document


def test_an_agent_nobody_knows_keeps_nothing(backend: httpx.Client, path: str) -> None:
    assert kept(backend, path) == {OPEN: None}


def test_what_an_agent_keeps_comes_back_as_it_was(backend: httpx.Client, path: str) -> None:
    document = {"mood": "calm", "seen": [1, 2.5, None], "ünïcode": {"deep": True}}
    assert backend.put(path, json=document).json() == {**document, OPEN: None}
    assert kept(backend, path) == {**document, OPEN: None}
    assert backend.put(path, json={}).json() == {OPEN: None}


def test_who_read_an_older_document_replaces_no_newer_one(backend: httpx.Client, path: str) -> None:
    read = backend.get(path).headers["ETag"]
    assert backend.put(path, json={"n": 1}, headers={"If-Match": read}).status_code == 200
    assert backend.put(path, json={"n": 2}, headers={"If-Match": read}).status_code == 412
    assert kept(backend, path)["n"] == 1


def test_a_topic_is_open_with_one_user_and_stays_until_it_is_cleared(backend: httpx.Client, path: str) -> None:
    query = {"user_id": "topical"}
    backend.put(path, params=query, json={OPEN: "planning a trip to Tokyo", "n": 1})
    assert kept(backend, path, **query) == {OPEN: "planning a trip to Tokyo", "n": 1}
    assert kept(backend, path, user_id="another")[OPEN] is None
    assert kept(backend, path) == {OPEN: None, "n": 1}
    backend.put(path, params=query, json={"n": 2})
    assert kept(backend, path, **query)[OPEN] == "planning a trip to Tokyo"
    backend.put(path, params=query, json={OPEN: None})
    assert kept(backend, path, **query) == {OPEN: None}


@pytest.mark.parametrize(
    ("document", "why"),
    [
        ({OPEN: "a trip to Tokyo"}, "with no user"),
        ({OPEN: 7}, "no text"),
        ({OPEN: "x" * 301}, "too long"),
        ({"large": "x" * 65_536}, "too large"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_be_kept_is_refused_and_changes_nothing(
    backend: httpx.Client, path: str, document: dict[str, Any], why: str
) -> None:
    backend.put(path, json={"n": 1})
    assert backend.put(path, json=document).status_code == 422, why
    assert kept(backend, path) == {OPEN: None, "n": 1}


def test_a_secret_is_no_topic_and_nothing_beside_it_is_kept(backend: httpx.Client, path: str) -> None:
    answer = backend.put(path, params={"user_id": "secretive"}, json={OPEN: "The password is hunter2!x9.", "n": 1})
    assert answer.status_code == 422
    assert "hunter2" not in answer.text
    assert kept(backend, path, user_id="secretive") == {OPEN: None}


def test_an_erasure_takes_the_topic_and_leaves_the_agents_own(backend: httpx.Client, path: str) -> None:
    backend.put(path, params={"user_id": "leaving"}, json={OPEN: "planning a trip", "n": 1})
    assert backend.delete("/api/v1/subjects/leaving", params={"user_id": "leaving"}).json()["clean"]
    assert kept(backend, path, user_id="leaving") == {OPEN: None, "n": 1}


def test_an_agent_reads_and_writes_its_own_alone(service: Served, path: str) -> None:
    agent = path.split("/")[4]
    with service.client(service.key(Capability.READ, Capability.WRITE_OWN, agent=agent)) as own:
        assert own.put(path, json={"n": 1}).status_code == 200
    with service.client(service.key(Capability.READ, Capability.WRITE, agent="other")) as other:
        assert other.get(path).status_code == other.put(path, json={}).status_code == 403
    with service.client(service.key(Capability.READ, agent=agent)) as reader:
        assert kept(reader, path)["n"] == 1
        assert reader.put(path, json={}).status_code == 403
    with service.client(service.key(tenant="globex")) as namesake:
        assert kept(namesake, path) == {OPEN: None}
