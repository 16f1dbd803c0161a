"""Delete a document with all its chunks and vectors."""

from __future__ import annotations

from collections.abc import Set
from datetime import datetime

from memory.context import MemoryContext
from memory.documents.audit import document_line
from memory.failures import retry_on_conflict
from memory.publish import publish
from schema import AuditAction, AuditEntry, Event, EventName, KeptDocument
from schema.base import ANY_ETAG
from schema.errors import NotFound, Outdated
from stores.catalog import Changes, DocumentWrite


@retry_on_conflict
def delete_document(
    document: KeptDocument,
    context: MemoryContext,
    *,
    by: str,
    reason: str,
    now: datetime,
    etags: Set[str] | None = None,
) -> int:
    """Delete a document, its chunks, and their vectors and words, with `etags` only while it has one of those; a line
    without content stays. Return how many chunks it had.

    Raises:
        NotFound: it is gone already.
        Outdated: it was put since; nothing was deleted.
        UnderLegalHold: so it is; nothing was deleted.
        ConcurrentChange: others kept changing it; try again.
    """
    subject, document_id = document.subject, document.document_id
    stored = context.catalog.documents.heads(subject, [document_id]).get(document_id)
    if stored is None or stored.incarnation != document.incarnation:
        raise NotFound(f"the document {document_id} is gone already")
    if etags is not None and etags.isdisjoint({stored.etag, *ANY_ETAG}):
        raise Outdated
    write, line, event = deletion(stored, reason, context, by=by, now=now)
    publish(Changes(subject=subject, at=now, documents=(write,), audit=(line,), events=(event,)), {}, context)
    return len(write.gone)


def deletion(
    document: KeptDocument, reason: str, context: MemoryContext, *, by: str, now: datetime
) -> tuple[DocumentWrite, AuditEntry, Event]:
    """Return what deletes a document, with the line and the event that tell of it."""
    chunks = tuple(context.catalog.documents.chunks_of(document.subject, document.document_id))
    line = document_line(
        document, AuditAction.DOCUMENT_DELETED, reason, context.policy.version, by, now, chunk_count=len(chunks)
    )
    labels = document.labels
    # Nobody can look up any more who might see it.
    payload = {
        "document_id": document.document_id,
        "chunks": len(chunks),
        "visibility": labels.visibility.value,
        "author_id": labels.author_id,
    }
    event = Event(name=EventName.DOCUMENT_DELETED, **document.subject.model_dump(), at=now, payload=payload)
    return DocumentWrite(document, document, gone=chunks, is_deleted=True), line, event
