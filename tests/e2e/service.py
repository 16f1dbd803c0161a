"""The service as its clients find it: a real server on a port of its own, over stores of its own."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import Any

import httpx
import uvicorn
from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.datastructures import Headers
from starlette.types import Message, Receive, Scope, Send

from interfaces.http.app import create_app
from interfaces.http.unreadable import ProblemProtocol
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


_FIELDS = frozenset({"etag", "ratelimit", "ratelimit-policy", "retry-after", "www-authenticate", "x-request-id"})


@cache
def openapi_document(*, anonymous: bool = False) -> dict[str, Any]:
    """Return what the service tells of itself, which takes a second to make."""
    return create_app(Settings(data_dir=Path("unused")), anonymous=anonymous).openapi()


class Undescribed:
    """Notes each answer of a route, and each field of one, that the OpenAPI document does not name."""

    def __init__(self, app: FastAPI, document: dict[str, Any]) -> None:
        self._app, self._paths, self.answers = app, document["paths"], set[str]()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_noted(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._note(scope, message["status"], Headers(raw=message["headers"]))
            await send(message)

        await self._app(scope, receive, send_noted)

    def _note(self, scope: Scope, status: int, fields: Headers) -> None:
        route = scope.get("route")
        if not isinstance(route, APIRoute) or not route.include_in_schema or status == HTTPStatus.INTERNAL_SERVER_ERROR:
            return
        operation = self._paths[route.path].get(scope["method"].lower())
        if operation is None:
            return
        described = operation["responses"].get(str(status))
        named = {name.lower() for name in described.get("headers", ())} if described else set()
        undescribed = _FIELDS.intersection(fields) - named if described else {"status"}
        self.answers |= {f"{scope['method']} {route.path} {status}: {name}" for name in undescribed}


@contextmanager
def served(settings: Settings, *, anonymous: bool = False, port: int | None = None) -> Iterator[Served]:
    """Serve the app of these settings until the block ends; who listens then is cut off. Of each route it may answer
    only what its description names."""
    port = port or free_port()
    app = Undescribed(create_app(settings, anonymous=anonymous), openapi_document(anonymous=anonymous))
    config = uvicorn.Config(
        app,
        host="127.0.0.1",
        port=port,
        http=ProblemProtocol,
        ws="none",
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
    assert not app.answers, sorted(app.answers)


def settings_in(folder: Path, broker_url: str) -> Settings:
    """Return the settings of a service with a data folder of its own, and no limit to what a key may ask."""
    return Settings(data_dir=folder, broker_url=broker_url, http_reads_per_minute=0, http_writes_per_minute=0)
