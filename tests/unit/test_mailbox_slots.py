"""Slots: a tenant's backlog waits in its queue, its failures are counted, and everybody's turn comes."""

from __future__ import annotations

from typing import Any, cast

import fakeredis
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from schema import Subject
from stores.mailbox import Appended, Batch, Mailbox
from stores.mailbox.scripts import PENDING_SUBJECTS, PREFIX
from tests.unit.test_mailbox import LEASE_SECONDS, expire_lease, fake, taken, turn

USERS = [Subject(tenant_id="acme", subject_id=f"u{number}") for number in range(6)]
OTHER = Subject(tenant_id="globex", subject_id="u0")
SLOTS = 2


class Fleet:
    """Mailboxes with two slots a tenant, and the messages that were sent."""

    def __init__(self) -> None:
        self.redis: fakeredis.FakeRedis = fake()
        self.messages: list[Subject] = []
        self.mailbox = Mailbox(self.redis, notify=self.messages.append, slots=SLOTS)
        self._turns = 0

    def append(self, subject: Subject) -> bool:
        """Park one more turn; True if a message was sent for it."""
        self._turns += 1
        receipt = self.mailbox.append(turn(f"t{self._turns}", subject=subject), look_after=600)
        if receipt.notify:
            self.messages.append(subject)
        return receipt.notify

    def acquire(self, subject: Subject) -> Batch | None:
        return self.mailbox.acquire(subject, 8, LEASE_SECONDS)

    def commit(self, batch: Batch, limit: int = 8) -> Batch | None:
        return self.mailbox.commit(batch.lease, [parked.turn_id for parked in batch.turns], limit, LEASE_SECONDS)

    def let_messages_be_forgotten(self) -> None:
        """As if the time had passed for which a message may be under way, and the sweeper's too."""
        for slots in cast(list[bytes], list(self.redis.scan_iter(f"{PREFIX}seats:*"))):
            for member in cast(list[bytes], self.redis.zrange(slots, 0, -1)):
                if not self.redis.exists(f"{PREFIX}{{{member.decode()}}}:lease"):
                    self.redis.zadd(slots, {member: 0})
        for member in cast(list[bytes], self.redis.zrange(PENDING_SUBJECTS, 0, -1)):
            self.redis.zadd(PENDING_SUBJECTS, {member: 0})


@pytest.fixture
def fleet() -> Fleet:
    return Fleet()


def held(batch: Batch | None) -> Batch:
    assert batch is not None
    return batch


def test_one_message_is_under_way_for_many_turns_of_a_subject(fleet: Fleet) -> None:
    assert [fleet.append(USERS[0]) for _ in range(3)] == [True, False, False]
    assert taken(fleet.acquire(USERS[0])) == ["t1", "t2", "t3"]


def test_a_subject_beyond_the_slots_waits_and_is_notified_when_one_is_free(fleet: Fleet) -> None:
    assert [fleet.append(user) for user in USERS[:3]] == [True, True, False]
    assert fleet.acquire(USERS[2]) is None
    first = held(fleet.acquire(USERS[0]))
    fleet.messages.clear()
    assert fleet.commit(first) is None
    assert fleet.messages == [USERS[2]]
    assert taken(fleet.acquire(USERS[2])) == ["t3"]


def test_a_tenant_with_a_backlog_takes_no_seat_of_another(fleet: Fleet) -> None:
    for user in USERS:
        fleet.append(user)
    assert fleet.append(OTHER)
    assert fleet.acquire(OTHER) is not None


def test_the_line_is_served_in_the_order_in_which_it_formed(fleet: Fleet) -> None:
    for user in USERS:
        fleet.append(user)
    fleet.messages.clear()
    fleet.commit(held(fleet.acquire(USERS[0])))
    fleet.commit(held(fleet.acquire(USERS[1])))
    assert fleet.messages == [USERS[2], USERS[3]]


def test_a_deep_mailbox_lines_up_again_behind_those_that_wait(fleet: Fleet) -> None:
    for _ in range(20):
        fleet.append(USERS[0])
    for user in USERS[1:4]:
        fleet.append(user)
    fleet.messages.clear()
    assert fleet.commit(held(fleet.acquire(USERS[0])), limit=0) is None
    assert fleet.messages == [USERS[2]]
    fleet.commit(held(fleet.acquire(USERS[1])))
    fleet.commit(held(fleet.acquire(USERS[2])))
    assert fleet.messages == [USERS[2], USERS[3], USERS[0]]


def test_a_deep_mailbox_that_nobody_waits_behind_is_rung_at_once(fleet: Fleet) -> None:
    for _ in range(20):
        fleet.append(USERS[0])
    fleet.messages.clear()
    fleet.commit(held(fleet.acquire(USERS[0])), limit=0)
    assert fleet.messages == [USERS[0]]
    assert len(held(fleet.acquire(USERS[0])).turns) == 8


def test_a_subject_that_backs_off_gives_its_seat_to_the_next(fleet: Fleet) -> None:
    for user in USERS[:3]:
        fleet.append(user)
    batch = held(fleet.acquire(USERS[0]))
    fleet.messages.clear()
    fleet.mailbox.release(batch, retry_in=600, blamed=False)
    assert fleet.messages == [USERS[2]]


