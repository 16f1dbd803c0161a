"""The tables of webhooks: endpoints of tenants, and what is to be told to each."""

from __future__ import annotations

from sqlalchemy import JSON, BigInteger, Boolean, Column, ForeignKey, Index, Integer, String, Table

from stores.catalog.columns import UtcTime, metadata, subject_columns

endpoints = Table(
    "webhook_endpoints",
    metadata,
    Column("id", String(200), primary_key=True),
    Column("tenant_id", String(200), nullable=False),
    Column("url", String(2000), nullable=False),
    Column("description", String(200), nullable=False),
    Column("events", JSON, nullable=False),
    Column("with_summaries", Boolean, nullable=False),
    # Not their digests: every message is signed with them.
    Column("secrets", JSON, nullable=False),
    Column("created_at", UtcTime, nullable=False),
    Column("by", String(200), nullable=False),
    Column("ended_at", UtcTime),
    Column("ended_because", String(100)),
    Column("failures", Integer, nullable=False),
    Column("waits_until", UtcTime),
    Column("succeeded_at", UtcTime),
    Index(None, "tenant_id"),
)

deliveries = Table(
    "webhook_deliveries",
    metadata,
    Column("id", String(200), primary_key=True),
    Column("endpoint_id", String(200), ForeignKey("webhook_endpoints.id", ondelete="CASCADE"), nullable=False),
    *subject_columns(),
    Column("event_id", BigInteger, nullable=False),
    Column("name", String(40), nullable=False),
    Column("at", UtcTime, nullable=False),
    # Ids and labels. What a memory says is read when a message is sent, so that nothing forgotten waits here.
    Column("payload", JSON, nullable=False),
    Column("status", String(20), nullable=False),
    Column("attempts", JSON, nullable=False),
    Column("next_at", UtcTime),
    Column("delivered_at", UtcTime),
    Index(None, "endpoint_id", "at"),
    Index(None, "status", "next_at"),
    Index(None, "tenant_id", "subject_id"),
)
