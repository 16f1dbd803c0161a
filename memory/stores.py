"""The stores that every way in and out works with, opened once a process."""

from __future__ import annotations

from dataclasses import dataclass

from memory.accesses import Accesses
from memory.catalog import Catalog, open_catalog_engine
from memory.embedding import open_embedder
from memory.embedding.base import Embedder
from memory.index import RidingIndex, open_index
from memory.index.base import Index
from memory.schema import Policy
from memory.settings import Settings, SettingsError, load_policy


@dataclass(frozen=True)
class Stores:
    """Where memories are held, and by which rules. Every part may be used from many threads."""

    settings: Settings
    policy: Policy
    """On the embedder's scale."""
    catalog: Catalog
    index: Index
    embedder: Embedder
    accesses: Accesses

    def close(self) -> None:
        self.accesses.close()
        self.index.close()
        self.catalog.close()


def open_stores(settings: Settings) -> Stores:
    """Open all stores that the settings name.

    Raises:
        SettingsError: a policy constant cannot work.
        CatalogUnavailable, IndexMismatch, PostgresUnavailable: a store cannot be used as it is; the message says
            what to do.
    """
    embedder = open_embedder(settings)
    try:
        policy = load_policy().on_scale_of(embedder.thresholds)
    except ValueError as error:
        raise SettingsError(str(error)) from error
    engine = open_catalog_engine(settings)
    index = open_index(settings, embedder, engine)
    catalog = Catalog(engine, index if isinstance(index, RidingIndex) else None)
    return Stores(
        settings=settings,
        policy=policy,
        catalog=catalog,
        index=index,
        embedder=embedder,
        accesses=Accesses(catalog),
    )
