"""The service: tokens of an OpenID provider, checked against its keys, and what nobody may do with one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from mcp.shared.auth import ProtectedResourceMetadata
from mcp.shared.auth_utils import check_resource_allowed, resource_url_from_server_url

from schema import Capability
from tests.contract.loopback import Answer, Loopback, Request, loopback
from tests.e2e.service import Served, served, settings_in

AUDIENCE = "afterturn"


class Issuer:
    """A provider at loopback with one signing key at a time."""

    def __init__(self, told: Loopback) -> None:
        self.told, self.url = told, told.url
        self.key, self.kid, self.away = rsa.generate_private_key(public_exponent=65537, key_size=2048), "one", False
        told.answer = self._answer

    def rotate(self) -> None:
        self.key, self.kid = rsa.generate_private_key(public_exponent=65537, key_size=2048), "two"

    def _answer(self, request: Request) -> Answer:
        if self.away:
            return Answer(503)
        if request.path == "/.well-known/openid-configuration":
            return Answer(200, {"issuer": self.url, "jwks_uri": f"{self.url}/keys"})
        public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key()))
        return Answer(200, {"keys": [{**public, "kid": self.kid, "alg": "RS256", "use": "sig"}]})

    def token(self, user: str, *, key: Any = None, algorithm: str = "RS256", **claims: Any) -> str:
        now = datetime.now(UTC)
        stated = {"iss": self.url, "aud": AUDIENCE, "sub": user, "iat": now, "exp": now + timedelta(minutes=5)}
        payload = {name: value for name, value in (stated | claims).items() if value is not None}
        return jwt.encode(payload, self.key if key is None else key, algorithm, headers={"kid": self.kid})


@pytest.fixture(scope="module")
def issuer() -> Iterator[Issuer]:
    with loopback() as told:
        yield Issuer(told)


@pytest.fixture(scope="module")
def trusting(broker_url: str, issuer: Issuer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    settings = settings_in(tmp_path_factory.mktemp("trusting"), broker_url).model_copy(
        update={
            "oidc_issuer": issuer.url,
            "oidc_audience": AUDIENCE,
            "oidc_claims": {"user_id": "sub", "capabilities": "scope"},
            "oidc_capabilities": (Capability.READ, Capability.WRITE),
            "oidc_tenant": "acme",
        }
    )
    with served(settings) as running:
        yield running


def bearer(service: Served, token: str) -> httpx.Client:
    return httpx.Client(base_url=service.url, headers={"Authorization": f"Bearer {token}"}, timeout=30)


def statuses(service: Served, token: str, user: str) -> list[int]:
    with bearer(service, token) as client:
        read = client.get("/api/v1/memories/")
        write = client.post("/api/v1/memories/", json={"content": f"{user} plays the violin."})
        erase = client.delete(f"/api/v1/subjects/{user}")
    return [read.status_code, write.status_code, erase.status_code]


def test_a_token_stands_for_its_user_within_the_settings_ceiling(trusting: Served, issuer: Issuer, user: str) -> None:
    everything = issuer.token(user, scope="read write delete admin")
    assert statuses(trusting, everything, user) == [200, 201, 403]
    assert statuses(trusting, issuer.token(user, scope="read"), user) == [200, 403, 403]
    assert statuses(trusting, issuer.token(user), user) == [403, 403, 403]
    with bearer(trusting, issuer.token("another", scope="read")) as another:
        assert another.get("/api/v1/memories/").json()["items"] == []
        assert another.get("/api/v1/memories/", params={"user_id": user}).status_code == 403


@pytest.mark.parametrize(
    "claims",
    [
        {"aud": "another service"},
        {"iss": "https://another.example"},
        {"exp": 1_700_000_000},
        {"exp": None},
        {"sub": None},
        {"sub": ""},
        {"sub": "x" * 300},
    ],
    ids=["audience", "issuer", "run out", "endless", "nobody", "empty", "too long"],
)
def test_a_token_for_somebody_else_or_run_out_opens_nothing(
    trusting: Served, issuer: Issuer, user: str, claims: dict[str, Any]
) -> None:
    assert statuses(trusting, issuer.token(user, scope="read", **claims), user) == [401, 401, 401]


def test_a_token_that_its_issuer_did_not_sign_opens_nothing(trusting: Served, issuer: Issuer, user: str) -> None:
    stranger = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    unsigned = issuer.token(user, key="", algorithm="none", scope="read")
    shared = issuer.token(user, key="a secret that is long enough to be one", algorithm="HS256", scope="read")
    for token in (issuer.token(user, key=stranger, scope="read"), unsigned, shared, "a.b.c"):
        assert statuses(trusting, token, user) == [401, 401, 401]


def test_a_client_of_the_model_context_protocol_is_led_to_the_provider(trusting: Served, issuer: Issuer) -> None:
    """As RFC 9728 says, by what the protocol's own client reads of it."""
    url, leads_to = f"{trusting.url}/mcp", f"{trusting.url}/.well-known/oauth-protected-resource/mcp"
    refused = [httpx.post(url, timeout=30.0), bearer(trusting, issuer.token("anna", aud="another")).post("/mcp")]
    for answer in refused:
        assert answer.status_code == 401
        assert answer.headers["WWW-Authenticate"] == f'Bearer resource_metadata="{leads_to}"'
    told = httpx.get(leads_to, timeout=30.0)
    metadata = ProtectedResourceMetadata.model_validate_json(told.content)
    assert metadata.authorization_servers is not None
    assert [str(server).rstrip("/") for server in metadata.authorization_servers] == [issuer.url]
    assert told.json()["resource"] == url
    assert check_resource_allowed(resource_url_from_server_url(url), str(metadata.resource))
    assert (metadata.scopes_supported, metadata.bearer_methods_supported) == (["read", "write"], ["header"])


