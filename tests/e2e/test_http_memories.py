"""The service: what is known, asked for, changed and erased over HTTP."""

from __future__ import annotations

import json
import threading
import uuid
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import count
from typing import Any

import httpx
import pytest

from schema import Capability, Subject
from stores.catalog import Access
from tests.e2e.service import Served

_users = count()


def remember(client: httpx.Client, content: str, **more: Any) -> dict[str, Any]:
    answer = client.post("/api/v1/memories/", json={"content": content, **more})
    assert answer.status_code in {200, 201}, answer.text
    memory: dict[str, Any] = answer.json()["memory"]
    return memory


def search(client: httpx.Client, query: str, **more: Any) -> list[str]:
    answer = client.get("/api/v1/memories/search", params={"query": query, **more})
    assert answer.status_code == 200, answer.text
    return [hit["content"] for hit in answer.json()]


def pages(client: httpx.Client, limit: int) -> Iterator[list[dict[str, Any]]]:
    cursor: dict[str, str] = {}
    while True:
        page = client.get("/api/v1/memories/", params={"limit": limit, **cursor}).json()
        yield page["items"]
        if page["cursor"] is None:
            return
        cursor = {"cursor": page["cursor"]}


def test_what_is_remembered_is_found_and_a_question_about_nothing_known_finds_nothing(me: httpx.Client) -> None:
    remember(me, "Anna plays the violin.")
    remember(me, "Anna is vegan.")
    assert search(me, "Which instrument does Anna play?")[0] == "Anna plays the violin."
    assert search(me, "How do I compile a kernel module?") == []


def test_the_same_statement_again_is_merged_into_what_is_known(me: httpx.Client) -> None:
    first = me.post("/api/v1/memories/", json={"content": "Anna plays the violin."})
    again = me.post("/api/v1/memories/", json={"content": "Anna plays the violin."})
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json()["memory"]["memory_id"] == again.json()["memory"]["memory_id"]


def test_a_hit_tells_similarity_distance_and_why_it_was_found(me: httpx.Client) -> None:
    remember(me, "Anna plays the violin.")
    [hit] = me.get("/api/v1/memories/search", params={"query": "violin", "explain": True}).json()
    assert hit["distance"] == pytest.approx(1 - hit["similarity"], abs=1e-6)
    assert hit["why"]["word_rank"] == 1
    assert sum(hit["why"]["terms"].values()) == pytest.approx(hit["score"])


def test_an_edit_names_the_version_that_it_was_made_of(me: httpx.Client) -> None:
    path = f"/api/v1/memories/{remember(me, 'Anna lives in Lisbon.')['memory_id']}"
    etag = me.get(path).headers["ETag"]
    edited = me.patch(path, json={"content": "Anna lives in Porto."}, headers={"If-Match": etag})
    assert (edited.status_code, edited.json()["content"]) == (200, "Anna lives in Porto.")
    late = me.patch(path, json={"content": "Anna lives in Rome."}, headers={"If-Match": etag})
    assert late.status_code == 412
    assert me.get(path).json()["content"] == "Anna lives in Porto."


@pytest.mark.parametrize(
    ("if_match", "status"),
    [
        ('"90", "91",{}', 200),
        ('"90",, {} ,', 200),
        ("*", 200),
        ('"90", "91"', 412),
        ("W/{}", 412),
        ('"90", W/{}', 412),
        ('W/"90",{}', 200),
        ('"*"', 412),
        ("{version}", 412),
        ("{} {}", 412),
        ('{}, "9', 412),
        (", ,", 412),
        ("", 412),
    ],
)
def test_if_match_is_read_as_http_says(me: httpx.Client, if_match: str, status: int) -> None:
    """RFC 9110, 13.1.1: a list of entity tags, compared strongly; a weak one is like none."""
    path = f"/api/v1/memories/{remember(me, 'Anna lives in Lisbon.')['memory_id']}"
    etag = me.get(path).headers["ETag"]
    named = if_match.format(etag, etag, version=etag.strip('"'))
    edited = me.patch(path, json={"importance": 0.9}, headers={"If-Match": named})
    assert (edited.status_code, me.get(path).json()["importance"] == 0.9) == (status, status == 200)


def test_what_if_match_names_may_stand_in_several_lines(me: httpx.Client) -> None:
    path = f"/api/v1/memories/{remember(me, 'Anna lives in Lisbon.')['memory_id']}"
    lines = [("If-Match", '"90"'), ("If-Match", me.get(path).headers["ETag"])]
    assert me.patch(path, json={"importance": 0.9}, headers=lines).status_code == 200


def test_a_secret_is_refused_and_not_repeated(me: httpx.Client) -> None:
    answer = me.post("/api/v1/memories/", json={"content": "The password is hunter2!x9."})
    assert answer.status_code == 422
    assert "hunter2" not in answer.text


