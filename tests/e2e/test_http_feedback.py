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


def asked(client: httpx.Client, query: str, **more: str) -> str:
    """Search, and return the id of the request."""
    answer = client.get("/api/v1/memories/search", params={"query": query, **more})
    assert answer.status_code == 200
    return answer.headers["X-Request-ID"]


def test_what_helped_is_kept_by_its_request_and_the_first_word_counts(
    service: Served, me: httpx.Client, user: str
) -> None:
    violin, vegan = remembered(me, "Anna plays the violin."), remembered(me, "Anna is vegan.")
    request = asked(me, "violin")
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


def test_what_an_answer_did_not_tell_does_not_count_and_what_was_never_asked_has_no_feedback(
    service: Served, me: httpx.Client, user: str
) -> None:
    violin, vegan = remembered(me, "Anna plays the violin."), remembered(me, "Anna is vegan.")
    request = asked(me, "violin")
    assert me.post(FEEDBACK, json={"request_id": request, "useful": [vegan, violin]}).json() == {"counted": [violin]}
    never = me.post(FEEDBACK, json={"request_id": "never-asked", "useful": [violin]})
    assert (never.status_code, never.headers["content-type"]) == (404, "application/problem+json")
    with service.client(service.key(user=user)) as another:
        assert another.post(FEEDBACK, json={"request_id": request, "useful": [violin]}).status_code == 404
    assert len(service.catalog.feedback.of(Subject(tenant_id="acme", subject_id=user))) == 1


def test_every_way_to_be_told_of_memories_may_be_given_feedback(me: httpx.Client, user: str) -> None:
    violin, subject = remembered(me, "Anna plays the violin."), f"/api/v1/subjects/{user}"
    said = {"messages": [{"role": "user", "content": "Which instrument do I play?"}]}
    for told in (
        me.get(f"{subject}/context", params={"question": "Which instrument does Anna play?"}),
        me.post(f"{subject}/retrieval", json=said),
        me.get("/api/v1/memories/search"),
        me.get("/api/v1/memories/search", params={"query": "violin"}, headers={"X-Request-ID": f"{user}.mine"}),
    ):
        given = {"request_id": told.headers["X-Request-ID"], "useful": [violin]}
        assert me.post(FEEDBACK, json=given).json() == {"counted": [violin]}
    nothing = {"request_id": asked(me, "How do I compile a kernel module?"), "useful": [violin], "score": 0.0}
    assert me.post(FEEDBACK, json=nothing).json() == {"counted": []}


def test_a_backend_gives_feedback_for_the_users_that_it_asked_for(service: Served, me: httpx.Client, user: str) -> None:
    violin = remembered(me, "Anna plays the violin.")
    with service.client(service.key(Capability.READ, Capability.ACT_AS)) as backend:
        request = asked(backend, "violin", user_id=user, as_agent="coach")
        given = {"request_id": request, "useful": [violin], "user_id": user}
        assert backend.post(FEEDBACK, json=given).json() == {"counted": [violin]}


def test_what_one_may_not_see_does_not_count(service: Served, me: httpx.Client, user: str) -> None:
    with service.client(service.key(user=user, agent="coach")) as coach:
        path = f"/api/v1/memories/{remembered(coach, 'Anna plays the violin.')}"
        assert coach.patch(path, json={"scope": "individual"}).status_code == 200
    hidden, unknown = path.rsplit("/", 1)[1], str(uuid.uuid4())
    request = asked(me, "violin")
    assert me.post(FEEDBACK, json={"request_id": request, "useful": [hidden, unknown]}).json() == {"counted": []}
    with service.client(service.key(Capability.READ, user="stranger")) as stranger:
        assert stranger.post(FEEDBACK, json={"request_id": "r-1", "user_id": user}).status_code == 403


def test_feedback_is_dropped_in_time_and_goes_with_its_subject(service: Served, me: httpx.Client, user: str) -> None:
    whose, now = Subject(tenant_id="acme", subject_id=user), datetime.now(UTC)
    me.post(FEEDBACK, json={"request_id": asked(me, "violin")})
    with closing(open_memory(service.settings)) as context:
        assert context.catalog.feedback.drop_old(now - timedelta(days=1)) == 0
        assert len(context.catalog.feedback.of(whose)) == 1
    assert me.delete(f"/api/v1/subjects/{user}").json()["removed"]["catalog: feedback"] == 1
    assert service.catalog.feedback.of(whose) == []
