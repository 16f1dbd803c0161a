"""Tokens of an OpenID provider, and the principals that they stand for (RFC 7519, OpenID Connect Core 1.0).

The issuer says who somebody is. What they may do is at most what the settings say, whatever the token claims.
"""

from __future__ import annotations

import http.client
import json
import secrets
import threading
import time
import urllib.request
from typing import Any, Final

import jwt
import structlog
from jwt.exceptions import PyJWKClientConnectionError, PyJWKClientError, PyJWTError
from pydantic import ValidationError

from schema import Capability, Principal
from schema.errors import Outage
from schema.settings import Settings

_log = structlog.get_logger()
_ALGORITHMS: Final = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Signatures by a private key alone: with a shared secret whoever checks could also sign, and `none` is none."""
_LEEWAY_SECONDS: Final = 30
_FETCH_SECONDS: Final = 3.0
_COOLDOWN_SECONDS: Final = 30.0
_KEYS_SECONDS: Final = 600.0
"""For how long the issuer's keys are taken as they were read; an unknown one has them read again, at most each half
minute."""
_REST_SECONDS: Final = 5.0
"""For how long an issuer that could not be read is not asked again: whoever asks us meanwhile does not wait for it."""
_LONGEST: Final = 8_192
_DISCOVERY: Final = "/.well-known/openid-configuration"
_MOST_BYTES: Final = 256 * 1024


class IssuerAway(Outage):
    """The issuer's keys cannot be read, and none that were read before is the token's."""


class Tokens:
    """Checks tokens of one issuer. May be used from many threads."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._client: _Keys | None = None
        self._document: dict[str, Any] | None = None
        self._opening = threading.Lock()
        self._rests_until = 0.0

    def principal_of(self, token: str) -> Principal | None:
        """Return whom a token stands for; None where it is none of the issuer's, for somebody else, or run out.

        Raises:
            IssuerAway: the keys to check it with cannot be read.
        """
        claims = self._claims(token, self._settings.oidc_audience)
        return None if claims is None else self._principal(claims)

    def signed_in(self, token: str, client_id: str, nonce: str) -> tuple[str, str] | None:
        """Return the tenant and the user of an id token that the issuer gave a client in answer to a nonce (OpenID
        Connect Core 1.0, 3.1.3.7); None where it is another.

        Raises:
            IssuerAway: the keys to check it with cannot be read.
        """
        claims = self._claims(token, client_id)
        if claims is None or not secrets.compare_digest(str(claims.get("nonce", "")).encode(), nonce.encode()):
            return None
        several = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
        if claims.get("azp", None if several else client_id) != client_id:
            return None
        principal = self._principal(claims)
        return None if principal is None or principal.user_id is None else (principal.tenant_id, principal.user_id)

    def endpoint(self, name: str) -> str:
        """Return an address of the issuer by its name in the discovery document.

        Raises:
            IssuerAway: it cannot be read, or does not name it.
        """
        with self._opening:
            if self._document is None:
                self._document = self._discovered()
            url = self._document.get(name)
        if not _is_address(url):
            raise IssuerAway(f"the discovery document of the OpenID provider names no {name}")
        return str(url)

    def _claims(self, token: str, audience: str | None) -> dict[str, Any] | None:
        """Return what a token of the issuer for an audience says; None where it is none."""
        if len(token) > _LONGEST or token.count(".") != 2:
            return None
        settings = self._settings
        try:
            key = self._keys().get_signing_key_from_jwt(token)
            claims: dict[str, Any] = jwt.decode(
                token,
                key,
                algorithms=list(_ALGORITHMS),
                audience=audience,
                issuer=settings.oidc_issuer,
                leeway=_LEEWAY_SECONDS,
                options={"require": ["exp", "iat", "iss", "aud", "sub"]},
            )
        except PyJWKClientConnectionError as error:
            raise IssuerAway("the keys of the OpenID provider cannot be read") from error
        except (PyJWKClientError, PyJWTError, ValueError, TypeError) as error:
            _log.info("token_refused", error=type(error).__name__)
            return None
        return claims

    def _principal(self, claims: dict[str, Any]) -> Principal | None:
        """Return the principal of checked claims. Without a user it is nobody: a token must never stand for a whole
        tenant."""
        names = self._settings.oidc_claims
        user = _text(claims, names.get("user_id", "sub"))
        tenant = _text(claims, names["tenant_id"]) if "tenant_id" in names else self._settings.oidc_tenant
        agent = _text(claims, names["agent_id"]) if "agent_id" in names else None
        # Whoever may write what they like there would be whom they like. Some providers send it as text.
        if any(str(claims.get(f"{name}_verified")).lower() == "false" for name in names.values()):
            _log.info("token_refused", error="a claim that is mapped is not verified")
            return None
        if user is None or tenant is None:
            _log.info("token_refused", error="a claim that is mapped is missing")
            return None
        try:
            return Principal(
                tenant_id=tenant,
                user_id=user,
                agent_id=agent,
                capabilities=self._capabilities(claims),
                key_id=f"oidc:{claims['sub']}",
            )
        except ValidationError:
            _log.info("token_refused", error="a claim can be no id")
            return None

    def _capabilities(self, claims: dict[str, Any]) -> frozenset[Capability]:
        ceiling = frozenset(self._settings.oidc_capabilities)
        name = self._settings.oidc_claims.get("capabilities")
        if name is None:
            return ceiling
        claimed = claims.get(name, ())
        words = claimed.split() if isinstance(claimed, str) else claimed if isinstance(claimed, list) else ()
        return frozenset(capability for capability in ceiling if capability.value in words)

    def _keys(self) -> jwt.PyJWKClient:
        with self._opening:
            if self._client is None:
                url = self._settings.oidc_jwks_url
                if url is None:
                    self._document = self._document or self._discovered()
                    url = self._document["jwks_uri"]
                self._client = _Keys(
                    url, lifespan=_KEYS_SECONDS, timeout=_FETCH_SECONDS, cooldown_duration=_COOLDOWN_SECONDS
                )
            return self._client

    def _discovered(self) -> dict[str, Any]:
        if time.monotonic() < self._rests_until:
            raise IssuerAway("the discovery document of the OpenID provider could not be read a moment ago")
        try:
            return _discovery_document(str(self._settings.oidc_issuer))
        except IssuerAway:
            self._rests_until = time.monotonic() + _REST_SECONDS
            raise


