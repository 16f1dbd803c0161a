"""The embedder and the index behind circuit breakers, for the fleet: a part that is down is not asked by every turn."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

from schema import Subject
from stores.breaker import CircuitBreaker
from stores.embedding.base import AroundEmbedder, Embedder, Vectors
from stores.index.base import Entry, Hit, Index, Metric, Vector, Where


class GuardedEmbedder(AroundEmbedder):
    """An embedder that is not asked while its breaker is open."""

    def __init__(self, embedder: Embedder, breaker: CircuitBreaker) -> None:
        super().__init__(embedder)
        self._breaker = breaker

    def embed(self, texts: Sequence[str]) -> Vectors:
        return self._breaker.call(self._embedder.embed, texts)


class GuardedIndex:
    """An index that is not asked while its breaker is open."""

    def __init__(self, index: Index, breaker: CircuitBreaker) -> None:
        self._index = index
        self._breaker = breaker

    def ensure(self, dimensions: int, metric: Metric, model: str) -> None:
        self._breaker.call(self._index.ensure, dimensions, metric, model)

    def upsert(self, entries: Sequence[Entry]) -> list[Entry]:
        return self._breaker.call(self._index.upsert, entries)

    def query(self, vector: Vector, where: Where, limit: int) -> list[Hit]:
        return self._breaker.call(self._index.query, vector, where, limit)

    def fetch(self, subject: Subject, keys: Sequence[uuid.UUID]) -> list[Entry]:
        return self._breaker.call(self._index.fetch, subject, keys)

    def versions(self, subject: Subject, keys: Sequence[uuid.UUID]) -> dict[uuid.UUID, int]:
        return self._breaker.call(self._index.versions, subject, keys)

    def delete(self, subject: Subject, keys: Sequence[uuid.UUID]) -> None:
        self._breaker.call(self._index.delete, subject, keys)

    def count(self) -> int:
        return self._breaker.call(self._index.count)

    def close(self) -> None:
        self._index.close()
