"""The tables of the catalog, for SQLite and Postgres alike.

A memory is one JSON document in `memories.document`; the other columns of that table are projections of it, to filter
and order by. Times are UTC, held as text of one fixed width so that they sort the same everywhere.
"""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    String,
    Table,
    Text,
    Uuid,
    text,
)

from stores.catalog.columns import UtcTime, identifier, row_id, subject_columns, where_standing
from stores.catalog.columns import metadata as metadata  # noqa: PLC0414

subjects = Table(
    "subjects",
    metadata,
    *subject_columns(primary_key=True),
    Column("fence", BigInteger, nullable=False),
    Column("revision", BigInteger, nullable=False),
    Column("removed", BigInteger, nullable=False),
    Column("chunks_removed", BigInteger, nullable=False, server_default="0"),
)

open_topics = Table(
    "open_topics",
    metadata,
    *subject_columns(primary_key=True),
    # Empty where turns name no agent: a part of a primary key cannot be null.
    identifier("agent_id", primary_key=True),
    Column("topic", String(300), nullable=False),
    identifier("turn_id"),
    Column("since", UtcTime, nullable=False),
    Index(None, "since"),
)

questions = Table(
    "questions",
    metadata,
    *subject_columns(primary_key=True),
    identifier("conversation_id", primary_key=True),
    Column("question", String(300), nullable=False),
    identifier("turn_id"),
    Column("since", UtcTime, nullable=False),
    Index(None, "since"),
)

recent_turns = Table(
    "recent_turns",
    metadata,
    *subject_columns(primary_key=True),
    identifier("conversation_id", primary_key=True),
    Column("turns", Text, nullable=False),
    Column("since", UtcTime, nullable=False),
    Index(None, "since"),
)

memories = Table(
    "memories",
    metadata,
    Column("id", Uuid, primary_key=True),
    *subject_columns(),
    Column("type", String(20), nullable=False),
    Column("kind", String(30), nullable=False),
    Column("category", String(60), nullable=False),
    Column("status", String(20), nullable=False),
    Column("importance", Float, nullable=False),
    Column("pinned", Boolean, nullable=False),
    Column("legal_hold", Boolean, nullable=False),
    Column("occurred_at", UtcTime, nullable=False),
    Column("created_at", UtcTime, nullable=False),
    Column("updated_at", UtcTime, nullable=False),
    Column("last_accessed", UtcTime, nullable=False),
    Column("consolidated_into", Uuid),
    Column("version", Integer, nullable=False),
    Column("revision", BigInteger, nullable=False),
    Column("document", JSON, nullable=False),
    Index(None, "tenant_id", "subject_id", "revision"),
    Index(None, "tenant_id", "subject_id", "status", "updated_at"),
    Index(None, "tenant_id", "subject_id", "created_at"),
    Index("ix_memories_standing", "tenant_id", "subject_id", "status", **where_standing),
)
Index(
    None,
    memories.c.tenant_id,
    memories.c.subject_id,
    sqlite_where=memories.c.legal_hold,
    postgresql_where=memories.c.legal_hold,
)

_provisional = text("status = 'provisional'")
Index("ix_memories_provisional", memories.c.created_at, sqlite_where=_provisional, postgresql_where=_provisional)

facts = Table(
    "facts",
    metadata,
    Column("memory_id", Uuid, ForeignKey("memories.id", ondelete="CASCADE"), primary_key=True),
    Column("ordinal", Integer, primary_key=True),
    *subject_columns(),
    Column("entity", String(200), nullable=False),
    Column("verb", String(100), nullable=False),
    Column("object", String(300), nullable=False),
    Column("attribute", String(60)),
    # Where it has a vector of its own: the vector's key, and its memory's version.
    Column("id", Uuid),
    Column("version", Integer),
    Index(None, "tenant_id", "subject_id", "attribute"),
)
_has_vector = text("id IS NOT NULL")
Index("ix_facts_id", facts.c.id, unique=True, sqlite_where=_has_vector, postgresql_where=_has_vector)

