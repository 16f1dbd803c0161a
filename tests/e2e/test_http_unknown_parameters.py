"""The service: a parameter of the address that a route does not know is refused by its name."""

from __future__ import annotations

import httpx
import pytest

from tests.e2e.service import Served


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api/v1/memories/"),
        ("GET", "/api/v1/memories/search"),
        ("GET", "/api/v1/subjects/ada/export"),
        ("GET", "/api/v1/webhooks"),
        ("GET", "/api/v1/events"),
        ("POST", "/api/v1/turns"),
        ("DELETE", "/api/v1/subjects/ada"),
    ],
)
def test_a_misspelled_parameter_is_named_with_those_that_there_are(
    service: Served, user: str, method: str, path: str
) -> None:
    with service.client(service.key()) as backend:
        refused = backend.request(method, path, params={"user": user})
    [error] = refused.json()["errors"]
    assert (refused.status_code, refused.headers["content-type"]) == (422, "application/problem+json")
    assert error["field"] == "query.user"
    assert ("user_id" in error["message"]) == (path not in {"/api/v1/webhooks", "/api/v1/turns"})


def test_a_parameter_is_no_less_known_for_being_named_twice(me: httpx.Client) -> None:
    assert me.get("/api/v1/memories/", params={"type": ["semantic", "episodic"]}).status_code == 200


def test_what_others_add_to_the_addresses_of_pages_and_probes_changes_nothing(service: Served) -> None:
    for path in ("/livez", "/openapi.json", "/me"):
        assert httpx.get(f"{service.url}{path}?utm_source=mail", timeout=30.0).status_code != 422
