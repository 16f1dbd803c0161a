"""Set and lift legal holds of documents: what is under one stays, with what it says."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from memory.context import MemoryContext
from memory.documents.lines import document_line
from memory.documents.rights import NO_SUCH_DOCUMENT
from memory.failures import retry_on_conflict
from memory.legal_holds import MAX_WHY_CHARS
from memory.publish import publish
from schema import AuditAction, KeptDocument, Subject
from schema.errors import NotFound
from stores.catalog import Changes, DocumentWrite


@retry_on_conflict
def set_document_hold(
    subject: Subject,
    ids: Collection[str],
    context: MemoryContext,
    *,
    why: str,
    by: str,
    now: datetime,
    holds: bool = True,
) -> list[KeptDocument]:
    """Put documents of a subject under legal hold, or with `holds` False lift it. Return those of which that is news.

    Each gets a line in the audit with `why`, as memories do. Under hold a document can be neither deleted nor given
    other content, and no erasure takes it; who may see it can still be changed.

    Raises:
        NotFound: the subject has no such document; nothing was changed.
        ConcurrentChange: others kept changing one of them; try again.
    """
    stored = [context.catalog.documents.get(subject, id_) for id_ in sorted(set(ids))]
    documents = [document for document in stored if document is not None]
    if len(documents) < len(stored):
        raise NotFound(NO_SUCH_DOCUMENT)
    news = [document for document in documents if document.legal_hold is not holds]
    changed = [document.model_copy(update={"legal_hold": holds}) for document in news]
    action, policy = AuditAction.HELD if holds else AuditAction.LIFTED, context.policy.version
    changes = Changes(
        subject=subject,
        at=now,
        documents=tuple(DocumentWrite(*pair) for pair in zip(changed, news, strict=True)),
        audit=tuple(document_line(document, action, why[:MAX_WHY_CHARS], policy, by, now) for document in changed),
    )
    if changed:
        publish(changes, {}, context)
    return changed
