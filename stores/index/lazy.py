"""An index that is opened when it is first used: whoever keeps no documents has no index of their parts."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Sequence
from threading import Lock

from sqlalchemy import Connection

from schema import Subject
from schema.health import HealthCheck
from stores.index.base import (
    Entry,
    HealthCheckedIndex,
    Hit,
    Index,
    LoggedIndex,
    Metric,
    OptimizableIndex,
    TransactionalIndex,
    Vector,
    Where,
)


class LazyIndex:
    """Another index, made at the first call. Safe to call from many threads.

    Any call may raise what `open_index` does: a family's index is as likely to be of another embedder as the first.
    """

    def __init__(self, open_: Callable[[], Index]) -> None:
        self._open = open_
        self._opening = Lock()
        self._opened: Index | None = None

    @property
    def opened(self) -> Index:
        """Return the index, opened."""
        with self._opening:
            if self._opened is None:
                self._opened = self._open()
            return self._opened

    def ensure(self, dimensions: int, metric: Metric, model: str) -> None:
        """Do as the index does; so do the others."""
        self.opened.ensure(dimensions, metric, model)

    def upsert(self, entries: Sequence[Entry]) -> list[Entry]:
        return self.opened.upsert(entries)

    def query(self, vector: Vector, where: Where, limit: int) -> list[Hit]:
        return self.opened.query(vector, where, limit)

    def fetch(self, subject: Subject, keys: Sequence[uuid.UUID]) -> list[Entry]:
        return self.opened.fetch(subject, keys)

    def versions(self, subject: Subject, keys: Sequence[uuid.UUID]) -> dict[uuid.UUID, int]:
        return self.opened.versions(subject, keys)

    def delete(self, subject: Subject, keys: Sequence[uuid.UUID]) -> None:
        self.opened.delete(subject, keys)

    def count(self) -> int:
        return self.opened.count()

    def check_health(self) -> Iterator[HealthCheck]:
        """Check the index, where it can say something of itself."""
        if isinstance(self.opened, HealthCheckedIndex):
            yield from self.opened.check_health()

    def leave_no_trace(self, subject: Subject) -> bool:
        """Do as the index does, where it has a log."""
        return self.opened.leave_no_trace(subject) if isinstance(self.opened, LoggedIndex) else True

    def optimize(self) -> Iterator[tuple[str, Subject]]:
        """Do what large subjects need, where the index knows of any."""
        if isinstance(self.opened, OptimizableIndex):
            yield from self.opened.optimize()

    def close(self) -> None:
        """Close it, if it was opened."""
        with self._opening:
            if self._opened is not None:
                self._opened.close()


class LazyTransactionalIndex(LazyIndex):
    """As `LazyIndex`, of one in the catalog's database."""

    def write_in_transaction(
        self, connection: Connection, entries: Sequence[Entry], gone: Sequence[tuple[Subject, uuid.UUID]]
    ) -> None:
        """Write entries by key, and remove those under the keys of `gone`, in a transaction that is under way."""
        opened = self.opened
        assert isinstance(opened, TransactionalIndex)
        opened.write_in_transaction(connection, entries, gone)
