"""The registry: what staff of a tenant see and do, that each look is noted, and that others' tenants are not there."""

from __future__ import annotations

import base64
import json
import re
import uuid
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime

import httpx
import pytest

from memory.context import open_memory
from memory.legal_holds import set_legal_hold
from schema import AuditAction, AuditEntry, Capability, Subject
from stores.catalog import Catalog
from stores.queue import create_celery, send_dead_letter
from tests.e2e.service import Served
from tests.e2e.test_pages import remember, token_on


@pytest.fixture(scope="module")
def backend(service: Served) -> Iterator[httpx.Client]:
    with service.client(service.key()) as client:
        yield client


@pytest.fixture
def staff(service: Served, backend: httpx.Client) -> Iterator[httpx.Client]:
    """Ann's browser, which came in by a link."""
    with httpx.Client(base_url=service.url, follow_redirects=True, timeout=30.0) as browser:
        link = backend.post("/api/v1/staff-link", params={"name": "ann"}).json()["url"]
        assert browser.get(link).status_code == 200
        yield browser


def send(staff: httpx.Client, path: str, at: str, **fields: str) -> httpx.Response:
    return staff.post(path, data={"form_token": token_on(staff.get(at)), **fields})


def looks(service: Served, user: str) -> list[AuditEntry]:
    rows = service.catalog.registry.audit("acme", subject_id=user, action=AuditAction.VIEWED)
    return [row.entry for row in rows]


def test_without_a_session_of_staff_no_page_opens(service: Served, backend: httpx.Client, user: str) -> None:
    person = backend.post(f"/api/v1/subjects/{user}/page-link").json()["url"]
    with httpx.Client(base_url=service.url, follow_redirects=True, timeout=30.0) as browser:
        browser.get(person)
        for path in ("/admin", "/admin/audit", "/admin/keys", "/admin/fleet", f"/admin/subjects/{user}"):
            answer = browser.get(path)
            assert answer.status_code == 401
            assert "staff-link" in answer.text
        assert browser.get(person.replace("/me/", "/admin/")).status_code == 401


def test_a_link_for_staff_asks_for_a_key_of_the_whole_tenant_with_admin(service: Served) -> None:
    for key in (service.key(Capability.READ, Capability.ACT_AS), service.key(user="anna"), service.key(agent="coach")):
        with service.client(key) as client:
            assert client.post("/api/v1/staff-link", params={"name": "ann"}).status_code == 403


def test_a_session_ends_with_the_key_that_vouched_for_it(service: Served) -> None:
    with (
        service.client(service.key()) as client,
        httpx.Client(base_url=service.url, follow_redirects=True, timeout=30.0) as browser,
    ):
        browser.get(client.post("/api/v1/staff-link", params={"name": "ann"}).json()["url"])
        assert browser.get("/admin").status_code == 200
        [key] = [key for key in service.catalog.keys.all("acme") if key.last_used_at and not key.revoked_at][-1:]
        service.catalog.keys.end(key.id, datetime.now(UTC))
        assert browser.get("/admin").status_code == 401


def test_documents_under_legal_hold_are_listed_for_their_own_tenant(
    service: Served, staff: httpx.Client, backend: httpx.Client, user: str
) -> None:
    body = {"content": "The mill stood by the river.", "title": f"The mill of {user}", "user_id": user}
    for tenant in ("acme", "other"):
        with service.client(service.key(tenant=tenant)) as client:
            assert client.put(f"/api/v1/documents/{tenant}-mill", json=body).status_code == 202
        whose = Subject(tenant_id=tenant, subject_id=user)
        with closing(open_memory(service.settings)) as context:
            ids, now = [f"{tenant}-mill"], datetime.now(UTC)
            set_legal_hold(whose, (), context, document_ids=ids, why="case 7", by="dora", now=now)
    listed = staff.get("/admin/holds").text
    assert f"/admin/subjects/{user}/documents/acme-mill" in listed
    assert "Nothing is under legal hold." not in listed
    assert "other-mill" not in listed


