"""Calls of models and their tokens, by subject, conversation, day and purpose."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    op.create_table(
        "costs",
        sa.Column("tenant_id", sa.String(length=200), nullable=False),
        sa.Column("subject_id", sa.String(length=200), nullable=False),
        sa.Column("conversation_id", sa.String(length=200), nullable=False),
        sa.Column("day", sa.String(length=10), nullable=False),
        sa.Column("purpose", sa.String(length=20), nullable=False),
        sa.Column("llm_calls", sa.Float(), nullable=False),
        sa.Column("prompt_tokens", sa.Float(), nullable=False),
        sa.Column("completion_tokens", sa.Float(), nullable=False),
        sa.Column("embedding_calls", sa.Float(), nullable=False),
        sa.Column("embedding_texts", sa.Float(), nullable=False),
        sa.Column("embedding_tokens", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "subject_id", "conversation_id", "day", "purpose", name=op.f("pk_costs")),
    )
    op.create_index(op.f("ix_costs_tenant_id_day"), "costs", ["tenant_id", "day"])
