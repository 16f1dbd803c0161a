"""A turn is enqueued whole or by its fields, of which two are enough."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path

import pytest
from redis import Redis

from interfaces.local.broker import embedded_broker
from producers import Accepted, Producer
from schema import Subject, Turn
from schema.errors import ConflictingTurn, InvalidTurn
from schema.settings import Settings
from stores.queue import create_celery, open_mailbox
from tests.conftest import free_port
from tests.turns import a_turn


@pytest.fixture
def settings(broker_url: str, tmp_path: Path) -> Settings:
    return Settings(broker_url=broker_url, data_dir=tmp_path, enqueue_budget_ms=10_000)


@pytest.fixture
def producer(settings: Settings) -> Iterator[Producer]:
    with Producer(settings) as producer:
        yield producer


def test_a_user_and_what_was_said_are_enough(producer: Producer, settings: Settings) -> None:
    redis = Redis.from_url(settings.broker_url)
    redis.flushdb()
    mailbox = open_mailbox(settings, redis, create_celery(settings))
    said = [{"role": "user", "content": "I live in Lisbon."}]
    before = datetime.now(UTC)
    assert producer.enqueue(user_id="anna", messages=said) is Accepted.ADDED
    assert producer.enqueue(user_id="anna", messages=said, conversation_id="c-2") is Accepted.ADDED
    parked = mailbox.parked(Subject(tenant_id="default", subject_id="anna"))
    first, second = (Turn.model_validate_json(one.body) for one in parked.values())
    assert (first.conversation_id, second.conversation_id) == ("default", "c-2")
    assert before <= first.occurred_at <= datetime.now(UTC)


def test_what_an_application_notes_of_a_turn_goes_in_with_it(producer: Producer, settings: Settings) -> None:
    redis = Redis.from_url(settings.broker_url)
    redis.flushdb()
    said = [{"role": "user", "content": "I live in Lisbon."}]
    assert producer.enqueue(user_id="anna", messages=said, metadata={"plan": "free"}) is Accepted.ADDED
    mailbox = open_mailbox(settings, redis, create_celery(settings))
    [parked] = mailbox.parked(Subject(tenant_id="default", subject_id="anna")).values()
    assert Turn.model_validate_json(parked.body).metadata == {"plan": "free"}


def test_a_turn_given_whole_and_by_fields_at_once_is_refused(producer: Producer) -> None:
    with pytest.raises(InvalidTurn, match="not both: user_id"):
        producer.enqueue(a_turn("anna", 1, "I live in Lisbon."), user_id="boris")


def test_a_misspelled_field_is_named(producer: Producer) -> None:
    with pytest.raises(InvalidTurn, match="mesages"):
        producer.enqueue(user_id="anna", mesages=[{"role": "user", "content": "I live in Lisbon."}])


@pytest.mark.parametrize("is_away", [(False, False), (False, True), (True, False), (True, True)])
def test_a_turn_that_says_no_moment_is_the_same_sent_again_whichever_way_it_takes(
    tmp_path: Path, is_away: tuple[bool, bool]
) -> None:
    """Two backends that share no disk take the same turn, each while the broker is there or away."""
    url, folder = f"redis://127.0.0.1:{free_port()}/0", tmp_path / "broker"
    backends = [
        Settings(broker_url=url, data_dir=tmp_path, spool_dir=tmp_path / f"spool-{number}", enqueue_budget_ms=2_000)
        for number in range(2)
    ]

    def enqueue(producer: Producer, text: str) -> Accepted:
        return producer.enqueue(user_id="anna", turn_id="t1", messages=[{"role": "user", "content": text}])

    for settings, broker_is_away in zip(backends, is_away, strict=True):
        with nullcontext() if broker_is_away else embedded_broker(url, folder), Producer(settings) as producer:
            said = [enqueue(producer, "I live in Lisbon.") for _ in range(2)]
            assert (Accepted.SPOOLED in said) is broker_is_away
            with pytest.raises(ConflictingTurn):
                enqueue(producer, "I live in Berlin.")
    with embedded_broker(url, folder):
        for settings in backends:
            with Producer(settings) as producer:
                enqueue(producer, "I live in Lisbon.")
                assert producer.flush(30) == 0
                assert producer.counters().rejected == 0
        mailbox = open_mailbox(backends[0], Redis.from_url(url), create_celery(backends[0]))
        assert list(mailbox.parked(Subject(tenant_id="default", subject_id="anna"))) == ["t1"]
