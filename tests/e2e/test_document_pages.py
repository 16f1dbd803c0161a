"""Documents on the pages: listed, read part by part, found beside memories, deleted; for the person and for staff."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from urllib.parse import unquote

import httpx
import pytest

from memory.context import open_memory
from memory.documents.indexing import make_searchable
from memory.members import set_member
from schema import AuditAction, MemberRole, Subject
from tests.e2e.service import Served
from tests.e2e.test_pages import send, token_on

MILL = "The old mill stood at the river, and my father ground the rye of the village in it until the flood of 1962."
BOAT = "My brother built a boat from the planks of the barn, and named her Clementine after nobody he would name."


@pytest.fixture(scope="module")
def backend(service: Served) -> Iterator[httpx.Client]:
    with service.client(service.key()) as client:
        yield client


@pytest.fixture
def me(service: Served, backend: httpx.Client, user: str) -> Iterator[httpx.Client]:
    """The browser of a person who came in by a link."""
    with httpx.Client(base_url=service.url, follow_redirects=True, timeout=30.0) as browser:
        browser.get(backend.post(f"/api/v1/subjects/{user}/page-link").json()["url"])
        yield browser


@pytest.fixture
def staff(service: Served, backend: httpx.Client) -> Iterator[httpx.Client]:
    """Ann's browser, of the staff."""
    with httpx.Client(base_url=service.url, follow_redirects=True, timeout=30.0) as browser:
        browser.get(backend.post("/api/v1/staff-link", params={"name": "ann"}).json()["url"])
        yield browser


def put(backend: httpx.Client, user: str, id_: str, content: str, **fields: str) -> None:
    body = {"content": content, "subject_id": user, **fields}
    assert backend.put(f"/api/v1/documents/{id_}", json=body).status_code == 202


def read(service: Served, user: str, id_: str) -> None:
    """Do what a worker does when it is notified."""
    with closing(open_memory(service.settings)) as context:
        make_searchable(Subject(tenant_id="acme", subject_id=user), id_, context, lambda: datetime.now(UTC))


def test_a_document_is_listed_read_found_and_deleted_by_its_person(
    service: Served, me: httpx.Client, backend: httpx.Client, user: str
) -> None:
    assert "There are no documents." in me.get("/me/documents").text
    put(backend, user, "mill", f"{MILL}\n\n{BOAT}", title="The mill & the boat")
    path = "/me/documents/mill"
    waiting = me.get(path).text
    assert "It is being read." in waiting
    assert "Clementine" not in waiting, "nobody has masked it yet"
    read(service, user, "mill")
    assert "The mill &amp; the boat</a>" in me.get("/me/documents").text
    shown = me.get(path).text
    assert shown.count("<article") == 1
    assert "Part 1 of 1" in shown
    assert MILL in shown
    assert "the members who look after it together" in shown
    found = me.get("/me", params={"ask": "What did the brother build from planks?"}).text
    assert "From documents" in found
    assert f'href="{path}?part=1#part-1"' in found
    assert "Clementine" in found
    assert "cannot be undone" in shown
    assert me.post(f"{path}/delete").status_code == 403, "it does not come from a page of the session"
    assert "There are no documents." in send(me, f"{path}/delete", path).text
    assert me.get(path).status_code == 404
    assert "Clementine" not in me.get("/me", params={"ask": "What did the brother build from planks?"}).text


@pytest.mark.long
def test_a_long_document_is_read_part_by_part_and_no_words_stand_twice(
    service: Served, me: httpx.Client, backend: httpx.Client, user: str
) -> None:
    tellings = [f"Telling {number}: {MILL} {BOAT} {MILL} {BOAT}" for number in range(200)]
    put(backend, user, "long", "\n\n".join(tellings))
    read(service, user, "long")
    page = me.get("/me/documents/long")
    told, more = page.text, re.findall(r'href="(/me/documents/long\?part=\d+)"', page.text)
    while more:
        page = me.get(more[0])
        told += page.text
        more = re.findall(r'href="(/me/documents/long\?part=\d+)"', page.text)
    assert re.findall(r"Telling (\d+):", told) == [str(number) for number in range(200)]
    assert me.get("/me/documents/long", params={"part": 60}).text.count('id="part-60"') == 1
    assert me.get("/me/documents/long", params={"part": 0}).status_code == 422


def test_whoever_may_see_a_document_is_named_and_another_persons_does_not_exist(
    service: Served, me: httpx.Client, backend: httpx.Client, user: str
) -> None:
    whose, now = Subject(tenant_id="acme", subject_id=user), datetime.now(UTC)
    for member, role in (("nora", MemberRole.ADVOCATE), ("otto", MemberRole.ADMIRER)):
        set_member(whose, member, role, service.catalog, by="test", now=now, policy_version="1")
    put(backend, user, "all", MILL, visibility="public")
    put(backend, user, "some", MILL, visibility="private")
    put(backend, user, "noras", MILL, visibility="personal", author_id="nora")
    for id_ in ("all", "some", "noras"):
        read(service, user, id_)
    everybody, some = me.get("/me/documents/all").text, me.get("/me/documents/some").text
    assert ("nora" in everybody, "otto" in everybody) == (True, True)
    assert ("nora" in some, "otto" in some) == (True, False)
    assert me.get("/me/documents/noras").status_code == 404
    assert "noras" not in me.get("/me/documents").text
    put(backend, f"{user}-other", "theirs", MILL)
    assert me.get("/me/documents/theirs").status_code == 404
    assert send(me, "/me/documents/theirs/delete").status_code == 404


def test_a_document_of_any_name_has_its_page_and_what_looks_like_markup_is_text(
    service: Served, me: httpx.Client, backend: httpx.Client, user: str
) -> None:
    name = "a b.c?&<i>@x"
    put(backend, user, "a%20b.c%3F%26%3Ci%3E@x", f"<script>alert(1)</script> {MILL}")
    read(service, user, name)
    [path] = re.findall(r'href="(/me/documents/a[^"]*)"', me.get("/me/documents").text)
    assert unquote(unquote(path)) == f"/me/documents/{name}"
    page = me.get(path).text
    assert MILL in page
    assert "<script>alert" not in page


def test_staff_see_and_delete_documents_and_each_look_is_noted(
    service: Served, staff: httpx.Client, backend: httpx.Client, user: str
) -> None:
    put(backend, user, "mill", MILL, visibility="personal", author_id="nora")
    read(service, user, "mill")
    root = f"/admin/subjects/{user}/documents"
    assert "mill" in staff.get(root).text
    assert MILL in staff.get(f"{root}/mill").text
    lines = service.catalog.registry.audit("acme", subject_id=user, action=AuditAction.VIEWED)
    noted = [(row.entry.reason, row.entry.document_id) for row in lines]
    assert sorted(noted, key=str) == [("listed documents", None), ("opened a document", "mill")]
    form = {"form_token": token_on(staff.get(f"{root}/mill"))}
    assert "There are no documents." in staff.post(f"{root}/mill/delete", data=form).text
    [gone] = service.catalog.registry.audit("acme", subject_id=user, action=AuditAction.DOCUMENT_DELETED)
    assert gone.entry.by.startswith("staff:ann")
