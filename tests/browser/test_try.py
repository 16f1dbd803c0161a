"""Trying what would be remembered, with scripts and without: each step is shown, and nothing is kept."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, expect

from memory.context import MemoryContext
from schema import Status, Subject
from tests.browser.conftest import Visit
from tests.browser.people import maya


@pytest.fixture(params=[True, False], ids=["scripts", "no scripts"])
def me(request: pytest.FixtureRequest, visit: Callable[..., Visit], subject: Subject, context: MemoryContext) -> Visit:
    maya(subject, context)
    visiting = visit(subject, runs_scripts=request.param)
    visiting.follow("Try it")
    return visiting


def step(me: Visit, question: str) -> Locator:
    return me.page.locator(".steps > li").filter(has_text=question)


def test_a_message_is_taken_through_all_steps_and_nothing_is_kept(
    me: Visit, subject: Subject, context: MemoryContext
) -> None:
    before = context.catalog.list_memories(subject, statuses=tuple(Status), limit=100)
    me.page.get_by_label("You say").fill("I play the violin. My password is hunter2-Xy7!")
    me.press("Try it")
    expect(step(me, "worth a look")).to_contain_text(re.compile("Yes|Perhaps"))
    expect(step(me, "What is in it")).to_contain_text("violin")
    expect(step(me, "must not be kept")).to_contain_text("password")
    expect(step(me, "How much")).to_contain_text("violin")
    expect(step(me, "become of it")).to_contain_text("Written down")
    expect(step(me, "become of it")).to_contain_text("violin")
    expect(step(me, "become of it")).not_to_contain_text("hunter2")
    assert context.catalog.list_memories(subject, statuses=tuple(Status), limit=100) == before


def test_a_message_is_tried_after_a_question(me: Visit) -> None:
    me.open("/try?question=Where+do+I+live%3F")
    me.page.get_by_label("You say").fill("I moved to Porto.")
    me.press("Try it")
    expect(step(me, "become of it")).to_contain_text("Porto")


def test_what_is_masked_is_named(me: Visit) -> None:
    me.page.get_by_label("You say").fill("I write to my landlord at tom@example.org every month.")
    me.press("Try it")
    masked = "Masked: The user writes to their landlord at [email] every month."
    expect(step(me, "must not be kept")).to_contain_text(masked)


def test_what_tells_nothing_but_what_is_masked_is_held_back(me: Visit) -> None:
    me.page.get_by_label("You say").fill("My email is maya@example.org.")
    me.press("Try it")
    expect(step(me, "must not be kept")).to_contain_text("email, only masks")


def test_small_talk_is_not_looked_at(me: Visit) -> None:
    me.page.get_by_label("You say").fill("Good morning!")
    me.press("Try it")
    expect(step(me, "worth a look")).to_contain_text("No:")
    expect(step(me, "become of it")).to_contain_text("Nothing would change.")


def test_a_question_shows_how_retrieval_ranked(me: Visit) -> None:
    me.page.get_by_role("textbox", name="A question").fill("What can I not eat?")
    me.press("Ask")
    first = me.page.get_by_role("region", name="question").get_by_role("listitem").first
    expect(first).to_contain_text("Maya is vegan and allergic to peanuts.")
    expect(first).to_contain_text("relevance")
