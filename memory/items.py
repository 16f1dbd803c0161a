"""Keep JSON of an application about a subject, and find it again: what LangGraph calls a store.

It goes as it came, past the decision that makes memories; `memory.remember` is the way to those. It is the subject's
all the same: it leaves with their export and goes with their erasure.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import Any, Final

import numpy as np

from memory.metrics import QUOTAS
from memory.rights import require_shared, require_writable
from memory.spending import spending
from memory.statement_screening import require_consent
from policies.items import is_meant, is_of
from schema import Labels, Principal, Subject, Visibility
from schema.errors import QuotaExceeded
from schema.item import Item, Namespace, NamespaceMatch, Put, item_id
from stores.catalog.items import Embedded, Found
from stores.index.base import Vector
from stores.open import Stores

_TEXTS_A_CALL: Final = 64


@dataclass(frozen=True)
class Get:
    """Asks for what is under a key; to read it lets it live on, if `refreshes`."""

    namespace: Namespace
    key: str
    refreshes: bool = True


@dataclass(frozen=True)
class Search:
    """Asks for items under a namespace that a filter means: those nearest in meaning to a query first, or without one
    those changed latest."""

    prefix: Namespace
    query: str | None = None
    filter: Mapping[str, Any] = field(default_factory=dict)
    limit: int = 10
    offset: int = 0
    refreshes: bool = True


@dataclass(frozen=True)
class ListNamespaces:
    """Asks for the namespaces in which something is, in their order, cut to a depth."""

    conditions: tuple[NamespaceMatch, ...] = ()
    max_depth: int | None = None
    limit: int = 100
    offset: int = 0


@dataclass(frozen=True)
class Scored:
    """An item that was found. `score` is the cosine of its nearest text, -1 to 1; None where meaning has no part."""

    item: Item
    score: float | None


Answer = Scored | list[Scored] | list[Namespace] | None


def read_items(
    principal: Principal | None,
    subject: Subject,
    requests: Sequence[Get | Search | ListNamespaces],
    stores: Stores,
    *,
    now: datetime,
) -> list[Answer]:
    """Return what is asked for, each answer in its place.

    Raises:
        NotAMember, NotAllowed: the principal sees nothing of the subject that members share.
    """
    require_shared(principal, subject, stores.catalog)
    queries = {
        number: request.query
        for number, request in enumerate(requests)
        if isinstance(request, Search) and request.query
    }
    with spending("question"):
        vectors = dict(zip(queries, _embed(list(queries.values()), stores), strict=True))
    got = stores.catalog.items.get(
        subject,
        [item_id(subject, request.namespace, request.key) for request in requests if isinstance(request, Get)],
        now,
    )
    answers: list[Answer] = []
    live_on: dict[uuid.UUID, float] = {}
    for number, request in enumerate(requests):
        returned: list[Item] = []
        match request:
            case Get():
                item = got.get(item_id(subject, request.namespace, request.key))
                answers.append(None if item is None else Scored(item, None))
                returned += [] if item is None else [item]
            case Search():
                scored = _search(request, vectors.get(number), subject, stores, now)
                answers.append(scored)
                returned += [hit.item for hit in scored]
            case ListNamespaces():
                answers.append(_namespaces(request, stores.catalog.items.namespaces(subject, now)))
        if not isinstance(request, ListNamespaces) and request.refreshes:
            live_on |= {
                item_id(subject, item.namespace, item.key): item.ttl_minutes
                for item in returned
                if item.ttl_minutes is not None
            }
    stores.catalog.items.keep_longer(subject, live_on, now)
    return answers


def write_items(
    principal: Principal | None, subject: Subject, puts: Sequence[Put], stores: Stores, *, now: datetime
) -> None:
    """Keep and delete items, all or none; the last of those under one key counts.

    Raises:
        NotAMember, NotAllowed: the principal may not write what members of the subject share.
        NotKept: consent is withdrawn; to delete is possible all the same.
        QuotaExceeded: there would be more items than a user may have.
        Outdated: one is not as its put wants it to be; nothing was written.
    """
    shared = Labels(Visibility.PRIVATE, subject.subject_id)
    require_writable(principal, subject, shared, stores.catalog)
    last = {(put.namespace, put.key): put for put in puts}
    kept = [put for put in last.values() if put.value is not None]
    if kept:
        require_consent(stores.catalog.preferences.of(subject))
    limit = stores.settings.quota_user_items
    # To count exactly reads every row: only who is near the limit waits for that.
    if kept and limit and stores.catalog.items.count(subject) + len(kept) > limit:
        changed = [item_id(subject, put.namespace, put.key) for put in last.values()]
        if stores.catalog.items.count_beside(subject, changed, now) + len(kept) > limit:
            QUOTAS.labels("items", "user").inc()
            raise QuotaExceeded(
                f"a user may have {limit} items (AFTERTURN_QUOTA_USER_ITEMS); nothing was kept: delete some",
                scope="user",
            )
    texts = {item_id(subject, put.namespace, put.key): put.texts for put in kept if put.texts}
    stores.catalog.items.write(subject, list(last.values()), _embedded(texts, stores), now)


def _search(request: Search, query: Vector | None, subject: Subject, stores: Stores, now: datetime) -> list[Scored]:
    stored_items = [
        stored
        for stored in stores.catalog.items.under(subject, request.prefix, now)
        if is_meant(stored.item.value, request.filter)
    ]
    if query is None:
        scored = [Scored(stored.item, None) for stored in stored_items]
    else:
        vectors = _of_this_model(stored_items, subject, stores)
        nearest = [
            Scored(stored.item, float((vectors[stored.id].vectors @ query).max()))
            for stored in stored_items
            if stored.id in vectors
        ]
        # Those that have no meaning come behind all that have: who asks for more than there are gets them as well.
        scored = sorted(nearest, key=lambda hit: hit.score or 0.0, reverse=True)
        scored += [Scored(stored.item, None) for stored in stored_items if stored.id not in vectors]
    return scored[request.offset : request.offset + request.limit]


def _of_this_model(stored_items: Sequence[Found], subject: Subject, stores: Stores) -> dict[uuid.UUID, Embedded]:
    """Return the items' vectors. Those of another model, and what was imported, are made anew and kept."""
    model = stores.embedder.name
    vectors = {
        stored.id: stored.embedded
        for stored in stored_items
        if stored.embedded is not None and stored.embedded.model == model
    }
    stale = {stored.id: stored for stored in stored_items if stored.item.texts and stored.id not in vectors}
    anew = _embedded({id_: stored.item.texts for id_, stored in stale.items()}, stores)
    stores.catalog.items.embed_anew(subject, anew, {id_: stored.item.updated_at for id_, stored in stale.items()})
    return vectors | anew


def _embedded(texts: Mapping[uuid.UUID, Sequence[str]], stores: Stores) -> dict[uuid.UUID, Embedded]:
    vectors = iter(_embed([text for each in texts.values() for text in each], stores))
    return {
        id_: Embedded(stores.embedder.name, np.stack(list(islice(vectors, len(each))))) for id_, each in texts.items()
    }


def _embed(texts: Sequence[str], stores: Stores) -> list[Vector]:
    """Return the vectors of texts, in their order."""
    calls = (texts[start : start + _TEXTS_A_CALL] for start in range(0, len(texts), _TEXTS_A_CALL))
    return [vector for call in calls for vector in stores.embedder.embed(call)]


def _namespaces(request: ListNamespaces, there: Sequence[Namespace]) -> list[Namespace]:
    meant = {namespace[: request.max_depth] for namespace in there if is_of(namespace, request.conditions)}
    return sorted(meant)[request.offset : request.offset + request.limit]
