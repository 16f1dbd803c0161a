"""Drop each hour what is stale, which needs no night of its own."""

from __future__ import annotations

from datetime import datetime, timedelta

import structlog

from memory.agreement import queue_lost_entries
from memory.erasure.subjects import finish_erasures
from memory.settle import withdraw_stale
from worker.context import WorkerContext

_log = structlog.get_logger()
_PAGE = 500
_FEEDBACK_DAYS = 90
"""Long enough to compare two versions of a policy by."""
_SUBJECTS_LOOKED_AT = 5_000
_PAGES = 200
"""How many pages one hour drops at most: other writers come between two."""


def clean_up(context: WorkerContext, now: datetime) -> dict[str, int]:
    """Drop topics and questions that are stale, items of the store that have expired, feedback older than 90 days, raw
    turns and deliveries of webhooks that were kept for as long as the settings say; finish erasures that were killed on
    the way; have the index told again what it lost."""
    policy = context.policy
    dropped = {
        "erasures": finish_erasures(context, _PAGE, now),
        "context": context.catalog.drop_stale_context(
            topics_before=now - timedelta(hours=policy.open_topic_hours),
            questions_before=now - timedelta(hours=policy.question_hours),
        ),
        "items": context.catalog.items.drop_expired(now),
        "feedback": context.catalog.feedback.drop_old(now - timedelta(days=_FEEDBACK_DAYS)),
        "sources": 0,
        "webhooks": 0,
        "index": queue_lost_entries(context, now, most_subjects=_SUBJECTS_LOOKED_AT),
        "provisional": withdraw_stale(context, now, _PAGE),
    }
    context.catalog.webhooks.fail_orphaned()
    said_by = now - timedelta(days=context.settings.webhook_log_days)
    for _ in range(_PAGES):
        gone = context.catalog.webhooks.drop_old(said_by, _PAGE)
        dropped["webhooks"] += gone
        if gone < _PAGE:
            break
    if days := context.settings.source_days:
        for _ in range(_PAGES):
            gone = context.catalog.decay.drop_sources(now - timedelta(days=days), _PAGE)
            dropped["sources"] += gone
            if gone < _PAGE:
                break
    if any(dropped.values()):
        _log.info("tidied", stage="night", **dropped)
    return dropped
