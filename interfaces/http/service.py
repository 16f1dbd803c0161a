"""Stores, clients and producers that the routes work with, opened once a process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from threading import Lock
from typing import Annotated

from fastapi import Depends, Request
from redis.asyncio import Redis as AsyncRedis

from interfaces.http.answers import ToldAnswers
from interfaces.http.openid import SignIn
from interfaces.http.pages.language import load_catalogues
from interfaces.http.rates import RateLimits
from interfaces.http.tokens import Tokens
from memory.context import MemoryContext, open_memory
from producers import Producer
from producers.hot_path import HotPath
from schema.settings import Settings
from stores.redis import open_async_redis, open_redis
from worker.context import WorkerContext, worker_context_of


@dataclass(frozen=True)
class Service:
    """The stores and the ways in. Every part may be used from many threads."""

    settings: Settings
    context: MemoryContext
    producer: Producer
    async_redis: AsyncRedis
    """For what waits long: each listener has a connection of its own."""
    rates: RateLimits
    answers: ToldAnswers
    hot_path: HotPath
    tokens: Tokens | None
    """None where the settings name no OpenID provider."""
    sign_in: SignIn | None
    """None where nobody signs in to their pages by a provider."""
    rehearsal: Callable[[], WorkerContext]
    """The worker's context, for who tries what would be remembered; its models load with the first turn."""
    ending: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once the process is told to end: no stream goes on."""

    async def close(self) -> None:
        """Let the broker take what lies in the spool, and close what was opened."""
        await self.async_redis.aclose()
        await asyncio.to_thread(self.producer.close)
        self.rates.close()
        self.answers.close()
        self.hot_path.close()
        self.context.close()


def open_service(settings: Settings) -> Service:
    """Open all that the routes need.

    Raises:
        SettingsError: a setting cannot work; the message names it.
        CatalogUnavailable, IndexMismatch: a store cannot be used as it is; the message says what to do.
    """
    load_catalogues(settings.pages_catalogues)
    # Somebody waits for the answer: where the broker hangs they are told so within three seconds.
    context = open_memory(settings, redis=open_redis(settings, timeout=1.5, retries=1))
    rates = RateLimits(settings, asks_model=context.llm is not None)

    loading = Lock()

    @cache
    def rehearsal_once() -> WorkerContext:
        return worker_context_of(context)

    def rehearsal() -> WorkerContext:
        with loading:
            return rehearsal_once()

    tokens = Tokens(settings) if settings.oidc_issuer else None
    producer = Producer(settings)
    # What an earlier process left in the spool is handed over now, and not with the first turn.
    producer.flush(0.0)
    return Service(
        settings,
        context,
        producer,
        open_async_redis(settings),
        rates,
        ToldAnswers(settings),
        HotPath(context),
        tokens,
        SignIn(settings, tokens) if tokens and settings.oidc_client_id else None,
        rehearsal,
    )


async def _service_of(request: Request) -> Service:
    # What asks no store is a coroutine, here and in the other rooms: FastAPI would send each function to a thread and
    # wait for it there, behind all who ask stores.
    service = request.app.state.service
    assert isinstance(service, Service)
    return service


Opened = Annotated[Service, Depends(_service_of)]
"""A route's parameter: the service of its app."""
