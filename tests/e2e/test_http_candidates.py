"""The service: what a user just said is noted before the response, and its turn settles it."""

from __future__ import annotations

import httpx

from tests.e2e.service import Served

CANDIDATE = "/api/v1/turns/candidate"


def said(text: str, **more: str) -> dict[str, object]:
    return {"messages": [{"role": "user", "content": text}], **more}


def test_what_is_worth_it_is_noted_and_listed_as_provisional(me: httpx.Client) -> None:
    noted = me.post(CANDIDATE, json=said("I am allergic to peanuts.", turn_id="t-1"))
    assert noted.status_code == 200
    body = noted.json()
    assert (body["turn_id"], body["should_create"], body["by"]) == ("t-1", True, "rules")
    [listed] = me.get("/api/v1/memories/", params={"status": "provisional"}).json()["items"]
    assert listed["memory_id"] == body["candidate"]["id"]
    assert me.get("/api/v1/memories/").json()["items"] == []
    assert me.post(CANDIDATE, json=said("I am allergic to peanuts.", turn_id="t-1")).json() == body


def test_what_is_not_is_told_so_and_nothing_is_kept(me: httpx.Client) -> None:
    body = me.post(CANDIDATE, json=said("What is the capital of France?")).json()
    assert (body["should_create"], body["candidate"]) == (False, None)
    assert body["turn_id"]


def test_what_says_that_it_was_said_in_a_year_is_refused_as_its_turn_would_be(me: httpx.Client) -> None:
    refused = me.post(CANDIDATE, json=said("I am allergic to peanuts.", occurred_at="2099-01-01T00:00:00Z"))
    assert refused.status_code == 422
    assert me.get("/api/v1/memories/", params={"status": "provisional"}).json()["items"] == []


def test_an_order_is_done_at_once(me: httpx.Client, user: str) -> None:
    me.post("/api/v1/memories/", json={"content": "Anna is allergic to peanuts."}).raise_for_status()
    done = me.post(CANDIDATE, json=said("Stop remembering anything about me.")).json()
    assert done["done"] == ["consent"]
    assert me.get(f"/api/v1/subjects/{user}/preferences").json()["consent"] == "withdrawn"


def test_a_key_notes_for_its_own_user_alone(service: Served, me: httpx.Client) -> None:
    assert me.post(CANDIDATE, json=said("I am vegan.", user_id="somebody-else")).status_code == 403
