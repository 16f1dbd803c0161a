"""What is known around an entity or a question: facts with where they came from, walked some steps far."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from recall.audience import audiences, tellable
from recall.retrieve import retrieve
from schema import Principal, Subject, Way
from stores.graph import Relation
from stores.open import Stores


def around(
    principal: Principal | None,
    subject: Subject,
    names: Sequence[str],
    stores: Stores,
    *,
    hops: int = 1,
    limit: int = 200,
) -> list[Relation]:
    """Return the facts about these names, and up to `hops` steps from them; nearest first.

    Raises:
        ValueError: no name was given, or `hops` is no number of steps.
        NotAMember, NotAllowed: the principal may see nothing of the subject.
    """
    if not names or not all(name.strip() for name in names) or hops < 1:
        raise ValueError("name an entity, such as a person or a place, and walk at least one step")
    return _tellable(principal, subject, stores.graph.about(subject, names, hops=hops, limit=limit), stores)


def around_question(
    principal: Principal | None,
    subject: Subject,
    query: str,
    stores: Stores,
    *,
    hops: int = 0,
    limit: int = 200,
    now: datetime,
) -> list[Relation]:
    """Return the facts that answer a question: vectors find the memories where to enter, and the graph says what is
    true.

    Raises:
        ValueError: the query is empty.
        NotAMember, NotAllowed: the principal may see nothing of the subject.
    """
    anchors = [hit.memory.id for hit in retrieve(principal, [subject], query, stores, way=Way.GRAPH, now=now)]
    facts = stores.graph.facts_of_memories(subject, anchors, hops=hops, limit=limit)
    return _tellable(principal, subject, facts, stores)


def _tellable(
    principal: Principal | None, subject: Subject, relations: Sequence[Relation], stores: Stores
) -> list[Relation]:
    """Return those whose memory may be told to the principal as the catalog has it now."""
    [audience] = audiences(principal, [subject], stores)
    memories = stores.catalog.memories(subject, {relation.memory_id for relation in relations})
    tellable_ids = {memory.id for memory in tellable(audience, memories.values())}
    return [relation for relation in relations if relation.memory_id in tellable_ids]
