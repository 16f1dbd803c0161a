"""Keep a document, for a worker to make it searchable."""

from __future__ import annotations

import uuid
from collections.abc import Set
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from memory.documents.rights import require_puttable
from memory.failures import retry_on_conflict
from policies.privacy.documents import masked_beside
from schema import Document, KeptDocument, Policy, Principal
from schema.base import ANY_ETAG
from schema.errors import Outdated, Refused, UnderLegalHold
from schema.settings import variable_of
from stores.catalog import Changes, DocumentWrite
from stores.open import Stores

_BESIDE_CHARS: Final = {"title": 300, "source_ref": 2048}
"""Fields that are masked when a document is put, and how many characters each may have."""
_LABELS: Final = ("visibility", "author_id", "source_ref", "occurred_at")


class DocumentRefused(Refused):
    """The document cannot be taken. The message says why."""


class PutOutcome(StrEnum):
    ACCEPTED = "accepted"
    """A worker makes it searchable."""
    RELABELLED = "relabelled"
    """Its content is known; who may see it counts from now on."""
    UNCHANGED = "unchanged"


@dataclass(frozen=True)
class Accepted:
    """Outcome of putting a document."""

    outcome: PutOutcome
    document: KeptDocument


@retry_on_conflict
def put_document(
    principal: Principal | None,
    document: Document,
    stores: Stores,
    *,
    now: datetime,
    etags: Set[str] | None = None,
    unless_etags: Set[str] | None = None,
) -> Accepted:
    """Write a document into the catalog, where a worker or the sweep finds it; None is an operator. With `etags` only
    in the place of what has one of those, or with `ANY_ETAG` of whatever is there; with `unless_etags` never in that
    place.

    The same document again is no work, the same content with other labels needs no embedding, and new content takes the
    place of the old once it is searchable.

    Raises:
        DocumentRefused: it is longer than the settings allow, or its subject has withdrawn consent.
        NotAMember, NotAllowed, NotFound: the principal may not put it, or may not see what has its id.
        Outdated: what is there was put since, or there is nothing, or something that must not be; nothing was kept.
        UnderLegalHold: so is what has its id, and this would take its place.
        ConcurrentChange: others kept changing it; try again.
    """
    most = stores.settings.document_max_bytes
    size = len(document.content.encode())
    if size > most:
        raise DocumentRefused(
            f"the document has {size:,} bytes and at most {most:,} are taken; put it in parts, or raise "
            f"{variable_of('document_max_bytes')}"
        )
    if stores.catalog.preferences.of(document.subject).consent == "withdrawn":
        raise DocumentRefused(f"{document.subject_id} has withdrawn consent: nothing is kept for them")
    stored = stores.catalog.documents.get(document.subject, document.document_id)
    require_puttable(principal, document, stored, stores.catalog)
    if etags is not None and stored is None:
        raise Outdated("there is no such document to replace: put it without If-Match")
    if etags is not None and stored is not None and etags.isdisjoint({stored.etag, *ANY_ETAG}):
        raise Outdated
    if unless_etags is not None and stored is not None and not unless_etags.isdisjoint({stored.etag, *ANY_ETAG}):
        raise Outdated("there is such a document: read it, and replace it by its ETag in If-Match")
    outcome, kept = _after(document, stored, stores.policy, now)
    if outcome is PutOutcome.UNCHANGED:
        return Accepted(outcome, kept)
    if stored is not None and stored.legal_hold and kept.digest != stored.digest:
        raise UnderLegalHold(documents=[stored.document_id])
    write = DocumentWrite(kept, stored)
    stores.catalog.commit(Changes(subject=document.subject, at=now, documents=(write,)))
    return Accepted(outcome, kept)


def _after(
    document: Document, stored: KeptDocument | None, policy: Policy, now: datetime
) -> tuple[PutOutcome, KeptDocument]:
    digest = document.content_digest()
    fields = document.model_dump() | {"author_id": document.labels.author_id, "digest": digest, "updated_at": now}
    for name, most in _BESIDE_CHARS.items():
        if fields[name]:
            # A placeholder may be longer than what it stands for.
            fields[name] = masked_beside(fields[name], policy)[:most]
    if stored is None:
        new = KeptDocument.model_validate(fields | {"incarnation": uuid.uuid4(), "created_at": now})
        return PutOutcome.ACCEPTED, new
    if stored.digest == digest:
        labels = {name: fields[name] for name in _LABELS}
        if stored.failure:
            # Also where its topic was blocked: of that nothing was kept, and what is blocked may be so no more.
            again = stored.model_dump() | fields | {"version": stored.version + 1, "tries": 0, "failure": None}
            return PutOutcome.ACCEPTED, KeptDocument.model_validate(again)
        if all(getattr(stored, name) == value for name, value in labels.items()):
            return PutOutcome.UNCHANGED, stored
        # What waits for a person has nothing searchable yet, and the person was asked about this version.
        version = stored.version if stored.quarantined else stored.version + 1
        # What is kept is masked; what was given again is not.
        changed = {**labels, "version": version, "updated_at": now}
        return PutOutcome.RELABELLED, stored.model_copy(update=changed)
    replaced = stored.model_dump() | fields | {"version": stored.version + 1}
    replaced |= {"quarantined": False, "tries": 0, "failure": None}
    return PutOutcome.ACCEPTED, KeptDocument.model_validate(replaced)
