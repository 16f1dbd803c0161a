"""A request that is sent again does what it does once, where it names itself in `Idempotency-Key`.

Source: the IETF draft "The Idempotency-Key HTTP Header Field" (draft-ietf-httpapi-idempotency-key-header-07).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Any, Final

import structlog
from fastapi import Depends, Header, Request
from pydantic import BeforeValidator

from interfaces.http.credentials import Asker
from interfaces.http.problems import KeyReused, Later
from interfaces.http.service import Opened
from schema.errors import BrokerFailed
from schema.turn import Identifier
from stores.claims import Claims

_log = structlog.get_logger()
_AGAIN_SECONDS: Final = 1.0
"""How long a client is asked to wait while its first request still goes on."""


def _without_quotes(given: object) -> object:
    """Return a name as it is: the draft has it as a string of structured fields, in quotes, and most clients do not."""
    if isinstance(given, str) and len(given) > 1 and given[0] == given[-1] == '"':
        return given[1:-1]
    return given


RequestName = Annotated[Identifier, BeforeValidator(_without_quotes)]
"""Name that a request gives itself in `Idempotency-Key`."""


@dataclass(frozen=True)
class Once:
    """A request that is to be done once. `name` is None where the request names itself not: then it is done each
    time."""

    claims: Claims
    name: str | None
    digest: str

    def __call__(self, do: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Do it, or return what came of it before: a receipt of ids, never of content.

        What fails may be asked again under the same key. So may what a killed service had begun, after two minutes.

        Raises:
            KeyReused: the key was sent with another request.
            Later: the same request still goes on.
            BrokerFailed: nothing was done, as nobody can tell whether it was before.
        """
        if self.name is None:
            return do()
        earlier = self.claims.begin(self.name, self.digest)
        if earlier is None:
            return self._do(self.name, do)
        if earlier.digest != self.digest:
            raise KeyReused
        if earlier.receipt is None:
            raise Later(HTTPStatus.CONFLICT, "the same request still goes on: ask again", _AGAIN_SECONDS)
        return earlier.receipt

    def _do(self, name: str, do: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        try:
            receipt = do()
        except BaseException:
            self._note(lambda: self.claims.abandon(name))
            raise
        self._note(lambda: self.claims.finish(name, self.digest, receipt))
        return receipt

    def _note(self, note: Callable[[], None]) -> None:
        # It was done, or has failed, and that is what the client is told.
        try:
            note()
        except BrokerFailed as error:
            _log.warning("idempotency_not_noted", error=type(error).__name__)


async def _once(
    request: Request,
    service: Opened,
    principal: Asker,
    idempotency_key: Annotated[
        RequestName | None, Header(description="a name of the request: sent again with it, it is done once (for a day)")
    ] = None,
) -> Once:
    claims = Claims(service.context.redis)
    if idempotency_key is None:
        return Once(claims, None, "")
    # The key goes into the digest, so that short contents cannot be guessed from it.
    asked = idempotency_key.encode(), str(request.url.query).encode(), await request.body()
    digest = hashlib.sha256(b"\0".join(asked)).hexdigest()
    name = json.dumps([*principal.who, request.method, request.url.path, idempotency_key])
    return Once(claims, name, digest)


OnceOnly = Annotated[Once, Depends(_once)]
"""A route's parameter: does what it is given once for each `Idempotency-Key`."""
