"""The version of what can be edited as its ETag, and what an edit names of it in If-Match."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import Header

from schema.errors import Outdated

IfMatch = Annotated[str | None, Header(description="the ETag that was read: else 412, and nothing is done")]
_MOST_DIGITS: Final = 18


def etag_of(version: int | str) -> str:
    """Return the ETag of a version."""
    return f'"{version}"'


def version_of(if_match: str | None) -> int | None:
    """Return the version that an If-Match names; None for `*`, which any version matches, and where there is none.

    Raises:
        Outdated: it names none that there could be.
    """
    named = name_in(if_match)
    if named is None or named == "*":
        return None
    if not named.isdecimal() or len(named) > _MOST_DIGITS:
        raise Outdated("If-Match names no version: send back the ETag that you were given")
    return int(named)


def name_in(if_match: str | None) -> str | None:
    """Return what stands between the quotation marks of an If-Match; `*` for whatever is there, which has none: one in
    quotation marks is a tag that nothing has, and keeps them."""
    if if_match is None:
        return None
    tag = if_match.strip()
    name = tag.removeprefix("W/").strip('"')
    return tag if name == "*" else name