sources = Table(
    "sources",
    metadata,
    *subject_columns(primary_key=True),
    identifier("turn_id", primary_key=True),
    Column("occurred_at", UtcTime, nullable=False),
    Column("turn", JSON, nullable=False),
    Index(None, "occurred_at"),
)

provenance = Table(
    "provenance",
    metadata,
    Column("memory_id", Uuid, ForeignKey("memories.id", ondelete="CASCADE"), primary_key=True),
    identifier("turn_id", primary_key=True),
    *subject_columns(),
    Index(None, "tenant_id", "subject_id", "turn_id"),
)

audit = Table(
    "audit",
    metadata,
    Column("id", row_id, primary_key=True, autoincrement=True),
    Column("action", String(20), nullable=False),
    *subject_columns(),
    Column("at", UtcTime, nullable=False),
    identifier("by"),
    Column("reason", Text, nullable=False),
    Column("memory_id", Uuid),
    Column("turn_id", String(200)),
    Column("document_id", String(200)),
    Column("policy_version", String(20), nullable=False),
    Column("details", JSON, nullable=False),
    Index(None, "tenant_id", "subject_id", "memory_id"),
    Index(None, "tenant_id", "id"),
)

ledger = Table(
    "ledger",
    metadata,
    *subject_columns(primary_key=True),
    identifier("turn_id", primary_key=True),
    Column("digest", String(64), nullable=False),
    Column("outcome", String(20), nullable=False),
    Column("reasons", JSON, nullable=False),
    Column("arrived_at", UtcTime, nullable=False),
    Column("processed_at", UtcTime, nullable=False),
    Index(None, "processed_at"),
)

reviews = Table(
    "reviews",
    metadata,
    Column("id", Uuid, primary_key=True),
    *subject_columns(),
    Column("asked_by", String(20), nullable=False),
    Column("reason", String(300), nullable=False),
    Column("policy_version", String(20), nullable=False),
    Column("status", String(20), nullable=False),
    Column("opened_at", UtcTime, nullable=False),
    Column("decided_at", UtcTime),
    Column("decided_by", String(200)),
    Column("document", JSON(none_as_null=True)),
    Index(None, "tenant_id", "subject_id", "status"),
    Index(None, "status", "opened_at"),
)

preferences = Table(
    "preferences",
    metadata,
    *subject_columns(primary_key=True),
    Column("name", String(20), primary_key=True),
    Column("value", String(100), primary_key=True),
    Column("since", UtcTime, nullable=False),
    Index(None, "name", "value", "tenant_id", "subject_id"),
)

memberships = Table(
    "memberships",
    metadata,
    *subject_columns(primary_key=True),
    identifier("user_id", primary_key=True),
    Column("role", String(20), nullable=False),
    Column("since", UtcTime, nullable=False),
    identifier("by"),
    Index(None, "tenant_id", "user_id"),
)

api_keys = Table(
    "api_keys",
    metadata,
    identifier("id", primary_key=True),
    # SHA-256 of the key: whoever reads the catalog cannot ask in its name.
    Column("digest", String(64), nullable=False),
    Column("name", String(100), nullable=False),
    identifier("tenant_id"),
    Column("user_id", String(200)),
    Column("agent_id", String(200)),
    Column("capabilities", JSON, nullable=False),
    Column("created_at", UtcTime, nullable=False),
    identifier("by"),
    Column("expires_at", UtcTime),
    Column("revoked_at", UtcTime),
    Column("last_used_at", UtcTime),
    Column("lineage", String(200)),
    Index(None, "digest", unique=True),
    Index(None, "tenant_id", "user_id"),
)

outbox = Table(
    "outbox",
    metadata,
    Column("id", row_id, primary_key=True, autoincrement=True),
    *subject_columns(),
    Column("name", String(40), nullable=False),
    Column("at", UtcTime, nullable=False),
    Column("payload", JSON, nullable=False),
    Index(None, "tenant_id", "subject_id", "id"),
    # Ids of deleted rows are never given again: listeners tell a repeated event by its id.
    sqlite_autoincrement=True,
)

