"""Which texts of a batch are likely planted orders: their words tell of most, and the embedder is asked of the rest."""

from __future__ import annotations

from collections.abc import Iterable

from policies.privacy import planted, planted_head
from stores.embedding.base import Embedder


def likely_planted(texts: Iterable[str], embedder: Embedder) -> frozenset[str]:
    """Return those of the texts that the head finds planted.

    Only the embedder that the head has learned from is asked: it runs in this process, and what a text has of secrets
    goes nowhere. With another one words and concepts alone decide.

    Raises:
        EmbedderUnavailable: the embedder cannot be asked now.
    """
    different = dict.fromkeys(texts)
    if embedder.name != planted_head.EMBEDDER:
        return frozenset(filter(planted.is_likely, different))
    unsure = list(filter(planted.may_be, different))
    vectors = embedder.embed([planted.as_read(text) for text in unsure]) if unsure else ()
    return frozenset(text for text, vector in zip(unsure, vectors, strict=True) if planted.is_likely(text, vector))
