"""Signing in by an OpenID provider, with scripts and without: there, back, and in."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import expect

from memory.context import MemoryContext
from schema import Subject
from tests.browser.conftest import Visit
from tests.browser.people import maya
from tests.e2e.openid_provider import OpenIdProvider


@pytest.fixture
def signed_in_there(provider: OpenIdProvider, subject: Subject) -> Iterator[OpenIdProvider]:
    """A provider at which the subject is signed in, that tells the truth."""
    provider.user, provider.lies = subject.subject_id, {}
    yield provider
    provider.lies = {}


@pytest.mark.parametrize("runs_scripts", [True, False], ids=["scripts", "no scripts"])
def test_a_person_signs_in_by_the_provider_and_out_again(
    visit: Callable[..., Visit],
    subject: Subject,
    context: MemoryContext,
    signed_in_there: OpenIdProvider,
    runs_scripts: bool,
) -> None:
    maya(subject, context)
    me = visit(subject, runs_scripts=runs_scripts, enters=False, refusals={401}, also_asks=signed_in_there.url)
    me.open("/me")
    me.page.get_by_role("main").get_by_text("Sign in", exact=True).click()
    expect(me.page.get_by_role("link", name="Maya has two cats, Miso and Nori.")).to_be_visible()
    assert me.page.url == f"{me.url}/me"
    assert "afterturn_sign_in" not in {cookie["name"] for cookie in me.page.context.cookies()}
    me.press("Sign out")
    expect(me.page.get_by_role("heading", name="Sign in first")).to_be_visible()


def test_an_answer_that_is_not_for_this_browser_lets_nobody_in(
    visit: Callable[..., Visit], subject: Subject, signed_in_there: OpenIdProvider
) -> None:
    signed_in_there.lies = {"nonce": "of another browser"}
    me = visit(subject, enters=False, refusals={401}, also_asks=signed_in_there.url)
    me.open("/me/sign-in")
    expect(me.page.get_by_text("You were not signed in")).to_be_visible()
    me.open("/me")
    expect(me.page.get_by_role("heading", name="Sign in first")).to_be_visible()
