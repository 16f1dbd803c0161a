"""Subjects are notified of when their pauses end, in the order in which they do."""

from __future__ import annotations

from queue import SimpleQueue

from schema import Subject
from schema.errors import BrokerOutage
from worker.delayed import DelayedNotifications

_SECONDS = 30.0
"""Far longer than any wait here takes, so that a failure is no matter of speed."""


def _subject(name: str) -> Subject:
    return Subject(tenant_id="acme", subject_id=name)


def test_the_pause_that_ends_first_is_told_first_whenever_it_began() -> None:
    told: SimpleQueue[Subject] = SimpleQueue()
    delayed = DelayedNotifications(told.put)
    delayed.after(0.2, _subject("late"))
    delayed.after(0.01, _subject("soon"))
    assert [told.get(timeout=_SECONDS), told.get(timeout=_SECONDS)] == [_subject("soon"), _subject("late")]
    delayed.stop()


def test_a_broker_that_does_not_take_one_costs_only_that_one() -> None:
    told: SimpleQueue[Subject] = SimpleQueue()

    def notify(subject: Subject) -> None:
        if subject == _subject("unlucky"):
            raise BrokerOutage("away")
        told.put(subject)

    delayed = DelayedNotifications(notify)
    delayed.after(0.0, _subject("unlucky"))
    delayed.after(0.01, _subject("lucky"))
    assert told.get(timeout=_SECONDS) == _subject("lucky")
    delayed.stop()


def test_what_is_not_due_when_it_stops_is_dropped() -> None:
    told: SimpleQueue[Subject] = SimpleQueue()
    delayed = DelayedNotifications(told.put)
    delayed.after(3600.0, _subject("anna"))
    delayed.stop()
    delayed.after(0.0, _subject("boris"))
    assert told.empty()
