"""The store's items: one row for each, with the vectors of what it is found by."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

import numpy as np
from sqlalchemy import Connection, and_, bindparam, delete, func, or_, select, update

import stores.catalog.tables as tables
from schema import Subject
from schema.base import ANY_ETAG, etag_of
from schema.errors import Outdated
from schema.item import Item, Namespace, Put, item_id, written
from stores.catalog.item_tables import deleted_items as _deleted
from stores.catalog.item_tables import items as _items
from stores.catalog.statements import insert_new, of_subject, upsert
from stores.catalog.store import Store
from stores.embedding.base import Vectors

_NEVER_CHANGED: Final = ("id", "tenant_id", "subject_id", "namespace", "key", "created_at")
_IDS_A_STATEMENT: Final = 500
_CHANGED: Final = "an item was changed or deleted since you have read it, nothing was written: read it again"
_THERE_ALREADY: Final = "there is an item under this key already, nothing was written: read it, and put it by its etag"


@dataclass(frozen=True)
class Embedded:
    """Unit vectors of an item's texts, one a row, and the model that they are of."""

    model: str
    vectors: Vectors


@dataclass(frozen=True)
class Found:
    """An item with its vectors; None where it is found by none."""

    id: uuid.UUID
    item: Item
    embedded: Embedded | None


