"""Documents as lines of an export."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from memory.context import MemoryContext
from memory.documents.put import put_document
from memory.legal_holds import set_legal_hold
from policies.access import may_see
from policies.privacy.documents import screen_document
from schema import Document, DocumentState, KeptDocument, Seen, Subject
from stores.open import Stores

_FIELDS: Final = frozenset(Document.model_fields)


def document_lines(subject: Subject, stores: Stores, seen: tuple[Seen, ...] | None) -> Iterator[dict[str, Any]]:
    """Yield each document of a subject that somebody sees, all of them for None, as `document_of` reads it. Its chunks
    are made anew where it is imported; of one that was refused there is nothing."""
    for head in stores.catalog.documents.every(subject):
        document = stores.catalog.documents.get(subject, head.document_id)
        if document is None or document.state is DocumentState.REFUSED:
            continue
        if may_see(seen, document.labels):
            yield _line_of(document, stores)


def _line_of(document: KeptDocument, stores: Stores) -> dict[str, Any]:
    if not document.is_screened:
        # No worker has masked it yet, and a file is read by whoever has it.
        screening = screen_document(document.content, document.pages, stores.policy)
        document = document.model_copy(update={"content": screening.text, "pages": screening.pages})
    fields = document.model_dump(mode="json", include=set(_FIELDS), exclude_none=True)
    return {"document": fields, **({"legal_hold": True} if document.legal_hold else {})}


def document_of(line: Mapping[str, Any]) -> tuple[Document, bool]:
    """Return the document that a line of an export has, and whether it is under legal hold.

    Raises:
        pydantic.ValidationError: it is no such line.
    """
    return Document.model_validate(line["document"]), line.get("legal_hold") is True


def import_document(document: Document, *, is_held: bool, context: MemoryContext, by: str, now: datetime) -> bool:
    """Keep a document of an export, for the fleet to make it searchable; False where one of its id is there, which
    stays as it is.

    Raises:
        DocumentRefused: its subject has withdrawn consent, or it is longer than the settings allow.
    """
    ids = [document.document_id]
    if context.catalog.documents.heads(document.subject, ids):
        return False
    put_document(None, document, context, now=now)
    if is_held:
        why = "imported under legal hold"
        set_legal_hold(document.subject, (), context, document_ids=ids, why=why, by=by, now=now)
    return True
