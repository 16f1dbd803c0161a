"""Whatever is said, admission and extraction end soon, with something that may be kept."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from policies.admission import admit
from schema import MAX_SUMMARY_CHARS, Candidate, Context, Message, Turn
from tests.extractors import by_rules
from tests.growth import assert_grows_linearly
from worker.extract import AdmittedTurn, Extractor

_PIECES = (
    "I ", "my ", "we've ", "Remember that ", "forget that ", "remind me to ", "This is private: ", "Call me ", "it ",
    "999 years ago ", "in 999 months ", "on the 31st of February ", "next Friday at 99:99 ", "since ", "December 0 ",
    "```", "`x`", "| a | b |\n", "def f():\n", "[sends a photo of ", "]", "<", ">", "{}", "\\", "'", '"', "“", "(",
    "?", "!", ". ", "\n", "\t", "\r", "\x00", "\u200b", "\u202e", "\ufeff", "שלום ", "مرحبا ", "你好", "こんにちは",
    "é\u0301\u0301", "😀", "👩‍👩‍👧", "$1,000 ", "€٣ ", "a" * 300, "and ", "but I ", ", ", "-" * 40, "Anna ",
    "1" * 60, "www.a.b/c?d=e ",
)  # fmt: skip
_TEXT = st.lists(st.one_of(st.sampled_from(_PIECES), st.text(max_size=12)), max_size=30).map("".join)
_MOMENTS = st.datetimes(timezones=st.just(UTC))


@pytest.fixture(scope="module")
def extractor() -> Extractor:
    found = by_rules()
    found.prepare()
    return found


def _summaries(extractor: Extractor, before: str, said: str, moment: datetime) -> list[str]:
    turn = Turn(
        turn_id="t1",
        tenant_id="acme",
        user_id="maya",
        conversation_id="c1",
        messages=(Message(role="assistant", content=before), Message(role="user", content=said, name="Maya")),
        occurred_at=moment,
    )
    items = extractor.extract([AdmittedTurn(turn, admit(turn))], Context()).items
    assert len(items) <= 50
    return [item.summary for item in items if isinstance(item, Candidate)]


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(_TEXT, _TEXT, _MOMENTS)
def test_no_mixture_of_signs_makes_it_raise_or_write_too_much(
    extractor: Extractor, before: str, said: str, moment: datetime
) -> None:
    for summary in _summaries(extractor, before, said, moment):
        assert 0 < len(summary) <= MAX_SUMMARY_CHARS


@pytest.mark.parametrize("year", [1, 9999])
@pytest.mark.parametrize(
    "said",
    ["I moved here 999 years ago.", "I am moving in 999 years.", "I start next month.", "I started last week.",
     "I swam yesterday.", "I sail tomorrow.", "I go next weekend.", "I met her 12 decades ago.", "I ski next winter."],
)  # fmt: skip
def test_dates_at_the_ends_of_the_calendar_are_left_as_they_were_said(
    extractor: Extractor, year: int, said: str
) -> None:
    for month in (1, 12):
        day = 1 if year == 1 else 31
        _summaries(extractor, "And you?", said, datetime(year, month, day, 12, tzinfo=UTC))


@pytest.mark.parametrize(
    "piece",
    ["I love it and ", "I have 2 cats, ", "(I ", "my dog's ", "| I | my |\n", "שלום אני ", "😀 I ", "I'm in 3 years ",
     "[sends a photo of my ", "it that this ", "Do you? ", "I " * 3 + "\n"],
)  # fmt: skip
def test_a_turn_of_full_size_is_done_in_bounded_time(extractor: Extractor, piece: str) -> None:
    moment = datetime(2026, 11, 21, tzinfo=UTC)
    assert_grows_linearly(lambda half: _summaries(extractor, half, half, moment), piece, 31_000)
