"""A fleet for a test, or for all tests of a module."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from stores.catalog.engine import create_catalog_engine
from stores.catalog.revisions import migrate
from tests.fleet.fleet import ORACLE, Fleet
from tests.postgres import PostgresServer


@pytest.fixture(scope="session", autouse=True)
def on_machines(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let each fleet run on two machines, if that is asked for."""
    if not request.config.option.machines:
        yield
        return
    server: PostgresServer = request.getfixturevalue("postgres")

    def new_catalogs() -> Iterator[str]:
        while True:
            url = server.database()
            engine = create_catalog_engine(url)
            migrate(engine)
            engine.dispose()
            yield url

    Fleet.new_catalogs = new_catalogs()
    yield
    Fleet.new_catalogs = None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Let tests of this folder wait for what must come."""
    machines = config.option.machines
    for item in items:
        if machines and item.get_closest_marker("embedded"):
            item.add_marker(pytest.mark.skip(reason="it is about files of the embedded stores"))
        if item.path.parent == Path(__file__).parent and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(600))


@pytest.fixture
def fleet(broker_url: str, tmp_path: Path) -> Iterator[Fleet]:
    with closing(Fleet(broker_url, tmp_path)) as fleet:
        yield fleet


@pytest.fixture
def oracle_fleet(broker_url: str, tmp_path: Path) -> Iterator[Fleet]:
    """A fleet whose workers ask the oracle; beat runs, workers do not yet."""
    with closing(Fleet(broker_url, tmp_path, **ORACLE)) as fleet:
        fleet.start("beat")
        yield fleet


@pytest.fixture(scope="module")
def pair(broker_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """Beat and two workers that ask the oracle, for all tests of a module. A call of the model may take 2 s."""
    with closing(Fleet(broker_url, tmp_path_factory.mktemp("fleet"), llm_timeout_seconds=2, **ORACLE)) as fleet:
        fleet.start("beat")
        fleet.start_workers(2)
        yield fleet


@pytest.fixture(scope="module")
def running(broker_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """A fleet with one worker and beat for all tests of a module. The broker may take its time to say what it has of a
    turn: the machine may be busy."""
    with closing(Fleet(broker_url, tmp_path_factory.mktemp("fleet"), enqueue_budget_ms=10_000)) as fleet:
        fleet.start("beat")
        fleet.start_worker()
        yield fleet
