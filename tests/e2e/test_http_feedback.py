"""Feedback over HTTP: what helped counts as used once more, once an answer, and only what the asker may see."""

from __future__ import annotations

import uuid
from contextlib import closing
from datetime import UTC, datetime, timedelta

import httpx

from memory.context import open_memory
from memory.feedback import note_feedback
from schema import Capability, Principal, Subject
from stores.catalog.feedback import Feedback
from tests.e2e.service import Served

FEEDBACK = "/api/v1/feedback"


def remembered(client: httpx.Client, content: str) -> str:
    memory_id: str = client.post("/api/v1/memories/", json={"content": content}).json()["memory"]["memory_id"]
    return memory_id


def test_what_helped_is_kept_by_its_request_and_the_first_word_counts(
    service: Served, me: httpx.Client, user: str
) -> None:
    violin, vegan = remembered(me, "Anna plays the violin."), remembered(me, "Anna is vegan.")
    request = me.get("/api/v1/memories/search", params={"query": "violin"}).headers["X-Request-ID"]
    said = {"request_id": request, "useful": [violin, violin], "score": 0.5}
    assert me.post(FEEDBACK, json=said).json() == {"counted": [violin]}
    assert me.post(FEEDBACK, json={"request_id": request, "useful": [vegan]}).status_code == 200
    [kept] = service.catalog.feedback.of(Subject(tenant_id="acme", subject_id=user))
    assert (kept.request_id, kept.useful, kept.score) == (request, (uuid.UUID(violin),), 0.5)


def test_what_helped_counts_as_used_and_is_told_as_no_search(service: Served, me: httpx.Client, user: str) -> None:
    whose, violin = Subject(tenant_id="acme", subject_id=user), uuid.UUID(remembered(me, "Anna plays the violin."))
    principal = Principal(tenant_id="acme", user_id=user, capabilities=frozenset({Capability.READ}), key_id="key_1")
    with closing(open_memory(service.settings)) as context:
        given = Feedback("r-1", (violin,), None, principal.key_id, datetime.now(UTC))
        assert note_feedback(principal, whose, given, context) == [violin]
    assert service.catalog.uses.uncounted(whose, [violin])[violin].times == 1
    assert service.catalog.uses.of(whose, violin) == []


def test_what_one_may_not_see_does_not_count(service: Served, me: httpx.Client, user: str) -> None:
    with service.client(service.key(user=user, agent="coach")) as coach:
        path = f"/api/v1/memories/{remembered(coach, 'Anna plays the violin.')}"
        assert coach.patch(path, json={"scope": "individual"}).status_code == 200
    hidden, unknown = path.rsplit("/", 1)[1], str(uuid.uuid4())
    assert me.post(FEEDBACK, json={"request_id": "r-1", "useful": [hidden, unknown]}).json() == {"counted": []}
    with service.client(service.key(Capability.READ, user="stranger")) as stranger:
        assert stranger.post(FEEDBACK, json={"request_id": "r-1", "user_id": user}).status_code == 403


def test_feedback_is_dropped_in_time_and_goes_with_its_subject(service: Served, me: httpx.Client, user: str) -> None:
    whose, now = Subject(tenant_id="acme", subject_id=user), datetime.now(UTC)
    me.post(FEEDBACK, json={"request_id": "r-1"})
    with closing(open_memory(service.settings)) as context:
        assert context.catalog.feedback.drop_old(now - timedelta(days=1)) == 0
        assert len(context.catalog.feedback.of(whose)) == 1
    assert me.delete(f"/api/v1/subjects/{user}").json()["removed"]["catalog: feedback"] == 1
    assert service.catalog.feedback.of(whose) == []
