"""Weaviate alone: how it is set up, how much a request carries, and what its failures mean."""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from memory.failures import is_outage
from schema import Seen, Subject, Visibility
from schema.errors import IndexMismatch, IndexUnavailable, SettingsError
from schema.health import HealthStatus
from schema.settings import Settings
from stores.index import Where, open_index
from tests.contract.embedders import minilm
from tests.contract.indexes import ANA, BEN, DIMENSIONS, MODEL, entry, numbers, unit, units
from tests.contract.loopback import Answer, Loopback, Request

if TYPE_CHECKING:
    # It takes seconds to import: only where it is tested.
    from stores.index.weaviate import WeaviateIndex
    from tests.contract.weaviate_server import WeaviateServer

COLLECTION = "Afterturn_main"


@pytest.fixture
def at_loopback() -> Iterator[tuple[WeaviateServer, Loopback, str]]:
    from tests.contract.weaviate_server import weaviate_at_loopback

    with weaviate_at_loopback() as found:
        yield found


@pytest.fixture
def service(at_loopback: tuple[WeaviateServer, Loopback, str]) -> WeaviateServer:
    return at_loopback[0]


@pytest.fixture
def server(at_loopback: tuple[WeaviateServer, Loopback, str]) -> Loopback:
    return at_loopback[1]


@pytest.fixture
def settings(at_loopback: tuple[WeaviateServer, Loopback, str]) -> Settings:
    _, server, grpc_url = at_loopback
    return Settings(index="weaviate", index_url=server.url, index_grpc_url=grpc_url, index_timeout_seconds=2)


def unready(settings: Settings) -> WeaviateIndex:
    from stores.index.weaviate import open_weaviate_index

    return open_weaviate_index(settings)


@pytest.fixture
def index(settings: Settings, service: WeaviateServer) -> Iterator[WeaviateIndex]:
    made = unready(settings)
    made.ensure(DIMENSIONS, "cosine", MODEL)
    service.calls.clear()
    yield made
    made.close()


@pytest.mark.usefixtures("index")
def test_the_collection_has_a_tenant_for_each_subject_and_one_plain_vector_that_is_compared_with_all(
    service: WeaviateServer,
) -> None:
    made = service.collections[COLLECTION].made
    tenancy = {"enabled": True, "autoTenantCreation": True, "autoTenantActivation": True}
    assert made["multiTenancyConfig"] == tenancy
    assert (made["vectorizer"], made["vectorIndexType"], "vectorConfig" in made) == ("none", "flat", False)
    assert made["vectorIndexConfig"]["distance"] == "dot"
    assert made["vectorIndexConfig"]["skipDefaultQuantization"]


def test_no_text_of_a_user_is_in_what_is_filtered_by_or_in_the_names_of_tenants(
    index: WeaviateIndex, service: WeaviateServer
) -> None:
    index.upsert([replace(entry(number=1), tags=("asthma",), author_id="zoë ")])

    [(name, tenant)] = service.collections[COLLECTION].tenants.items()
    [(_, properties)] = tenant.values()
    shown = name + str({field: value for field, value in properties.items() if field != "document"})
    assert not any(text in shown for text in ("asthma", "zoë", "ana", "acme"))

    def by(author: str) -> tuple[Seen, ...]:
        return (Seen((Visibility.PRIVATE,), author_id=author),)

    assert numbers(index.query(unit(1), Where(ANA, seen_by=by("zoë ")), 5)) == [1]
    assert index.query(unit(1), Where(ANA, seen_by=by("zoë")), 5) == []


def test_requests_carry_no_more_than_the_server_takes(index: WeaviateIndex, service: WeaviateServer) -> None:
    entries = [entry(number=n, vector=v) for n, v in enumerate(units(1_100))]
    index.upsert(entries)
    index.fetch(ANA, [one.key for one in entries[:600]])
    index.delete(ANA, [one.key for one in entries])

    assert service.calls == ["BatchObjects"] * 3 + ["Search"] * 2 + ["BatchDelete"] * 3


