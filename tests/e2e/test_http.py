"""The service: credentials, turns, failures, events."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from interfaces.http.events import _ASKED_AGAIN_SECONDS
from memory.events import stream_key
from memory.keys import issue, revoke, rotate
from schema import Capability, Subject
from stores.queue import create_celery, open_mailbox
from stores.redis import open_redis
from tests.e2e.service import EVERYTHING, Served, served, settings_in

WHEN = datetime(2026, 11, 2, 8, tzinfo=UTC).isoformat()


@pytest.fixture
def backend(service: Served) -> Iterator[httpx.Client]:
    """A chat backend that asks for its users."""
    with service.client(service.key()) as client:
        yield client


def said(user: str | None = "anna", text: str = "I live in Lisbon.", **more: Any) -> dict[str, Any]:
    turn = {"messages": [{"role": "user", "content": text}], "occurred_at": WHEN, **more}
    return turn if user is None else {**turn, "user_id": user}


# -- credentials --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("headers", [{}, {"X-API-Key": "at_wrong"}, {"Authorization": "Bearer at_wrong"}])
def test_who_has_no_key_in_force_is_told_how_to_send_one(service: Served, headers: dict[str, str]) -> None:
    answer = httpx.post(f"{service.url}/api/v1/turns", json=said(), headers=headers, timeout=30.0)
    assert answer.status_code == 401
    assert "X-API-Key" in answer.json()["detail"]


def test_a_key_may_be_sent_as_a_bearer_token(service: Served) -> None:
    headers = {"Authorization": f"Bearer {service.key()}"}
    assert httpx.post(f"{service.url}/api/v1/turns", json=said(), headers=headers, timeout=30.0).status_code == 202


def test_a_key_without_the_capability_may_not_enqueue(service: Served) -> None:
    with service.client(service.key(Capability.READ)) as client:
        answer = client.post("/api/v1/turns", json=said())
    assert answer.status_code == 403
    assert "turns" in answer.json()["detail"]


def test_a_key_of_one_user_names_no_other(service: Served) -> None:
    with service.client(service.key(user="bert")) as client:
        assert client.post("/api/v1/turns", json=said("anna")).status_code == 403
        assert client.post("/api/v1/turns", json=said("bert")).status_code == 202
        assert client.post("/api/v1/turns", json=said(None)).status_code == 202


def test_a_key_without_act_as_names_nobody(service: Served) -> None:
    with service.client(service.key(Capability.TURNS)) as client:
        assert client.post("/api/v1/turns", json=said("anna")).status_code == 403


# -- turns --------------------------------------------------------------------------------------------------------


def pending(service: Served, user: str) -> list[dict[str, Any]]:
    redis = open_redis(service.settings)
    mailbox = open_mailbox(service.settings, redis, create_celery(service.settings))
    parked = mailbox.parked(Subject(tenant_id="acme", subject_id=user))
    bodies = {turn_id: one.body for turn_id, one in parked.items()}
    redis.close()
    return [json.loads(body) for body in bodies.values()]


@pytest.mark.parametrize("waited", ["soon", "-1", "inf", "nan"])
def test_a_turn_that_says_no_number_of_seconds_for_how_long_it_waited_is_refused(
    backend: httpx.Client, waited: str
) -> None:
    answer = backend.post("/api/v1/turns", json=said("impatient"), headers={"Afterturn-Waited-Seconds": waited})
    assert answer.status_code == 422
    assert "Afterturn-Waited-Seconds".lower() in answer.text.lower()


def test_a_turn_that_was_answered_with_202_waits_for_the_fleet(service: Served, backend: httpx.Client) -> None:
    answer = backend.post("/api/v1/turns", json=said("waits", turn_id="waits-1"))
    assert answer.status_code == 202
    assert answer.json() == {"turn_id": "waits-1", "accepted": "added"}
    assert [(turn["turn_id"], turn["tenant_id"]) for turn in pending(service, "waits")] == [("waits-1", "acme")]


def test_the_same_turn_again_changes_nothing_and_another_under_its_id_is_refused(backend: httpx.Client) -> None:
    key = {"Idempotency-Key": "says-it-again-1"}
    first = backend.post("/api/v1/turns", json=said("says-it-again"), headers=key)
    again = backend.post("/api/v1/turns", json=said("says-it-again"), headers=key)
    other = backend.post("/api/v1/turns", json=said("says-it-again", "I live in Rome."), headers=key)
    assert [answer.status_code for answer in (first, again, other)] == [202, 202, 409]
    assert [answer.json()["accepted"] for answer in (first, again)] == ["added", "pending"]


def test_a_request_that_is_sent_again_is_known_under_the_rotated_key_and_under_no_other(service: Served) -> None:
    issued = issue("backend", "acme", EVERYTHING, service.catalog, by="test", now=datetime.now(UTC))
    rotated = rotate(issued.key.id, timedelta(hours=1), service.catalog, by="test", now=datetime.now(UTC))
    turn = {"messages": [{"role": "user", "content": "I live in Lisbon."}], "user_id": "rotates"}
    statement = {"content": "Rotates has two cats.", "user_id": "rotates"}
    kept, sent = [], []
    for secret in (issued.secret, rotated.secret, service.key()):
        with service.client(secret) as client:
            sent.append(client.post("/api/v1/turns", json=turn, headers={"Idempotency-Key": "rotates-1"}))
            kept.append(client.post("/api/v1/memories/", json=statement, headers={"Idempotency-Key": "rotates-2"}))
    assert [answer.json()["accepted"] for answer in sent[:2]] == ["added", "pending"]
    assert [answer.json()["outcome"] for answer in kept] == ["created", "created", "updated"]


def test_of_a_turn_that_is_sent_again_the_first_moment_stands(service: Served, backend: httpx.Client) -> None:
    turn = {key: value for key, value in said("sent-again", turn_id="1").items() if key != "occurred_at"}
    for more in ({}, {}, {"occurred_at": WHEN}):
        assert backend.post("/api/v1/turns", json=turn | more).status_code == 202
    assert backend.post("/api/v1/turns", json=said("sent-again", "I live in Berlin.", turn_id="1")).status_code == 409
    [parked] = pending(service, "sent-again")
    assert datetime.fromisoformat(parked["occurred_at"]) != datetime.fromisoformat(WHEN)


# -- failures -----------------------------------------------------------------------------------------------------


def test_a_wrong_field_is_named_and_what_it_held_is_not_told(backend: httpx.Client) -> None:
    answer = backend.post("/api/v1/turns", json=said(messages=[{"role": "me", "content": "my pin is 4711"}]))
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    assert [wrong["field"] for wrong in answer.json()["errors"]] == ["body.messages.0.role"]
    assert "4711" not in answer.text


@pytest.mark.parametrize(("method", "path", "status"), [("GET", "/nowhere", 404), ("DELETE", "/api/v1/turns", 405)])
def test_the_frameworks_own_failures_are_problem_documents_too(
    backend: httpx.Client, method: str, path: str, status: int
) -> None:
    answer = backend.request(method, path)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
    assert answer.json()["status"] == status


@pytest.mark.parametrize("announces_its_length", [True, False])
def test_a_body_that_is_too_large_is_refused(
    service: Served, backend: httpx.Client, announces_its_length: bool
) -> None:
    body = b"x" * (service.settings.http_max_body_bytes + 1)
    content = body if announces_its_length else iter([body[:1000], body[1000:]])
    assert backend.post("/api/v1/turns", content=content).status_code == 413


def test_an_answer_has_the_id_of_its_request(backend: httpx.Client) -> None:
    assert backend.get("/livez", headers={"X-Request-ID": "mine-1"}).headers["X-Request-ID"] == "mine-1"
    assert len(backend.get("/livez", headers={"X-Request-ID": "no id!"}).headers["X-Request-ID"]) == 32


# -- health -------------------------------------------------------------------------------------------------------


def test_a_service_whose_stores_answer_is_ready(backend: httpx.Client) -> None:
    assert backend.get("/livez").json() == {"status": "ok"}
    assert backend.get("/readyz").json() == {"status": "ok", "stores": {"broker": "ok", "catalog": "ok"}}
    for path in ("/livez", "/readyz"):
        watched = backend.head(path)
        assert (watched.status_code, watched.content) == (200, b"")


def test_a_service_without_a_broker_takes_turns_and_says_that_it_is_degraded(tmp_path: Any) -> None:
    with served(settings_in(tmp_path, "redis://127.0.0.1:1/0"), anonymous=True) as lonely, lonely.client() as client:
        assert client.get("/livez").status_code == 200
        answer = client.get("/readyz")
        assert answer.status_code == client.head("/readyz").status_code == 200
        assert answer.json() == {"status": "degraded", "stores": {"broker": "away", "catalog": "ok"}}
        # The turn is on this machine's disk: it was accepted.
        assert client.post("/api/v1/turns", json=said()).json()["accepted"] == "spooled"


def test_a_key_where_none_was_made_is_refused_with_what_to_do(tmp_path: Any, broker_url: str) -> None:
    with served(settings_in(tmp_path, broker_url), anonymous=True) as keyless:
        refused = httpx.get(
            f"{keyless.url}/api/v1/memories/?user_id=anna", headers={"X-API-Key": "at_wrong"}, timeout=30.0
        )
        assert refused.status_code == 401
        assert "no key was made here yet" in refused.json()["detail"]
        keyless.key()
        refused = httpx.get(
            f"{keyless.url}/api/v1/memories/?user_id=anna", headers={"X-API-Key": "at_wrong"}, timeout=30.0
        )
        assert "send a key that is in force" in refused.json()["detail"]


# -- events -------------------------------------------------------------------------------------------------------


def announce(service: Served, user: str, *event_ids: int) -> None:
    redis = open_redis(service.settings)
    for event_id in event_ids:
        fields: dict[Any, Any] = {"event_id": event_id, "event": "memory.error", "at": WHEN, "payload": "{}"}
        redis.xadd(stream_key(Subject(tenant_id="acme", subject_id=user)), fields)
    redis.close()


def hear(client: httpx.Client, user: str, count: int, after: str) -> list[tuple[str, str]]:
    """The ids and names of the next events behind an id."""
    heard: list[tuple[str, str]] = []
    message: dict[str, str] = {}
    with client.stream("GET", "/api/v1/events", params={"user_id": user}, headers={"Last-Event-ID": after}) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        for line in answer.iter_lines():
            name, _, value = line.partition(": ")
            message[name] = value
            if not line and "event" in message:
                heard.append((message["id"], message["event"]))
            if not line:
                message = {}
            if len(heard) == count:
                return heard
    raise AssertionError("the stream ended")


def test_a_listener_goes_on_where_it_left_off_and_hears_each_event_once(service: Served, backend: httpx.Client) -> None:
    announce(service, "emil", 1, 2, 2, 3)
    first = hear(backend, "emil", 2, "0")
    announce(service, "emil", 2, 4)
    rest = hear(backend, "emil", 2, first[-1][0])
    ids = [id_ for id_, _ in first + rest]
    assert len(ids) == len(set(ids)) == 4


def test_a_listener_whose_place_is_gone_is_told_of_the_gap(service: Served, backend: httpx.Client) -> None:
    announce(service, "frida", 7)
    assert hear(backend, "frida", 2, "1-1")[0][1] == "gap"


@pytest.mark.parametrize("nowhere", ["18446744073709551616", "1-99999999999999999999", "last"])
def test_a_place_that_no_stream_has_is_refused(backend: httpx.Client, nowhere: str) -> None:
    """Not a stream that ends at once: whoever listens would come back for ever."""
    refused = backend.get("/api/v1/events", params={"user_id": "nora"}, headers={"Last-Event-ID": nowhere})
    assert refused.status_code == 422


def test_an_event_says_when_it_happened_and_which_it_is(service: Served, backend: httpx.Client) -> None:
    announce(service, "ines", 11)
    with backend.stream("GET", "/api/v1/events", params={"user_id": "ines"}, headers={"Last-Event-ID": "0"}) as answer:
        data = next(line.removeprefix("data: ") for line in answer.iter_lines() if line.startswith("data: "))
    assert json.loads(data) == {"event_id": 11, "at": WHEN}


def test_an_event_comes_as_it_happens(service: Served, backend: httpx.Client) -> None:
    heard: list[tuple[str, str]] = []
    listener = threading.Thread(target=lambda: heard.extend(hear(backend, "gina", 1, "0")))
    listener.start()
    announce(service, "gina", 1)
    listener.join(20)
    assert [name for _, name in heard] == ["memory.error"]


def test_an_event_comes_to_each_of_many_listeners(service: Served) -> None:
    """More than a Redis client has connections unless it is told how many it may have."""
    many, user = 150, "hugo"
    announce(service, user, 1)

    async def all_hear() -> int:
        headers = {"X-API-Key": service.key(), "Last-Event-ID": "0"}
        limits = httpx.Limits(max_connections=None)
        everybody_heard = asyncio.Barrier(many)

        async def one(client: httpx.AsyncClient) -> bool:
            # Whoever is dropped by a broker that is slow on a busy machine comes back, as a browser does.
            while True:
                async with client.stream("GET", "/api/v1/events", params={"user_id": user}) as answer:
                    async for line in answer.aiter_lines():
                        if line == "event: memory.error":
                            # Nobody leaves before all of them hear at the same time.
                            await everybody_heard.wait()
                            return True

        async with httpx.AsyncClient(base_url=service.url, headers=headers, limits=limits, timeout=60) as client:
            return sum(await asyncio.gather(*(one(client) for _ in range(many))))

    assert asyncio.run(all_hear()) == many


def test_a_stream_ends_when_its_key_is_revoked_and_tells_nothing_more(service: Served) -> None:
    secret = service.key(tenant="acme", user="revoked")
    [key] = [key for key in service.catalog.keys.all("acme") if key.user_id == "revoked"]
    announce(service, "revoked", 1)
    heard: list[str] = []
    with (
        service.client(secret) as client,
        client.stream("GET", "/api/v1/events", headers={"Last-Event-ID": "0"}) as answer,
    ):
        for line in answer.iter_lines():
            if line.startswith("event:"):
                heard.append(line)
                revoke(key.id, service.catalog, now=datetime.now(UTC))
                threading.Timer(2 * _ASKED_AGAIN_SECONDS, announce, (service, "revoked", 2)).start()
    assert heard == ["event: memory.error"]


def test_a_strangers_events_are_not_told(service: Served) -> None:
    with service.client(service.key(Capability.READ, user="bert")) as client:
        answer = client.get("/api/v1/events", params={"subject_id": "anna"})
    assert answer.status_code == 403
