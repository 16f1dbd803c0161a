"""What a turn passes through, opened once a process."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import structlog
from celery import Celery

from memory.context import MemoryContext
from memory.metrics import count_llm_call, show_breaker
from memory.same_fact import Judge
from schema.errors import EmbedderUnavailable, Transient
from schema.settings import Settings
from stores.breaker import CircuitBreaker
from stores.embedding import try_out
from stores.llm import LLM, open_llm
from stores.open import open_stores
from stores.queue import open_mailbox
from stores.redis import open_redis
from worker.extract import open_extractor
from worker.extract.base import Extractor
from worker.guarded import GuardedEmbedder, GuardedIndex

_log = structlog.get_logger()


@dataclass(frozen=True)
class WorkerContext(MemoryContext):
    """What the pipeline works with: the stores, and what is the fleet's own."""

    extractor: Extractor
    llm: LLM | None


def open_worker_context(settings: Settings, celery: Celery) -> WorkerContext:
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
    index_breaker = CircuitBreaker("index", (Transient,), on_change=show_breaker)
    embedder_breaker = CircuitBreaker("embedder", (Transient,), on_change=show_breaker)
    prices = settings.llm_price_prompt, settings.llm_price_completion
    llm = open_llm(settings, redis, on_call=partial(count_llm_call, prices=prices), on_breaker=show_breaker)
    return WorkerContext(
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
