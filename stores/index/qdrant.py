"""The index in Qdrant: one collection for all subjects, told apart by what is stored with each point."""

from __future__ import annotations

import ssl
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from json import JSONDecodeError
from typing import Any, TypeVar

import httpx
import numpy as np
from qdrant_client import QdrantClient, models
from qdrant_client.common.client_exceptions import QdrantException, ResourceExhaustedResponse
from qdrant_client.http.exceptions import ApiException, ResponseHandlingException, UnexpectedResponse

from schema import Subject
from schema.errors import IndexMismatch, IndexRefused, IndexUnavailable, SettingsError
from schema.health import HealthCheck, failed, fine, warning
from schema.settings import Settings, variable_of
from stores.index.base import Entry, Hit, Metric, Vector, Where
from stores.index.checks import (
    BYTES_OF_A_NUMBER_IN_JSON,
    batched,
    checked,
    checked_limit,
    entries_a_request,
    must_be_ready,
    outdated,
    refuse_another,
)
from stores.index.document import alternatives, conditions, from_document, to_document
from stores.index.server import patience, probed, ranked
from stores.index.snapshot import LABELS, microseconds

T = TypeVar("T")
Failure = ApiException | QdrantException | JSONDecodeError | UnicodeDecodeError
_FAILURES = (ApiException, QdrantException, JSONDecodeError, UnicodeDecodeError)
"""All that a call of the client raises; the last two are what a proxy makes of an answer."""
_NO_ANSWER = (ResponseHandlingException, JSONDecodeError, UnicodeDecodeError)

AT_A_TIME = 500
_MOST = 100_000
_COSINE = frozenset({models.Distance.DOT, models.Distance.COSINE})
"""Which are one for unit vectors."""
_SHOWN = ["tenant", "subject", "key", "memory_id", "version"]
_KEYWORD = models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD)
_INDEXED: dict[str, models.KeywordIndexParams | models.PayloadSchemaType] = {
    # Whoever is searched for lies together on the disk: that is a subject here, and not a tenant.
    "subject": models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, is_tenant=True),
    "tenant": _KEYWORD,
    **dict.fromkeys((*LABELS, "tags"), _KEYWORD),
    "created_at": models.PayloadSchemaType.INTEGER,
}


