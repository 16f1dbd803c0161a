"""How well a memory answers a search, from 0 to 1."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from memory.schema import Policy

RECENCY_HALF_LIFE_DAYS: Final = 30.0
"""Days after which recency has halved: the shortest half-life of "Memory System - Mechanics", section 6, which
gives `recency` in section 5 no curve of its own."""

_SECONDS_A_DAY: Final = 86_400.0


def recency(last: datetime, now: datetime) -> float:
    """How recent a moment is, from 1 (now, or later) towards 0: `0.5 ** (days / RECENCY_HALF_LIFE_DAYS)`."""
    days = max(0.0, (now - last).total_seconds() / _SECONDS_A_DAY)
    return float(0.5 ** (days / RECENCY_HALF_LIFE_DAYS))


def score(
    *, similarity: float, importance: float, recency: float, scope_match: float, trust: float, policy: Policy
) -> float:
    """The rank of one hit: higher is better, within 0..1 as the weights sum to 1.

    "Memory System - Mechanics", section 5: `0.5*similarity + 0.25*importance + 0.15*recency + 0.05*scope +
    0.05*trust`. Everything is given from 0 to 1 and cut to it: a negative cosine counts as none. `scope_match` is 1
    where the memory's scope meets the caller's (or there is none to meet) and 0 elsewhere.
    """
    return (
        policy.retrieval_similarity_weight * _clamp(similarity)
        + policy.retrieval_importance_weight * _clamp(importance)
        + policy.retrieval_recency_weight * _clamp(recency)
        + policy.retrieval_scope_weight * _clamp(scope_match)
        + policy.retrieval_trust_weight * _clamp(trust)
    )


def _clamp(value: float) -> float:
    return min(1.0, max(0.0, value))
