"""The version of what can be edited as its ETag, and what an edit names of it in If-Match.

Source: RFC 9110, "HTTP Semantics", 8.8.3 and 13.1.1.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Final

from fastapi import Header
from pydantic import WithJsonSchema

from schema.base import ANY_ETAG
from schema.errors import Outdated

IfMatch = Annotated[
    Sequence[str] | None,
    # It may come in several lines, which are one list.
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "null"}]}),
    Header(description="the ETag that was read, or several of which any will do: else 412, and nothing is done"),
]
_TAG: Final = re.compile(r'(W/)?"([\x21\x23-\x7e\x80-\xff]*)"')
_LIST: Final = re.compile(rf"(?:[ \t]*(?:{_TAG.pattern}[ \t]*)?(?:,|\Z))*")
_MOST_DIGITS: Final = 18


def etag_of(version: int | str) -> str:
    """Return the ETag of a version."""
    return f'"{version}"'


def names_in(if_match: IfMatch) -> frozenset[str] | None:
    """Return what an If-Match names, any of which will do: `ANY_ETAG` for `*`, None where there is no If-Match.

    A weak tag is left out: what it names may have changed in a way that its reader did not see.

    Raises:
        Outdated: it names nothing that there could be.
    """
    if if_match is None:
        return None
    named = ", ".join(if_match)
    if named.strip() == "*":
        return ANY_ETAG
    strong = frozenset(name for weak, name in _TAG.findall(named) if not weak)
    # None has the name "*", in quotation marks.
    names = strong - ANY_ETAG
    if not names or not _LIST.fullmatch(named):
        raise Outdated("If-Match names no strong ETag: send back the one that you were given, as it was")
    return names


def versions_in(if_match: IfMatch) -> frozenset[int] | None:
    """Return the versions that an If-Match names; None for `*`, which any version matches, and where there is none.

    Raises:
        Outdated: it names none that there could be.
    """
    names = names_in(if_match)
    if names is None or names == ANY_ETAG:
        return None
    versions = frozenset(int(name) for name in names if name.isdecimal() and len(name) <= _MOST_DIGITS)
    if not versions:
        raise Outdated("If-Match names no version: send back the ETag that you were given")
    return versions
