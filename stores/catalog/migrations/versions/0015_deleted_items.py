"""Deletions of the store's items: a backup that was made before has them still."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    op.create_table(
        "deleted_items",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.String(length=200), nullable=False),
        sa.Column("subject_id", sa.String(length=200), nullable=False),
        sa.Column("at", sa.String(length=32), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_deleted_items")),
    )
    op.create_index(op.f("ix_deleted_items_tenant_id_subject_id"), "deleted_items", ["tenant_id", "subject_id"])
