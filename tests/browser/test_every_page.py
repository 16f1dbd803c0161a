"""Every page, as it looks: no violation for axe, no sideways scrolling, nothing heavy, nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Literal
from uuid import UUID

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from memory.context import MemoryContext
from memory.erasure.subjects import erase_subject
from memory.keys import issue
from memory.legal_holds import set_legal_hold
from memory.members import set_member
from schema import Capability, MemberRole, Subject
from stores.queue import send_dead_letter
from tests.browser.conftest import Visit
from tests.browser.people import a_memory, a_turn, know, know_many, maya, tell

_COLOURS: Final[tuple[Literal["dark", "light"], ...]] = ("dark", "light")
# What is wrong by day is by night too, but for the colours.
_ASKED: Final[dict[str, dict[str, list[str]]]] = {
    "light": {"resultTypes": ["violations"]},
    "dark": {"resultTypes": ["violations"], "runOnly": ["color-contrast"]},
}
_AXE: Final = Axe().axe_script
"""Put into a page once for both colours: that takes as long as a run."""
_WIDTHS: Final = (360, 768, 1280)
_BETWEEN: Final = 700
"""Narrower than what a page has at most, wider than a phone: margins end there most easily."""
_MARGIN: Final = 8
_MOST_BYTES: Final = 150_000


def pages_of(known: dict[str, UUID]) -> dict[str, str]:
    memory = f"/me/memories/{known['berlin']}"
    return {
        "overview": "/me",
        "filtered": "/me?type=semantic&status=everything&since=2026-09-01",
        "nothing-found": "/me?ask=How+do+I+compile+a+kernel%3F",
        "memory": memory,
        "used": f"/me/memories/{known['vegan']}",
        "replaced": f"/me/memories/{known['lisbon']}",
        "reviews": "/me/reviews",
        "preferences": "/me/preferences",
        "documents": "/me/documents",
        "document": "/me/documents/mill",
        "found-in-a-document": "/me?ask=Where+did+the+old+mill+stand%3F",
        "graph": "/me/graph",
        "graph-about": "/me/graph?about=Lea",
        "timeline": "/me/timeline?entity=User&attribute=home_city",
        "try": "/try?question=Where+do+I+live%3F",
        "no-such-page": "/me/memories/00000000-0000-0000-0000-000000000000",
    }


@dataclass
class Eyes:
    """Who looks at a page in both colours and at three widths, and what they find wrong."""

    folder: str | None
    found: list[str] = field(default_factory=list)

    def look(self, me: Visit, name: str) -> None:
        me.page.wait_for_load_state()
        me.page.evaluate(_AXE)
        for colours in _COLOURS:
            me.page.emulate_media(color_scheme=colours)
            violations = me.page.evaluate("asked => axe.run(asked).then(found => found.violations)", _ASKED[colours])
            for violation in violations:
                nodes = [node["html"][:120] for node in violation["nodes"]]
                self.found.append(f"{name}, {colours}: {violation['id']} at {nodes}")
            for width in _WIDTHS if self.folder else ():
                me.page.set_viewport_size({"width": width, "height": 900})
                me.page.screenshot(path=str(Path(str(self.folder)) / f"{name}-{width}-{colours}.png"), full_page=True)
        for width in (*_WIDTHS, _BETWEEN):
            me.page.set_viewport_size({"width": width, "height": 900})
            if me.page.evaluate("document.querySelector('h1').getBoundingClientRect().left") < _MARGIN:
                self.found.append(f"{name}: text at the edge, at a width of {width}")
            broad = me.page.evaluate("document.documentElement.scrollWidth")
            if broad > width:
                self.found.append(f"{name}: {broad} pixels at a width of {width}")


@pytest.fixture
def eyes(pytestconfig: pytest.Config) -> Iterator[Eyes]:
    looking = Eyes(pytestconfig.getoption("--pictures", None))
    yield looking
    assert looking.found == []


def test_every_page_is_for_everyone_at_every_width(
    visit: Callable[..., Visit], subject: Subject, context: MemoryContext, eyes: Eyes
) -> None:
    tell(subject, context)
    me, known = visit(subject, refusals={401, 404}), maya(subject, context)
    for name, path in pages_of(known).items():
        me.open(path)
        eyes.look(me, name)
    me.open(f"/me/memories/{known['cats']}")
    me.press("Never forget this")
    expect(me.page.get_by_role("status").filter(has_text="It will not fade.")).to_be_visible()
    me.press("Delete")
    eyes.look(me, "pinned-in-place")
    me.open("/try")
    me.page.get_by_label("You say").fill("I moved to Porto last week, and my email is maya@example.org.")
    me.press("Try it")
    eyes.look(me, "tried")
    me.open("/me/preferences")
    me.page.get_by_label("to confirm").fill("forget everything")
    me.press("Forget everything")
    eyes.look(me, "forgotten")
    me.open("/me")
    eyes.look(me, "sign-in")


def staff_pages_of(subject: Subject, known: dict[str, UUID]) -> dict[str, str]:
    whose = f"/admin/subjects/{subject.subject_id}"
    return {
        "staff-subjects": "/admin",
        "staff-audit": "/admin/audit",
        "staff-reviews": "/admin/reviews",
        "staff-holds": "/admin/holds",
        "staff-erasures": "/admin/erasures",
        "staff-dead-letters": "/admin/dead-letters",
        "staff-keys": "/admin/keys",
        "staff-members": "/admin/members",
        "staff-nights": "/admin/nights",
        "staff-fleet": "/admin/fleet",
        "staff-costs": "/admin/costs",
        "staff-overview": whose,
        "staff-memory": f"{whose}/memories/{known['berlin']}",
        "staff-preferences": f"{whose}/preferences",
        "staff-documents": f"{whose}/documents",
        "staff-document": f"{whose}/documents/mill",
        "staff-graph": f"{whose}/graph",
        "staff-subject-reviews": f"{whose}/reviews",
    }


@pytest.mark.long
def test_every_page_for_staff_is_for_everyone_at_every_width(
    visit: Callable[..., Visit], subject: Subject, context: MemoryContext, eyes: Eyes
) -> None:
    known, now = maya(subject, context), datetime.now(UTC)
    tell(subject, context)
    leaver = Subject(tenant_id=subject.tenant_id, subject_id=f"{subject.subject_id}-left")
    know(leaver, [a_memory(leaver, 0, "Leo plays chess.", context)], context)
    erase_subject(leaver, context, by="staff:ann", now=now)
    set_legal_hold(subject, [known["vegan"]], context, why="case 7", by="staff:ann", now=now)
    issue("chat backend", subject.tenant_id, Capability, context.catalog, by="staff:ann", now=now)
    archive = Subject(tenant_id=subject.tenant_id, subject_id="grandmothers-stories")
    set_member(archive, "maya", MemberRole.ADMIRER, context.catalog, by="staff:ann", now=now, policy_version="1")
    body = a_turn(subject, 40, "What the worker could not read.").model_dump(mode="json")
    send_dead_letter(context.celery, reason="a message of the future: schema_version 9", turn_id="t9", body=body)
    context.catalog.nights.begin("forget:2026-09-01", "forget", "Europe/Berlin", now)
    staff = visit(subject, staff=True, refusals={401})
    for name, path in staff_pages_of(subject, known).items():
        staff.open(path)
        eyes.look(staff, name)
    staff.open("/admin/keys")
    staff.page.get_by_label("What it is for").fill("search page")
    staff.page.get_by_label("read memories and documents").check()
    staff.press("Make it")
    expect(staff.page.locator("#secret")).to_be_visible()
    eyes.look(staff, "staff-key-made")
    staff.open("/admin/dead-letters")
    staff.follow("t9")
    eyes.look(staff, "staff-letter")
    staff.open(f"/admin/erasures/proof?subject={leaver.subject_id}")
    eyes.look(staff, "staff-proof")
    staff.press("Sign out")
    eyes.look(staff, "staff-sign-in")


def test_the_readmes_picture_can_be_taken(
    visit: Callable[..., Visit], subject: Subject, context: MemoryContext, pytestconfig: pytest.Config, tmp_path: Path
) -> None:
    maya(subject, context)
    me = visit(subject)
    me.page.set_viewport_size({"width": 800, "height": 720})
    taken = me.page.screenshot(path=pytestconfig.getoption("--picture", None) or tmp_path / "picture.png")
    assert 10_000 < len(taken) < 100_000


def test_a_memory_that_looks_like_a_script_is_text(
    visit: Callable[..., Visit], subject: Subject, context: MemoryContext
) -> None:
    hostile = "<script>alert(1)</script><img src=x onerror=alert(2)>" + "long" * 60
    [id_] = know(subject, [a_memory(subject, 0, hostile, context)], context)
    me = visit(subject)
    me.page.set_viewport_size({"width": 360, "height": 800})
    # A dialog that nobody listens for is closed, and says so on no console.
    me.page.add_init_script("window.alert = text => console.error('a script ran: ' + text)")
    for path in ("/me", "/me?ask=script", f"/me/memories/{id_}"):
        me.open(path)
        expect(me.page.get_by_text(hostile).first).to_be_visible()
        assert me.page.evaluate("document.documentElement.scrollWidth") == 360


def test_a_first_visit_is_light_and_many_memories_are_read_page_by_page(
    visit: Callable[..., Visit], subject: Subject, context: MemoryContext
) -> None:
    know_many(subject, 300, context)
    me = visit(subject, enters=False)
    sizes: list[float] = []
    wire = me.page.context.new_cdp_session(me.page)
    wire.on("Network.loadingFinished", lambda loaded: sizes.append(loaded["encodedDataLength"]))
    wire.send("Network.enable")
    wire.send("Network.setCacheDisabled", {"cacheDisabled": True})
    me.enter()
    wire.detach()
    assert len(sizes) >= 4
    assert sum(sizes) < _MOST_BYTES
    told: list[str] = []
    while True:
        told += me.page.locator(".memories li > a").all_inner_texts()
        older = me.page.get_by_role("button", name="Older ones")
        if older.count() == 0:
            break
        with me.page.expect_navigation():
            older.click()
    assert len(told) == len(set(told)) == 300


@pytest.mark.long
def test_ten_thousand_memories_are_listed_searched_and_drawn(
    visit: Callable[..., Visit], subject: Subject, context: MemoryContext
) -> None:
    know_many(subject, 10_000, context)
    me = visit(subject)
    memories = me.page.locator(".memories li > a")
    expect(memories).to_have_count(50)
    me.page.get_by_role("searchbox").fill("place number 4711")
    me.press("Search")
    expect(memories.filter(has_text="4711")).to_have_count(1)
    me.open("/me?since=2026-09-01&until=2026-09-03")
    expect(memories).to_have_count(3)
    me.follow("place number 2")
    expect(me.page.get_by_role("heading", name="place number 2.")).to_be_visible()
    me.follow("Connections")
    expect(me.page.get_by_role("region", name="Facts").get_by_role("row")).to_have_count(41)


def test_the_keyboard_alone_is_enough(visit: Callable[..., Visit], subject: Subject, context: MemoryContext) -> None:
    known = maya(subject, context)
    me = visit(subject)
    me.page.keyboard.press("Tab")
    me.page.keyboard.press("Enter")
    expect(me.page.get_by_role("main")).to_be_focused()
    link = me.page.get_by_role("link", name="Maya has two cats, Miso and Nori.")
    for _ in range(30):
        me.page.keyboard.press("Tab")
        if link.evaluate("link => link === document.activeElement"):
            break
    me.page.keyboard.press("Enter")
    me.page.wait_for_url(f"**/me/memories/{known['cats']}")
