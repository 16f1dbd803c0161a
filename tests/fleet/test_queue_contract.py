"""The queue: what any backend may send, and what becomes of it."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
import uuid
from typing import Any

import pytest

from producers import Accepted
from schema import Status
from schema.errors import ConflictingTurn
from stores.queue import DEAD_LETTER_QUEUE, INGEST_QUEUE
from tests.fleet.fleet import Fleet, wait_until
from tests.turns import a_turn, subject

SEND_BY_NAME = """
import json, sys
from celery import Celery
turn = json.loads(sys.argv[2])
Celery(broker=sys.argv[1]).send_task("memory.ingest_turn", args=[turn], queue="memory_ingest_queue", ignore_result=True)
"""


def summaries(fleet: Fleet, user: str) -> list[str]:
    return sorted(memory.summary for memory in fleet.stores.catalog.list_memories(subject(user)))


def dead_letters(fleet: Fleet) -> list[dict[str, Any]]:
    messages = [json.loads(message) for message in fleet.redis.lrange(DEAD_LETTER_QUEUE, 0, -1)]
    return [json.loads(base64.b64decode(message["body"]))[0][0] for message in messages]


def test_an_enqueued_turn_becomes_a_memory(running: Fleet) -> None:
    assert running.producer.enqueue(a_turn("anna", 1, "I live in Lisbon.")) in (Accepted.ADDED, Accepted.SPOOLED)
    running.wait_until_idle()
    assert summaries(running, "anna") == ["Anna lives in Lisbon."]


def test_a_plain_message_from_another_process_becomes_the_same_memory(running: Fleet) -> None:
    turn = json.dumps(a_turn("bert", 1, "I live in Lisbon."))
    subprocess.run([sys.executable, "-c", SEND_BY_NAME, running.settings.broker_url, turn], check=True)
    wait_until(lambda: bool(summaries(running, "bert")), "the turn is remembered")
    assert summaries(running, "bert") == ["Bert lives in Lisbon."]


def test_a_turn_that_comes_again_changes_nothing(running: Fleet) -> None:
    turn = a_turn("carla", 1, "I work at Acme as a nurse.")
    for _ in range(3):
        running.producer.enqueue(turn)
    running.wait_until_idle()
    before = running.stores.catalog.list_memories(subject("carla"))
    assert running.producer.enqueue(turn) is Accepted.DONE
    for _ in range(3):
        subprocess.run([sys.executable, "-c", SEND_BY_NAME, running.settings.broker_url, json.dumps(turn)], check=True)
    wait_until(lambda: running.redis.llen(INGEST_QUEUE) == 0, "the queue is empty")
    running.wait_until_idle()
    assert running.stores.catalog.list_memories(subject("carla")) == before
    assert before[0].access_count == 0


def test_another_turn_under_the_same_id_is_refused_to_the_producer_and_dead_lettered_from_the_queue(
    running: Fleet,
) -> None:
    running.producer.enqueue(a_turn("dora", 1, "I live in Lisbon."))
    running.wait_until_idle()
    other = a_turn("dora", 1, "I live in Berlin.")
    with pytest.raises(ConflictingTurn):
        running.producer.enqueue(other)
    subprocess.run([sys.executable, "-c", SEND_BY_NAME, running.settings.broker_url, json.dumps(other)], check=True)
    wait_until(lambda: any(letter["turn"] == other for letter in dead_letters(running)), "the dead letter is there")
    assert summaries(running, "dora") == ["Dora lives in Lisbon."]


@pytest.mark.parametrize(
    ("name", "broken"),
    [
        ("a version that nobody knows", {"schema_version": 99}),
        ("no time zone", {"occurred_at": "2026-11-02T08:00:00"}),
        ("no messages", {"messages": []}),
    ],
)
def test_a_message_that_is_no_turn_becomes_a_dead_letter_whole(
    running: Fleet, name: str, broken: dict[str, Any]
) -> None:
    turn = a_turn("emil", 1, "I live in Lisbon.") | broken
    subprocess.run([sys.executable, "-c", SEND_BY_NAME, running.settings.broker_url, json.dumps(turn)], check=True)
    wait_until(lambda: any(letter["turn"] == turn for letter in dead_letters(running)), f"a dead letter for {name}")


def element(body: bytes, **headers: Any) -> bytes:
    """A message as it lies in the list of the queue."""
    properties = {
        "delivery_tag": str(uuid.uuid4()),
        "delivery_info": {"exchange": INGEST_QUEUE, "routing_key": INGEST_QUEUE},
        "body_encoding": "base64",
    }
    envelope = {
        "body": base64.b64encode(body).decode(),
        "content-type": "application/json",
        "content-encoding": "utf-8",
        "headers": {"task": "memory.ingest_turn", "id": str(uuid.uuid4())} | headers,
        "properties": properties,
    }
    return json.dumps(envelope).encode()


@pytest.mark.parametrize(
    "item",
    [
        b"no JSON, of velvet",
        b'{"no": "message, of velvet"}',
        b'{"properties": {"delivery_tag": "1"}, "body": "of velvet"}',
        element(b"no JSON in it, of velvet"),
        element(b'{"no": "list, of velvet"}'),
        element(b'[["two", "arguments of velvet"], {}, {}]'),
        element(b'[[], {"turn": "by its name, of velvet"}, {}]'),
        element(b'[["velvet"], {}, {}]', task="memory.of_another_time"),
    ],
)
def test_what_is_no_task_becomes_a_dead_letter_whole_and_ends_no_worker(running: Fleet, item: bytes) -> None:
    before = len(dead_letters(running))
    running.redis.lpush(INGEST_QUEUE, item)
    wait_until(lambda: len(dead_letters(running)) > before, "the dead letter is there")
    assert "velvet" in json.dumps(dead_letters(running)[0]["turn"])
    assert "velvet" not in running.log()
    wait_until(lambda: running.redis.hlen("unacked") == 0, "it does not come back")
    assert [worker.poll() for worker in running.workers] == [None]


def test_a_changed_fact_supersedes_and_both_are_linked(running: Fleet) -> None:
    running.producer.enqueue(a_turn("fred", 1, "I live in Lisbon."))
    running.producer.enqueue(a_turn("fred", 2, "I moved to Berlin."))
    running.wait_until_idle()
    memories = running.stores.catalog.list_memories(subject("fred"), statuses=tuple(Status))
    [old] = [memory for memory in memories if memory.status is Status.SUPERSEDED]
    [new] = [memory for memory in memories if memory.status is Status.ACTIVE]
    assert ("Lisbon" in old.summary, "Berlin" in new.summary) == (True, True)
    assert (old.superseded_by, new.supersedes) == (new.id, (old.id,))


def test_nothing_stays_in_redis_for_ever_but_the_queues_own_bindings(running: Fleet) -> None:
    running.producer.enqueue(a_turn("gina", 1, "I love black coffee."))
    running.wait_until_idle()
    lasting = {key for key in running.redis.scan_iter() if running.redis.ttl(key) == -1}
    kept_by_celery = {key for key in lasting if key.startswith((b"_kombu", b"unacked", b"afterturn:beat:"))}
    assert lasting - kept_by_celery - {DEAD_LETTER_QUEUE.encode()} == set()
