"""Open a Postgres database, and explain its refusals to an operator."""

from __future__ import annotations

import sqlite3
from typing import Any

from sqlalchemy import URL, Engine, create_engine, event
from sqlalchemy.engine import ExceptionContext
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as NoConnectionFree
from sqlalchemy.pool import PoolProxiedConnection, QueuePool

from schema.errors import CatalogOutage, CatalogUnavailable

STATEMENT_SECONDS = 30
"""Longer than any statement of ours should take; a query that hangs must not hold a worker's slot for ever."""
LOCK_SECONDS = 10
"""As long as a writer of SQLite waits for the one before it."""
_CONNECT_SECONDS = 5
_IDLE_IN_TRANSACTION_SECONDS = 120
"""A worker that was stopped in the middle of a transaction must not keep its subject's row locked."""

_SCHEMES = ("postgres", "postgresql", "postgresql+psycopg")
_REMEDIES = {
    "28P01": "the password is wrong",
    "28000": "the server does not let this user in (its pg_hba.conf decides)",
    "3D000": "there is no such database; make it with `createdb`",
    "42501": "the user may not do that; GRANT it, or make the user the owner of the database",
    "53300": "the server has no connection left; raise max_connections or start fewer workers",
    "55P03": "another session holds it, such as a backup by pg_dump; nothing was changed, try again when that is done",
    "57014": "it took longer than a statement may, or somebody ended it; look at pg_stat_activity, and try again",
}
_PASSING_CLASSES = ("08", "40", "53", "55", "57")
"""Connections, transactions that lost a race, resources, locks, an operator's intervention (Postgres, appendix A)."""
_PASSING_STATES = ("25006", "25P03", "58000", "58030", "XX001", "XX002", "42P01")
"""A server that is a replica since a moment ago, a transaction that was ended because it stood still; and what a
restored database mends: a disk that fails, damaged data, a damaged index, a table that is away."""
_DAMAGED_FILE = frozenset(
    {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN}
)
"""Of SQLite: nobody's turn did that."""


class _Pool(QueuePool):
    """Connections that threads wait for, `LOCK_SECONDS` at most."""

    def connect(self) -> PoolProxiedConnection:
        try:
            return super().connect()
        except NoConnectionFree as error:
            raise CatalogOutage(
                f"no connection of the catalog came free within {LOCK_SECONDS} s: are queries stuck, or too many?"
            ) from error


def is_postgres(url: URL) -> bool:
    return url.drivername in _SCHEMES


def create_postgres_engine(url: URL, *, connections: int, name: str = "afterturn") -> Engine:
    """Return an engine whose pool keeps up to so many connections, as many as threads ask at a time, under a name.

    Raises:
        CatalogUnavailable: the driver is not installed.
    """
    settings = {
        "statement_timeout": f"{STATEMENT_SECONDS}s",
        "lock_timeout": f"{LOCK_SECONDS}s",
        "idle_in_transaction_session_timeout": f"{_IDLE_IN_TRANSACTION_SECONDS}s",
        # What is written by a plan made once is the same; a plan made anew for each subject costs more than it saves.
        "jit": "off",
    }
    arguments = {
        "connect_timeout": _CONNECT_SECONDS,
        "application_name": name,
        "options": " ".join(f"-c {name}={value}" for name, value in settings.items()),
    }
    try:
        engine = create_engine(
            url.set(drivername="postgresql+psycopg"),
            # Parameters hold what people said, and errors end in logs.
            hide_parameters=True,
            # What the URL says of itself stands: ?application_name=... or a pooler that takes no options.
            connect_args={name: value for name, value in arguments.items() if name not in url.query},
            poolclass=_Pool,
            pool_size=connections,
            max_overflow=8,
            pool_timeout=LOCK_SECONDS,
            pool_pre_ping=True,
        )
    except ModuleNotFoundError as error:
        raise CatalogUnavailable(
            "AFTERTURN_CATALOG_URL names Postgres, and its driver is not installed; pip install 'afterturn[postgres]'"
        ) from error
    event.listen(engine, "handle_error", _take_out_what_rows_hold)
    return engine


def explain(error: DBAPIError, url: URL) -> str:
    """Return what an operator should do about a database that does not serve; the URL shows no password."""
    if not is_postgres(url):
        if _is_damaged(error):
            return f"the catalog is damaged: {error.orig}. Stop every process and restore the file from a backup"
        return f"the catalog does not answer: {error.orig}. Check AFTERTURN_CATALOG_URL, or try again"
    shown = url.render_as_string(hide_password=True)
    remedy = _REMEDIES.get(state_of(error) or "", "is the server up, and are host, port and database right?")
    return f"the Postgres of AFTERTURN_CATALOG_URL ({shown}) cannot be used: {_first_line(error)}; {remedy}"


def has_remedy(error: DBAPIError) -> bool:
    """Return whether a person must mend what the server refused for, its user or its rights, or what is damaged:
    connections come free."""
    if _is_damaged(error):
        return True
    state = state_of(error)
    return state is not None and state in _REMEDIES and not state.startswith(_PASSING_CLASSES)


def _is_damaged(error: DBAPIError) -> bool:
    code = getattr(error.orig, "sqlite_errorcode", 0)
    return code & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def state_of(error: DBAPIError) -> str | None:
    """Return the SQLSTATE of an error, where the server gave one; None for one that the driver found by itself.

    A server that refuses a connection says why in words only, so that some states are read from them.
    """
    state: str | None = getattr(error.orig, "sqlstate", None)
    if state is not None:
        return state
    message = str(error.orig)
    state_by_words = {
        "password authentication failed": "28P01",
        "pg_hba.conf": "28000",
        "does not exist": "3D000",
        "too many clients": "53300",
        "remaining connection slots": "53300",
    }
    return next((state for words, state in state_by_words.items() if words in message), None)


def is_passing(error: DBAPIError) -> bool:
    """Return whether the same work may succeed later with nothing changed."""
    state = getattr(error.orig, "sqlstate", None)
    if state is None:
        code = getattr(error.orig, "sqlite_errorcode", None)
        is_damaged = code is not None and code & 0xFF in _DAMAGED_FILE
        return error.connection_invalidated or is_damaged or isinstance(error, OperationalError | InterfaceError)
    return state.startswith(_PASSING_CLASSES) or state in _PASSING_STATES


def _take_out_what_rows_hold(context: ExceptionContext) -> None:
    """Keep the server's message and drop its DETAIL and CONTEXT: these quote the row that was refused."""
    error: Any = context.original_exception
    primary = getattr(getattr(error, "diag", None), "message_primary", None)
    if primary is None:
        return
    error.args = (primary,)
    if context.sqlalchemy_exception is not None:
        kind = f"{type(error).__module__}.{type(error).__qualname__}"
        context.sqlalchemy_exception.args = (f"({kind}) {primary}",)


def _first_line(error: DBAPIError) -> str:
    lines = str(error.orig).strip().splitlines()
    return lines[0] if lines else type(error.orig).__name__