def test_verbs_do_what_they_say(me: httpx.Client) -> None:
    path = f"/api/v1/memories/{remember(me, 'Anna plays the violin.')['memory_id']}"
    assert me.post(f"{path}/pin").json()["pinned"]
    assert me.post(f"{path}/suppress").json()["suppressed"]
    assert search(me, "violin") == []
    assert not me.post(f"{path}/unsuppress").json()["suppressed"]
    assert me.post(f"{path}/archive").json()["status"] == "archived"
    assert me.post(f"{path}/restore").json()["status"] == "active"
    assert me.post(f"{path}/explode").status_code == 422


def test_uses_that_no_night_has_counted_yet_are_told_of_a_memory(service: Served, me: httpx.Client, user: str) -> None:
    told, whose = remember(me, "Anna plays the violin."), Subject(tenant_id="acme", subject_id=user)
    used_at = datetime.fromisoformat(told["last_accessed"]) + timedelta(hours=1)
    service.catalog.uses.count([Access(uuid.UUID(told["memory_id"]), whose, 3, used_at)])
    [listed] = me.get("/api/v1/memories/").json()["items"]
    for shown in (me.get(f"/api/v1/memories/{told['memory_id']}").json(), listed):
        assert (shown["access_count"], datetime.fromisoformat(shown["last_accessed"])) == (3, used_at)


def test_what_is_deleted_is_gone(me: httpx.Client) -> None:
    path = f"/api/v1/memories/{remember(me, 'Anna plays the violin.')['memory_id']}"
    assert me.delete(path).status_code == 204
    assert me.get(path).status_code == 404
    assert search(me, "violin") == []


def test_a_memory_has_the_importance_that_was_stated(me: httpx.Client) -> None:
    assert remember(me, "Anna plays the violin.", importance=0.9)["importance"] == 0.9


def test_an_agent_keeps_a_memory_for_itself_and_shares_it_again(service: Served, me: httpx.Client, user: str) -> None:
    with service.client(service.key(user=user, agent="coach")) as coach:
        path = f"/api/v1/memories/{remember(coach, 'Anna plays the violin.')['memory_id']}"
        assert coach.patch(path, json={"scope": "individual"}).json()["scope"] == "individual"
        assert me.get(path).status_code == 404
        coach.patch(path, json={"scope": "shared"})
    assert me.get(path).json()["scope"] == "shared"


def test_a_list_is_paged_by_its_cursor(me: httpx.Client) -> None:
    statements = (
        "Anna plays the violin.",
        "Anna is vegan.",
        "Anna lives in Porto.",
        "Anna has two cats.",
        "Anna skis.",
    )
    for statement in statements:
        remember(me, statement)
    found = [item["content"] for page in pages(me, limit=2) for item in page]
    assert len(found) == len(set(found)) == len(statements)
    assert me.get("/api/v1/memories/", params={"cursor": "x"}).status_code == 422


def test_a_page_says_of_how_many_it_is_one_and_where_it_begins(me: httpx.Client) -> None:
    for statement in ("Anna plays the violin.", "Anna is vegan.", "Anna lives in Porto."):
        remember(me, statement)
    page = me.get("/api/v1/memories/", params={"limit": 2, "offset": 1}).json()
    assert (page["total"], page["limit"], page["offset"], len(page["items"])) == (3, 2, 1, 2)
    whole = me.get("/api/v1/memories/").json()
    assert (whole["total"], whole["limit"], whole["offset"]) == (3, 50, 0)
    first = me.get("/api/v1/memories/", params={"limit": 1}).json()
    behind = me.get("/api/v1/memories/", params={"limit": 1, "cursor": first["cursor"]}).json()
    assert (first["total"], behind["total"]) == (3, None)


def test_pages_are_complete_while_two_others_write(service: Served, me: httpx.Client, user: str) -> None:
    instruments = ("violin", "cello", "flute", "oboe", "harp")
    lasting = {remember(me, f"Anna plays the {name}.")["memory_id"] for name in instruments}
    done = threading.Event()
    failures: list[str] = []

    def write(content: str) -> None:
        with service.client(service.key(user=user)) as writer:
            while not done.is_set():
                made = remember(writer, content)
                answers = [
                    writer.patch(f"/api/v1/memories/{min(lasting)}", json={"importance": 0.5}),
                    writer.delete(f"/api/v1/memories/{made['memory_id']}"),
                ]
                failures.extend(answer.text for answer in answers if not answer.is_success)

    writers = [threading.Thread(target=write, args=[f"Anna has {pets}."]) for pets in ("two cats", "a white horse")]
    for writer in writers:
        writer.start()
    for _ in range(5):
        told = [item["memory_id"] for page in pages(me, limit=2) for item in page]
        assert len(told) == len(set(told))
        assert lasting <= set(told)
    done.set()
    for writer in writers:
        writer.join()
    assert failures == []


def test_a_context_block_cites_what_it_says(me: httpx.Client, user: str) -> None:
    memory = remember(me, "Anna plays the violin.")
    block = me.get(f"/api/v1/subjects/{user}/context", params={"question": "Which instrument?"}).json()
    assert block["used"] == [memory["memory_id"]]
    assert memory["memory_id"][:8] in block["text"]