def test_each_look_into_a_memory_is_noted_with_who_looked(
    service: Served, staff: httpx.Client, backend: httpx.Client, user: str
) -> None:
    id_ = remember(backend, user, "Anna plays the violin.")
    assert "violin" not in staff.get("/admin", params={"begins": user}).text
    assert looks(service, user) == []
    assert "violin" in staff.get(f"/admin/subjects/{user}").text
    assert "violin" in staff.get(f"/admin/subjects/{user}/memories/{id_}").text
    assert "violin" in staff.get(f"/admin/subjects/{user}/export").text
    staff.get(f"/admin/subjects/{user}/preferences")
    staff.get(f"/admin/subjects/{user}/reviews")
    noted = looks(service, user)
    assert len(noted) == 5
    assert all(line.by.startswith("staff:ann (key_") for line in noted)
    assert {line.memory_id for line in noted if line.memory_id} == {noted[3].memory_id}
    shown = staff.get("/admin/audit", params={"subject": user, "action": "viewed", "by": "staff:ann"}).text
    assert len(re.findall(r"<td[^>]*>viewed</td>", shown)) == 5
    assert "violin" not in shown
    link = backend.post(f"/api/v1/subjects/{user}/page-link").json()["url"]
    with httpx.Client(base_url=service.url, follow_redirects=True, timeout=30.0) as person:
        person.get(link)
        assert "Looked at by somebody who runs this service" in person.get(f"/me/memories/{id_}").text
    assert len(looks(service, user)) == 5


def test_staff_do_what_the_person_may_and_the_audit_says_who(
    service: Served, staff: httpx.Client, backend: httpx.Client, user: str
) -> None:
    subject, id_ = f"/admin/subjects/{user}", remember(backend, user, "Anna plays the violin.")
    memory = f"{subject}/memories/{id_}"
    version = re.findall(r'name="version" value="(\d+)"', staff.get(memory).text)[0]
    edited = send(staff, f"{memory}/edit", memory, summary="Anna plays the cello.", version=version)
    assert "<h1>Anna plays the cello.</h1>" in edited.text
    assert "pinned" in send(staff, f"{memory}/pin", memory).text
    assert "kept for a legal reason" in send(staff, f"{memory}/hold", memory, why="case 7", holds="true").text
    assert "case 7" in staff.get("/admin/holds").text
    assert "legal reason" in send(staff, f"{memory}/delete", memory).text
    send(staff, f"{memory}/hold", memory, why="case 7 is closed", holds="false")
    lines = service.catalog.audit_of(Subject(tenant_id="acme", subject_id=user), uuid.UUID(id_))
    done = {line.action.value: line.by for line in lines if line.action is not AuditAction.VIEWED}
    assert done.keys() >= {"updated", "held", "lifted"}
    assert all(done[action].startswith("staff:ann") for action in ("updated", "held", "lifted"))
    assert send(staff, f"{memory}/delete", memory).status_code == 200
    assert staff.get(memory).status_code == 404


def test_an_erasure_by_staff_leaves_its_proof(
    service: Served, staff: httpx.Client, backend: httpx.Client, user: str
) -> None:
    remember(backend, user, "Anna plays the violin.")
    whose = f"/admin/subjects/{user}"
    shown = send(staff, f"{whose}/forget", f"{whose}/preferences", confirm="forget everything").text
    assert "Everything was forgotten" in shown
    assert user in staff.get("/admin/erasures").text
    proof = staff.get("/admin/erasures/proof", params={"subject": user}).text
    assert "by staff:ann" in proof
    assert "finds nothing" in proof
    assert staff.get("/admin/erasures/proof", params={"subject": "nobody"}).status_code == 404


def test_nothing_of_another_tenant_is_there(service: Served, staff: httpx.Client, user: str) -> None:
    with service.client(service.key(tenant="umbrella")) as other:
        id_ = remember(other, f"{user}-of-umbrella", "Bert plays the cello.")
        secret_key = service.key(tenant="umbrella", user="bert-of-umbrella")
    assert secret_key
    for path in (
        "/admin",
        "/admin/audit",
        "/admin/reviews",
        "/admin/holds",
        "/admin/erasures",
        "/admin/dead-letters",
        "/admin/keys",
        "/admin/members",
        "/admin/fleet",
    ):
        answer = staff.get(path)
        assert answer.status_code == 200
        assert "umbrella" not in answer.text
    for path in (f"/admin/subjects/{user}-of-umbrella", f"/admin/subjects/{user}-of-umbrella/memories/{id_}"):
        assert staff.get(path).status_code == 404
    foreign = service.catalog.keys.all("umbrella")[0]
    assert send(staff, f"/admin/keys/{foreign.id}/revoke", "/admin/keys").status_code == 404


