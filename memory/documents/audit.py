"""Lines of the audit about documents."""

from __future__ import annotations

from datetime import datetime

from schema import AuditAction, AuditEntry, KeptDocument


def document_line(
    document: KeptDocument,
    action: AuditAction,
    reason: str,
    policy_version: str,
    by: str,
    now: datetime,
    **details: int | str,
) -> AuditEntry:
    """Return a line about a document; neither reason nor details ever hold what it says."""
    return AuditEntry(
        action=action,
        **document.subject.model_dump(),
        at=now,
        by=by,
        reason=reason,
        document_id=document.document_id,
        policy_version=policy_version,
        details=dict(details),
    )
