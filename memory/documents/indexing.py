"""Make a document searchable: screen it, cut it, embed all of it, and then put it in the place of what was before.

Nothing is taken away before the new is there: source "AI Memory Phase 1", which deletes first and so has nothing where
an embedder fails halfway, notwithstanding (docs/decisions, documents).
"""

from __future__ import annotations

import uuid
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final

import structlog

from memory.context import MemoryContext
from memory.documents.audit import document_line
from memory.failures import is_transient
from memory.metrics import DOCUMENTS, observe_document
from memory.publish import publish
from memory.spending import spending
from memory.tracing import span
from policies.chunking import Sizes, chunks, sizes_for
from policies.privacy.documents import DocumentScreening, screen_document
from schema import (
    Asker,
    AuditAction,
    AuditEntry,
    Chunk,
    Event,
    EventName,
    KeptDocument,
    Policy,
    Review,
    Subject,
    chunk_id,
)
from schema.document import BLOCKED_TOPIC
from schema.errors import ConcurrentChange
from stores.catalog import Changes, DocumentWrite
from stores.embedding.base import Embedder, reading_of
from stores.failpoints import hit
from stores.index.base import Vector

_log = structlog.get_logger()
_TEXTS_A_CALL: Final = 64
_WORKER: Final = "worker"


def make_searchable(subject: Subject, document_id: str, context: MemoryContext, now: Callable[[], datetime]) -> None:
    """Do what a document waits for, if it waits and no other worker is at it.

    A failure that passes leaves it to the sweep; one that does not, after some tries, to a person.
    """
    moment, settings = now(), context.settings
    lease = timedelta(seconds=settings.lease_seconds)
    document = context.catalog.documents.take(subject, document_id, moment, moment - lease)
    if document is None:
        return
    hit("after_acquire")
    if document.tries > settings.max_deliveries:
        context.catalog.documents.give_back(document, tries=document.tries, failure="workers_died")
        DOCUMENTS.labels("failed").inc()
        _log.error("document_given_up", reason="workers_died", stage="documents")
        return
    try:
        with span("document", {"afterturn.try": document.tries}), spending("document"):
            outcome = _carry_through(document, context, now)
    except ConcurrentChange:
        # It is at another version by now, or gone: whoever wrote that has notified the workers.
        outcome = "overtaken"
    except Exception as error:
        name = type(error).__name__
        if is_transient(error):
            context.catalog.documents.give_back(document, tries=document.tries - 1, failure=None)
            _log.warning("document_waits", stage="documents", error=name)
            return
        is_last = document.tries >= settings.max_failures
        context.catalog.documents.give_back(document, tries=document.tries, failure=name if is_last else None)
        if is_last:
            DOCUMENTS.labels("failed").inc()
        _log.error("document_failed", stage="documents", error=name, given_up=is_last)
        raise
    DOCUMENTS.labels(outcome).inc()


def _carry_through(document: KeptDocument, context: MemoryContext, now: Callable[[], datetime]) -> str:
    before = tuple(context.catalog.documents.chunks_of(document.subject, document.document_id))
    is_same = document.indexed_digest == document.digest and document.embedding_model == context.embedder.name
    if is_same:
        return _relabel(document, before, context, now())
    wanted = context.catalog.preferences.of(document.subject)
    screening = screen_document(
        document.content,
        document.pages,
        context.policy,
        title=document.title or "",
        # What is under legal hold is not dropped; of a blocked topic nothing is told where it is asked for.
        blocked_topics=() if document.legal_hold else wanted.blocked_topics,
    )
    if screening.on_blocked_topic:
        return _refuse(document, before, context, now())
    if screening.planted and document.approved_digest != document.digest:
        return _quarantine(document, screening, context, now())
    kept = document.model_copy(update={"content": screening.text, "pages": screening.pages})
    cut = cut_up(kept, context.policy, context.embedder)
    vectors = _embedded(cut, document, context, now)
    hit("after_extract")
    moment = now()
    done = kept.model_copy(
        update={
            "indexed_version": document.version,
            "indexed_digest": document.digest,
            "chunk_count": len(cut),
            "embedding_model": context.embedder.name,
            "tries": 0,
            "failure": None,
            "indexed_at": moment,
        }
    )
    there = {chunk.id for chunk in cut}
    write = DocumentWrite(done, document, cut, tuple(chunk for chunk in before if chunk.id not in there))
    if document.indexed_version:
        counts = {"old_chunk_count": len(before), "new_chunk_count": len(cut)}
        line = _line(document, AuditAction.DOCUMENT_REINDEXED, "its content changed", context, moment, **counts)
    else:
        line = _line(
            document, AuditAction.DOCUMENT_INDEXED, "it was put", context, moment, chunk_count=len(cut),
            masked=", ".join(screening.masked),
        )  # fmt: skip
    _publish(write, line, vectors, context, moment)
    observe_document((moment - document.updated_at).total_seconds())
    return "masked" if screening.masked else "indexed"


