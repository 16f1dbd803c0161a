"""The service: what models cost, for keys that manage the whole tenant."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from schema import Capability, Subject
from stores.catalog import Changes
from stores.catalog.costs import Spent
from tests.e2e.service import Served, served, settings_in

COSTS = "/api/v1/costs"


@pytest.fixture
def tenant(user: str) -> str:
    return f"tenant-of-{user}"


@pytest.fixture
def admin(service: Served, tenant: str, user: str) -> Iterator[httpx.Client]:
    """A key of a tenant in which two users spoke, today and yesterday; another tenant has spent as well."""
    for whose, days_ago, conversation, purpose in (
        (Subject(tenant_id=tenant, subject_id=user), 0, "c1", "turn"),
        (Subject(tenant_id=tenant, subject_id=user), 1, "c2", "turn"),
        (Subject(tenant_id=tenant, subject_id=f"{user}-b"), 1, "", "night"),
        (Subject(tenant_id=f"{tenant}-other", subject_id=user), 0, "c1", "turn"),
    ):
        at = datetime.now(UTC) - timedelta(days=days_ago)
        spent = (Spent(conversation, purpose, 1, 1_000, 50, 2, 3, 40),)
        service.catalog.commit(Changes(subject=whose, at=at, spent=spent))
    with service.client(service.key(tenant=tenant)) as client:
        yield client


def test_what_models_were_asked_for_is_added_up_by_day_conversation_purpose_and_tenant(
    admin: httpx.Client, tenant: str, user: str
) -> None:
    today = datetime.now(UTC).date()
    days = admin.get(COSTS).json()
    assert [(one["day"], one["llm_calls"], one["prompt_tokens"]) for one in days["items"]] == [
        (today.isoformat(), 1, 1_000),
        ((today - timedelta(days=1)).isoformat(), 2, 2_000),
    ]
    assert (days["since"], days["cursor"]) == ((today - timedelta(days=29)).isoformat(), None)
    assert {one["cost"] for one in days["items"]} == {None}, "no price is set"
    conversations = admin.get(COSTS, params={"by": "conversation"}).json()["items"]
    assert [(one["user_id"], one["conversation_id"]) for one in conversations] == [
        (user, "c1"),
        (user, "c2"),
        (f"{user}-b", ""),
    ]
    purposes = admin.get(COSTS, params={"by": "purpose", "user_id": user}).json()["items"]
    assert [(one["purpose"], one["embedding_texts"]) for one in purposes] == [("turn", 6)]
    [whole] = admin.get(COSTS, params={"by": "tenant", "days": 1}).json()["items"]
    assert (whole["tenant_id"], whole["completion_tokens"]) == (tenant, 50)


def test_its_pages_tell_each_once(admin: httpx.Client) -> None:
    for by, count in (("day", 2), ("conversation", 3), ("purpose", 2), ("tenant", 1)):
        told: list[dict[str, Any]] = []
        page: dict[str, Any] = {"cursor": ""}
        while page["cursor"] is not None:
            page = admin.get(COSTS, params={"by": by, "limit": 1, "cursor": page["cursor"]}).json()
            told += page["items"]
        assert told == admin.get(COSTS, params={"by": by}).json()["items"]
        assert len(told) == count
    assert admin.get(COSTS, params={"cursor": "none"}).status_code == 422


def test_it_is_told_to_keys_that_manage_the_whole_tenant_alone(service: Served, admin: httpx.Client) -> None:
    tenant = admin.get(COSTS, params={"by": "tenant"}).json()["items"][0]["tenant_id"]
    for key in (
        service.key(*set(Capability) - {Capability.ADMIN}, tenant=tenant),
        service.key(tenant=tenant, user="anna"),
        service.key(tenant=tenant, agent="coach"),
    ):
        with service.client(key) as client:
            assert client.get(COSTS).status_code == 403


def test_money_is_reckoned_by_the_prices_of_the_settings(
    broker_url: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    settings = settings_in(tmp_path_factory.mktemp("priced"), broker_url)
    prices = {"llm_price_prompt": 0.5, "llm_price_completion": 2.0, "embedder_price": 0.02}
    with served(settings.model_copy(update=prices)) as priced, priced.client(priced.key()) as admin:
        spent = (Spent("c1", "turn", 1, 2_000_000, 500_000, 1, 1, 10_000_000),)
        whose = Subject(tenant_id="acme", subject_id="anna")
        priced.catalog.commit(Changes(subject=whose, at=datetime.now(UTC), spent=spent))
        [day] = admin.get(COSTS).json()["items"]
    assert day["cost"] == pytest.approx(1.0 + 1.0 + 0.2)
