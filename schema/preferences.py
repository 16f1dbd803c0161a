"""What a subject wants of their memory: topics never to be kept, consent, a time zone."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated
from zoneinfo import available_timezones

from pydantic import AfterValidator, Field, StringConstraints

from schema.base import Value
from schema.turn import Consent

MAX_TOPIC_CHARS = 60
MAX_BLOCKED_TOPICS = 50


def _known_zone(name: str) -> str:
    if name not in available_timezones():
        raise ValueError("is no time zone; name one such as Europe/Berlin or America/New_York")
    return name


Topic = Annotated[
    str, StringConstraints(strip_whitespace=True, to_lower=True, min_length=2, max_length=MAX_TOPIC_CHARS)
]
TimeZone = Annotated[str, AfterValidator(_known_zone)]


class PreferenceName(StrEnum):
    BLOCKED_TOPIC = "blocked_topic"
    """A topic on which nothing is kept; there may be several."""
    CONSENT = "consent"
    """`granted`, or `withdrawn`: then nothing is kept until it is granted again."""
    TIME_ZONE = "time_zone"
    """Where the subject's nights are, by its IANA name."""


class Preference(Value):
    """One thing that a subject wants. Setting a consent or a time zone replaces the one before."""

    name: PreferenceName
    value: Annotated[str, StringConstraints(min_length=1, max_length=100)]

    @property
    def stands_alone(self) -> bool:
        """Return whether a subject has one such preference at a time."""
        return self.name is not PreferenceName.BLOCKED_TOPIC


class Preferences(Value):
    """All that a subject wants, as far as it is known."""

    blocked_topics: Annotated[tuple[Topic, ...], Field(max_length=MAX_BLOCKED_TOPICS)] = ()
    consent: Consent | None = None
    time_zone: TimeZone | None = None
