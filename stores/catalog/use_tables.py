"""Tables of what memories are used for."""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, Index, Integer, String, Table, Uuid

from stores.catalog.columns import UtcTime, identifier, metadata, subject_columns

uses = Table(
    "uses",
    metadata,
    Column("memory_id", Uuid, ForeignKey("memories.id", ondelete="CASCADE"), primary_key=True),
    Column("way", String(20), primary_key=True),
    # Empty where no agent asked: a part of a primary key cannot be null.
    identifier("agent_id", primary_key=True),
    *subject_columns(),
    Column("times", Integer, nullable=False),
    Column("last_at", UtcTime, nullable=False),
    Index(None, "tenant_id", "subject_id"),
)