class _Keys(jwt.PyJWKClient):
    """The issuer's keys. Its lock is held while they are read: so they are not read by each who asks while they cannot
    be."""

    _rests_until = 0.0

    def fetch_data(self) -> Any:
        """Read the keys.

        Raises:
            PyJWKClientConnectionError: they cannot be read, or could not a moment ago.
        """
        if time.monotonic() < self._rests_until:
            raise PyJWKClientConnectionError("the keys could not be read a moment ago")
        try:
            return super().fetch_data()
        except (PyJWTError, OSError, ValueError, http.client.HTTPException) as error:
            self._rests_until = time.monotonic() + _REST_SECONDS
            raise PyJWKClientConnectionError("the keys cannot be read") from error


def _text(claims: dict[str, Any], name: str) -> str | None:
    claim = claims.get(name)
    return claim if isinstance(claim, str) and claim else None


def _is_address(url: object) -> bool:
    return isinstance(url, str) and url.startswith(("https://", "http://"))


def _discovery_document(issuer: str) -> dict[str, Any]:
    """Return what an issuer says of itself: where its keys are, and where people sign in.

    Raises:
        IssuerAway: it cannot be read.
    """
    try:
        # The settings take no issuer but one of http or https.
        with urllib.request.urlopen(issuer.rstrip("/") + _DISCOVERY, timeout=_FETCH_SECONDS) as answer:  # nosec B310
            document: dict[str, Any] = json.loads(answer.read(_MOST_BYTES))
        if document["issuer"] != issuer or not _is_address(document["jwks_uri"]):
            raise IssuerAway("the discovery document of the OpenID provider is of another issuer")
    except (OSError, ValueError, KeyError, TypeError, http.client.HTTPException) as error:
        raise IssuerAway("the discovery document of the OpenID provider cannot be read") from error
    return document
