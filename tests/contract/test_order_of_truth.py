"""Which of two statements stands where the clocks of those who sent them disagree: the later one in the mailbox, unless
it was surely said before; and what is not applied says so."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tests.contract.pipeline import Worker, on_every_store_at_length, only
from tests.turns import subject

pytest_generate_tests = on_every_store_at_length


@pytest.mark.parametrize(
    ("first_ahead", "second_ahead"),
    [
        (timedelta(days=27_000), timedelta()),
        (timedelta(hours=20), timedelta()),
        (timedelta(minutes=10), timedelta(minutes=-1)),
        (timedelta(), timedelta(minutes=-3)),
    ],
    ids=["a lifetime ahead", "hours ahead", "minutes ahead", "the second is behind"],
)
def test_what_is_told_later_stands_whatever_the_clocks_say(
    worker: Worker, anna: str, first_ahead: timedelta, second_ahead: timedelta
) -> None:
    now = datetime.now(UTC)
    worker.hear(anna, "I live in Rome.", occurred_at=(now + first_ahead).isoformat())
    worker.hear(anna, "I live in Oslo now.", first=1, occurred_at=(now + second_ahead).isoformat())
    assert "Oslo" in only(worker.known(subject(anna))).summary


def test_turns_that_are_taken_together_are_in_the_order_in_which_they_came(worker: Worker, anna: str) -> None:
    now = datetime.now(UTC)
    worker.hear(anna, "I live in Rome.", occurred_at=(now + timedelta(hours=9)).isoformat())
    worker.hear(anna, "I live in Oslo now.", "I live in Bergen now.", first=1, occurred_at=now.isoformat())
    assert "Bergen" in only(worker.known(subject(anna))).summary


def test_what_was_surely_said_before_changes_nothing_and_the_audit_says_so(worker: Worker, anna: str) -> None:
    now = datetime.now(UTC)
    worker.hear(anna, "I live in Rome.", occurred_at=now.isoformat())
    worker.hear(anna, "I live in Oslo now.", first=1, occurred_at=(now - timedelta(days=2)).isoformat())
    rome = only(worker.known(subject(anna)))
    assert "Rome" in rome.summary
    [line] = [row for row in worker.rows("audit", subject(anna)) if row["action"] == "refused"]
    assert (line["memory_id"], line["reason"]) == (rome.id, "an earlier statement does not replace a later one")
    assert sorted(worker.outcomes(subject(anna)).values()) == ["kept", "refused"]
