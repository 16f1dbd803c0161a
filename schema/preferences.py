"""Preferences of a subject: topics never to be kept, consent, a time zone."""

from __future__ import annotations

import hashlib
from enum import StrEnum
from functools import cache
from typing import Annotated
from zoneinfo import available_timezones

from pydantic import AfterValidator, Field, StringConstraints

from schema.base import NO_NUL, Value, etag_of
from schema.turn import Consent

MAX_TOPIC_CHARS = 60
MAX_BLOCKED_TOPICS = 50
MAX_PAUSED_CONVERSATIONS = 200
_MAX_VALUE_CHARS = 100


# Asked anew, it reads a thousand files.
_zones = cache(available_timezones)


def _known_zone(name: str) -> str:
    if name not in _zones():
        raise ValueError("is no time zone; name one such as Europe/Berlin or America/New_York")
    return name


Topic = Annotated[
    str,
    StringConstraints(strip_whitespace=True, to_lower=True, min_length=2, max_length=MAX_TOPIC_CHARS, pattern=NO_NUL),
]
TimeZone = Annotated[str, AfterValidator(_known_zone)]


def conversation_key(conversation_id: str) -> str:
    """Return a conversation's id as it is kept among preferences: itself, or of a long one its SHA-256."""
    if len(conversation_id) <= _MAX_VALUE_CHARS:
        return conversation_id
    return f"sha256:{hashlib.sha256(conversation_id.encode()).hexdigest()}"


class PreferenceName(StrEnum):
    BLOCKED_TOPIC = "blocked_topic"
    """A topic on which nothing is kept or told; there may be several."""
    UNMENTIONED_TOPIC = "unmentioned_topic"
    """A topic on which nothing is told, and things are kept; there may be several."""
    CONSENT = "consent"
    """`granted`, or `withdrawn`: then nothing is kept until it is granted again."""
    TIME_ZONE = "time_zone"
    """Where the subject's nights are, by its IANA name."""
    PAUSED_CONVERSATION = "paused_conversation"
    """A conversation of which nothing is kept; there may be several."""


class Preference(Value):
    """One thing that a subject wants. Setting a consent or a time zone replaces the one before."""

    name: PreferenceName
    value: Annotated[str, StringConstraints(min_length=1, max_length=_MAX_VALUE_CHARS)]

    @property
    def stands_alone(self) -> bool:
        """Return whether a subject has one such preference at a time."""
        return self.name in (PreferenceName.CONSENT, PreferenceName.TIME_ZONE)


class Preferences(Value):
    """All that a subject wants, as far as it is known."""

    blocked_topics: Annotated[tuple[Topic, ...], Field(max_length=MAX_BLOCKED_TOPICS)] = ()
    unmentioned_topics: Annotated[tuple[Topic, ...], Field(max_length=MAX_BLOCKED_TOPICS)] = ()
    consent: Consent | None = None
    time_zone: TimeZone | None = None
    paused_conversations: Annotated[tuple[str, ...], Field(max_length=MAX_PAUSED_CONVERSATIONS)] = ()
    """Their ids as `conversation_key` makes them."""

    @property
    def etag(self) -> str:
        """Return the name of all that is wanted: another one as soon as something else is."""
        return etag_of(self.model_dump_json(include=set(Preferences.model_fields)))

    @property
    def left_alone(self) -> tuple[str, ...]:
        """Return the topics on which nothing is told."""
        return tuple(dict.fromkeys((*self.blocked_topics, *self.unmentioned_topics)))

    def pauses(self, conversation_id: str) -> bool:
        """Return whether nothing of a conversation is to be kept."""
        return conversation_key(conversation_id) in self.paused_conversations
