"""The producer on a real broker: parked first, then announced by a message that any Celery worker understands."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import pytest
from kombu.exceptions import OperationalError
from redis import Redis

from memory.mailbox import Batch, Mailbox
from memory.queue import INGEST_QUEUE, create_celery, open_mailbox
from memory.schema import Subject, Turn
from memory.settings import Settings
from producers import Accepted, ConflictingTurn, InvalidTurn, Producer
from tests.turns import a_turn, subject

LEASE_SECONDS = 60.0


@pytest.fixture
def redis(broker_url: str) -> Iterator[Redis]:
    client = Redis.from_url(broker_url)
    client.flushdb()
    yield client
    client.close()


@pytest.fixture
def settings(broker_url: str, tmp_path: Path) -> Settings:
    return Settings(broker_url=broker_url, data_dir=tmp_path, sweep_seconds=60, enqueue_budget_ms=10_000)


@pytest.fixture
def producer(redis: Redis, settings: Settings) -> Iterator[Producer]:
    with Producer(settings) as producer:
        yield producer


@pytest.fixture
def mailbox(redis: Redis, settings: Settings) -> Mailbox:
    return open_mailbox(settings, redis, create_celery(settings))


def messages(redis: Redis) -> list[dict[str, Any]]:
    """What waits on the queue, oldest first."""
    return [json.loads(cast(bytes, raw)) for raw in reversed(redis.lrange(INGEST_QUEUE, 0, -1))]


def taken(mailbox: Mailbox, whose: Subject) -> Batch:
    batch = mailbox.acquire(whose, 100, LEASE_SECONDS)
    assert batch is not None
    return batch


def test_a_turn_is_parked_and_announced_by_a_message_of_the_contract(
    producer: Producer, mailbox: Mailbox, redis: Redis
) -> None:
    turn = a_turn("anna", 1, "I live in Zürich 🏔")
    assert producer.enqueue(turn) is Accepted.ADDED
    [message] = messages(redis)
    args, kwargs, _ = json.loads(base64.b64decode(message["body"]))
    assert message["headers"]["task"] == "memory.ingest_turn"
    assert message["content-type"] == "application/json"
    assert kwargs == {}
    assert Turn.model_validate(args[0]) == Turn.model_validate(turn)
    [parked] = taken(mailbox, subject("anna")).turns
    assert Turn.model_validate_json(parked.body) == Turn.model_validate(turn)


def test_what_was_said_stands_in_a_message_only_in_its_body(producer: Producer, mailbox: Mailbox, redis: Redis) -> None:
    """Headers are shown by monitors and end in logs."""
    producer.enqueue(a_turn("anna", 1, "I am ill"))
    [message] = messages(redis)
    del message["body"]
    assert "ill" not in json.dumps(message)


def test_a_turn_object_is_taken_as_well_as_a_mapping(producer: Producer, mailbox: Mailbox, redis: Redis) -> None:
    turn = Turn.model_validate(a_turn("anna", 1, "I live in Lisbon."))
    assert producer.enqueue(turn) is Accepted.ADDED
    assert producer.enqueue(a_turn("anna", 1, "I live in Lisbon.")) is Accepted.PENDING
    assert len(taken(mailbox, subject("anna")).turns) == 1


def test_a_processed_turn_is_neither_parked_nor_announced_again(
    producer: Producer, mailbox: Mailbox, redis: Redis
) -> None:
    turn = a_turn("anna", 1, "I live in Lisbon.")
    producer.enqueue(turn)
    assert producer.enqueue(turn) is Accepted.PENDING
    batch = taken(mailbox, subject("anna"))
    mailbox.commit(batch.lease, ["anna-1"], 8, LEASE_SECONDS)
    redis.delete(INGEST_QUEUE)
    assert producer.enqueue(turn) is Accepted.DONE
    assert messages(redis) == []
    assert mailbox.dirty_subjects() == 0


def test_turns_of_many_threads_go_in_once_each(producer: Producer, mailbox: Mailbox, redis: Redis) -> None:
    turns = [a_turn("anna", number % 20, f"I have {number % 20} cats.") for number in range(160)]
    with ThreadPoolExecutor(8) as pool:
        said = list(pool.map(producer.enqueue, turns))
    assert said.count(Accepted.ADDED) == 20
    assert said.count(Accepted.PENDING) == 140
    assert mailbox.dirty_subjects() == 1
    parked_turns = taken(mailbox, subject("anna")).turns
    assert sorted(parked.turn_id for parked in parked_turns) == sorted(f"anna-{number}" for number in range(20))


def test_another_turn_under_the_same_id_is_refused_and_nothing_is_sent(
    producer: Producer, mailbox: Mailbox, redis: Redis
) -> None:
    producer.enqueue(a_turn("anna", 1, "I live in Lisbon."))
    with pytest.raises(ConflictingTurn, match="anna-1"):
        producer.enqueue(a_turn("anna", 1, "I live in Berlin."))
    assert len(messages(redis)) == 1


def test_what_is_no_turn_leaves_nothing_behind(producer: Producer, mailbox: Mailbox, redis: Redis) -> None:
    with pytest.raises(InvalidTurn, match="occurred_at"):
        producer.enqueue(a_turn("anna", 1, "I live in Lisbon.") | {"occurred_at": "yesterday"})
    assert redis.dbsize() == 0


def test_a_turn_whose_message_could_not_be_sent_is_parked_and_due(
    producer: Producer, mailbox: Mailbox, redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OperationalError

    monkeypatch.setattr("producers.broker.send_turn", fail)
    assert producer.enqueue(a_turn("anna", 1, "I live in Lisbon.")) is Accepted.ADDED
    assert messages(redis) == []
    assert [parked.turn_id for parked in taken(mailbox, subject("anna")).turns] == ["anna-1"]
    assert mailbox.dirty_subjects() == 1


def test_a_sweeper_waits_for_the_message_before_it_rings(producer: Producer, mailbox: Mailbox, redis: Redis) -> None:
    producer.enqueue(a_turn("anna", 1, "I live in Lisbon."))
    seconds, microseconds = redis.time()
    [(_, due)] = cast(list[tuple[bytes, float]], redis.zrange("afterturn:mailbox:dirty", 0, -1, withscores=True))
    assert 0 < due / 1e6 - (seconds + microseconds / 1e6) <= 60


def test_the_arrival_of_a_turn_is_the_brokers_time(producer: Producer, mailbox: Mailbox, redis: Redis) -> None:
    before = at(redis.time())
    producer.enqueue(a_turn("anna", 1, "I live in Lisbon."))
    after = at(redis.time())
    [parked] = taken(mailbox, subject("anna")).turns
    assert before <= parked.arrived_at <= after


def at(clock: tuple[int, int]) -> datetime:
    seconds, microseconds = clock
    return datetime.fromtimestamp(seconds, UTC) + timedelta(microseconds=microseconds)
