"""Quotas: what a user and a tenant may cost. Whoever sends is told, or a ledger row and an event say so."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from celery.exceptions import Reject

from memory.erasure.subjects import erase_subject, left_of_subject
from memory.metrics import QUOTAS
from memory.quotas import refuse_turn, tell_refused
from memory.remember import Statement, remember
from memory.statement_screening import NotKept
from producers import Producer
from schema import Status, Turn
from schema.errors import CatalogOutage, QuotaExceeded
from stores.mailbox import TurnQuota
from stores.queue import turn_quota
from tests.contract.pipeline import Worker, on_every_store_at_length
from tests.turns import a_turn, subject

pytest_generate_tests = on_every_store_at_length
NOW = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)
CITIES = ("I live in Lisbon.", "I work as a plumber.", "I am allergic to peanuts.")


@pytest.fixture
def bounded(worker: Worker) -> Iterator[Any]:
    """A worker with quotas of its settings, and no count of another test's."""

    def made(**quotas: int) -> Worker:
        for key in worker.context.redis.scan_iter("afterturn:quota:*"):
            worker.context.redis.delete(key)
        return worker.with_parts(settings=worker.context.settings.model_copy(update=quotas))

    yield made


def counted(quota: str, scope: str) -> float:
    return QUOTAS.labels(quota, scope)._value.get()  # type: ignore[no-any-return]


def errors(worker: Worker, user: str) -> list[str]:
    return [event["payload"] for event in worker.events(subject(user)) if event["event"] == "memory.error"]


def test_what_would_be_one_memory_too_many_is_refused_and_said(bounded: Any, anna: str) -> None:
    worker = bounded(quota_user_memories=2)
    before = counted("memories", "user")
    worker.hear(anna, *CITIES)
    assert len(worker.known(subject(anna))) == 2
    assert list(worker.outcomes(subject(anna)).values()) == ["kept", "kept", "refused"]
    [row] = [row for row in worker.rows("ledger", subject(anna)) if row["outcome"] == "refused"]
    assert "over the quota of memories" in row["reasons"]
    assert worker.audited(subject(anna)).count("refused") == 1
    [said] = errors(worker, anna)
    assert '"quota"' in said
    assert "peanut" not in said
    assert counted("memories", "user") == before + 1


def test_a_fact_may_change_and_be_forgotten_at_the_quota(bounded: Any, anna: str) -> None:
    worker = bounded(quota_user_memories=1)
    worker.hear(anna, "I live in Lisbon.")
    worker.hear(anna, "I moved to Oslo. I live in Oslo now.", first=1)
    [home] = worker.known(subject(anna))
    assert "Oslo" in home.summary
    assert len(worker.known(subject(anna), Status.SUPERSEDED)) == 1
    worker.hear(anna, "Forget that I live in Oslo.", first=2)
    assert worker.known(subject(anna)) == []
    worker.hear(anna, "I work as a plumber.", first=3)
    assert len(worker.known(subject(anna))) == 1


def test_the_users_of_a_tenant_share_its_quota(bounded: Any, anna: str) -> None:
    worker = bounded(quota_tenant_memories=1)
    worker.hear(anna, "I live in Lisbon.", tenant_id=f"t-{anna}")
    for key in worker.context.redis.scan_iter("afterturn:quota:*"):
        worker.context.redis.delete(key)
    worker.hear(f"{anna}2", "I live in Lisbon.", tenant_id=f"t-{anna}")
    assert worker.outcomes(subject(f"{anna}2").model_copy(update={"tenant_id": f"t-{anna}"})) == {
        f"{anna}2-0": "refused"
    }


def test_past_the_quota_of_sources_a_memory_is_kept_without_its_words_and_that_is_said(bounded: Any, anna: str) -> None:
    worker = bounded(quota_user_source_bytes=1)
    worker.hear(anna, "I live in Lisbon.")
    assert len(worker.rows("sources", subject(anna))) == 1
    for key in worker.context.redis.scan_iter("afterturn:quota:*"):
        worker.context.redis.delete(key)
    worker.hear(anna, "I work as a plumber.", first=1)
    assert len(worker.known(subject(anna))) == 2
    assert len(worker.rows("sources", subject(anna))) == 1
    assert len(errors(worker, anna)) == 1


def test_who_states_something_at_the_quota_is_told_so(bounded: Any, anna: str) -> None:
    worker = bounded(quota_user_memories=1)
    remember(None, subject(anna), Statement("Anna lives in Lisbon."), worker.context, now=NOW)
    with pytest.raises(QuotaExceeded) as refused:
        remember(None, subject(anna), Statement("Anna works as a plumber."), worker.context, now=NOW)
    assert "AFTERTURN_QUOTA_USER_MEMORIES" in str(refused.value)
    assert not isinstance(refused.value, NotKept)
    assert len(worker.known(subject(anna))) == 1


def test_the_mailbox_takes_as_many_new_turns_a_minute_as_it_may_and_the_same_again_is_none(
    worker: Worker, anna: str
) -> None:
    quota = TurnQuota(user=2)
    turns = [Turn.model_validate(a_turn(anna, number, "I live in Lisbon.")) for number in range(3)]
    for turn in turns[:2]:
        worker.context.mailbox.append(turn, 5, quota)
    with pytest.raises(QuotaExceeded) as refused:
        worker.context.mailbox.append(turns[2], 5, quota)
    assert refused.value.scope == "user"
    assert refused.value.retry_after is not None
    assert 0 < refused.value.retry_after <= 60
    worker.context.mailbox.append(turns[0], 5, quota)
    worker.context.mailbox.append(turns[2], 5)
    other = Turn.model_validate(a_turn(f"{anna}2", 0, "I live in Lisbon."))
    worker.context.mailbox.append(other, 5, quota)


