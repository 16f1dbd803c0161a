"""Limits: what a subject may write in an hour before its memories count for less; what a user and a tenant may have
kept."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

from schema import Policy

Scope = Literal["user", "tenant"]


@dataclass(frozen=True)
class QuotaUsage:
    """Memories held of a user, or of a tenant, and how many may be; a limit of 0 is none."""

    scope: Scope
    memories: int
    memories_limit: int
    source_bytes: int
    source_bytes_limit: int


@dataclass(frozen=True)
class Room:
    """Room that quotas leave: how many more memories may be kept, None for any number, and whose quota says so; and
    whose quota of raw turns is full, if one is."""

    memories: int | None = None
    memories_scope: Scope = "user"
    sources_full: Scope | None = None


UNBOUNDED: Final = Room()


def room_left(usages: Iterable[QuotaUsage]) -> Room:
    """Return what quotas leave of a user and of their tenant: the narrower of both."""
    everything = tuple(usages)
    full = next((usage.scope for usage in everything if 0 < usage.source_bytes_limit <= usage.source_bytes), None)
    bounded = [usage for usage in everything if usage.memories_limit]
    if not bounded:
        return Room(sources_full=full)
    narrowest = min(bounded, key=lambda usage: usage.memories_limit - usage.memories)
    return Room(max(0, narrowest.memories_limit - narrowest.memories), narrowest.scope, full)


def within_rate(writes_last_hour: int, explicit: bool, policy: Policy) -> float:
    """Return what to multiply a candidate's importance by: 1 within the hour's writes, less past them.

    `writes_last_hour` counts the subject's memories written in the hour before this one. What the user asked to be
    remembered is never lowered ("S3 Vectors Memory Implementation Plan (V1)", configuration
    knobs).
    """
    if explicit or writes_last_hour < policy.memory_write_rate_limit_per_hour:
        return 1.0
    return policy.rate_limited_importance_factor
