"""Retries: which failures may pass, how long to wait, and conflicts that are tried again at once."""

from __future__ import annotations

from typing import Final

from tenacity import (
    RetryCallState,
    Retrying,
    retry,
    retry_if_exception_type,
    stop_after_attempt,
    wait_exponential,
    wait_random_exponential,
)

from schema.errors import ConcurrentChange, Outage, Transient
from stores.machine import translated

_LONGEST_PAUSE: Final = 60.0
# Half of a pause grows from try to try, the other half is anything up to as much again: 0.25 to 0.5 s, and a minute at
# most.
_HALF: Final = {"multiplier": 0.25, "max": _LONGEST_PAUSE / 2}
_PAUSE: Final = wait_exponential(**_HALF) + wait_random_exponential(**_HALF)
retry_on_conflict: Final = retry(
    retry=retry_if_exception_type(ConcurrentChange), stop=stop_after_attempt(5), reraise=True
)
"""Decorates what reads, decides and writes: it is done up to five times while others write in between, and the last
ConcurrentChange is raised."""


def is_transient(error: BaseException) -> bool:
    """Return whether the same work may succeed later with nothing changed."""
    return isinstance(translated(error), Transient)


def is_outage(error: BaseException) -> bool:
    """Return whether a failure that passes is nobody's turn's fault, so that every turn must wait until it is over."""
    return isinstance(translated(error), Outage)


def pause_before_retry(attempt: int, error: BaseException | None = None) -> float:
    """Return how many seconds to wait before the try after `attempt` (from 1): half of it jitter, a minute at most.

    Up to that it is no less than a provider asked for in its error.
    """
    tried = RetryCallState(Retrying(), None, (), {})
    tried.attempt_number = attempt
    asked_seconds = error.retry_after if isinstance(error, Transient) else None
    return max(_PAUSE(tried), min(asked_seconds or 0.0, _LONGEST_PAUSE))