index_jobs = Table(
    "index_jobs",
    metadata,
    Column("memory_id", Uuid, primary_key=True),
    *subject_columns(),
    Column("index_key", Uuid, nullable=False),
    Column("action", String(10), nullable=False),
    Column("version", Integer, nullable=False),
    Column("since", UtcTime, nullable=False),
    Column("generation", Integer, nullable=False, server_default="0"),
    Column("taken_at", UtcTime),
    Column("family", String(20), nullable=False, server_default="memories"),
    Index(None, "tenant_id", "subject_id"),
    Index(None, "since"),
)

index_watches = Table(
    "index_watches",
    metadata,
    Column("id", Uuid, primary_key=True),
    *subject_columns(),
    Column("index_key", Uuid, nullable=False),
    Column("family", String(20), nullable=False),
    Column("since", UtcTime, nullable=False),
    Column("next_at", UtcTime, nullable=False),
    Index(None, "next_at"),
)

tombstones = Table(
    "tombstones",
    metadata,
    *subject_columns(primary_key=True),
    Column("scope", String(20), primary_key=True),
    # Empty for a whole subject: a part of a primary key cannot be null.
    identifier("key", primary_key=True),
    Column("at", UtcTime, nullable=False),
    Column("ended_at", UtcTime),
)
Index(
    None,
    tombstones.c.at,
    sqlite_where=tombstones.c.ended_at.is_(None),
    postgresql_where=tombstones.c.ended_at.is_(None),
)

accesses = Table(
    "accesses",
    metadata,
    Column("memory_id", Uuid, ForeignKey("memories.id", ondelete="CASCADE"), primary_key=True),
    *subject_columns(),
    Column("times", Integer, nullable=False),
    Column("last_at", UtcTime, nullable=False),
    Index(None, "tenant_id", "subject_id"),
)

night_runs = Table(
    "night_runs",
    metadata,
    Column("id", String(120), primary_key=True),
    Column("job", String(20), nullable=False),
    Column("zone", String(60)),
    Column("began_at", UtcTime, nullable=False),
    Column("finished_at", UtcTime),
    Column("cursor_tenant", String(200)),
    Column("cursor_subject", String(200)),
    Column("chunks", Integer, nullable=False),
    Column("subjects", Integer, nullable=False),
    Column("results", JSON, nullable=False),
    Index(None, "job", "began_at"),
)

night_subjects = Table(
    "night_subjects",
    metadata,
    Column("run_id", String(120), ForeignKey("night_runs.id", ondelete="CASCADE"), primary_key=True),
    *subject_columns(primary_key=True),
    Column("claim", Integer, nullable=False),
    Column("next_run_at", UtcTime, nullable=False),
    Column("tries", Integer, nullable=False),
)

# Workers of before revision 0002 keep the parts of a run that they work on here.
night_chunks = Table(
    "night_chunks",
    metadata,
    Column("run_id", String(120), ForeignKey("night_runs.id", ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("after_tenant", String(200)),
    Column("after_subject", String(200)),
    identifier("until_tenant"),
    identifier("until_subject"),
    Column("holder", String(40), nullable=False),
    Column("beat_at", UtcTime, nullable=False),
    Column("deaths", Integer, nullable=False),
)

reindex_jobs = Table(
    "moves",
    metadata,
    Column("index", String(60), primary_key=True),
    Column("model", String(200), nullable=False),
    Column("cursor_tenant", String(200)),
    Column("cursor_subject", String(200)),
    Column("done", BigInteger, nullable=False),
    Column("began_at", UtcTime, nullable=False),
    Column("finished_at", UtcTime),
)

reindex_log = Table(
    "moved",
    metadata,
    Column("id", row_id, primary_key=True, autoincrement=True),
    Column("memory_id", Uuid, nullable=False),
    # Not by the names that an erasure looks for: the new index must yet be told of what was erased.
    identifier("tenant"),
    identifier("subject"),
    Column("type", String(20), nullable=False),
    sqlite_autoincrement=True,
)
