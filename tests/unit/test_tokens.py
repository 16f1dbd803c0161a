"""Tokens of an OpenID provider that is away: it is asked now and then, and whoever asks us does not wait for it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from interfaces.http.tokens import IssuerAway, Tokens
from schema.settings import Settings
from tests.contract.loopback import Answer, Loopback, Request, loopback

KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
AWAY = [Answer(503), Answer(fault="reset"), Answer(200, b"<html>away</html>"), Answer(200, b"[]")]


@pytest.fixture
def issuer() -> Iterator[Loopback]:
    with loopback() as told:
        yield told


def tokens_of(issuer: Loopback, *, jwks_url: str | None = None) -> Tokens:
    settings = Settings(oidc_issuer=issuer.url, oidc_audience="afterturn", oidc_jwks_url=jwks_url)
    return Tokens(settings)


def token(issuer: Loopback, kid: str = "one") -> str:
    now = datetime.now(UTC)
    claims = {"iss": issuer.url, "aud": "afterturn", "sub": "maya", "iat": now, "exp": now + timedelta(minutes=5)}
    return jwt.encode(claims, KEY, "RS256", headers={"kid": kid})


@pytest.mark.parametrize("away", AWAY, ids=["503", "reset", "a page", "a list"])
@pytest.mark.parametrize("is_named", [True, False], ids=["keys", "discovery"])
def test_an_issuer_that_is_away_is_asked_once_in_a_while(issuer: Loopback, away: Answer, is_named: bool) -> None:
    issuer.answer = lambda _request: away
    tokens = tokens_of(issuer, jwks_url=f"{issuer.url}/keys" if is_named else None)
    for _ in range(5):
        with pytest.raises(IssuerAway):
            tokens.principal_of(token(issuer))
    assert len(issuer.requests) == 1


def test_a_known_key_is_taken_while_others_cannot_be_looked_up(
    issuer: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("interfaces.http.tokens._COOLDOWN_SECONDS", 0.0)
    public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(KEY.public_key()))

    def keys(_request: Request) -> Answer:
        return Answer(200, {"keys": [{**public, "kid": "one", "alg": "RS256", "use": "sig"}]})

    issuer.answer = keys
    tokens = tokens_of(issuer, jwks_url=f"{issuer.url}/keys")
    assert tokens.principal_of(token(issuer)) is not None
    issuer.answer = lambda _request: Answer(503)
    for _ in range(5):
        with pytest.raises(IssuerAway):
            tokens.principal_of(token(issuer, "unknown"))
        assert tokens.principal_of(token(issuer)) is not None
    assert len(issuer.requests) == 2
