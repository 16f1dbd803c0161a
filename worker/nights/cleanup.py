"""Drop each hour what is stale, which needs no night of its own."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

import structlog

from memory.agreement import queue_lost_entries
from memory.erasure.subjects import finish_erasures
from memory.provisional import withdraw_stale
from worker.context import WorkerContext

_log = structlog.get_logger()
_PAGE = 500
_FEEDBACK_DAYS = 90
"""Long enough to compare two versions of a policy by."""
_SUBJECTS_LOOKED_AT = 5_000
_PAGES = 200
"""How many pages one hour drops at most: other writers come between two."""


def clean_up(context: WorkerContext, now: datetime) -> dict[str, int]:
    """Drop topics and questions that are stale, items of the store that have expired, feedback older than 90 days; raw
    turns, deliveries of webhooks and what models cost that were kept for as long as the settings say; finish erasures
    that were killed on the way; have the index told again what it lost."""
    policy, settings, catalog = context.policy, context.settings, context.catalog
    dropped = {
        "erasures": finish_erasures(context, _PAGE, now),
        "context": catalog.drop_stale_context(
            topics_before=now - timedelta(hours=policy.open_topic_hours),
            questions_before=now - timedelta(hours=policy.question_hours),
        ),
        "items": catalog.items.drop_expired(now),
        "feedback": catalog.feedback.drop_old(now - timedelta(days=_FEEDBACK_DAYS)),
        "index": queue_lost_entries(context, now, most_subjects=_SUBJECTS_LOOKED_AT),
        "provisional": withdraw_stale(context, now, _PAGE),
    }
    catalog.webhooks.fail_orphaned()
    said_by = now - timedelta(days=settings.webhook_log_days)
    dropped["webhooks"] = _in_pages(lambda: catalog.webhooks.drop_old(said_by, _PAGE))
    sources_by, costs_by = (now - timedelta(days=days) for days in (settings.source_days, settings.cost_days))
    dropped["sources"] = _in_pages(lambda: catalog.decay.drop_sources(sources_by, _PAGE)) if settings.source_days else 0
    dropped["costs"] = _in_pages(lambda: catalog.costs.drop_before(costs_by.date(), _PAGE)) if settings.cost_days else 0
    if any(dropped.values()):
        _log.info("tidied", stage="night", **dropped)
    return dropped


def _in_pages(drop: Callable[[], int]) -> int:
    """Drop page after page while there is a whole one, and return how much went."""
    gone = 0
    for _ in range(_PAGES):
        of_page = drop()
        gone += of_page
        if of_page < _PAGE:
            break
    return gone
