"""The service as its clients find it: a real server on a port of its own, over stores of its own."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import httpx
import uvicorn

from interfaces.http.app import create_app
from memory.keys import issue
from schema import Capability
from schema.settings import Settings
from stores.catalog import Catalog, open_catalog
from tests.conftest import free_port

EVERYTHING = tuple(Capability)


@dataclass(frozen=True)
class Served:
    """A service that listens, and its catalog."""

    url: str
    settings: Settings
    catalog: Catalog

    def key(self, *can: Capability, tenant: str = "acme", user: str | None = None, agent: str | None = None) -> str:
        now = datetime.now(UTC)
        issued = issue(
            "test", tenant, can or EVERYTHING, self.catalog, by="test", now=now, user_id=user, agent_id=agent
        )
        return issued.secret

    def client(self, key: str | None = None) -> httpx.Client:
        headers = {"X-API-Key": key} if key else {}
        return httpx.Client(base_url=self.url, headers=headers, timeout=30.0)


@contextmanager
def served(settings: Settings, *, anonymous: bool = False, port: int | None = None) -> Iterator[Served]:
    """Serve the app of these settings until the block ends; who listens then is cut off."""
    port = port or free_port()
    config = uvicorn.Config(
        create_app(settings, anonymous=anonymous),
        host="127.0.0.1",
        port=port,
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, name="service")
    thread.start()
    try:
        while not server.started:
            if not thread.is_alive():
                raise RuntimeError("the service does not start")
            time.sleep(0.02)
        catalog = open_catalog(settings)
        yield Served(f"http://127.0.0.1:{port}", settings, catalog)
        catalog.close()
    finally:
        server.should_exit = True
        thread.join()


def settings_in(folder: Path, broker_url: str) -> Settings:
    """Return the settings of a service with a data folder of its own, and no limit to what a key may ask."""
    return Settings(data_dir=folder, broker_url=broker_url, http_reads_per_minute=0, http_writes_per_minute=0)
