"""The ways out in process: one object that a backend opens when it starts."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Coroutine, Sequence
from datetime import UTC, datetime
from functools import wraps
from threading import Lock
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from memory.context import MemoryContext, memory_on
from memory.edits import Edit, Verb, apply_verb, edit
from memory.embedding import counted
from memory.erasure.memories import forget_memory
from memory.reindex import must_be_built
from memory.remember import Remembered, Statement, remember
from recall.audience import avoided_topics_in
from recall.context_block import ContextBlock, context_block
from recall.examples import FEW, FoundExample, find_examples
from recall.excerpts import Excerpt, find_excerpts
from recall.filters import ANYTHING, Filters
from recall.listing import Origin, Page, get_memory, list_memories, origin_of
from recall.retrieve import Hit, retrieve
from schema import Memory, Principal, Subject
from schema.settings import Settings, load_settings
from stores.open import Stores, open_stores


class Recall:
    """Asks for what is known, and changes it. Safe to call from many threads; close it when the process ends.

    Each call names the principal who asks, made of a credential and never of what a request says; None is an operator,
    who sees everything.
    """

    def __init__(self, stores: Stores, by: str | None = None) -> None:
        self._stores = stores
        self._by = by
        self._changing: MemoryContext | None = None
        self._opening = Lock()

    def search(
        self,
        principal: Principal | None,
        subjects: Sequence[Subject],
        query: str,
        *,
        filters: Filters = ANYTHING,
        limit: int = 10,
        offset: int = 0,
        explain: bool = False,
    ) -> list[Hit]:
        """Return the memories that answer a query best: see `recall.retrieve.retrieve`."""
        return retrieve(
            principal,
            subjects,
            query,
            self._stores,
            filters=filters,
            limit=limit,
            offset=offset,
            explain=explain,
            now=datetime.now(UTC),
        )

    def context(
        self,
        principal: Principal | None,
        subjects: Sequence[Subject],
        question: str,
        *,
        budget_tokens: int = 600,
        bullets: int | None = None,
    ) -> ContextBlock:
        """Return text for a prompt: see `recall.context_block.context_block`."""
        return context_block(
            principal,
            subjects,
            question,
            self._stores,
            budget_tokens=budget_tokens,
            bullets=bullets,
            now=datetime.now(UTC),
        )

    def excerpts(
        self, principal: Principal | None, subjects: Sequence[Subject], question: str, *, limit: int | None = None
    ) -> Sequence[Excerpt]:
        """Return the excerpts of documents that answer best: see `recall.excerpts.find_excerpts`."""
        return find_excerpts(principal, subjects, question, self._stores, limit=limit)

    def examples(
        self, principal: Principal | None, tenant_id: str, request: str, *, limit: int = FEW
    ) -> Sequence[FoundExample]:
        """Return the examples that a request is most like: see `recall.examples.find_examples`."""
        return find_examples(principal, tenant_id, request, self._stores, limit=limit)

    def list(
        self,
        principal: Principal | None,
        subject: Subject,
        *,
        filters: Filters = ANYTHING,
        words: str = "",
        cursor: str | None = None,
        limit: int = 50,
    ) -> Page:
        """Return a page of what is known: see `recall.listing.list_memories`."""
        return list_memories(principal, subject, self._stores, filters=filters, words=words, cursor=cursor, limit=limit)

    def get(self, principal: Principal | None, subject: Subject, memory_id: uuid.UUID) -> Memory:
        """Return one memory: see `recall.listing.get_memory`."""
        return get_memory(principal, subject, memory_id, self._stores)

    def origin(self, principal: Principal | None, subject: Subject, memory_id: uuid.UUID) -> Origin:
        """Return one memory with where it came from: see `recall.listing.origin_of`."""
        return origin_of(principal, subject, memory_id, self._stores)

    def avoided_topics_in(self, principal: Principal | None, subject: Subject, text: str) -> Sequence[str]:
        """Return on which topics a text is that the subject wants left alone: see `recall.audience`."""
        return avoided_topics_in(principal, subject, text, self._stores)

    def remember(self, principal: Principal | None, subject: Subject, statement: Statement) -> Remembered:
        """Remember a statement by the decision of what comes of a turn: see `memory.remember.remember`."""
        return remember(principal, subject, statement, self._memory(), now=datetime.now(UTC), by=self._by)

    def edit(
        self,
        principal: Principal | None,
        subject: Subject,
        memory_id: uuid.UUID,
        wanted: Edit,
        *,
        version: int | None = None,
    ) -> Memory:
        """Change what a memory says or counts: see `memory.edits.edit`."""
        versions, now = None if version is None else [version], datetime.now(UTC)
        return edit(principal, subject, memory_id, wanted, self._memory(), now=now, versions=versions, by=self._by)

    def apply(self, principal: Principal | None, subject: Subject, memory_id: uuid.UUID, verb: Verb) -> Memory:
        """Pin, unpin, archive, restore, suppress or unsuppress a memory: see `memory.edits.apply_verb`."""
        return apply_verb(principal, subject, memory_id, verb, self._memory(), now=datetime.now(UTC), by=self._by)

    def forget(self, principal: Principal | None, subject: Subject, memory_id: uuid.UUID) -> None:
        """Erase a memory for good: see `memory.erasure.memories.forget_memory`."""
        now = datetime.now(UTC)
        forget_memory(principal, subject, memory_id, self._memory(), reason="erased in process", now=now, by=self._by)

    def close(self) -> None:
        """Write what was noted of uses, and close the stores."""
        (self._changing or self._stores).close()

    def _memory(self) -> MemoryContext:
        """Return what changing memories needs, opened with the first change: who only asks needs no broker."""
        with self._opening:
            if self._changing is None:
                self._changing = memory_on(self._stores)
            return self._changing

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


P = ParamSpec("P")
T = TypeVar("T")


def _on_thread(
    method: Callable[Concatenate[Recall, P], T],
) -> Callable[Concatenate[AsyncRecall, P], Coroutine[Any, Any, T]]:
    """Return a method of `Recall` as it is awaited."""

    @wraps(method)
    async def awaited(self: AsyncRecall, /, *arguments: P.args, **named: P.kwargs) -> T:
        return await asyncio.to_thread(method, self.recall, *arguments, **named)

    return awaited


class AsyncRecall:
    """As `Recall`, for event loops: each call runs on a thread."""

    def __init__(self, recall: Recall) -> None:
        self.recall = recall

    search = _on_thread(Recall.search)
    context = _on_thread(Recall.context)
    excerpts = _on_thread(Recall.excerpts)
    examples = _on_thread(Recall.examples)
    list = _on_thread(Recall.list)
    get = _on_thread(Recall.get)
    origin = _on_thread(Recall.origin)
    avoided_topics_in = _on_thread(Recall.avoided_topics_in)
    remember = _on_thread(Recall.remember)
    edit = _on_thread(Recall.edit)
    apply = _on_thread(Recall.apply)
    forget = _on_thread(Recall.forget)
    close = _on_thread(Recall.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()


def open_recall(settings: Settings | None = None, *, by: str | None = None) -> Recall:
    """Open the ways out on the stores that the settings (those of the environment) name. Nothing is made. `by` is who
    changes memories, for the audit, where that is another than the principal's key or an operator.

    Raises:
        CatalogUnavailable: there is no catalog where the settings look for one, or it cannot be used.
        SettingsError, IndexMismatch, IndexUnbuilt: the message says what to do.
    """
    stores = open_stores(settings or load_settings(), counted, makes_catalog=False)
    must_be_built(stores)
    return Recall(stores, by)
