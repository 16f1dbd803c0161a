"""Moments that come back, as five fields of cron.

Our own lines and not croniter: it reads more than the settings promise, and its messages do not name the wrong field.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo

_FIELDS = (("minute", 0, 59), ("hour", 0, 23), ("day of the month", 1, 31), ("month", 1, 12), ("day of the week", 0, 7))
_FEWEST_DAYS = 2
"""A moment of yesterday is looked for too: at midnight the last one lies there."""


@dataclass(frozen=True)
class Cron:
    """Minutes of local time: `minute hour day-of-month month day-of-week`, each `*`, a number, a range `1-5`, a step
    `*/15`, or a list of these. Sunday is 0 or 7. Both days must match, unlike in Vixie's cron, where either does."""

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]

    @classmethod
    def parse(cls, text: str) -> Cron:
        """Return the moments that five fields name.

        Raises:
            ValueError: they are not five, or one cannot be read; the message says which.
        """
        given = text.split()
        if len(given) != len(_FIELDS):
            raise ValueError(f"takes five fields (minute hour day month weekday), such as 0 3 * * *, not {len(given)}")
        minutes, hours, days, months, weekdays = (
            _values(value, *field) for value, field in zip(given, _FIELDS, strict=True)
        )
        return cls(minutes, hours, days, months, frozenset(day % 7 for day in weekdays))

    def latest(self, now: datetime, zone: tzinfo, within: timedelta) -> datetime | None:
        """Return the last of these moments in a time zone, by its clock on the wall and without a zone; None if there
        was none within that time before `now`."""
        local = now.astimezone(zone)
        for back in range(within.days + _FEWEST_DAYS):
            day = (local - timedelta(days=back)).date()
            if day.day not in self.days or day.month not in self.months or day.isoweekday() % 7 not in self.weekdays:
                continue
            for hour in sorted(self.hours, reverse=True):
                for minute in sorted(self.minutes, reverse=True):
                    moment = datetime(day.year, day.month, day.day, hour, minute, tzinfo=zone)
                    age = now - moment.astimezone(UTC)
                    if age >= timedelta(0):
                        return moment.replace(tzinfo=None) if age <= within else None
        return None


def _values(text: str, name: str, first: int, last: int) -> frozenset[int]:
    values: set[int] = set()
    for part in text.split(","):
        span, _, step = part.partition("/")
        low, _, high = span.partition("-")
        if span == "*":
            low, high = str(first), str(last)
        elif not high:
            high = str(last) if step else low
        numbers = [low, high, step or "1"]
        if not all(number.isascii() and number.isdigit() and len(number) <= 4 for number in numbers):
            raise ValueError(f"the {name} is a number, a range 1-5, a step */15, * or a list of these, not {text!r}")
        begin, end, stride = map(int, numbers)
        if not (first <= begin <= end <= last and stride):
            raise ValueError(f"the {name} lies within {first} and {last}, not {text!r}")
        values.update(range(begin, end + 1, stride))
    return frozenset(values)
