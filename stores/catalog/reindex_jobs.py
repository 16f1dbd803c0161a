"""Jobs that build a new index while the old one serves: how far each has come, and what was written meanwhile."""

from __future__ import annotations

import fcntl
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from sqlalchemy import Connection, delete, false, func, select, text, update

import stores.catalog.tables as tables
from schema import MemoryType, Subject, index_key
from schema.errors import MoveRefused
from stores.catalog.indexed import TABLES
from stores.catalog.statements import upsert
from stores.catalog.store import Store
from stores.index.base import Family

_MOVING = 0x41465453
"""The advisory lock of Postgres under which one process at a time builds an index."""
_TRIGGERS = ("insert", "update", "delete")
_BESIDE = {"chunk": Family.CHUNKS, "window": Family.WINDOWS, "fact": Family.FACTS}
_LOGGED = (
    ("memories", "moved", "{row}.type"),
    *((TABLES[family].name, f"moved_{type_}", f"'{type_}'") for type_, family in _BESIDE.items()),
)
"""Tables whose writes are logged, what their triggers' names begin with, and the type that is logged of a row: of one
without an id nothing is, for it has no vector."""
_COLUMNS = "(memory_id, tenant, subject, type)"


@dataclass(frozen=True)
class ReindexJob:
    """The building of an index: up to where the subjects are done, and how many memories that were."""

    index: str
    model: str
    cursor: Subject | None
    done: int
    began_at: datetime
    finished_at: datetime | None


@dataclass(frozen=True)
class LoggedWrite:
    """A write of a memory, or what else has a vector, since a job began; `id` is its place in the log."""

    id: int
    memory_id: uuid.UUID
    subject: Subject
    type: str

    @property
    def family(self) -> Family:
        """Return of which family it is."""
        return _BESIDE.get(self.type, Family.MEMORIES)

    @property
    def index_key(self) -> uuid.UUID:
        """Return where it lies in its index."""
        if self.type in _BESIDE:
            return self.memory_id
        return index_key(self.subject.subject_id, MemoryType(self.type), self.memory_id)


