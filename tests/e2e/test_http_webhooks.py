"""The service: webhooks of a tenant, from making one to its log, and who may not."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from schema import Capability
from tests.e2e.service import Served, served, settings_in

WEBHOOKS = "/api/v1/webhooks"
HOOK = {"url": "https://example.com/memory", "events": ["memory.created"]}


@pytest.fixture
def admin(service: Served, user: str) -> httpx.Client:
    return service.client(service.key(tenant=f"tenant-of-{user}"))


def test_a_webhook_is_made_read_rotated_and_dropped_and_its_secret_shown_once(admin: httpx.Client) -> None:
    made = admin.post(WEBHOOKS, json=HOOK)
    assert made.status_code == 201
    assert made.json()["secret"].startswith("whsec_")
    one = f"{WEBHOOKS}/{made.json()['id']}"
    [listed] = admin.get(WEBHOOKS).json()["items"]
    assert listed == admin.get(one).json() == {key: value for key, value in made.json().items() if key != "secret"}
    rotated = admin.post(f"{one}/rotate", json={"overlap_hours": 1}).json()
    assert rotated["secret"] != made.json()["secret"]
    assert admin.delete(one).status_code == 204
    assert admin.get(one).status_code == 404


def test_webhooks_are_listed_page_by_page_while_others_are_made_and_dropped(admin: httpx.Client) -> None:
    def made() -> str:
        id_: str = admin.post(WEBHOOKS, json=HOOK).json()["id"]
        return id_

    lasting, dropped = [made() for _ in range(5)], made()
    told, cursor = list[str](), ""
    while True:
        page = admin.get(WEBHOOKS, params={"limit": 2, "cursor": cursor}).json()
        told += [webhook["id"] for webhook in page["items"]]
        if page["cursor"] is None:
            break
        cursor = page["cursor"]
        admin.delete(f"{WEBHOOKS}/{dropped}")
        dropped = made() if len(told) < 6 else dropped
    assert len(told) == len(set(told))
    assert [id_ for id_ in told if id_ in lasting] == lasting
    assert admin.get(WEBHOOKS, params={"cursor": "x"}).status_code == 422


def test_a_webhook_that_is_asked_for_again_is_one_with_one_secret(admin: httpx.Client) -> None:
    named = {"Idempotency-Key": "hook-1"}
    first, again = (admin.post(WEBHOOKS, json=HOOK, headers=named) for _ in range(2))
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.json() == again.json()
    assert len(admin.get(WEBHOOKS).json()["items"]) == 1
    assert admin.post(WEBHOOKS, json={"url": "https://example.com/"}, headers=named).status_code == 422
    one = f"{WEBHOOKS}/{first.json()['id']}"
    assert admin.delete(one).status_code == 204
    assert admin.post(WEBHOOKS, json=HOOK, headers=named).status_code == 404, "it is not made anew"


def test_a_secret_that_is_rotated_again_under_one_name_is_rotated_once(admin: httpx.Client) -> None:
    one = f"{WEBHOOKS}/{admin.post(WEBHOOKS, json=HOOK).json()['id']}"
    named = {"Idempotency-Key": "rotation-1"}
    secrets = [admin.post(f"{one}/rotate", json={}, headers=named).json()["secret"] for _ in range(2)]
    assert secrets[0] == secrets[1]
    assert admin.post(f"{one}/rotate", json={}).json()["secret"] != secrets[0]


def test_what_waits_for_a_webhook_stands_in_its_log(admin: httpx.Client, user: str) -> None:
    one = f"{WEBHOOKS}/{admin.post(WEBHOOKS, json=HOOK).json()['id']}"
    for said in ("Anna plays the violin.", "Anna lives in Lisbon.", "Anna is allergic to peanuts."):
        admin.post("/api/v1/memories/", json={"content": said, "user_id": user}).raise_for_status()
    first = admin.get(f"{one}/deliveries", params={"limit": 2}).json()
    second = admin.get(f"{one}/deliveries", params={"limit": 2, "cursor": first["cursor"]}).json()
    assert [len(page["items"]) for page in (first, second)] == [2, 1]
    assert second["cursor"] is None
    [delivery] = second["items"]
    assert (delivery["event"], delivery["status"], delivery["subject_id"]) == ("memory.created", "waiting", user)
    again = admin.post(f"{one}/deliveries/{delivery['id']}/resend")
    assert (again.status_code, again.json()["id"]) == (200, delivery["id"])


def test_webhooks_are_for_keys_of_the_whole_tenant_that_may_manage_it(
    service: Served, admin: httpx.Client, user: str
) -> None:
    made = admin.post(WEBHOOKS, json=HOOK).json()["id"]
    tenant = f"tenant-of-{user}"
    with service.client(service.key(Capability.READ, Capability.WRITE, tenant=tenant)) as reader:
        assert reader.get(WEBHOOKS).status_code == 403
    with service.client(service.key(tenant=tenant, user=user)) as bound:
        assert bound.post(WEBHOOKS, json=HOOK).status_code == 403
    with service.client(service.key(tenant=f"{tenant}-other")) as stranger:
        assert stranger.get(f"{WEBHOOKS}/{made}").status_code == 404
        assert stranger.get(WEBHOOKS).json()["items"] == []


@pytest.mark.parametrize("url", ["ftp://example.com", "https://u:p@example.com/", "not a url"])
def test_a_url_that_cannot_be_told_is_refused_by_name(admin: httpx.Client, url: str) -> None:
    refused = admin.post(WEBHOOKS, json={"url": url})
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "body.url")


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/latest",
        "https://127.0.0.1:8765/x",
        "https://[::ffff:10.0.0.1]/",
        "http://93.184.216.34/",
        "https://localhost/x",
        "https://db.localhost./x",
        "https://127.1/x",
        "https://2130706433/x",
    ],
)
def test_an_address_to_which_nothing_would_be_sent_is_refused_at_once_and_says_what_allows_it(
    admin: httpx.Client, url: str
) -> None:
    refused = admin.post(WEBHOOKS, json={"url": url})
    [error] = refused.json()["errors"]
    assert (refused.status_code, error["field"]) == (422, "body.url")
    assert "AFTERTURN_WEBHOOK_NETWORKS" in error["message"]


def test_an_address_in_a_network_of_the_settings_is_taken(broker_url: str, tmp_path: Path) -> None:
    settings = settings_in(tmp_path, broker_url).model_copy(update={"webhook_networks": ("10.1.0.0/16",)})
    with served(settings) as running, running.client(running.key()) as admin:
        for url in ("http://10.1.2.3/hook", "https://93.184.216.34/hook"):
            assert admin.post(WEBHOOKS, json={"url": url}).status_code == 201
        assert admin.post(WEBHOOKS, json={"url": "https://10.2.0.1/hook"}).status_code == 422


@pytest.mark.parametrize("description", ["a\0b", "x" * 201])
def test_a_description_that_cannot_be_kept_is_refused_by_name(admin: httpx.Client, description: str) -> None:
    refused = admin.post("/api/v1/webhooks", json={"url": "https://example.com/", "description": description})
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["field"] == "body.description"
