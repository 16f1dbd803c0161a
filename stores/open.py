"""The stores that every way in and out works with, opened once a process."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial

from sqlalchemy import Engine

from schema import Policy, Thresholds
from schema.errors import SettingsError
from schema.settings import Settings, load_policy, variable_of
from stores.accesses import Accesses
from stores.catalog import Catalog, open_catalog_engine
from stores.embedding import open_embedder
from stores.embedding.base import Embedder
from stores.fulltext import FullText
from stores.graph import Graph, open_graph
from stores.index import TransactionalIndex, open_index
from stores.index.base import BESIDE, Family, Index
from stores.index.lazy import LazyIndex, LazyTransactionalIndex


@dataclass(frozen=True)
class Stores:
    """Stores that hold memories, and their rules. Every part may be used from many threads."""

    settings: Settings
    policy: Policy
    """On the embedder's scale."""
    catalog: Catalog
    index: Index
    graph: Graph
    embedder: Embedder
    accesses: Accesses
    beside: Mapping[Family, Index]
    """Where the vectors of the other families lie; each is made with its first use."""

    @property
    def chunks(self) -> Index:
        """Return the index of the vectors of documents' parts."""
        return self.beside[Family.CHUNKS]

    def index_of(self, family: Family) -> Index:
        """Return where the vectors of a family lie."""
        return self.index if family is Family.MEMORIES else self.beside[family]

    @cached_property
    def fulltext(self) -> FullText:
        """Return what finds memories by their words; made at the first search, and always of this catalog."""
        return FullText(self.catalog.summaries)

    @cached_property
    def chunk_words(self) -> FullText:
        """Return what finds chunks of documents by their words, as `fulltext` finds memories."""
        return FullText(self.catalog.documents.words)

    def close(self) -> None:
        self.accesses.close()
        self.index.close()
        for index in self.beside.values():
            index.close()
        self.catalog.close()


def open_stores(
    settings: Settings, watched: Callable[[Embedder, Settings], Embedder], *, makes_catalog: bool = True
) -> Stores:
    """Open all stores that the settings name, the embedder as `watched` by whoever counts its calls; an embedded
    catalog that is not there is made, if `makes_catalog`.

    Raises:
        SettingsError: a policy constant cannot work.
        CatalogUnavailable, IndexMismatch: a store cannot be used as it is; the message says
            what to do.
    """
    embedder = watched(open_embedder(settings), settings)
    policy = policy_on_scale_of(embedder)
    engine = open_catalog_engine(settings, makes_catalog=makes_catalog)
    index = open_index(settings, embedder, engine)
    graph = open_graph(settings, engine)
    beside = open_beside(settings, embedder, engine)
    catalog = Catalog(
        engine,
        index if isinstance(index, TransactionalIndex) else None,
        graph,
        transactional_beside={
            family: beside_index
            for family, beside_index in beside.items()
            if isinstance(beside_index, TransactionalIndex)
        },
    )
    return Stores(
        settings=settings,
        policy=policy,
        catalog=catalog,
        index=index,
        graph=graph,
        embedder=embedder,
        accesses=Accesses(catalog),
        beside=beside,
    )


def open_beside(settings: Settings, embedder: Embedder, engine: Engine | None = None) -> dict[Family, LazyIndex]:
    """Return where the vectors of the families beside the memories lie, each opened at its first use."""
    kind = LazyTransactionalIndex if settings.index == "pgvector" else LazyIndex
    return {family: kind(partial(open_index, settings, embedder, engine, family)) for family in BESIDE}


def policy_on_scale_of(embedder: Embedder) -> Policy:
    """Return the policy constants, with dedup's thresholds on this embedder's scale: those set by hand, then its own.

    Raises:
        SettingsError: a constant cannot work, or nobody has measured this embedder's thresholds and not all are set.
    """
    policy = load_policy()
    thresholds = embedder.thresholds
    if thresholds is None:
        needed = [name for name, field in Thresholds.model_fields.items() if field.is_required()]
        missing = [variable_of(name) for name in needed if name not in policy.model_fields_set]
        if missing:
            raise SettingsError(
                f"{', '.join(missing)}: the embedder {embedder.name} has no measured thresholds; measure them "
                "(`python -m benchmarks.calibrate`, see docs/how-to/choose-a-model.md) and set all four"
            )
        thresholds = Thresholds.model_validate({name: getattr(policy, name) for name in Thresholds.model_fields})
    try:
        return policy.on_scale_of(thresholds)
    except ValueError as error:
        raise SettingsError(str(error)) from error
