"""A small OpenID provider that does what one must: codes for one use, PKCE, registered addresses, signed id tokens."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus, urlencode

import jwt
import pytest
import uvicorn
from cryptography.hazmat.primitives.asymmetric import rsa
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from tests.conftest import free_port
from tests.e2e.service import Served, served, settings_in


class OpenIdProvider:
    """Knows one client, and one person at a time who is signed in there. `lies` replaces claims of its id tokens."""

    def __init__(self, url: str, client_id: str, client_secret: str) -> None:
        self.url, self.client_id, self.client_secret = url, client_id, client_secret
        self.user = "maya"
        self.redirect_uris: set[str] = set()
        self.lies: dict[str, Any] = {}
        self._key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self._codes: dict[str, dict[str, str]] = {}

    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/.well-known/openid-configuration", self._discover),
                Route("/keys", self._keys),
                Route("/authorize", self._authorize),
                Route("/token", self._token, methods=["POST"]),
            ]
        )

    async def _discover(self, _request: Request) -> Response:
        names = {"authorization_endpoint": "authorize", "token_endpoint": "token", "jwks_uri": "keys"}
        return JSONResponse({"issuer": self.url} | {name: f"{self.url}/{path}" for name, path in names.items()})

    async def _keys(self, _request: Request) -> Response:
        public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self._key.public_key()))
        return JSONResponse({"keys": [{**public, "kid": "one", "alg": "RS256", "use": "sig"}]})

    async def _authorize(self, request: Request) -> Response:
        asked = dict(request.query_params)
        if asked["client_id"] != self.client_id or asked["redirect_uri"] not in self.redirect_uris:
            return Response("this client is not known, or not at this address", 400)
        answered = {"state": asked["state"], "iss": self.url}
        is_whole = (asked["response_type"], asked["code_challenge_method"]) == ("code", "S256")
        if not is_whole or "openid" not in asked["scope"].split():
            return RedirectResponse(f"{asked['redirect_uri']}?{urlencode(answered | {'error': 'invalid_request'})}")
        code = secrets.token_urlsafe(16)
        self._codes[code] = asked | {"user": self.user}
        return RedirectResponse(f"{asked['redirect_uri']}?{urlencode(answered | {'code': code})}")

    async def _token(self, request: Request) -> Response:
        sent = {name: str(value) for name, value in (await request.form()).items()}
        # Each is written as in a form before they are joined (RFC 6749, 2.3.1).
        proof = base64.b64encode(f"{quote_plus(self.client_id)}:{quote_plus(self.client_secret)}".encode()).decode()
        if request.headers.get("authorization") != f"Basic {proof}":
            return JSONResponse({"error": "invalid_client"}, 401)
        asked = self._codes.pop(sent.get("code", ""), None)
        digest = hashlib.sha256(sent["code_verifier"].encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        if asked is None or asked["redirect_uri"] != sent["redirect_uri"] or asked["code_challenge"] != challenge:
            return JSONResponse({"error": "invalid_grant"}, 400)
        now = datetime.now(UTC)
        claims = {"iss": self.url, "aud": self.client_id, "sub": asked["user"], "nonce": asked["nonce"], "iat": now}
        if "email" in asked["scope"].split():
            claims |= {"email": f"{asked['user']}@example.com", "email_verified": True}
        claims |= {"exp": now + timedelta(minutes=5)} | self.lies
        token = jwt.encode(claims, self._key, "RS256", headers={"kid": "one"})
        return JSONResponse({"access_token": "-", "token_type": "Bearer", "id_token": token})


@contextmanager
def openid_provider(client_id: str, client_secret: str, host: str = "127.0.0.1") -> Iterator[OpenIdProvider]:
    """Serve a provider until the block ends, by the name of `host`: a browser takes other names for other sites."""
    port = free_port()
    provider = OpenIdProvider(f"http://{host}:{port}", client_id, client_secret)
    config = uvicorn.Config(provider.app(), host="127.0.0.1", port=port, log_level="warning", access_log=False)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, name="provider")
    thread.start()
    try:
        while not server.started:
            if not thread.is_alive():
                raise RuntimeError("the provider does not start")
            time.sleep(0.02)
        yield provider
    finally:
        server.should_exit = True
        thread.join()


@contextmanager
def served_behind(provider: OpenIdProvider, folder: Path, broker_url: str, **more: str) -> Iterator[Served]:
    """Serve pages until the block ends to whose owners a provider signs in, in the tenant "acme"; `more` is in the
    environment."""
    changes = {
        "AFTERTURN_OIDC_ISSUER": provider.url,
        "AFTERTURN_OIDC_AUDIENCE": "afterturn",
        "AFTERTURN_OIDC_TENANT": "acme",
        "AFTERTURN_OIDC_CLIENT_ID": provider.client_id,
        "AFTERTURN_OIDC_CLIENT_SECRET": provider.client_secret,
        **more,
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, value in changes.items():
            patch.setenv(name, value)
        settings = settings_in(folder, broker_url)
    with served(settings) as running:
        provider.redirect_uris = {f"{running.url}/me/signed-in"}
        yield running
