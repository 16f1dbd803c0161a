"""The service: what waits for a person, page by page, and what they decide."""

from __future__ import annotations

import re
import uuid
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from schema import Asker, Capability, Review, Status, Subject
from stores.catalog import Changes
from tests.e2e.service import Served
from tests.unit.policies.builders import memory

NOW = datetime.now(UTC)


@pytest.fixture
def waiting(service: Served, user: str) -> list[str]:
    """The ids of what waits for the user, oldest first."""
    whose = Subject(tenant_id="acme", subject_id=user)
    reviews = [
        Review(
            id=uuid.uuid4(),
            **whose.model_dump(),
            asked_by=Asker.FORGETTING,
            reason="forget_in_doubt",
            policy_version="p",
            candidate=None,
            opened_at=NOW + timedelta(seconds=number),
        )
        for number in range(250)
    ]
    service.catalog.commit(Changes(subject=whose, at=NOW, reviews=tuple(reviews)))
    return [str(review.id) for review in reviews]


def test_all_that_waits_is_listed_page_by_page_while_somebody_decides(
    me: httpx.Client, user: str, waiting: list[str]
) -> None:
    reviews, told = f"/api/v1/subjects/{user}/reviews", list[str]()
    cursor: str | None = ""
    while cursor is not None:
        page = me.get(reviews, params={"cursor": cursor, "limit": 100}).json()
        told += [review["review_id"] for review in page["items"]]
        assert me.post(f"{reviews}/{page['items'][0]['review_id']}/reject").status_code == 200
        cursor = page["cursor"]
    assert told == waiting
    assert me.post(f"{reviews}/{waiting[0]}/reject").status_code == 404
    assert me.get(reviews, params={"limit": 1}).json()["items"][0]["review_id"] == waiting[1]


def test_a_cursor_that_no_list_gave_is_refused(me: httpx.Client, user: str) -> None:
    refused = me.get(f"/api/v1/subjects/{user}/reviews", params={"cursor": "W10"})
    assert (refused.status_code, refused.headers["content-type"]) == (422, "application/problem+json")


def test_the_page_shows_more_behind_what_it_shows(service: Served, user: str, waiting: list[str]) -> None:
    with service.client(service.key()) as backend, httpx.Client(follow_redirects=True, timeout=30.0) as person:
        person.get(backend.post(f"/api/v1/subjects/{user}/page-link").json()["url"])
        first = person.get(f"{service.url}/me/reviews").text
        assert [id_ for id_ in waiting if id_ in first] == waiting[:50]
        _, _, behind = first.partition('href="/me/reviews?cursor=')
        second = person.get(f"{service.url}/me/reviews", params={"cursor": behind.split('"')[0]}).text
        assert [id_ for id_ in waiting if id_ in second] == waiting[50:100]


@pytest.fixture
def hidden(service: Served, user: str) -> dict[str, uuid.UUID]:
    """Two memories that a wish to forget may have meant, by what they say."""
    whose = Subject(tenant_id="acme", subject_id=user)
    memories = [
        memory(summary, subject_id=user, status=Status.ARCHIVED, id=uuid.uuid4())
        for summary in ("Maya takes lithium.", "Maya had a stroke.")
    ]
    ids = {one.summary: one.id for one in memories}
    review = Review.of_forgetting(
        whose, tuple(ids.values()), "t1", policy_version="p", opened_at=NOW, wish="Forget what the doctor said."
    )
    service.catalog.commit(Changes(subject=whose, at=NOW, created=tuple(memories), reviews=(review,)))
    return ids


def test_a_program_decides_each_memory_that_a_wish_to_forget_hid(
    me: httpx.Client, service: Served, user: str, hidden: dict[str, uuid.UUID]
) -> None:
    reviews, whose = f"/api/v1/subjects/{user}/reviews", Subject(tenant_id="acme", subject_id=user)
    [waiting] = me.get(reviews).json()["items"]
    assert waiting["wish"] == "Forget what the doctor said."
    assert waiting["hidden"] == [{"memory_id": str(id_), "content": summary} for summary, id_ in hidden.items()]
    approve = f"{reviews}/{waiting['review_id']}/approve"
    assert me.post(approve, json={"memory_ids": [str(uuid.uuid4())]}).is_client_error
    assert me.post(approve, json={"memory_ids": [str(hidden["Maya had a stroke."])]}).status_code == 200
    assert [one.summary for one in service.catalog.list_memories(whose)] == ["Maya takes lithium."]
    assert service.catalog.memory(hidden["Maya had a stroke."]) is None


@pytest.mark.parametrize(("ticked", "left"), [(["Maya had a stroke."], ["Maya takes lithium."]), ([], [1, 2])])
def test_a_person_reads_what_they_wished_and_decides_each_memory(
    service: Served, user: str, hidden: dict[str, uuid.UUID], ticked: list[str], left: list[object]
) -> None:
    with service.client(service.key()) as backend, httpx.Client(follow_redirects=True, timeout=30.0) as person:
        person.get(backend.post(f"/api/v1/subjects/{user}/page-link").json()["url"])
        page = person.get(f"{service.url}/me/reviews").text
        assert "“Forget what the doctor said.”" in page
        assert page.count('name="memory"') == page.count(" checked>") == 2
        token = re.search(r'name="form_token" value="([^"]+)"', page)
        assert token is not None
        action = page.partition('action="/me/reviews/')[2].partition('"')[0]
        form = {"form_token": token[1], "decision": "drop", "memory": [str(hidden[summary]) for summary in ticked]}
        answer = person.post(f"{service.url}/me/reviews/{action}", data=form)
    assert ("Dropped." in answer.text, "Kept." in answer.text) == (bool(ticked), not ticked)
    told = service.catalog.list_memories(Subject(tenant_id="acme", subject_id=user))
    assert len(told) == len(left)


def test_an_agent_decides_nothing_that_waits_for_a_person(
    me: httpx.Client, service: Served, user: str, hidden: dict[str, uuid.UUID]
) -> None:
    reviews = f"/api/v1/subjects/{user}/reviews"
    [waiting] = me.get(reviews).json()["items"]
    with service.client(service.key(Capability.READ, Capability.WRITE, user=user, agent="coach")) as coach:
        for decision in ("approve", "reject"):
            assert coach.post(f"{reviews}/{waiting['review_id']}/{decision}").status_code == 403
    assert me.get(reviews).json()["items"] == [waiting]
