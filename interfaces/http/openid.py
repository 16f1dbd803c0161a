"""Signing in by an OpenID provider: the authorization code flow with PKCE (OpenID Connect Core 1.0, RFC 7636)."""

from __future__ import annotations

import base64
import hashlib
import secrets
from dataclasses import dataclass, fields
from typing import Any, Final
from urllib.parse import quote_plus, urlencode

import httpx
import structlog

from interfaces.http.tokens import IssuerAway, Tokens
from schema.errors import Refused
from schema.settings import Settings

_log = structlog.get_logger()
_SECONDS: Final = 5.0
_MOST_BYTES: Final = 256 * 1024
_SCOPE_OF: Final = {
    **dict.fromkeys(("email", "email_verified"), "email"),
    **dict.fromkeys(("phone_number", "phone_number_verified"), "phone"),
    **dict.fromkeys(("name", "nickname", "preferred_username", "given_name", "family_name", "profile"), "profile"),
}
"""By which scope a provider is asked for a claim that it does not tell without (OpenID Connect Core 1.0, 5.4)."""


class SignInRefused(Refused):
    """The provider, or what it sent, does not say who somebody is."""


@dataclass(frozen=True)
class Attempt:
    """State kept in the browser while its user is at the provider: the answer must come with it."""

    state: str
    nonce: str
    verifier: str

    @classmethod
    def new(cls) -> Attempt:
        """Return one that nobody can guess."""
        return cls(secrets.token_urlsafe(32), secrets.token_urlsafe(32), secrets.token_urlsafe(48))

    @classmethod
    def of_cookie(cls, value: str) -> Attempt | None:
        """Return the one that a browser kept as `cookie`; None where that is none."""
        kept = value.split(".")
        return cls(*kept) if len(kept) == len(fields(cls)) else None

    @property
    def cookie(self) -> str:
        """Return the cookie by which a browser keeps it. Its own letters have no dots."""
        return ".".join((self.state, self.nonce, self.verifier))

    @property
    def challenge(self) -> str:
        """Return the SHA-256 of the verifier, as RFC 7636 writes it."""
        digest = hashlib.sha256(self.verifier.encode()).digest()
        return base64.urlsafe_b64encode(digest).decode().rstrip("=")


class SignIn:
    """Sends people to the provider, and takes what it says of them. May be used from many threads."""

    def __init__(self, settings: Settings, tokens: Tokens) -> None:
        assert settings.oidc_client_id is not None
        self._client_id = settings.oidc_client_id
        self._secret = settings.oidc_client_secret
        self._issuer = settings.oidc_issuer
        scopes = (_SCOPE_OF[claim] for claim in settings.oidc_claims.values() if claim in _SCOPE_OF)
        self._scope = " ".join(dict.fromkeys(("openid", *scopes)))
        self._tokens = tokens

    def begin(self, attempt: Attempt, redirect_uri: str) -> str:
        """Return where somebody is sent to say who they are.

        Raises:
            IssuerAway: the provider cannot be asked where that is.
        """
        url = self._tokens.endpoint("authorization_endpoint")
        asked = {
            "response_type": "code",
            "client_id": self._client_id,
            "redirect_uri": redirect_uri,
            "scope": self._scope,
            "state": attempt.state,
            "nonce": attempt.nonce,
            "code_challenge": attempt.challenge,
            "code_challenge_method": "S256",
        }
        return f"{url}{'&' if '?' in url else '?'}{urlencode(asked)}"

    def finish(self, attempt: Attempt, code: str, redirect_uri: str, issuer: str | None) -> tuple[str, str]:
        """Return the tenant and the user whom the provider names for a code. `issuer` is who says to have given it
        (RFC 9207), where it says so.

        Raises:
            SignInRefused: the code is none, or what comes for it is not the provider's word about this attempt.
            IssuerAway: the provider cannot be asked.
        """
        if issuer is not None and issuer != self._issuer:
            raise SignInRefused
        signed_in = self._tokens.signed_in(
            self._redeemed(code, attempt.verifier, redirect_uri), self._client_id, attempt.nonce
        )
        if signed_in is None:
            raise SignInRefused
        return signed_in

    def _redeemed(self, code: str, verifier: str, redirect_uri: str) -> str:
        """Return the id token that a code is good for, once."""
        sent = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect_uri,
            "client_id": self._client_id,
            "code_verifier": verifier,
        }
        try:
            answer = httpx.post(
                self._tokens.endpoint("token_endpoint"), data=sent, auth=self._proof(), timeout=_SECONDS
            )
            if answer.status_code >= 500:
                raise IssuerAway("the OpenID provider does not redeem codes now")
            body: Any = answer.json() if answer.is_success and len(answer.content) <= _MOST_BYTES else {}
        except httpx.HTTPError as error:
            raise IssuerAway("the OpenID provider cannot be asked for a token") from error
        except ValueError as error:
            raise SignInRefused from error
        token = body.get("id_token") if isinstance(body, dict) else None
        if not isinstance(token, str):
            _log.info("sign_in_refused", status=answer.status_code)
            raise SignInRefused
        return token

    def _proof(self) -> httpx.BasicAuth | None:
        """Return how we show that we are the client, each part written as in a form (RFC 6749, 2.3.1)."""
        if self._secret is None:
            return None
        return httpx.BasicAuth(quote_plus(self._client_id), quote_plus(self._secret.get_secret_value()))
