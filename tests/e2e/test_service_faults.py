"""A service that dies under its clients, and stores that go away: nothing accepted is lost, nothing comes twice."""

from __future__ import annotations

import json
import threading
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import pytest
from sqlalchemy import make_url

from afterturn_client import Accepted, Client, Event
from memory.events import stream_key
from memory.keys import issue
from schema import Capability, Subject
from stores.catalog import open_catalog
from stores.redis import open_redis
from tests.conftest import free_port
from tests.e2e.command import Home, wait_until
from tests.e2e.killed import hand_over_what_the_service_left, killable, parked
from tests.e2e.service import settings_in
from tests.fleet.bad_broker import BadBroker, Proxy
from tests.postgres import PostgresServer

pytestmark = pytest.mark.long
TURNS, USERS, AHEAD = 5_000, 20, 200
EVENTS, CHUNK = 10_000, 100
PATIENT_MS: Final = 20_000.0
"""How long a turn may wait for the disk here: whether each is accepted in time is measured, not asserted."""


@contextmanager
def away(proxy: Proxy) -> Iterator[None]:
    proxy.close()
    yield
    proxy.open()


@pytest.mark.timeout(600)
def test_five_thousand_turns_arrive_once_and_in_order_through_killed_services_and_stores_that_go_away(
    tmp_path: Path, postgres: PostgresServer, postgres_catalog: str
) -> None:
    postgres.empty(postgres_catalog)
    url = make_url(postgres_catalog)
    proxy, home, port = Proxy(int(url.port or 5432)), Home.at(tmp_path), free_port()
    behind = url.set(host="127.0.0.1", port=proxy.port).render_as_string(hide_password=False)
    run = uuid.uuid4().hex[:8]
    users = [f"{run}-{number}" for number in range(USERS)]
    said: dict[str, list[str]] = {user: [] for user in users}
    with closing(BadBroker(tmp_path / "broker")) as broker, closing(proxy):
        settings = settings_in(home.data, broker.url).model_copy(update={"catalog_url": postgres_catalog})
        with closing(open_catalog(settings)) as catalog:
            can = (Capability.TURNS, Capability.ACT_AS)
            key = issue("backend", "acme", can, catalog, by="test", now=datetime.now(UTC)).secret

        def enqueue() -> None:
            for number in range(TURNS):
                user, text = users[number % USERS], f"I have {number} cats."
                # Never far ahead of what was sent, so that each fault meets turns under way.
                wait_until(lambda: client.spooled().waiting < AHEAD, "the service takes some turns", seconds=300)
                turn = client.enqueue(user, [{"role": "user", "content": text}], turn_id=f"t{number}")
                assert turn.accepted is Accepted.SPOOLED
                said[user].append(turn.turn_id)
                if number % 10 == 0:
                    client.enqueue(user, [{"role": "user", "content": text}], turn_id=f"t{number}")

        def sent() -> int:
            return sum(map(len, said.values())) - client.spooled().waiting

        def some_more(count: int) -> None:
            goal = min(TURNS, sent() + count)
            wait_until(lambda: sent() >= goal, f"{goal} turns were sent", seconds=200)

        with Client(f"http://127.0.0.1:{port}", key, spool_dir=tmp_path / "spool", budget_ms=PATIENT_MS) as client:
            enqueuing = threading.Thread(target=enqueue)
            enqueuing.start()
            with killable(home, broker.url, port, AFTERTURN_CATALOG_URL=behind):
                some_more(700)
            with killable(home, broker.url, port, AFTERTURN_CATALOG_URL=behind):
                some_more(700)
                with broker.gone():
                    some_more(300)
                some_more(300)
            with killable(home, broker.url, port, AFTERTURN_CATALOG_URL=behind):
                some_more(500)
                with away(proxy):
                    # Nobody knows the key: the turns stay with the client.
                    wait_until(lambda: client.spooled().waiting >= AHEAD, "turns wait", seconds=60)
                some_more(500)
                with broker.killed():
                    some_more(300)
                some_more(300)
            with killable(home, broker.url, port, AFTERTURN_CATALOG_URL=behind):
                enqueuing.join(300)
                assert not enqueuing.is_alive()
                assert client.flush(200) == 0
            assert client.rejected() == []
        hand_over_what_the_service_left(settings)
        assert {user: list(parked(broker.direct_url, home.data, user, "acme")) for user in users} == said
    assert sum(map(len, said.values())) == TURNS


@pytest.mark.timeout(600)
def test_of_ten_thousand_events_a_listener_hears_each_once_and_in_order_over_a_service_that_is_killed(
    broker_url: str, tmp_path: Path
) -> None:
    home, port, user = Home.at(tmp_path), free_port(), f"listener-{uuid.uuid4().hex[:8]}"
    settings = settings_in(home.data, broker_url)
    heard: list[Event] = []

    def announce() -> None:
        """Announce each event at least once, never far ahead of what is heard."""
        key, redis = stream_key(Subject(tenant_id="default", subject_id=user)), open_redis(settings)
        for first in range(0, EVENTS, CHUNK):
            wait_until(lambda start=first: len(heard) > start - 5 * CHUNK, "events are heard", seconds=300)  # type: ignore[misc]
            numbers = [*range(first, first + CHUNK), *range(first, first + CHUNK, 7)]
            pipeline = redis.pipeline(transaction=False)
            for number in numbers:
                payload = json.dumps({"turn_id": f"t{number}"})
                fields = {"event_id": number, "event": "memory.error", "at": "2026-11-02", "payload": payload}
                pipeline.xadd(key, fields, maxlen=settings.event_stream_length, approximate=True)  # type: ignore[arg-type]
            pipeline.execute()
        redis.close()

    def listen() -> None:
        for event in client.events(user_id=user, after="0"):
            heard.append(event)
            if len(heard) == EVENTS:
                return

    with Client(f"http://127.0.0.1:{port}", spool_dir=tmp_path / "spool") as client:
        threads = [threading.Thread(target=run, daemon=True) for run in (announce, listen)]
        for thread in threads:
            thread.start()
        for goal in (1_500, 4_000, 7_000, EVENTS):
            with killable(home, broker_url, port):
                wait_until(lambda goal=goal: len(heard) >= goal, f"{goal} are heard", seconds=200)  # type: ignore[misc]
        for thread in threads:
            thread.join(30)
    assert [event.name for event in heard if event.name != "memory.error"] == []
    assert [event.data["turn_id"] for event in heard] == [f"t{number}" for number in range(EVENTS)]
