"""Delete a document with all its chunks and vectors."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from memory.context import MemoryContext
from memory.documents.lines import document_line
from memory.publish import publish
from schema import AuditAction, Event, EventName, KeptDocument
from schema.errors import ConcurrentChange, NotFound
from stores.catalog import Changes, DocumentWrite

_ATTEMPTS: Final = 5


def delete_document(document: KeptDocument, context: MemoryContext, *, by: str, reason: str, now: datetime) -> int:
    """Delete a document, its chunks, and their vectors and words; a line without content stays. Return how many chunks
    it had.

    Raises:
        NotFound: it is gone already.
        ConcurrentChange: others kept changing it; try again.
    """
    subject, document_id = document.subject, document.document_id
    for _ in range(_ATTEMPTS):
        known = context.catalog.documents.heads(subject, [document_id]).get(document_id)
        if known is None or known.incarnation != document.incarnation:
            raise NotFound(f"the document {document_id} is gone already")
        chunks = tuple(context.catalog.documents.chunks_of(subject, document_id))
        line = document_line(
            known, AuditAction.DOCUMENT_DELETED, reason, context.policy.version, by, now, chunk_count=len(chunks)
        )
        payload = {"document_id": document_id, "chunks": len(chunks)}
        changes = Changes(
            subject=subject,
            at=now,
            documents=(DocumentWrite(known, known, gone=chunks, is_deleted=True),),
            audit=(line,),
            events=(Event(name=EventName.DOCUMENT_DELETED, **subject.model_dump(), at=now, payload=payload),),
        )
        try:
            publish(changes, {}, context)
        except ConcurrentChange:
            continue
        return len(chunks)
    raise ConcurrentChange
