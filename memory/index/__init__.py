"""Where vectors are searched."""

from __future__ import annotations

from memory.embedding.base import Embedder
from memory.index.base import Entry, Hit, Index, IndexMismatch, Where
from memory.index.shard import IndexUnavailable
from memory.settings import Settings

__all__ = ["Entry", "Hit", "Index", "IndexMismatch", "IndexUnavailable", "Where", "open_index"]


def open_index(settings: Settings, embedder: Embedder) -> Index:
    """The index that the settings name, ready for this embedder's vectors.

    Raises:
        IndexMismatch: it holds another embedder's vectors; the message says what to do.
        IndexUnavailable: it cannot be read or written; the message says what to do.
    """
    match settings.index:
        case "sqlite":
            from memory.index.sqlite import SqliteIndex

            index = SqliteIndex(settings.data_dir / "index")
            index.ensure(embedder.dimensions, "cosine", embedder.name)
            return index
