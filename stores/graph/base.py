"""The protocol of a graph: (entity)-[verb]->(fact)-[from]->(source), one subject at a time.

A fact names its object, which may be the entity of other facts: so facts are walked from one to the next. Vectors only
find where to enter; what the graph answers is of the subject that was asked for, and of memories that are active.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

from sqlalchemy import Connection

from schema import Memory, Subject
from schema.health import HealthCheck

HUBS = frozenset({"user"})
"""Entities that nearly every fact is about: a walk may begin there and does not pass through."""


@dataclass(frozen=True)
class Relation:
    """A fact as an edge: who, what, and of whom or what; the memory that states it and the turns that said so.

    `entity` is in lower case. `distance` is how many steps it lies from where the walk began, from 0.
    """

    memory_id: uuid.UUID
    ordinal: int
    entity: str
    verb: str
    object: str
    attribute: str | None
    sources: tuple[str, ...]
    distance: int = 0

    @property
    def names(self) -> frozenset[str]:
        """Return what it touches, in lower case."""
        return frozenset({self.entity, folded_name(self.object)})


class Graph(Protocol):
    """Entities, facts and sources in the catalog's database. Safe to call from many threads and processes."""

    def write_in_transaction(self, connection: Connection, written: Sequence[Memory], gone: Sequence[Memory]) -> None:
        """Take over the facts of memories as they are written, and drop those of memories that go, in the catalog's
        transaction."""
        ...

    def about(self, subject: Subject, names: Collection[str], *, hops: int = 1, limit: int = 200) -> list[Relation]:
        """Return the facts that are about these names, in any case, or about what those facts name, `hops` steps far;
        nearest first."""
        ...

    def facts_of_memories(
        self, subject: Subject, memory_ids: Collection[uuid.UUID], *, hops: int = 0, limit: int = 200
    ) -> list[Relation]:
        """Return the facts that these memories state, if they are the subject's and active, and those up to `hops`
        steps from them; nearest first."""
        ...

    def facts_said_in(self, subject: Subject, turn_ids: Collection[str], *, limit: int = 200) -> list[Relation]:
        """Return the facts of the subject's active memories that came from these turns, by what they say."""
        ...

    def facts_of_subject(self, subject: Subject, *, limit: int = 200) -> list[Relation]:
        """Return the facts of all active memories of a subject, by entity, verb and object."""
        ...


@runtime_checkable
class RebuildableGraph(Protocol):
    """A graph that keeps facts beside the catalog's tables, and can be made from these again."""

    def facts(self, subject: Subject) -> list[Relation]:
        """Return all facts that it has of a subject, whatever the catalog has."""
        ...

    def rebuild(self, subject: Subject) -> int:
        """Make the subject's facts those of the catalog, and answer of how many memories they were not. Writers of the
        subject wait meanwhile; what is right already stays as it is."""
        ...

    def check_health(self) -> Iterator[HealthCheck]:
        """Look at what it lies in, and whether it has all facts of the catalog."""
        ...


def folded_name(name: str) -> str:
    """Return a name as it is compared: whatever its case, and as long as the catalog's column."""
    return name.casefold()[:200]


def walk(
    first: Sequence[Relation], hops: int, limit: int, touching: Callable[[frozenset[str]], Sequence[Relation]]
) -> list[Relation]:
    """Return relations and those up to `hops` steps from them, at most `limit`, nearest first.

    `touching` answers the relations that touch any of some names.
    """
    reached = {(relation.memory_id, relation.ordinal): relation for relation in ordered(first)}
    seen: frozenset[str] = HUBS
    edge = list(reached.values())
    for _ in range(hops):
        names = frozenset().union(*(relation.names for relation in edge)) - seen
        if not names or len(reached) >= limit:
            break
        seen |= names
        distance = edge[0].distance + 1
        edge = [
            replace(relation, distance=distance)
            for relation in ordered(touching(names))
            if (relation.memory_id, relation.ordinal) not in reached
        ]
        if not edge:
            break
        reached |= {(relation.memory_id, relation.ordinal): relation for relation in edge}
    return list(reached.values())[:limit]


def ordered(relations: Iterable[Relation]) -> list[Relation]:
    """Return relations by what they say: their order says nothing of when it was said."""
    return sorted(
        relations,
        key=lambda relation: (relation.entity, relation.verb, relation.object, relation.memory_id, relation.ordinal),
    )