def test_where_no_provider_is_set_nobody_is_led_to_one(broker_url: str, tmp_path: Path) -> None:
    with served(settings_in(tmp_path, broker_url)) as by_keys:
        assert httpx.post(f"{by_keys.url}/mcp", timeout=30.0).headers["WWW-Authenticate"] == "Bearer"
        assert httpx.get(f"{by_keys.url}/.well-known/oauth-protected-resource/mcp", timeout=30.0).status_code == 404


def test_the_keys_are_kept_and_an_unknown_one_is_looked_up(
    broker_url: str, issuer: Issuer, tmp_path: Path, user: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("interfaces.http.tokens._COOLDOWN_SECONDS", 0.0)
    monkeypatch.setattr("interfaces.http.tokens._REST_SECONDS", 0.0)
    update = {"oidc_issuer": issuer.url, "oidc_audience": AUDIENCE, "oidc_capabilities": (Capability.READ,)}
    with served(settings_in(tmp_path, broker_url).model_copy(update=update), anonymous=True) as fresh:
        with fresh.client() as nobody:
            assert nobody.get("/api/v1/memories/").status_code == 401
        issuer.away = True
        assert statuses(fresh, issuer.token(user), user)[0] == 503
        issuer.away = False
        assert statuses(fresh, issuer.token(user), user)[0] == 200
        asked = len(issuer.told.requests)
        assert statuses(fresh, issuer.token(user), user)[0] == 200
        assert len(issuer.told.requests) == asked
        issuer.away = True
        assert statuses(fresh, issuer.token(user), user)[0] == 200
        issuer.away = False
        issuer.rotate()
        assert statuses(fresh, issuer.token(user), user)[0] == 200


def test_keys_of_our_own_go_on_beside_tokens(trusting: Served) -> None:
    with trusting.client(trusting.key()) as client:
        assert client.get("/api/v1/memories/", params={"user_id": "anybody"}).status_code == 200
