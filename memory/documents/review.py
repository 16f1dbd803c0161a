"""Carry out what a person decided on a document that waited for them."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from memory.context import MemoryContext
from memory.documents.delete import deletion
from memory.draft import Draft
from memory.publish import publish
from schema import KeptDocument, Review, ReviewStatus
from schema.errors import BrokerOutage
from stores.catalog import DocumentWrite
from stores.queue import request_indexing


def let_pass(review: Review, draft: Draft, context: MemoryContext) -> None:
    """Let a document be made searchable although it looks like an instruction; where it was changed since, the newer
    content is screened for itself."""
    draft.close_review(review, ReviewStatus.APPROVED, None)
    document = _waiting(review, context)
    if document is None:
        publish(draft.changes(), {}, context)
        return
    passed = document.model_copy(update={"quarantined": False, "approved_digest": document.digest})
    publish(replace(draft.changes(), documents=(DocumentWrite(passed, document),)), {}, context)
    # Without the notification it is the sweep that finds it.
    with suppress(BrokerOutage):
        request_indexing(context.celery, review.subject, document.document_id)


def drop_document(review: Review, draft: Draft, context: MemoryContext) -> None:
    """Delete a document that a person has not let pass, with all that is searchable of it."""
    document = _waiting(review, context)
    if document is None:
        publish(draft.changes(), {}, context)
        return
    write, line, event = deletion(document, review.reason, context, by=draft.by, now=draft.now)
    changes = draft.changes()
    publish(
        replace(changes, documents=(write,), audit=(*changes.audit, line), events=(*changes.events, event)), {}, context
    )


def _waiting(review: Review, context: MemoryContext) -> KeptDocument | None:
    assert review.document_id is not None
    document = context.catalog.documents.get(review.subject, review.document_id)
    is_meant = (
        document is not None
        and document.quarantined
        and review.id
        == Review.of_document(
            document,
            review.asked_by,
            reason=review.reason,
            policy_version=review.policy_version,
            opened_at=review.opened_at,
        ).id
    )
    return document if is_meant else None
