"""Windows of conversations, and facts, may have vectors of their own, by which memories are found."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    op.create_table(
        "windows",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.String(length=200), nullable=False),
        sa.Column("subject_id", sa.String(length=200), nullable=False),
        sa.Column("turn_id", sa.String(length=200), nullable=False),
        sa.Column("window_index", sa.Integer(), nullable=False),
        sa.Column("previous_turn_id", sa.String(length=200), nullable=True),
        sa.Column("conversation_id", sa.String(length=200), nullable=False),
        sa.Column("said_at", sa.String(length=32), nullable=False),
        sa.Column("start", sa.Integer(), nullable=False),
        sa.Column("end", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_windows")),
    )
    subject = ["tenant_id", "subject_id"]
    op.create_index("ix_windows_turn", "windows", [*subject, "turn_id", "window_index"], unique=True)
    op.create_index("ix_windows_previous", "windows", [*subject, "previous_turn_id"])
    op.create_index("ix_windows_conversation", "windows", [*subject, "conversation_id", "said_at"])
    op.add_column("facts", sa.Column("id", sa.Uuid(), nullable=True))
    op.add_column("facts", sa.Column("version", sa.Integer(), nullable=True))
    op.create_index(
        "ix_facts_id",
        "facts",
        ["id"],
        unique=True,
        sqlite_where=sa.text("id IS NOT NULL"),
        postgresql_where=sa.text("id IS NOT NULL"),
    )
