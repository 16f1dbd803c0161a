"""Who asks: the principal that a request's credential stands for, never what its body says."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Final

from fastapi import Depends, Request, Security
from fastapi.exceptions import RequestValidationError
from fastapi.security import APIKeyHeader, HTTPAuthorizationCredentials, HTTPBearer

from interfaces.http.problems import Unauthorized
from interfaces.http.service import Opened
from memory.keys import principal_of
from policies.access import require
from schema import Capability, Principal, Subject
from schema.errors import NotAllowed

ANONYMOUS: Final = Principal(tenant_id="default", capabilities=frozenset(Capability), key_id="anonymous")
"""Who asks where no keys are asked for: on this machine only, and all that it may."""

_KEY = APIKeyHeader(name="X-API-Key", auto_error=False, description="A key of `afterturn keys create`.")
_BEARER = HTTPBearer(auto_error=False, description="The same key, as a bearer token.")


def _principal(
    request: Request,
    service: Opened,
    key: Annotated[str | None, Security(_KEY)],
    bearer: Annotated[HTTPAuthorizationCredentials | None, Security(_BEARER)],
) -> Principal:
    secret = key or (bearer.credentials if bearer else None)
    if secret is None and request.app.state.anonymous_is_allowed:
        return ANONYMOUS
    principal = principal_of(secret, service.context.catalog, now=datetime.now(UTC)) if secret else None
    if principal is None:
        raise Unauthorized
    service.rates.spend(principal, request)
    return principal


Asker = Annotated[Principal, Depends(_principal)]
"""A route's parameter: who asks."""


def acting(principal: Principal, user_id: str | None, agent_id: str | None = None) -> Principal:
    """Return the principal for whom a request is made: a key that is bound to no user may name one with `act_as`.

    Raises:
        NotAllowed: the key is bound to another user or agent, or may not name one.
    """
    named = {"user_id": user_id, "agent_id": agent_id}
    others = {name: value for name, value in named.items() if value and value != getattr(principal, name)}
    if not others:
        return principal
    if any(getattr(principal, name) for name in others):
        raise NotAllowed(Capability.ACT_AS)
    require(principal, Capability.ACT_AS)
    return principal.model_copy(update=others)


def subject_of(principal: Principal, subject_id: str | None) -> Subject:
    """Return the subject that a request is about: the one it names, or the principal's own user.

    Raises:
        RequestValidationError: it names none, and the key is bound to no user.
    """
    named = subject_id or principal.user_id
    if named is None:
        wrong = {"loc": ("user_id",), "msg": "say whose memory it is: this key is bound to no user", "type": "missing"}
        raise RequestValidationError([wrong])
    return Subject(tenant_id=principal.tenant_id, subject_id=named)
