"""Sets and lifts legal holds: what is under one stays, whatever time, the user or an operator does."""

from __future__ import annotations

import uuid
from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime

from memory.context import MemoryContext
from memory.documents.audit import document_line
from memory.documents.rights import NO_SUCH_DOCUMENT
from memory.draft import Draft
from memory.failures import retry_on_conflict
from memory.publish import publish
from memory.rights import NO_SUCH
from schema import AuditAction, KeptDocument, Memory, Subject
from schema.errors import NotFound
from stores.catalog import DocumentWrite

MAX_WHY_CHARS = 200


@dataclass(frozen=True)
class Changed:
    """Those of which it is news that they are under legal hold, or are no longer."""

    memories: list[Memory]
    documents: list[KeptDocument]


@retry_on_conflict
def set_legal_hold(
    subject: Subject,
    memory_ids: Collection[uuid.UUID],
    context: MemoryContext,
    *,
    document_ids: Collection[str] = (),
    why: str,
    by: str,
    now: datetime,
    holds: bool = True,
) -> Changed:
    """Put memories and documents of a subject under legal hold, or with `holds` False lift it: all of them or none.

    Each of which that is news gets a line in the audit with `why`, at most `MAX_WHY_CHARS` long: a case and its number,
    say, and never what it says; memories are announced, too. Under hold a memory keeps its words and its raw turns:
    nothing deletes it, and nothing that it was made of. A document can be neither deleted nor given other content, and
    no erasure takes it; who may see it can still be changed.

    Raises:
        NotFound: the subject has no such memory or document; nothing was changed.
        ConcurrentChange: others kept changing one of them; try again.
    """
    memories = context.catalog.memories(subject, memory_ids)
    if set(memory_ids) - memories.keys():
        raise NotFound(NO_SUCH)
    stored = [context.catalog.documents.get(subject, id_) for id_ in sorted(set(document_ids))]
    documents = [document for document in stored if document is not None]
    if len(documents) < len(stored):
        raise NotFound(NO_SUCH_DOCUMENT)
    draft = Draft(subject, now, context.policy.version, by=by)
    draft.load(memories.values())
    for memory in memories.values():
        if memory.legal_hold is not holds:
            draft.set_legal_hold(memory, holds, why[:MAX_WHY_CHARS])
    news = [document for document in documents if document.legal_hold is not holds]
    changed = [document.model_copy(update={"legal_hold": holds}) for document in news]
    action, policy = AuditAction.HELD if holds else AuditAction.LIFTED, context.policy.version
    changes = draft.changes()
    lines = [document_line(document, action, why[:MAX_WHY_CHARS], policy, by, now) for document in changed]
    changes = replace(
        changes,
        documents=tuple(DocumentWrite(*pair) for pair in zip(changed, news, strict=True)),
        audit=(*changes.audit, *lines),
    )
    if changes.audit:
        publish(changes, {}, context)
    return Changed(list(draft.updated()), changed)
