"""The first tables."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "audit",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("action", sa.String(length=20), nullable=False),
        sa.Column("tenant_id", sa.String(length=200), nullable=False),
        sa.Column("subject_id", sa.String(length=200), nullable=False),
        sa.Column("at", sa.String(length=32), nullable=False),
        sa.Column("by", sa.String(length=200), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("memory_id", sa.Uuid(), nullable=True),
        sa.Column("turn_id", sa.String(length=200), nullable=True),
        sa.Column("policy_version", sa.String(length=20), nullable=False),
        sa.Column("details", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit")),
    )
    op.create_index(
        op.f("ix_audit_tenant_id_subject_id_memory_id"),
        "audit",
        ["tenant_id", "subject_id", "memory_id"],
        unique=False,
    )
    op.create_table(
        "index_jobs",
        sa.Column("memory_id", sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.String(length=200), nullable=False),
        sa.Column("subject_id", sa.String(length=200), nullable=False),
        sa.Column("index_key", sa.Uuid(), nullable=False),
        sa.Column("action", sa.String(length=10), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("since", sa.String(length=32), nullable=False),
        sa.PrimaryKeyConstraint("memory_id", name=op.f("pk_index_jobs")),
    )
    op.create_index(op.f("ix_index_jobs_since"), "index_jobs", ["since"], unique=False)
    op.create_index(op.f("ix_index_jobs_tenant_id_subject_id"), "index_jobs", ["tenant_id", "subject_id"], unique=False)
    op.create_table(
        "ledger",
        sa.Column("tenant_id", sa.String(length=200), nullable=False),
        sa.Column("subject_id", sa.String(length=200), nullable=False),
        sa.Column("turn_id", sa.String(length=200), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("outcome", sa.String(length=20), nullable=False),
        sa.Column("reasons", sa.JSON(), nullable=False),
        sa.Column("arrived_at", sa.String(length=32), nullable=False),
        sa.Column("processed_at", sa.String(length=32), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "subject_id", "turn_id", name=op.f("pk_ledger")),
    )
    op.create_index(op.f("ix_ledger_processed_at"), "ledger", ["processed_at"], unique=False)
    op.create_table(
        "memories",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.String(length=200), nullable=False),
        sa.Column("subject_id", sa.String(length=200), nullable=False),
        sa.Column("type", sa.String(length=20), nullable=False),
        sa.Column("kind", sa.String(length=30), nullable=False),
        sa.Column("category", sa.String(length=60), nullable=False),
        sa.Column("status", sa.String(length=20), nullable=False),
        sa.Column("importance", sa.Float(), nullable=False),
        sa.Column("pinned", sa.Boolean(), nullable=False),
        sa.Column("legal_hold", sa.Boolean(), nullable=False),
        sa.Column("occurred_at", sa.String(length=32), nullable=False),
        sa.Column("created_at", sa.String(length=32), nullable=False),
        sa.Column("updated_at", sa.String(length=32), nullable=False),
        sa.Column("last_accessed", sa.String(length=32), nullable=False),
        sa.Column("consolidated_into", sa.Uuid(), nullable=True),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.Column("document", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_memories")),
    )
    op.create_index(
        op.f("ix_memories_tenant_id_subject_id"),
        "memories",
        ["tenant_id", "subject_id"],
        unique=False,
        sqlite_where=sa.text("legal_hold = 1"),
        postgresql_where=sa.text("legal_hold"),
    )
    op.create_index(
        op.f("ix_memories_tenant_id_subject_id_created_at"),
        "memories",
        ["tenant_id", "subject_id", "created_at"],
        unique=False,
    )
    op.create_index(
        op.f("ix_memories_tenant_id_subject_id_revision"),
        "memories",
        ["tenant_id", "subject_id", "revision"],
        unique=False,
    )
    op.create_index(
        op.f("ix_memories_tenant_id_subject_id_status_updated_at"),
        "memories",
        ["tenant_id", "subject_id", "status", "updated_at"],
        unique=False,
    )
    op.create_table(
        "outbox",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("tenant_id", sa.String(length=200), nullable=False),
        sa.Column("subject_id", sa.String(length=200), nullable=False),
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("at", sa.String(length=32), nullable=False),
        sa.Column("payload", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_outbox")),
        sqlite_autoincrement=True,
    )
    op.create_index(
        op.f("ix_outbox_tenant_id_subject_id_id"), "outbox", ["tenant_id", "subject_id", "id"], unique=False
    )
    op.create_table(
        "preferences",
        sa.Column("tenant_id", sa.String(length=200), nullable=False),
        sa.Column("subject_id", sa.String(length=200), nullable=False),
        sa.Column("name", sa.String(length=20), nullable=False),
        sa.Column("value", sa.String(length=100), nullable=False),
        sa.Column("since", sa.String(length=32), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "subject_id", "name", "value", name=op.f("pk_preferences")),
    )
    op.create_index(
        op.f("ix_preferences_name_value_tenant_id_subject_id"),
        "preferences",
        ["name", "value", "tenant_id", "subject_id"],
        unique=False,
    )
    op.create_table(
        "reviews",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.String(length=200), nullable=False),
        sa.Column("subject_id", sa.String(length=200), nullable=False),
        sa.Column("asked_by", sa.String(length=20), nullable=False),
        sa.Column("reason", sa.String(length=300), nullable=False),
        sa.Column("policy_version", sa.String(length=20), nullable=False),
        sa.Column("status", sa.String(length=20), nullable=False),
        sa.Column("opened_at", sa.String(length=32), nullable=False),
        sa.Column("decided_at", sa.String(length=32), nullable=True),
        sa.Column("decided_by", sa.String(length=200), nullable=True),
        sa.Column("document", sa.JSON(none_as_null=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_reviews")),
    )
    op.create_index(
        op.f("ix_reviews_tenant_id_subject_id_status"),
        "reviews",
        ["tenant_id", "subject_id", "status"],
        unique=False,
    )
    op.create_index(op.f("ix_reviews_status_opened_at"), "reviews", ["status", "opened_at"], unique=False)
    op.create_table(
        "sources",
        sa.Column("tenant_id", sa.String(length=200), nullable=False),
        sa.Column("subject_id", sa.String(length=200), nullable=False),
        sa.Column("turn_id", sa.String(length=200), nullable=False),
        sa.Column("occurred_at", sa.String(length=32), nullable=False),
        sa.Column("turn", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "subject_id", "turn_id", name=op.f("pk_sources")),
    )
    op.create_index(op.f("ix_sources_occurred_at"), "sources", ["occurred_at"], unique=False)
    op.create_table(
        "subjects",
        sa.Column("tenant_id", sa.String(length=200), nullable=False),
        sa.Column("subject_id", sa.String(length=200), nullable=False),
        sa.Column("fence", sa.BigInteger(), nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.Column("removed", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "subject_id", name=op.f("pk_subjects")),
    )
    op.create_table(
        "open_topics",
        sa.Column("tenant_id", sa.String(length=200), nullable=False),
        sa.Column("subject_id", sa.String(length=200), nullable=False),
        sa.Column("agent_id", sa.String(length=200), nullable=False),
        sa.Column("topic", sa.String(length=300), nullable=False),
        sa.Column("turn_id", sa.String(length=200), nullable=False),
        sa.Column("since", sa.String(length=32), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "subject_id", "agent_id", name=op.f("pk_open_topics")),
    )
    op.create_index(op.f("ix_open_topics_since"), "open_topics", ["since"], unique=False)
    op.create_table(
        "questions",
        sa.Column("tenant_id", sa.String(length=200), nullable=False),
        sa.Column("subject_id", sa.String(length=200), nullable=False),
        sa.Column("conversation_id", sa.String(length=200), nullable=False),
        sa.Column("question", sa.String(length=300), nullable=False),
        sa.Column("turn_id", sa.String(length=200), nullable=False),
        sa.Column("since", sa.String(length=32), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "subject_id", "conversation_id", name=op.f("pk_questions")),
    )
    op.create_index(op.f("ix_questions_since"), "questions", ["since"], unique=False)
    op.create_table(
        "facts",
        sa.Column("memory_id", sa.Uuid(), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("tenant_id", sa.String(length=200), nullable=False),
        sa.Column("subject_id", sa.String(length=200), nullable=False),
        sa.Column("entity", sa.String(length=200), nullable=False),
        sa.Column("verb", sa.String(length=100), nullable=False),
        sa.Column("object", sa.String(length=300), nullable=False),
        sa.Column("attribute", sa.String(length=60), nullable=True),
        sa.ForeignKeyConstraint(["memory_id"], ["memories.id"], name=op.f("fk_facts_memory_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("memory_id", "ordinal", name=op.f("pk_facts")),
    )
    op.create_index(
        op.f("ix_facts_tenant_id_subject_id_attribute"),
        "facts",
        ["tenant_id", "subject_id", "attribute"],
        unique=False,
    )
    op.create_table(
        "provenance",
        sa.Column("memory_id", sa.Uuid(), nullable=False),
        sa.Column("turn_id", sa.String(length=200), nullable=False),
        sa.Column("tenant_id", sa.String(length=200), nullable=False),
        sa.Column("subject_id", sa.String(length=200), nullable=False),
        sa.ForeignKeyConstraint(
            ["memory_id"], ["memories.id"], name=op.f("fk_provenance_memory_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("memory_id", "turn_id", name=op.f("pk_provenance")),
    )
    op.create_index(
        op.f("ix_provenance_tenant_id_subject_id_turn_id"),
        "provenance",
        ["tenant_id", "subject_id", "turn_id"],
        unique=False,
    )
    op.create_table(
        "tombstones",
        sa.Column("tenant_id", sa.String(length=200), nullable=False),
        sa.Column("subject_id", sa.String(length=200), nullable=False),
        sa.Column("scope", sa.String(length=20), nullable=False),
        sa.Column("key", sa.String(length=200), nullable=False),
        sa.Column("at", sa.String(length=32), nullable=False),
        sa.Column("ended_at", sa.String(length=32), nullable=True),
        sa.PrimaryKeyConstraint("tenant_id", "subject_id", "scope", "key", name=op.f("pk_tombstones")),
    )
    op.create_index(
        op.f("ix_tombstones_at"),
        "tombstones",
        ["at"],
        unique=False,
        sqlite_where=sa.text("ended_at IS NULL"),
        postgresql_where=sa.text("ended_at IS NULL"),
    )
    op.create_table(
        "accesses",
        sa.Column("memory_id", sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.String(length=200), nullable=False),
        sa.Column("subject_id", sa.String(length=200), nullable=False),
        sa.Column("times", sa.Integer(), nullable=False),
        sa.Column("last_at", sa.String(length=32), nullable=False),
        sa.ForeignKeyConstraint(["memory_id"], ["memories.id"], name=op.f("fk_accesses_memory_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("memory_id", name=op.f("pk_accesses")),
    )
    op.create_index(op.f("ix_accesses_tenant_id_subject_id"), "accesses", ["tenant_id", "subject_id"], unique=False)
    op.create_table(
        "night_runs",
        sa.Column("id", sa.String(length=120), nullable=False),
        sa.Column("job", sa.String(length=20), nullable=False),
        sa.Column("zone", sa.String(length=60), nullable=True),
        sa.Column("began_at", sa.String(length=32), nullable=False),
        sa.Column("finished_at", sa.String(length=32), nullable=True),
        sa.Column("cursor_tenant", sa.String(length=200), nullable=True),
        sa.Column("cursor_subject", sa.String(length=200), nullable=True),
        sa.Column("chunks", sa.Integer(), nullable=False),
        sa.Column("subjects", sa.Integer(), nullable=False),
        sa.Column("results", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_night_runs")),
    )
    op.create_index(op.f("ix_night_runs_job_began_at"), "night_runs", ["job", "began_at"], unique=False)
    op.create_table(
        "night_chunks",
        sa.Column("run_id", sa.String(length=120), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("after_tenant", sa.String(length=200), nullable=True),
        sa.Column("after_subject", sa.String(length=200), nullable=True),
        sa.Column("until_tenant", sa.String(length=200), nullable=False),
        sa.Column("until_subject", sa.String(length=200), nullable=False),
        sa.Column("holder", sa.String(length=40), nullable=False),
        sa.Column("beat_at", sa.String(length=32), nullable=False),
        sa.Column("deaths", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["night_runs.id"], name=op.f("fk_night_chunks_run_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run_id", "number", name=op.f("pk_night_chunks")),
    )
    op.create_table(
        "moves",
        sa.Column("index", sa.String(length=60), nullable=False),
        sa.Column("model", sa.String(length=200), nullable=False),
        sa.Column("cursor_tenant", sa.String(length=200), nullable=True),
        sa.Column("cursor_subject", sa.String(length=200), nullable=True),
        sa.Column("done", sa.BigInteger(), nullable=False),
        sa.Column("began_at", sa.String(length=32), nullable=False),
        sa.Column("finished_at", sa.String(length=32), nullable=True),
        sa.PrimaryKeyConstraint("index", name=op.f("pk_moves")),
    )
    op.create_table(
        "moved",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("memory_id", sa.Uuid(), nullable=False),
        sa.Column("tenant", sa.String(length=200), nullable=False),
        sa.Column("subject", sa.String(length=200), nullable=False),
        sa.Column("type", sa.String(length=20), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_moved")),
        sqlite_autoincrement=True,
    )
