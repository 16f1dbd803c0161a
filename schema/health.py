"""What somebody who looks at a part finds, and how to mend it: for `afterturn doctor`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Mark(StrEnum):
    """How a part is: as it should be, worth a look, broken, or not looked at."""

    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True)
class Finding:
    """What was found of a part, in one line without secrets; `mend` says what to do next, where something is."""

    part: str
    mark: Mark
    found: str
    mend: str = ""


def fine(part: str, found: str) -> Finding:
    """It is as it should be."""
    return Finding(part, Mark.OK, found)


def warning(part: str, found: str, mend: str) -> Finding:
    """It works, and will not always."""
    return Finding(part, Mark.WARNING, found, mend)


def failed(part: str, found: str, mend: str) -> Finding:
    """It does not work."""
    return Finding(part, Mark.FAILED, found, mend)


def skipped(part: str, found: str) -> Finding:
    """It was not looked at, or is not set."""
    return Finding(part, Mark.SKIPPED, found)
