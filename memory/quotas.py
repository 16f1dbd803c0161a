"""Quotas: what a user and a tenant may have kept, and what is said where one bites.

A quota of turns is kept by the mailbox, which refuses the turn to whoever sends it; the others by whoever writes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Final

from memory.context import MemoryContext
from memory.draft import OVER_QUOTA, Draft
from memory.metrics import QUOTAS
from memory.publish import publish
from policies.limits import UNBOUNDED, QuotaUsage, Room, Scope, room_left
from schema import EventName, Subject, Turn
from schema.errors import QuotaExceeded
from stores.catalog import LedgerEntry, Outcome

_COUNTED_SECONDS: Final = 60
"""For how long a count that reads many rows stands for the whole fleet."""
_QUOTA: Final = "quota"
_TURNS: Final = "turns were refused: {scope} sent more a minute than the settings allow"


def room_of(subject: Subject, context: MemoryContext) -> Room:
    """Return what quotas leave of a subject. Nothing is counted where none is set."""
    settings, quota_counts = context.settings, context.catalog.quota_counts
    tenant, user = subject.tenant_id, subject.subject_id
    usages = []
    if settings.quota_user_memories or settings.quota_user_source_bytes:
        memories = quota_counts.memories(tenant, user) if settings.quota_user_memories else 0
        size = 0
        if settings.quota_user_source_bytes:
            size = _counted(f"{{{subject.key}}}:bytes", lambda: quota_counts.source_bytes(tenant, user), context)
        usages.append(
            QuotaUsage("user", memories, settings.quota_user_memories, size, settings.quota_user_source_bytes)
        )
    if settings.quota_tenant_memories or settings.quota_tenant_source_bytes:
        memories = size = 0
        name = subject.key.split(":", 1)[0]
        if settings.quota_tenant_memories:
            memories = _counted(f"{{{name}}}:memories", lambda: quota_counts.memories(tenant), context)
        if settings.quota_tenant_source_bytes:
            size = _counted(f"{{{name}}}:bytes", lambda: quota_counts.source_bytes(tenant), context)
        usages.append(
            QuotaUsage("tenant", memories, settings.quota_tenant_memories, size, settings.quota_tenant_source_bytes)
        )
    return room_left(usages) if usages else UNBOUNDED


def require_room(draft: Draft) -> None:
    """Tell whoever asked for something to be kept that a quota kept it out.

    Raises:
        QuotaExceeded: one did.
    """
    if draft.over_quota:
        scope = draft.room.memories_scope
        raise QuotaExceeded(
            f"this {scope} has as many memories as AFTERTURN_QUOTA_{scope.upper()}_MEMORIES allows: nothing was kept. "
            "Forget some, or raise it",
            scope=scope,
        )


def refuse_turn(turn: Turn, error: QuotaExceeded, context: MemoryContext, now: datetime) -> None:
    """Write down that a turn was refused that came with nobody to tell: a plain message. Repeatable."""
    QUOTAS.labels("turns", error.scope).inc()
    if context.catalog.processed(turn.subject, [turn.turn_id]):
        return
    draft = Draft(turn.subject, now, context.policy.version, by="worker")
    draft.refuse_by_quota(turn.turn_id, "turns", _scope(error.scope))
    entry = LedgerEntry(turn.turn_id, turn.digest(), Outcome.REFUSED, (f"{OVER_QUOTA} turns",), now, now)
    publish(replace(draft.changes(), ledger=(entry,)), {}, context)


def tell_refused(context: MemoryContext, now: datetime, *, limit: int) -> None:
    """Announce whose turns were refused to those who sent them: once a minute a user at most."""
    for _ in range(limit):
        # One by one: where the catalog goes away, the others are told of by the next sweep.
        taken = context.mailbox.take_over_quota(1)
        if not taken:
            return
        [(subject, scope)] = taken
        draft = Draft(subject, now, context.policy.version, by="worker")
        message = _TURNS.format(scope=f"the {scope}")
        draft.emit(EventName.ERROR, {"code": _QUOTA, "message": message, "scope": scope})
        publish(draft.changes(), {}, context)


def _counted(name: str, count: Callable[[], int], context: MemoryContext) -> int:
    key = f"afterturn:quota:{name}"
    cached = context.redis.get(key)
    if cached is not None:
        return int(cached)
    counted = count()
    context.redis.set(key, counted, ex=_COUNTED_SECONDS)
    return counted


def _scope(name: str) -> Scope:
    return "tenant" if name == "tenant" else "user"
