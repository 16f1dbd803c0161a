"""The tables of documents, for SQLite and Postgres alike."""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    ForeignKeyConstraint,
    Index,
    Integer,
    String,
    Table,
    Text,
    Uuid,
    false,
    text,
)

from stores.catalog.columns import UtcTime, identifier, metadata, subject_columns

_IS_WAITING = text("indexed_version < version AND NOT quarantined AND failure IS NULL")

documents = Table(
    "documents",
    metadata,
    *subject_columns(primary_key=True),
    identifier("document_id", primary_key=True),
    Column("incarnation", Uuid, nullable=False),
    Column("version", Integer, nullable=False),
    Column("digest", String(64), nullable=False),
    Column("title", String(300)),
    Column("content", Text, nullable=False),
    Column("media_type", String(100), nullable=False),
    Column("visibility", String(20), nullable=False),
    identifier("author_id"),
    Column("source_ref", Text),
    Column("occurred_at", UtcTime),
    Column("pages", JSON, nullable=False),
    Column("quarantined", Boolean, nullable=False),
    Column("legal_hold", Boolean, nullable=False, server_default=false()),
    Column("indexed_version", Integer, nullable=False),
    Column("indexed_digest", String(64), nullable=False),
    Column("approved_digest", String(64), nullable=False),
    Column("chunk_count", Integer, nullable=False),
    Column("embedding_model", String(200)),
    Column("taken_at", UtcTime),
    Column("tries", Integer, nullable=False),
    Column("failure", String(200)),
    Column("created_at", UtcTime, nullable=False),
    Column("updated_at", UtcTime, nullable=False),
    Column("indexed_at", UtcTime),
    Index(None, "tenant_id", "author_id"),
)
Index(
    "ix_documents_labels",
    *(documents.c[name] for name in ("tenant_id", "subject_id", "visibility", "author_id", "document_id")),
)
Index(
    "ix_documents_legal_hold",
    documents.c.tenant_id,
    documents.c.subject_id,
    sqlite_where=documents.c.legal_hold,
    postgresql_where=documents.c.legal_hold,
)
Index("ix_documents_waiting", documents.c.updated_at, sqlite_where=_IS_WAITING, postgresql_where=_IS_WAITING)

chunks = Table(
    "chunks",
    metadata,
    Column("id", Uuid, primary_key=True),
    *subject_columns(),
    identifier("document_id"),
    Column("number", Integer, nullable=False),
    Column("start", Integer, nullable=False),
    Column("end", Integer, nullable=False),
    Column("page", Integer),
    Column("content", Text, nullable=False),
    Column("tokens", Integer, nullable=False),
    Column("version", Integer, nullable=False),
    Column("revision", BigInteger, nullable=False),
    ForeignKeyConstraint(
        ["tenant_id", "subject_id", "document_id"],
        ["documents.tenant_id", "documents.subject_id", "documents.document_id"],
        ondelete="CASCADE",
    ),
    Index(None, "tenant_id", "subject_id", "document_id", "number", unique=True),
    Index(None, "tenant_id", "subject_id", "revision"),
)
