"""What is known around an entity or a question: facts with where they came from, walked some steps far."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from recall.search import search, told_of
from schema import Subject
from stores.graph import Relation
from stores.open import Stores


def around(
    subject: Subject, names: Sequence[str], stores: Stores, *, hops: int = 1, limit: int = 200
) -> list[Relation]:
    """The facts about these names, and up to `hops` steps from them; nearest first.

    Raises:
        ValueError: no name was given, or `hops` is no number of steps.
    """
    if not names or not all(name.strip() for name in names) or hops < 1:
        raise ValueError("name an entity, such as a person or a place, and walk at least one step")
    return _true(subject, stores.graph.about(subject, names, hops=hops, limit=limit), stores)


def around_question(
    subject: Subject, query: str, stores: Stores, *, hops: int = 0, limit: int = 200, now: datetime
) -> list[Relation]:
    """The facts that answer a question: vectors find the memories where to enter, and the graph says what is true.

    Raises:
        ValueError: the query is empty.
    """
    anchors = [found.memory.id for found in search(subject, query, stores, now=now)]
    return _true(subject, stores.graph.facts_of_memories(subject, anchors, hops=hops, limit=limit), stores)


def _true(subject: Subject, relations: Sequence[Relation], stores: Stores) -> list[Relation]:
    """Those whose memory is the subject's, and may be told as the catalog has it now."""
    told = {memory.id for memory in told_of(subject, {relation.memory_id for relation in relations}, stores)}
    return [relation for relation in relations if relation.memory_id in told]
