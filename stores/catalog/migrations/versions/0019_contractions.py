"""Columns and tables that went, and which versions can do without them."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    op.create_table(
        "contractions",
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("needs", sa.String(length=4), nullable=False),
        sa.Column("at", sa.String(length=32), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_contractions")),
    )
