"""The tables of the store's items, and of those that were deleted."""

from __future__ import annotations

from sqlalchemy import Column, Float, Index, LargeBinary, String, Table, Text, Uuid

from stores.catalog.columns import UtcTime, metadata, subject_columns

items = Table(
    "items",
    metadata,
    Column("id", Uuid, primary_key=True),
    *subject_columns(),
    # Each label with a period behind it, which no label has: ("t", "acme") begins nothing of ("t", "acme-corp").
    Column("namespace", Text, nullable=False),
    Column("key", Text, nullable=False),
    # Text, not JSON: what an application puts comes back as it was, signs and all.
    Column("value", Text, nullable=False),
    Column("created_at", UtcTime, nullable=False),
    Column("updated_at", UtcTime, nullable=False),
    Column("ttl_minutes", Float),
    Column("expires_at", UtcTime),
    Column("texts", Text),
    Column("vectors", LargeBinary),
    Column("embedding_model", String(200)),
    Index(None, "tenant_id", "subject_id", "updated_at"),
    Index(None, "expires_at"),
)

# That an item was deleted, without its name or a word of it: a backup that was made before has it still.
deleted_items = Table(
    "deleted_items",
    metadata,
    Column("id", Uuid, primary_key=True),
    *subject_columns(),
    Column("at", UtcTime, nullable=False),
    Index(None, "tenant_id", "subject_id"),
)
