"""Slashes within the ids of an address: `/subjects/org%2Fann` is about the subject `org/ann`, and about no other.

A server unquotes an address before its routes are looked for, and then `%2F` parts an id as `/` parts two of them:
what is asked of `vic%2Fcontext` would be asked of `vic`. So a quoted slash goes through the routing as a character that
no id may have, and is a slash again before anybody reads the id.
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote

from fastapi import Request
from starlette.types import ASGIApp, Receive, Scope, Send

_STAND_IN: Final = "\x1f"
_REFUSED: Final = "\x1e"
"""Character that the stand-in becomes where somebody sends it: an id with either is refused."""
_TELLING: Final = re.compile(r"%[12]f|\x1f", re.IGNORECASE)
"""Pattern of a quoted slash, or of the stand-in, as in "/subjects/org%2Fann"."""


class SlashesInIds:
    """Routes an address by the slashes that are not quoted in it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # In place: who stands before reads the route in it.
        if scope["type"] == "http" and _TELLING.search(sent := scope.get("raw_path", b"").decode("latin-1")):
            scope["path"] = unquote(_TELLING.sub(_as_one_character, sent))
        await self._app(scope, receive, send)


async def put_slashes_back(request: Request) -> None:
    """Give the parameters of an address the slashes that were quoted in it; before all else that reads them."""
    parameters = request.scope["path_params"]
    parameters |= {name: value.replace(_STAND_IN, "/") for name, value in parameters.items() if isinstance(value, str)}


def _as_one_character(found: re.Match[str]) -> str:
    return _STAND_IN if found[0].lower() == "%2f" else _REFUSED
