"""How a memory fades: its weight falls with the time since it was last used, until it is archived, and then deleted."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from schema import Policy, Status

_SECONDS_A_DAY: Final = 86_400.0
_HIGH, _MIDDLE, _LOW = 0.85, 0.5, 0.2


class Fate(StrEnum):
    """Effect of forgetting on a memory."""

    KEEP = "keep"
    ARCHIVE = "archive"
    DELETE = "delete"


@dataclass(frozen=True, slots=True)
class DecayState:
    """The fields of a memory that forgetting looks at. `last_used` is when it was last accessed, `updated_at` when it
    was last written: for an archived one, when it was archived."""

    status: Status
    importance: float
    pinned: bool
    legal_hold: bool
    last_used: datetime
    updated_at: datetime


def half_life_days(importance: float, policy: Policy) -> float:
    """Return the days in which a memory of an importance, 0 to 1, halves its weight ("Memory System - Mechanics",
    section 6)."""
    if importance >= _HIGH:
        return policy.half_life_high_days
    if importance >= _MIDDLE:
        return policy.half_life_middle_days
    if importance >= _LOW:
        return policy.half_life_low_days
    return policy.half_life_least_days


def weight(importance: float, last_used: datetime, now: datetime, policy: Policy) -> float:
    """Return what a memory weighs now, 0 to 1: `importance * 0.5 ** (days since last use / half life)`."""
    return importance * float(0.5 ** (_days(last_used, now) / half_life_days(importance, policy)))


def fate(memory: DecayState, now: datetime, policy: Policy) -> tuple[Fate, str]:
    """Return what becomes of a memory today, and why.

    "Memory System - Mechanics", section 6: archived when its weight is below 0.05 and it was not used for more than 30
    days; deleted 180 days later. With the light rule of "Memory System - V1" instead: deleted when it was not used for
    more than 60 days and is of importance 2 of 5 or less. What is pinned or under legal hold stays as it is.
    """
    if memory.pinned:
        return Fate.KEEP, "pinned"
    if memory.legal_hold:
        return Fate.KEEP, "under legal hold"
    idle = _days(memory.last_used, now)
    if memory.status is Status.ARCHIVED:
        archived = _days(memory.updated_at, now)
        old = archived > policy.archive_kept_days
        return (Fate.DELETE if old else Fate.KEEP), f"archived for {archived:.0f} days"
    if policy.forget_light:
        unneeded = idle > policy.forget_light_days and memory.importance <= policy.forget_light_importance
        why = f"not used for {idle:.0f} days, importance {memory.importance:.2f} (light rule)"
        return (Fate.DELETE if unneeded else Fate.KEEP), why
    weighs = weight(memory.importance, memory.last_used, now, policy)
    faded = weighs < policy.archive_weight and idle > policy.archive_idle_days
    return (Fate.ARCHIVE if faded else Fate.KEEP), f"weight {weighs:.3f}, not used for {idle:.0f} days"


def _days(since: datetime, now: datetime) -> float:
    return max(0.0, (now - since).total_seconds() / _SECONDS_A_DAY)
