"""The mailbox knows a turn that comes again, whoever of two revisions parked it first."""

from __future__ import annotations

import hashlib
from datetime import timedelta

import pytest
from redis import Redis

from schema import Turn
from schema.errors import ConflictingTurn
from stores.mailbox import Appended, Mailbox, key_of
from tests.unit.test_mailbox import ANNA, LEASE_SECONDS, WHEN, fake, nobody, taken, turn


@pytest.fixture
def redis() -> Redis:
    return fake()


@pytest.fixture
def mailbox(redis: Redis) -> Mailbox:
    return Mailbox(redis, notify=nobody, slots=100)


def test_the_same_turn_is_parked_once(mailbox: Mailbox) -> None:
    assert mailbox.append(turn("t"), look_after=5).appended is Appended.ADDED
    assert mailbox.append(turn("t"), look_after=5).appended is Appended.PENDING
    assert taken(mailbox.acquire(ANNA, 8, LEASE_SECONDS)) == ["t"]


def test_a_turn_that_was_lately_processed_is_not_parked_again(mailbox: Mailbox) -> None:
    mailbox.append(turn("t"), look_after=5)
    batch = mailbox.acquire(ANNA, 8, LEASE_SECONDS)
    assert batch is not None
    mailbox.commit(batch.lease, ["t"], 8, LEASE_SECONDS)
    assert mailbox.append(turn("t"), look_after=5).appended is Appended.DONE


def test_another_turn_under_the_same_id_is_refused_while_the_first_waits_and_after_it_was_processed(
    mailbox: Mailbox,
) -> None:
    mailbox.append(turn("t"), look_after=5)
    with pytest.raises(ConflictingTurn, match="'t'"):
        mailbox.append(turn("t", "I live in Berlin"), look_after=5)
    batch = mailbox.acquire(ANNA, 8, LEASE_SECONDS)
    assert batch is not None
    mailbox.commit(batch.lease, ["t"], 8, LEASE_SECONDS)
    with pytest.raises(ConflictingTurn):
        mailbox.append(turn("t", "I live in Berlin"), look_after=5)


@pytest.mark.parametrize("text", ["I live in Lisbon", 'He wrote {"a":1,"occurred_at":"now"} to me'])
def test_a_turn_sent_again_is_the_same_though_another_moment_was_noted_of_it(mailbox: Mailbox, text: str) -> None:
    """Who takes in a turn that does not say when it was said stamps it by their own clock, each time that it comes."""
    first, second = (turn("t", text).model_copy(update={"occurred_at": at}) for at in (WHEN, WHEN + timedelta(hours=1)))
    other = turn("t", text + ".").model_copy(update={"occurred_at": second.occurred_at})
    mailbox.append(first, look_after=5)
    assert mailbox.append(second, look_after=5).appended is Appended.PENDING
    with pytest.raises(ConflictingTurn):
        mailbox.append(other, look_after=5)
    batch = mailbox.acquire(ANNA, 8, LEASE_SECONDS)
    assert batch is not None
    assert [Turn.model_validate_json(parked.body) for parked in batch.turns] == [first]
    mailbox.commit(batch.lease, ["t"], 8, LEASE_SECONDS)
    assert mailbox.append(second, look_after=5).appended is Appended.DONE
    with pytest.raises(ConflictingTurn):
        mailbox.append(other, look_after=5)


def test_a_turn_lies_where_earlier_revisions_look_under_the_digest_by_which_they_know_it(
    mailbox: Mailbox, redis: Redis
) -> None:
    """While an update rolls, a worker of either revision is handed what a producer of the other one parked. Those of
    before take a turn for another one where the digest of the whole of it is not the one that lies there."""
    said = turn("t")
    dated = hashlib.sha256(said.canonical_json().encode()).hexdigest()
    mailbox.append(said, look_after=5)
    batch = mailbox.acquire(ANNA, 8, LEASE_SECONDS)
    assert batch is not None
    assert [parked.digest for parked in batch.turns] == [dated]
    mailbox.commit(batch.lease, ["t"], 8, LEASE_SECONDS)
    assert redis.hgetall(key_of(ANNA, "done")) == {b"t": dated.encode()}


def test_a_turn_that_an_earlier_revision_parked_is_the_same_when_it_is_delivered_again(
    mailbox: Mailbox, redis: Redis
) -> None:
    said, other = turn("t"), turn("t", "I live in Berlin")
    mailbox.append(said, look_after=5)
    redis.delete(key_of(ANNA, "contents"))
    assert mailbox.append(said, look_after=5).appended is Appended.PENDING
    with pytest.raises(ConflictingTurn):
        mailbox.append(other, look_after=5)
    batch = mailbox.acquire(ANNA, 8, LEASE_SECONDS)
    assert batch is not None
    mailbox.commit(batch.lease, ["t"], 8, LEASE_SECONDS)
    assert mailbox.append(said, look_after=5).appended is Appended.DONE
    with pytest.raises(ConflictingTurn):
        mailbox.append(other, look_after=5)


def test_nothing_of_a_mailbox_that_was_emptied_stays_for_good_but_its_fence(mailbox: Mailbox, redis: Redis) -> None:
    mailbox.append(turn("t"), look_after=5)
    batch = mailbox.acquire(ANNA, 8, LEASE_SECONDS)
    assert batch is not None
    mailbox.commit(batch.lease, ["t"], 8, LEASE_SECONDS)
    known = {part: redis.ttl(key_of(ANNA, part)) for part in ("done", "contents")}
    assert all(0 < seconds <= 3600 for seconds in known.values())


@pytest.mark.parametrize("waited", [0.0, -3600.0, 90.0, 1e300, float("inf"), float("nan")])
def test_a_turn_was_enqueued_as_long_before_it_came_as_it_says_and_no_longer_than_a_month(
    mailbox: Mailbox, redis: Redis, waited: float
) -> None:
    mailbox.append(turn("t"), 5, waited=waited)
    mailbox.append(turn("t"), 5, waited=7_000.0)
    mailbox.append(turn("u"), 5)
    batch = mailbox.acquire(ANNA, 8, LEASE_SECONDS)
    assert batch is not None
    spooled, straight = batch.turns
    lay = {90.0: timedelta(seconds=90), 1e300: timedelta(days=30), float("inf"): timedelta(days=30)}
    assert spooled.arrived_at - spooled.enqueued_at == lay.get(waited, timedelta(0))
    assert straight.enqueued_at == straight.arrived_at
    assert [parked.enqueued_at for parked in mailbox.in_order(ANNA)] == [spooled.enqueued_at, straight.enqueued_at]
    mailbox.commit(batch.lease, ["t", "u"], 8, LEASE_SECONDS)
    assert not redis.exists(key_of(ANNA, "enqueued"))
