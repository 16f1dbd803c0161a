"""What staff do on their pages, with scripts and without."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

import pytest
from playwright.sync_api import expect

from memory.context import MemoryContext
from schema import Subject
from stores.queue import send_dead_letter
from tests.browser.conftest import Visit
from tests.browser.people import a_turn, maya


@pytest.fixture
def known(subject: Subject, context: MemoryContext) -> dict[str, UUID]:
    return maya(subject, context)


@pytest.fixture(params=[True, pytest.param(False, marks=pytest.mark.long)], ids=["scripts", "no scripts"])
def ann(request: pytest.FixtureRequest, visit: Callable[..., Visit], subject: Subject, known: dict[str, UUID]) -> Visit:
    assert known
    return visit(subject, runs_scripts=request.param, staff=True)


def told(ann: Visit, text: str) -> None:
    expect(ann.page.get_by_role("status").filter(has_text=text)).to_be_visible()


def test_a_subject_is_found_corrected_held_and_its_audit_says_by_whom(ann: Visit, subject: Subject) -> None:
    ann.page.get_by_role("searchbox").fill(subject.subject_id)
    ann.press("Search")
    ann.follow(subject.subject_id)
    ann.follow("Maya has two cats")
    ann.page.get_by_label("What it should say").fill("Maya has three cats.")
    ann.press("Save")
    told(ann, "Saved.")
    ann.page.get_by_label("Why it is under legal hold").fill("case 7")
    ann.press("Put under legal hold")
    told(ann, "It is under legal hold.")
    ann.follow("Audit of it")
    ann.page.get_by_label("Who, or how").fill("staff:ann")
    ann.press("Show these")
    rows = ann.page.get_by_role("region", name="Audit").get_by_role("row")
    expect(rows.filter(has_text="case 7")).to_contain_text("staff:ann")
    expect(rows.filter(has_text="viewed").first).to_be_visible()
    ann.follow("Holds")
    expect(ann.page.get_by_role("row").filter(has_text=subject.subject_id)).to_contain_text("case 7")


def test_what_waits_is_decided_by_staff(ann: Visit, subject: Subject) -> None:
    ann.follow("Reviews")
    ann.page.get_by_role("link", name=subject.subject_id, exact=True).click()
    ann.press("Drop it")
    told(ann, "Dropped.")


def test_a_dead_letter_is_enqueued_again_and_another_thrown_away(
    ann: Visit, subject: Subject, context: MemoryContext
) -> None:
    for number in (51, 52):
        turn = a_turn(subject, number, "I play chess.").model_dump(mode="json")
        send_dead_letter(context.celery, reason="a worker died over it", turn_id=turn["turn_id"], body=turn)
    ann.follow("Dead letters")
    ann.follow(f"{subject.subject_id}-51")
    expect(ann.page.get_by_label("The turn as it came")).to_contain_text("I play chess.")
    ann.press("Enqueue it again")
    told(ann, "Enqueued again.")
    ann.follow(f"{subject.subject_id}-52")
    ann.press("Throw it away for good")
    told(ann, "Thrown away.")
    expect(ann.page.get_by_role("link", name=f"{subject.subject_id}-5")).to_have_count(0)
    ann.open(f"/admin/audit?subject={subject.subject_id}")
    lines = ann.page.get_by_role("region", name="Audit").get_by_role("row")
    expect(lines.filter(has_text="replayed")).to_contain_text("staff:ann")
    expect(lines.filter(has_text="dropped")).to_contain_text("staff:ann")


def test_a_key_is_made_and_ended_and_a_member_added_and_removed(ann: Visit, subject: Subject) -> None:
    name = f"backend of {subject.subject_id}"
    ann.follow("Keys")
    ann.page.get_by_label("What it is for").fill(name)
    ann.page.get_by_label("read memories and documents").check()
    ann.press("Make it")
    told(ann, "The new key: at_")
    ann.press(f"Revoke {name}")
    told(ann, "The key opens nothing any more.")
    ann.open("/admin/audit?action=key")
    lines = ann.page.get_by_role("region", name="Audit").get_by_role("row")
    expect(lines.nth(1)).to_contain_text("key_revoked")
    expect(lines.nth(2)).to_contain_text("key_made")
    ann.follow("Members")
    ann.page.get_by_role("textbox", name="Subject").fill(f"stories of {subject.subject_id}")
    ann.page.get_by_role("textbox", name="User").fill("lea")
    ann.page.get_by_role("combobox", name="Role").select_option("admirer")
    ann.press("Save")
    told(ann, "Saved.")
    ann.press(f"Take lea out of stories of {subject.subject_id}")
    told(ann, "Taken away.")


def test_a_person_is_forgotten_by_staff_and_the_proof_can_be_looked_for_again(ann: Visit, subject: Subject) -> None:
    ann.follow(subject.subject_id)
    ann.follow("Settings, export, erasure")
    ann.page.get_by_label("to confirm").fill("forget everything")
    ann.press("Forget everything")
    expect(ann.page.get_by_role("heading", name="Everything was forgotten")).to_be_visible()
    ann.follow("All erasures")
    ann.follow(f"Look again for {subject.subject_id}")
    expect(ann.page.get_by_text("finds nothing.")).to_be_visible()
    ann.refusals.add(401)
    ann.press("Sign out")
    expect(ann.page.get_by_text("These pages are for staff.")).to_be_visible()
