"""The base of the catalog's stores: statements over one engine for reading, and the writers of its database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Engine, Executable, Row

from schema import Memory
from stores.catalog.rows import memory_of
from stores.catalog.writers import Writers

AnyRow = Row[*tuple[Any, ...]]


class Reader:
    """Runs each statement that reads on a connection of its own. Safe to call from many threads and processes."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def _rows(self, query: Executable, parameters: Mapping[str, Any] | None = None) -> Sequence[AnyRow]:
        with self._engine.connect() as connection:
            return connection.execute(query, parameters).all()

    def _row(self, query: Executable, parameters: Mapping[str, Any] | None = None) -> AnyRow | None:
        """Return the only row, or None; raises where there are several."""
        with self._engine.connect() as connection:
            return connection.execute(query, parameters).one_or_none()

    def _values(self, query: Executable, parameters: Mapping[str, Any] | None = None) -> list[Any]:
        """Return the first column of all rows."""
        with self._engine.connect() as connection:
            return list(connection.execute(query, parameters).scalars())

    def _value(self, query: Executable, parameters: Mapping[str, Any] | None = None) -> Any:
        """Return the first column of the only row, or None; raises where there are several."""
        with self._engine.connect() as connection:
            return connection.execute(query, parameters).scalar_one_or_none()

    def _count(self, query: Executable, parameters: Mapping[str, Any] | None = None) -> int:
        """Return what a statement counted or summed up."""
        return int(self._value(query, parameters))

    def _memories(self, query: Executable, parameters: Mapping[str, Any] | None = None) -> list[Memory]:
        """Return the memories whose documents are the first column of all rows."""
        return [memory_of(document) for document in self._values(query, parameters)]


class Store(Reader):
    """A reader that writes too."""

    def __init__(self, engine: Engine, writers: Writers) -> None:
        super().__init__(engine)
        self._writers = writers

    def _run(
        self, statement: Executable, parameters: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None
    ) -> int:
        """Run a statement in a writing transaction of its own, and return how many rows it changed."""
        return int(self._writers.write(lambda connection: connection.execute(statement, parameters).rowcount))
