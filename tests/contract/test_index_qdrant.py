"""Qdrant alone: how it is set up, how much a request carries, and what its failures mean."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from memory.failures import is_outage
from schema.errors import IndexMismatch, IndexUnavailable, SettingsError
from schema.health import HealthStatus
from schema.settings import Settings
from stores.index import Where, open_index
from tests.contract.embedders import minilm
from tests.contract.indexes import ANA, BEN, DIMENSIONS, MODEL, entry, numbers, unit, units
from tests.contract.loopback import Answer, Loopback, Request, loopback

if TYPE_CHECKING:
    # It takes seconds to import: only where it is tested.
    from stores.index.qdrant import QdrantIndex
    from tests.contract.qdrant_server import QdrantServer

COLLECTION = "/collections/afterturn_main"


@pytest.fixture
def service() -> QdrantServer:
    from tests.contract.qdrant_server import QdrantServer

    return QdrantServer()


@pytest.fixture
def server(service: QdrantServer) -> Iterator[Loopback]:
    with loopback() as told:
        told.answer = service
        yield told


def unready(settings: Settings) -> QdrantIndex:
    from stores.index.qdrant import open_qdrant_index

    return open_qdrant_index(settings)


def settings_of(server: Loopback, **others: object) -> Settings:
    return Settings.model_validate({"index": "qdrant", "index_url": server.url, **others})


@pytest.fixture
def index(server: Loopback) -> Iterator[QdrantIndex]:
    made = unready(settings_of(server))
    made.ensure(DIMENSIONS, "cosine", MODEL)
    server.requests.clear()
    yield made
    made.close()


def asked(server: Loopback) -> list[str]:
    return [f"{one.method} {one.path.removeprefix(COLLECTION)}" for one in server.requests]


@pytest.mark.usefixtures("index")
def test_the_collection_has_no_graph_and_an_index_for_all_that_is_filtered_by(service: QdrantServer) -> None:
    made = service.made["afterturn_main"]
    assert made["hnsw_config"] == {"m": 0, "payload_m": 0}
    assert made["metadata"] == {"model": MODEL}
    assert service.tenant_fields == {"afterturn_main": ["subject"]}
    assert set(service.indexed["afterturn_main"]) == {
        *("tenant", "subject", "type", "kind", "category", "status", "visibility", "agent_id", "author_id", "tags"),
        "created_at",
    }


def test_a_start_that_was_cut_off_is_completed_by_the_next_and_a_third_only_looks(
    server: Loopback, service: QdrantServer, index: QdrantIndex
) -> None:
    del service.indexed["afterturn_main"]["tags"]

    index.ensure(DIMENSIONS, "cosine", MODEL)
    index.ensure(DIMENSIONS, "cosine", MODEL)

    assert asked(server) == ["GET ", "PUT /index?wait=true", "GET "]


def test_requests_carry_no_more_than_the_server_takes(server: Loopback, index: QdrantIndex) -> None:
    entries = [entry(number=n, vector=v) for n, v in enumerate(units(1_100))]
    index.upsert(entries)
    index.fetch(ANA, [one.key for one in entries[:600]])
    index.delete(ANA, [one.key for one in entries])

    writes, reads, deletes = ["PUT /points?wait=true"] * 3, ["POST /points"] * 2, ["POST /points/delete?wait=true"] * 3
    looks = ["POST /points"] * 3
    assert asked(server) == [*writes, *looks, *reads, *deletes]


def test_wide_vectors_are_written_in_requests_that_are_not_too_large(server: Loopback) -> None:
    index = unready(settings_of(server))
    index.ensure(4096, "cosine", MODEL)
    index.upsert([entry(number=n, vector=v) for n, v in enumerate(units(170, 4096))])

    assert index.count() == 170
    assert max(request.size for request in server.requests) < 20 * 1024 * 1024
    index.close()


def test_one_request_finds_the_nearest_and_more_are_made_only_for_ties(server: Loopback, index: QdrantIndex) -> None:
    index.upsert([entry(number=n, vector=unit(1, n)) for n in range(20)])
    index.upsert([entry(BEN, number=n, vector=unit(1)) for n in range(40)])
    server.requests.clear()

    assert numbers(index.query(unit(1), Where(ANA), 5)) == [0, 1, 2, 3, 4]
    assert len(server.requests) == 1
    assert numbers(index.query(unit(1), Where(BEN), 5)) == [0, 1, 2, 3, 4]
    assert len(server.requests) == 4


def test_the_key_is_sent_and_prefix_and_name_make_the_collections_name(server: Loopback, service: QdrantServer) -> None:
    settings = settings_of(server, index_prefix="memories", index_name="titan", index_api_key="a-key")
    with pytest.warns(UserWarning, match="insecure"):
        index = unready(settings)
    index.ensure(DIMENSIONS, "cosine", MODEL)

    assert list(service.made) == ["memories_titan"]
    assert {request.headers["api-key"] for request in server.requests} == {"a-key"}
    index.close()


def test_a_collection_that_is_not_ours_is_left_alone(server: Loopback, service: QdrantServer) -> None:
    service(Request(COLLECTION, {}, {"vectors": {"size": 8, "distance": "Cosine"}}, method="PUT"))

    with pytest.raises(IndexMismatch, match=r"afterturn_main.*AFTERTURN_INDEX_NAME.*1\.16"):
        unready(settings_of(server)).ensure(DIMENSIONS, "cosine", MODEL)


def test_a_collection_of_another_metric_is_refused_with_both(server: Loopback, service: QdrantServer) -> None:
    body = {"vectors": {"size": 8, "distance": "Euclid"}, "metadata": {"model": MODEL}}
    service(Request(COLLECTION, {}, body, method="PUT"))

    with pytest.raises(IndexMismatch, match=r"metric euclid.*metric cosine"):
        unready(settings_of(server)).ensure(DIMENSIONS, "cosine", MODEL)


@pytest.mark.parametrize("hiccup", [Answer(503), Answer(429), Answer(fault="closed"), Answer(body=b"no JSON")])
def test_a_failure_that_passes_is_waited_out(
    server: Loopback, service: QdrantServer, index: QdrantIndex, hiccup: Answer
) -> None:
    def hiccups_once(request: Request) -> Answer:
        return hiccup if len(server.requests) == 1 else service(request)

    server.answer = hiccups_once
    index.upsert([entry(number=1)])
    assert index.count() == 1


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Answer(400, {"status": {"error": "no: a secret"}}), r"\(400\).*log"),
        (Answer(403, {"status": {"error": "no: a secret"}}), r"\(403\).*AFTERTURN_INDEX_API_KEY"),
        (Answer(404, {"status": {"error": "no: a secret"}}), r"\(404\).*afterturn reindex"),
        (Answer(500, {"status": {"error": "no: a secret"}}), r"\(500\).*log"),
        (Answer(429, {"status": {"error": "no: a secret"}}, {"Retry-After": "1"}), r"\(429\)"),
        (Answer(fault="closed"), r"RemoteProtocolError.*AFTERTURN_INDEX_URL"),
    ],
)
def test_what_fails_is_an_outage_that_says_where_to_look_and_no_content(
    server: Loopback, index: QdrantIndex, answer: Answer, said: str
) -> None:
    server.answer = lambda _request: answer
    with pytest.raises(IndexUnavailable, match=said) as failed:
        index.upsert([entry(number=1)])
    assert "secret" not in str(failed.value)
    assert failed.value.__suppress_context__
    assert is_outage(failed.value)


def test_every_call_of_a_server_that_is_away_is_an_outage(server: Loopback, index: QdrantIndex) -> None:
    server.answer = lambda _request: Answer(403)
    for call in (
        lambda: index.ensure(DIMENSIONS, "cosine", MODEL),
        lambda: index.query(unit(1), Where(ANA), 1),
        lambda: index.fetch(ANA, [uuid.UUID(int=1)]),
        lambda: index.delete(ANA, [uuid.UUID(int=1)]),
        index.count,
    ):
        with pytest.raises(IndexUnavailable):
            call()


def test_the_settings_open_it_and_name_what_is_missing(server: Loopback) -> None:
    index = open_index(settings_of(server), minilm())
    index.upsert([entry(vector=minilm().embed(["The user lives in Berlin."])[0])])
    assert index.count() == 1
    index.close()

    with pytest.raises(SettingsError, match="AFTERTURN_INDEX_URL"):
        open_index(Settings(index="qdrant"), minilm())


def test_the_doctor_says_what_it_finds_and_leaves_nothing_behind(
    server: Loopback, service: QdrantServer, index: QdrantIndex
) -> None:
    found = {one.part: one for one in index.check_health()}
    assert [one.status for one in found.values()] == [HealthStatus.OK] * 3
    assert "1.20.0" in found["Qdrant"].found
    assert index.count() == 0

    def reads_only(request: Request) -> Answer:
        return Answer(403) if request.method == "PUT" else service(request)

    server.answer = reads_only
    [refused] = [one for one in index.check_health() if one.status is HealthStatus.FAILED]
    assert "AFTERTURN_INDEX_API_KEY" in refused.hint
