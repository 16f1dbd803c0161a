"""Preferences of subjects, one row for each."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import Connection, and_, delete, or_, select

import stores.catalog.tables as tables
from schema import Preference, PreferenceName, Preferences, Subject
from schema.errors import ConcurrentChange
from stores.catalog.changes import Changes
from stores.catalog.statements import insert_new, of_bound_subject, of_subject, subject_parameters
from stores.catalog.store import Reader

_table = tables.preferences
_OF = select(_table.c.name, _table.c.value).where(of_bound_subject(_table))


class PreferenceStore(Reader):
    """The preferences of all subjects. Reads only: they are set by `Changes`."""

    def of(self, subject: Subject) -> Preferences:
        """Return all that a subject wants."""
        return preferences_of(tuple(row) for row in self._rows(_OF, subject_parameters(subject)))

    def consent_since(self, subject: Subject) -> datetime | None:
        """Return when a subject gave or withdrew consent last, None where they never did."""
        is_consent = _table.c.name == PreferenceName.CONSENT
        since: datetime | None = self._value(select(_table.c.since).where(of_subject(_table, subject), is_consent))
        return since


def preferences_of(rows: Iterable[tuple[str, str]]) -> Preferences:
    """Return the preferences that rows of (name, value) tell."""
    by_name: dict[str, list[str]] = {}
    for name, value in rows:
        by_name.setdefault(name, []).append(value)
    return Preferences.model_validate(
        {
            "blocked_topics": sorted(by_name.get(PreferenceName.BLOCKED_TOPIC, ())),
            "unmentioned_topics": sorted(by_name.get(PreferenceName.UNMENTIONED_TOPIC, ())),
            "consent": next(iter(by_name.get(PreferenceName.CONSENT, ())), None),
            "time_zone": next(iter(by_name.get(PreferenceName.TIME_ZONE, ())), None),
            "paused_conversations": sorted(by_name.get(PreferenceName.PAUSED_CONVERSATION, ())),
        }
    )


def write_preferences(connection: Connection, changes: Changes) -> None:
    """Set what a subject wants from now on, and drop what they want no longer.

    Raises:
        ConcurrentChange: they want something else by now than what was read.
    """
    if not (changes.preferred or changes.unpreferred):
        return
    if changes.preferences_read is not None:
        rows = connection.execute(_OF, subject_parameters(changes.subject))
        if preferences_of((row.name, row.value) for row in rows) != changes.preferences_read:
            raise ConcurrentChange
    gone = [
        *(
            and_(_table.c.name == preference.name, _table.c.value == preference.value)
            for preference in changes.unpreferred
        ),
        *(_table.c.name == preference.name for preference in changes.preferred if preference.stands_alone),
    ]
    if gone:
        connection.execute(delete(_table).where(of_subject(_table, changes.subject), or_(*gone)))
    if changes.preferred:
        connection.execute(
            _insert(connection.dialect.name), [_row(changes, preference) for preference in changes.preferred]
        )


def _row(changes: Changes, preference: Preference) -> dict[str, Any]:
    is_consent = preference.name is PreferenceName.CONSENT
    since = (changes.consent_given_at if is_consent else None) or changes.at
    return changes.subject.model_dump() | {"name": preference.name, "value": preference.value, "since": since}


@cache
def _insert(dialect: str) -> Any:
    return insert_new(dialect, _table)
