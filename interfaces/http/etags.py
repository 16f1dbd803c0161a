"""The version of a memory as its ETag, and what an edit names of it in If-Match."""

from __future__ import annotations

from typing import Final

from interfaces.http.problems import PreconditionFailed
from schema import Memory

_MOST_DIGITS: Final = 18


def etag_of(memory: Memory) -> str:
    """Return the ETag of a memory as it is."""
    return f'"{memory.version}"'


def version_of(if_match: str) -> int | None:
    """Return the version that an If-Match names; None for `*`, which any version matches.

    Raises:
        PreconditionFailed: it names none that this memory could have.
    """
    if if_match.strip() == "*":
        return None
    digits = if_match.strip().removeprefix("W/").strip('"')
    if not digits.isdecimal() or len(digits) > _MOST_DIGITS:
        raise PreconditionFailed("If-Match names no version of a memory: send back the ETag that you were given")
    return int(digits)
