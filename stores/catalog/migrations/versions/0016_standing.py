"""An index by which what stands in every context block is found without a look at all else that is known."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    op.create_index(
        "ix_memories_standing",
        "memories",
        ["tenant_id", "subject_id", "status"],
        sqlite_where=sa.text("(pinned OR importance >= 0.95 OR json_extract(document, '$.explicit') = 1)"),
        postgresql_where=sa.text("(pinned OR importance >= 0.95 OR (document ->> 'explicit') = 'true')"),
    )
