"""How well a memory answers a search, from 0 to 1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Final

from schema import Policy

RECENCY_HALF_LIFE_DAYS: Final = 30.0
"""Days after which recency has halved: the shortest half-life of "Memory System - Mechanics", section 6, which
gives `recency` in section 5 no curve of its own."""

_SECONDS_A_DAY: Final = 86_400.0
_SECONDS_A_MINUTE: Final = 60.0


@dataclass(frozen=True, slots=True)
class Match:
    """What two searches say of one memory, and where it was said.

    `cosine` is that of the vectors, -1 to 1; `words` is BM25, 0 or more.
    """

    cosine: float
    words: float
    conversation_id: str | None
    said_at: datetime


def relevances(matches: Sequence[Match], policy: Policy) -> list[float]:
    """How well each match answers the query beside the others, 0 to 1: the best of them has 1, unless all have 0.

    Cosine and BM25, each as a share of the best, weighed; then each memory gets some of what stands next to it in its
    conversation (`in_context`).
    """
    cosines = _shares([match.cosine for match in matches])
    words = _shares([match.words for match in matches])
    weight = policy.retrieval_words_weight
    alone = [(1.0 - weight) * cosine + weight * word for cosine, word in zip(cosines, words, strict=True)]
    return _shares(in_context(matches, alone, policy))


def in_context(matches: Sequence[Match], relevances: Sequence[float], policy: Policy) -> list[float]:
    """Relevances with some of what was said just before or after in the same conversation.

    What a memory is about often stands in the turn beside it, which its own sentence no longer names. Each gets the
    context weight times the best `relevance * 0.5 ** (minutes between / half-life)` of the other moments of its
    conversation. Memories of the same moment, which mostly came of one turn, do not raise each other: they would come
    in a bunch.
    """
    found = list(relevances)
    talks: dict[str, list[int]] = {}
    for place, match in enumerate(matches):
        if match.conversation_id is not None:
            talks.setdefault(match.conversation_id, []).append(place)
    for places in talks.values():
        if len(places) == 1:
            continue
        ordered = sorted(places, key=lambda place: matches[place].said_at)
        for direction in (ordered, ordered[::-1]):
            for place, raised in _lifted(direction, matches, relevances, policy).items():
                found[place] = max(found[place], relevances[place] + policy.retrieval_context_weight * raised)
    return found


def _lifted(
    ordered: Sequence[int], matches: Sequence[Match], relevances: Sequence[float], policy: Policy
) -> dict[int, float]:
    """The best of what came before each place, halved with every half-life that lies between."""
    lifted: dict[int, float] = {}
    best, last = 0.0, None
    for moment, group in groupby(ordered, key=lambda place: matches[place].said_at):
        together = list(group)
        if last is not None:
            minutes = abs((moment - last).total_seconds()) / _SECONDS_A_MINUTE
            best *= 0.5 ** (minutes / policy.retrieval_context_half_life_minutes)
        lifted |= dict.fromkeys(together, best)
        best, last = max(best, *(relevances[place] for place in together)), moment
    return lifted


def recency(last: datetime, now: datetime) -> float:
    """How recent a moment is, from 1 (now, or later) towards 0: `0.5 ** (days / RECENCY_HALF_LIFE_DAYS)`."""
    days = max(0.0, (now - last).total_seconds() / _SECONDS_A_DAY)
    return float(0.5 ** (days / RECENCY_HALF_LIFE_DAYS))


def score(
    *, relevance: float, importance: float, recency: float, scope_match: float, trust: float, policy: Policy
) -> float:
    """The rank of one hit: higher is better, within 0..1 as the weights sum to 1.

    The form is that of "Memory System - Mechanics", section 5 (`0.5*similarity + 0.25*importance + 0.15*recency +
    0.05*scope + 0.05*trust`); the weights are the policy's, for those lost half of what a search finds (docs/decisions,
    hybrid search). Everything is given from 0 to 1 and cut to it. `scope_match` is 1 where the memory's scope meets the
    caller's (or there is none to meet) and 0 elsewhere.
    """
    return (
        policy.retrieval_relevance_weight * _clamp(relevance)
        + policy.retrieval_importance_weight * _clamp(importance)
        + policy.retrieval_recency_weight * _clamp(recency)
        + policy.retrieval_scope_weight * _clamp(scope_match)
        + policy.retrieval_trust_weight * _clamp(trust)
    )


def _shares(values: Sequence[float]) -> list[float]:
    """Each as a share of the greatest; what is negative counts as 0."""
    greatest = max(values, default=0.0)
    return [max(0.0, value) / greatest for value in values] if greatest > 0 else [0.0] * len(values)


def _clamp(value: float) -> float:
    return min(1.0, max(0.0, value))
