"""What dedup says of pairs of statements, as if the first were a memory and the second a candidate."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

import memory.parser.english as language
from benchmarks.quality.data import Pair
from benchmarks.quality.house import House
from policies.dedup import Neighbour, decide
from policies.language.reading.attributes import attribute_facts
from policies.language.reading.entities import entities_of
from policies.language.reading.facts import triples_of
from schema import Candidate, DecisionAction, Kind, Memory, MemoryType
from tests.dates import resolve_dates

_LABELS: Final = {DecisionAction.UPDATE: "same", DecisionAction.SUPERSEDE: "contradiction"}
"""Where no model is asked, what words cannot settle stays apart."""
_PAIR: Final = uuid.UUID(int=1)


def label_pairs(pairs: Sequence[Pair], house: House, now: datetime) -> Iterator[tuple[Pair, str]]:
    """Yield each pair with what is decided: same, contradiction or different. Blank texts are different."""
    whole = [pair for pair in pairs if pair.a.strip() and pair.b.strip()]
    texts = list(dict.fromkeys(text for pair in whole for text in (pair.a, pair.b)))
    candidates = dict(zip(texts, _candidates(texts, now), strict=True))
    vectors = dict(zip(texts, house.context.embedder.embed(texts), strict=True))
    for pair in pairs:
        if not (pair.a.strip() and pair.b.strip()):
            yield pair, "different"
            continue
        known = _memory(candidates[pair.a], house)
        candidate = candidates[pair.b]
        near = [Neighbour(known, float(vectors[pair.a] @ vectors[pair.b]))]
        shares = _attributes(candidate) & _attributes(candidates[pair.a])
        decision = decide(candidate, near, [known] if shares else [], house.context.policy, now)
        yield pair, _LABELS.get(decision.action, "different")


def _candidates(texts: Sequence[str], now: datetime) -> Iterator[Candidate]:
    """Return the texts as they are, with the names and facts that the rules extractor would give them."""
    dated = [resolve_dates(text[:600], now) for text in texts]
    for text, parsed in zip(texts, language.parse([one.text for one in dated]), strict=True):
        yield Candidate(
            turn_id="pair",
            ordinal=0,
            type=MemoryType.SEMANTIC,
            kind=Kind.USER_FACT,
            category="Other",
            summary=text[:600],
            entities=entities_of(parsed),
            facts=attribute_facts(parsed) or triples_of(parsed)[:1],
            confidence=1.0,
            occurred_at=now,
            said_at=now,
        )


def _memory(candidate: Candidate, house: House) -> Memory:
    return Memory(
        id=_PAIR,
        tenant_id="quality",
        subject_id="pairs",
        type=candidate.type,
        kind=candidate.kind,
        category=candidate.category,
        summary=candidate.summary,
        entities=candidate.entities,
        facts=candidate.facts,
        importance=0.5,
        trust_score=1.0,
        confidence=1.0,
        occurred_at=candidate.occurred_at,
        said_at=candidate.said_at,
        created_at=candidate.said_at,
        updated_at=candidate.said_at,
        last_accessed=candidate.said_at,
        embedding_model=house.context.embedder.name,
        policy_version=house.context.policy.version,
    )


def _attributes(candidate: Candidate) -> set[tuple[str, str]]:
    return {(fact.entity.casefold(), fact.attribute) for fact in candidate.facts if fact.attribute}
