"""The index in Weaviate: one collection, in which each subject is a tenant."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
from weaviate import WeaviateClient
from weaviate.classes.data import DataObject
from weaviate.classes.query import Filter, MetadataQuery
from weaviate.collections import Collection
from weaviate.collections.classes.config import _CollectionConfig, _VectorIndexConfigFlat
from weaviate.exceptions import WeaviateQueryError

from schema import Subject
from schema.errors import IndexMismatch, IndexUnavailable
from schema.health import HealthCheck, failed, fine, warning
from schema.settings import Settings, variable_of
from stores.index.base import Entry, Hit, Metric, Vector, Where
from stores.index.checks import batched, checked, checked_limit, entries_a_request, must_be_ready, refuse_another
from stores.index.document import alternatives, conditions, digests, from_json, subject_digest, text_digest, to_json
from stores.index.server import PROBE, patience, probed, ranked
from stores.index.snapshot import microseconds
from stores.index.weaviate_client import FAILURES, connected, is_passing, unavailable
from stores.index.weaviate_schema import DOCUMENT, definition

T = TypeVar("T")
Objects = Collection[dict[str, Any], None]

AT_A_TIME = 500
_BYTES_OF_A_NUMBER = 4
"""It is asked by gRPC."""
_MOST = 10_000
"""Hits that the server gives at the most (its QUERY_MAXIMUM_RESULTS)."""


class WeaviateIndex:
    """One collection of a Weaviate server. Safe for any number of threads and processes.

    A subject is a tenant of the collection: a shard of its own, so that no search can see another's, and all of it is
    compared. Texts of users are filtered by their digests, because the server trims texts before it compares them.
    """

    def __init__(self, client: WeaviateClient, collection: str, timeout: float) -> None:
        self._client = client
        self._name = collection
        self._objects: Objects = client.collections.use(collection)
        self._retrying = patience(timeout, is_passing)
        self._dimensions = 0

    def ensure(self, dimensions: int, metric: Metric, model: str) -> None:
        """Make the collection, or check what it was made for.

        Raises:
            IndexMismatch: it was made for other dimensions, another metric or another model, or not by us.
            IndexUnavailable: the server cannot be asked, or refuses.
        """
        required = {"dimensions": str(dimensions), "metric": metric, "model": model}
        if not self._ask(self._client.collections.exists, self._name):
            self._make(definition(self._name, dimensions, model))
        refuse_another(f"the collection {self._name} in Weaviate", self._made_for(self._config()), required)
        self._dimensions = dimensions

    def upsert(self, entries: Sequence[Entry]) -> list[Entry]:
        """Write as any index does: the server cannot compare, and keeps nothing out."""
        by_subject: dict[Subject, dict[uuid.UUID, DataObject[dict[str, Any], None]]] = {}
        for entry in entries:
            by_subject.setdefault(entry.subject, {})[entry.key] = self._object(entry)
        size = entries_a_request(AT_A_TIME, self._dimensions, _BYTES_OF_A_NUMBER)
        for subject, objects in by_subject.items():
            tenant = self._objects.with_tenant(subject_digest(subject))
            for batch in batched(list(objects.values()), size):
                errors = self._ask(tenant.data.insert_many, batch).errors
                if errors:
                    raise IndexUnavailable(
                        f"Weaviate did not take {len(errors)} of {len(batch)} entries; its log says why: look at its "
                        "disk and memory"
                    )
        return []

    def query(self, vector: Vector, where: Where, limit: int) -> list[Hit]:
        """Return as any index does, of 10,000 hits at the most."""
        unit_vector = checked(vector, self._dimensions)
        filters = _filter(where)

        def ask(most: int) -> list[Hit]:
            def near(objects: Objects) -> list[Hit]:
                answer = objects.query.near_vector(
                    unit_vector.tolist(),
                    limit=most,
                    filters=filters,
                    return_metadata=MetadataQuery(distance=True),
                    return_properties=[DOCUMENT],
                )
                found = [
                    (from_json(str(stored.properties[DOCUMENT]), unit_vector), stored.metadata)
                    for stored in answer.objects
                ]
                return [_hit(entry, data.distance) for entry, data in found if entry.subject == where.subject]

            return self._ask_for(where.subject, near) or []

        return ranked(ask, checked_limit(limit), _MOST)

    def fetch(self, subject: Subject, keys: Sequence[uuid.UUID]) -> list[Entry]:
        return [
            from_json(str(stored.properties[DOCUMENT]), np.asarray(stored.vector["default"], dtype=np.float32))
            for stored in self._read(subject, keys, include_vector=True)
        ]

    def versions(self, subject: Subject, keys: Sequence[uuid.UUID]) -> dict[uuid.UUID, int]:
        documents = [
            json.loads(str(stored.properties[DOCUMENT])) for stored in self._read(subject, keys, include_vector=False)
        ]
        return {uuid.UUID(document["key"]): document.get("version", 0) for document in documents}

    def delete(self, subject: Subject, keys: Sequence[uuid.UUID]) -> None:
        must_be_ready(self._dimensions)

        def remove(objects: Objects) -> int:
            batches = batched(list(dict.fromkeys(keys)), AT_A_TIME)
            return sum(objects.data.delete_many(Filter.by_id().contains_any(list(batch))).failed for batch in batches)

        kept = self._ask_for(subject, remove)
        if kept:
            raise IndexUnavailable(f"Weaviate did not remove {kept} entries; its log says why: look at its disk")

    def count(self) -> int:
        """Return how many entries there are in all: a request for each subject."""
        must_be_ready(self._dimensions)
        tenants = self._ask(self._objects.tenants.get)
        objects = [self._objects.with_tenant(name) for name in tenants]
        return sum(
            self._ask(tenant_objects.aggregate.over_all, total_count=True).total_count or 0
            for tenant_objects in objects
        )

    def check_health(self) -> Iterator[HealthCheck]:
        """Check its server's version, whether the collection is exact, how many users have a shard, and whether each
        right is there.

        Raises:
            IndexUnavailable: the server cannot be asked, or refuses.
        """
        yield fine("Weaviate", f"version {self._ask(self._client.get_meta)['version']}")
        config, users = self._config(), len(self._ask(self._objects.tenants.get))
        flat = config.vector_index_config
        hint = "set AFTERTURN_INDEX_NAME to a new name and run `afterturn reindex`"
        if not config.multi_tenancy_config.auto_tenant_creation:
            yield failed("index vectors", f"{self._name} makes no tenants by itself: new users cannot be written", hint)
        elif not isinstance(flat, _VectorIndexConfigFlat) or flat.quantizer is not None:
            yield warning("index vectors", f"{self._name} is not flat, or compressed: search is inexact", hint)
        else:
            yield fine(
                "index vectors", f"{users} users in {self._name}, each a shard; {self._dimensions} numbers, exact"
            )
        yield probed(self, self._dimensions, f"the collection {self._name}")
        self._ask(self._objects.tenants.remove, [subject_digest(PROBE)])

    def close(self) -> None:
        self._client.close()

    def _make(self, collection: dict[str, Any]) -> None:
        try:
            self._retrying(self._client.collections.create_from_dict, collection)
        except FAILURES as error:
            # Another process may have made it since we asked.
            if not self._ask(self._client.collections.exists, self._name):
                raise unavailable(error, self._name) from None

    def _config(self) -> _CollectionConfig:
        config: _CollectionConfig = self._ask(self._objects.config.get)
        return config

    def _made_for(self, config: _CollectionConfig) -> dict[str, str]:
        index = config.vector_index_config
        try:
            description = json.loads(config.description or "")
            made_for = {"dimensions": str(description["dimensions"]), "model": str(description["model"])}
        except (ValueError, KeyError, TypeError):
            made_for = {}
        if not made_for or not config.multi_tenancy_config.enabled or index is None:
            raise IndexMismatch(
                f"the collection {self._name} in Weaviate does not say which embedder it was made for, or has no "
                f"tenants: it is not one of ours; {variable_of('index_prefix')} or {variable_of('index_name')} must "
                "name another"
            )
        # The dot product of unit vectors is their cosine.
        distance = index.distance_metric.value
        return made_for | {"metric": "cosine" if distance in {"cosine", "dot"} else distance}

    def _read(self, subject: Subject, keys: Sequence[uuid.UUID], *, include_vector: bool) -> list[Any]:
        must_be_ready(self._dimensions)

        def read(objects: Objects) -> list[Any]:
            pages = [
                objects.query.fetch_objects(
                    filters=Filter.by_id().contains_any(list(batch)),
                    limit=len(batch),
                    include_vector=include_vector,
                    return_properties=[DOCUMENT],
                ).objects
                for batch in batched(list(dict.fromkeys(keys)), AT_A_TIME)
            ]
            return [stored for part in pages for stored in part]

        return self._ask_for(subject, read) or []

    def _object(self, entry: Entry) -> DataObject[dict[str, Any], None]:
        properties = {DOCUMENT: to_json(entry)} | digests(entry)
        del properties["subject"]
        vector = checked(entry.vector, self._dimensions).tolist()
        return DataObject(properties=properties, uuid=entry.key, vector=vector)

    def _ask_for(self, subject: Subject, call: Callable[[Objects], T]) -> T | None:
        """Return what a call finds of a subject; None of one that was never written."""
        tenant = subject_digest(subject)
        try:
            return self._retrying(call, self._objects.with_tenant(tenant))
        except FAILURES as error:
            if isinstance(error, WeaviateQueryError) and not self._ask(self._objects.tenants.exists, tenant):
                return None
            # Its text may quote what the server was sent.
            raise unavailable(error, self._name) from None

    def _ask(self, call: Callable[..., T], *arguments: Any, **named: Any) -> T:
        try:
            return self._retrying(call, *arguments, **named)
        except FAILURES as error:
            raise unavailable(error, self._name) from None


def open_weaviate_index(settings: Settings, name: str | None = None) -> WeaviateIndex:
    """Return the index that the settings name, or the one beside it of another `name`, connected.

    Raises:
        SettingsError: they name no server, or one under a path.
        IndexUnavailable: the server cannot be asked.
    """
    whole = f"{settings.index_prefix}_{name or settings.index_name}"
    return WeaviateIndex(connected(settings), whole[0].upper() + whole[1:], settings.index_timeout_seconds)


def _filter(where: Where) -> Any:
    clauses = _each(conditions(where, text_digest))
    if seen := alternatives(where, text_digest):
        clauses.append(Filter.any_of([Filter.all_of(_each(scope)) for scope in seen]))
    if where.created_since is not None:
        clauses.append(Filter.by_property("created_at").greater_or_equal(microseconds(where.created_since)))
    return Filter.all_of(clauses) if clauses else None


def _each(named: Iterable[tuple[str, list[str]]]) -> list[Any]:
    return [Filter.by_property(name).contains_any(values) for name, values in named]


def _hit(entry: Entry, distance: float | None) -> Hit:
    """Return the server's distance is the dot product, negative."""
    return Hit(entry.memory_id, entry.key, max(-1.0, min(1.0, -(distance or 0.0))), entry.version)
