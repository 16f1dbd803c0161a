"""Reviews of a subject that wait for a person's decision, page by page."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from typing import Final

from memory.reviews import is_for
from recall.cursors import page_of, place_of
from schema import Review, Seen, Subject
from stores.catalog import Catalog

_AT_A_TIME: Final = 200


def list_open_reviews(
    seen: tuple[Seen, ...] | None, subject: Subject, catalog: Catalog, *, cursor: str = "", limit: int = 50
) -> tuple[list[Review], str]:
    """Return what waits for somebody who has to do with all that is known of a subject, oldest first, and the cursor of
    the next page, empty on the last. `seen` is what they see, None for an operator.

    Raises:
        InvalidCursor: the cursor is none.
    """
    after = place_of(cursor, datetime.fromisoformat, uuid.UUID) if cursor else None
    waiting = list(islice(_waiting(seen, subject, catalog, after, limit + 1), limit + 1))
    return page_of(waiting, limit, lambda review: [review.opened_at, review.id])


def count_open_reviews(seen: tuple[Seen, ...] | None, subject: Subject, catalog: Catalog) -> int:
    """Return how many reviews `list_open_reviews` lists, on all pages."""
    return sum(1 for _ in _waiting(seen, subject, catalog, None, _AT_A_TIME))


def _waiting(
    seen: tuple[Seen, ...] | None,
    subject: Subject,
    catalog: Catalog,
    after: tuple[datetime, uuid.UUID] | None,
    at_a_time: int,
) -> Iterator[Review]:
    while read := catalog.reviews.page(subject, after=after, limit=at_a_time):
        yield from (review for review in read if is_for(seen, review, catalog))
        if len(read) < at_a_time:
            return
        after = (read[-1].opened_at, read[-1].id)
