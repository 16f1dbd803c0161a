"""Documents as they are read: listed page by page, and one of them part by part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from memory.documents.rights import visible_document
from memory.rights import seen_of
from policies.access import may_see
from recall.cursors import page_of, place_of
from schema import Chunk, KeptDocument, Principal, Subject
from stores.catalog import Catalog


@dataclass(frozen=True)
class Part:
    """Text that a chunk adds to a document behind the one before; `number` counts from 1."""

    number: int
    page: int | None
    text: str


@dataclass(frozen=True)
class DocumentPage:
    """A document with some of its searchable parts, in their order, of `total`."""

    document: KeptDocument
    parts: list[Part]
    total: int


def list_documents(
    principal: Principal | None, subject: Subject, catalog: Catalog, *, cursor: str = "", limit: int
) -> tuple[list[KeptDocument], str]:
    """Return documents of a subject that a principal sees, without their content, in the order of their ids, from
    a cursor on; and the cursor of the next page, empty on the last.

    Raises:
        NotAMember, NotAllowed: the principal may see nothing of the subject.
        InvalidCursor: the cursor is none.
    """
    seen = seen_of(principal, subject, catalog)
    [after] = place_of(cursor, str) if cursor else ("",)
    documents = catalog.documents.every(subject, after=after)
    visible = list(islice((document for document in documents if may_see(seen, document.labels)), limit + 1))
    return page_of(visible, limit, lambda document: (document.document_id,))


def parts_of(
    principal: Principal | None, subject: Subject, document_id: str, catalog: Catalog, *, first: int = 1, limit: int
) -> DocumentPage:
    """Return a document that a principal sees with what of it is searchable, from its `first` part on.

    Raises:
        NotFound: there is none of the subject under this id, or none that the principal sees.
        NotAMember, NotAllowed: the principal may see nothing of the subject.
    """
    document = visible_document(principal, subject, document_id, catalog)
    parts = _parts_of(catalog.documents.chunks_of(subject, document_id))
    return DocumentPage(document, parts[first - 1 : first - 1 + limit], len(parts))


def _parts_of(chunks: Sequence[Chunk]) -> list[Part]:
    """Return what each chunk adds: what two of them share stands with the first."""
    parts, end = [], 0
    for chunk in chunks:
        shared = max(0, end - chunk.start)
        parts.append(Part(chunk.number + 1, chunk.page, chunk.content[shared:].strip("\n")))
        end = max(end, chunk.end)
    return parts
