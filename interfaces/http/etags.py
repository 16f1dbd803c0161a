"""The version of what can be edited as its ETag, and what requests name of it in If-Match and If-None-Match.

Source: RFC 9110, "HTTP Semantics", 8.8.3, 13.1.1 and 13.1.2.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import Annotated, Final

from fastapi import Depends, FastAPI, Header, Request, Response
from pydantic import WithJsonSchema

from schema.base import ANY_ETAG
from schema.errors import AfterturnError, Outdated

# A field may come in several lines, which are one list.
_LINES: Final = WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "null"}]})
IfMatch = Annotated[
    Sequence[str] | None,
    _LINES,
    Header(description="the ETag that was read, or several of which any will do: else 412, and nothing is done"),
]
IfNoneMatch = Annotated[
    Sequence[str] | None,
    _LINES,
    Header(description="an ETag, or several, or `*` for whatever is there: 412 where it has one, and nothing is done"),
]
_Known = Annotated[
    Sequence[str] | None,
    _LINES,
    Header(alias="If-None-Match", description="the ETag of what is known already, or several: 304 where it is one"),
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
    return _names(
        if_match, "If-Match names no strong ETag: send back the one that you were given, as it was", weak=False
    )


def names_known_in(if_none_match: IfNoneMatch) -> frozenset[str] | None:
    """Return what an If-None-Match names, weak tags as well as strong ones: `ANY_ETAG` for `*`, None where there is no
    If-None-Match.

    Raises:
        Outdated: it names nothing that there could be.
    """
    wrong = "If-None-Match names no ETag: send `*`, or the one that you were given, as it was"
    return _names(if_none_match, wrong, weak=True)


def _names(lines: Sequence[str] | None, wrong: str, *, weak: bool) -> frozenset[str] | None:
    if lines is None:
        return None
    named = ", ".join(lines)
    if named.strip() == "*":
        return ANY_ETAG
    # None has the name "*", in quotation marks.
    names = frozenset(name for is_weak, name in _TAG.findall(named) if weak or not is_weak) - ANY_ETAG
    if not names or not _LIST.fullmatch(named):
        raise Outdated(wrong)
    return names


class NotModified(AfterturnError):
    """The one who asks knows already what would be told: it has this ETag."""

    def __init__(self, etag: str) -> None:
        super().__init__(etag)
        self.etag = etag


def add_not_modified(app: FastAPI) -> None:
    """Answer 304 where a route raises `NotModified`."""
    app.add_exception_handler(NotModified, _not_modified)


async def _not_modified(_request: Request, told: Exception) -> Response:
    assert isinstance(told, NotModified)
    return Response(status_code=HTTPStatus.NOT_MODIFIED, headers={"ETag": told.etag})


async def _telling(response: Response, if_none_match: _Known = None) -> Callable[[int | str], None]:
    def tell(version: int | str) -> None:
        response.headers["ETag"] = etag_of(version)
        try:
            known = names_known_in(if_none_match) or frozenset()
        except Outdated:
            # Who names nothing is told all.
            return
        if not known.isdisjoint({str(version), *ANY_ETAG}):
            raise NotModified(etag_of(version))

    return tell


TellETag = Annotated[Callable[[int | str], None], Depends(_telling)]
"""The parameter of a route that reads: called with the version of what was read, it sets the ETag of the answer, and
ends the request with 304 where If-None-Match names that."""


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
