"""Webhooks: what is told to whom, signed, tried again, ended, and sent again, with a real receiver."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from memory.erasure.memories import erase_memories
from memory.webhooks import add_endpoint, endpoint_of, rotate_secret, send_again
from schema import EventName, Subject
from schema.webhook import Delivery, DeliveryStatus, WebhookEndpoint
from stores.outgoing import Outgoing, Undelivered
from tests.contract.loopback import Answer, Loopback, Request, loopback
from tests.contract.pipeline import Worker, on_every_store_at_length, only
from worker.nights.cleanup import clean_up
from worker.webhooks import send_due

pytest_generate_tests = on_every_store_at_length
LOOPBACK = ["127.0.0.0/8"]


@dataclass
class Hooked:
    """A receiver, the endpoint that names it, and the worker that sends."""

    worker: Worker
    receiver: Loopback
    endpoint: WebhookEndpoint
    secret: str
    ahead: timedelta = timedelta(0)
    """How far the sender's clock is ahead of now."""

    @property
    def now(self) -> datetime:
        return datetime.now(UTC) + self.ahead

    def send(self) -> None:
        outgoing = Outgoing(LOOPBACK, 5.0)
        send_due(self.endpoint.id, self.worker.context, outgoing, until=time.monotonic() + 20, clock=lambda: self.now)

    def answering(self, *statuses: int, **headers: str) -> None:
        left = list(statuses)
        self.receiver.answer = lambda _: Answer(left.pop(0) if len(left) > 1 else left[0], headers=headers)

    def told(self) -> list[dict[str, Any]]:
        return [request.body for request in self.receiver.requests]

    def log(self) -> list[Delivery]:
        return self.worker.context.catalog.webhooks.log(self.endpoint.id)

    def current(self) -> WebhookEndpoint:
        return endpoint_of(self.endpoint.id, None, self.worker.context.catalog)


@pytest.fixture
def tenant(anna: str) -> str:
    return f"tenant-of-{anna}"


@pytest.fixture
def hooked(worker: Worker, tenant: str) -> Iterator[Hooked]:
    with loopback() as receiver:
        receiver.answer = lambda _: Answer(204)
        made = add_endpoint(
            tenant,
            f"{receiver.url}/memory",
            worker.context.catalog,
            by="test",
            now=datetime.now(UTC),
            networks=LOOPBACK,
        )
        yield Hooked(worker, receiver, made.endpoint, made.secret)
        worker.context.catalog.webhooks.remove(made.endpoint.id)


def learn(worker: Worker, user: str, tenant: str, said: str = "I am allergic to peanuts.", number: int = 0) -> Subject:
    worker.hear(user, said, first=number, tenant_id=tenant)
    return Subject(tenant_id=tenant, subject_id=user)


def verified(request: Request, secret: str) -> Any:
    body = json.dumps(request.body, ensure_ascii=False, separators=(",", ":"))
    return Webhook(secret).verify(body, dict(request.headers))


def test_what_happens_is_told_once_signed_and_without_what_anybody_said(
    hooked: Hooked, worker: Worker, anna: str, tenant: str
) -> None:
    memory = only(worker.known(learn(worker, anna, tenant)))
    hooked.send()
    hooked.send()
    [request] = hooked.receiver.requests
    assert request.path == "/memory"
    message = verified(request, hooked.secret)
    assert (message["type"], message["data"]["id"]) == ("memory.created", str(memory.id))
    assert (message["data"]["tenant_id"], message["data"]["subject_id"]) == (tenant, anna)
    assert "peanut" not in json.dumps(request.body)
    [delivery] = hooked.log()
    assert (delivery.status, [attempt.status for attempt in delivery.attempts]) == (DeliveryStatus.DELIVERED, [204])
    assert request.headers["webhook-id"] == delivery.id


def test_another_tenant_hears_nothing_and_an_endpoint_only_what_it_asked_for(
    hooked: Hooked, worker: Worker, anna: str, tenant: str
) -> None:
    catalog, now = worker.context.catalog, datetime.now(UTC)
    deletions = add_endpoint(
        tenant, hooked.endpoint.url, catalog, by="test", now=now, networks=LOOPBACK, events=[EventName.DELETED]
    )
    learn(worker, anna, f"{tenant}-other")
    learn(worker, anna, tenant)
    assert len(hooked.log()) == 1
    assert catalog.webhooks.log(deletions.endpoint.id) == []


