"""Conditions of requests (RFC 9110, 13.1): whatever tells an ETag is neither changed nor told again against one."""

from __future__ import annotations

from typing import Any, Final

import httpx
import pytest

from tests.e2e.service import Served, openapi_document

PATHS: Final[dict[str, dict[str, Any]]] = openapi_document()["paths"]


def tells_etag(operation: Any) -> bool:
    return operation is not None and "ETag" in operation["responses"]["200"]["headers"]


TAGGED: Final = sorted(path for path, item in PATHS.items() if tells_etag(item.get("get")))
CHANGES: Final = sorted(
    (method, path)
    for path, item in PATHS.items()
    for method in item.keys() - {"get"}
    if any(path == tagged or path.startswith(f"{tagged}/") for tagged in TAGGED)
)
"""What changes something that has an ETag, by its path or one below it."""
BODIES: Final = {
    ("patch", "/api/v1/memories/{memory_id}"): {"importance": 0.9},
    ("put", "/api/v1/documents/{document_id}"): {"content": "The mill burned down."},
    ("put", "/api/v1/agents/{agent_id}/metadata"): {"mood": "calm"},
    ("patch", "/api/v1/subjects/{subject_id}/preferences"): {"time_zone": "Europe/Berlin"},
}


@pytest.fixture
def parts(me: httpx.Client, user: str) -> dict[str, str]:
    """What stands in a path's parts, all of it there."""
    made = me.post("/api/v1/memories/", json={"content": "Anna plays the violin."}).json()
    me.put("/api/v1/documents/letter", json={"content": "The mill stood at the river."})
    me.put("/api/v1/agents/coach/metadata", json={"mood": "glad"})
    return {
        "memory_id": made["memory"]["memory_id"],
        "document_id": "letter",
        "agent_id": "coach",
        "subject_id": user,
        "verb": "archive",
    }


def test_all_that_is_edited_by_its_etag_is_asked_here() -> None:
    assert {path.split("/")[3] for path in TAGGED} == {"agents", "documents", "memories", "subjects"}
    assert {("delete", TAGGED[1]), ("post", "/api/v1/memories/{memory_id}/{verb}")} <= set(CHANGES)


@pytest.mark.parametrize(("method", "path"), CHANGES)
def test_nothing_is_changed_that_is_not_as_if_match_names_it(
    method: str, path: str, me: httpx.Client, parts: dict[str, str]
) -> None:
    [read] = [tagged for tagged in TAGGED if path == tagged or path.startswith(f"{tagged}/")]
    body = BODIES.get((method, path))
    before = me.get(read.format(**parts)).headers["ETag"]
    for late in ('"no-such-version"', f"W/{before}"):
        refused = me.request(method, path.format(**parts), json=body, headers={"If-Match": late})
        assert refused.status_code == 412, refused.text
    assert me.get(read.format(**parts)).headers["ETag"] == before
    done = me.request(method, path.format(**parts), json=body, headers={"If-Match": before})
    assert done.is_success, done.text
    now = me.get(read.format(**parts))
    assert (now.status_code == 404) if (method, path) == ("delete", read) else (now.headers["ETag"] != before)


@pytest.mark.parametrize("path", TAGGED)
def test_who_knows_it_already_is_told_that_nobody_changed_it(
    path: str, me: httpx.Client, parts: dict[str, str]
) -> None:
    url = path.format(**parts)
    etag = me.get(url).headers["ETag"]
    for known in (etag, f"W/{etag}", f'"other", {etag}', "*"):
        answer = me.get(url, headers={"If-None-Match": known})
        assert (answer.status_code, answer.content, answer.headers["ETag"]) == (304, b"", etag), known
    for unknown in ('"other"', etag.strip('"'), ""):
        answer = me.get(url, headers={"If-None-Match": unknown})
        assert (answer.status_code, answer.headers["ETag"], bool(answer.json())) == (200, etag, True), unknown


@pytest.mark.parametrize("path", TAGGED)
def test_who_may_not_read_is_not_told_whether_it_was_changed(
    path: str, service: Served, me: httpx.Client, parts: dict[str, str]
) -> None:
    etag = me.get(path.format(**parts)).headers["ETag"]
    with service.client("at_wrong") as stranger:
        assert stranger.get(path.format(**parts), headers={"If-None-Match": etag}).status_code == 401


def test_a_document_is_put_only_where_none_is(me: httpx.Client) -> None:
    url, first, other = "/api/v1/documents/new", {"content": "The mill."}, {"content": "The barn."}
    made = me.put(url, json=first, headers={"If-None-Match": "*"})
    assert made.status_code == 202
    etag = made.headers["ETag"]
    for body in (first, other):
        for condition in ("*", etag, f'W/{etag}, "x"', "unquoted"):
            assert me.put(url, json=body, headers={"If-None-Match": condition}).status_code == 412, condition
    assert me.get(url).headers["ETag"] == etag
    assert me.put(url, json=other, headers={"If-None-Match": '"another"'}).status_code == 202
