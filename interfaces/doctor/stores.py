"""Check the stores: embedder, catalog, index, graph, and whether they agree."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from interfaces.doctor.agreement import check_versions
from interfaces.doctor.models import check_embedder
from interfaces.fleet_checks import check_erasures
from interfaces.fleet_report import FleetReport, read_erasures
from memory.agreement import count_entries
from memory.reindex import catch_up, must_be_built, target_of
from schema import Policy
from schema.errors import (
    CatalogOutage,
    CatalogUnavailable,
    IndexMismatch,
    IndexUnavailable,
    IndexUnbuilt,
    MoveRefused,
    OperatorError,
)
from schema.health import HealthCheck, HealthStatus, failed, fine, skipped, warning
from schema.settings import Settings
from stores.accesses import Accesses
from stores.catalog import Catalog, open_catalog_engine
from stores.catalog.engine import create_catalog_engine
from stores.catalog.health import check_catalog
from stores.embedding.base import Embedder
from stores.graph import RebuildableGraph, SqlGraph, open_graph
from stores.index import HealthCheckedIndex, OptimizableIndex, open_index
from stores.index.base import BESIDE, Family
from stores.open import Stores, open_beside

_REINDEX = "run `afterturn reindex` with these settings"


def check_stores(settings: Settings, *, optimizes: bool, makes_catalog: bool = True) -> Iterator[HealthCheck]:
    """Check what memories are held in; with `optimizes`, graphs of large users are built first, and the index
    is told what a move to it left behind and again of what it has otherwise than the catalog. An embedded catalog that
    is not there is made, if `makes_catalog`."""
    embedder, checks = check_embedder(settings)
    yield from checks
    no_index = skipped("index", f"not looked at: the {'catalog' if embedder else 'embedder'} must work first")
    engine = _opened(settings, makes_catalog=makes_catalog)
    if isinstance(engine, HealthCheck):
        yield from (engine, no_index)
        return
    with closing(Catalog(engine)) as catalog:
        checks = list(check_catalog(engine, settings.worker_slots))
        yield from checks
        if any(check.status is HealthStatus.FAILED for check in checks):
            yield no_index
            return
        if embedder is None:
            yield no_index
        else:
            yield from _index(settings, embedder, engine, catalog, optimizes=optimizes)
        yield from _graph(settings, engine)
        yield from check_erasures(FleetReport(settings.broker_shown, **read_erasures(catalog)))


def _opened(settings: Settings, *, makes_catalog: bool) -> Engine | HealthCheck:
    """Return the catalog's database, or why it cannot be opened."""
    try:
        if settings.catalog_url is None:
            open_catalog_engine(settings, makes_catalog=makes_catalog).dispose()
        return create_catalog_engine(settings.effective_catalog_url, settings.worker_slots)
    except CatalogUnavailable as error:
        return failed("catalog", "cannot be used", str(error))
    except (CatalogOutage, SQLAlchemyError) as error:
        hint = "who else is writing to it? A damaged file: restore it from a backup"
        return failed("catalog", f"cannot be opened ({type(error).__name__})", hint)


def _index(
    settings: Settings, embedder: Embedder, engine: Engine, catalog: Catalog, *, optimizes: bool
) -> Iterator[HealthCheck]:
    try:
        index = open_index(settings, embedder, engine)
    except IndexMismatch as error:
        yield failed("index", "made for another embedder", str(error))
        return
    except (OperatorError, CatalogOutage, IndexUnavailable) as error:
        yield failed("index", "cannot be used", str(error))
        return
    with closing(index):
        stores = Stores(
            settings=settings,
            policy=Policy(),
            catalog=catalog,
            index=index,
            graph=SqlGraph(engine),
            embedder=embedder,
            accesses=Accesses(catalog),
            beside=open_beside(settings, embedder, engine),
        )
        yield fine("index", f"{target_of(stores)}, for {embedder.name}, {embedder.dimensions} numbers, cosine")
        if optimizes and isinstance(index, OptimizableIndex):
            yield _optimized(index)
        try:
            if isinstance(index, HealthCheckedIndex):
                yield from index.check_health()
            if optimizes:
                yield from _caught_up(stores)
            yield from check_agreement(stores)
            yield from check_versions(stores, optimizes=optimizes)
        except IndexUnavailable as error:
            yield failed("index", "cannot be read", str(error))


