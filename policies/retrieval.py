"""How well a memory answers a search, from 0 to 1."""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from schema import MemoryType, Policy

RECENCY_HALF_LIFE_DAYS: Final = 30.0
"""Days after which recency has halved: the shortest half-life of "Memory System - Mechanics", section 6, which
gives `recency` in section 5 no curve of its own."""

_WORD: Final = re.compile(r"[^\W\d_][\w'’-]*")
"""A word of a question, with what is inside it: "Maya's", "mother-in-law"."""
_SECONDS_A_DAY: Final = 86_400.0
_SECONDS_A_MINUTE: Final = 60.0


@dataclass(frozen=True, slots=True)
class Match:
    """Similarity of one memory by two searches, and where it was said.

    `cosine` is that of the vectors, -1 to 1; `words` is BM25, 0 or more.
    """

    cosine: float
    words: float
    conversation_id: str | None
    said_at: datetime
    window: float = 0.0
    """The cosine of the nearest window of the turns that it came of; 0 where windows are off, or none is near."""


def relevances(matches: Sequence[Match], policy: Policy) -> list[float]:
    """Return how well each match answers the query beside the others, 0 to 1: the best of them has 1, unless all have
    0.

    By itself (`own_relevances`); then each memory gets some of what stands next to it in its conversation
    (`in_context`).
    """
    return _shares(in_context(matches, own_relevances(matches, policy), policy))


def own_relevances(matches: Sequence[Match], policy: Policy) -> list[float]:
    """Return how well each match answers the query by what it says itself, 0 to 1: cosine and BM25, each as a share of
    the best, weighed; and where any has a window that is near, what was said when it came about."""
    cosines = _shares([match.cosine for match in matches])
    words = _shares([match.words for match in matches])
    weight = policy.retrieval_words_weight
    own = _shares([(1.0 - weight) * cosine + weight * word for cosine, word in zip(cosines, words, strict=True)])
    windows = _shares([match.window for match in matches])
    if not any(windows):
        return own
    windows_weight = policy.retrieval_windows_weight
    return _shares(
        [(1.0 - windows_weight) * share + windows_weight * window for share, window in zip(own, windows, strict=True)]
    )


def in_context(matches: Sequence[Match], relevances: Sequence[float], policy: Policy) -> list[float]:
    """Return the relevances with some of what was said just before or after in the same conversation.

    What a memory is about often stands in the turn beside it, which its own sentence no longer names. Each gets the
    context weight times the best `relevance * 0.5 ** (minutes between / half-life)` of the other moments of its
    conversation. Memories of the same moment, which mostly came of one turn, do not raise each other: they would come
    in a bunch.
    """
    adjusted = list(relevances)
    talks: dict[str, list[int]] = {}
    for index, match in enumerate(matches):
        if match.conversation_id is not None:
            talks.setdefault(match.conversation_id, []).append(index)
    for places in talks.values():
        if len(places) == 1:
            continue
        ordered = sorted(places, key=lambda index: matches[index].said_at)
        for direction in (ordered, ordered[::-1]):
            for index, raised in _lifted(direction, matches, relevances, policy).items():
                adjusted[index] = max(adjusted[index], relevances[index] + policy.retrieval_context_weight * raised)
    return adjusted


def _lifted(
    ordered: Sequence[int], matches: Sequence[Match], relevances: Sequence[float], policy: Policy
) -> dict[int, float]:
    """Return the best of what came before each place, halved with every half-life that lies between."""
    lifted: dict[int, float] = {}
    before, at_once, last = 0.0, 0.0, None
    for index in ordered:
        moment = matches[index].said_at
        if moment != last:
            if last is not None:
                minutes = abs((moment - last).total_seconds()) / _SECONDS_A_MINUTE
                before = max(before, at_once) * 0.5 ** (minutes / policy.retrieval_context_half_life_minutes)
            at_once, last = 0.0, moment
        lifted[index] = before
        at_once = max(at_once, relevances[index])
    return lifted


def recency(last: datetime, now: datetime) -> float:
    """Return how recent a moment is, from 1 (now, or later) towards 0: `0.5 ** (days / RECENCY_HALF_LIFE_DAYS)`."""
    days = max(0.0, (now - last).total_seconds() / _SECONDS_A_DAY)
    return float(0.5 ** (days / RECENCY_HALF_LIFE_DAYS))


@dataclass(frozen=True, slots=True)
class Standing:
    """The fields a memory is ranked by beside the query: importance and trust, 0 to 1, when it was used last, and a
    pin."""

    importance: float
    trust: float
    last_accessed: datetime
    pinned: bool


@dataclass(frozen=True, slots=True)
class Terms:
    """Parts of a score; together they are the score, 0 to 1."""

    relevance: float
    importance: float
    recency: float
    trust: float
    pin: float

    @property
    def total(self) -> float:
        """Return the score: higher is better."""
        return self.relevance + self.importance + self.recency + self.trust + self.pin