def test_one_request_finds_the_nearest_and_more_are_made_only_for_ties(
    index: WeaviateIndex, service: WeaviateServer
) -> None:
    index.upsert([entry(number=n, vector=unit(1, n)) for n in range(20)])
    index.upsert([entry(BEN, number=n, vector=unit(1)) for n in range(40)])
    service.calls.clear()

    assert numbers(index.query(unit(1), Where(ANA), 5)) == [0, 1, 2, 3, 4]
    assert len(service.calls) == 1
    assert numbers(index.query(unit(1), Where(BEN), 5)) == [0, 1, 2, 3, 4]
    assert len(service.calls) == 4


def test_somebody_who_was_never_written_is_not_made_by_a_look(index: WeaviateIndex, service: WeaviateServer) -> None:
    nobody = Subject(tenant_id="acme", subject_id="nobody")
    assert index.query(unit(1), Where(nobody), 5) == []
    assert index.fetch(nobody, [uuid.UUID(int=1)]) == []
    index.delete(nobody, [uuid.UUID(int=1)])
    assert service.collections[COLLECTION].tenants == {}


def test_the_key_goes_with_both_protocols_and_prefix_and_name_make_the_collections_name(
    settings: Settings, service: WeaviateServer, server: Loopback
) -> None:
    named = {"index_prefix": "memories", "index_name": "titan", "index_api_key": "a-key"}
    index = unready(Settings.model_validate(settings.model_dump() | named))
    index.ensure(DIMENSIONS, "cosine", MODEL)
    index.upsert([entry(number=1)])

    assert list(service.collections) == ["Memories_titan"]
    assert {request.headers["authorization"] for request in server.requests} == {"Bearer a-key"}
    assert service.keys == {"Bearer a-key"}
    index.close()


@pytest.mark.parametrize(
    "changed", [{"description": "somebody's own"}, {"multiTenancyConfig": {"enabled": False}}, {"description": "[1]"}]
)
def test_a_collection_that_is_not_ours_is_left_alone(
    index: WeaviateIndex, service: WeaviateServer, changed: dict[str, object]
) -> None:
    service.collections[COLLECTION].made |= changed

    with pytest.raises(IndexMismatch, match=r"Afterturn_main.*AFTERTURN_INDEX_NAME"):
        index.ensure(DIMENSIONS, "cosine", MODEL)


def test_a_collection_of_another_metric_is_refused_with_both(index: WeaviateIndex, service: WeaviateServer) -> None:
    service.collections[COLLECTION].made["vectorIndexConfig"]["distance"] = "l2-squared"

    with pytest.raises(IndexMismatch, match=r"metric l2-squared.*metric cosine"):
        index.ensure(DIMENSIONS, "cosine", MODEL)


def test_a_failure_that_passes_is_waited_out(index: WeaviateIndex, service: WeaviateServer) -> None:
    def unavailable_once(name: str) -> str | None:
        return "UNAVAILABLE: later" if service.calls.count(name) == 1 else None

    service.refuses = unavailable_once
    index.upsert([entry(number=1)])
    assert numbers(index.query(unit(1), Where(ANA), 5)) == [1]
    assert service.calls == ["BatchObjects"] * 2 + ["Search"] * 2


@pytest.mark.parametrize("rejected", [1, 2])
def test_entries_that_the_server_did_not_take_are_counted_and_not_shown(
    index: WeaviateIndex, caplog: pytest.LogCaptureFixture, rejected: int
) -> None:
    bad = [replace(entry(number=n), tags=("refused",)) for n in range(2)][:rejected]
    with caplog.at_level(logging.INFO), pytest.raises(IndexUnavailable) as failed:
        index.upsert([*bad, *([entry(number=9)] if rejected == 1 else [])])

    assert is_outage(failed.value)
    assert failed.value.__suppress_context__ or failed.value.__context__ is None
    assert "secret" not in str(failed.value) + caplog.text
    assert "refused" not in caplog.text


