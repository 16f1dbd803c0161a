"""The embedder as all work uses it: each call is counted and timed by what it is for, and is a span."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from memory.metrics import Purpose, count_embedding
from memory.tracing import span
from schema import Thresholds
from stores.embedding.base import Embedder, Reading, Vectors, reading_of

_purpose: ContextVar[Purpose] = ContextVar("purpose", default="change")


@contextmanager
def embedding_for(purpose: Purpose) -> Iterator[None]:
    """Have what the block embeds counted as for this purpose; what nobody gives one changes memories."""
    token = _purpose.set(purpose)
    try:
        yield
    finally:
        _purpose.reset(token)


class CountedEmbedder:
    """An embedder whose calls are counted."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    @property
    def name(self) -> str:
        return self._embedder.name

    @property
    def dimensions(self) -> int:
        return self._embedder.dimensions

    @property
    def thresholds(self) -> Thresholds | None:
        return self._embedder.thresholds

    @property
    def reading(self) -> Reading:
        return reading_of(self._embedder)

    def embed(self, texts: Sequence[str]) -> Vectors:
        purpose = _purpose.get()
        answered = False
        began = time.perf_counter()
        try:
            with span("embedding", {"afterturn.kind": purpose, "afterturn.texts": len(texts)}):
                vectors = self._embedder.embed(texts)
            answered = True
        finally:
            count_embedding(purpose, len(texts), time.perf_counter() - began, answered=answered)
        return vectors