class QdrantIndex:
    """One collection of a Qdrant server. Safe for any number of threads and processes.

    A search compares every entry of its subject, which the server finds by an index of its payload; no graph is built.
    Both tenant and subject are in the filter of every search, and each hit is compared with them once more.
    """

    def __init__(self, client: QdrantClient, collection: str, timeout: float) -> None:
        self._client = client
        self._name = collection
        self._retrying = patience(timeout, _is_passing)
        self._dimensions = 0

    def ensure(self, dimensions: int, metric: Metric, model: str) -> None:
        """Make the collection and the indexes of its payload, or check what it was made for.

        Raises:
            IndexMismatch: it was made for other dimensions, another metric or another model, or not by us.
            IndexUnavailable: the server cannot be asked, or refuses.
        """
        required = {"dimensions": str(dimensions), "metric": metric, "model": model}
        info = self._info() or self._made(dimensions, model)
        refuse_another(f"the collection {self._name} in Qdrant", self._made_for(info), required)
        for field in _INDEXED.keys() - info.payload_schema.keys():
            self._ask(self._client.create_payload_index, field_name=field, field_schema=_INDEXED[field], wait=True)
        self._dimensions = dimensions

    def upsert(self, entries: Sequence[Entry]) -> list[Entry]:
        """Write as any index does; the server does not say what its filter kept, so that it is asked."""
        last = {point.id: (entry.version, point) for entry, point in ((entry, self._point(entry)) for entry in entries)}
        by_version: dict[int, list[models.PointStruct]] = {}
        for version, point in last.values():
            by_version.setdefault(version, []).append(point)
        size = entries_a_request(AT_A_TIME, self._dimensions, BYTES_OF_A_NUMBER_IN_JSON)
        for version, points in by_version.items():
            for batch in batched(points, size):
                self._ask(self._client.upsert, points=batch, update_filter=_older(version), wait=True)
        return outdated(entries, self.versions)

    def query(self, vector: Vector, where: Where, limit: int) -> list[Hit]:
        unit_vector = checked(vector, self._dimensions).tolist()
        whose = where.subject.tenant_id, where.subject.subject_id
        filter_ = _filter(where)

        def ask(most: int) -> list[Hit]:
            answer = self._ask(
                self._client.query_points,
                query=unit_vector,
                query_filter=filter_,
                search_params=models.SearchParams(exact=True),
                limit=most,
                with_payload=_SHOWN,
            )
            scored = [(point.payload or {}, point.score) for point in answer.points]
            return [
                _hit(payload, score) for payload, score in scored if (payload["tenant"], payload["subject"]) == whose
            ]

        return ranked(ask, checked_limit(limit), _MOST)

    def fetch(self, subject: Subject, keys: Sequence[uuid.UUID]) -> list[Entry]:
        must_be_ready(self._dimensions)
        return [
            from_document(point.payload or {}, np.asarray(point.vector, dtype=np.float32))
            for batch in batched(_ids(subject, keys), AT_A_TIME)
            for point in self._ask(self._client.retrieve, ids=batch, with_payload=True, with_vectors=True)
        ]

    def versions(self, subject: Subject, keys: Sequence[uuid.UUID]) -> dict[uuid.UUID, int]:
        must_be_ready(self._dimensions)
        named = ["key", "version"]
        stored = [
            point.payload or {}
            for batch in batched(_ids(subject, keys), AT_A_TIME)
            for point in self._ask(self._client.retrieve, ids=batch, with_payload=named, with_vectors=False)
        ]
        return {uuid.UUID(payload["key"]): payload.get("version", 0) for payload in stored}

    def delete(self, subject: Subject, keys: Sequence[uuid.UUID]) -> None:
        must_be_ready(self._dimensions)
        for batch in batched(_ids(subject, keys), AT_A_TIME):
            self._ask(self._client.delete, points_selector=batch, wait=True)

    def count(self) -> int:
        must_be_ready(self._dimensions)
        return self._ask(self._client.count, exact=True).count

    def check_health(self) -> Iterator[HealthCheck]:
        """Check its server's version, how the collection is, whether it is exact, and whether each right is there.

        Raises:
            IndexUnavailable: the server cannot be asked, or refuses.
        """
        try:
            version = self._retrying(self._client.info).version
        except _FAILURES as error:
            raise self._unavailable(error) from None
        yield fine("Qdrant", f"version {version}")
        info = self._ask(self._client.get_collection)
        if info.status is models.CollectionStatus.RED:
            hint = "Qdrant's log says why: look at its disk and memory"
            yield failed("index vectors", f"the collection {self._name} is {info.status.value}", hint)
        elif info.config.quantization_config is not None:
            hint = (
                "make a collection without quantization under a new AFTERTURN_INDEX_NAME, and run `afterturn reindex`"
            )
            yield warning("index vectors", f"the collection {self._name} is quantized: search is inexact", hint)
        else:
            yield fine(
                "index vectors", f"{self.count()} of {self._dimensions} numbers, {info.status.value}, exact search"
            )
        yield probed(self, self._dimensions, f"the collection {self._name}")

    def close(self) -> None:
        self._client.close()

    def _info(self) -> models.CollectionInfo | None:
        try:
            return self._retrying(self._client.get_collection, self._name)
        except _FAILURES as error:
            if _status_of(error) == 404:
                return None
            raise self._unavailable(error) from None

    def _made(self, dimensions: int, model: str) -> models.CollectionInfo:
        try:
            self._retrying(
                self._client.create_collection,
                self._name,
                # The dot product of unit vectors is their cosine, and they are stored as they are.
                vectors_config=models.VectorParams(size=dimensions, distance=models.Distance.DOT),
                hnsw_config=models.HnswConfigDiff(m=0, payload_m=0),
                metadata={"model": model},
            )
        except _FAILURES as error:
            # Another process may have made it since we asked.
            if _status_of(error) != 409:
                raise self._unavailable(error) from None
        info = self._info()
        if info is None:
            raise IndexUnavailable(f"the collection {self._name} in Qdrant was removed while it was made; start again")
        return info

    def _made_for(self, info: models.CollectionInfo) -> dict[str, str]:
        vectors, metadata = info.config.params.vectors, info.config.metadata or {}
        if "model" not in metadata or not isinstance(vectors, models.VectorParams):
            raise IndexMismatch(
                f"the collection {self._name} in Qdrant does not say which embedder it was made for: either it is not "
                f"one of ours, and {variable_of('index_prefix')} or {variable_of('index_name')} must name another, or "
                "the server is older than 1.16 and cannot keep that"
            )
        metric = "cosine" if vectors.distance in _COSINE else vectors.distance.lower()
        return {"dimensions": str(vectors.size), "metric": metric, "model": metadata["model"]}

    def _point(self, entry: Entry) -> models.PointStruct:
        vector = checked(entry.vector, self._dimensions).tolist()
        [id_] = _ids(entry.subject, [entry.key])
        return models.PointStruct(id=id_, vector=vector, payload=to_document(entry))

    def _ask(self, call: Callable[..., T], **request: Any) -> T:
        try:
            return self._retrying(call, self._name, **request)
        except _FAILURES as error:
            # Its text may quote what the server was sent.
            raise self._unavailable(error) from None

    def _unavailable(self, error: Failure) -> IndexUnavailable:
        status = _status_of(error)
        if isinstance(error, _NO_ANSWER):
            cause = error.source if isinstance(error, ResponseHandlingException) else error
            return IndexUnavailable(
                f"Qdrant does not answer ({type(cause).__name__}); does it run where {variable_of('index_url')} says?"
            )
        if status in {401, 403}:
            return IndexRefused(
                f"Qdrant refuses the key ({status}); {variable_of('index_api_key')} must be one that may read and "
                f"write the collection {self._name}, and make it at the first start"
            )
        if status == 404:
            return IndexRefused(
                f"Qdrant has no collection {self._name} any more ({status}); start again, which makes it, and then run "
                "`afterturn reindex`"
            )
        return IndexUnavailable(
            f"Qdrant refuses or fails ({status or type(error).__name__}); its log says why: look at its disk, its "
            f"memory, and its limits on requests to the collection {self._name}"
        )