def test_a_tenants_turns_are_counted_together(worker: Worker, anna: str) -> None:
    quota = TurnQuota(user=5, tenant=1)
    turns = [
        Turn.model_validate(a_turn(user, 0, "I live in Lisbon.") | {"tenant_id": f"t-{anna}"})
        for user in (anna, f"{anna}2")
    ]
    worker.context.mailbox.append(turns[0], 5, quota)
    with pytest.raises(QuotaExceeded) as refused:
        worker.context.mailbox.append(turns[1], 5, quota)
    assert refused.value.scope == "tenant"


def test_an_event_tells_once_a_minute_of_turns_that_their_sender_was_refused(worker: Worker, anna: str) -> None:
    quota = TurnQuota(user=1)
    for number in range(5):
        turn = Turn.model_validate(a_turn(anna, number, "I live in Lisbon."))
        try:
            worker.context.mailbox.append(turn, 5, quota)
        except QuotaExceeded:
            continue
    tell_refused(worker.context, NOW, limit=100)
    tell_refused(worker.context, NOW, limit=100)
    [said] = errors(worker, anna)
    assert '"quota"' in said


def test_who_is_not_told_of_while_the_catalog_is_away_is_told_of_later(
    worker: Worker, anna: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    users = [f"{anna}{number}" for number in range(3)]
    for user in users:
        worker.context.mailbox.append(Turn.model_validate(a_turn(user, 0, "I live in Lisbon.")), 5, TurnQuota(user=1))
        with pytest.raises(QuotaExceeded):
            worker.context.mailbox.append(Turn.model_validate(a_turn(user, 1, "Hi.")), 5, TurnQuota(user=1))

    def is_away(*_: object, **__: object) -> None:
        raise CatalogOutage("locked")

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(worker.context.catalog, "commit", is_away)
        with pytest.raises(CatalogOutage):
            tell_refused(worker.context, NOW, limit=100)
    tell_refused(worker.context, NOW, limit=100)
    assert sum(len(errors(worker, user)) for user in users) == len(users) - 1


def test_of_who_was_erased_nothing_is_told_of_turns_that_were_refused_before(worker: Worker, anna: str) -> None:
    turns = [Turn.model_validate(a_turn(anna, number, "I live in Lisbon.")) for number in range(2)]
    worker.context.mailbox.append(turns[0], 5, TurnQuota(user=1))
    with pytest.raises(QuotaExceeded):
        worker.context.mailbox.append(turns[1], 5, TurnQuota(user=1))
    erase_subject(subject(anna), worker.context, by="operator", now=NOW)
    tell_refused(worker.context, NOW, limit=100)
    assert errors(worker, anna) == []
    assert sum(left_of_subject(subject(anna), worker.context).values()) == 0


def test_a_plain_message_past_the_quota_leaves_a_ledger_row_and_an_event(worker: Worker, anna: str) -> None:
    turn = Turn.model_validate(a_turn(anna, 0, "I live in Lisbon."))
    error = TurnQuota(user=1).exceeded("user", 30)
    refuse_turn(turn, error, worker.context, NOW)
    refuse_turn(turn, error, worker.context, NOW)
    assert worker.outcomes(subject(anna)) == {turn.turn_id: "refused"}
    assert len(errors(worker, anna)) == 1
    assert "Lisbon" not in worker.everywhere(subject(anna))


def test_a_plain_message_past_the_quota_comes_back_while_the_catalog_is_away(
    bounded: Any, anna: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import worker.tasks as tasks

    worker = bounded(quota_user_turns_per_minute=1)
    monkeypatch.setattr(tasks, "settings", worker.context.settings)
    monkeypatch.setattr(tasks, "_context", lambda: worker.context)
    first, second = (a_turn(anna, number, "I live in Lisbon.") for number in range(2))
    worker.context.mailbox.append(Turn.model_validate(first), 5, turn_quota(worker.context.settings))

    def is_away(*_: object) -> None:
        raise CatalogOutage("locked")

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(worker.context.catalog, "processed", is_away)
        with pytest.raises(Reject) as rejected:
            tasks.ingest_turn(second)
    assert rejected.value.args[1] is True, "it is requeued"
    tasks.ingest_turn(second)
    assert worker.outcomes(subject(anna)) == {f"{anna}-1": "refused"}


def test_a_producer_tells_its_caller_and_takes_the_same_turn_when_there_is_room(worker: Worker, anna: str) -> None:
    settings = worker.context.settings.model_copy(
        update={"quota_user_turns_per_minute": 1, "enqueue_budget_ms": 10_000.0}
    )
    assert turn_quota(settings) == TurnQuota(user=1)
    with Producer(settings) as producer:
        producer.enqueue(a_turn(anna, 0, "I live in Lisbon."))
        with pytest.raises(QuotaExceeded):
            producer.enqueue(a_turn(anna, 1, "I work as a plumber."))
        assert producer.counters().spooled == 0
    assert [parked.turn_id for parked in worker.context.mailbox.in_order(subject(anna))] == [f"{anna}-0"]
    unbounded = replace(worker.context, settings=settings.model_copy(update={"quota_user_turns_per_minute": 0}))
    with Producer(unbounded.settings) as producer:
        producer.enqueue(a_turn(anna, 1, "I work as a plumber."))
    worker.work(subject(anna))
    assert set(worker.outcomes(subject(anna)).values()) == {"kept"}
