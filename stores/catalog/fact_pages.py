"""The facts of a subject as people look at them: the latest, those about a name, and one through all its changes."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from datetime import datetime

from sqlalchemy import func, select, tuple_

import stores.catalog.tables as tables
from schema import Memory, Status, Subject
from stores.catalog.rows import folded, memory_of
from stores.catalog.statements import any_of, of_bound_subject, of_subject, subject_parameters
from stores.catalog.store import Reader

_facts, _memories = tables.facts, tables.memories
_BY_FACTS = (
    select(_memories.c.id, _memories.c.document, _facts.c.entity, _facts.c.attribute)
    .join(_facts, _facts.c.memory_id == _memories.c.id)
    .where(
        of_bound_subject(_facts),
        _facts.c.entity.in_(any_of("entities")),
        _facts.c.attribute.in_(any_of("names")),
        _memories.c.status == Status.ACTIVE,
    )
)


class FactPages(Reader):
    """Memories that state facts. Reads only. Safe to call from many threads and processes."""

    def with_attributes(self, subject: Subject, attributes: Iterable[tuple[str, str]]) -> list[Memory]:
        """Return the subject's active memories with a fact of one of these (entity, attribute) pairs, in any case."""
        pairs = {(folded(entity), attribute) for entity, attribute in attributes}
        if not pairs:
            return []
        entities, names = zip(*pairs, strict=True)
        asked = subject_parameters(subject) | {"entities": entities, "names": names}
        rows = self._rows(_BY_FACTS, asked)
        # A row may join one pair's entity with another's attribute, and a memory may have several rows.
        meant = {row.id: row.document for row in rows if (row.entity, row.attribute) in pairs}
        return [memory_of(document) for document in meant.values()]

    def latest(
        self, subject: Subject, *, about: str = "", before: tuple[datetime, uuid.UUID] | None = None, limit: int = 50
    ) -> list[Memory]:
        """Return the active memories that state facts, latest created first, from behind `before` on; only those with a
        fact that has the name `about` at one of its ends, if one is given."""
        stated = select(_facts.c.memory_id).where(_facts.c.memory_id == _memories.c.id)
        query = select(_memories.c.document).where(of_subject(_memories, subject), _memories.c.status == Status.ACTIVE)
        if about:
            # An object has the letters that were said: only ASCII ones are the same in another case to every database.
            named = (
                select(_facts.c.memory_id)
                .where(of_subject(_facts, subject))
                .where(
                    (_facts.c.entity == folded(about))
                    | (_facts.c.object == about)
                    | (func.lower(_facts.c.object) == about.lower())
                )
            )
            query = query.where(_memories.c.id.in_(named))
        else:
            query = query.where(stated.exists())
        if before is not None:
            query = query.where(tuple_(_memories.c.created_at, _memories.c.id) < before)
        ordered = query.order_by(_memories.c.created_at.desc(), _memories.c.id.desc()).limit(limit)
        return self._memories(ordered)

    def through_time(self, subject: Subject, entity: str, attribute: str, *, limit: int = 100) -> Sequence[Memory]:
        """Return all memories, whatever became of them, that ever said what an attribute of an entity is, by when it
        was said."""
        named = (
            select(_facts.c.memory_id)
            .where(of_subject(_facts, subject), _facts.c.entity == folded(entity), _facts.c.attribute == attribute)
            .limit(limit)
        )
        query = select(_memories.c.document).where(
            of_subject(_memories, subject), _memories.c.id.in_(named), _memories.c.status != Status.DELETED
        )
        return sorted(self._memories(query), key=lambda memory: (memory.said_at, memory.created_at, memory.id))
