"""Turns over which workers died: tried one at a time beside those of the same death, and of no other."""

from __future__ import annotations

from contextlib import ExitStack

from stores.mailbox import Batch, key_of
from tests.contract.pipeline import Worker, on_every_store_at_length
from tests.turns import a_turn, subject
from worker import suspects
from worker.suspects import one_at_a_time, taker_key

pytest_generate_tests = on_every_store_at_length


def third_delivery(worker: Worker, user: str, died: str) -> Batch:
    """The batch of a user whose turn two workers took and were not heard of again, `died` the last of them."""
    whose = subject(user)
    worker.park(a_turn(user, 0, "I live in Lisbon"))
    for _ in range(2):
        assert worker.context.mailbox.acquire(whose, 1, 30)
        worker.lose_lease(whose)
    worker.context.redis.set(taker_key(whose), died)
    batch = worker.context.mailbox.acquire(whose, 1, 30)
    assert batch is not None
    return batch


def test_a_suspect_waits_for_those_of_the_same_death_alone(alone: Worker, anna: str) -> None:
    first, second, other = (
        third_delivery(alone, f"{anna}{who}", died) for who, died in (("x", "w1"), ("y", "w1"), ("z", "w2"))
    )
    with ExitStack() as stack:
        may_be_tried = [stack.enter_context(one_at_a_time(batch, alone.context)) for batch in (first, second, other)]
        assert may_be_tried == [True, False, True]


def test_whoever_waits_is_woken_as_soon_as_the_one_before_is_through(alone: Worker, anna: str) -> None:
    first, second = (third_delivery(alone, f"{anna}{who}", "w1") for who in "xy")
    waiting = second.lease.subject
    with one_at_a_time(first, alone.context):
        alone.work(waiting)
        with one_at_a_time(second, alone.context) as may_be_tried:
            assert not may_be_tried
            alone.context.mailbox.release(second, retry_in=600, blamed=False)
    assert not alone.context.redis.exists(key_of(waiting, "retry"))
    assert alone.context.redis.zcard(f"{suspects.PREFIX}w1:waiting") == 0
    alone.work(waiting)
    assert list(alone.outcomes(waiting).values()) == ["kept"]


def test_whoever_had_not_given_back_its_turns_when_it_was_its_time_does_not_wait(alone: Worker, anna: str) -> None:
    first, second = (third_delivery(alone, f"{anna}{who}", "w1") for who in "xy")
    with ExitStack() as before:
        before.enter_context(one_at_a_time(first, alone.context))
        with one_at_a_time(second, alone.context) as may_be_tried:
            assert not may_be_tried
            before.close()
            alone.context.mailbox.release(second, retry_in=600, blamed=False)
    assert not alone.context.redis.exists(key_of(second.lease.subject, "retry"))


def test_those_who_wait_no_more_hold_up_nobody_behind_them(alone: Worker, anna: str) -> None:
    first, second = (third_delivery(alone, f"{anna}{who}", "w1") for who in "xy")
    alone.context.redis.zadd(f"{suspects.PREFIX}w1:waiting", {subject(f"{anna}gone").key: 0})
    with one_at_a_time(first, alone.context), one_at_a_time(second, alone.context):
        alone.context.mailbox.release(second, retry_in=600, blamed=False)
    assert not alone.context.redis.exists(key_of(second.lease.subject, "retry"))
