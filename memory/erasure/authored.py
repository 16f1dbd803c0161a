"""Documents of an erased person in others' archives: named in the proof, and deleted where they were theirs alone."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from memory.context import MemoryContext
from memory.documents.delete import delete_document
from memory.erasure.proof import Proof
from schema import KeptDocument, Subject, Visibility
from schema.errors import ConcurrentChange, NotFound, UnderLegalHold

AUTHORED: Final = "personal documents in other archives"
_NAMED: Final = 20


def erase_authored(author: Subject, context: MemoryContext, proof: Proof, *, by: str, now: datetime) -> None:
    """Delete what a person wrote in other archives that was personal to them, and count it in the proof; what is under
    legal hold stays, and is noted."""
    proof.removed[AUTHORED] = 0
    for document in list(_elsewhere(author, context)):
        if document.visibility is not Visibility.PERSONAL:
            continue
        try:
            delete_document(document, context, by=by, reason="its author was erased", now=now)
        except NotFound:
            continue
        except UnderLegalHold:
            proof.notes.append(f"{_named(document)} is under legal hold, and stays")
            continue
        except ConcurrentChange:
            # All else of them is gone by now: what is left is counted, and erased by whoever asks again.
            proof.notes.append(f"{_named(document)} was being changed, and is still there: erase again")
            continue
        proof.removed[AUTHORED] += 1
    proof.left[AUTHORED] = sum(
        document.visibility is Visibility.PERSONAL and not document.legal_hold
        for document in _elsewhere(author, context)
    )


def note_authored(author: Subject, context: MemoryContext, proof: Proof) -> None:
    """Name in the proof what a person wrote in other archives: it is those archives', and stays with them."""
    documents = list(_elsewhere(author, context))
    if not documents:
        return
    named = ", ".join(map(_named, documents[:_NAMED])) + (" ..." if len(documents) > _NAMED else "")
    proof.notes.append(
        f"{len(documents)} documents that {author.subject_id} wrote lie in other archives and stay: {named}. "
        "`afterturn forget-user --authored` deletes those that are personal to their author, "
        "`afterturn documents delete` any"
    )


def _elsewhere(author: Subject, context: MemoryContext) -> Iterator[KeptDocument]:
    return (document for document in context.catalog.documents.every(author=author) if document.subject != author)


def _named(document: KeptDocument) -> str:
    return f"{document.subject_id}/{document.document_id} ({document.visibility})"
