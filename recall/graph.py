"""The graph around an entity: facts with where they came from, walked some steps far."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from recall.audience import audiences, tellable
from schema import Principal, Subject
from stores.graph import Relation
from stores.open import Stores

_EVERYTHING: Final = 10**9


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
    [audience] = audiences(principal, [subject], stores)
    relations = stores.graph.about(subject, names, hops=hops, limit=_EVERYTHING)
    memories = stores.catalog.memories(subject, {relation.memory_id for relation in relations})
    tellable_ids = {memory.id for memory in tellable(audience, memories.values())}
    return [relation for relation in relations if relation.memory_id in tellable_ids][:limit]
