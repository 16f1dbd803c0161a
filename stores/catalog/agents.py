"""One JSON document with a version for each agent of a tenant. Safe to call from many threads and processes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, select, update

from schema.errors import ConcurrentChange
from stores.catalog.agent_tables import agent_metadata
from stores.catalog.statements import insert_new
from stores.catalog.store import Store


@dataclass(frozen=True)
class AgentDocument:
    """Document that an agent keeps; of version 0 and empty where it never kept anything."""

    document: Mapping[str, Any] = field(default_factory=dict)
    version: int = 0


class AgentStore(Store):
    """The documents of all agents."""

    def get(self, tenant_id: str, agent_id: str) -> AgentDocument:
        """Return what an agent of a tenant keeps."""
        columns = agent_metadata.c.document, agent_metadata.c.version
        query = select(*columns).where(agent_metadata.c.tenant_id == tenant_id, agent_metadata.c.agent_id == agent_id)
        row = self._row(query)
        return AgentDocument(json.loads(row.document), row.version) if row else AgentDocument()

    def put(
        self, tenant_id: str, agent_id: str, document: Mapping[str, Any], *, read: int, now: datetime
    ) -> AgentDocument:
        """Keep a document in the place of the one of the version `read`, and return it with its own.

        Raises:
            ConcurrentChange: the document is not at that version any more.
        """
        written = {"document": json.dumps(document, separators=(",", ":")), "version": read + 1, "updated_at": now}
        key = {"tenant_id": tenant_id, "agent_id": agent_id}

        def work(connection: Connection) -> int:
            if read == 0:
                return connection.execute(
                    insert_new(connection.dialect.name, agent_metadata).values(key | written)
                ).rowcount
            replace = update(agent_metadata).where(
                agent_metadata.c.tenant_id == tenant_id,
                agent_metadata.c.agent_id == agent_id,
                agent_metadata.c.version == read,
            )
            return connection.execute(replace.values(written)).rowcount

        if self._writers.write(work) != 1:
            raise ConcurrentChange
        return AgentDocument(document, read + 1)