def test_keys_and_members_are_made_and_ended(service: Served, staff: httpx.Client, user: str) -> None:
    made = send(staff, "/admin/keys", "/admin/keys", name="a coach", can="read", agent="coach", days="7").text
    [secret] = re.findall(r'id="secret">([^<]+)<', made)
    with service.client(secret) as coach:
        assert coach.get("/api/v1/memories/", params={"user_id": "x"}).status_code in (200, 403)
        [key] = [key for key in service.catalog.keys.all("acme") if key.name == "a coach"]
        assert key.by.startswith("staff:ann")
        assert "opens nothing" in send(staff, f"/admin/keys/{key.id}/revoke", "/admin/keys").text
        assert coach.get("/api/v1/memories/", params={"user_id": "x"}).status_code == 401
    assert user in send(staff, "/admin/members", "/admin/members", subject="archive", user=user, role="admirer").text
    assert (
        f'<th scope="row">{user}</th>'
        not in send(staff, "/admin/members", "/admin/members", subject="archive", user=user).text
    )


def test_a_subject_of_any_name_has_its_page(staff: httpx.Client, backend: httpx.Client) -> None:
    name = "a/b c.?&<i>@x"
    remember(backend, name, "Anna plays the violin.")
    [path] = re.findall(r'href="(/admin/subjects/a%252F[^"]*)"', staff.get("/admin", params={"begins": "a/b"}).text)
    page = staff.get(path)
    assert page.status_code == 200
    memory = re.findall(r'href="(/admin/subjects/[^"]*/memories/[^"]*)"', page.text)[0]
    assert "violin" in staff.get(memory).text


def test_lists_go_on_page_by_page_and_are_complete(service: Served, staff: httpx.Client) -> None:
    catalog: Catalog = service.catalog
    wanted = {f"page-{number:03}" for number in range(120)}
    for name in wanted:
        line = {"action": AuditAction.MEMBERSHIP, "tenant_id": "acme", "subject_id": "list", "at": datetime.now(UTC)}
        catalog.registry.note(AuditEntry.model_validate({**line, "by": "x", "reason": name, "policy_version": "1"}))
    path, told = "/admin/audit?subject=list", []
    while path:
        text = staff.get(path).text
        told += re.findall(r"page-\d{3}", text)
        more = re.findall(r'href="(/admin/audit\?[^"]+cursor=[^"]+)"', text)
        path = more[0].replace("&amp;", "&") if more else ""
    assert len(told) == len(set(told)) == 120
    assert set(told) == wanted
    assert staff.get("/admin/audit", params={"cursor": "nonsense"}).status_code == 422


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("/admin/audit", ["9" * 30]),
        ("/admin/audit", [float("inf")]),
        ("/admin", ["\ud800"]),
        ("/admin", ["a\0b"]),
        ("/admin/erasures", ["0001-01-01T00:00:00+14:00", "a", "subject", ""]),
        ("/admin/subjects/{user}", ["0001-01-01T00:00:00+14:00", "0" * 32]),
    ],
)
def test_a_cursor_that_no_list_gave_is_told_and_is_no_defect(
    staff: httpx.Client, backend: httpx.Client, user: str, path: str, place: list[object]
) -> None:
    remember(backend, user, "Anna plays the violin.")
    cursor = base64.urlsafe_b64encode(json.dumps(place).encode()).decode().rstrip("=")
    assert staff.get(path.format(user=user), params={"cursor": cursor}).status_code == 422


def test_what_can_be_no_text_or_id_is_told_and_is_no_defect(staff: httpx.Client) -> None:
    assert staff.get("/admin", params={"begins": "a\0b"}).status_code == 422
    assert send(staff, "/admin/keys", "/admin/keys", name="a\0b", can="read").status_code == 422
    for wrong in ({"name": "  "}, {"name": "x", "user": "a\x01b"}):
        answer = send(staff, "/admin/keys", "/admin/keys", can="read", **wrong)
        assert answer.status_code == 422
        assert "no name" in answer.text


@pytest.mark.parametrize(("turn_id", "user_id"), [("t", "an\nna"), ("t\n1", "anna")])
def test_a_dead_letter_opens_whose_ids_are_none(
    service: Served, staff: httpx.Client, turn_id: str, user_id: str
) -> None:
    turn = {"turn_id": turn_id, "tenant_id": "acme", "user_id": user_id, "messages": []}
    send_dead_letter(create_celery(service.settings), reason="invalid", turn_id=turn_id, body=turn)
    last = re.findall(r"/admin/dead-letters/([\w-]+)", staff.get("/admin/dead-letters").text)[-1]
    opened = staff.get(f"/admin/dead-letters/{last}")
    assert opened.status_code == 200
    assert "messages" in opened.text