class ItemStore(Store):
    """The items of all subjects. What has expired is not there. Safe to call from many threads and processes."""

    def get(self, subject: Subject, ids: Iterable[uuid.UUID], now: datetime) -> dict[uuid.UUID, Item]:
        """Return a subject's items by their ids; what is not there is left out."""
        wanted = list(ids)
        items: dict[uuid.UUID, Item] = {}
        for start in range(0, len(wanted), _IDS_A_STATEMENT):
            page = wanted[start : start + _IDS_A_STATEMENT]
            query = select(_items).where(_there(subject, now), _items.c.id.in_(page))
            items |= {row.id: _item_of(row) for row in self._rows(query)}
        return items

    def under(self, subject: Subject, prefix: Namespace, now: datetime) -> list[Found]:
        """Return a subject's items of all namespaces that begin with these labels, latest change first."""
        start = _written(prefix)
        begins = func.substr(_items.c.namespace, 1, len(start)) == start
        query = select(_items).where(_there(subject, now), begins).order_by(_items.c.updated_at.desc(), _items.c.id)
        return [Found(row.id, _item_of(row), _embedded_of(row)) for row in self._rows(query)]

    def namespaces(self, subject: Subject, now: datetime) -> list[Namespace]:
        """Return the namespaces in which a subject has something."""
        query = select(_items.c.namespace).where(_there(subject, now)).distinct()
        return [_read(namespace) for namespace in self._values(query)]

    def count(self, subject: Subject) -> int:
        """Return how many items a subject has, those too that have expired: an index knows that by itself."""
        query = select(func.count()).select_from(_items).where(of_subject(_items, subject))
        return self._count(query)

    def count_beside(self, subject: Subject, ids: Iterable[uuid.UUID], now: datetime) -> int:
        """Return how many items a subject has, these apart."""
        query = select(func.count()).select_from(_items).where(_there(subject, now), _items.c.id.not_in(list(ids)))
        return self._count(query)

    def write(
        self, subject: Subject, puts: Sequence[Put], embedded: Mapping[uuid.UUID, Embedded], now: datetime
    ) -> None:
        """Keep and delete items, all in one transaction. One that was there keeps when it was made; of one that goes,
        its id and the moment stay, for a restore of a backup that has it.

        Raises:
            Outdated: one is not as its put wants it to be; nothing was written.
        """
        conditions = {item_id(subject, put.namespace, put.key): put for put in puts if put.is_conditional}
        gone = [item_id(subject, put.namespace, put.key) for put in puts if put.value is None]
        rows = (_row(subject, put, embedded, now) for put in puts if put.value is not None)
        kept = sorted(rows, key=lambda row: row["id"])

        def work(connection: Connection) -> None:
            # In one order for all who write: two of Postgres' that want the same rows would wait for each other.
            are_meant = and_(of_subject(_items, subject), _items.c.id.in_([*gone, *(row["id"] for row in kept)]))
            connection.execute(select(_items.c.id).where(are_meant).order_by(_items.c.id).with_for_update()).all()
            # What takes the place of one that has expired is new. Others that have are dropped within the hour: to look
            # for them here reads every row of the subject.
            connection.execute(delete(_items).where(are_meant, _items.c.expires_at <= now))
            if conditions:
                _require(connection, subject, conditions)
            if gone:
                _delete(connection, subject, _items.c.id.in_(gone), now)
            if kept:
                _know(connection, subject, now)
                statement = upsert(connection.dialect.name, _items)
                news = {
                    name: statement.excluded[name]
                    for name in map(str, _items.columns.keys())
                    if name not in _NEVER_CHANGED
                }
                over_what_is_there = statement.on_conflict_do_update(index_elements=["id"], set_=news)
                if not conditions:
                    connection.execute(over_what_is_there, kept)
                for row in kept if conditions else ():
                    put = conditions.get(row["id"])
                    if put is None or not put.if_absent:
                        connection.execute(over_what_is_there, row)
                    # What is not there yet cannot be locked: another may have put it since we looked.
                    elif not connection.execute(insert_new(connection.dialect.name, _items).values(row)).rowcount:
                        raise Outdated(_THERE_ALREADY)

        self._writers.write(work)
        if gone:
            self._writers.leave_no_trace()

    def embed_anew(
        self, subject: Subject, embedded: Mapping[uuid.UUID, Embedded], read: Mapping[uuid.UUID, datetime]
    ) -> None:
        """Give items vectors of another model, if they are still as they were `read`: when they were changed last."""
        if not embedded:
            return
        statement = (
            update(_items)
            .where(of_subject(_items, subject), _items.c.id == bindparam("of"), _items.c.updated_at == bindparam("at"))
            .values(vectors=bindparam("new"), embedding_model=bindparam("model"))
        )
        rows = [
            {"of": id_, "at": read[id_], "new": _bytes(item_vectors.vectors), "model": item_vectors.model}
            for id_, item_vectors in sorted(embedded.items(), key=lambda pair: pair[0])
        ]
        self._run(statement, rows)

    def keep_longer(self, subject: Subject, ttls: Mapping[uuid.UUID, float], now: datetime) -> None:
        """Let items that were read live for as many minutes more as they were given."""
        if not ttls:
            return
        statement = (
            update(_items)
            .where(of_subject(_items, subject), _items.c.id == bindparam("of"), _items.c.expires_at > now)
            .values(expires_at=bindparam("until"))
        )
        rows = [{"of": id_, "until": now + timedelta(minutes=minutes)} for id_, minutes in sorted(ttls.items())]
        self._run(statement, rows)

    def drop_expired(self, now: datetime) -> int:
        """Delete what has expired, whosever it is, and answer how much it was."""
        return self._run(delete(_items).where(_items.c.expires_at <= now))

    def delete_again(self, subject: Subject, id_: uuid.UUID, before: datetime, now: datetime) -> bool:
        """Delete an item unless it was written after `before`, and answer whether it was there."""
        is_meant = and_(_items.c.id == id_, _items.c.updated_at <= before)
        was_there = self._writers.write(lambda connection: _delete(connection, subject, is_meant, now)) > 0
        if was_there:
            self._writers.leave_no_trace()
        return was_there

    def import_new(self, subject: Subject, items: Sequence[Item], now: datetime) -> int:
        """Write items as they were exported, those left out that are there, and answer how many were new."""
        rows = [
            {**_row(subject, _put_of(item), {}, now), "created_at": item.created_at, "updated_at": item.updated_at}
            for item in items
        ]

        def work(connection: Connection) -> int:
            _know(connection, subject, now)
            new = insert_new(connection.dialect.name, _items)
            return sum(connection.execute(new.values(row)).rowcount for row in rows)

        return self._writers.write(work)