class ReindexJobs(Store):
    """The building of new indexes from the catalog. A trigger logs every write of a memory while one is under
    way, whoever writes, and costs nothing when none is."""

    _lock: Connection | None = None
    """On Postgres what `alone` holds."""

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Build, catch up or end while no other process does: its end, however it comes, lets the next one.

        Raises:
            MoveRefused: another does.
            CatalogOutage: in the block, where something is to be noted and the connection was lost that keeps others
                out.
        """
        database = self._engine.url.database
        if self._engine.dialect.name == "sqlite" and database is not None:
            with Path(f"{database}.reindex").open("w") as lock:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    raise _another() from None
                yield
            return
        # The connection is the lock's: it goes with the process.
        with self._engine.connect() as connection:
            if not connection.execute(text("SELECT pg_try_advisory_lock(:moving)"), {"moving": _MOVING}).scalar_one():
                raise _another()
            self._lock = connection
            try:
                yield
            finally:
                self._lock = None
                # Where the connection is lost, so is the lock.
                if not connection.invalidated:
                    connection.execute(text("SELECT pg_advisory_unlock(:moving)"), {"moving": _MOVING})

    def begin(self, index: str, model: str, now: datetime, *, anew: bool = False) -> ReindexJob:
        """Log writes from now on, and answer the job as it stands: a new one, or where one to this index and model
        was left off. With `anew` one that came to its end begins again. All under `alone`.

        Raises:
            MoveRefused: one to another index was not ended.
        """
        table = tables.reindex_jobs
        self.refuse_beside(index)
        with self._writers.transaction() as connection:
            _log_writes(connection)
            statement = upsert(connection.dialect.name, table).values(
                index=index,
                model=model,
                cursor_tenant=None,
                cursor_subject=None,
                done=0,
                began_at=now,
                finished_at=None,
            )
            excluded = statement.excluded
            connection.execute(
                statement.on_conflict_do_update(
                    index_elements=[table.c.index],
                    set_={column.name: excluded[column.name] for column in table.columns if not column.primary_key},
                    where=(table.c.model != model) | (table.c.finished_at.is_not(None) if anew else false()),
                )
            )
        job = self.of(index)
        assert job is not None
        return job

    def of(self, index: str) -> ReindexJob | None:
        """Return the job of an index, if there was one."""
        table = tables.reindex_jobs
        row = self._row(select(table).where(table.c.index == index))
        if row is None:
            return None
        cursor = Subject(tenant_id=row.cursor_tenant, subject_id=row.cursor_subject) if row.cursor_tenant else None
        return ReindexJob(index, row.model, cursor, row.done, row.began_at, row.finished_at)

    def under_way(self) -> list[ReindexJob]:
        """Return the jobs that were not ended."""
        names = self._values(select(tables.reindex_jobs.c.index))
        return [job for name in names if (job := self.of(name)) is not None]

    def refuse_beside(self, index: str) -> None:
        """Refuse what would drain the log of a move to another index, which is one for all.

        Raises:
            MoveRefused: there is such a move.
        """
        if rival := next((job for job in self.under_way() if job.index != index), None):
            raise MoveRefused(
                f"a move to the index {rival.index} was begun on {rival.began_at:%Y-%m-%d} and not ended, and one is "
                "under way at a time: with its settings run `afterturn reindex` to its end and then `afterturn reindex "
                "--finish`, or, if that index is not to be used, `afterturn reindex --give-up`"
            )

    def checkpoint(self, index: str, cursor: Subject, done: int) -> None:
        """Note that everything up to and with this subject is in the index."""
        self._set(index, cursor_tenant=cursor.tenant_id, cursor_subject=cursor.subject_id, done=done)

    def finish(self, index: str, now: datetime) -> None:
        """Note that all is in the index but what is written from now on."""
        self._set(index, finished_at=now)

    def written(self, limit: int = 500) -> list[LoggedWrite]:
        """Return the writes since the job began that are not marked done, oldest first."""
        table = tables.reindex_log
        return [
            LoggedWrite(row.id, row.memory_id, Subject(tenant_id=row.tenant, subject_id=row.subject), row.type)
            for row in self._rows(select(table).order_by(table.c.id).limit(limit))
        ]

    def last_written(self) -> int:
        """Return the place in the log of the newest write; 0 where there is none."""
        return self._count(select(func.coalesce(func.max(tables.reindex_log.c.id), 0)))

    def mark_done(self, written: Sequence[LoggedWrite]) -> None:
        """Take writes that the new index has off the log."""
        self._require_alone()
        self._run(delete(tables.reindex_log).where(tables.reindex_log.c.id.in_([write.id for write in written])))

    def end(self) -> None:
        """Log writes no more, and forget the jobs: the next one begins anew."""
        self._require_alone()
        with self._writers.transaction() as connection:
            for table, prefix, _ in _LOGGED:
                for name in _TRIGGERS:
                    on = f" ON {table}" if connection.dialect.name == "postgresql" else ""
                    connection.execute(text(f"DROP TRIGGER IF EXISTS {prefix}_{name}{on}"))
            connection.execute(delete(tables.reindex_log))
            connection.execute(delete(tables.reindex_jobs))

    def behind(self) -> int:
        """Return how many logged writes the new index was not told of yet."""
        return self._count(select(func.count()).select_from(tables.reindex_log))

    def _require_alone(self) -> None:
        """Ask on the connection that keeps others out whether it still does: without it another may be at work."""
        if self._lock is not None:
            self._lock.execute(text("SELECT 1"))

    def _set(self, index: str, **values: object) -> None:
        self._require_alone()
        self._run(update(tables.reindex_jobs).where(tables.reindex_jobs.c.index == index).values(**values))


def _another() -> MoveRefused:
    return MoveRefused("another `afterturn reindex` is at work on this catalog: wait for its end, or stop it")


def _log_writes(connection: Connection) -> None:
    for table, prefix, type_ in _LOGGED:
        if connection.dialect.name == "postgresql":
            # To make a trigger waits for every writer that is under way: what they wrote is there to be read then.
            logged = f"it.id, it.tenant_id, it.subject_id, {type_.format(row='it')}"
            connection.execute(
                text(
                    f"CREATE OR REPLACE FUNCTION {prefix}_log() RETURNS trigger LANGUAGE plpgsql AS $$ "
                    f"DECLARE it {table}; "
                    "BEGIN IF TG_OP = 'DELETE' THEN it := OLD; ELSE it := NEW; END IF; "
                    f"IF it.id IS NOT NULL THEN INSERT INTO moved {_COLUMNS} VALUES ({logged}); END IF; "
                    "RETURN NULL; END $$"
                )
            )
        for name in _TRIGGERS:
            if connection.dialect.name == "postgresql":
                made = f"CREATE OR REPLACE TRIGGER {prefix}_{name} AFTER {name} ON {table} FOR EACH ROW "
                connection.execute(text(made + f"EXECUTE FUNCTION {prefix}_log()"))
            else:
                row = "old" if name == "delete" else "new"
                values = ", ".join(f"{row}.{column}" for column in ("id", "tenant_id", "subject_id"))
                made = f"CREATE TRIGGER IF NOT EXISTS {prefix}_{name} AFTER {name} ON {table} "
                made += f"WHEN {row}.id IS NOT NULL BEGIN "
                values += f", {type_.format(row=row)}"
                connection.exec_driver_sql(made + f"INSERT INTO moved {_COLUMNS} VALUES ({values}); END")
