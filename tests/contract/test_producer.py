"""The producer on a real broker: parked first, then announced by a message that any Celery worker understands."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import pytest
from prometheus_client import REGISTRY
from redis import Redis

from interfaces.local.broker import embedded_broker
from producers import Accepted, Producer
from producers.broker import Broker
from producers.handover import Handover
from producers.spool import Spool
from schema import Subject, Turn
from schema.errors import BrokerOutage, ConflictingTurn, InvalidTurn, SettingsError, SpoolFull
from schema.settings import Settings
from stores.mailbox import Batch, Mailbox
from stores.queue import INGEST_QUEUE, create_celery, open_mailbox
from tests.conftest import free_port
from tests.fleet.fleet import wait_until
from tests.turns import a_turn, subject

LEASE_SECONDS = 60.0
FLUSH_SECONDS = 30.0


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


def message(redis: Redis) -> dict[str, Any]:
    """The one message on the queue. It is sent after `enqueue` returned."""
    wait_until(lambda: bool(redis.llen(INGEST_QUEUE)), "the message is sent")
    [only] = messages(redis)
    return only


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
    sent = message(redis)
    args, kwargs, _ = json.loads(base64.b64decode(sent["body"]))
    assert sent["headers"]["task"] == "memory.ingest_turn"
    assert sent["content-type"] == "application/json"
    assert kwargs == {}
    assert Turn.model_validate(args[0]) == Turn.model_validate(turn)
    [parked] = taken(mailbox, subject("anna")).turns
    assert Turn.model_validate_json(parked.body) == Turn.model_validate(turn)


def test_what_was_said_stands_in_a_message_only_in_its_body(producer: Producer, mailbox: Mailbox, redis: Redis) -> None:
    """Headers are shown by monitors and end in logs."""
    producer.enqueue(a_turn("anna", 1, "I am ill"))
    sent = message(redis)
    del sent["body"]
    assert "ill" not in json.dumps(sent)


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
    assert message(redis)
    batch = taken(mailbox, subject("anna"))
    mailbox.commit(batch.lease, ["anna-1"], 8, LEASE_SECONDS)
    redis.delete(INGEST_QUEUE)
    assert producer.enqueue(turn) is Accepted.DONE
    assert messages(redis) == []
    assert mailbox.pending_subjects() == 0


def test_turns_of_many_threads_go_in_once_each(producer: Producer, mailbox: Mailbox, redis: Redis) -> None:
    turns = [a_turn("anna", number % 20, f"I have {number % 20} cats.") for number in range(160)]
    with ThreadPoolExecutor(8) as pool:
        said = list(pool.map(producer.enqueue, turns))
    assert said.count(Accepted.ADDED) == 20
    assert said.count(Accepted.PENDING) == 140
    assert mailbox.pending_subjects() == 1
    parked_turns = taken(mailbox, subject("anna")).turns
    assert sorted(parked.turn_id for parked in parked_turns) == sorted(f"anna-{number}" for number in range(20))


def test_another_turn_under_the_same_id_is_refused_and_nothing_is_sent(
    producer: Producer, mailbox: Mailbox, redis: Redis
) -> None:
    producer.enqueue(a_turn("anna", 1, "I live in Lisbon."))
    with pytest.raises(ConflictingTurn, match="anna-1"):
        producer.enqueue(a_turn("anna", 1, "I live in Berlin."))
    assert message(redis)


def test_what_is_no_turn_leaves_nothing_behind(producer: Producer, mailbox: Mailbox, redis: Redis) -> None:
    with pytest.raises(InvalidTurn, match="occurred_at"):
        producer.enqueue(a_turn("anna", 1, "I live in Lisbon.") | {"occurred_at": "yesterday"})
    assert redis.dbsize() == 0


def test_a_turn_whose_message_could_not_be_sent_is_parked_and_due(
    producer: Producer, mailbox: Mailbox, redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise BrokerOutage

    monkeypatch.setattr("producers.broker.send_turn", fail)
    assert producer.enqueue(a_turn("anna", 1, "I live in Lisbon.")) is Accepted.ADDED
    assert messages(redis) == []
    assert [parked.turn_id for parked in taken(mailbox, subject("anna")).turns] == ["anna-1"]
    assert mailbox.pending_subjects() == 1


def test_a_sweeper_waits_for_the_message_before_it_notifies(producer: Producer, mailbox: Mailbox, redis: Redis) -> None:
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


# -- the broker is away ------------------------------------------------------------------------------------------


@pytest.fixture
def away(tmp_path: Path) -> Settings:
    """Settings of a broker that is not there yet."""
    return Settings(broker_url=f"redis://127.0.0.1:{free_port()}/0", data_dir=tmp_path, spool_max_turns=5)


@contextmanager
def back(settings: Settings) -> Iterator[Mailbox]:
    """The broker comes."""
    with embedded_broker(settings.broker_url, settings.data_dir / "broker"):
        redis = Redis.from_url(settings.broker_url)
        yield open_mailbox(settings, redis, create_celery(settings))
        redis.close()


def test_turns_are_kept_while_the_broker_is_away_and_handed_over_when_it_is_back(away: Settings) -> None:
    with Producer(away) as producer:
        said = [producer.enqueue(a_turn("anna", number, f"I have {number} cats.")) for number in range(3)]
        assert said == [Accepted.SPOOLED] * 3
        assert producer.counters().spool_depth == 3
        with back(away) as mailbox:
            assert producer.flush(FLUSH_SECONDS) == 0
            assert [parked.turn_id for parked in taken(mailbox, subject("anna")).turns] == [
                "anna-0",
                "anna-1",
                "anna-2",
            ]
        counters = producer.counters()
    assert (counters.enqueued, counters.spooled, counters.flushed, counters.spool_depth) == (3, 3, 3, 0)


def test_the_same_turn_twice_while_the_broker_is_away_is_one_turn(away: Settings) -> None:
    turn = a_turn("anna", 1, "I live in Lisbon.")
    with Producer(away) as producer:
        assert producer.enqueue(turn) is producer.enqueue(turn) is Accepted.SPOOLED
        assert producer.counters().spool_depth == 1
        with pytest.raises(ConflictingTurn, match="anna-1"):
            producer.enqueue(a_turn("anna", 1, "I live in Berlin."))


def test_a_full_spool_is_told_to_the_caller_and_counted(away: Settings) -> None:
    with Producer(away) as producer:
        for number in range(5):
            producer.enqueue(a_turn("anna", number, "hi"))
        with pytest.raises(SpoolFull, match="AFTERTURN_SPOOL_MAX_TURNS"):
            producer.enqueue(a_turn("anna", 5, "hi"))
        counters = producer.counters()
        assert (counters.enqueued, counters.refused_full, counters.spool_depth) == (5, 1, 5)
        with back(away):
            assert producer.flush(FLUSH_SECONDS) == 0
            assert producer.enqueue(a_turn("anna", 5, "hi")) in (Accepted.ADDED, Accepted.SPOOLED)


def test_a_spooled_turn_whose_id_the_broker_knows_for_another_is_put_aside_and_holds_nothing_up(
    away: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    with Producer(away) as producer:
        producer.enqueue(a_turn("anna", 1, "I live in Berlin."))
        producer.enqueue(a_turn("anna", 2, "I live in Rome."))
        with back(away) as mailbox:
            mailbox.append(Turn.model_validate(a_turn("anna", 1, "I live in Lisbon.")), look_after=60)
            assert producer.flush(FLUSH_SECONDS) == 0
            turns = [Turn.model_validate_json(parked.body) for parked in taken(mailbox, subject("anna")).turns]
        counters = producer.counters()
    assert [turn.text_of("user") for turn in turns] == ["I live in Lisbon.", "I live in Rome."]
    assert (counters.flushed, counters.rejected, counters.spool_depth) == (1, 1, 0)
    with closing(Spool(away.effective_spool_dir, max_turns=5, max_bytes=2**20)) as spool:
        [(kept, reason)] = spool.rejected(10)
    assert Turn.model_validate_json(kept.body) == Turn.model_validate(a_turn("anna", 1, "I live in Berlin."))
    assert "turn_id" in reason
    assert "anna-1" in caplog.text
    assert "Berlin" not in caplog.text


def test_what_is_counted_is_shown_to_prometheus(away: Settings) -> None:
    def shown(outcome: str) -> float:
        return REGISTRY.get_sample_value("afterturn_producer_turns_total", {"outcome": outcome}) or 0.0

    before = {outcome: shown(outcome) for outcome in ("spooled", "flushed")}
    with Producer(away) as producer:
        producer.enqueue(a_turn("anna", 1, "hi"))
        assert REGISTRY.get_sample_value("afterturn_spool_turns") == 1
        with back(away):
            producer.flush(FLUSH_SECONDS)
    assert {outcome: shown(outcome) - before[outcome] for outcome in before} == {"spooled": 1, "flushed": 1}
    assert REGISTRY.get_sample_value("afterturn_spool_turns") == 0


def test_a_broker_that_refuses_the_credentials_is_told_as_a_wrong_setting_and_nothing_is_spooled(
    away: Settings,
) -> None:
    wrong_url = away.broker_url.replace("//", "//nobody:hunter2@")
    wrong = away.model_copy(update={"broker_url": wrong_url, "enqueue_budget_ms": 10_000})
    with back(away), Producer(wrong) as producer:
        for _ in range(2):
            with pytest.raises(SettingsError, match="AFTERTURN_BROKER_URL") as refused:
                producer.enqueue(a_turn("anna", 1, "hi"))
            assert "hunter2" not in str(refused.value)
        assert producer.counters().enqueued == 0
        assert producer.flush(0) == 0


def test_credentials_that_are_refused_while_turns_lie_in_the_spool_are_told_too(away: Settings) -> None:
    wrong = away.model_copy(update={"broker_url": away.broker_url.replace("//", "//nobody:hunter2@")})

    def is_told(producer: Producer) -> bool:
        try:
            producer.enqueue(a_turn("anna", 1, "hi"))
        except SettingsError:
            return True
        return False

    with Producer(wrong) as producer:
        producer.enqueue(a_turn("anna", 1, "hi"))
        with back(away):
            wait_until(lambda: is_told(producer), "the refusal is told")
            assert producer.counters().spool_depth == 1


def test_a_folder_that_cannot_be_written_is_refused_at_the_start_by_its_variable(away: Settings) -> None:
    (away.data_dir / "spool").write_text("in the way")
    with pytest.raises(SettingsError, match="AFTERTURN_SPOOL_DIR"):
        Producer(away)


def test_what_a_closed_producer_kept_is_handed_over_by_the_next_one(away: Settings) -> None:
    with Producer(away) as producer:
        producer.enqueue(a_turn("anna", 1, "hi"))
    with back(away) as mailbox, Producer(away) as following:
        assert following.counters().spool_depth == 1
        following.enqueue(a_turn("anna", 2, "hi"))
        assert following.flush(FLUSH_SECONDS) == 0
        assert [parked.turn_id for parked in taken(mailbox, subject("anna")).turns] == ["anna-1", "anna-2"]


def test_a_broker_that_failed_is_let_alone_and_then_tried_by_one_turn(away: Settings) -> None:
    turn = Turn.model_validate(a_turn("anna", 1, "hi"))
    spool = Spool(away.effective_spool_dir, max_turns=5, max_bytes=2**20)
    broker = Broker(away, timeout=1)
    handover = Handover(spool, broker)
    attempt = handover.begin(turn)
    assert attempt is not None
    assert isinstance(attempt.parked.exception(), BrokerOutage)
    assert handover.settle(attempt) is None
    assert handover.begin(turn) is None
    wait_until(lambda: handover.begin(turn) is not None, "one turn tries the broker")
    assert handover.begin(turn) is None
    handover.close(FLUSH_SECONDS)
    broker.close()
    spool.close()


# -- what a backend sees -----------------------------------------------------------------------------------------


def test_an_event_loop_gets_the_same_answers(producer: Producer) -> None:
    async def chat() -> None:
        turn = a_turn("anna", 1, "I live in Lisbon.")
        assert await producer.enqueue_async(turn) is Accepted.ADDED
        assert await producer.enqueue_async(turn) is Accepted.PENDING
        with pytest.raises(ConflictingTurn):
            await producer.enqueue_async(a_turn("anna", 1, "I live in Berlin."))
        with pytest.raises(InvalidTurn):
            await producer.enqueue_async({})

    asyncio.run(chat())


def test_a_backlog_is_signalled_until_it_is_worked_off(settings: Settings, redis: Redis, mailbox: Mailbox) -> None:
    with Producer(settings.model_copy(update={"max_pending_turns": 3})) as producer:
        for number in range(3):
            producer.enqueue(a_turn("anna", number, "hi"))
        assert not producer.overloaded()
        assert producer.enqueue(a_turn("anna", 3, "hi")) is Accepted.ADDED
        assert producer.overloaded()
        batch = taken(mailbox, subject("anna"))
        mailbox.commit(batch.lease, [parked.turn_id for parked in batch.turns], 8, LEASE_SECONDS)
        wait_until(lambda: not producer.overloaded(), "the signal ends without another turn")


def test_the_modules_own_functions_work_with_the_environments_settings(broker_url: str, tmp_path: Path) -> None:
    code = """