_SEEDS_WEIGHTS: Final = {
    "seed-000": (0.55, 0.20, 0.15, 0.0, 0.10),
    "seed-001": (0.50, 0.25, 0.15, 0.05, 0.0),
}
"""In the order of `Terms`."""


def terms_of_score(relevance: float, cosine: float, standing: Standing, policy: Policy, now: datetime) -> Terms:
    """Return the terms of the score of one hit.

    The forms are those of "Memory System - Mechanics", section 5 (`0.5*similarity + 0.25*importance + 0.15*recency +
    0.05*scope + 0.05*trust`), and of the "S3 Vectors Memory Implementation Plan (V1)", retrieval (`0.55 similarity +
    0.20 importance + 0.15 recency + 0.10 pinned`); the measured weights are the policy's, for those lost half of what a
    search finds (docs/decisions, hybrid search). The seeds' forms rank by `cosine`, the measured one by `relevance`.
    A scope, which no caller names, is left out: it would be met by all.
    """
    similarity = relevance if policy.retrieval_ranking == "measured" else cosine
    weights = _SEEDS_WEIGHTS.get(
        policy.retrieval_ranking,
        (
            policy.retrieval_relevance_weight,
            policy.retrieval_importance_weight,
            policy.retrieval_recency_weight,
            policy.retrieval_trust_weight,
            0.0,
        ),
    )
    recent = recency(standing.last_accessed, now)
    values = (similarity, standing.importance, recent, standing.trust, float(standing.pinned))
    return Terms(*(weight * _clamp(part) for weight, part in zip(weights, values, strict=True)))


def names_in(question: str) -> list[str]:
    """Return the words of a question that are written like names: with a capital, and not at its beginning."""
    return [word for word in _WORD.findall(question)[1:] if word[0].isupper() and word != "I"]


def evidence(
    cosines: Mapping[uuid.UUID, float],
    covered: Mapping[uuid.UUID, float],
    unknown_names: float,
    policy: Policy,
    *,
    nameless: bool = False,
) -> float:
    """Return how surely a question is about something known, up to about 1.4.

    `cosines` are those of memories to the question as its user would be heard asking it ("Maya: what is my job?"), and
    `covered` the shares of its words that memories have. A memory that has its words alone counts by their share.
    `unknown_names` is the share of the question's names that no memory has: what is asked about somebody of whom
    nothing is known is hardly about something known. Memories of somebody `nameless` are less alike to any question.
    """
    by_both = (cosine + policy.retrieval_coverage_weight * covered.get(id_, 0.0) for id_, cosine in cosines.items())
    found = max((0.0, *by_both, *covered.values()))
    beside = policy.retrieval_nameless if nameless else 0.0
    return found + beside - policy.retrieval_unknown_name_weight * unknown_names


def is_about_what_is_known(evidence: float, policy: Policy) -> bool:
    """Return whether a question is about something known: how the threshold was measured is told in
    docs/reference/calibration.md, "When a search answers nothing"."""
    return evidence >= policy.retrieval_relevant


def answering(matches: Sequence[Match], evidence: float, policy: Policy) -> list[bool]:
    """Return of each match whether it is told, of an answer with this evidence: what is about something known has
    matches as well that are about something else.

    The evidence is that of the best match, and each has of it as much as it is relevant by itself: what is only said
    beside an answer is none.
    """
    needed = policy.retrieval_hit_share * policy.retrieval_relevant
    return [share * min(1.0, evidence) >= needed for share in own_relevances(matches, policy)]


ITEM_TOKENS: Final = {MemoryType.SEMANTIC: 120, MemoryType.EPISODIC: 250, MemoryType.PROCEDURAL: 200}
"""About how many tokens a recalled memory takes ("Memory System - Mechanics", section 5)."""
MOST_SLOTS: Final = {MemoryType.SEMANTIC: 10, MemoryType.EPISODIC: 5, MemoryType.PROCEDURAL: 3}
"""How many are recalled of a type at most (the same section)."""
SLOT_SHARES: Final = {MemoryType.SEMANTIC: 0.6, MemoryType.EPISODIC: 0.3, MemoryType.PROCEDURAL: 0.1}
"""How the tokens are shared between the types: the section names weights without numbers; these give about the slots of
the brief (5, 3, 2) at 1,000 to 2,500 tokens."""


def slots(available_tokens: int) -> dict[MemoryType, int]:
    """Return how many memories of each type are recalled into so many tokens, at least one of each.

    Source: "Memory System - Mechanics", section 5: `slots = max(1, min(MAX, int(available * weight // estimate)))`.
    """
    available = max(0, available_tokens)
    return {
        type_: max(1, min(MOST_SLOTS[type_], int(available * SLOT_SHARES[type_] // ITEM_TOKENS[type_])))
        for type_ in MemoryType
    }


def _shares(values: Sequence[float]) -> list[float]:
    """Return each as a share of the greatest; what is negative counts as 0."""
    greatest = max(values, default=0.0)
    return [value / greatest if value > 0 else 0.0 for value in values] if greatest > 0 else [0.0] * len(values)


def _clamp(value: float) -> float:
    return min(1.0, max(0.0, value))
