"""Reviews of a subject that wait for a person's decision, page by page."""

from __future__ import annotations

import uuid
from datetime import datetime

from memory.reviews import is_for
from recall.cursors import page_of, place_of
from schema import Review, Seen, Subject
from stores.catalog import Catalog


def list_open_reviews(
    seen: tuple[Seen, ...] | None, subject: Subject, catalog: Catalog, *, cursor: str = "", limit: int = 50
) -> tuple[list[Review], str]:
    """Return what waits for somebody who has to do with all that is known of a subject, oldest first, and the cursor of
    the next page, empty on the last. `seen` is what they see, None for an operator.

    Raises:
        InvalidCursor: the cursor is none.
    """
    after = place_of(cursor, datetime.fromisoformat, uuid.UUID) if cursor else None
    waiting: list[Review] = []
    while len(waiting) <= limit:
        read = catalog.reviews.page(subject, after=after, limit=limit + 1)
        waiting += [review for review in read if is_for(seen, review, catalog)]
        if len(read) <= limit:
            break
        after = (read[-1].opened_at, read[-1].id)
    return page_of(waiting, limit, lambda review: [review.opened_at, review.id])
