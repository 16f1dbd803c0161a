"""Legal holds of documents, and who may see them beside what they say."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    op.add_column("documents", sa.Column("legal_hold", sa.Boolean(), server_default=sa.false(), nullable=False))
    # SQLite reads a row up to the column that is asked for, and a story is a hundred pages of its file.
    op.create_index(
        "ix_documents_labels", "documents", ["tenant_id", "subject_id", "visibility", "author_id", "document_id"]
    )
    op.create_index(
        "ix_documents_legal_hold",
        "documents",
        ["tenant_id", "subject_id"],
        sqlite_where=sa.text("legal_hold = 1"),
        postgresql_where=sa.text("legal_hold"),
    )
