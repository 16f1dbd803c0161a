"""Catalogs on every database, and workers in process."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from sqlalchemy import Engine

from memory.leases import LeaseKeeper
from schema.settings import Settings
from stores.catalog import Catalog, open_catalog
from stores.catalog.engine import create_catalog_engine
from stores.index import Index, open_index
from stores.open import Stores, open_beside
from stores.queue import create_celery
from tests.contract.catalogs import ANNA, BERT, NAMESAKE, changes
from tests.contract.indexes import ADAPTERS, DATABASE_VARIABLE, QDRANT_VARIABLE, WEAVIATE_VARIABLE, opened
from tests.contract.loopback import Loopback, aws_at_loopback, loopback
from tests.contract.moving import opened as opened_stores
from tests.contract.pipeline import Worker
from tests.contract.s3vectors_server import S3VectorsServer
from tests.migrated import put_catalog
from tests.postgres import PostgresServer
from worker.context import open_worker_context

_users = count()


@pytest.fixture(params=["sqlite", "postgres"])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    if request.param == "sqlite":
        engine = create_catalog_engine(f"sqlite:///{put_catalog(tmp_path)}")
        yield engine
        engine.dispose()
        return
    server: PostgresServer = request.getfixturevalue("postgres")
    url: str = request.getfixturevalue("postgres_catalog")
    server.empty(url)
    engine = create_catalog_engine(url)
    yield engine
    engine.dispose()


@pytest.fixture
def catalog(engine: Engine) -> Catalog:
    return Catalog(engine)


@pytest.fixture
def old(engine: Engine, tmp_path: Path) -> Iterator[Stores]:
    stores = opened_stores(engine, tmp_path)
    for whose in (ANNA, BERT, NAMESAKE):
        for number in range(3):
            stores.catalog.commit(changes(f"t{number}", whose))
    yield stores
    stores.catalog.reindex_jobs.end()
    stores.index.close()


@pytest.fixture
def new(engine: Engine, tmp_path: Path, old: Stores) -> Iterator[Stores]:
    stores = opened_stores(engine, tmp_path, "next", "new")
    yield stores
    stores.index.close()


@pytest.fixture(scope="session")
def database_of_indexes(postgres: PostgresServer) -> Iterator[str]:
    """A Postgres database for indexes under test, told to the processes that tests start."""
    url = postgres.database()
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv(DATABASE_VARIABLE, url)
        yield url


@pytest.fixture(scope="session")
def s3vectors() -> Iterator[Loopback]:
    """A server in the place of Amazon S3 Vectors, told to the processes that tests start."""
    with aws_at_loopback("S3VECTORS") as told:
        told.answer = S3VectorsServer()
        told.remembers = False
        yield told


@pytest.fixture(scope="session")
def qdrant() -> Iterator[Loopback]:
    """A server in the place of Qdrant."""
    # It takes seconds to import: only where it is tested.
    from tests.contract.qdrant_server import QdrantServer

    with loopback() as told, pytest.MonkeyPatch.context() as environment:
        environment.setenv(QDRANT_VARIABLE, told.url)
        told.answer = QdrantServer()
        told.remembers = False
        yield told


@pytest.fixture(scope="session")
def weaviate() -> Iterator[None]:
    """A server in the place of Weaviate."""
    from tests.contract.weaviate_server import weaviate_at_loopback

    with weaviate_at_loopback() as (_, told, grpc_url), pytest.MonkeyPatch.context() as environment:
        environment.setenv(WEAVIATE_VARIABLE, f"{told.url} {grpc_url}")
        told.remembers = False
        yield


_SERVERS = {
    "pgvector": "database_of_indexes",
    "qdrant": "qdrant",
    "s3vectors": "s3vectors",
    "weaviate": "weaviate",
}


@pytest.fixture(params=sorted(ADAPTERS))
def adapter(request: pytest.FixtureRequest) -> str:
    """The name of an index adapter."""
    if request.param in _SERVERS:
        request.getfixturevalue(_SERVERS[request.param])
    return str(request.param)


@pytest.fixture(scope="module")
def worker(
    request: pytest.FixtureRequest, broker_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Worker]:
    """A worker on the embedded stores, or on those that a test's parameter names."""
    settings = Settings(broker_url=broker_url, data_dir=tmp_path_factory.mktemp("pipeline"))
    put_catalog(settings.data_dir)
    if getattr(request, "param", "sqlite") == "postgres":
        url: str = request.getfixturevalue("postgres_catalog")
        request.getfixturevalue("postgres").empty(url)
        settings = settings.model_copy(update={"catalog_url": url, "index": "pgvector"})
    context = open_worker_context(settings, create_celery(settings))
    context.redis.flushdb()
    context.extractor.prepare()
    leases = LeaseKeeper(context.mailbox, settings.lease_seconds, settings.turn_deadline_seconds)
    with pytest.MonkeyPatch.context() as patched:
        # A quarter of a second, as at first, may be over before a test on a busy machine looks (`Worker.wait_over`).
        patched.setattr("worker.drain.pause_before_retry", lambda *_: 60.0)
        yield Worker(context, leases)
    leases.stop()
    context.close()


@pytest.fixture
def alone(worker: Worker, tmp_path: Path) -> Iterator[Worker]:
    """A worker with a catalog and an index of its own, so that a test may look at every byte of them."""
    settings = worker.context.settings.model_copy(update={"data_dir": tmp_path / "alone"})
    put_catalog(settings.data_dir)
    index = open_index(settings, worker.context.embedder)
    catalog = open_catalog(settings)
    beside = open_beside(settings, worker.context.embedder)
    own = worker.with_parts(settings=settings, catalog=catalog, index=index, beside=beside)
    yield own
    own.context.index.close()
    for one in beside.values():
        one.close()
    own.context.catalog.close()


@pytest.fixture
def emptied(request: pytest.FixtureRequest, worker: Worker) -> Worker:
    """A worker that knows nobody."""
    if worker.context.settings.catalog_url is None:
        alone: Worker = request.getfixturevalue("alone")
        return alone
    request.getfixturevalue("postgres").empty(worker.context.settings.catalog_url)
    return worker


@pytest.fixture
def anna() -> str:
    """A user that no other test knows."""
    return f"anna{next(_users)}"


@pytest.fixture
def server() -> Iterator[Loopback]:
    """A server in the place of Bedrock, or of any endpoint that is given its URL."""
    with aws_at_loopback() as told:
        yield told


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "index"


@pytest.fixture
def index(adapter: str, folder: Path) -> Iterator[Index]:
    made = opened(adapter, folder)
    yield made
    made.close()


@pytest.fixture
def another(adapter: str, folder: Path, index: Index) -> Iterator[Index]:
    """A second handle on the same index, as another process has."""
    made = opened(adapter, folder)
    yield made
    made.close()
