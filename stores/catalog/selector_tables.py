"""The table of windows; facts with vectors are rows of `facts` that have an id."""

from __future__ import annotations

from sqlalchemy import Column, Index, Integer, String, Table, Uuid

from stores.catalog.columns import UtcTime, identifier, metadata, subject_columns

windows = Table(
    "windows",
    metadata,
    Column("id", Uuid, primary_key=True),
    *subject_columns(),
    identifier("turn_id"),
    Column("window_index", Integer, nullable=False),
    Column("previous_turn_id", String(200)),
    identifier("conversation_id"),
    Column("said_at", UtcTime, nullable=False),
    Column("start", Integer, nullable=False),
    Column("end", Integer, nullable=False),
    Column("version", Integer, nullable=False),
    Index("ix_windows_turn", "tenant_id", "subject_id", "turn_id", "window_index", unique=True),
    Index("ix_windows_previous", "tenant_id", "subject_id", "previous_turn_id"),
    Index("ix_windows_conversation", "tenant_id", "subject_id", "conversation_id", "said_at"),
)