def test_what_a_user_called_private_is_not_told_to_the_tenant(
    hooked: Hooked, worker: Worker, anna: str, tenant: str
) -> None:
    subject = learn(worker, anna, tenant, "Remember, and this is private: I am allergic to peanuts.")
    assert [memory.private for memory in worker.known(subject)] == [True]
    hooked.send()
    assert (hooked.told(), hooked.log()) == ([], [])


def test_a_summary_is_what_the_memory_says_when_it_is_sent(
    worker: Worker, hooked: Hooked, anna: str, tenant: str
) -> None:
    catalog, now = worker.context.catalog, datetime.now(UTC)
    telling = add_endpoint(
        tenant, hooked.endpoint.url, catalog, by="test", now=now, networks=LOOPBACK, with_summaries=True
    )
    subject = learn(worker, anna, tenant)
    learn(worker, anna, tenant, "My sister lives in Lisbon.", 1)
    gone, stays = worker.known(subject)
    erase_memories(subject, [gone.id], worker.context, by="test", reason="", now=now)
    send_due(telling.endpoint.id, worker.context, Outgoing(LOOPBACK, 5.0), until=time.monotonic() + 20)
    told = {(body["type"], body["data"]["id"]): body["data"].get("summary") for body in hooked.told()}
    assert told == {("memory.created", str(stays.id)): stays.summary, ("memory.deleted", str(gone.id)): None}


def test_what_is_refused_comes_again_with_growing_pauses_under_its_own_id(
    hooked: Hooked, worker: Worker, anna: str, tenant: str
) -> None:
    learn(worker, anna, tenant)
    hooked.answering(500, 503, 200)
    for ahead in (timedelta(0), timedelta(seconds=10), timedelta(minutes=8)):
        hooked.ahead = ahead
        hooked.send()
    [delivery] = hooked.log()
    assert [attempt.status for attempt in delivery.attempts] == [500, 503, 200]
    assert delivery.status is DeliveryStatus.DELIVERED
    assert {request.headers["webhook-id"] for request in hooked.receiver.requests} == {delivery.id}


def test_a_receiver_that_asks_for_time_gets_it(hooked: Hooked, worker: Worker, anna: str, tenant: str) -> None:
    learn(worker, anna, tenant)
    hooked.answering(429, **{"Retry-After": "3600"})
    hooked.send()
    [delivery] = hooked.log()
    assert delivery.next_at is not None
    assert delivery.next_at - hooked.now > timedelta(minutes=59)


def test_a_receiver_that_is_gone_is_told_nothing_more_until_somebody_resumes_it(
    hooked: Hooked, worker: Worker, anna: str, tenant: str
) -> None:
    learn(worker, anna, tenant)
    hooked.answering(410)
    hooked.send()
    assert "410" in str(hooked.current().ended_because)
    learn(worker, anna, tenant, "My sister lives in Lisbon.", 1)
    assert [delivery.status for delivery in hooked.log()] == [DeliveryStatus.FAILED]
    worker.context.catalog.webhooks.resume(hooked.endpoint.id)
    hooked.answering(200)
    send_again(hooked.current(), hooked.log()[0].id, worker.context.catalog, now=hooked.now)
    hooked.send()
    assert [delivery.status for delivery in hooked.log()] == [DeliveryStatus.DELIVERED]


def test_a_receiver_that_takes_nothing_in_three_days_is_given_up(
    hooked: Hooked, worker: Worker, anna: str, tenant: str
) -> None:
    learn(worker, anna, tenant)
    hooked.answering(500)
    tries = 0
    while hooked.log()[0].status is DeliveryStatus.WAITING:
        hooked.send()
        hooked.ahead += timedelta(hours=30)
        tries += 1
    assert (tries, hooked.log()[0].status) == (10, DeliveryStatus.FAILED)
    assert "three days" in str(hooked.current().ended_because)


def test_a_secret_is_rotated_without_a_message_that_either_refuses(
    hooked: Hooked, worker: Worker, anna: str, tenant: str
) -> None:
    now = datetime.now(UTC)
    rotated = rotate_secret(hooked.endpoint, timedelta(hours=1), worker.context.catalog, now=now)
    learn(worker, anna, tenant)
    hooked.send()
    [request] = hooked.receiver.requests
    assert verified(request, hooked.secret) == verified(request, rotated.secret)
    hooked.ahead = timedelta(hours=2)
    send_again(hooked.endpoint, hooked.log()[0].id, worker.context.catalog, now=now)
    hooked.send()
    late = hooked.receiver.requests[-1]
    assert len(late.headers["webhook-signature"].split()) == 1
    with pytest.raises(WebhookVerificationError):
        Webhook(hooked.secret).verify("{}", dict(late.headers))


