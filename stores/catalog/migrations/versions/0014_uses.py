"""For what memories were used."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    op.create_table(
        "uses",
        sa.Column("memory_id", sa.Uuid(), nullable=False),
        sa.Column("way", sa.String(length=20), nullable=False),
        sa.Column("agent_id", sa.String(length=200), nullable=False),
        sa.Column("tenant_id", sa.String(length=200), nullable=False),
        sa.Column("subject_id", sa.String(length=200), nullable=False),
        sa.Column("times", sa.Integer(), nullable=False),
        sa.Column("last_at", sa.String(length=32), nullable=False),
        sa.ForeignKeyConstraint(["memory_id"], ["memories.id"], name=op.f("fk_uses_memory_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("memory_id", "way", "agent_id", name=op.f("pk_uses")),
    )
    op.create_index(op.f("ix_uses_tenant_id_subject_id"), "uses", ["tenant_id", "subject_id"], unique=False)