@pytest.mark.parametrize(
    ("refusal", "said"),
    [
        ("PERMISSION_DENIED: a secret", "AFTERTURN_INDEX_API_KEY"),
        ("INTERNAL: a secret", r"WeaviateQueryError.*log"),
    ],
)
def test_what_the_server_refuses_is_an_outage_that_says_where_to_look_and_no_content(
    index: WeaviateIndex, service: WeaviateServer, refusal: str, said: str
) -> None:
    index.upsert([entry(number=1)])
    service.refuses = lambda _name: refusal
    with pytest.raises(IndexUnavailable, match=said) as failed:
        index.query(unit(1), Where(ANA), 1)
    assert "secret" not in str(failed.value)
    assert failed.value.__suppress_context__
    assert is_outage(failed.value)
    for call in (
        lambda: index.upsert([entry(number=2)]),
        lambda: index.fetch(ANA, [uuid.UUID(int=1)]),
        lambda: index.delete(ANA, [uuid.UUID(int=1)]),
        index.count,
    ):
        with pytest.raises(IndexUnavailable):
            call()


def test_a_server_that_is_gone_is_said_within_the_time_that_a_call_may_take(settings: Settings) -> None:
    from tests.contract.weaviate_server import weaviate_at_loopback

    with weaviate_at_loopback() as (_, told, grpc_url):
        here = {"index_url": told.url, "index_grpc_url": grpc_url, "index_timeout_seconds": 1}
        index = unready(Settings.model_validate(settings.model_dump() | here))
        index.ensure(DIMENSIONS, "cosine", MODEL)
        index.upsert([entry(number=1)])
    began = time.monotonic()
    with pytest.raises(IndexUnavailable, match=r"AFTERTURN_INDEX_(GRPC_)?URL"):
        index.query(unit(1), Where(ANA), 1)
    assert time.monotonic() - began < 10, "the client itself would wait for a minute"
    index.close()


def test_a_server_that_is_away_or_too_old_at_the_start_is_said(settings: Settings, service: WeaviateServer) -> None:
    service.version = "1.26.0"
    with pytest.raises(IndexUnavailable, match="AFTERTURN_INDEX_URL"):
        unready(settings)


def test_a_failure_over_rest_that_passes_is_waited_out(
    settings: Settings, server: Loopback, service: WeaviateServer
) -> None:
    index = unready(settings)
    server.requests.clear()

    def fails_once(request: Request) -> Answer:
        return Answer(503) if len(server.requests) == 1 else service(request)

    server.answer = fails_once
    index.ensure(DIMENSIONS, "cosine", MODEL)
    index.close()


def test_the_settings_open_it_and_name_what_is_missing(settings: Settings) -> None:
    index = open_index(settings, minilm())
    index.upsert([entry(vector=minilm().embed(["The user lives in Berlin."])[0])])
    assert index.count() == 1
    index.close()

    for url in (None, "http://127.0.0.1:8080/weaviate"):
        with pytest.raises(SettingsError, match="AFTERTURN_INDEX_URL"):
            open_index(Settings(index="weaviate", index_url=url), minilm())


def test_the_doctor_says_what_it_finds_and_leaves_nothing_behind(index: WeaviateIndex, service: WeaviateServer) -> None:
    found = {one.part: one for one in index.check_health()}
    assert [one.status for one in found.values()] == [HealthStatus.OK] * 3
    assert "1.34.0" in found["Weaviate"].found
    assert service.collections[COLLECTION].tenants == {}

    service.collections[COLLECTION].made["vectorIndexConfig"]["bq"] = {"enabled": True}
    assert [one.status for one in index.check_health()] == [HealthStatus.OK, HealthStatus.WARNING, HealthStatus.OK]
