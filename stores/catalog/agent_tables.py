"""The table of what agents keep for themselves."""

from __future__ import annotations

from sqlalchemy import Column, Integer, String, Table, Text

from stores.catalog.columns import UtcTime, metadata

agent_metadata = Table(
    "agent_metadata",
    metadata,
    Column("tenant_id", String(200), primary_key=True),
    Column("agent_id", String(200), primary_key=True),
    # Text, not JSON: what an agent puts comes back as it was.
    Column("document", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("updated_at", UtcTime, nullable=False),
)
