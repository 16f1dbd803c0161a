"""Rights to put, read and delete documents."""

from __future__ import annotations

from memory.members import membership_of
from memory.rights import seen_of
from policies.access import may_keep_document, may_see, role_in
from schema import Capability, Document, KeptDocument, Principal, Subject
from schema.errors import NotAllowed, NotFound
from stores.catalog import Catalog

NO_SUCH_DOCUMENT = "there is no such document"


def visible_document(principal: Principal | None, subject: Subject, document_id: str, catalog: Catalog) -> KeptDocument:
    """Return a document that a principal sees; None is an operator, who sees all.

    Raises:
        NotFound: there is none of the subject under this id, or none that the principal sees.
        NotAMember, NotAllowed: the principal may see nothing of the subject.
    """
    seen = seen_of(principal, subject, catalog)
    document = catalog.documents.get(subject, document_id)
    if document is None or not may_see(seen, document.labels):
        raise NotFound(NO_SUCH_DOCUMENT)
    return document


def require_puttable(
    principal: Principal | None, document: Document, stored: KeptDocument | None, catalog: Catalog
) -> None:
    """Check that a principal may put a document, in the place of what has its id where there is such.

    Raises:
        NotFound: what has its id is not for the principal to see.
        NotAMember, NotAllowed: it may not.
    """
    if principal is None:
        return
    seen = seen_of(principal, document.subject, catalog)
    if stored is not None and not may_see(seen, stored.labels):
        # Whose id it is must not be told: to the caller, it cannot be used.
        raise NotFound(NO_SUCH_DOCUMENT)
    role = role_in(principal, document.subject, membership_of(principal, document.subject, catalog))
    for labelled in (document, stored):
        if labelled is not None and not may_keep_document(principal, role, document.subject, labelled.labels):
            raise NotAllowed(Capability.DOCUMENTS)


def require_removable(principal: Principal | None, document: KeptDocument, catalog: Catalog) -> None:
    """Check that a principal who sees a document may delete it.

    Raises:
        NotAMember, NotAllowed: it may not.
    """
    if principal is None:
        return
    role = role_in(principal, document.subject, membership_of(principal, document.subject, catalog))
    if not may_keep_document(principal, role, document.subject, document.labels):
        raise NotAllowed(Capability.DOCUMENTS)
