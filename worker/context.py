"""What a turn passes through, opened once a process."""

from __future__ import annotations

from dataclasses import dataclass, replace

import structlog
from celery import Celery

from memory.context import MemoryContext, open_memory
from memory.metrics import show_breaker
from schema.errors import EmbedderUnavailable, Transient
from schema.settings import Settings
from stores.breaker import CircuitBreaker
from stores.embedding import try_out
from worker.extract import open_extractor
from worker.extract.base import Extractor
from worker.guarded import GuardedEmbedder, GuardedIndex

_log = structlog.get_logger()


@dataclass(frozen=True)
class WorkerContext(MemoryContext):
    """What the pipeline works with: what changing memories needs, and the extractor."""

    extractor: Extractor


def open_worker_context(settings: Settings, celery: Celery) -> WorkerContext:
    """Open all that the settings name.

    Raises:
        SettingsError: a policy constant cannot work, or a model never will; the message says which setting.
        CatalogUnavailable, IndexMismatch: a store cannot be used as it is; the message says what to do.
    """
    memory = open_memory(settings, celery)
    try:
        try_out(memory.embedder)
    except EmbedderUnavailable as error:
        _log.warning("embedder_unavailable_at_start", error=str(error))
    index_breaker = CircuitBreaker("index", (Transient,), on_change=show_breaker)
    embedder_breaker = CircuitBreaker("embedder", (Transient,), on_change=show_breaker)
    guarded = replace(
        memory,
        index=GuardedIndex(memory.index, index_breaker),
        embedder=GuardedEmbedder(memory.embedder, embedder_breaker),
    )
    return WorkerContext(**vars(guarded), extractor=open_extractor(settings, memory.llm, memory.policy))
