"""What the catalog promises on Postgres beside the contract: its locks, its refusals and what they mean."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from sqlalchemy import Engine, make_url, text
from sqlalchemy.exc import DBAPIError

from memory.failures import is_outage, is_transient
from schema import Fact
from schema.errors import CatalogOutage, CatalogUnavailable, StaleFence
from schema.settings import Settings
from stores.catalog import Catalog, Changes, open_catalog
from stores.catalog.engine import create_catalog_engine
from stores.catalog.head import HEAD
from stores.catalog.revisions import _MIGRATING, migrate, revision
from tests.conftest import free_port
from tests.contract.catalogs import ANNA, NOW, a_memory, changes
from tests.postgres import PostgresServer


@pytest.fixture
def url(postgres: PostgresServer, postgres_catalog: str) -> str:
    postgres.empty(postgres_catalog)
    return postgres_catalog


@pytest.fixture
def engine(url: str) -> Iterator[Engine]:
    engine = create_catalog_engine(url)
    yield engine
    engine.dispose()


@pytest.fixture
def catalog(engine: Engine) -> Catalog:
    return Catalog(engine)


def raise_fence(fence: int) -> tuple[str, dict[str, str | int]]:
    statement = (
        "INSERT INTO subjects (tenant_id, subject_id, fence, revision, removed)"
        " VALUES (:tenant_id, :subject_id, :fence, 0, 0)"
        " ON CONFLICT (tenant_id, subject_id) DO UPDATE SET fence = excluded.fence"
    )
    return statement, {**ANNA.model_dump(), "fence": fence}


def wait_for_a_lock(engine: Engine) -> None:
    """Until somebody waits for a lock that another holds."""
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as watcher:
        for _ in range(3000):
            waiting = watcher.execute(
                text("SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype IN ('transactionid', 'tuple')")
            ).scalar_one()
            if waiting:
                return
            watcher.execute(text("SELECT pg_sleep(0.01)"))
    raise TimeoutError("nobody waits for a lock")


def test_a_writer_that_waits_for_a_newer_lease_is_refused_when_that_one_commits(
    engine: Engine, catalog: Catalog
) -> None:
    with ThreadPoolExecutor(1) as pool, engine.connect() as newer:
        statement, values = raise_fence(11)
        newer.execute(text(statement), values)
        older = pool.submit(catalog.commit, changes("t1", fence=10))
        wait_for_a_lock(engine)
        newer.commit()
        with pytest.raises(StaleFence):
            older.result(timeout=30)
    assert catalog.list_memories(ANNA) == []


def test_two_erasures_at_once_leave_no_source_to_each_other(engine: Engine, catalog: Catalog) -> None:
    for number in range(10):
        one = a_memory(f"t{number}")
        two = one.model_copy(update={"id": type(one.id)(int=number), "summary": "Anna has a dog."})
        catalog.commit(replace(changes(f"t{number}"), created=(one, two)))
        together = threading.Barrier(2)

        def erase(memory: object, together: threading.Barrier = together) -> None:
            together.wait()
            catalog.commit(Changes(subject=ANNA, at=NOW, deleted=(memory,)))  # type: ignore[arg-type]

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(erase, (one, two)))
        assert catalog.sources(ANNA, [f"t{number}"]) == []


def test_a_deadlock_is_a_failure_that_passes(engine: Engine, catalog: Catalog) -> None:
    for turn in ("t1", "t2"):
        catalog.commit(changes(turn))
    first, second = (a_memory(turn).id for turn in ("t1", "t2"))
    touch = text("UPDATE memories SET version = version WHERE id = :id")
    with ThreadPoolExecutor(1) as pool, engine.connect() as one, engine.connect() as two:
        one.execute(touch, {"id": first})
        two.execute(touch, {"id": second})
        waiting = pool.submit(one.execute, touch, {"id": second})
        wait_for_a_lock(engine)
        errors: list[BaseException] = []
        try:
            two.execute(touch, {"id": first})
        except CatalogOutage as error:
            errors.append(error)
        two.rollback()
        if failed := waiting.exception(timeout=30):
            errors.append(failed)
    assert len(errors) == 1
    assert is_outage(errors[0])


@pytest.mark.parametrize(
    "trouble",
    [
        "SET statement_timeout = 10; SELECT pg_sleep(5)",
        "SELECT pg_terminate_backend(pg_backend_pid())",
        "SET TRANSACTION READ ONLY; DELETE FROM outbox",
    ],
    ids=["a query that takes too long", "a server that restarts", "a server that became a replica"],
)
def test_a_trouble_of_the_server_passes(engine: Engine, trouble: str) -> None:
    statements = trouble.split("; ")
    with pytest.raises(CatalogOutage), engine.connect() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)


def test_what_will_never_work_is_no_outage(engine: Engine) -> None:
    with pytest.raises(DBAPIError) as failure, engine.connect() as connection:
        connection.exec_driver_sql("SELECT nothing of what SQL knows")
    assert not is_transient(failure.value)


def test_a_connection_that_the_server_closed_is_replaced_unseen(engine: Engine, catalog: Catalog) -> None:
    catalog.commit(changes())
    with engine.connect() as connection:
        others = "pid <> pg_backend_pid() AND datname = current_database()"
        connection.exec_driver_sql(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {others}")
    assert catalog.list_memories(ANNA) == [a_memory()]


def test_an_entity_whose_letters_become_two_in_lower_case_is_kept_and_found(catalog: Catalog) -> None:
    street = "ß" * 200
    memory = a_memory().model_copy(update={"facts": (Fact(entity=street, verb="is", object="x", attribute="length"),)})
    catalog.commit(replace(changes(), created=(memory,)))
    assert catalog.facts.with_attributes(ANNA, [(street, "length")]) == [memory]


def test_a_row_that_is_refused_is_not_quoted(engine: Engine) -> None:
    with pytest.raises(DBAPIError, match="null value in column") as failure, engine.connect() as connection:
        connection.execute(text("INSERT INTO subjects VALUES (:one, :two, NULL)"), {"one": "my secret", "two": "is"})
    assert "secret" not in str(failure.value)
    assert "secret" not in str(failure.value.orig)


def test_processes_that_migrate_at_once_all_find_the_tables(postgres: PostgresServer) -> None:
    url = postgres.database()
    engines = [create_catalog_engine(url) for _ in range(3)]
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(migrate, engines))
    assert revision(engines[0]) is not None
    for engine in engines:
        engine.dispose()
    postgres.drop(url)


def test_who_migrates_waits_for_another_longer_than_a_statement_of_a_worker_may_take(postgres: PostgresServer) -> None:
    url = postgres.database()
    hasty = create_catalog_engine(f"{url}?options=-c%20statement_timeout%3D200ms%20-c%20lock_timeout%3D200ms")
    other = create_catalog_engine(url)
    with ThreadPoolExecutor(1) as pool, other.connect() as migrating:
        migrating.execute(text("SELECT pg_advisory_xact_lock(:migrating)"), {"migrating": _MIGRATING})
        waiting = pool.submit(migrate, hasty)
        migrating.execute(text("SELECT pg_sleep(1)"))
        migrating.rollback()
        waiting.result()
    assert revision(hasty) == HEAD
    for engine in (hasty, other):
        engine.dispose()
    postgres.drop(url)


def test_a_table_that_a_backup_holds_ends_a_migration_which_says_so_and_changed_nothing(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stores.catalog.revisions.LOCK_SECONDS", 1)
    url = postgres.database()
    engine = create_catalog_engine(url)
    migrate(engine, "0020")
    with engine.connect() as backup:
        backup.execute(text("LOCK TABLE api_keys IN ACCESS SHARE MODE"))
        with pytest.raises(CatalogOutage, match="lock timeout; another session holds it, such as a backup"):
            migrate(engine)
    assert revision(engine) == "0020"
    migrate(engine)
    assert revision(engine) == HEAD
    engine.dispose()
    postgres.drop(url)


# -- what a wrong URL says ------------------------------------------------------------------------------------------


def refusal(url: str) -> str:
    with pytest.raises((CatalogUnavailable, CatalogOutage)) as refused:
        open_catalog(Settings(catalog_url=url))
    return str(refused.value)


def test_a_database_without_tables_names_the_command(postgres: PostgresServer) -> None:
    url = postgres.database()
    assert "afterturn migrate" in refusal(url)
    postgres.drop(url)


def test_a_database_that_is_not_there_is_named_without_the_password(postgres: PostgresServer) -> None:
    url = postgres.url.set(database="nowhere", password="hush").render_as_string(hide_password=False)
    said = refusal(url)
    assert "createdb" in said
    assert "nowhere" in said
    assert "hush" not in said


def test_a_server_that_does_not_answer_is_named(postgres: PostgresServer) -> None:
    said = refusal(postgres.url.set(port=free_port()).render_as_string())
    assert "is the server up" in said
    assert make_url(str(postgres.url)).host in said  # type: ignore[operator]


@pytest.mark.parametrize("url", ["mysql://db/afterturn", "postgresql+asyncpg://db/afterturn", "not a url"])
def test_another_database_is_refused_with_what_to_write(url: str) -> None:
    assert "postgresql+psycopg://" in refusal(url)


def test_a_missing_driver_names_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    assert "pip install 'afterturn[postgres]'" in refusal("postgresql://db/afterturn")
