"""Notes what a person or an operator says that a subject wants of their memory."""

from __future__ import annotations

from collections.abc import Sequence, Set
from datetime import datetime
from typing import Final

from memory.context import MemoryContext
from memory.failures import retry_on_conflict
from memory.publish import publish
from schema import MAX_BLOCKED_TOPICS, AuditAction, AuditEntry, Preference, PreferenceName, Preferences, Subject
from schema.base import ANY_ETAG
from schema.errors import Outdated, Refused
from schema.preferences import MAX_PAUSED_CONVERSATIONS
from stores.catalog import Changes

_OF_TOPICS: Final = (PreferenceName.BLOCKED_TOPIC, PreferenceName.UNMENTIONED_TOPIC)


class TooManyTopics(Refused):
    """The subject has as many blocked topics, or paused conversations, as can be kept; the message says what to do."""


def set_preference(
    subject: Subject, preference: Preference, context: MemoryContext, *, by: str, now: datetime, holds: bool = True
) -> Preferences:
    """Note what a subject wants from now on, or with `holds` False no longer. Returns all that they want then.

    Raises: as `set_preferences`.
    """
    return set_preferences(subject, [preference], context, by=by, now=now, holds=holds)


@retry_on_conflict
def set_preferences(
    subject: Subject,
    wanted: Sequence[Preference],
    context: MemoryContext,
    *,
    by: str,
    now: datetime,
    holds: bool = True,
    etags: Set[str] | None = None,
) -> Preferences:
    """Note all that a subject wants from now on, or with `holds` False no longer; with `etags` only while what they
    want has one of those, or with `ANY_ETAG`. Returns all that they want then.

    The audit gets a line for each; a blocked topic is not named in it.

    Raises:
        pydantic.ValidationError: a value cannot be what its name says.
        TooManyTopics: one more topic than can be kept.
        Outdated: they want something else by now; nothing was noted.
        ConcurrentChange: others go on changing what they want; try again.
    """
    preferences = context.catalog.preferences.of(subject)
    if etags is not None and etags.isdisjoint({preferences.etag, *ANY_ETAG}):
        raise Outdated
    valued = [_valued(preference) for preference in wanted]
    if holds:
        for preference in valued:
            _require_room(preference, preferences)
    changes = Changes(
        subject=subject,
        at=now,
        audit=tuple(
            AuditEntry(
                action=AuditAction.PREFERENCE,
                **subject.model_dump(),
                at=now,
                by=by,
                reason=_reason(preference, holds=holds),
                policy_version=context.policy.version,
            )
            for preference in valued
        ),
        preferred=tuple(valued) if holds else (),
        unpreferred=() if holds else tuple(each for preference in valued for each in of_one_topic(preference)),
        preferences_read=preferences,
    )
    if valued:
        publish(changes, {}, context)
    return context.catalog.preferences.of(subject)


def _reason(preference: Preference, *, holds: bool) -> str:
    return {
        PreferenceName.BLOCKED_TOPIC: "topic_blocked" if holds else "topic_unblocked",
        PreferenceName.UNMENTIONED_TOPIC: "topic_unmentioned" if holds else "topic_unblocked",
        PreferenceName.CONSENT: f"consent_{preference.value}",
        PreferenceName.TIME_ZONE: "time_zone_set" if holds else "time_zone_unset",
        PreferenceName.PAUSED_CONVERSATION: "conversation_paused" if holds else "conversation_resumed",
    }[preference.name]


def of_one_topic(preference: Preference) -> tuple[Preference, ...]:
    """Return what is wanted no longer with a preference: of a topic that is talked about again nothing stands."""
    if preference.name not in _OF_TOPICS:
        return (preference,)
    return tuple(Preference(name=name, value=preference.value) for name in _OF_TOPICS)


def _valued(preference: Preference) -> Preference:
    """Return the preference with its value as it is kept."""
    if preference.name in _OF_TOPICS:
        return Preference(name=preference.name, value=Preferences(blocked_topics=(preference.value,)).blocked_topics[0])
    if preference.name is not PreferenceName.PAUSED_CONVERSATION:
        Preferences.model_validate({preference.name.value: preference.value})
    return preference


def _require_room(preference: Preference, preferences: Preferences) -> None:
    """Check that one more of its kind can be kept.

    Raises:
        TooManyTopics: it cannot.
    """
    if preference.name in _OF_TOPICS:
        is_blocked = preference.name is PreferenceName.BLOCKED_TOPIC
        values = preferences.blocked_topics if is_blocked else preferences.unmentioned_topics
        most, advice = MAX_BLOCKED_TOPICS, "topics are blocked already; unblock one"
    elif preference.name is PreferenceName.PAUSED_CONVERSATION:
        values, most = preferences.paused_conversations, MAX_PAUSED_CONVERSATIONS
        advice = "conversations are paused already; go on with one"
    else:
        return
    if preference.value not in values and len(values) >= most:
        raise TooManyTopics(f"{most} {advice} first")
