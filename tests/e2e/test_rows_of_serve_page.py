"""Each request of "What a backend asks", as its row has it, with the key that the page makes."""

from __future__ import annotations

import re
import uuid
from datetime import UTC, datetime
from typing import Any, Final

import httpx
import pytest

from schema import Asker, Capability, Review, Status, Subject
from stores.catalog import Changes
from tests.e2e.pages import Page
from tests.e2e.service import Served
from tests.unit.policies.builders import memory

PAGE: Final = Page("serve-memories").path.read_text()
_ROW = re.compile(r"^\| (.+?) \| (.+) \|$", re.MULTILINE)
_SPAN = re.compile(r"`(GET|PUT|POST|PATCH|DELETE) (/api/v1/[^ `]+)`")
_KEY = re.compile(r"^\.venv/bin/afterturn keys create backend (.+)$", re.MULTILINE)
_OF_WHOLE_TENANT: Final = ("/api/v1/legal-holds", "/api/v1/costs", "/api/v1/webhooks")
_SAID: Final = [{"role": "user", "content": "I play the violin."}]


def requests_of_rows() -> list[tuple[str, str]]:
    """Return method and address of each request that a row has in full."""
    _, _, rows = PAGE.partition("## What a backend asks")
    table, _, _ = rows.partition("## In another language")
    return [found for _, row in _ROW.findall(table) for found in _SPAN.findall(row)]


def capabilities_of_page() -> list[Capability]:
    [words] = _KEY.findall(PAGE)
    return [Capability(word) for word in words.split() if word != "--can"]


@pytest.fixture
def known(service: Served, user: str) -> dict[str, str]:
    """A memory of the user, and a review that waits for them."""
    whose, now = Subject(tenant_id="acme", subject_id=user), datetime.now(UTC)
    kept = memory("Plays the violin.", subject_id=user, status=Status.ACTIVE, id=uuid.uuid4())
    review = Review(
        id=uuid.uuid4(),
        **whose.model_dump(),
        asked_by=Asker.FORGETTING,
        reason="forget_in_doubt",
        policy_version="p",
        candidate=None,
        opened_at=now,
    )
    service.catalog.commit(Changes(subject=whose, at=now, created=(kept,), reviews=(review,)))
    return {"memory": str(kept.id), "review": str(review.id)}


def body_of(method: str, path: str, known: dict[str, str], user: str) -> Any:
    """Return what is sent to an address; None where nothing is."""
    bodies = {
        r"POST .*/turns(/candidate)?": {"user_id": user, "messages": _SAID},
        r"POST .*/memories/": {"user_id": user, "content": "Plays the cello."},
        r"POST .*/retrieval": {"messages": _SAID},
        r"POST .*/topics/check": {"text": "How is your mother?"},
        r"POST .*/feedback": {"request_id": "1", "useful": [known["memory"]], "user_id": user},
        r"POST .*/legal-holds": {"subject_id": user, "memory_ids": [known["memory"]], "document_ids": [], "why": "19"},
        r"POST .*/webhooks": {"url": "https://example.com/memory"},
        r"PUT .*/metadata": {"name": "Ada"},
        r"PATCH .*/memories/.*": {"content": "Plays the viola."},
        r"PATCH .*/preferences": {"consent": "granted"},
    }
    return next((body for pattern, body in bodies.items() if re.fullmatch(pattern, f"{method} {path}")), None)


@pytest.mark.parametrize(("method", "address"), requests_of_rows())
def test_a_request_of_the_page_is_answered_to_the_key_that_the_page_makes(
    service: Served, user: str, known: dict[str, str], method: str, address: str
) -> None:
    given = address.replace("USER", user).replace("AGENT", "tutor").replace("...", "violin")
    given = given.replace("reviews/ID", f"reviews/{known['review']}").replace("ID", known["memory"])
    path = given.partition("?")[0]
    body = body_of(method, path, known, user)
    can = () if path.startswith(_OF_WHOLE_TENANT) else capabilities_of_page()
    with service.client(service.key(*can)) as client:
        # The one that feedback is on.
        client.get("/api/v1/memories/search", params={"user_id": user}, headers={"X-Request-ID": "1"})
        with client.stream(method, given, json=body) as answer:
            assert answer.is_success, answer.read()


def test_the_refusal_to_a_key_that_names_no_user_says_how_to_name_one(service: Served, user: str) -> None:
    with service.client(service.key(*capabilities_of_page())) as client:
        asked: list[httpx.Response] = [
            client.get(f"/api/v1/subjects/{user}/reviews"),
            client.get(f"/api/v1/subjects/{user}/export"),
            client.delete(f"/api/v1/subjects/{user}"),
        ]
    assert [answer.status_code for answer in asked] == [403] * 3
    assert {"?user_id=" in answer.json()["detail"] for answer in asked} == {True}
