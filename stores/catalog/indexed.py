"""Tables behind each family of vectors: which rows lie in its index, and at which versions."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Final

from sqlalchemy import Connection, Table, select

import stores.catalog.tables as tables
from schema import Chunk, MemoryType, Subject, index_key
from schema.selectors import StatedFact, Window
from stores.catalog.document_tables import chunks
from stores.catalog.selector_tables import windows
from stores.catalog.statements import any_of, of_bound_subject, subject_parameters
from stores.index.base import Family, Indexed

TABLES: Final[dict[Family, Table]] = {
    Family.MEMORIES: tables.memories,
    Family.CHUNKS: chunks,
    Family.WINDOWS: windows,
    Family.FACTS: tables.facts,
}
"""Of each family the table whose rows lie in its index: of facts those that have an id."""
_FAMILIES: Final = {Chunk: Family.CHUNKS, Window: Family.WINDOWS, StatedFact: Family.FACTS}
_VERSIONS: Final = {
    family: select(table.c.id, table.c.version).where(table.c.id.in_(any_of("ids"))) for family, table in TABLES.items()
}


_OF_SUBJECT: Final = {
    family: select(table.c.id, table.c.version, *([table.c.type] if family is Family.MEMORIES else [])).where(
        of_bound_subject(table), table.c.id.is_not(None)
    )
    for family, table in TABLES.items()
}


def family_of(item: Indexed) -> Family:
    """Return the family in whose index something lies."""
    return _FAMILIES.get(type(item), Family.MEMORIES)


def read_versions(connection: Connection, family: Family, subject: Subject) -> dict[uuid.UUID, tuple[uuid.UUID, int]]:
    """Return where what a subject has of a family lies in its index, and at which versions it is, by id."""
    rows = connection.execute(_OF_SUBJECT[family], subject_parameters(subject))
    if family is Family.MEMORIES:
        return {row.id: (index_key(subject.subject_id, MemoryType(row.type), row.id), row.version) for row in rows}
    return {row.id: (row.id, row.version) for row in rows}


def read_family_versions(connection: Connection, family: Family, ids: Sequence[uuid.UUID]) -> dict[uuid.UUID, int]:
    """Return the versions at which the rows of a family are; those that are gone are left out."""
    if not ids:
        return {}
    return {row.id: row.version for row in connection.execute(_VERSIONS[family], {"ids": list(ids)})}
