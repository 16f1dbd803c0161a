"""Signing in to one's own pages by an OpenID provider, and out of them everywhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from redis import Redis

from tests.e2e.openid_provider import OpenIdProvider, openid_provider, served_behind
from tests.e2e.service import Served, served, settings_in

CLIENT, SECRET = "afterturn-pages", "a secret of the client: é%"


@pytest.fixture(scope="module")
def provider() -> Iterator[OpenIdProvider]:
    with openid_provider(CLIENT, SECRET) as running:
        yield running


@pytest.fixture(scope="module")
def service(broker_url: str, provider: OpenIdProvider, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served_behind(provider, tmp_path_factory.mktemp("signing-in"), broker_url) as running:
        yield running


@pytest.fixture(autouse=True)
def honest(provider: OpenIdProvider, user: str) -> Iterator[None]:
    """A provider that tells the truth of a user of the test's own."""
    provider.user, provider.lies = user, {}
    yield


def browser(service: Served) -> httpx.Client:
    return httpx.Client(base_url=service.url, follow_redirects=True, timeout=30.0)


def way_back(me: httpx.Client) -> str:
    """Where the provider sends a browser that asked to sign in."""
    there = me.get("/me/sign-in", follow_redirects=False).headers["location"]
    return me.get(there, follow_redirects=False).headers["location"]


def link_for(service: Served, user: str) -> str:
    with service.client(service.key()) as backend:
        return str(backend.post(f"/api/v1/subjects/{user}/page-link").json()["url"])


def is_open(me: httpx.Client) -> bool:
    return me.get("/me").status_code == 200


def test_a_person_signs_in_by_the_provider_and_sees_their_own_memory(service: Served, user: str) -> None:
    with service.client(service.key()) as backend:
        backend.post("/api/v1/memories/", json={"content": "Zoe plays chess.", "user_id": user})
        backend.post("/api/v1/memories/", json={"content": "Leo rows.", "user_id": "another"})
    with browser(service) as me:
        first = me.get("/me")
        assert first.status_code == 401
        assert 'href="/me/sign-in"' in first.text
        came_in = me.get("/me/sign-in")
        assert str(came_in.url) == f"{service.url}/me"
        assert "Zoe plays chess." in came_in.text
        assert "Leo rows." not in came_in.text


def test_what_is_sent_to_the_provider_binds_its_answer(service: Served) -> None:
    with browser(service) as me:
        answers = [me.get("/me/sign-in", follow_redirects=False) for _ in range(2)]
        asked = [parse_qs(urlsplit(answer.headers["location"]).query) for answer in answers]
    for name in ("state", "nonce", "code_challenge"):
        assert asked[0][name] != asked[1][name]
    assert asked[0]["code_challenge_method"] == ["S256"]
    assert asked[0]["scope"] == ["openid"]
    cookie = answers[0].headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie


def test_an_answer_opens_only_the_browser_that_asked_and_only_once(service: Served) -> None:
    with browser(service) as asking, browser(service) as lured:
        back = way_back(asking)
        assert lured.get(back).status_code == 401
        assert not is_open(lured)
        assert asking.get(back).status_code == 200
        asking.cookies.delete("afterturn_session")
        assert asking.get(back).status_code == 401
        assert not is_open(asking)


@pytest.mark.parametrize("cookie", ["", "a.b", "a.b.c.d", "state.nonce.verifier"])
def test_a_cookie_that_this_service_did_not_give_opens_nothing(service: Served, cookie: str) -> None:
    with browser(service) as me:
        back = way_back(me)
        me.cookies.clear()
        me.cookies.set("afterturn_sign_in", cookie, path="/me/signed-in")
        assert me.get(back).status_code == 401
        assert not is_open(me)


def test_whoever_only_knocks_leaves_nothing_behind(service: Served, broker_url: str) -> None:
    with Redis.from_url(broker_url) as redis, browser(service) as me:
        before = set(redis.scan_iter())
        for _ in range(5):
            me.get("/me/sign-in", follow_redirects=False)
        assert set(redis.scan_iter()) <= before


