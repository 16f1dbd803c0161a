"""What the service says of itself to whoever opens its address in a browser: no other host is asked for it."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import expect

from schema import Subject
from tests.browser.conftest import Visit


def test_the_routes_are_described_without_another_host(visit: Callable[..., Visit], subject: Subject) -> None:
    anybody = visit(subject, enters=False)
    anybody.open("/docs")
    expect(anybody.page.get_by_text("Enqueue a turn").first).to_be_visible()


def test_the_address_alone_leads_to_ones_memory(visit: Callable[..., Visit], subject: Subject) -> None:
    maya = visit(subject)
    maya.open("/")
    expect(maya.page).to_have_url(f"{maya.url}/me")
