"""The way from the protocol's route to the OpenID provider whose tokens it takes (RFC 9728)."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from schema.settings import Settings

WELL_KNOWN: Final = "/.well-known/oauth-protected-resource"
_SCOPE: Final = "scope"
"""The claim that has what a token was asked for (RFC 8693): of another a client can ask for nothing."""


def challenge(request: Request, settings: Settings) -> str:
    """Return the WWW-Authenticate of a refusal: where a provider is set, where this route's metadata is."""
    if settings.oidc_issuer is None:
        return "Bearer"
    return f'Bearer resource_metadata="{_base(request)}{WELL_KNOWN}{request.url.path}"'


async def metadata_of(request: Request) -> Response:
    """Say which provider's tokens the resource behind the well-known path takes.

    Raises:
        HTTPException: no provider is set (404).
    """
    settings: Settings = request.app.state.service.settings
    if settings.oidc_issuer is None:
        raise HTTPException(HTTPStatus.NOT_FOUND)
    told: dict[str, Any] = {
        "resource": _base(request) + request.url.path.removeprefix(WELL_KNOWN),
        "authorization_servers": [settings.oidc_issuer],
        "bearer_methods_supported": ["header"],
    }
    if settings.oidc_claims.get("capabilities") == _SCOPE:
        told["scopes_supported"] = [capability.value for capability in settings.oidc_capabilities]
    return JSONResponse(told)


def _base(request: Request) -> str:
    return str(request.base_url).rstrip("/")
