"""How much a memory matters, from 0 to 1, and how far its source is believed."""

from __future__ import annotations

import math
from typing import Final

from schema import Kind, MemoryType, Policy, Valence
from schema.turn import TurnSource

_TRUST: Final[dict[TurnSource, float]] = {
    "bank_api": 0.95,
    "system": 0.90,
    "chat": 0.85,
    "agent": 0.75,
    "instagram": 0.65,
    "external": 0.60,
}
_PROACTIVITY: Final[dict[Kind, float]] = {
    Kind.PROACTIVE_ACTION: 1.0,
    Kind.EVENT_PATTERN: 0.8,
    Kind.USER_PREFERENCE: 0.6,
    Kind.USER_FACT: 0.6,
    Kind.CONVERSATION_CONTEXT: 0.5,
    Kind.KNOWLEDGE: 0.0,
    Kind.AGENT_PROCEDURE: 0.0,
    Kind.ERROR_HANDLING: 0.0,
}

_PRIOR: Final[dict[Kind, float]] = {
    Kind.USER_PREFERENCE: 0.85,
    Kind.USER_FACT: 0.85,
    Kind.CONVERSATION_CONTEXT: 0.55,
    Kind.AGENT_PROCEDURE: 0.85,
    Kind.KNOWLEDGE: 0.45,
    Kind.EVENT_PATTERN: 0.65,
    Kind.ERROR_HANDLING: 0.90,
    Kind.PROACTIVE_ACTION: 0.75,
}
"""How much a memory of a kind matters by itself: the middle of the range that "VOS Memory System", memory types, gives
the kind."""
_PRIOR_OF_EPISODE: Final = _PRIOR[Kind.CONVERSATION_CONTEXT]
"""Prior of what happened once, of whatever kind it is: the one kind of that source that is
episodic."""


def source_trust(source: TurnSource) -> float:
    """Return how far a source is believed, from 0 to 1.

    "Memory System - Mechanics", section 9, shows 0.85 for a user's own statement; a bank's record or the system's
    own stands above it. What comes from elsewhere stays below the 0.7 from which section 7 promotes, so nothing
    becomes a lasting fact on the word of a web page or a social feed alone.
    """
    return _TRUST[source]


def affect(valence: Valence, intensity: float, policy: Policy) -> float:
    """Return the strength of a feeling from 0 to 1, a negative one counting less.

    "Memory System - Mechanics", section 3: `intensity * (0.8 if negative else 1.0)`.
    """
    discount = policy.importance_negative_discount if valence is Valence.NEGATIVE else 1.0
    return _clamp(intensity) * discount


def use(access_count: int) -> float:
    """Return how used a memory is, from 0 (never) to 1 (nine times or more).

    "Memory System - Mechanics", section 3: `min(1, log(1 + access_count) / log(10))`.
    """
    return min(1.0, math.log1p(max(0, access_count)) / math.log(10))


def importance(
    *,
    pinned: bool,
    trust: float,
    access_count: int,
    valence: Valence,
    intensity: float,
    explicit: bool,
    kind: Kind,
    type_: MemoryType,
    policy: Policy,
) -> float:
    """Return the importance of a memory, from 0 to 1 ("Memory System - Mechanics", section 3), but no less than what
    its kind, or an episode, has by itself.

    `trust` is the source's (see `source_trust`), `intensity` the feeling's, both 0 to 1; `explicit` says that the
    user asked for it to be remembered. The sum alone gives 0.17 to what somebody said once in a chat: an allergy would
    be forgotten in two months (docs/how-to/run-the-nights.md, "Forgetting", has what was measured).
    """
    raw = (
        policy.importance_pinned_weight * pinned
        + policy.importance_trust_weight * _clamp(trust)
        + policy.importance_access_weight * use(access_count)
        + policy.importance_affect_weight * affect(valence, intensity, policy)
        + policy.importance_explicit_weight * explicit
    )
    prior = min(_PRIOR[kind], _PRIOR_OF_EPISODE) if type_ is MemoryType.EPISODIC else _PRIOR[kind]
    return _clamp(max(raw, policy.importance_kind_weight * prior))


def proactivity_weight(*, kind: Kind, importance: float, trust: float, private: bool) -> float:
    """Return how fit a memory is to be brought up unasked, from 0 (never) to 1.

    "Memory System - Mechanics", section 11, gates outreach on this weight and on trust, and section 9 shows 0.5
    for a chat memory of importance 0.63; the shape is ours: the kind's share, times trust, times a factor that runs
    from a half to one with importance. What the user called private is never brought up, nor is what concerns the
    agent's own work.
    """
    if private:
        return 0.0
    return _PROACTIVITY[kind] * _clamp(trust) * (0.5 + 0.5 * _clamp(importance))


def from_five(stars: int) -> float:
    """Return an importance of 1..5, as people and older callers give it, on our scale of 0.2..1.0.

    Raises:
        ValueError: `stars` is not within 1..5.
    """
    if not 1 <= stars <= 5:
        raise ValueError(f"importance runs from 1 to 5, not {stars}")
    return stars / 5


def to_five(importance: float) -> int:
    """Return an importance of 0..1 as the nearest of 1..5, halves up; what lies below 0.2 is 1."""
    return min(5, max(1, math.floor(_clamp(importance) * 5 + 0.5)))


def _clamp(value: float) -> float:
    return min(1.0, max(0.0, value))
