"""The principal behind a request's credential, never what its body says."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated, Final

from fastapi import Depends, Request, Security
from fastapi.exceptions import RequestValidationError
from fastapi.security import APIKeyHeader, HTTPAuthorizationCredentials, HTTPBearer

from interfaces.http.problems import Unauthorized
from interfaces.http.rates import RateClass
from interfaces.http.service import Opened, Service
from interfaces.http.telemetry import note_key
from memory.keys import PREFIX, principal_of
from policies.access import require
from schema import Capability, Principal, Subject
from schema.errors import NotAllowed

ANONYMOUS: Final = Principal(tenant_id="default", capabilities=frozenset(Capability), key_id="anonymous")
"""Who asks where no keys are asked for: on this machine only, and all that it may."""

_KEY = APIKeyHeader(name="X-API-Key", auto_error=False, description="A key of `afterturn keys create`.")
_BEARER = HTTPBearer(auto_error=False, description="The same key, or a token of the OpenID provider of the settings.")


def _principal(
    request: Request,
    service: Opened,
    key: Annotated[str | None, Security(_KEY)],
    bearer: Annotated[HTTPAuthorizationCredentials | None, Security(_BEARER)],
) -> Principal:
    return principal_behind(key or (bearer.credentials if bearer else None), request, service)


async def _asking_again(
    request: Request,
    service: Opened,
    key: Annotated[str | None, Security(_KEY)],
    bearer: Annotated[HTTPAuthorizationCredentials | None, Security(_BEARER)],
) -> Callable[[], Principal]:
    secret = key or (bearer.credentials if bearer else None)
    return lambda: _principal_of_secret(secret, request, service)


def principal_behind(
    secret: str | None, request: Request, service: Service, rate_class: RateClass | None = None
) -> Principal:
    """Return whom a request's key stands for, and count the request against what the key may ask, by the class of its
    route unless one is named. Where the app lets who sends none do everything, it does so as long as nobody made a key.

    Raises:
        Unauthorized: the key is none that is known and in force.
        Later: the key has asked for as much as it may for now.
        IssuerAway: it is a token, and its provider's keys cannot be read.
    """
    principal = _principal_of_secret(secret, request, service)
    note_key(request.state, principal)
    if principal is not ANONYMOUS:
        service.rates.spend(principal, request, rate_class)
    return principal


def _principal_of_secret(secret: str | None, request: Request, service: Service) -> Principal:
    principal = None if secret is None else _known(secret, service)
    if principal is not None:
        return principal
    if not request.app.state.anonymous_is_allowed or service.tokens is not None or service.context.catalog.keys.any():
        raise Unauthorized
    if secret is not None:
        raise Unauthorized("no key was made here yet: send none, or make one with `afterturn keys create`")
    return ANONYMOUS


def _known(secret: str, service: Service) -> Principal | None:
    if service.tokens is not None and not secret.startswith(PREFIX):
        return service.tokens.principal_of(secret)
    return principal_of(secret, service.context.catalog, now=datetime.now(UTC))


Asker = Annotated[Principal, Depends(_principal)]
"""A route's parameter: who asks."""


async def _admin(principal: Asker) -> Principal:
    require(principal, Capability.ADMIN)
    if principal.user_id is not None or principal.agent_id is not None:
        raise NotAllowed(Capability.ADMIN)
    return principal


Admin = Annotated[Principal, Depends(_admin)]
"""A route's parameter: who asks, with a key that manages the whole tenant and is bound to no user and no agent."""

AskingAgain = Annotated[Callable[[], Principal], Depends(_asking_again)]
"""A route's parameter: returns whom the request's key stands for by now; raises as `principal_behind` does."""


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
