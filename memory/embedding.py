"""The embedder as all work uses it: each call is counted and timed by what it is for, and is a span."""

from __future__ import annotations

import time
from collections.abc import Sequence

from memory.metrics import count_embedding
from memory.spending import current_spending
from memory.tracing import span
from schema.settings import Settings
from stores.embedding.base import AroundEmbedder, Billed, Embedder, Vectors


class CountedEmbedder(AroundEmbedder):
    """An embedder whose calls are counted; `price` is what a million of its tokens cost."""

    def __init__(self, embedder: Embedder, price: float = 0.0) -> None:
        super().__init__(embedder)
        self._billed = embedder if isinstance(embedder, Billed) else None
        self._price = price

    def embed(self, texts: Sequence[str]) -> Vectors:
        tokens: int | None = None
        began = time.perf_counter()
        try:
            purpose = current_spending().purpose
            with span("embedding", {"afterturn.kind": purpose, "afterturn.texts": len(texts)}):
                # Nobody is paid for what runs here.
                vectors, billed = self._billed.embed_billed(texts) if self._billed else (self._embedder.embed(texts), 0)
            tokens = billed
        finally:
            count_embedding(len(texts), time.perf_counter() - began, tokens, self._price)
        return vectors


def counted(embedder: Embedder, settings: Settings) -> CountedEmbedder:
    """Return an embedder whose calls are counted, at the price that the settings name."""
    return CountedEmbedder(embedder, settings.embedder_price)
