"""Reviews of a subject that wait for a person's decision, page by page."""

from __future__ import annotations

import uuid
from datetime import datetime

from recall.cursors import page_of, place_of
from schema import Review, Subject
from stores.catalog import Catalog


def list_open_reviews(
    subject: Subject, catalog: Catalog, *, cursor: str = "", limit: int = 50
) -> tuple[list[Review], str]:
    """Return what waits, oldest first, and the cursor of the next page, empty on the last.

    Raises:
        InvalidCursor: the cursor is none.
    """
    after = place_of(cursor, datetime.fromisoformat, uuid.UUID) if cursor else None
    rows = catalog.reviews.page(subject, after=after, limit=limit + 1)
    return page_of(rows, limit, lambda review: [review.opened_at, review.id])
