"""Which of two statements stands where the clocks of those who sent them disagree: the later one in the mailbox, unless
it was surely said before; and what is not applied says so."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memory.preferences import set_preference
from schema import Preference, PreferenceName
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


def at(moment: datetime) -> dict[str, Any]:
    return {"occurred_at": moment.isoformat()}


@pytest.mark.parametrize("wish", ["Forget that I live in Rome.", "Forget everything about me."])
def test_a_wish_to_forget_takes_nothing_that_was_surely_told_since(worker: Worker, anna: str, wish: str) -> None:
    now = datetime.now(UTC)
    worker.hear(anna, "I live in Rome.", **at(now - timedelta(days=1)))
    worker.hear(anna, wish, first=1, **at(now - timedelta(days=900)))
    rome = only(worker.known(subject(anna)))
    [line] = [row for row in worker.rows("audit", subject(anna)) if row["action"] == "refused"]
    assert (line["memory_id"], line["reason"]) == (rome.id, "what was said later than the wish to forget it stays")
    assert worker.outcomes(subject(anna))[f"{anna}-1"] == "refused"
    last = worker.events(subject(anna))[-1]
    assert (last["event"], json.loads(last["payload"])["code"]) == ("memory.error", "told_later")


def test_a_wish_to_forget_takes_what_was_told_before_it_though_other_things_were_told_since(
    worker: Worker, anna: str
) -> None:
    now = datetime.now(UTC)
    worker.hear(anna, "I live in Rome.", **at(now - timedelta(days=901)))
    worker.hear(anna, "I have a dog called Rex.", first=1, **at(now - timedelta(days=1)))
    worker.hear(anna, "Forget everything about me.", first=2, **at(now - timedelta(days=900)))
    assert "Rex" in only(worker.known(subject(anna))).summary
    assert "Rome" not in worker.everywhere(subject(anna))


@pytest.mark.parametrize("behind", [timedelta(), timedelta(minutes=4)])
def test_a_wish_to_forget_is_done_where_clocks_only_disagree(worker: Worker, anna: str, behind: timedelta) -> None:
    now = datetime.now(UTC)
    worker.hear(anna, "I live in Rome.", **at(now))
    worker.hear(anna, "Forget that I live in Rome.", first=1, **at(now - behind))
    assert worker.known(subject(anna)) == []


def test_a_wish_from_a_clock_that_is_ahead_takes_what_was_told_before_it(worker: Worker, anna: str) -> None:
    now = datetime.now(UTC)
    worker.hear(anna, "I live in Rome.", **at(now + timedelta(hours=20)))
    worker.hear(anna, "Forget that I live in Rome.", first=1, **at(now))
    assert worker.known(subject(anna)) == []


NEVER, AGAIN = "Never store anything about me.", "You can remember things about me again."


@pytest.mark.parametrize(
    ("later", "earlier", "stands"), [(AGAIN, NEVER, "granted"), (NEVER, AGAIN, "withdrawn")], ids=["given", "withdrawn"]
)
def test_a_consent_stands_against_what_was_surely_said_before_it(
    worker: Worker, anna: str, later: str, earlier: str, stands: str
) -> None:
    now = datetime.now(UTC)
    worker.hear(anna, later, **at(now - timedelta(days=1)))
    worker.hear(anna, f"{earlier} I live in Rome.", first=1, **at(now - timedelta(days=900)))
    assert worker.context.catalog.preferences.of(subject(anna)).consent == stands
    assert worker.known(subject(anna)) == []
    reasons = [row["reason"] for row in worker.rows("audit", subject(anna)) if row["turn_id"] == f"{anna}-1"]
    assert reasons == ["an earlier wish does not change a consent that was given or withdrawn later"]
    worker.hear(anna, earlier, first=2, **at(now))
    assert worker.context.catalog.preferences.of(subject(anna)).consent != stands


def test_what_was_said_long_ago_and_comes_in_order_changes_consent_as_it_was_said(worker: Worker, anna: str) -> None:
    then = datetime.now(UTC) - timedelta(days=900)
    worker.hear(anna, AGAIN, **at(then))
    worker.hear(anna, NEVER, first=1, **at(then + timedelta(days=2)))
    assert worker.context.catalog.preferences.of(subject(anna)).consent == "withdrawn"


def test_consent_given_at_a_page_stands_against_what_was_surely_said_before_it(worker: Worker, anna: str) -> None:
    now = datetime.now(UTC)
    granted = Preference(name=PreferenceName.CONSENT, value="granted")
    set_preference(subject(anna), granted, worker.context, by="ann", now=now)
    worker.hear(anna, NEVER, **at(now - timedelta(days=1)))
    assert worker.context.catalog.preferences.of(subject(anna)).consent == "granted"
    worker.hear(anna, NEVER, first=1, **at(now - timedelta(minutes=2)))
    assert worker.context.catalog.preferences.of(subject(anna)).consent == "withdrawn"
