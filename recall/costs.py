"""Costs of models, added up: for the command, the service and the page of staff."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any, Final

from recall.cursors import page_of, place_of
from stores.catalog import Catalog
from stores.catalog.costs import COUNTS, By, Prices, Sum

NAMES: Final = {
    By.DAY: ("day",),
    By.CONVERSATION: ("tenant_id", "user_id", "conversation_id"),
    By.TENANT: ("tenant_id",),
    By.PURPOSE: ("purpose",),
}
"""Names of the parts of a group."""


def first_day(days: int, now: datetime) -> date:
    """Return the first (UTC) of so many days, of which the last is that of `now`."""
    return now.date() - timedelta(days=days - 1)


def page_of_costs(
    by: By, since: date, catalog: Catalog, *, tenant_id: str, user_id: str | None = None, cursor: str = "", limit: int
) -> tuple[list[Sum], str]:
    """Return sums of one tenant from a day on, in the order of `Costs.added_up`, and the cursor of the next page, empty
    on the last.

    Raises:
        InvalidCursor: the cursor is none of a list by this.
    """
    after = place_of(cursor, *[str] * len(NAMES[by])) if cursor else ()
    sums = catalog.costs.added_up(by, since, tenant_id=tenant_id, subject_id=user_id, after=after, limit=limit + 1)
    return page_of(sums, limit, lambda total: total.group)


def fields_of_cost(by: By, total: Sum, prices: Prices) -> dict[str, Any]:
    """Return a sum with its group by the names of its parts, and what it cost: None where no price is set."""
    return {
        **dict(zip(NAMES[by], total.group, strict=True)),
        **{name: round(getattr(total, name), 3) for name in COUNTS},
        "cost": total.cost(prices),
    }
