"""Documents over HTTP: put, read, listed, deleted, by whom they are for."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import httpx

from memory.context import open_memory
from memory.documents.indexing import make_searchable
from schema import Capability, Subject
from tests.e2e.service import Served


def test_a_document_is_put_read_listed_and_deleted(service: Served) -> None:
    with service.client(service.key(user="olga")) as olga:
        put = olga.put("/api/v1/documents/letter", json={"content": "The mill stood at the river.", "title": "Letter"})
        assert put.status_code == 202, put.text
        assert put.json()["document"]["state"] == "waiting"
        again = olga.put(
            "/api/v1/documents/letter", json={"content": "The mill stood at the river.", "title": "Letter"}
        )
        assert (again.status_code, again.json()["outcome"]) == (200, "unchanged")
        assert olga.get("/api/v1/documents/letter").json()["content"] is None, "nobody has masked it yet"
        assert [one["document_id"] for one in olga.get("/api/v1/documents/").json()["items"]] == ["letter"]
        assert olga.delete("/api/v1/documents/letter").json() == {"success": True, "chunks_deleted": 0}
        assert olga.get("/api/v1/documents/letter").status_code == 404


def test_documents_are_paged_by_a_cursor_as_all_else_is(service: Served) -> None:
    with service.client(service.key(user="paula")) as paula:
        for name in ("a", "b/ü", "c"):
            put = paula.put(f"/api/v1/documents/{quote(name, safe='')}", json={"content": "The mill stood there."})
            assert put.status_code == 202, put.text
        listed: list[str] = []
        page: dict[str, Any] = {"cursor": ""}
        while page["cursor"] is not None:
            asked = {"limit": 1} | ({"cursor": page["cursor"]} if page["cursor"] else {})
            page = paula.get("/api/v1/documents/", params=asked).json()
            listed += [one["document_id"] for one in page["items"]]
        assert listed == ["a", "b/ü", "c"]
        assert "after" not in page
        assert paula.get("/api/v1/documents/", params={"cursor": "x"}).status_code == 422


def test_a_context_block_names_the_documents_of_its_excerpts(service: Served) -> None:
    with service.client(service.key(user="tina")) as tina:
        tina.put("/api/v1/documents/mill", json={"content": "The old mill stood at the river until the flood of 1962."})
        with closing(open_memory(service.settings)) as context:
            whose = Subject(tenant_id="acme", subject_id="tina")
            make_searchable(whose, "mill", context, lambda: datetime.now(UTC))
        block = tina.get("/api/v1/subjects/tina/context", params={"question": "Where did the old mill stand?"}).json()
        assert block["documents"] == ["mill"]
        assert "[Story excerpt 1]" in block["text"]


def test_excerpts_answer_a_question_and_a_blank_one_is_refused(service: Served) -> None:
    with service.client(service.key(user="vera")) as vera:
        pages = {"content": "The barn burned down.\n\nThe old mill stood at the river until 1962.", "pages": [0, 23]}
        assert vera.put("/api/v1/documents/mill", json=pages).status_code == 202
        with closing(open_memory(service.settings)) as context:
            whose = Subject(tenant_id="acme", subject_id="vera")
            make_searchable(whose, "mill", context, lambda: datetime.now(UTC))
        answer = vera.get("/api/v1/documents/excerpts", params={"query": "Where did the old mill stand?"})
        assert [(one["document_id"], one["page"]) for one in answer.json()] == [("mill", 1)], answer.text
        assert vera.get("/api/v1/documents/excerpts", params={"query": "   "}).status_code == 422


def test_what_a_key_may_not_do_it_may_not(service: Served) -> None:
    reader = service.key(Capability.READ, user="pia")
    with service.client(reader) as client:
        assert client.put("/api/v1/documents/letter", json={"content": "x"}).status_code == 403
    with service.client(service.key(user="quinn")) as other:
        theirs = {"content": "x", "subject_id": "olga"}
        assert other.put("/api/v1/documents/letter", json=theirs).status_code == 403
        assert other.get("/api/v1/documents/letter", params={"subject_id": "olga"}).status_code == 403


def test_a_document_may_be_longer_than_other_bodies_and_not_without_end(service: Served) -> None:
    with service.client(service.key(user="rosa")) as rosa:
        long = "The mill stood at the river.\n\n" * 60_000
        assert rosa.put("/api/v1/documents/long", json={"content": long}).status_code == 202
        assert rosa.post("/api/v1/memories/", json={"content": long}).status_code == 413
        longer = "The mill stood at the river.\n\n" * 400_000
        assert rosa.put("/api/v1/documents/longer", json={"content": longer}).status_code == 413


def test_a_blank_document_is_refused_by_name(service: Served) -> None:
    with service.client(service.key(user="sara")) as sara:
        answer: httpx.Response = sara.put("/api/v1/documents/blank", json={"content": "  "})
        assert answer.status_code == 422
        assert answer.json()["errors"][0]["field"] == "body.content"


def test_a_put_with_if_match_takes_no_newer_ones_place(service: Served) -> None:
    letter = "/api/v1/documents/letter"
    with service.client(service.key(user="uma")) as uma:
        body = {"content": "The mill stood at the river.", "occurred_at": "2026-01-01T10:00:00+02:00"}
        absent = uma.put(letter, json=body, headers={"If-Match": "*"})
        assert (absent.status_code, absent.headers["content-type"]) == (412, "application/problem+json")
        put = uma.put(letter, json=body)
        etag = put.headers["ETag"]
        assert f'"{put.json()["document"]["etag"]}"' == etag == uma.get(letter).headers["ETag"]
        with closing(open_memory(service.settings)) as context:
            make_searchable(Subject(tenant_id="acme", subject_id="uma"), "letter", context, lambda: datetime.now(UTC))
        assert uma.get(letter).headers["ETag"] == etag, "a worker puts nothing"
        newer = uma.put(letter, json=body | {"visibility": "public"}, headers={"If-Match": etag})
        assert (newer.status_code, newer.headers["ETag"] != etag) == (202, True)
        for late in ({"content": "The mill burned down."}, body):
            assert uma.put(letter, json=late, headers={"If-Match": etag}).status_code == 412
        assert uma.put(letter, json=body, headers={"If-Match": '"*"'}).status_code == 412, "a tag that nothing has"
        told = uma.get(letter).json()
        assert (told["content"], told["visibility"]) == (body["content"], "public")
        assert uma.put(letter, json=body, headers={"If-Match": newer.headers["ETag"]}).status_code == 202
        uma.delete(letter)
        assert uma.put(letter, json=body).headers["ETag"] != etag, "another document has its id"
