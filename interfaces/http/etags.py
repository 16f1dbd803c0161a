"""The version of what can be edited as its ETag, and what an edit names of it in If-Match."""

from __future__ import annotations

from typing import Final

from interfaces.http.problems import PreconditionFailed

_MOST_DIGITS: Final = 18


def etag_of(version: int) -> str:
    """Return the ETag of a version."""
    return f'"{version}"'


def version_of(if_match: str) -> int | None:
    """Return the version that an If-Match names; None for `*`, which any version matches.

    Raises:
        PreconditionFailed: it names none that there could be.
    """
    if if_match.strip() == "*":
        return None
    digits = if_match.strip().removeprefix("W/").strip('"')
    if not digits.isdecimal() or len(digits) > _MOST_DIGITS:
        raise PreconditionFailed("If-Match names no version: send back the ETag that you were given")
    return int(digits)
