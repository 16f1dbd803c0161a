"""Let what the index was told beside another who was never heard of again be looked at once more."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"


def upgrade() -> None:
    op.create_table(
        "index_watches",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.String(length=200), nullable=False),
        sa.Column("subject_id", sa.String(length=200), nullable=False),
        sa.Column("index_key", sa.Uuid(), nullable=False),
        sa.Column("family", sa.String(length=20), nullable=False),
        sa.Column("since", sa.String(length=32), nullable=False),
        sa.Column("next_at", sa.String(length=32), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_index_watches")),
    )
    op.create_index(op.f("ix_index_watches_next_at"), "index_watches", ["next_at"])
