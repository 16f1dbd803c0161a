"""Counts of how much is held of a user and of a tenant, for quotas above all. Each counts rows: ask for what is
needed alone."""

from __future__ import annotations

from sqlalchemy import LargeBinary, Text, cast, func, select

import stores.catalog.tables as tables
from schema import Status
from stores.catalog.store import Reader

_memories, _sources = tables.memories, tables.sources


class QuotaCounts(Reader):
    """Counts over one database. A user is a subject; without one all users of the tenant are counted together."""

    def memories(self, tenant_id: str, subject_id: str | None = None) -> int:
        """Return how many memories are held, superseded ones apart."""
        query = select(func.count()).select_from(_memories)
        query = query.where(_memories.c.tenant_id == tenant_id, _memories.c.status != Status.SUPERSEDED)
        if subject_id is not None:
            query = query.where(_memories.c.subject_id == subject_id)
        return self._count(query)

    def source_bytes(self, tenant_id: str, subject_id: str | None = None) -> int:
        """Return how many bytes the raw turns have that are kept, as JSON."""
        turn = _sources.c.turn
        is_sqlite = self._engine.dialect.name == "sqlite"
        size = func.length(cast(turn, LargeBinary)) if is_sqlite else func.octet_length(cast(turn, Text))
        query = select(func.coalesce(func.sum(size), 0)).where(_sources.c.tenant_id == tenant_id)
        if subject_id is not None:
            query = query.where(_sources.c.subject_id == subject_id)
        return self._count(query)
