"""The parts that a turn passes through, opened once a process."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import structlog
from celery import Celery
from redis import Redis

from memory.breaker import CircuitBreaker
from memory.embedding import EmbedderUnavailable, try_out
from memory.llm import LLM, open_llm
from memory.mailbox import Mailbox
from memory.queue import open_mailbox
from memory.redis import open_redis
from memory.settings import Settings
from memory.stores import Stores, open_stores
from worker.extract import open_extractor
from worker.extract.base import Extractor
from worker.failures import INDEX_FAILURES, PASSING_FAILURES
from worker.guarded import GuardedEmbedder, GuardedIndex
from worker.metrics import count_llm_call, show_breaker
from worker.same_fact import Judge

_log = structlog.get_logger()


@dataclass(frozen=True)
class Parts(Stores):
    """What the pipeline works with: the stores, and what is the fleet's own."""

    celery: Celery
    redis: Redis
    mailbox: Mailbox
    extractor: Extractor
    judge: Judge | None
    """Who is asked in dedup's check range; nobody without a language model."""
    llm: LLM | None

    def close(self) -> None:
        super().close()
        self.redis.close()


def open_parts(settings: Settings, celery: Celery) -> Parts:
    """Open all that the settings name.

    Raises:
        SettingsError: a policy constant cannot work, or a model never will; the message says which setting.
        CatalogUnavailable, IndexMismatch: a store cannot be used as it is; the message says what to do.
    """
    stores = open_stores(settings)
    try:
        try_out(stores.embedder)
    except EmbedderUnavailable as error:
        _log.warning("embedder_unavailable_at_start", error=str(error))
    redis = open_redis(settings)
    index_breaker = CircuitBreaker("index", INDEX_FAILURES, on_change=show_breaker)
    embedder_breaker = CircuitBreaker("embedder", PASSING_FAILURES, on_change=show_breaker)
    prices = settings.llm_price_prompt, settings.llm_price_completion
    llm = open_llm(settings, redis, on_call=partial(count_llm_call, prices=prices), on_breaker=show_breaker)
    return Parts(
        settings=stores.settings,
        policy=stores.policy,
        catalog=stores.catalog,
        index=GuardedIndex(stores.index, index_breaker),
        graph=stores.graph,
        embedder=GuardedEmbedder(stores.embedder, embedder_breaker),
        accesses=stores.accesses,
        celery=celery,
        redis=redis,
        mailbox=open_mailbox(settings, redis, celery),
        extractor=open_extractor(settings, llm, stores.policy),
        judge=Judge(llm, waits=settings.llm_fallback == "retry") if llm else None,
        llm=llm,
    )
