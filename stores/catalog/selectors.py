"""Windows and facts with vectors of their own: written with what they are of, and gone with it.

Their vectors are never written beside it: each change leaves a job by which the index is told what the catalog has
then, so that nothing of what was erased meanwhile is embedded.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, bindparam, case, delete, exists, or_, select, update

import stores.catalog.tables as tables
from schema import Memory, Subject
from schema.selectors import StatedFact, Window, facts_of
from stores.catalog.changes import Changes, IndexJob, index_job
from stores.catalog.indexed import TABLES
from stores.catalog.selector_tables import windows
from stores.catalog.statements import any_of, insert_new, of_subject
from stores.index.base import Family, Indexed

_FACTS, _SOURCES = tables.facts, tables.sources
_DROP_FACTS = delete(_FACTS).where(_FACTS.c.memory_id.in_(any_of("ids"))).returning(_FACTS.c.id, _FACTS.c.version)
_NAME_FACT = (
    update(_FACTS)
    .where(_FACTS.c.memory_id == bindparam("memory"), _FACTS.c.ordinal == bindparam("place"), _FACTS.c.id.is_(None))
    .values(id=bindparam("key"), version=bindparam("at"))
)


def drop_facts(connection: Connection, memories: Sequence[Memory]) -> dict[uuid.UUID, int]:
    """Drop the facts of memories that are rewritten or go, and answer those that had vectors, with their versions."""
    if not memories:
        return {}
    rows = connection.execute(_DROP_FACTS, {"ids": [memory.id for memory in memories]})
    return {row.id: row.version for row in rows if row.id is not None}


def write_selectors(connection: Connection, changes: Changes, dropped: Mapping[uuid.UUID, int]) -> list[IndexJob]:
    """Write the windows and the facts with vectors of some changes, take out those that are no more, and answer what
    the indexes must be told of them. After what they are of; `dropped` are the facts that had vectors before."""
    facts = facts_of(*changes.created, *changes.updated) if changes.fact_vectors else []
    if named := [*facts, *facts_of(*changes.stated)]:
        rows = [_names(fact) for fact in named]
        connection.execute(_NAME_FACT, rows)
    if changes.windows:
        new = insert_new(connection.dialect.name, windows)
        connection.execute(new, [_window_row(window) for window in changes.windows])
    there = {fact.id for fact in facts}
    written: tuple[Indexed, ...] = (*changes.windows, *named)
    gone = {id_: version for id_, version in dropped.items() if id_ not in there}
    turns = {turn_id for memory in changes.deleted for turn_id in memory.source_turn_ids}
    return [
        *(index_job(item, "upsert", item.version) for item in written),
        *(_deletion(id_, version, changes.subject, Family.FACTS) for id_, version in gone.items()),
        *settle_windows(
            connection,
            changes.subject,
            turns | changes.erased_turns | {turn.turn_id for turn in changes.reduced},
        ),
    ]


def deletions_of(connection: Connection, subject: Subject, family: Family) -> list[IndexJob]:
    """Return what the index of a family beside the memories must be told where all of a subject goes."""
    table = TABLES[family]
    rows = connection.execute(
        select(table.c.id, table.c.version).where(of_subject(table, subject), table.c.id.is_not(None))
    )
    return [_deletion(row.id, row.version, subject, family) for row in rows]


def settle_windows(connection: Connection, subject: Subject, turn_ids: Collection[str]) -> list[IndexJob]:
    """Take out the windows of those of the turns that are kept no more; the others, and those that begin with any of
    the turns, are made again of what is kept."""
    if not turn_ids:
        return []
    mine = of_subject(windows, subject)
    gone = (
        delete(windows)
        .where(mine, windows.c.turn_id.in_(turn_ids), ~_is_kept(windows.c.turn_id))
        .returning(windows.c.id, windows.c.version)
    )
    previous = windows.c.previous_turn_id
    again = (
        update(windows)
        .where(mine, or_(windows.c.turn_id.in_(turn_ids), previous.in_(turn_ids)))
        .values(version=windows.c.version + 1, previous_turn_id=case((_is_kept(previous), previous), else_=None))
        .returning(windows.c.id, windows.c.version)
    )
    deletions = [_deletion(row.id, row.version, subject, Family.WINDOWS) for row in connection.execute(gone)]
    return deletions + [
        IndexJob(row.id, subject, row.id, "upsert", row.version, family=Family.WINDOWS)
        for row in connection.execute(again)
    ]


def _is_kept(turn_id: Any) -> Any:
    same = (_SOURCES.c.tenant_id == windows.c.tenant_id, _SOURCES.c.subject_id == windows.c.subject_id)
    return exists(select(_SOURCES.c.turn_id).where(*same, _SOURCES.c.turn_id == turn_id))


def _deletion(id_: uuid.UUID, version: int, subject: Subject, family: Family) -> IndexJob:
    return IndexJob(id_, subject, id_, "delete", version + 1, family=family)


def _names(fact: StatedFact) -> dict[str, Any]:
    return {"memory": fact.memory.id, "place": fact.ordinal, "key": fact.id, "at": fact.version}


def _window_row(window: Window) -> dict[str, Any]:
    turn = window.turn
    return {
        "id": window.id,
        **window.subject.model_dump(),
        "turn_id": turn.turn_id,
        "window_index": window.number,
        "previous_turn_id": window.before.turn_id if window.before else None,
        "conversation_id": turn.conversation_id,
        "said_at": turn.occurred_at,
        "start": window.start,
        "end": window.end,
        "version": window.version,
    }
