"""What the index in Postgres promises beside the contract: it writes in the catalog's transactions, and large subjects
have a graph of their own."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count
from typing import Any

import numpy as np
import pytest
from sqlalchemy import Connection, Engine, make_url, text

from schema import Status, Subject
from schema.errors import CatalogUnavailable, ConcurrentChange
from stores.catalog import Catalog, Changes
from stores.catalog.engine import create_catalog_engine
from stores.index.base import Entry, TransactionalIndex, Where
from stores.index.pgvector import PgvectorIndex
from tests.contract.catalogs import ANNA, NOW, a_memory, changes
from tests.contract.indexes import ANA, BEN, DIMENSIONS, MODEL, entry, numbers, unit, units
from tests.contract.pipeline import Worker, only
from tests.postgres import PostgresServer
from tests.turns import subject

_names = count()


@pytest.fixture
def engine(postgres: PostgresServer, postgres_catalog: str) -> Iterator[Engine]:
    postgres.empty(postgres_catalog)
    engine = create_catalog_engine(postgres_catalog)
    yield engine
    engine.dispose()


def made(engine: Engine, hnsw_from: int = 200) -> PgvectorIndex:
    index = PgvectorIndex(engine, f"own{next(_names)}", hnsw_from=hnsw_from)
    index.ensure(DIMENSIONS, "cosine", MODEL)
    return index


class Breaking:
    """An index whose write breaks off."""

    def write_in_transaction(
        self, connection: Connection, entries: Sequence[Entry], gone: Sequence[tuple[Subject, uuid.UUID]]
    ) -> None:
        raise ConnectionError("broken off")


# -- one transaction ------------------------------------------------------------------------------------------------


def test_a_memory_and_its_vector_are_written_together_and_leave_no_job(engine: Engine) -> None:
    index = made(engine)
    catalog = Catalog(engine, index)
    memory = a_memory()

    catalog.commit(changes(), {memory.id: unit(1)})

    assert [hit.memory_id for hit in index.query(unit(1), Where(ANNA), 5)] == [memory.id]
    assert catalog.index_jobs() == []

    catalog.commit(Changes(subject=ANNA, at=NOW, deleted=(memory,)))
    assert index.count() == 0
    assert catalog.index_jobs() == []


def test_vectors_that_are_ahead_of_a_restored_catalog_are_as_its_next_transaction_says(engine: Engine) -> None:
    index = made(engine)
    memory = a_memory()
    ahead = memory.model_copy(update={"version": memory.version + 4, "status": Status.ARCHIVED})
    index.upsert([Entry.of(ahead, unit(1))])

    Catalog(engine, index).commit(changes(), {memory.id: unit(1)})

    [stored] = index.fetch(ANNA, [memory.index_key])
    assert (stored.status, stored.version) == (memory.status, memory.version)


def test_a_table_that_an_older_afterturn_made_is_read_and_written(engine: Engine) -> None:
    index = made(engine)
    index.upsert([entry(number=1)])
    with engine.begin() as connection:
        connection.execute(text(f'ALTER TABLE "{index.table}" DROP COLUMN version'))

    index.ensure(DIMENSIONS, "cosine", MODEL)

    assert [hit.version for hit in index.query(unit(1), Where(ANA), 5)] == [0]
    index.upsert([replace(entry(number=1), version=2)])
    assert [hit.version for hit in index.query(unit(1), Where(ANA), 5)] == [2]


def test_a_memory_without_its_vector_leaves_a_job(engine: Engine) -> None:
    catalog = Catalog(engine, made(engine))
    catalog.commit(changes())
    assert [job.action for job in catalog.index_jobs()] == ["upsert"]


@pytest.mark.parametrize("breaking", ["the index", "the catalog"])
def test_when_one_fails_neither_is_written(engine: Engine, breaking: str) -> None:
    index = made(engine)
    memory = a_memory()
    transactional_index: TransactionalIndex = Breaking() if breaking == "the index" else index
    stale = replace(changes("t2"), updated=(memory.model_copy(update={"version": 9}),))

    with pytest.raises((ConnectionError, ConcurrentChange)):
        Catalog(engine, transactional_index).commit(
            stale if breaking == "the catalog" else changes(), {memory.id: unit(1)}
        )

    assert Catalog(engine).list_memories(ANNA) == []
    assert index.count() == 0


@pytest.mark.parametrize("worker", ["postgres"], indirect=True, scope="module")
def test_a_worker_that_dies_behind_the_commit_leaves_a_memory_that_is_found(
    worker: Worker, anna: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: Any) -> None:
        raise ConnectionError("gone")

    monkeypatch.setattr("memory.publish._announce", die)
    worker.hear(anna, "I live in Lisbon.")

    memory = only(worker.known(subject(anna)))
    assert [hit.memory_id for hit in worker.hits(subject(anna), "Lisbon")] == [memory.id]
    assert worker.rows("index_jobs", subject(anna)) == []


# -- large subjects -------------------------------------------------------------------------------------------------


def test_a_large_subject_is_searched_by_a_graph_of_its_own(engine: Engine) -> None:
    index = made(engine)
    odd = Subject(tenant_id="o'hara %s", subject_id='zoë "漢" \\ ;--')
    vectors = units(600)
    index.upsert([entry(odd, vector, number) for number, vector in enumerate(vectors)])
    index.upsert([entry(BEN, vector, number) for number, vector in enumerate(vectors[:50])])

    assert list(index.optimize()) == [("build", odd)]
    assert list(index.optimize()) == []

    with engine.connect() as connection:
        graphs = connection.exec_driver_sql("SELECT indexdef FROM pg_indexes WHERE indexdef LIKE '%%USING hnsw%%'")
        [graph] = [row.indexdef for row in graphs if index.table in row.indexdef]
    assert "m='16'" in graph
    assert "ef_construction='64'" in graph
    found = {number for query in units(20, seed=3) for number in _agreement(index, odd, vectors, query)}
    assert found == {True}
    assert numbers(index.query(vectors[7], Where(BEN), 1)) == [7]


def _agreement(index: PgvectorIndex, whose: Subject, vectors: Any, query: Any) -> list[bool]:
    exact = set(np.argsort(-(vectors @ query))[:10].tolist())
    return [len(exact & set(numbers(index.query(query, Where(whose), 10)))) >= 9]


def test_a_filter_that_few_pass_leaves_a_graphs_answer_no_shorter(engine: Engine) -> None:
    index = made(engine)
    rare = {3, 77, 411}
    index.upsert(
        [
            replace(entry(ANA, vector, number), tags=("rare",) if number in rare else ())
            for number, vector in enumerate(units(500))
        ]
    )
    list(index.optimize())
    assert set(numbers(index.query(unit(1), Where(ANA, tags=("rare",)), 10))) == rare
    assert len(index.query(unit(1), Where(ANA), 500)) == 500


def test_a_subject_that_shrank_loses_its_graph_and_is_still_searched(engine: Engine) -> None:
    index = made(engine)
    index.upsert([entry(ANA, vector, number) for number, vector in enumerate(units(300))])
    list(index.optimize())
    index.delete(ANA, [uuid.UUID(int=number) for number in range(250)])
    assert len(index.query(unit(1), Where(ANA), 100)) == 50
    assert list(index.optimize()) == [("drop", ANA)]
    assert len(index.query(unit(1), Where(ANA), 100)) == 50


# -- what it cannot work with -----------------------------------------------------------------------------------------


def test_a_character_that_postgres_cannot_hold_is_left_out(engine: Engine) -> None:
    index = made(engine)
    index.upsert([replace(entry(ANA, number=1), tags=("a\0b",), category="x\0")])
    assert numbers(index.query(unit(1), Where(ANA, tags=("a\0b",), categories=("x\0",)), 1)) == [1]


def test_a_user_who_may_not_make_the_extension_is_told_what_to_run(postgres: PostgresServer) -> None:
    url = postgres.database()
    admin = create_catalog_engine(url)
    with admin.begin() as connection:
        connection.exec_driver_sql("DROP ROLE IF EXISTS newcomer")
        connection.exec_driver_sql("CREATE ROLE newcomer LOGIN")
    admin.dispose()
    engine = create_catalog_engine(make_url(url).set(username="newcomer").render_as_string(hide_password=False))
    with pytest.raises(CatalogUnavailable, match="CREATE EXTENSION vector"):
        PgvectorIndex(engine).ensure(DIMENSIONS, "cosine", MODEL)
    engine.dispose()
    postgres.drop(url)