def open_qdrant_index(settings: Settings, name: str | None = None) -> QdrantIndex:
    """Return the index that the settings name, or the one beside it of another `name`.

    Raises:
        SettingsError: they name no server.
    """
    if not settings.index_url:
        raise SettingsError(
            f"{variable_of('index_url')}: {variable_of('index')}=qdrant needs a server, such as http://127.0.0.1:6333"
        )
    key, slots = settings.index_api_key, settings.worker_slots
    client = QdrantClient(
        url=settings.index_url,
        api_key=key.get_secret_value() if key else None,
        timeout=int(settings.index_timeout_seconds),
        # Named, because the client keeps no connection to a server on this machine otherwise.
        limits=httpx.Limits(max_connections=slots, max_keepalive_connections=slots),
        verify=_authorities(),
        check_compatibility=False,
    )
    return QdrantIndex(client, f"{settings.index_prefix}_{name or settings.index_name}", settings.index_timeout_seconds)


@cache
def _authorities() -> ssl.SSLContext:
    """Return whom to trust: read once a process, because that takes longer than all the rest of opening a client."""
    return httpx.create_ssl_context()


def _ids(subject: Subject, keys: Sequence[uuid.UUID]) -> list[models.ExtendedPointId]:
    """Return what entries are called in the collection, where one key may stand under several subjects."""
    return [str(uuid.uuid5(key, subject.key)) for key in dict.fromkeys(keys)]


def _filter(where: Where) -> models.Filter:
    whose = (("tenant", where.subject.tenant_id), ("subject", where.subject.subject_id))
    clauses: list[models.Condition] = [
        models.FieldCondition(key=name, match=models.MatchValue(value=value)) for name, value in whose
    ]
    clauses += _all(conditions(where))
    if seen := alternatives(where):
        clauses.append(models.Filter(should=[models.Filter(must=_all(scope)) for scope in seen]))
    if where.created_since is not None:
        since = models.Range(gte=microseconds(where.created_since))
        clauses.append(models.FieldCondition(key="created_at", range=since))
    return models.Filter(must=clauses)


def _older(version: int) -> models.Filter:
    """Return what a point that is there may be to be written over: an older Afterturn did not say its version."""
    not_newer = models.FieldCondition(key="version", range=models.Range(lte=version))
    return models.Filter(should=[not_newer, models.IsEmptyCondition(is_empty=models.PayloadField(key="version"))])


def _all(named: Iterable[tuple[str, list[str]]]) -> list[models.Condition]:
    return [models.FieldCondition(key=name, match=models.MatchAny(any=values)) for name, values in named]


def _hit(payload: dict[str, Any], score: float) -> Hit:
    similarity = max(-1.0, min(1.0, score))
    return Hit(uuid.UUID(payload["memory_id"]), uuid.UUID(payload["key"]), similarity, payload.get("version", 0))


def _status_of(error: BaseException) -> int | None:
    if isinstance(error, ResourceExhaustedResponse):
        return 429
    return error.status_code if isinstance(error, UnexpectedResponse) else None


def _is_passing(error: BaseException) -> bool:
    status = _status_of(error)
    return isinstance(error, _NO_ANSWER) or status in {408, 429} or (status or 0) >= 500
