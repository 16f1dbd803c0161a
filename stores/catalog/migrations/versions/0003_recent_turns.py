"""The last turns of a conversation, for the extractor that asks a language model."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.create_table(
        "recent_turns",
        sa.Column("tenant_id", sa.String(length=200), nullable=False),
        sa.Column("subject_id", sa.String(length=200), nullable=False),
        sa.Column("conversation_id", sa.String(length=200), nullable=False),
        sa.Column("turns", sa.Text(), nullable=False),
        sa.Column("since", sa.String(length=32), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "subject_id", "conversation_id", name=op.f("pk_recent_turns")),
    )
    op.create_index(op.f("ix_recent_turns_since"), "recent_turns", ["since"], unique=False)