def test_an_agent_is_given_what_it_needs_before_it_answers(me: httpx.Client, user: str) -> None:
    remember(me, "Anna plays the violin.")
    asked = {"messages": [{"role": "user", "content": "Which instrument do I play?"}]}
    given = me.post(f"/api/v1/subjects/{user}/retrieval", json=asked).json()
    assert (given["outcome"], given["memories"][0]["content"]) == ("single", "Anna plays the violin.")
    nothing_said = {"messages": [{"role": "assistant", "content": "Hello!"}, {"role": "user", "content": " "}]}
    half_a_character = {"messages": [{"role": "user", "content": "\ud800 which instrument?"}]}
    for wrong in (nothing_said, half_a_character):
        assert me.post(f"/api/v1/subjects/{user}/retrieval", content=json.dumps(wrong)).status_code == 422


def test_nobody_reads_or_writes_what_is_known_of_another_user(service: Served, me: httpx.Client, user: str) -> None:
    memory = remember(me, "Anna plays the violin.")
    path = f"/api/v1/memories/{memory['memory_id']}"
    with service.client(service.key(user="stranger")) as stranger:
        assert stranger.get(path).status_code == 404
        assert stranger.delete(path).status_code == 404
        assert stranger.patch(path, json={"importance": 1}).status_code == 404
        assert stranger.get(path, params={"subject_id": user}).status_code == 403
        assert stranger.get("/api/v1/memories/", params={"user_id": user}).status_code == 403
        for way in ("context", "preferences", "reviews", "export"):
            assert stranger.get(f"/api/v1/subjects/{user}/{way}").status_code == 403, way
        assert stranger.patch(f"/api/v1/subjects/{user}/preferences", json={}).status_code == 403
        assert stranger.delete(f"/api/v1/subjects/{user}").status_code == 403
    with service.client(service.key(tenant="globex", user=user)) as namesake:
        assert namesake.get(path).status_code == 404
        assert search(namesake, "violin") == []
    assert me.get(path).status_code == 200


def test_a_backend_asks_for_the_users_that_it_names(service: Served, me: httpx.Client, user: str) -> None:
    remember(me, "Anna plays the violin.")
    with service.client(service.key(Capability.READ, Capability.ACT_AS)) as backend:
        assert search(backend, "violin", user_id=user) == ["Anna plays the violin."]
        answer = backend.get("/api/v1/memories/search", params={"query": "violin"})
        assert answer.status_code == 422
        assert "user_id" in answer.json()["errors"][0]["field"]


def test_what_an_agent_notes_for_itself_is_told_to_nobody_else(service: Served, me: httpx.Client, user: str) -> None:
    with service.client(service.key(Capability.READ, Capability.WRITE_OWN, user=user, agent="coach")) as coach:
        remember(coach, "Praise Anna before correcting her.", memory_type="agent_procedure")
        assert coach.post("/api/v1/memories/", json={"content": "Anna is vegan."}).status_code == 403
        assert search(coach, "How to correct Anna?", scope="individual") == ["Praise Anna before correcting her."]
    assert search(me, "How to correct Anna?") == []


def test_a_blocked_topic_is_neither_told_nor_to_be_talked_about(me: httpx.Client, user: str) -> None:
    remember(me, "Anna plays the violin.")
    about = f"/api/v1/subjects/{user}"
    assert me.put(f"{about}/topics/violin").json()["blocked_topics"] == ["violin"]
    assert search(me, "violin") == []
    assert me.post(f"{about}/topics/check", json={"text": "How is the violin?"}).json()["may_be_said"] is False
    assert me.post(f"{about}/topics/check", json={"text": "How are you?"}).json() == {"may_be_said": True, "topics": []}
    me.delete(f"{about}/topics/violin")
    assert search(me, "violin") == ["Anna plays the violin."]


def test_nothing_is_remembered_while_consent_is_withdrawn(me: httpx.Client, user: str) -> None:
    me.patch(f"/api/v1/subjects/{user}/preferences", json={"consent": "withdrawn"})
    assert me.post("/api/v1/memories/", json={"content": "Anna plays the violin."}).status_code == 422


def test_an_export_has_every_memory(me: httpx.Client, user: str) -> None:
    remember(me, "Anna plays the violin.")
    lines = me.get(f"/api/v1/subjects/{user}/export").text.splitlines()
    assert any("plays the violin" in line for line in lines)


def test_a_forgotten_user_is_gone_with_a_proof(me: httpx.Client, user: str) -> None:
    remember(me, "Anna plays the violin.")
    proof = me.delete(f"/api/v1/subjects/{user}").json()
    assert proof["clean"] is True
    assert sum(proof["removed"].values()) > 0
    assert set(proof["left"].values()) == {0}
    # The key was bound to the user, and went too.
    assert me.get("/api/v1/memories/").status_code == 401


def test_the_description_of_the_service_lists_its_routes(service: Served) -> None:
    described = httpx.get(f"{service.url}/openapi.json", timeout=30.0).json()
    assert {"/api/v1/turns", "/api/v1/memories/search", "/api/v1/subjects/{subject_id}/context"} <= set(
        described["paths"]
    )
