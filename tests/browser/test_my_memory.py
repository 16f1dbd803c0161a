"""What a person does on their pages, each with scripts and without."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from uuid import UUID

import httpx
import pytest
from playwright.sync_api import Locator, Route, expect

from interfaces.http.pages.sessions import make_link
from memory.context import MemoryContext
from memory.edits import Edit, edit
from schema import Subject
from tests.browser.conftest import Visit
from tests.browser.people import FIRST_DAY, a_memory, ask, know, maya, tell
from tests.e2e.service import Served

CATS = "Maya has two cats, Miso and Nori."
LISBON = "Maya lives in Lisbon."
BERLIN = "Maya lives in Berlin since September 2026."


@pytest.fixture(params=[True, pytest.param(False, marks=pytest.mark.long)], ids=["scripts", "no scripts"])
def scripts(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture
def known(subject: Subject, context: MemoryContext) -> dict[str, UUID]:
    return maya(subject, context)


@pytest.fixture
def me(visit: Callable[..., Visit], subject: Subject, known: dict[str, UUID], scripts: bool) -> Visit:
    return visit(subject, runs_scripts=scripts)


def told(me: Visit, text: str) -> None:
    expect(me.page.get_by_role("status").filter(has_text=text)).to_be_visible()


def listed(me: Visit, *telling: str) -> Locator:
    """The memories that are listed, or those of them that tell something: to be expected of, as a page may still
    load."""
    memories = me.page.locator(".memories li > a")
    return memories.filter(has_text=telling[0]) if telling else memories


def test_all_is_listed_with_the_words_it_came_from(me: Visit) -> None:
    expect(listed(me, CATS)).to_have_count(1)
    expect(listed(me, LISBON)).to_have_count(0)
    expect(me.page.get_by_text("Yes, two cats, Miso and Nori.")).to_be_visible()


def test_a_question_finds_what_answers_it_best(me: Visit) -> None:
    me.page.get_by_role("searchbox", name="Search").fill("Where do I live?")
    me.press("Search")
    expect(listed(me).first).to_have_text(BERLIN)


def test_a_filter_leaves_what_it_names(me: Visit) -> None:
    def leaves(name: str, value: str, *summaries: str) -> None:
        me.page.get_by_text("Filter by kind, state or day").click()
        if name in ("Kind", "State"):
            me.page.get_by_role("combobox", name=name).select_option(value)
        else:
            me.page.get_by_label(name, exact=True).fill(value)
        me.press("Show these")
        expect(listed(me)).to_have_text(summaries)
        me.follow("Show all that is known")
        expect(listed(me, CATS)).to_have_count(1)

    leaves("Kind", "something that happened", "Maya had dinner with her sister Lea on 4 September 2026.")
    leaves("State", "no longer holds", LISBON)
    leaves("Said from", "2026-09-07", BERLIN)
    leaves("Said until", "2026-09-02", "Maya is vegan and allergic to peanuts.")


def test_a_memory_says_where_it_came_from_what_it_replaced_and_why(me: Visit) -> None:
    me.follow(BERLIN)
    expect(me.page.get_by_text("I moved to Berlin last week!")).to_be_visible()
    expect(me.page.get_by_role("region", name="What it replaced")).to_contain_text(LISBON)
    expect(me.page.get_by_role("region", name="Why it is kept")).to_contain_text("home city changed")
    me.follow(LISBON)
    expect(me.page.get_by_text("no longer holds").first).to_be_visible()


def test_a_memory_says_how_often_and_for_what_it_was_used(me: Visit) -> None:
    me.follow("Maya is vegan")
    expect(me.page.get_by_text("It was used 7 times, last on 13 September 2026.")).to_be_visible()
    uses = me.page.get_by_role("region", name="What it was used for").get_by_role("listitem")
    expect(uses.first).to_contain_text("The assistant was told it before it answered")
    expect(uses.first).to_contain_text("6 times, last on 13 September 2026")
    expect(uses.nth(1)).to_contain_text("with a tool (coach)")


def test_who_signs_out_everywhere_is_out_on_other_devices_too(
    me: Visit, subject: Subject, context: MemoryContext, service: Served
) -> None:
    me.refusals.add(401)
    with httpx.Client(base_url=service.url, follow_redirects=True, timeout=30) as other:
        link = f"/me/enter?link={make_link(subject.tenant_id, subject.subject_id, context.redis)}"
        assert other.get(link).status_code == 200
        me.follow("Settings")
        me.press("Sign out everywhere")
        expect(me.page.get_by_role("heading", name="Sign in first")).to_be_visible()
        assert other.get("/me").status_code == 401


def test_how_things_belong_together_is_a_picture_and_a_table(me: Visit) -> None:
    me.follow("Connections")
    facts = me.page.get_by_role("region", name="Facts").get_by_role("row")
    expect(facts.filter(has_text="lives in")).to_contain_text("Berlin")
    me.page.get_by_role("figure", name="Picture").get_by_role("link", name="Lea").click()
    expect(facts).to_have_count(3)
    me.follow("Show everything")
    me.follow("home city through time")
    rows = me.page.get_by_role("region", name="Changes").get_by_role("row")
    expect(rows.nth(1)).to_contain_text("Lisbon")
    expect(rows.nth(1)).to_contain_text("10 September 2026")
    expect(rows.nth(2)).to_contain_text("holds now")


def test_one_conversation_is_paused_and_goes_on(me: Visit) -> None:
    me.follow(CATS)
    me.press("Remember nothing more of this conversation")
    told(me, "Nothing more of that conversation is kept.")
    me.press("Remember kitchen again")
    told(me, "may be remembered again")


def test_a_memory_is_corrected(me: Visit, known: dict[str, UUID]) -> None:
    me.follow(CATS)
    me.page.get_by_label("What it should say").fill("Maya has three cats.")
    me.press("Save")
    told(me, "Saved.")
    expect(me.page.get_by_role("heading", name="Maya has three cats.")).to_be_visible()
    expect(me.page.get_by_role("region", name="Why it is kept")).to_contain_text("Changed by you")


def test_whoever_corrects_is_told_that_somebody_else_did(
    me: Visit, known: dict[str, UUID], subject: Subject, context: MemoryContext
) -> None:
    me.refusals.add(409)
    me.follow(CATS)
    edit(None, subject, known["cats"], Edit("Maya has one cat."), context, now=FIRST_DAY)
    me.page.get_by_label("What it should say").fill("Maya has three cats.")
    me.press("Save")
    expect(me.page.get_by_role("alert")).to_contain_text("somebody else")
    expect(me.page.get_by_role("heading", name="Maya has one cat.")).to_be_visible()
    expect(me.page.get_by_label("What it should say")).to_have_value("Maya has three cats.")


def test_what_is_done_to_a_memory_can_be_undone(me: Visit) -> None:
    me.follow(CATS)
    state = me.page.locator("h1 + p")
    for does, undoes, mark in (
        ("Never forget this", "Let it fade", "pinned"),
        ("Put it away", "Use it again", "put away"),
        ("Don't mention it", "You may mention it", "never mentioned"),
    ):
        me.press(does)
        expect(state).to_contain_text(mark)
        me.press(undoes)
        expect(state).not_to_contain_text(mark)


def test_a_source_is_found_and_a_memory_corrected_and_deleted_in_three_clicks_each(me: Visit) -> None:
    me.follow(CATS)
    expect(me.page.get_by_role("region", name="Where it came from")).to_contain_text("Yes, two cats, Miso and Nori.")
    assert me.clicks <= 3
    me.open("/me")
    me.clicks = 0
    me.follow(CATS)
    me.page.get_by_label("What it should say").fill("Maya has three cats.")
    me.press("Save")
    told(me, "Saved.")
    assert me.clicks <= 3
    me.open("/me")
    me.clicks = 0
    me.follow("Maya has three cats.")
    me.press("Delete")
    me.press("Delete it")
    told(me, "Deleted.")
    expect(listed(me, "Maya has three cats.")).to_have_count(0)
    assert me.clicks <= 3


def test_a_document_is_read_and_deleted(me: Visit, subject: Subject, context: MemoryContext) -> None:
    tell(subject, context)
    me.follow("Documents")
    me.follow("The mill")
    expect(me.page.get_by_role("article").first).to_contain_text("ground the rye")
    me.page.get_by_role("group").get_by_text("Delete", exact=True).click()
    me.press("Delete it")
    told(me, "Deleted.")
    expect(me.page.get_by_text("There are no documents.")).to_be_visible()


def test_what_waits_is_kept_or_dropped(
    me: Visit, subject: Subject, known: dict[str, UUID], context: MemoryContext
) -> None:
    ask(subject, "Maya speaks Norwegian.", context, turn_id="another")
    me.follow("What is known")
    me.follow("2 things wait for your decision")
    fish = me.page.get_by_role("article", name="Maya eats fish on Fridays.")
    expect(fish).to_contain_text("It contradicts what you said yourself")
    expect(fish).to_contain_text("Maya is vegan and allergic to peanuts.")
    fish.get_by_role("button", name="Drop it").click()
    told(me, "Dropped.")
    me.press("Keep it")
    told(me, "Kept.")
    expect(me.page.get_by_text("Nothing waits for your decision.")).to_be_visible()
    me.follow("What is known")
    expect(listed(me, "Maya speaks Norwegian.")).to_have_count(1)
    expect(listed(me, "Maya eats fish on Fridays.")).to_have_count(0)


def test_remembering_is_paused_and_goes_on(me: Visit) -> None:
    me.follow("Settings")
    me.press("Pause remembering")
    told(me, "Paused")
    me.follow("What is known")
    expect(me.page.get_by_text("Remembering is paused.")).to_be_visible()
    me.follow("Change that")
    me.press("Go on remembering")
    told(me, "may be remembered again")


def test_a_topic_is_left_alone_and_talked_about_again(me: Visit) -> None:
    me.follow("Settings")
    me.page.get_by_label("A topic").fill("football")
    me.press("Leave it alone")
    told(me, "left alone")
    topics = me.page.get_by_role("region", name="What not to talk about")
    expect(topics).to_contain_text("football")
    expect(topics).to_contain_text("my ex")
    me.press("Talk about football again")
    told(me, "talked about again")
    expect(topics).not_to_contain_text("football")


def test_everything_is_downloaded(me: Visit, tmp_path: Path) -> None:
    me.follow("Settings")
    with me.page.expect_download() as coming:
        me.follow("Download all that is known")
    coming.value.save_as(tmp_path / "mine.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "mine.jsonl").read_text().splitlines()]
    assert CATS in json.dumps(lines)
    assert "Yes, two cats" in json.dumps(lines)


def test_everything_is_forgotten_with_the_proof(me: Visit) -> None:
    me.refusals |= {401, 422}
    me.follow("Settings")
    me.page.get_by_label("to confirm").fill("yes")
    me.press("Forget everything")
    expect(me.page.get_by_role("alert")).to_contain_text("Nothing was forgotten")
    me.page.get_by_label("to confirm").fill("forget everything")
    me.press("Forget everything")
    expect(me.page.get_by_role("heading", name="Everything was forgotten")).to_be_visible()
    expect(me.page.get_by_role("row", name="what was known")).to_be_visible()
    me.open("/me")
    expect(me.page.get_by_role("heading", name="Sign in first")).to_be_visible()


def test_who_signs_out_is_out(me: Visit) -> None:
    me.refusals.add(401)
    me.press("Sign out")
    expect(me.page.get_by_role("heading", name="Sign in first")).to_be_visible()
    me.open("/me")
    expect(me.page.get_by_role("heading", name="Sign in first")).to_be_visible()


def test_a_new_memory_appears_while_one_watches(
    visit: Callable[..., Visit], subject: Subject, known: dict[str, UUID], context: MemoryContext
) -> None:
    me = visit(subject, enters=False)
    with me.page.expect_request("**/me/live*"):
        me.enter()
    expect(me.page.get_by_text(CATS)).to_be_visible()
    know(subject, [a_memory(subject, 12, "Maya learns to sail.", context)], context)
    expect(me.page.get_by_role("link", name="Maya learns to sail.")).to_be_visible()


def test_what_is_written_before_the_page_listens_appears_too(
    visit: Callable[..., Visit], subject: Subject, known: dict[str, UUID], context: MemoryContext
) -> None:
    me = visit(subject, enters=False)
    listening: list[Route] = []

    def keep_waiting(stream: Route) -> None:
        listening.append(stream)

    me.page.route("**/me/live*", keep_waiting)
    with me.page.expect_request("**/me/live*"):
        me.enter()
    expect(me.page.get_by_text(CATS)).to_be_visible()
    know(subject, [a_memory(subject, 12, "Maya learns to sail.", context)], context)
    for stream in listening:
        stream.continue_()
    expect(me.page.get_by_role("link", name="Maya learns to sail.")).to_be_visible()