def _require(connection: Connection, subject: Subject, conditions: Mapping[uuid.UUID, Put]) -> None:
    """Check that items, whose rows are locked, are as their puts want them to be.

    Raises:
        Outdated: one is not.
    """
    query = select(_items.c.id, _items.c.value).where(of_subject(_items, subject), _items.c.id.in_(list(conditions)))
    there = {row.id: etag_of(row.value) for row in connection.execute(query)}
    for id_, put in conditions.items():
        etag = there.get(id_)
        is_other = put.if_match is not None and (etag is None or put.if_match.isdisjoint({etag, *ANY_ETAG}))
        if is_other:
            raise Outdated(_CHANGED)
        if put.if_absent and etag is not None:
            raise Outdated(_THERE_ALREADY)


def _there(subject: Subject, now: datetime) -> Any:
    return and_(of_subject(_items, subject), or_(_items.c.expires_at.is_(None), _items.c.expires_at > now))


def _delete(connection: Connection, subject: Subject, are_meant: Any, now: datetime) -> int:
    """Delete items of a subject, note that they are gone, and answer how many were there."""
    condition = and_(of_subject(_items, subject), are_meant)
    there = (
        connection.execute(select(_items.c.id).where(condition).order_by(_items.c.id).with_for_update()).scalars().all()
    )
    if there:
        connection.execute(delete(_items).where(of_subject(_items, subject), _items.c.id.in_(there)))
        statement = upsert(connection.dialect.name, _deleted)
        moved = statement.on_conflict_do_update(index_elements=["id"], set_={"at": statement.excluded.at})
        connection.execute(moved, [{"id": id_, **subject.model_dump(), "at": now} for id_ in there])
    return len(there)


def _know(connection: Connection, subject: Subject, now: datetime) -> None:
    """Let the subject be among those whom an export of everybody goes through."""
    row = {**subject.model_dump(), "fence": 0, "revision": int(now.timestamp() * 1e6), "removed": 0}
    connection.execute(insert_new(connection.dialect.name, tables.subjects).values(row))


def _row(subject: Subject, put: Put, embedded: Mapping[uuid.UUID, Embedded], now: datetime) -> dict[str, Any]:
    id_ = item_id(subject, put.namespace, put.key)
    of_meaning = embedded.get(id_)
    return {
        "id": id_,
        **subject.model_dump(),
        "namespace": _written(put.namespace),
        "key": put.key,
        "value": written(put.value),
        "created_at": now,
        "updated_at": now,
        "ttl_minutes": put.ttl_minutes,
        "expires_at": None if put.ttl_minutes is None else now + timedelta(minutes=put.ttl_minutes),
        "texts": json.dumps(put.texts) if put.texts else None,
        "vectors": None if of_meaning is None else _bytes(of_meaning.vectors),
        "embedding_model": None if of_meaning is None else of_meaning.model,
    }


def _put_of(item: Item) -> Put:
    return Put(item.namespace, item.key, item.value, item.ttl_minutes, item.texts)


def _item_of(row: Any) -> Item:
    texts = tuple(json.loads(row.texts)) if row.texts else ()
    value = json.loads(row.value)
    return Item(_read(row.namespace), row.key, value, row.created_at, row.updated_at, row.ttl_minutes, texts)


def _embedded_of(row: Any) -> Embedded | None:
    if row.vectors is None:
        return None
    numbers = np.frombuffer(row.vectors, dtype="<f4").astype(np.float32)
    return Embedded(row.embedding_model, numbers.reshape(len(json.loads(row.texts)), -1))


def _bytes(vectors: Vectors) -> bytes:
    return vectors.astype("<f4").tobytes()


def _written(namespace: Namespace) -> str:
    return "".join(f"{label}." for label in namespace)


def _read(namespace: str) -> Namespace:
    return tuple(namespace.removesuffix(".").split("."))
