"""Let a key say of which one it is the rotation, so that what was begun with that one is known under it."""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"


def upgrade() -> None:
    op.add_column("api_keys", sa.Column("lineage", sa.String(length=200), nullable=True))
