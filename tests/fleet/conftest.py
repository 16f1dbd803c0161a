"""A fleet for a test, or for all tests of a module."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fleet.fleet import ORACLE, Fleet


@pytest.fixture
def fleet(broker_url: str, tmp_path: Path) -> Iterator[Fleet]:
    fleet = Fleet(broker_url, tmp_path)
    yield fleet
    fleet.close()


@pytest.fixture
def oracle_fleet(broker_url: str, tmp_path: Path) -> Iterator[Fleet]:
    """A fleet whose workers ask the oracle; beat runs, workers do not yet."""
    fleet = Fleet(broker_url, tmp_path, **ORACLE)
    fleet.start("beat")
    yield fleet
    fleet.close()


@pytest.fixture(scope="module")
def running(broker_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """A fleet with one worker and beat for all tests of a module."""
    fleet = Fleet(broker_url, tmp_path_factory.mktemp("fleet"))
    fleet.start("beat")
    fleet.start_worker()
    yield fleet
    fleet.close()
