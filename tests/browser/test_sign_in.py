"""A person comes in by an OpenID provider on another site, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.openid_provider import OpenIdProvider, openid_provider, served_behind
from tests.e2e.service import Served


@pytest.fixture(scope="module")
def provider() -> Iterator[OpenIdProvider]:
    with openid_provider("pages", "a secret", host="localhost") as running:
        yield running


@pytest.fixture(scope="module")
def pages(
    tabs: dict[bool, Page], provider: OpenIdProvider, broker_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    with served_behind(provider, tmp_path_factory.mktemp("sign-in"), broker_url) as running:
        yield running


@pytest.mark.parametrize("runs_scripts", [True, False], ids=["with scripts", "without"])
def test_a_browser_goes_to_the_provider_comes_back_and_stays_in_until_it_signs_out(
    tabs: dict[bool, Page], pages: Served, provider: OpenIdProvider, runs_scripts: bool
) -> None:
    page = tabs[runs_scripts]
    page.context.clear_cookies()
    provider.user = f"zoe-{runs_scripts}"
    with pages.client(pages.key()) as backend:
        backend.post("/api/v1/memories/", json={"content": "Zoe plays chess.", "user_id": provider.user})
    sites: list[str] = []
    page.on("request", lambda request: sites.append(request.url))
    page.goto(f"{pages.url}/me")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("link", name="Zoe plays chess.")).to_be_visible()
    assert any(site.startswith(provider.url) for site in sites), "the provider is another site for the browser"
    page.reload()
    expect(page.get_by_role("link", name="Zoe plays chess.")).to_be_visible()
    assert [cookie["name"] for cookie in page.context.cookies()] == ["afterturn_session"]
    page.get_by_role("button", name="Sign out").click()
    page.goto(f"{pages.url}/me")
    expect(page.get_by_role("heading", name="Sign in first")).to_be_visible()