def test_a_failure_is_the_turns_own_and_an_outage_is_nobodys(fleet: Fleet) -> None:
    fleet.append(USERS[0])
    fleet.mailbox.release(held(fleet.acquire(USERS[0])), retry_in=0, blamed=True)
    fleet.mailbox.release(held(fleet.acquire(USERS[0])), retry_in=0, blamed=False)
    batch = held(fleet.acquire(USERS[0]))
    assert [(parked.deliveries, parked.failures) for parked in batch.turns] == [(1, 1)]
    assert batch.outages == 1


def test_a_turn_that_failed_is_taken_alone_the_next_time(fleet: Fleet) -> None:
    for _ in range(3):
        fleet.append(USERS[0])
    fleet.mailbox.release(held(fleet.acquire(USERS[0])), retry_in=0, blamed=True)
    assert taken(fleet.acquire(USERS[0])) == ["t1"]


def test_turns_that_an_outage_held_up_are_taken_together_again(fleet: Fleet) -> None:
    for _ in range(3):
        fleet.append(USERS[0])
    fleet.mailbox.release(held(fleet.acquire(USERS[0])), retry_in=0, blamed=False)
    assert taken(fleet.acquire(USERS[0])) == ["t1", "t2", "t3"]


def test_a_reopened_turn_may_be_appended_again_and_another_content_may_not(fleet: Fleet) -> None:
    fleet.append(USERS[0])
    fleet.commit(held(fleet.acquire(USERS[0])))
    said = turn("t1", subject=USERS[0])
    fleet.mailbox.reopen(turn("t1", "I live in Berlin", subject=USERS[0]))
    assert fleet.mailbox.append(said, look_after=5).appended is Appended.DONE
    fleet.mailbox.reopen(said)
    assert fleet.mailbox.append(said, look_after=5).appended is Appended.ADDED


def test_pending_turns_are_counted_over_all_subjects(fleet: Fleet) -> None:
    for user in USERS:
        fleet.append(user)
    assert fleet.mailbox.pending_turns() == 6
    fleet.commit(held(fleet.acquire(USERS[0])))
    assert fleet.mailbox.pending_turns() == 5


class SeatsMachine(RuleBasedStateMachine):
    """Six users of one tenant with two slots; messages get lost, workers die, and in the end all turns are done."""

    def __init__(self) -> None:
        super().__init__()
        self.fleet = Fleet()
        self.appended: dict[Subject, int] = dict.fromkeys(USERS, 0)
        self.done: dict[Subject, int] = dict.fromkeys(USERS, 0)
        self.batches: dict[Subject, Batch] = {}

    @rule(subject=st.sampled_from(USERS))
    def append(self, subject: Subject) -> None:
        self.fleet.append(subject)
        self.appended[subject] += 1

    @precondition(lambda self: self.fleet.messages)
    @rule(data=st.data())
    def a_message_arrives(self, data: Any) -> None:
        place = data.draw(st.integers(0, len(self.fleet.messages) - 1))
        self.take(self.fleet.messages.pop(place))

    @precondition(lambda self: self.fleet.messages)
    @rule()
    def a_message_is_lost(self) -> None:
        self.fleet.messages.pop(0)

    @precondition(lambda self: self.batches)
    @rule(data=st.data(), limit=st.sampled_from([0, 1, 8]))
    def a_worker_commits(self, data: Any, limit: int) -> None:
        self.commit(data.draw(st.sampled_from(sorted(self.batches, key=lambda subject: subject.key))), limit)

    @precondition(lambda self: self.batches)
    @rule(data=st.data(), blamed=st.booleans())
    def a_worker_gives_back(self, data: Any, blamed: bool) -> None:
        subject = data.draw(st.sampled_from(sorted(self.batches, key=lambda subject: subject.key)))
        self.fleet.mailbox.release(self.batches.pop(subject), retry_in=0, blamed=blamed)

    @precondition(lambda self: self.batches)
    @rule(data=st.data())
    def a_worker_dies(self, data: Any) -> None:
        subject = data.draw(st.sampled_from(sorted(self.batches, key=lambda subject: subject.key)))
        del self.batches[subject]
        expire_lease(self.fleet.redis, subject)

    @rule()
    def time_passes_and_the_sweeper_comes(self) -> None:
        self.sweep()

    def sweep(self) -> None:
        self.fleet.let_messages_be_forgotten()
        self.fleet.messages += self.fleet.mailbox.due(100, look_again_after=600)

    def take(self, subject: Subject) -> None:
        batch = self.fleet.acquire(subject)
        if batch is not None:
            assert subject not in self.batches
            self.batches[subject] = batch

    def commit(self, subject: Subject, limit: int) -> None:
        batch = self.batches.pop(subject)
        following = self.fleet.commit(batch, limit)
        self.done[subject] += len(batch.turns)
        if following is not None:
            self.batches[subject] = following

    @invariant()
    def no_more_subjects_are_in_work_than_there_are_slots(self) -> None:
        assert len(self.batches) <= SLOTS

    @invariant()
    def the_count_of_pending_turns_is_right(self) -> None:
        assert self.fleet.mailbox.pending_turns() == sum(self.appended.values()) - sum(self.done.values())

    def teardown(self) -> None:
        rounds = 10 * (1 + sum(self.appended.values()))
        for _ in range(rounds):
            self.sweep()
            while self.fleet.messages:
                self.take(self.fleet.messages.pop(0))
            for subject in list(self.batches):
                self.commit(subject, 8)
        assert self.done == self.appended
        assert self.fleet.mailbox.pending_subjects() == 0


SeatsMachine.TestCase.settings = settings(max_examples=40, stateful_step_count=30)
TestSeatsMachine = SeatsMachine.TestCase
