"""What a script makes better on a person's pages: nothing that was done, written or looked at is lost on the way."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Final
from uuid import UUID

import pytest
from playwright.sync_api import Locator, Route, expect

from interfaces.http.pages.rendering import page as made_page
from interfaces.http.pages.sessions import end_sessions
from memory.context import MemoryContext
from memory.preferences import set_preference
from schema import Preference, PreferenceName, Subject
from tests.browser.conftest import Visit
from tests.browser.people import FIRST_DAY, a_memory, ask, know, maya

CATS: Final = "Maya has two cats, Miso and Nori."
SAILING: Final = "Maya learns to sail."


@pytest.fixture
def known(subject: Subject, context: MemoryContext) -> dict[str, UUID]:
    return maya(subject, context)


@pytest.fixture
def me(visit: Callable[..., Visit], subject: Subject, known: dict[str, UUID]) -> Visit:
    """A person who looks at their list, which listens."""
    assert known
    me = visit(subject, enters=False)
    with me.page.expect_response("**/me/live*"):
        me.enter()
    return me


@contextmanager
def one_page(me: Visit) -> Iterator[None]:
    """Nothing in here loads a page anew."""
    me.page.evaluate("window.isTheSame = true")
    yield
    assert me.page.evaluate("window.isTheSame") is True


@contextmanager
def held_back(me: Visit, address: str) -> Iterator[list[Route]]:
    """Requests for an address get no further than this list until the end of the block."""
    held: list[Route] = []

    def hold(asked: Route) -> None:
        held.append(asked)

    me.page.route(address, hold)
    yield held
    for asked in held:
        asked.continue_()
    me.page.unroute(address)


def listed(me: Visit) -> Locator:
    return me.page.locator(".memories li > a")


def sail(subject: Subject, context: MemoryContext) -> None:
    """Have one more memory known."""
    know(subject, [a_memory(subject, 12, SAILING, context)], context)


def test_a_page_is_painted_before_a_script_has_come(
    visit: Callable[..., Visit], subject: Subject, known: dict[str, UUID]
) -> None:
    assert known
    me = visit(subject, enters=False)
    with held_back(me, "**/static/*.js") as held:
        me.page.goto(f"{me.url}{me.link}", wait_until="commit")
        expect(listed(me)).to_have_count(6)
        me.page.evaluate(
            """new Promise((painted, late) => {
                new PerformanceObserver(painted).observe({type: "paint", buffered: true});
                setTimeout(late, 30_000);
            })"""
        )
        assert held, "the scripts are still on their way"


def test_a_list_narrows_as_one_types_and_its_address_is_kept(me: Visit) -> None:
    box = me.page.get_by_role("searchbox")
    with one_page(me):
        box.press_sequentially("cats")
        expect(me.page.get_by_role("status").filter(has_text=re.compile("^[12] shown$"))).to_be_visible()
        expect(listed(me).first).to_have_text(CATS)
        expect(box).to_be_focused()
        expect(box).to_have_value("cats")
        expect(me.page).to_have_url(re.compile(r"/me\?ask=cats&"))
    me.page.reload()
    expect(listed(me).first).to_have_text(CATS)
    me.follow(CATS)
    me.page.go_back()
    expect(listed(me).first).to_have_text(CATS)


def test_a_filter_leaves_what_it_names_at_once_and_stays_open(me: Visit) -> None:
    with one_page(me):
        me.page.get_by_text("Filter by kind, state or day").click()
        kind = me.page.get_by_role("combobox", name="Kind")
        kind.select_option("something that happened")
        expect(listed(me)).to_have_text(["Maya had dinner with her sister Lea on 4 September 2026."])
        expect(kind).to_be_visible()
        kind.select_option("everything")
        expect(listed(me)).to_have_count(6)
        expect(kind).to_be_visible()


def test_a_day_that_is_none_is_told_beside_the_filters(me: Visit, subject: Subject, context: MemoryContext) -> None:
    me.refusals.add(422)
    tokyo = Preference(name=PreferenceName.TIME_ZONE, value="Asia/Tokyo")
    set_preference(subject, tokyo, context, by="test", now=FIRST_DAY)
    me.page.get_by_text("Filter by kind, state or day").click()
    for name, day in (("Said until", "9999-12-31"), ("Said from", "0001-01-01")):
        with one_page(me):
            me.page.get_by_label(name).fill(day)
            expect(me.page.get_by_role("alert").filter(has_text="A day is written as")).to_be_visible()
            me.page.get_by_label(name).fill("")
            expect(me.page.get_by_role("alert")).to_have_count(0)
            expect(listed(me)).to_have_count(6)


def test_what_is_done_to_a_memory_keeps_focus_place_and_draft(me: Visit) -> None:
    me.follow(CATS)
    draft = me.page.get_by_label("What it should say")
    draft.fill("Maya has three cats.")
    button = me.page.get_by_role("button", name="Never forget this")
    button.focus()
    with one_page(me):
        place = me.page.evaluate("scrollY")
        me.page.keyboard.press("Enter")
        expect(me.page.get_by_role("status").filter(has_text="It will not fade.")).to_be_in_viewport()
        expect(me.page.get_by_role("button", name="Let it fade")).to_be_focused()
        expect(draft).to_have_value("Maya has three cats.")
        assert abs(me.page.evaluate("scrollY") - place) < 100
        me.press("Save")
        expect(me.page.get_by_role("heading", name="Maya has three cats.")).to_be_visible()
        expect(me.page.get_by_role("button", name="Save")).to_be_focused()
    assert re.search(r"/me/memories/[0-9a-f-]+$", me.page.url)


def test_a_memory_is_deleted_from_its_page_and_the_list_comes(me: Visit) -> None:
    me.follow(CATS)
    with one_page(me):
        me.press("Delete")
        me.press("Delete it")
        expect(me.page.get_by_role("status").filter(has_text="Deleted.")).to_be_visible()
        expect(listed(me)).to_have_count(5)
        expect(me.page.locator("#told")).to_be_focused()
        expect(me.page).to_have_title("What is known about me")
        expect(me.page).to_have_url(re.compile(r"/me\?done=delete$"))
        expect(me.page.get_by_role("link", name="What is known")).to_have_attribute("aria-current", "page")


def test_what_was_decided_leaves_the_rest_and_the_focus_on_what_is_said(
    me: Visit, subject: Subject, context: MemoryContext
) -> None:
    ask(subject, "Maya speaks Norwegian.", context, turn_id="another")
    me.open("/me/reviews")
    with one_page(me):
        fish = me.page.get_by_role("article", name="Maya eats fish on Fridays.")
        fish.get_by_role("button", name="Drop it").press("Enter")
        expect(me.page.get_by_role("status").filter(has_text="Dropped.")).to_be_visible()
        expect(fish).to_have_count(0)
        expect(me.page.locator("#told")).to_be_focused()
        me.page.keyboard.press("Tab")
        expect(me.page.get_by_role("button", name="Keep it")).to_be_focused()


def test_a_link_that_has_the_focus_keeps_it_when_a_new_memory_appears(
    me: Visit, subject: Subject, context: MemoryContext
) -> None:
    link = listed(me).filter(has_text=CATS)
    link.focus()
    me.page.get_by_text("Filter by kind, state or day").click()
    link.focus()
    with one_page(me):
        sail(subject, context)
        expect(listed(me).filter(has_text=SAILING)).to_have_count(1)
        expect(link).to_be_focused()
        expect(me.page.get_by_role("combobox", name="Kind")).to_be_visible()


def test_nothing_moves_under_a_pointer_that_is_on_a_link(me: Visit, subject: Subject, context: MemoryContext) -> None:
    link = listed(me).filter(has_text=CATS)
    link.hover()
    before = link.bounding_box()
    sail(subject, context)
    expect(me.page.get_by_role("status").filter(has_text="Something changed.")).to_be_in_viewport()
    assert link.bounding_box() == before
    expect(listed(me).filter(has_text=SAILING)).to_have_count(0)
    me.follow("Show it")
    expect(listed(me).filter(has_text=SAILING)).to_have_count(1)


def test_news_of_another_list_do_not_replace_the_one_that_is_shown(
    me: Visit, subject: Subject, context: MemoryContext
) -> None:
    with held_back(me, f"{me.url}/me"):
        with me.page.expect_request(f"{me.url}/me"):
            sail(subject, context)
        me.page.get_by_role("searchbox").fill("cats")
        expect(listed(me).first).to_have_text(CATS)
    expect(me.page.get_by_role("status").filter(has_text="Something changed.")).to_be_visible()
    expect(listed(me).first).to_have_text(CATS)


def end_of_session(subject: Subject, context: MemoryContext) -> None:
    end_sessions(subject.tenant_id, subject.subject_id, context.redis)


def test_who_is_signed_out_elsewhere_sees_nothing_any_more(me: Visit, subject: Subject, context: MemoryContext) -> None:
    me.refusals.add(401)
    end_of_session(subject, context)
    sail(subject, context)
    expect(me.page.get_by_role("heading", name="Sign in first")).to_be_visible()
    expect(listed(me)).to_have_count(0)


@pytest.mark.parametrize("does", ["search", "act"])
def test_whose_session_ended_is_asked_to_sign_in(
    me: Visit, subject: Subject, context: MemoryContext, does: str
) -> None:
    me.refusals.add(401)
    if does == "act":
        me.follow(CATS)
    # News, too, finds that the session ended, and loads the page anew.
    with held_back(me, "**/me/live*"):
        end_of_session(subject, context)
        with one_page(me):
            if does == "act":
                me.press("Put it away")
            else:
                me.page.get_by_role("searchbox").fill("cats")
            expect(me.page.get_by_role("heading", name="Sign in first")).to_be_visible()


@pytest.mark.parametrize("fails", ["busy", "too often", "bare", "offline"])
def test_an_outage_is_told_and_what_was_written_stays(me: Visit, fails: str) -> None:
    code = {"busy": HTTPStatus.SERVICE_UNAVAILABLE, "too often": HTTPStatus.TOO_MANY_REQUESTS}.get(fails)
    busy = "Something is busy or away. Nothing was done."
    told = busy if code else "The service does not answer as it should."
    page = bytes(made_page("problem.html", None, code=code, message=busy).body) if code else b"Bad Gateway"

    def answer(asked: Route) -> None:
        asked.abort() if fails == "offline" else asked.fulfill(status=code or 502, body=page, content_type="text/html")

    me.follow(CATS)
    me.page.get_by_label("What it should say").fill("Maya has three cats.")
    me.page.route("**/edit", answer)
    with one_page(me):
        me.press("Save")
        expect(me.page.get_by_role("alert").filter(has_text=told)).to_be_in_viewport()
        expect(me.page.get_by_label("What it should say")).to_have_value("Maya has three cats.")
        me.wrong.clear()  # A browser calls each of these an error.
        me.page.unroute("**/edit")
        me.press("Save")
        expect(me.page.get_by_role("heading", name="Maya has three cats.")).to_be_visible()
        expect(me.page.get_by_role("alert")).to_have_count(0)


def test_a_memory_that_cannot_be_deleted_just_now_stays_with_its_page(me: Visit) -> None:
    page = bytes(made_page("problem.html", None, code=HTTPStatus.SERVICE_UNAVAILABLE, message="It is busy.").body)
    me.refusals.add(503)
    me.follow(CATS)
    me.page.route("**/delete", lambda asked: asked.fulfill(status=503, body=page, content_type="text/html"))
    me.press("Delete")
    me.press("Delete it")
    expect(me.page.get_by_role("alert").filter(has_text="It is busy.")).to_be_in_viewport()
    expect(me.page.get_by_role("heading", name=CATS)).to_be_visible()
    expect(me.page.get_by_role("link", name="What is known")).to_be_visible()
    me.page.unroute("**/delete")


def test_a_form_of_a_page_that_is_too_old_says_so_and_its_address_stays(me: Visit) -> None:
    me.refusals.add(403)
    me.follow(CATS)
    address = me.page.url
    me.page.locator("input[name=form_token]").last.evaluate("field => field.value = 'old'")
    with one_page(me):
        me.press("Delete")
        me.press("Delete it")
        expect(me.page.get_by_role("alert").filter(has_text="This form is too old.")).to_be_visible()
    assert me.page.url == address
