"""An id with a slash, quoted in an address, is that id and never a route of the id before the slash."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

import httpx
import pytest

from tests.e2e.service import Served


@pytest.fixture(scope="module")
def backend(service: Served) -> Iterator[httpx.Client]:
    with service.client(service.key()) as client:
        yield client


def remember(backend: httpx.Client, user: str, content: str) -> str:
    made = backend.post("/api/v1/memories/", json={"content": content, "user_id": user})
    assert made.status_code == 201, made.text
    return str(made.json()["memory"]["memory_id"])


def known(backend: httpx.Client, user: str) -> list[str]:
    items = backend.get("/api/v1/memories/", params={"user_id": user}).json()["items"]
    return [item["content"] for item in items]


def about(user: str) -> str:
    return f"/api/v1/subjects/{quote(user, safe='')}"


@pytest.mark.parametrize("slash", ["%2F", "%2f"])
def test_a_subject_whose_id_has_slashes_is_asked_about_and_erased_as_any_other(
    backend: httpx.Client, user: str, slash: str
) -> None:
    whose = f"org/{user}/of ann"
    remember(backend, whose, "Ann plays the violin.")
    path, asked = about(whose).replace("%2F", slash), {"user_id": whose}

    assert "violin" in backend.get(f"{path}/context", params={"question": "music", **asked}).json()["text"]
    assert "violin" in backend.get(f"{path}/export", params=asked).text
    assert backend.put(f"{path}/topics/{quote('food/drink', safe='')}", params=asked).status_code < 300
    assert "food/drink" in str(backend.get(f"{path}/preferences", params=asked).json())
    proof = backend.delete(path, params=asked).json()
    assert (proof["clean"], proof["removed"]["catalog: memories"]) == (True, 1)
    assert known(backend, whose) == []


@pytest.mark.parametrize(
    ("method", "route"),
    [("DELETE", "page-sessions"), ("POST", "page-link"), ("PATCH", "preferences"), ("GET", "context")],
)
def test_no_id_with_a_slash_reaches_a_route_of_the_id_before_it(
    backend: httpx.Client, user: str, method: str, route: str
) -> None:
    remember(backend, user, "Vic plays the violin.")
    answered = backend.request(method, f"{about(user)}%2F{route}", params={"user_id": f"{user}/{route}"})
    if method == "DELETE":
        assert answered.json()["removed"]["index"] == 0, "it is the erasure of another subject"
    else:
        assert answered.status_code == 405
        assert "DELETE" in answered.headers["Allow"]
    assert known(backend, user) == ["Vic plays the violin."]


def test_a_document_and_an_agent_are_found_by_ids_with_slashes(service: Served, user: str) -> None:
    letter, agent = f"/api/v1/documents/{user}%2Fletter", f"/api/v1/agents/{user}%2Fhelper/metadata"
    with service.client(service.key(user=user)) as me:
        put = me.put(letter, json={"content": "The lighthouse was painted red."})
        assert put.status_code < 300, put.text
        assert me.get(letter).json()["document_id"] == f"{user}/letter"
        assert me.delete(letter).status_code == 200
        assert me.put(agent, json={"tone": "dry"}).status_code == 200
        assert me.get(agent).json()["tone"] == "dry"
        assert me.get(f"/api/v1/agents/{user}/metadata").json().get("tone") is None


@pytest.mark.parametrize("control", ["%1F", "%1f", "%1E"])
def test_what_stands_for_a_slash_within_the_service_is_no_slash_from_outside(
    backend: httpx.Client, user: str, control: str
) -> None:
    whose = f"org/{user}"
    remember(backend, whose, "Ann plays the violin.")
    assert backend.delete(f"/api/v1/subjects/org{control}{user}", params={"user_id": whose}).status_code == 422
    assert backend.delete(f"/api/v1/subjects/org%252F{user}", params={"user_id": whose}).status_code in (200, 403)
    assert known(backend, whose) == ["Ann plays the violin."]
