"""Real parts for tests: a Valkey server, a Postgres server and free ports."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from httpx._transports import default as transports
from hypothesis import HealthCheck, Phase, settings
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from interfaces.local.broker import embedded_broker
from memory import tracing
from stores.catalog.engine import create_catalog_engine
from stores.catalog.revisions import migrate
from tests import running
from tests.postgres import PostgresServer, postgres_server

# Whether an example takes long says more of what else the machine does than of us: tests that bound time count CPU.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")
# For `make canary`, which asks whether a test fails and not over what least example.
settings.register_profile("unshrunk", phases=(Phase.explicit, Phase.reuse, Phase.generate))
# Each client would read some 140 authorities anew, 50 ms of the processor, which is more than most tests take.
transports.create_ssl_context = cache(transports.create_ssl_context)  # type: ignore[attr-defined]


def pytest_addoption(parser: pytest.Parser) -> None:
    running.add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    running.begin(config)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    with running.nothing_collected():
        return (yield)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    running.put_in_order(items, limited=config.option.seconds is not None)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    running.end(session)


def free_port() -> int:
    """A port of 127.0.0.1 that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="session")
def broker_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real Valkey server for the whole session; a test that needs an empty one flushes it."""
    url = f"redis://127.0.0.1:{free_port()}/0"
    with embedded_broker(url, tmp_path_factory.mktemp("broker")):
        yield url


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgresServer]:
    """A real Postgres server for the whole session; each test makes databases of its own on it."""
    with postgres_server(tmp_path_factory.mktemp("postgres"), free_port()) as server:
        yield server


@pytest.fixture(scope="session")
def postgres_catalog(postgres: PostgresServer) -> str:
    """A database with the catalog's tables; a test empties them before it begins (`PostgresServer.empty`)."""
    url = postgres.database()
    engine = create_catalog_engine(url)
    migrate(engine)
    engine.dispose()
    return url


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def spans() -> Iterator[InMemorySpanExporter]:
    """What tracing would send, while a test runs."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracing.start_tracing_with(provider)
    yield exporter
    tracing._spans.clear()
