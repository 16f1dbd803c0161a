"""The app: routes, credentials and failures put together."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Final

from fastapi import Depends, FastAPI
from fastapi_offline import FastAPIOffline
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.routing import Route
from starlette.staticfiles import StaticFiles

from interfaces.http import (
    agents,
    candidates,
    costs,
    documents,
    entities,
    events,
    feedback,
    health,
    items,
    legal_holds,
    memories,
    preferences,
    subjects,
    turns,
    webhooks,
)
from interfaces.http.description import describe, operation_id
from interfaces.http.ending import told_to_end
from interfaces.http.etags import add_not_modified
from interfaces.http.limits import BodyLimit, OnlyThisMachine, RequestIds, Uncached
from interfaces.http.pages import documents as document_pages
from interfaces.http.pages import dry_run, graph, memory_details, openid_sign_in, overview, sign_in
from interfaces.http.pages import preferences as preference_pages
from interfaces.http.pages.admin import access, dead_letters, decisions, fleet
from interfaces.http.pages.admin import subjects as registry
from interfaces.http.problems import add_problems
from interfaces.http.rates import RateLimitFields
from interfaces.http.service import open_service
from interfaces.http.slashes import SlashesInIds, put_slashes_back
from interfaces.http.telemetry import Telemetry
from interfaces.http.unknown_parameters import refuse_unknown_parameters
from interfaces.mcp import over_http, protected_resource
from memory.tracing import start_tracing
from schema.settings import Settings

_DESCRIPTION = """
The long-term memory of an AI assistant: send each turn after its response, and ask for what is known when you need it.

Every failure is a problem document (RFC 9457). A key (`afterturn keys create`) names its tenant, and may name its user
and agent: what it may not see does not exist.
"""

_ASKED_WITH: Final = (
    *("Authorization", "Idempotency-Key", "If-Match", "If-None-Match", "Last-Event-ID", "X-API-Key", "X-Request-ID"),
    *("Afterturn-Waited-Seconds", "MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"),
)
_ANSWERED_WITH: Final = ("ETag", "RateLimit", "RateLimit-Policy", "Retry-After", "WWW-Authenticate", "X-Request-ID")
"""Fields that a page of another origin may send and read beside those that any may."""


def _body_of(settings: Settings) -> int:
    """Return how many bytes a document may take as JSON, where line ends and quotation marks are two characters."""
    return max(settings.http_max_body_bytes, 2 * settings.document_max_bytes)


def create_app(settings: Settings, *, anonymous: bool = False) -> FastAPI:
    """Return the app, which opens its stores when it starts.

    With `anonymous` who sends no key may do everything: for this machine only.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        stop_tracing = start_tracing(settings.tracing, service="afterturn-service")
        service = await asyncio.to_thread(open_service, settings)
        app.state.service = service
        try:
            async with over_http.serving(app, service):
                with told_to_end(service.ending.set):
                    yield
        finally:
            await service.close()
            await asyncio.to_thread(stop_tracing)

    app = FastAPIOffline(
        title="Afterturn",
        version=version("afterturn"),
        description=_DESCRIPTION,
        lifespan=lifespan,
        dependencies=[Depends(put_slashes_back), Depends(refuse_unknown_parameters)],
        redoc_url=None,  # ReDoc asks another host for its logo
        generate_unique_id_function=operation_id,
    )
    app.state.anonymous_is_allowed = anonymous
    app.add_middleware(SlashesInIds)
    app.add_middleware(RateLimitFields)
    app.add_middleware(GZipMiddleware, minimum_size=1_000)
    app.add_middleware(BodyLimit, most=settings.http_max_body_bytes, most_of_documents=_body_of(settings))
    if anonymous:
        app.add_middleware(OnlyThisMachine, address=settings.http_host)
    if settings.http_cors_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=settings.http_cors_origins,
            allow_methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
            allow_headers=_ASKED_WITH,
            expose_headers=_ANSWERED_WITH,
        )
    app.add_middleware(Uncached)
    app.add_middleware(RequestIds)
    app.add_middleware(Telemetry, logs=settings.http_access_log)
    add_problems(app)
    add_not_modified(app)
    for router in (
        health.router,
        candidates.router,
        turns.router,
        memories.router,
        subjects.router,
        preferences.router,
        documents.router,
        items.router,
        agents.router,
        feedback.router,
        entities.router,
        events.router,
        webhooks.router,
        legal_holds.router,
        costs.router,
        sign_in.api,
        sign_in.router,
        openid_sign_in.router,
        overview.router,
        decisions.router,
        memory_details.router,
        document_pages.router,
        preference_pages.router,
        graph.router,
        dry_run.router,
        registry.router,
        dead_letters.router,
        access.router,
        fleet.router,
    ):
        app.include_router(router)
    describe(app)
    app.router.routes.append(Route(over_http.McpRoute.path, over_http.McpRoute(), include_in_schema=False))
    of_mcp = protected_resource.WELL_KNOWN + over_http.McpRoute.path
    app.add_api_route(of_mcp, protected_resource.metadata_of, include_in_schema=False)
    app.mount("/static", StaticFiles(packages=[("interfaces.http.pages", "static")]), name="static")
    return app