def test_whoever_waits_longest_is_sent_to_first_and_nobody_starves(worker: Worker, tenant: str, anna: str) -> None:
    catalog = worker.context.catalog
    made = [
        add_endpoint(
            tenant, "https://example.org/hook", catalog, by="test", now=datetime.now(UTC), networks=LOOPBACK
        ).endpoint.id
        for _ in range(3)
    ]
    learn(worker, anna, tenant)
    now = datetime.now(UTC) + timedelta(days=1)
    catalog.webhooks.claim(made[1], now, now + timedelta(seconds=1), 10)
    later = now + timedelta(days=1)
    order = [id_ for id_ in catalog.webhooks.due(later, 1_000) if id_ in made]
    assert sorted(order) == sorted(made)
    assert order[-1] == made[1]
    assert len(catalog.webhooks.due(later, 1)) == 1
    for endpoint_id in made:
        catalog.webhooks.remove(endpoint_id)


def test_nothing_waits_for_an_endpoint_that_ended(hooked: Hooked, worker: Worker, anna: str, tenant: str) -> None:
    webhooks = worker.context.catalog.webhooks
    learn(worker, anna, tenant)
    [delivery] = hooked.log()
    webhooks.end(hooked.endpoint.id, "it answered 410", datetime.now(UTC))
    webhooks.note(delivery)
    assert hooked.log()[0].status is DeliveryStatus.WAITING
    clean_up(worker.context, datetime.now(UTC))
    assert hooked.log()[0].status is DeliveryStatus.FAILED
    webhooks.note(delivery)
    webhooks.resume(hooked.endpoint.id)
    hooked.send()
    assert hooked.told() == []


def test_what_a_killed_worker_had_in_hand_is_sent_by_another(
    hooked: Hooked, worker: Worker, anna: str, tenant: str
) -> None:
    learn(worker, anna, tenant)
    webhooks = worker.context.catalog.webhooks
    assert len(webhooks.claim(hooked.endpoint.id, hooked.now, hooked.now + timedelta(seconds=60), 8)) == 1
    hooked.send()
    assert hooked.told() == []
    hooked.ahead = timedelta(seconds=61)
    assert webhooks.due(hooked.now, 10_000).count(hooked.endpoint.id) == 1
    hooked.send()
    assert len(hooked.told()) == 1


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]"])
def test_nothing_goes_to_a_private_address_whatever_it_is_called(alone: Worker, host: str) -> None:
    with loopback() as receiver:
        url = receiver.url.replace("127.0.0.1", host)
        with pytest.raises(Undelivered, match="private_address"):
            Outgoing([], 5.0).post(url, {}, b"{}")
        assert receiver.connections == 0


def test_a_name_that_means_a_private_address_a_moment_later_is_not_looked_up_again(
    alone: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    meant = iter(["93.184.216.34", "127.0.0.1"])
    asked: list[str] = []

    def resolve(host: str, port: int, **_: Any) -> list[Any]:
        asked.append(host)
        return [(2, 1, 6, "", (next(meant), port))]

    connected: list[str] = []

    def connect(_self: Any, host: str, *_: Any) -> Any:
        connected.append(host)
        raise Undelivered("connection")

    monkeypatch.setattr("stores.outgoing.socket.getaddrinfo", resolve)
    monkeypatch.setattr("httpcore.SyncBackend.connect_tcp", connect)
    with pytest.raises(Undelivered, match="connection"):
        Outgoing([], 5.0).post("https://rebinding.example/", {}, b"{}")
    assert (asked, connected) == (["rebinding.example"], ["93.184.216.34"])


def test_plain_http_goes_to_networks_of_the_settings_alone(alone: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    public = [(2, 1, 6, "", ("93.184.216.34", 80))]
    monkeypatch.setattr("stores.outgoing.socket.getaddrinfo", lambda *_, **__: public)
    with pytest.raises(Undelivered, match="plain_http"):
        Outgoing([], 5.0).post("http://example.com/", {}, b"{}")


@pytest.mark.parametrize("fault", ["silent", "dripping"])
def test_a_receiver_that_takes_its_time_costs_no_more_than_the_timeout(alone: Worker, fault: str) -> None:
    with loopback() as receiver:
        receiver.answer = lambda _: Answer(200, body=b"x" * 1000, fault=fault)
        try:
            assert Outgoing(LOOPBACK, 1.0).post(receiver.url, {}, b"{}").status == 200
        except Undelivered as error:
            assert error.reason == "timeout"
        assert receiver.waited_out == 0
