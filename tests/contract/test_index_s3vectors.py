"""S3 Vectors alone: its limits, what its failures mean, and what is said of them. With AWS credentials and the variable
S3VECTORS_BUCKET, the last test runs against the service itself."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from dataclasses import replace

import pytest

from memory.failures import is_outage
from schema import Subject
from schema.errors import IndexUnavailable, SettingsError
from schema.settings import Settings
from stores.aws import open_s3vectors, session
from stores.index import Index, Where, open_index
from stores.index.s3vectors import S3VectorsIndex
from tests.contract.embedders import minilm
from tests.contract.indexes import ANA, DIMENSIONS, MODEL, entry, numbers, unit, units
from tests.contract.loopback import Answer, Loopback, Request, aws_at_loopback
from tests.contract.s3vectors_server import BUCKET, S3VectorsServer


@pytest.fixture
def service() -> S3VectorsServer:
    return S3VectorsServer()


@pytest.fixture
def server(service: S3VectorsServer) -> Iterator[Loopback]:
    with aws_at_loopback("S3VECTORS") as told:
        told.answer = service
        yield told


def opened(dimensions: int = DIMENSIONS, bucket: str = BUCKET) -> Index:
    settings = Settings(aws_region="eu-central-1", s3vectors_bucket=bucket)
    index = S3VectorsIndex(open_s3vectors(settings, connections=4), bucket, "main")
    index.ensure(dimensions, "cosine", MODEL)
    return index


def paths(server: Loopback) -> list[str]:
    return [request.path.removeprefix("/") for request in server.requests]


@pytest.mark.usefixtures("server")
def test_long_names_many_tags_and_any_characters_stay_within_what_can_be_filtered_by() -> None:
    subject = Subject(tenant_id="t漢" * 60, subject_id="🌒" * 120)
    long = replace(
        entry(subject, number=1),
        category="漢" * 40,
        agent_id="漢" * 120,
        author_id="🌒" * 120,
        tags=tuple(f"{number} {'漢' * 60}" for number in range(40)),
    )
    index = opened()
    index.upsert([long])

    assert [one.tags for one in index.fetch(subject, [long.key])] == [long.tags]
    wanted = Where(subject, tags=long.tags[:3], agent_ids=("漢" * 120,), categories=("漢" * 40,))
    assert numbers(index.query(unit(1), wanted, 5)) == [1]


def test_calls_keep_within_what_the_service_takes_at_a_time(server: Loopback) -> None:
    index = opened()
    entries = [entry(number=n, vector=v) for n, v in enumerate(units(1_100))]
    server.requests.clear()

    index.upsert(entries)
    index.fetch(ANA, [one.key for one in entries[:250]])
    index.delete(ANA, [one.key for one in entries])

    assert paths(server) == ["PutVectors"] * 3 + ["GetVectors"] * 3 + ["DeleteVectors"] * 3


def test_wide_vectors_are_written_in_requests_that_are_not_too_large(server: Loopback) -> None:
    index = opened(4096)
    server.requests.clear()
    index.upsert([entry(number=n, vector=v) for n, v in enumerate(units(170, 4096))])

    sizes = [request.size for request in server.requests]
    assert len(sizes) == 2
    assert max(sizes) < 20 * 1024 * 1024
    assert index.count() == 170


def test_more_than_a_page_is_read_page_by_page(server: Loopback) -> None:
    index = opened()
    index.upsert([entry(number=n) for n in range(250)])
    server.requests.clear()

    assert numbers(index.query(unit(1), Where(ANA), 1_000)) == list(range(250))
    assert paths(server) == ["QueryVectors"] * 3


@pytest.mark.usefixtures("server")
def test_where_the_service_does_not_page_the_first_hundred_are_found(service: S3VectorsServer) -> None:
    index = opened()
    index.upsert([entry(number=n) for n in range(250)])
    service.pages = False

    assert numbers(index.query(unit(1), Where(ANA), 1_000)) == list(range(100))


@pytest.mark.usefixtures("server")
def test_no_text_of_a_user_is_in_what_can_be_filtered_by(service: S3VectorsServer) -> None:
    index = opened()
    index.upsert([replace(entry(number=1), tags=("asthma",), author_id="zoë")])

    [(_, metadata)] = service.indexes["afterturn-main"].vectors.values()
    filterable = str({name: value for name, value in metadata.items() if name != "value_json"})
    assert not any(text in filterable for text in ("asthma", "zoë", "ana", "acme"))


@pytest.mark.usefixtures("server")
def test_a_bucket_that_is_not_there_is_said_with_what_to_do() -> None:
    with pytest.raises(IndexUnavailable, match=r"no bucket elsewhere.*AFTERTURN_S3VECTORS_BUCKET"):
        opened(bucket="elsewhere")


def test_throttling_is_waited_out(server: Loopback, service: S3VectorsServer) -> None:
    index = opened()
    server.requests.clear()

    def throttled_once(request: Request) -> Answer:
        if len(server.requests) == 1:
            return Answer(429, {"message": "slow down"}, {"x-amzn-ErrorType": "TooManyRequestsException"})
        return service(request)

    server.answer = throttled_once
    index.upsert([entry(number=1)])
    assert index.count() == 1


def test_what_the_service_refuses_is_an_outage_that_names_rights_and_no_content(server: Loopback) -> None:
    index = opened()
    server.answer = lambda _request: Answer(
        403, {"message": "no: a secret"}, {"x-amzn-ErrorType": "AccessDeniedException"}
    )
    for call in (
        lambda: index.upsert([entry(number=1)]),
        lambda: index.query(unit(1), Where(ANA), 1),
        lambda: index.fetch(ANA, [uuid.UUID(int=1)]),
        lambda: index.delete(ANA, [uuid.UUID(int=1)]),
        index.count,
    ):
        with pytest.raises(IndexUnavailable, match=r"AccessDeniedException.*deploy/iam") as refused:
            call()
        assert "secret" not in str(refused.value)
        assert is_outage(refused.value)


@pytest.mark.usefixtures("server")
def test_the_settings_open_it_and_name_what_is_missing() -> None:
    settings = Settings(index="s3vectors", aws_region="eu-central-1", s3vectors_bucket=BUCKET)
    index = open_index(settings, minilm())
    index.upsert([entry(vector=minilm().embed(["The user lives in Berlin."])[0])])
    assert index.count() == 1

    with pytest.raises(SettingsError, match="AFTERTURN_S3VECTORS_BUCKET"):
        open_index(Settings(index="s3vectors"), minilm())


@pytest.mark.real_aws
@pytest.mark.skipif("S3VECTORS_BUCKET" not in os.environ, reason="S3VECTORS_BUCKET names no bucket of yours on AWS")
def test_the_service_itself_keeps_the_contract() -> None:
    session.cache_clear()
    client = open_s3vectors(Settings(), connections=4)
    bucket, name = os.environ["S3VECTORS_BUCKET"], f"test-{uuid.uuid4().hex[:8]}"
    index = S3VectorsIndex(client, bucket, name)
    index.ensure(DIMENSIONS, "cosine", MODEL)
    try:
        index.upsert([replace(entry(number=n, vector=unit(1, n)), tags=("a", str(n))) for n in range(5)])
        assert numbers(index.query(unit(1), Where(ANA), 3)) == [0, 1, 2]
        assert numbers(index.query(unit(1), Where(ANA, tags=("a", "3")), 3)) == [3]
        index.delete(ANA, [uuid.UUID(int=0)])
        assert index.count() == 4
    finally:
        client.delete_index(vectorBucketName=bucket, indexName=f"afterturn-{name}")