@pytest.mark.parametrize(
    ("part", "other"),
    [
        (r"code=[^&]+", "code=another"),
        (r"code=[^&]+", "error=access_denied"),
        (r"state=[^&]+", "state=another"),
        (r"state=[^&]+", "state=%C3%A9"),
        (r"iss=[^&]+", "iss=https%3A%2F%2Fanother.example"),
    ],
)
def test_an_answer_that_was_changed_opens_nothing(service: Served, part: str, other: str) -> None:
    with browser(service) as me:
        answer = me.get(re.sub(part, other, way_back(me)))
        assert answer.status_code == 401
        assert "You were not signed in" in answer.text
        assert not is_open(me)


@pytest.mark.parametrize(
    "lie",
    [
        {"nonce": "another"},
        {"aud": "afterturn"},
        {"aud": [CLIENT, "another"]},
        {"azp": "another"},
        {"iss": "https://another.example"},
        {"exp": datetime(2026, 1, 1, tzinfo=UTC)},
        {"sub": ""},
    ],
    ids=lambda lie: next(iter(lie)),
)
def test_an_id_token_that_is_not_for_this_attempt_opens_nothing(
    service: Served, provider: OpenIdProvider, lie: dict[str, Any]
) -> None:
    with browser(service) as me:
        back = way_back(me)
        provider.lies = lie
        assert me.get(back).status_code == 401
        assert not is_open(me)


def test_who_is_known_by_their_address_signs_in_by_it_and_by_none_that_the_provider_has_not_checked(
    broker_url: str, user: str, tmp_path: Path
) -> None:
    """A provider tells no address unless it is asked for (OpenID Connect Core 1.0, 5.4)."""
    by_address = {"AFTERTURN_OIDC_CLAIMS": '{"user_id": "email"}'}
    with (
        openid_provider(CLIENT, SECRET) as provider,
        served_behind(provider, tmp_path, broker_url, **by_address) as service,
        browser(service) as me,
        browser(service) as other,
    ):
        provider.user = user
        assert me.get("/me/sign-in").status_code == 200
        assert is_open(me)
        for unchecked in (False, "false"):
            provider.lies = {"email_verified": unchecked}
            assert other.get("/me/sign-in").status_code == 401
            assert not is_open(other)


def test_a_service_without_a_client_has_no_such_door(broker_url: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    with served(settings_in(tmp_path_factory.mktemp("by links alone"), broker_url)) as plain, browser(plain) as me:
        assert me.get("/me/sign-in").status_code == 404
        assert "/me/sign-in" not in me.get("/me").text


def test_who_signs_out_everywhere_is_out_on_every_device(service: Served, user: str) -> None:
    with browser(service) as phone, browser(service) as laptop, browser(service) as other:
        phone.get(link_for(service, user))
        laptop.get("/me/sign-in")
        other.get(link_for(service, f"{user}2"))
        waiting = link_for(service, user)
        assert is_open(phone)
        [token] = {*re.findall(r'name="form_token" value="([^"]+)"', laptop.get("/me/preferences").text)}
        laptop.post("/me/sign-out-everywhere", data={"form_token": token})
        assert not is_open(laptop)
        assert not is_open(phone)
        assert is_open(other)
        assert phone.get(waiting).status_code == 401
        phone.get(link_for(service, user))
        assert is_open(phone)


def test_a_backend_ends_the_sessions_of_its_user(service: Served, user: str) -> None:
    with browser(service) as me, service.client(service.key()) as backend:
        me.get(link_for(service, user))
        assert is_open(me)
        with service.client(service.key(user=f"{user}2")) as stranger:
            assert stranger.delete(f"/api/v1/subjects/{user}/page-sessions").status_code in (403, 404)
        assert is_open(me)
        assert backend.delete(f"/api/v1/subjects/{user}/page-sessions").status_code == 204
        assert not is_open(me)


def test_who_is_erased_is_signed_out(service: Served, user: str) -> None:
    with browser(service) as me, service.client(service.key()) as backend:
        me.get(link_for(service, user))
        assert is_open(me)
        assert backend.delete(f"/api/v1/subjects/{user}").status_code == 200
        assert not is_open(me)
