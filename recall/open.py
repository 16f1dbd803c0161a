"""The ways out in process: one object that a backend opens when it starts."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from types import TracebackType
from typing import Self

from memory.reindex import must_be_built
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
    """Asks for what is known. Safe to call from many threads; close it when the process ends.

    Each call names the principal who asks, made of a credential and never of what a request says; None is an operator,
    who sees everything.
    """

    def __init__(self, stores: Stores) -> None:
        self._stores = stores

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

    def close(self) -> None:
        """Write what was noted of uses, and close the stores."""
        self._stores.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


class AsyncRecall:
    """As `Recall`, for event loops: each call runs on a thread."""

    def __init__(self, recall: Recall) -> None:
        self._recall = recall

    async def search(
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
        """Return as `Recall.search`."""
        return await asyncio.to_thread(
            self._recall.search,
            principal,
            subjects,
            query,
            filters=filters,
            limit=limit,
            offset=offset,
            explain=explain,
        )

    async def context(
        self,
        principal: Principal | None,
        subjects: Sequence[Subject],
        question: str,
        *,
        budget_tokens: int = 600,
        bullets: int | None = None,
    ) -> ContextBlock:
        """Return as `Recall.context`."""
        return await asyncio.to_thread(
            self._recall.context, principal, subjects, question, budget_tokens=budget_tokens, bullets=bullets
        )

    async def excerpts(
        self, principal: Principal | None, subjects: Sequence[Subject], question: str, *, limit: int | None = None
    ) -> Sequence[Excerpt]:
        """Return as `Recall.excerpts`."""
        return await asyncio.to_thread(self._recall.excerpts, principal, subjects, question, limit=limit)

    async def examples(
        self, principal: Principal | None, tenant_id: str, request: str, *, limit: int = FEW
    ) -> Sequence[FoundExample]:
        """Return as `Recall.examples`."""
        return await asyncio.to_thread(self._recall.examples, principal, tenant_id, request, limit=limit)

    async def list(
        self,
        principal: Principal | None,
        subject: Subject,
        *,
        filters: Filters = ANYTHING,
        words: str = "",
        cursor: str | None = None,
        limit: int = 50,
    ) -> Page:
        """Return as `Recall.list`."""
        return await asyncio.to_thread(
            self._recall.list, principal, subject, filters=filters, words=words, cursor=cursor, limit=limit
        )

    async def get(self, principal: Principal | None, subject: Subject, memory_id: uuid.UUID) -> Memory:
        """Return as `Recall.get`."""
        return await asyncio.to_thread(self._recall.get, principal, subject, memory_id)

    async def close(self) -> None:
        """Close what was opened, as `Recall.close` does."""
        await asyncio.to_thread(self._recall.close)


def open_recall(settings: Settings | None = None) -> Recall:
    """Open the ways out on the stores that the settings (those of the environment) name. Nothing is made.

    Raises:
        CatalogUnavailable: there is no catalog where the settings look for one, or it cannot be used.
        SettingsError, IndexMismatch, IndexUnbuilt: the message says what to do.
    """
    stores = open_stores(settings or load_settings(), makes_catalog=False)
    must_be_built(stores)
    return Recall(stores)
