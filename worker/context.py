"""Stores, models and the extractor that a turn passes through, opened once a process."""

from __future__ import annotations

import gc
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import partial

import structlog
from celery import Celery

from memory.attributes import prototypes_of
from memory.context import MemoryContext, open_memory
from memory.metrics import show_breaker
from memory.spending import spending
from schema.errors import EmbedderUnavailable, Transient
from schema.settings import Settings
from stores.breaker import CircuitBreaker
from stores.embedding import try_out
from stores.queue import notify
from worker.circuit_breakers import GuardedEmbedder, GuardedIndex
from worker.delayed import DelayedNotifications
from worker.extract import open_extractor
from worker.extract.base import Extractor
from worker.freed_memory import give_back_freed_memory

_log = structlog.get_logger()


@dataclass(frozen=True)
class WorkerContext(MemoryContext):
    """Parts that the pipeline works with: those that changing memories needs, the extractor, and who wakes subjects."""

    extractor: Extractor
    delayed: DelayedNotifications
    rest: Callable[[], None] = lambda: None
    """Called between two steps of long work that holds no lease: a night waits there while turns are in hand."""

    def close(self) -> None:
        """Close all that is open. What is to be notified of later is left to the sweep."""
        self.delayed.stop()
        super().close()


def open_worker_context(settings: Settings, celery: Celery, *, makes_catalog: bool = True) -> WorkerContext:
    """Open all that the settings name. An embedded catalog that is not there is made, if `makes_catalog`.

    Raises:
        SettingsError: a policy constant cannot work, or a model never will; the message says which setting.
        CatalogUnavailable, IndexMismatch: a store cannot be used as it is; the message says what to do.
    """
    memory = open_memory(settings, celery, makes_catalog=makes_catalog)
    try:
        with spending("start"):
            try_out(memory.embedder)
    except EmbedderUnavailable as error:
        _log.warning("embedder_unavailable_at_start", error=str(error))
    index_breaker = CircuitBreaker("index", (Transient,), on_change=show_breaker)
    embedder_breaker = CircuitBreaker("embedder", (Transient,), on_change=show_breaker)
    guarded = replace(
        memory,
        index=GuardedIndex(memory.index, index_breaker),
        beside={family: GuardedIndex(index, index_breaker) for family, index in memory.beside.items()},
        embedder=GuardedEmbedder(memory.embedder, embedder_breaker),
    )
    return worker_context_of(guarded)


def worker_context_of(memory: MemoryContext) -> WorkerContext:
    """Return what the pipeline works with, on stores that are open.

    Raises:
        SettingsError: the extractor cannot work as it is set.
    """
    return WorkerContext(
        **{field.name: getattr(memory, field.name) for field in fields(MemoryContext)},
        extractor=open_extractor(memory.settings, memory.llm, memory.policy, memory.utterance_reader),
        delayed=DelayedNotifications(partial(notify, memory.celery)),
    )


def load_models(context: WorkerContext) -> None:
    """Load what turns need of models ahead of the first, and have the garbage collector pass over it from then on: to
    look through it again and again took 5 to 8% of a turn's CPU (`benchmarks.ingest`, 20 runs of 60 turns).

    Raises:
        OperatorError, EmbedderUnavailable: a model cannot be loaded or asked.
    """
    context.extractor.prepare()
    prototypes_of(context.embedder)
    for reader in (context.cross_encoder, context.forget_reader):
        if reader is not None:
            reader.chances([("hello", "hello")])
    gc.collect()
    gc.freeze()
    give_back_freed_memory()
