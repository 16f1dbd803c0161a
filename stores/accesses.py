"""Counts which memories are recalled and for what, without making the one who asks wait for it."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime

import structlog
from sqlalchemy.exc import SQLAlchemyError

from schema import Subject, Way
from schema.errors import CatalogOutage
from stores.catalog import Access, Catalog
from stores.catalog.uses import Use

_log = structlog.get_logger()
_MANY = 200
_SECONDS = 10.0
_Key = tuple[uuid.UUID, Way | None, str | None]


class Accesses:
    """Gathers accesses in this process and writes them together, from a thread of its own: when there are many, when
    the oldest is some seconds old and another comes, and at the end. What a process that is killed had not written is
    not counted."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._lock = threading.Lock()
        self._noted: dict[_Key, Access] = {}
        self._since = 0.0
        self._writer: ThreadPoolExecutor | None = None

    def note(
        self,
        subject: Subject,
        memory_ids: Iterable[uuid.UUID],
        now: datetime,
        way: Way | None = Way.SEARCH,
        agent_id: str | None = None,
    ) -> None:
        """Note that memories of a subject were recalled by a way, for an agent or for none; None is for what counts as
        a use and told nobody anything."""
        with self._lock:
            if not self._noted:
                self._since = time.monotonic()
            for id_ in memory_ids:
                key = id_, way, agent_id
                before = self._noted.get(key)
                self._noted[key] = Access(id_, subject, before.times + 1 if before else 1, now)
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

    def _write(self, taken: dict[_Key, Access]) -> None:
        if not taken:
            return
        try:
            self._catalog.uses.count(
                taken.values(),
                (
                    Use(access.memory_id, access.subject, way, agent_id, access.times, access.last_at)
                    for (_, way, agent_id), access in taken.items()
                    if way is not None
                ),
            )
        except (CatalogOutage, SQLAlchemyError) as error:
            # Whoever asked has the answer; that it was asked for is a hint, not a fact to keep at any price.
            _log.warning("accesses_not_counted", stage="recall", count=len(taken), error=type(error).__name__)