import asyncio, sys
from producers import enqueue, enqueue_async
from tests.turns import a_turn
heavy = {"spacy", "onnxruntime", "sqlalchemy", "tokenizers", "numpy"} & set(sys.modules)
assert not heavy, heavy
print(enqueue(a_turn("anna", 1, "hi")), asyncio.run(enqueue_async(a_turn("anna", 2, "hi"))))
"""
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("AFTERTURN_")},
        "PYTHONPATH": str(Path(__file__).parents[2]),
        "AFTERTURN_BROKER_URL": broker_url,
        "AFTERTURN_DATA_DIR": str(tmp_path),
        "AFTERTURN_ENQUEUE_BUDGET_MS": "10000",
    }
    Redis.from_url(broker_url).flushdb()
    ran = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False, timeout=60
    )
    assert (ran.returncode, ran.stdout) == (0, "added added\n"), ran.stderr


def test_a_closed_producer_may_be_used_again_and_leaves_no_thread(settings: Settings, redis: Redis) -> None:
    producer = Producer(settings)
    for number in range(2):
        assert producer.enqueue(a_turn("anna", number, "hi")) is Accepted.ADDED
        producer.close()
        wait_until(lambda: not [t for t in threading.enumerate() if t.name.startswith("afterturn")], "threads end")
