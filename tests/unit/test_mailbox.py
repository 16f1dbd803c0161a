"""The mailbox against a model of it: whatever producers and workers do, no turn is lost, doubled or out of order."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import cast

import fakeredis
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

from schema import Message, Subject, Turn
from schema.errors import LeaseLost
from stores.mailbox import Appended, Batch, Lease, Mailbox, key_of
from stores.mailbox.scripts import OLDEST_TURNS, PENDING_SUBJECTS

WHEN = datetime(2026, 11, 2, 8, 0, tzinfo=UTC)
LEASE_SECONDS = 600.0
ANNA = Subject(tenant_id="acme", subject_id="anna")


def turn(turn_id: str, text: str = "I live in Lisbon", subject: Subject = ANNA) -> Turn:
    return Turn(
        turn_id=turn_id,
        tenant_id=subject.tenant_id,
        user_id=subject.subject_id,
        conversation_id="c",
        messages=(Message(role="user", content=text),),
        occurred_at=WHEN,
    )


def fake() -> fakeredis.FakeRedis:
    return fakeredis.FakeRedis(server=fakeredis.FakeServer(), version=(7,))


def nobody(subject: Subject) -> None:
    pytest.fail(f"nobody waits in line, and {subject.key} was notified")


@pytest.fixture
def redis() -> fakeredis.FakeRedis:
    return fake()


@pytest.fixture
def mailbox(redis: fakeredis.FakeRedis) -> Mailbox:
    return Mailbox(redis, notify=nobody, slots=100)


def taken(batch: Batch | None) -> list[str]:
    assert batch is not None
    return [parked.turn_id for parked in batch.turns]


def test_turns_are_taken_in_the_order_in_which_they_were_parked(mailbox: Mailbox) -> None:
    for number in range(5):
        mailbox.append(turn(f"t{number}"), look_after=5)
    assert taken(mailbox.acquire(ANNA, 3, LEASE_SECONDS)) == ["t0", "t1", "t2"]


def test_a_turn_comes_out_as_it_went_in(mailbox: Mailbox) -> None:
    said = turn("t", "Ich wohne in Zürich 🏔 \u202eabc")
    mailbox.append(said, look_after=5)
    batch = mailbox.acquire(ANNA, 1, LEASE_SECONDS)
    assert batch is not None
    [parked] = batch.turns
    assert Turn.model_validate_json(parked.body) == said
    assert parked.digest == said.dated_digest()


def test_a_held_mailbox_is_not_given_to_a_second_worker(mailbox: Mailbox) -> None:
    mailbox.append(turn("t"), look_after=5)
    assert mailbox.acquire(ANNA, 8, LEASE_SECONDS) is not None
    assert mailbox.acquire(ANNA, 8, LEASE_SECONDS) is None


def test_a_mailbox_held_for_other_work_keeps_its_turns_and_is_given_to_nobody(mailbox: Mailbox) -> None:
    mailbox.append(turn("t"), look_after=5)
    lease = mailbox.acquire_lease(ANNA, LEASE_SECONDS)
    assert lease is not None
    assert mailbox.acquire_lease(ANNA, LEASE_SECONDS) is None
    assert mailbox.acquire(ANNA, 8, LEASE_SECONDS) is None
    assert mailbox.pending_turns() == 1


def test_whoever_lets_a_mailbox_go_rings_for_the_turns_that_came_meanwhile(redis: fakeredis.FakeRedis) -> None:
    notified: list[Subject] = []
    mailbox = Mailbox(redis, notify=notified.append, slots=100)
    lease = mailbox.acquire_lease(ANNA, LEASE_SECONDS)
    assert lease is not None
    mailbox.append(turn("t"), look_after=5)
    mailbox.release_lease(lease)
    assert notified == [ANNA]
    assert taken(mailbox.acquire(ANNA, 8, LEASE_SECONDS)) == ["t"]


def test_letting_go_of_a_lease_that_is_lost_changes_nothing(redis: fakeredis.FakeRedis, mailbox: Mailbox) -> None:
    first = mailbox.acquire_lease(ANNA, LEASE_SECONDS)
    expire_lease(redis, ANNA)
    second = mailbox.acquire_lease(ANNA, LEASE_SECONDS)
    assert first is not None
    assert second is not None
    assert second.token > first.token
    mailbox.release_lease(first)
    assert mailbox.acquire_lease(ANNA, LEASE_SECONDS) is None


def test_an_empty_mailbox_that_was_held_leaves_no_trace_but_its_fence(mailbox: Mailbox) -> None:
    lease = mailbox.acquire_lease(ANNA, LEASE_SECONDS)
    assert lease is not None
    mailbox.release_lease(lease)
    assert (mailbox.pending_subjects(), mailbox.acquire(ANNA, 8, LEASE_SECONDS)) == (0, None)


def test_subjects_do_not_wait_for_each_other(mailbox: Mailbox) -> None:
    bert = Subject(tenant_id="acme", subject_id="bert")
    mailbox.append(turn("a"), look_after=5)
    mailbox.append(turn("b", subject=bert), look_after=5)
    assert taken(mailbox.acquire(ANNA, 8, LEASE_SECONDS)) == ["a"]
    assert taken(mailbox.acquire(bert, 8, LEASE_SECONDS)) == ["b"]


def test_the_same_user_id_in_two_tenants_is_two_subjects(mailbox: Mailbox) -> None:
    other = Subject(tenant_id="globex", subject_id="anna")
    mailbox.append(turn("t"), look_after=5)
    assert mailbox.acquire(other, 8, LEASE_SECONDS) is None


@pytest.mark.parametrize(("one", "other"), [(("a:b", "c"), ("a", "b:c")), (("a%3Ab", "c"), ("a:b", "c"))])
def test_ids_with_separators_in_them_do_not_collide(one: tuple[str, str], other: tuple[str, str]) -> None:
    first, second = (Subject(tenant_id=tenant, subject_id=user) for tenant, user in (one, other))
    assert first.key != second.key
    assert Subject.from_key(first.key) == first


def test_a_turn_that_arrives_during_the_work_is_taken_by_the_holder(mailbox: Mailbox) -> None:
    mailbox.append(turn("t0"), look_after=5)
    batch = mailbox.acquire(ANNA, 8, LEASE_SECONDS)
    assert batch is not None
    mailbox.append(turn("t1"), look_after=5)
    assert taken(mailbox.commit(batch.lease, ["t0"], 8, LEASE_SECONDS)) == ["t1"]


def test_an_empty_mailbox_is_released_and_leaves_no_key_without_expiry(
    mailbox: Mailbox, redis: fakeredis.FakeRedis
) -> None:
    mailbox.append(turn("t"), look_after=5)
    batch = mailbox.acquire(ANNA, 8, LEASE_SECONDS)
    assert batch is not None
    assert mailbox.commit(batch.lease, ["t"], 8, LEASE_SECONDS) is None
    assert mailbox.pending_subjects() == 0
    assert [key for key in keys(redis) if redis.ttl(key) == -1] == []


def test_a_worker_whose_lease_expired_can_neither_drop_nor_renew(mailbox: Mailbox, redis: fakeredis.FakeRedis) -> None:
    mailbox.append(turn("t"), look_after=5)
    late = mailbox.acquire(ANNA, 8, LEASE_SECONDS)
    assert late is not None
    expire_lease(redis, ANNA)
    successor = mailbox.acquire(ANNA, 8, LEASE_SECONDS)
    assert successor is not None
    assert successor.lease.token > late.lease.token
    assert not mailbox.renew(late.lease, LEASE_SECONDS)
    with pytest.raises(LeaseLost):
        mailbox.commit(late.lease, ["t"], 8, LEASE_SECONDS)
    mailbox.release(late, retry_in=0, blamed=False)
    assert mailbox.renew(successor.lease, LEASE_SECONDS)


def test_tokens_grow_even_after_redis_lost_everything(mailbox: Mailbox, redis: fakeredis.FakeRedis) -> None:
    mailbox.append(turn("t"), look_after=5)
    before = mailbox.acquire(ANNA, 8, LEASE_SECONDS)
    redis.flushall()
    mailbox.append(turn("t"), look_after=5)
    after = mailbox.acquire(ANNA, 8, LEASE_SECONDS)
    assert before is not None
    assert after is not None
    assert after.lease.token > before.lease.token


def test_a_turn_that_was_taken_before_is_taken_alone_and_counted(mailbox: Mailbox, redis: fakeredis.FakeRedis) -> None:
    for number in range(3):
        mailbox.append(turn(f"t{number}"), look_after=5)
    assert mailbox.acquire(ANNA, 2, LEASE_SECONDS) is not None
    expire_lease(redis, ANNA)
    batch = mailbox.acquire(ANNA, 8, LEASE_SECONDS)
    assert batch is not None
    assert [(parked.turn_id, parked.deliveries) for parked in batch.turns] == [("t0", 2)]
    batch = mailbox.commit(batch.lease, ["t0"], 8, LEASE_SECONDS)
    assert taken(batch) == ["t1"]
    assert batch is not None
    assert taken(mailbox.commit(batch.lease, ["t1"], 8, LEASE_SECONDS)) == ["t2"]


def test_a_subject_that_backs_off_is_neither_taken_nor_rung_before_its_time(
    mailbox: Mailbox, redis: fakeredis.FakeRedis
) -> None:
    mailbox.append(turn("t"), look_after=0)
    batch = mailbox.acquire(ANNA, 8, LEASE_SECONDS)
    assert batch is not None
    mailbox.release(batch, retry_in=600, blamed=False)
    assert mailbox.acquire(ANNA, 8, LEASE_SECONDS) is None
    assert mailbox.due(10, look_again_after=30) == []
    redis.delete(key_of(ANNA, "retry"))
    redis.zadd(PENDING_SUBJECTS, {ANNA.key: 0})
    assert mailbox.due(10, look_again_after=30) == [ANNA]
    assert taken(mailbox.acquire(ANNA, 8, LEASE_SECONDS)) == ["t"]


def test_a_sweep_rings_each_subject_once_and_the_longest_due_first(mailbox: Mailbox) -> None:
    subjects = [Subject(tenant_id="acme", subject_id=f"u{number}") for number in range(3)]
    for number, subject in enumerate(subjects):
        mailbox.append(turn(f"t{number}", subject=subject), look_after=0)
    assert mailbox.due(2, look_again_after=30) == subjects[:2]
    assert mailbox.due(5, look_again_after=30) == subjects[2:]
    assert mailbox.due(5, look_again_after=30) == []


def test_a_message_in_time_leaves_the_sweeper_nothing_to_do(mailbox: Mailbox) -> None:
    mailbox.append(turn("t"), look_after=60)
    assert mailbox.due(10, look_again_after=30) == []


def keys(redis: fakeredis.FakeRedis) -> list[bytes]:
    return cast(list[bytes], list(redis.scan_iter()))


def expire_lease(redis: fakeredis.FakeRedis, subject: Subject) -> None:
    redis.delete(key_of(subject, "lease"))


class MailboxMachine(RuleBasedStateMachine):
    """Producers append, workers take, commit, give back, die and come back late, in any order."""

    leases: Bundle[Batch | None] = Bundle("leases")
    held: Bundle[Lease | None] = Bundle("held")

    def __init__(self) -> None:
        super().__init__()
        self.redis = fake()
        self.notified: list[Subject] = []
        self.mailbox = Mailbox(self.redis, notify=self.notified.append, slots=100)
        self.appended: list[str] = []
        self.processed: list[str] = []
        self.holder: Lease | None = None
        self.last_token = 0

    @rule(number=st.integers(0, 40))
    def append(self, number: int) -> None:
        said = self.mailbox.append(turn(f"t{number}"), look_after=0)
        expected = Appended.ADDED
        if f"t{number}" in self.appended:
            expected = Appended.DONE if f"t{number}" in self.processed else Appended.PENDING
        else:
            self.appended.append(f"t{number}")
        assert said.appended is expected

    @rule(target=leases, limit=st.integers(1, 10))
    def acquire(self, limit: int) -> Batch | None:
        batch = self.mailbox.acquire(ANNA, limit, LEASE_SECONDS)
        if self.holder is not None or not self.waiting():
            assert batch is None
        else:
            self.check_head(batch, limit)
        return batch

    @rule(batch=consumes(leases), limit=st.integers(0, 10), target=leases)
    def commit(self, batch: Batch | None, limit: int) -> Batch | None:
        if batch is None:
            return None
        ids = [parked.turn_id for parked in batch.turns]
        if batch.lease != self.holder:
            with pytest.raises(LeaseLost):
                self.mailbox.commit(batch.lease, ids, limit, LEASE_SECONDS)
            return None
        following = self.mailbox.commit(batch.lease, ids, limit, LEASE_SECONDS)
        self.processed += ids
        if limit and self.waiting():
            self.check_head(following, limit)
        else:
            assert following is None
            self.holder = None
        return following

    @rule(batch=consumes(leases))
    def give_back(self, batch: Batch | None) -> None:
        if batch is not None:
            self.mailbox.release(batch, retry_in=0, blamed=True)
            if batch.lease == self.holder:
                self.holder = None

    @rule(target=held)
    def hold(self) -> Lease | None:
        lease = self.mailbox.acquire_lease(ANNA, LEASE_SECONDS)
        assert (lease is None) == (self.holder is not None)
        if lease is not None:
            assert lease.token > self.last_token
            self.holder, self.last_token = lease, lease.token
        return lease

    @rule(lease=consumes(held))
    def let_go(self, lease: Lease | None) -> None:
        if lease is not None:
            self.mailbox.release_lease(lease)
            if lease == self.holder:
                self.holder = None

    @rule()
    def the_lease_runs_out(self) -> None:
        if self.holder is not None:
            expire_lease(self.redis, ANNA)
            self.holder = None

    def waiting(self) -> list[str]:
        return [turn_id for turn_id in self.appended if turn_id not in self.processed]

    def check_head(self, batch: Batch | None, limit: int) -> None:
        assert batch is not None
        ids = [parked.turn_id for parked in batch.turns]
        assert 1 <= len(ids) <= limit
        assert ids == self.waiting()[: len(ids)]
        assert batch.lease.token >= self.last_token
        self.holder, self.last_token = batch.lease, batch.lease.token

    @invariant()
    def every_turn_is_processed_once_and_in_order_or_waits(self) -> None:
        assert self.processed == self.appended[: len(self.processed)]

    @invariant()
    def a_subject_with_waiting_turns_is_dirty(self) -> None:
        assert self.mailbox.pending_subjects() == bool(self.waiting())

    @invariant()
    def the_age_of_the_oldest_turn_is_that_of_the_first_that_waits(self) -> None:
        waiting = self.waiting()
        scored = cast(list[tuple[bytes, float]], self.redis.zrange(OLDEST_TURNS, 0, -1, withscores=True))
        heads = [int(score) for _, score in scored]
        records = cast(list[bytes], self.redis.hmget(key_of(ANNA, "turns"), waiting[:1])) if waiting else []
        assert heads == [int(record[64:80]) for record in records]


MailboxMachine.TestCase.settings = settings(max_examples=60, stateful_step_count=30)
TestMailboxMachine = MailboxMachine.TestCase
