"""Documents and their chunks, and the index's families."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    op.create_table(
        "documents",
        sa.Column("tenant_id", sa.String(length=200), nullable=False),
        sa.Column("subject_id", sa.String(length=200), nullable=False),
        sa.Column("document_id", sa.String(length=200), nullable=False),
        sa.Column("incarnation", sa.Uuid(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("title", sa.String(length=300), nullable=True),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("media_type", sa.String(length=100), nullable=False),
        sa.Column("visibility", sa.String(length=20), nullable=False),
        sa.Column("author_id", sa.String(length=200), nullable=False),
        sa.Column("source_ref", sa.Text(), nullable=True),
        sa.Column("occurred_at", sa.String(length=32), nullable=True),
        sa.Column("pages", sa.JSON(), nullable=False),
        sa.Column("quarantined", sa.Boolean(), nullable=False),
        sa.Column("indexed_version", sa.Integer(), nullable=False),
        sa.Column("indexed_digest", sa.String(length=64), nullable=False),
        sa.Column("approved_digest", sa.String(length=64), nullable=False),
        sa.Column("chunk_count", sa.Integer(), nullable=False),
        sa.Column("embedding_model", sa.String(length=200), nullable=True),
        sa.Column("taken_at", sa.String(length=32), nullable=True),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("failure", sa.String(length=200), nullable=True),
        sa.Column("created_at", sa.String(length=32), nullable=False),
        sa.Column("updated_at", sa.String(length=32), nullable=False),
        sa.Column("indexed_at", sa.String(length=32), nullable=True),
        sa.PrimaryKeyConstraint("tenant_id", "subject_id", "document_id", name=op.f("pk_documents")),
    )
    waiting = sa.text("indexed_version < version AND NOT quarantined AND failure IS NULL")
    op.create_index("ix_documents_waiting", "documents", ["updated_at"], sqlite_where=waiting, postgresql_where=waiting)
    op.create_index(op.f("ix_documents_tenant_id_author_id"), "documents", ["tenant_id", "author_id"])
    op.create_table(
        "chunks",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.String(length=200), nullable=False),
        sa.Column("subject_id", sa.String(length=200), nullable=False),
        sa.Column("document_id", sa.String(length=200), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("start", sa.Integer(), nullable=False),
        sa.Column("end", sa.Integer(), nullable=False),
        sa.Column("page", sa.Integer(), nullable=True),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "subject_id", "document_id"],
            ["documents.tenant_id", "documents.subject_id", "documents.document_id"],
            name=op.f("fk_chunks_tenant_id_subject_id_document_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_chunks")),
    )
    op.create_index(
        op.f("ix_chunks_tenant_id_subject_id_document_id_number"),
        "chunks",
        ["tenant_id", "subject_id", "document_id", "number"],
        unique=True,
    )
    op.create_index(op.f("ix_chunks_tenant_id_subject_id_revision"), "chunks", ["tenant_id", "subject_id", "revision"])
    op.add_column("audit", sa.Column("document_id", sa.String(length=200), nullable=True))
    op.add_column("index_jobs", sa.Column("family", sa.String(length=20), server_default="memories", nullable=False))
    op.add_column("subjects", sa.Column("chunks_removed", sa.BigInteger(), server_default="0", nullable=False))
