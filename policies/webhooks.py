"""When a webhook is tried again, what an answer means, and what an endpoint is told.

Source: the Standard Webhooks specification, deliverability and reliability (its schedule, 410, Retry-After).
"""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum
from typing import Final

from schema import Labels, Seen, Visibility
from schema.event import EventName

PAUSES: Final = (
    timedelta(seconds=5),
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=2),
    timedelta(hours=5),
    timedelta(hours=10),
    timedelta(hours=14),
    timedelta(hours=20),
    timedelta(hours=24),
)
"""How long to wait after each try that failed: ten tries in three days."""
_JITTER: Final = 0.2
"""Of a pause: so that what failed together does not come again together."""
_LONGEST_ASKED: Final = timedelta(hours=24)
"""How long a receiver may ask us to wait."""
_PATIENT_FAILURES: Final = 5
"""Failures in a row from which an endpoint is left alone between tries, whatever else waits for it."""
_LEFT_ALONE: Final = timedelta(seconds=10)
_LONGEST_LEFT_ALONE: Final = timedelta(hours=1)

TOLD_TO_TENANT: Final = (Seen((Visibility.PUBLIC, Visibility.PRIVATE)),)
"""Labels that a tenant's endpoint hears of: what any service of the tenant without a user sees."""


class Answered(StrEnum):
    """Meaning of a receiver's answer."""

    TAKEN = "taken"
    GONE = "gone"
    """The receiver wants nothing any more."""
    REFUSED = "refused"
    """Not now: try again."""


def answered(status: int) -> Answered:
    """Return what a receiver's HTTP status means. A redirect is refused: it would lead to where nobody checked."""
    if 200 <= status < 300:
        return Answered.TAKEN
    return Answered.GONE if status == 410 else Answered.REFUSED


def pause_after(tries: int, spread: float, asked_seconds: float | None = None) -> timedelta | None:
    """Return how long to wait after so many tries that failed, at least as long as the receiver asked for; None after
    the last. `spread` is anything from 0 to 1 and moves it by up to a fifth."""
    if tries > len(PAUSES):
        return None
    pause = PAUSES[tries - 1] * (1 + _JITTER * (2 * spread - 1))
    asked = timedelta(seconds=max(0.0, min(asked_seconds or 0.0, _LONGEST_ASKED.total_seconds())))
    return max(pause, asked)


def left_alone(failures: int, asked_seconds: float | None = None) -> timedelta:
    """Return for how long nothing at all is sent to an endpoint that failed so often in a row, or asked for time."""
    asked = timedelta(seconds=max(0.0, min(asked_seconds or 0.0, _LONGEST_LEFT_ALONE.total_seconds())))
    beyond = failures - _PATIENT_FAILURES
    if beyond < 0:
        return asked
    doubled: int = 2 ** min(beyond, 20)
    return max(asked, min(_LEFT_ALONE * doubled, _LONGEST_LEFT_ALONE))


def may_be_told(name: EventName, *, names_memory: bool, labels: Labels | None) -> bool:
    """Return whether a tenant's endpoint may be told of an event, by the labels that its memory has now: of one that is
    gone only that it is."""
    if not names_memory:
        return True
    if labels is None:
        return name is EventName.DELETED
    return any(seen.covers(labels) for seen in TOLD_TO_TENANT)
