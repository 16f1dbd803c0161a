"""Copies of the catalog as it is at one moment, made while others write, and put where there is none."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

from sqlalchemy import URL, Engine, inspect, select, text

import stores.catalog.tables as tables
from schema import AuditAction, Scope
from schema.backup import CatalogKind, ErasureLine
from schema.errors import BackupRefused
from stores.catalog.engine import BUSY_SECONDS, file_has_tables, make_file
from stores.catalog.item_tables import deleted_items
from stores.postgres import is_postgres

CATALOG_FILES = {CatalogKind.SQLITE: "catalog.sqlite3", CatalogKind.POSTGRES: "catalog.dump"}
_BINARY = {"pg_dump": "of the server's version or newer", "pg_restore": "of the version that wrote the backup or newer"}


def kind_of(engine: Engine) -> CatalogKind:
    """Return the kind of database that the catalog lies in."""
    return CatalogKind.POSTGRES if is_postgres(engine.url) else CatalogKind.SQLITE


def copy_catalog(engine: Engine, folder: Path) -> Path:
    """Write a copy of the catalog, as it is at one moment, to a file in the folder that only this account reads.

    Raises:
        BackupRefused: the program that copies a Postgres is missing, or failed.
    """
    target = folder / CATALOG_FILES[kind_of(engine)]
    os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    if kind_of(engine) is CatalogKind.SQLITE:
        _copy_sqlite(Path(engine.url.database or ""), target)
    else:
        with closing(engine.connect()) as connection:
            schema = connection.execute(text("SELECT current_schema()")).scalar_one()
        # A graph of AGE lies in a schema of its own; it is built anew from the catalog.
        _run(
            "pg_dump",
            ["--format=custom", "--no-owner", "--no-privileges", f"--schema={schema}", f"--file={target}"],
            engine.url,
        )
    return target


def is_there(engine: Engine) -> bool:
    """Return whether the database has tables of a catalog already. A file that is not there is not made."""
    if kind_of(engine) is CatalogKind.SQLITE and not file_has_tables(Path(engine.url.database or "")):
        return False
    return inspect(engine).has_table("alembic_version") or inspect(engine).has_table(tables.memories.name)


def put_catalog(source: Path, engine: Engine) -> None:
    """Make the catalog of a copy, in a database that has none.

    Raises:
        BackupRefused: the program that fills a Postgres is missing, or failed; nothing was written.
    """
    if kind_of(engine) is CatalogKind.SQLITE:
        engine.dispose()
        target = Path(engine.url.database or "")
        make_file(target)
        with (
            closing(sqlite3.connect(source)) as copy,
            closing(sqlite3.connect(target, timeout=BUSY_SECONDS)) as catalog,
        ):
            copy.backup(catalog)
        target.chmod(0o600)
        return
    with engine.begin() as connection:
        if _needs_pgvector(source, engine.url):
            connection.execute(text("CREATE EXTENSION IF NOT EXISTS vector"))
        schema = connection.execute(text("SELECT current_schema()")).scalar_one()
    arguments = ["--no-owner", "--no-privileges", "--exit-on-error", "--single-transaction", f"--schema={schema}"]
    _run("pg_restore", [*arguments, str(source)], engine.url)


def erasures_in(engine: Engine) -> Iterator[ErasureLine]:
    """Yield what was erased, as far as the catalog knows: tombstones, single memories and documents by the audit, and
    items of the store."""
    stones, audit = tables.tombstones, tables.audit
    single = select(audit.c.tenant_id, audit.c.subject_id, audit.c.memory_id, audit.c.document_id, audit.c.at).where(
        ((audit.c.action == AuditAction.DELETED) & audit.c.memory_id.is_not(None))
        | ((audit.c.action == AuditAction.DOCUMENT_DELETED) & audit.c.document_id.is_not(None))
    )
    with engine.connect() as connection:
        for row in connection.execute(select(stones)):
            yield ErasureLine(
                tenant_id=row.tenant_id, subject_id=row.subject_id, scope=Scope(row.scope), key=row.key, at=row.at
            )
        for row in connection.execute(single.order_by(audit.c.id)):
            yield ErasureLine(
                tenant_id=row.tenant_id,
                subject_id=row.subject_id,
                memory_id=row.memory_id,
                document_id=row.document_id,
                at=row.at,
            )
        for row in connection.execute(select(deleted_items)):
            yield ErasureLine(tenant_id=row.tenant_id, subject_id=row.subject_id, item_id=row.id, at=row.at)


def _copy_sqlite(source: Path, target: Path) -> None:
    """Copy by SQLite's own backup, all pages in one read transaction: writers go on, and none makes it begin anew."""
    with closing(sqlite3.connect(source, timeout=BUSY_SECONDS)) as catalog, closing(sqlite3.connect(target)) as copy:
        catalog.backup(copy, pages=-1)
        # One file, with no log beside it.
        copy.execute("PRAGMA journal_mode=DELETE")
        [[verdict]] = copy.execute("PRAGMA quick_check(1)").fetchall()
    if verdict != "ok":
        raise BackupRefused(f"the copy of the catalog at {source} is damaged, and so is the catalog perhaps: {verdict}")


def _needs_pgvector(source: Path, url: URL) -> bool:
    return ".vector" in _run("pg_restore", ["--schema-only", "--file=-", str(source)], url, connects=False)


def _run(program: str, arguments: list[str], url: URL, *, connects: bool = True) -> str:
    executable = shutil.which(program)
    if executable is None:
        raise BackupRefused(
            f"a catalog in Postgres is copied by {program}, which is not on the PATH: install PostgreSQL's client "
            f"programs, {_BINARY[program]}"
        )
    # Its password goes by the environment: everybody on the machine may read the arguments of a process.
    shown = url.set(drivername="postgresql", password=None).render_as_string()
    target = [f"--dbname={shown}"] if connects else []
    environment: Mapping[str, str] = {**os.environ, **({"PGPASSWORD": str(url.password)} if url.password else {})}
    done = subprocess.run(
        [executable, *target, *arguments], env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        complaint = done.stderr.strip().splitlines()
        raise BackupRefused(f"{program} failed: {complaint[0] if complaint else f'exit code {done.returncode}'}")
    return done.stdout
