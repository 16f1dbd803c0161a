"""What a user puts right, as a worker takes it: the right value stands, the wrong one is superseded."""

from __future__ import annotations

import pytest

from schema import Status
from tests.contract.pipeline import Worker, on_every_store, only
from tests.turns import subject

pytest_generate_tests = on_every_store


def test_what_is_put_right_within_the_hour_is_told_again_with_the_right_value(worker: Worker, anna: str) -> None:
    whose = subject(anna)
    worker.hear(anna, "My locker number at the gym is 9427.")
    worker.hear(anna, "9472* typo", first=1)
    memory = only(worker.known(whose))
    assert "9472" in memory.summary
    assert "locker" in memory.summary
    assert "9427" not in memory.summary
    assert only(worker.known(whose, Status.SUPERSEDED)).superseded_by == memory.id


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("not June, July", "14 July 2030"),  # Days later too, what says what was wrong is plain.
        ("no wait, the 21st", "14 June 2030"),
    ],
)
def test_what_was_said_days_before_is_put_right_only_by_who_says_what_was_wrong(
    worker: Worker, anna: str, said: str, told: str
) -> None:
    worker.hear(anna, "My brother's wedding is on 14 June 2030.")
    worker.hear(anna, said, first=1, occurred_at="2026-11-05T08:00:00+00:00")
    assert told in only(worker.known(subject(anna))).summary


def test_a_day_that_is_put_right_is_when_it_happens(worker: Worker, anna: str) -> None:
    worker.hear(anna, "My brother's wedding is on 14 June 2030.")
    worker.hear(anna, "no wait, the 21st", first=1)
    memory = only(worker.known(subject(anna)))
    assert "21 June 2030" in memory.summary
    assert (memory.occurred_at.month, memory.occurred_at.day) == (6, 21)


def test_a_correction_to_a_day_that_no_calendar_has_changes_nothing(worker: Worker, anna: str) -> None:
    worker.hear(anna, "My brother's wedding is on 14 June 2030.")
    worker.hear(anna, "no wait, the 31st", first=1)
    assert "14 June 2030" in only(worker.known(subject(anna))).summary
    assert worker.known(subject(anna), Status.SUPERSEDED) == []


def test_a_correction_of_nothing_that_was_told_leaves_nothing(worker: Worker, anna: str) -> None:
    worker.hear(anna, "9472* typo")
    assert worker.known(subject(anna)) == []


def test_what_is_wrong_is_put_right_wherever_in_its_message_it_is_named(worker: Worker, anna: str) -> None:
    worker.hear(anna, "My mum has moved to Cork.")
    worker.hear(anna, "YORK. My phone is mad. York, not Cork", first=1)
    told = [memory.summary for memory in worker.known(subject(anna))]
    assert any("to York" in summary for summary in told)
    assert not any("to Cork" in summary for summary in told)