def _relabel(document: KeptDocument, before: Sequence[Chunk], context: MemoryContext, now: datetime) -> str:
    """Let the index know of other labels, with the vectors that it has."""
    keys = [chunk.index_key for chunk in before]
    entries = context.chunks.fetch(document.subject, keys) if keys else []
    update = {
        "version": document.version,
        "visibility": document.visibility,
        "author_id": document.author_id or document.subject_id,
    }
    relabelled = tuple(chunk.model_copy(update=update) for chunk in before)
    done = document.model_copy(update={"indexed_version": document.version, "tries": 0, "failure": None})
    changes = Changes(subject=document.subject, at=now, documents=(DocumentWrite(done, document, relabelled),))
    publish(changes, {entry.memory_id: entry.vector for entry in entries}, context)
    return "relabelled"


def _refuse(document: KeptDocument, before: tuple[Chunk, ...], context: MemoryContext, now: datetime) -> str:
    """Keep nothing of a document that is on a blocked topic but that it was refused."""
    refused = document.model_copy(
        update={
            "content": "", "title": None, "pages": (), "failure": BLOCKED_TOPIC, "chunk_count": 0,
            "indexed_digest": "", "indexed_at": None,
        }
    )  # fmt: skip
    line = _line(document, AuditAction.REFUSED, BLOCKED_TOPIC, context, now, chunk_count=len(before))
    write = DocumentWrite(refused, document, (), before)
    publish(Changes(subject=document.subject, at=now, documents=(write,), audit=(line,)), {}, context)
    return "refused"


def _quarantine(document: KeptDocument, screening: DocumentScreening, context: MemoryContext, now: datetime) -> str:
    """Hold a document for a person: what was searchable of it before stays so."""
    reason = ", ".join(screening.planted)
    quarantined = document.model_copy(
        update={"content": screening.text, "pages": screening.pages, "quarantined": True, "tries": 0}
    )
    review = Review.of_document(
        document, Asker.SCREENING, reason=reason, policy_version=context.policy.version, opened_at=now
    )
    line = _line(document, AuditAction.QUARANTINED, reason, context, now)
    write = DocumentWrite(quarantined, document)
    changes = Changes(subject=document.subject, at=now, documents=(write,), audit=(line,), reviews=(review,))
    publish(changes, {}, context)
    return "quarantined"


def cut_up(document: KeptDocument, policy: Policy, embedder: Embedder) -> tuple[Chunk, ...]:
    """Return a document's chunks, as long as the embedder reads."""
    reading = reading_of(embedder)
    tokens = reading.spans(document.content)
    starts = [start for start, _ in tokens]
    spans = chunks(document.content, sizes_of(policy, reading.max_tokens), tokens)
    return tuple(
        Chunk(
            id=chunk_id(document, number),
            **document.subject.model_dump(),
            document_id=document.document_id,
            number=number,
            start=start,
            end=end,
            page=document.page_of(start),
            content=document.content[start:end],
            tokens=bisect_left(starts, end) - bisect_left(starts, start),
            version=document.version,
            visibility=document.visibility,
            author_id=document.author_id or document.subject_id,
            created_at=document.created_at,
        )
        for number, (start, end) in enumerate(spans)
    )


def sizes_of(policy: Policy, reads: int | None) -> Sizes:
    """Return how long chunks are for an embedder that reads so many tokens."""
    return sizes_for(policy.chunk_tokens, policy.chunk_overlap_tokens, policy.chunk_max_tokens, reads)


def _embedded(
    cut: Sequence[Chunk], document: KeptDocument, context: MemoryContext, now: Callable[[], datetime]
) -> dict[uuid.UUID, Vector]:
    vectors: dict[uuid.UUID, Vector] = {}
    for part in _calls(cut):
        if not context.catalog.documents.keep(document, now()):
            raise ConcurrentChange
        made = context.embedder.embed([chunk.content for chunk in part])
        vectors |= {chunk.id: vector for chunk, vector in zip(part, made, strict=True)}
    return vectors


def _calls(cut: Sequence[Chunk]) -> Iterator[Sequence[Chunk]]:
    for start in range(0, len(cut), _TEXTS_A_CALL):
        yield cut[start : start + _TEXTS_A_CALL]


def _publish(
    write: DocumentWrite, line: AuditEntry, vectors: dict[uuid.UUID, Vector], context: MemoryContext, now: datetime
) -> None:
    document = write.document
    payload = {"document_id": document.document_id, "chunks": document.chunk_count}
    event = Event(name=EventName.DOCUMENT_INDEXED, **document.subject.model_dump(), at=now, payload=payload)
    changes = Changes(subject=document.subject, at=now, documents=(write,), audit=(line,), events=(event,))
    publish(changes, vectors, context)


def _line(
    document: KeptDocument,
    action: AuditAction,
    reason: str,
    context: MemoryContext,
    now: datetime,
    **details: int | str,
) -> AuditEntry:
    return document_line(document, action, reason, context.policy.version, _WORKER, now, **details)
