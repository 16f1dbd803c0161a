"""Memories that the hot path noted and nobody has settled, found by their age."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    still = sa.text("status = 'provisional'")
    op.create_index("ix_memories_provisional", "memories", ["created_at"], sqlite_where=still, postgresql_where=still)