def _optimized(index: OptimizableIndex) -> HealthCheck:
    done = [action for action, _ in index.optimize()]
    return fine("HNSW optimized", f"{done.count('build')} graphs built, {done.count('drop')} dropped")


def _caught_up(stores: Stores) -> Iterator[HealthCheck]:
    """Tell the index what the log of a move to it still has: whoever ended the move may have been killed after it had
    told what was no longer so, also of users who are erased by now."""
    jobs, target = stores.catalog.reindex_jobs, target_of(stores)
    job = jobs.of(target)
    if job is None or job.finished_at is None or not jobs.behind():
        return
    try:
        with jobs.alone():
            yield fine("move caught up", f"{catch_up(stores)} late writes told to {target}")
    except MoveRefused as error:
        yield skipped("move caught up", str(error))


def check_agreement(stores: Stores) -> Iterator[HealthCheck]:
    """Check whether the index has what the catalog has, and whether a move is under way."""
    try:
        must_be_built(stores)
    except IndexUnbuilt as error:
        yield failed("index contents", "not all memories are in it", str(error))
        return
    counts = count_entries(stores)
    if counts.missing > 0:
        state = f"{counts.entries} of {counts.rows} memories, and {counts.waiting} wait to be told"
        yield failed("index contents", state, _REINDEX)
    elif counts.surplus > 0:
        hint = (
            "start with a new AFTERTURN_INDEX_NAME and run `afterturn reindex`; searches ask the catalog, and are right"
        )
        yield warning("index contents", f"{counts.entries} vectors of {counts.rows} memories", hint)
    else:
        state = f"{counts.entries} vectors of {counts.rows} memories, {counts.waiting} wait to be told"
        yield fine("index contents", state)
    for family in BESIDE:
        yield from _beside(family, stores)
    yield from _documents(stores)
    for move in stores.catalog.reindex_jobs.under_way():
        behind = stores.catalog.reindex_jobs.behind()
        if move.finished_at is None:
            hint = "it goes on where it was: `afterturn reindex` with the settings of that index"
            yield warning("move", f"to {move.index} since {move.began_at:%Y-%m-%d}, {move.done} memories so far", hint)
        else:
            hint = "when no worker has the old settings any more: `afterturn reindex --finish`"
            yield warning("move", f"to {move.index}: all is there, {behind} late writes wait", hint)


def _beside(family: Family, stores: Stores) -> Iterator[HealthCheck]:
    """Check whether the index of a family has what the catalog has of it; one that nothing was written to is not made
    for that."""
    if not stores.catalog.families.count(family):
        return
    counts = count_entries(stores, family)
    state = f"{counts.entries} vectors of {counts.rows}"
    if max(counts.missing, counts.surplus) > 0:
        yield failed(f"index of {family}", state, _REINDEX)
    else:
        yield fine(f"index of {family}", state)


def _documents(stores: Stores) -> Iterator[HealthCheck]:
    """Say how many documents there are."""
    counts = stores.catalog.documents.counts()
    if counts.documents:
        yield fine("documents", f"{counts.documents}, {counts.waiting} of them not searchable")


def _graph(settings: Settings, engine: Engine) -> Iterator[HealthCheck]:
    if settings.graph == "sql":
        yield fine("graph", "in the catalog's tables")
        return
    try:
        graph = open_graph(settings, engine)
        if isinstance(graph, RebuildableGraph):
            yield from graph.check_health()
    except (CatalogUnavailable, CatalogOutage) as error:
        yield failed("graph", "cannot be used", str(error))
