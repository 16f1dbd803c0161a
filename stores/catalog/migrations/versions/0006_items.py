"""Items of the store: JSON that applications keep about subjects."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.create_table(
        "items",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.String(length=200), nullable=False),
        sa.Column("subject_id", sa.String(length=200), nullable=False),
        sa.Column("namespace", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("created_at", sa.String(length=32), nullable=False),
        sa.Column("updated_at", sa.String(length=32), nullable=False),
        sa.Column("ttl_minutes", sa.Float(), nullable=True),
        sa.Column("expires_at", sa.String(length=32), nullable=True),
        sa.Column("texts", sa.Text(), nullable=True),
        sa.Column("vectors", sa.LargeBinary(), nullable=True),
        sa.Column("embedding_model", sa.String(length=200), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_items")),
    )
    op.create_index(
        op.f("ix_items_tenant_id_subject_id_updated_at"), "items", ["tenant_id", "subject_id", "updated_at"]
    )
    op.create_index(op.f("ix_items_expires_at"), "items", ["expires_at"])
