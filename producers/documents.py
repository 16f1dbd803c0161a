"""The way in for documents: the catalog first, then a notification."""

from __future__ import annotations

from collections.abc import Set
from contextlib import suppress
from datetime import datetime

from schema import Document, Principal
from schema.errors import BrokerOutage
from stores.plugin import needs_extra

with needs_extra("fleet", "producers.documents"):
    from celery import Celery

    from memory.documents.put import Accepted, PutOutcome
    from memory.documents.put import put_document as keep_document
    from stores.open import Stores
    from stores.queue import request_indexing


def put_document(
    principal: Principal | None,
    document: Document,
    stores: Stores,
    celery: Celery,
    *,
    now: datetime,
    etags: Set[str] | None = None,
    unless_etags: Set[str] | None = None,
) -> Accepted:
    """Keep a document and have a worker make it searchable; None is an operator. Nobody waits for the worker: a
    notification that the broker does not take costs seconds, for the sweep finds the document in the catalog.

    Raises:
        DocumentRefused, NotAMember, NotAllowed, NotFound, Outdated, ConcurrentChange: see `memory.documents.put`.
    """
    accepted = keep_document(principal, document, stores, now=now, etags=etags, unless_etags=unless_etags)
    if accepted.outcome is not PutOutcome.UNCHANGED:
        notify_workers(document, celery)
    return accepted


def notify_workers(document: Document, celery: Celery) -> None:
    """Ask for a document to be made searchable, now rather than with the next sweep."""
    with suppress(BrokerOutage):
        request_indexing(celery, document.subject, document.document_id)
