"""Moments that come back, by the clock on the wall."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schema.cron import Cron

TWO_HOURS = timedelta(hours=2)
BERLIN = ZoneInfo("Europe/Berlin")


def test_the_last_moment_is_found_by_the_clock_of_the_zone() -> None:
    nightly = Cron.parse("30 2 * * *")
    now = datetime(2026, 11, 2, 1, 40, tzinfo=UTC)
    assert nightly.latest(now, BERLIN, TWO_HOURS) == datetime(2026, 11, 2, 2, 30)  # noqa: DTZ001
    assert nightly.latest(now, UTC, TWO_HOURS) is None


def test_a_moment_before_midnight_is_found_after_it() -> None:
    late = Cron.parse("45 23 * * *")
    assert late.latest(datetime(2026, 11, 2, 0, 15, tzinfo=UTC), UTC, TWO_HOURS) == datetime(2026, 11, 1, 23, 45)  # noqa: DTZ001


def test_lists_ranges_steps_and_both_names_of_sunday() -> None:
    cron = Cron.parse("*/20 1,3-5 1-31/10 * 7")
    assert [sorted(field) for field in (cron.minutes, cron.hours, cron.days)] == [
        [0, 20, 40],
        [1, 3, 4, 5],
        [1, 11, 21, 31],
    ]
    assert cron.weekdays == Cron.parse("0 0 * * 0").weekdays


@pytest.mark.parametrize(
    "text", ["", "0 3 * *", "60 3 * * *", "0 24 * * *", "x 3 * * *", "0 3 0 * *", "*/0 3 * * *", "5-1 3 * * *"]
)
def test_what_is_no_moment_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"five fields|lies within|is a number"):
        Cron.parse(text)


@given(
    st.datetimes(min_value=datetime(2025, 1, 1), max_value=datetime(2028, 1, 1)),  # noqa: DTZ001
    st.sampled_from(("Europe/Berlin", "America/New_York", "Asia/Kolkata", "Pacific/Apia", "UTC")),
)
def test_who_asks_each_quarter_of_an_hour_gets_one_moment_a_night(at: datetime, zone: str) -> None:
    nightly, begin = Cron.parse("0 2 * * *"), at.replace(tzinfo=UTC)
    ticks = [begin + timedelta(minutes=15 * number) for number in range(4 * 24 * 3)]
    found = {nightly.latest(tick, ZoneInfo(zone), TWO_HOURS) for tick in ticks} - {None}
    assert len(found) in (3, 4)
