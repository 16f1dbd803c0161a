"""Tables behind each family of vectors: which rows lie in its index, at which versions, and with which text."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Final

from sqlalchemy import Connection, Table, select

import stores.catalog.tables as tables
from schema import Chunk, Memory
from stores.catalog.document_tables import chunks
from stores.catalog.statements import any_of
from stores.index.base import Family

TABLES: Final[dict[Family, Table]] = {Family.MEMORIES: tables.memories, Family.CHUNKS: chunks}
"""Of each family the table whose rows lie in its index."""
_VERSIONS: Final = {
    family: select(table.c.id, table.c.version).where(table.c.id.in_(any_of("ids"))) for family, table in TABLES.items()
}


def family_of(item: Memory | Chunk) -> Family:
    """Return the family in whose index something lies."""
    return Family.CHUNKS if isinstance(item, Chunk) else Family.MEMORIES


def text_of(item: Memory | Chunk) -> str:
    """Return what of it is embedded."""
    return item.content if isinstance(item, Chunk) else item.summary


def read_family_versions(connection: Connection, family: Family, ids: Sequence[uuid.UUID]) -> dict[uuid.UUID, int]:
    """Return the versions at which the rows of a family are; those that are gone are left out."""
    if not ids:
        return {}
    return {row.id: row.version for row in connection.execute(_VERSIONS[family], {"ids": list(ids)})}
