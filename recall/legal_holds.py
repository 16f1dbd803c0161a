"""Legal holds of a tenant, page by page: since when, by whom and why; never what they say."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from recall.cursors import page_of, place_of
from schema import AuditEntry, Subject
from stores.catalog import Catalog


@dataclass(frozen=True)
class LegalHold:
    """A memory or a document under legal hold; `line` is what the audit last said of that, None where it says
    nothing."""

    subject: Subject
    memory_id: uuid.UUID | None
    document_id: str | None
    line: AuditEntry | None


_Held = tuple[Subject, uuid.UUID | None, str | None]


def list_legal_holds(
    tenant_id: str, catalog: Catalog, *, subject_id: str = "", cursor: str = "", limit: int = 50
) -> tuple[list[LegalHold], str]:
    """Return what is under legal hold, memories and then documents, by whose they are, of one subject if it is named;
    and the cursor of the next page, empty on the last.

    Raises:
        InvalidCursor: the cursor is none.
    """
    page, following = page_of(
        _read(tenant_id, catalog, subject_id, cursor, limit + 1),
        limit,
        lambda held: [held[0].subject_id, held[1] or "", held[2] or ""],
    )
    lines = _lines(tenant_id, page, catalog)
    return [LegalHold(*held, lines.get((held[0].subject_id, *held[1:]))) for held in page], following


def _read(tenant_id: str, catalog: Catalog, subject_id: str, cursor: str, limit: int) -> list[_Held]:
    registry = catalog.registry
    last, memory_id, document_id = place_of(cursor, str, _memory_id, str) if cursor else ("", None, "")
    held: list[_Held] = []
    if memory_id is not None or not cursor:
        after = (last, memory_id) if memory_id is not None else None
        memories = registry.holds(tenant_id, subject_id=subject_id, after=after, limit=limit)
        held += [(memory.subject, memory.id, None) for memory in memories]
    if room := limit - len(held):
        behind = None if memory_id is not None or not cursor else (last, document_id)
        documents = registry.held_documents(tenant_id, subject_id=subject_id, after=behind, limit=room)
        held += [(subject, None, id_) for subject, id_ in documents]
    return held


def _memory_id(text: str) -> uuid.UUID | None:
    return uuid.UUID(text) if text else None


def _lines(
    tenant_id: str, held: Sequence[_Held], catalog: Catalog
) -> dict[tuple[str, uuid.UUID | None, str | None], AuditEntry]:
    """Return the last line of each."""
    lines = catalog.registry.held_lines(
        tenant_id,
        {subject.subject_id for subject, _, _ in held},
        {memory_id for _, memory_id, _ in held if memory_id},
        {document_id for _, _, document_id in held if document_id},
    )
    return {(line.subject_id, line.memory_id, line.document_id): line for line in lines}
