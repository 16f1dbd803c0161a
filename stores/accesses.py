"""Counts which memories are recalled, without making the one who asks wait for it."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime

import structlog
from sqlalchemy.exc import SQLAlchemyError

from schema import Subject
from schema.errors import CatalogOutage
from stores.catalog import Access, Catalog

_log = structlog.get_logger()
_MANY = 200
_SECONDS = 10.0


class Accesses:
    """Gathers accesses in this process and writes them together, from a thread of its own: when there are many, when
    the oldest is some seconds old and another comes, and at the end. What a process that is killed had not written is
    not counted."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._lock = threading.Lock()
        self._noted: dict[uuid.UUID, Access] = {}
        self._since = 0.0
        self._writer: ThreadPoolExecutor | None = None

    def note(self, subject: Subject, memory_ids: Iterable[uuid.UUID], now: datetime) -> None:
        """Note that memories of a subject were recalled."""
        with self._lock:
            if not self._noted:
                self._since = time.monotonic()
            for id_ in memory_ids:
                before = self._noted.get(id_)
                self._noted[id_] = Access(id_, subject, before.times + 1 if before else 1, now)
            if len(self._noted) < _MANY and time.monotonic() - self._since < _SECONDS:
                return
            taken, self._noted = self._noted, {}
            self._writer = self._writer or ThreadPoolExecutor(1, thread_name_prefix="accesses")
            writer = self._writer
        writer.submit(self._write, taken)

    def close(self) -> None:
        """Write what is left."""
        if self._writer is not None:
            self._writer.shutdown()
            self._writer = None
        with self._lock:
            taken, self._noted = self._noted, {}
        self._write(taken)

    def _write(self, taken: dict[uuid.UUID, Access]) -> None:
        if not taken:
            return
        try:
            self._catalog.decay.touch(taken.values())
        except (CatalogOutage, SQLAlchemyError) as error:
            # Whoever asked has the answer; that it was asked for is a hint, not a fact to keep at any price.
            _log.warning("accesses_not_counted", stage="recall", count=len(taken), error=type(error).__name__)
