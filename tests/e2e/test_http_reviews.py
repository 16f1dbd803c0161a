"""The service: what waits for a person, page by page, and what they decide."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from schema import Asker, Review, Subject
from stores.catalog import Changes
from tests.e2e.service import Served

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
    with service.client(service.key()) as backend, httpx.Client(follow_redirects=True) as person:
        person.get(backend.post(f"/api/v1/subjects/{user}/page-link").json()["url"])
        first = person.get(f"{service.url}/me/reviews").text
        assert [id_ for id_ in waiting if id_ in first] == waiting[:50]
        _, _, behind = first.partition('href="/me/reviews?cursor=')
        second = person.get(f"{service.url}/me/reviews", params={"cursor": behind.split('"')[0]}).text
        assert [id_ for id_ in waiting if id_ in second] == waiting[50:100]
