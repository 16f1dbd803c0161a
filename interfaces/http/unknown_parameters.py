"""Parameters of an address that its route does not know: refused by name, for one that is misspelled asks for something
else, and would be answered as if nothing was wrong."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from fastapi import Request
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute

REFUSED_UNDER: Final = "/api/v1/"
"""Below this are the routes of programs. Those of the pages are asked by browsers, to whose addresses others add."""


async def refuse_unknown_parameters(request: Request) -> None:
    """Look whether a route of the API knows each parameter of the address.

    Raises:
        RequestValidationError: it does not; the message names those that it knows.
    """
    route = request.scope.get("route")
    if not request.url.query or not isinstance(route, APIRoute) or not request.url.path.startswith(REFUSED_UNDER):
        return
    known = set(_names(route.dependant))
    said = f"there is no such parameter here; there are: {', '.join(sorted(known))}" if known else "there are none here"
    wrong = [
        {"loc": ("query", name), "msg": said, "type": "extra_forbidden"}
        for name in dict.fromkeys(request.query_params)
        if name not in known
    ]
    if wrong:
        raise RequestValidationError(wrong)


def _names(dependant: Dependant) -> Iterator[str]:
    yield from (parameter.alias for parameter in dependant.query_params)
    for below in dependant.dependencies:
        yield from _names(below)
