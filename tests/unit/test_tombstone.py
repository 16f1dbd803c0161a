"""A tombstone refuses what was enqueued before it, whatever a sender's clock says, and what surely was said before."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from schema import Scope, Tombstone, Turn
from tests.turns import a_turn

AT = datetime(2026, 11, 2, 12, tzinfo=UTC)
TOLERANCE = timedelta(minutes=5)
STONE = Tombstone(Scope.SUBJECT, "", AT)


def said(after: timedelta) -> Turn:
    return Turn.model_validate(a_turn("anna", 1, "I have a cat") | {"occurred_at": (AT + after).isoformat()})


@pytest.mark.parametrize("clock", [timedelta(0), timedelta(hours=-2), timedelta(hours=2)], ids=str)
def test_what_was_enqueued_before_is_refused_whatever_its_senders_clock_says(clock: timedelta) -> None:
    assert STONE.refuses(said(clock), AT - timedelta(seconds=1), TOLERANCE)
    assert STONE.refuses(said(clock), AT, TOLERANCE)


@pytest.mark.parametrize("clock", [timedelta(minutes=-4), timedelta(0), timedelta(hours=2)], ids=str)
def test_what_was_enqueued_after_is_kept_by_a_clock_that_is_no_later_than_clocks_are(clock: timedelta) -> None:
    assert not STONE.refuses(said(clock), AT + timedelta(seconds=30), TOLERANCE)


def test_what_was_said_before_and_lay_where_nobody_says_for_how_long_is_refused() -> None:
    assert STONE.refuses(said(timedelta(minutes=-1)), AT + timedelta(hours=1), TOLERANCE)


def test_another_conversations_turn_is_not_refused() -> None:
    other = Tombstone(Scope.CONVERSATION, "of somebody else", AT)
    assert not other.refuses(said(timedelta(minutes=-9)), AT - timedelta(minutes=9), TOLERANCE)
