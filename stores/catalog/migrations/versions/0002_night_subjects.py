"""The subjects that a nightly run has given out. Workers of the version before go on with `night_chunks`."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.create_table(
        "night_subjects",
        sa.Column("run_id", sa.String(length=120), nullable=False),
        sa.Column("tenant_id", sa.String(length=200), nullable=False),
        sa.Column("subject_id", sa.String(length=200), nullable=False),
        sa.Column("claim", sa.Integer(), nullable=False),
        sa.Column("next_run_at", sa.String(length=32), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["run_id"], ["night_runs.id"], name=op.f("fk_night_subjects_run_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("run_id", "tenant_id", "subject_id", name=op.f("pk_night_subjects")),
    )
