"""A service for the tests of a file, and a client with the key of a user whom no other test knows."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import httpx
import pytest

from tests.e2e.service import Served, served, settings_in

_users = count()


@pytest.fixture(scope="module")
def service(broker_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A service whose broker may take its time to answer: the machine may be busy."""
    settings = settings_in(tmp_path_factory.mktemp("service"), broker_url)
    with served(settings.model_copy(update={"enqueue_budget_ms": 10_000.0})) as running:
        yield running


@pytest.fixture
def user() -> str:
    return f"person{next(_users)}"


@pytest.fixture
def me(service: Served, user: str) -> Iterator[httpx.Client]:
    with service.client(service.key(user=user)) as client:
        yield client


@pytest.fixture
def environment(service: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the pages export before they run a client."""
    monkeypatch.setenv("AFTERTURN_URL", service.url)
    monkeypatch.setenv("AFTERTURN_API_KEY", service.key())
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
