"""Who else may be telling the index of a memory: when a job was last taken, and how often."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.add_column("index_jobs", sa.Column("generation", sa.Integer(), server_default="0", nullable=False))
    op.add_column("index_jobs", sa.Column("taken_at", sa.String(length=32), nullable=True))
