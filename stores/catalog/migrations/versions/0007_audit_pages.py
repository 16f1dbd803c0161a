"""The audit of a tenant page by page, latest first."""

from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.create_index("ix_audit_tenant_id_id", "audit", ["tenant_id", "id"])
