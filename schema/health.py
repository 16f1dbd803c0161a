"""The health of a part as somebody who looks at it finds it, and how to mend it: for `afterturn doctor`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class HealthStatus(StrEnum):
    """State of a part: as it should be, worth a look, broken, or not looked at."""

    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True)
class HealthCheck:
    """Finding on a part, in one line without secrets; `hint` says what to do next, where something is."""

    part: str
    status: HealthStatus
    found: str
    hint: str = ""


def fine(part: str, found: str) -> HealthCheck:
    """Return the check of a part that is as it should be."""
    return HealthCheck(part, HealthStatus.OK, found)


def warning(part: str, found: str, hint: str) -> HealthCheck:
    """Return the check of a part that works, and will not always."""
    return HealthCheck(part, HealthStatus.WARNING, found, hint)


def failed(part: str, found: str, hint: str) -> HealthCheck:
    """Return the check of a part that does not work."""
    return HealthCheck(part, HealthStatus.FAILED, found, hint)


def skipped(part: str, found: str) -> HealthCheck:
    """Return the check of a part that was not looked at, or is not set."""
    return HealthCheck(part, HealthStatus.SKIPPED, found)
