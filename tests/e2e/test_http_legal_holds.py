"""The service: legal holds of a tenant, from placing one to lifting it, and who may not."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from schema import Capability
from tests.e2e.service import Served

HOLDS = "/api/v1/legal-holds"
MEMORIES = "/api/v1/memories/"


@pytest.fixture
def tenant(user: str) -> str:
    return f"tenant-of-{user}"


@pytest.fixture
def admin(service: Served, tenant: str) -> Iterator[httpx.Client]:
    with service.client(service.key(tenant=tenant)) as client:
        yield client


def remember(admin: httpx.Client, user: str, content: str) -> str:
    made = admin.post(MEMORIES, json={"content": content, "user_id": user})
    return str(made.json()["memory_id"])


def put(admin: httpx.Client, user: str, document_id: str) -> str:
    body = {"content": "The mill stood by the river.", "user_id": user}
    assert admin.put(f"/api/v1/documents/{document_id}", json=body).status_code == 202
    return document_id


def named(user: str, *memories: str, documents: tuple[str, ...] = (), why: str = "case 17") -> dict[str, Any]:
    return {"subject_id": user, "memory_ids": memories, "document_ids": documents, "why": why}


def test_what_is_held_is_listed_with_who_did_it_and_why_and_cannot_be_erased_until_the_hold_is_lifted(
    admin: httpx.Client, user: str
) -> None:
    memory, mill = remember(admin, user, "Anna plays the violin."), put(admin, user, "mill")
    wanted = named(user, memory, documents=(mill,))
    assert admin.post(HOLDS, json=wanted).json() == {"memory_ids": [memory], "document_ids": [mill]}
    assert admin.post(HOLDS, json=wanted).json() == {"memory_ids": [], "document_ids": []}, "they were already"
    listed = admin.get(HOLDS).json()
    assert [(held["memory_id"], held["document_id"], held["why"]) for held in listed["items"]] == [
        (memory, None, "case 17"),
        (None, mill, "case 17"),
    ]
    assert all(held["by"].startswith("key_") and held["since"] for held in listed["items"])
    assert listed["cursor"] is None
    assert "violin" not in str(listed)
    for path in (f"{MEMORIES}{memory}", f"/api/v1/documents/{mill}"):
        assert admin.delete(path, params={"user_id": user}).status_code == 409
    lifted = admin.post(f"{HOLDS}/lift", json=named(user, memory, documents=(mill,), why="it is closed"))
    assert lifted.json() == {"memory_ids": [memory], "document_ids": [mill]}
    assert admin.get(HOLDS).json() == {"items": [], "cursor": None}
    audit = admin.get(f"{MEMORIES}{memory}/origin", params={"user_id": user}).json()["audit"]
    assert [(line["action"], line["reason"]) for line in audit[1:]] == [("held", "case 17"), ("lifted", "it is closed")]
    assert admin.delete(f"{MEMORIES}{memory}", params={"user_id": user}).status_code == 204


def test_a_request_that_is_sent_again_under_its_name_is_answered_as_the_first_time(
    admin: httpx.Client, user: str
) -> None:
    memory = remember(admin, user, "Anna plays the violin.")
    first, again = (
        admin.post(HOLDS, json=named(user, memory), headers={"Idempotency-Key": "case-17"}) for _ in range(2)
    )
    assert first.json() == again.json() == {"memory_ids": [memory], "document_ids": []}


def test_the_list_goes_on_behind_its_cursor_from_memories_to_documents_and_may_be_of_one_subject(
    admin: httpx.Client, user: str
) -> None:
    other = f"{user}-other"
    for whose in (user, other):
        memories = [remember(admin, whose, f"Anna plays the {what}.") for what in ("violin", "cello")]
        admin.post(HOLDS, json=named(whose, *memories, documents=(put(admin, whose, "mill"),))).raise_for_status()

    def read(**asked: str) -> list[str]:
        held, cursor = [], ""
        while True:
            page = admin.get(HOLDS, params={**asked, "limit": "2", "cursor": cursor}).json()
            held += [(one["subject_id"], one["memory_id"] or one["document_id"]) for one in page["items"]]
            cursor = page["cursor"]
            if cursor is None:
                assert len(set(held)) == len(held)
                return [subject for subject, _ in held]

    assert sorted(read()) == [*[user] * 3, *[other] * 3]
    assert read(subject_id=user) == [user] * 3


def test_what_is_not_there_is_held_by_nobody_and_nothing_beside_it(admin: httpx.Client, user: str) -> None:
    memory = remember(admin, user, "Anna plays the violin.")
    for wanted in (
        named(user, memory, str(uuid.uuid4())),
        named(user, memory, documents=("no-such",)),
        named("nobody", memory),
    ):
        refused = admin.post(HOLDS, json=wanted)
        assert (refused.status_code, refused.headers["content-type"]) == (404, "application/problem+json")
    assert admin.get(HOLDS).json()["items"] == []


@pytest.mark.parametrize("wrong", [{"why": " "}, {"why": "x" * 201}, {"memory_ids": []}, {"subject_id": ""}])
def test_a_hold_names_what_and_why(admin: httpx.Client, user: str, wrong: dict[str, Any]) -> None:
    refused = admin.post(HOLDS, json=named(user, str(uuid.uuid4())) | wrong)
    assert (refused.status_code, refused.headers["content-type"]) == (422, "application/problem+json")
    assert admin.get(HOLDS, params={"cursor": "none"}).status_code == 422


def test_holds_are_for_keys_of_the_whole_tenant_that_may_manage_it(
    service: Served, admin: httpx.Client, tenant: str, user: str
) -> None:
    memory = remember(admin, user, "Anna plays the violin.")
    keys = (
        service.key(Capability.READ, Capability.WRITE, Capability.DELETE, tenant=tenant),
        service.key(tenant=tenant, user=user),
        service.key(tenant=tenant, agent="coach"),
    )
    for key in keys:
        with service.client(key) as client:
            asked = (
                client.get(HOLDS),
                *(client.post(path, json=named(user, memory)) for path in (HOLDS, f"{HOLDS}/lift")),
            )
            assert [answer.status_code for answer in asked] == [403, 403, 403]
    with service.client(service.key(tenant=f"{tenant}-other")) as stranger:
        assert stranger.post(HOLDS, json=named(user, memory)).status_code == 404
        admin.post(HOLDS, json=named(user, memory)).raise_for_status()
        assert stranger.get(HOLDS).json()["items"] == []
        assert stranger.post(f"{HOLDS}/lift", json=named(user, memory)).status_code == 404
    assert [held["memory_id"] for held in admin.get(HOLDS).json()["items"]] == [memory]
