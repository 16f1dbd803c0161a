"""The index in Amazon S3 Vectors: one vector index for all subjects, by the "S3 Vectors Memory Implementation Plan
(V1)" and within the limits of the service as it is now."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from schema import Subject
from schema.errors import IndexRefused, IndexUnavailable, SettingsError
from schema.health import HealthCheck, failed, fine
from schema.settings import Settings, variable_of
from stores.aws import AWS_FAILURES, AwsFailure, code_of, is_passing, open_s3vectors
from stores.index.base import Entry, Hit, Metric, Vector, Where
from stores.index.checks import (
    BYTES_OF_A_NUMBER_IN_JSON,
    batched,
    checked,
    checked_limit,
    entries_a_request,
    must_be_ready,
    refuse_another,
)
from stores.index.document import alternatives, conditions, digests, from_json, subject_digest, text_digest, to_json
from stores.index.snapshot import first_of, microseconds

if TYPE_CHECKING:
    from types_boto3_s3vectors import S3VectorsClient
    from types_boto3_s3vectors.type_defs import PutInputVectorTypeDef

T = TypeVar("T")

# The limits of the service: its guide, "Limitations and restrictions".
PUT_AT_A_TIME = 500
DELETE_AT_A_TIME = 500
GET_AT_A_TIME = 100
_FIRST_PAGE = 100

_DOCUMENT = "value_json"
"""The entry whole, in a key that cannot be filtered by: those that can share 2 KB."""
_MOST_TAGS = 64
"""Tags that an entry can be found by at most: with their digests, what can be filtered by stays within 2 KB."""
_MODEL_TAG = "afterturn:model"
_PROBE = "afterturn-doctor"


class S3VectorsIndex:
    """One vector index in a vector bucket. Safe for any number of threads and processes.

    The service finds nearest neighbours approximately; subjects are told apart by a filter that it applies before the
    search, and each hit is compared with the subject that was asked for once more. Texts of users are filtered by
    their digests, so that what can be filtered by stays within 2 KB whatever they are.
    """

    def __init__(self, client: S3VectorsClient, bucket: str, name: str) -> None:
        self._client = client
        self._bucket = bucket
        self._name = f"afterturn-{name.replace('_', '-')}"
        self._place: dict[str, str] = {"vectorBucketName": bucket, "indexName": self._name}
        self._dimensions = 0

    def ensure(self, dimensions: int, metric: Metric, model: str) -> None:
        """Make the index, or check what it was made for. The bucket must be there.

        Raises:
            IndexMismatch: it was made for other dimensions, another metric or another model.
            IndexUnavailable: the service cannot be asked, or there is no such bucket.
        """
        required = {"dimensions": str(dimensions), "metric": metric, "model": model}
        try:
            self._client.create_index(
                vectorBucketName=self._bucket,
                indexName=self._name,
                dataType="float32",
                dimension=dimensions,
                distanceMetric=metric,
                metadataConfiguration={"nonFilterableMetadataKeys": [_DOCUMENT]},
                tags={_MODEL_TAG: model},
            )
        except AWS_FAILURES as error:
            if code_of(error) != "ConflictException":
                raise self._unavailable(error) from error
            refuse_another(f"the index {self._name} in the bucket {self._bucket}", self._found(), required)
        self._dimensions = dimensions

    def upsert(self, entries: Sequence[Entry]) -> list[Entry]:
        """Write as any index does: the service cannot compare, and keeps nothing out."""
        rows = list({row["key"]: row for row in map(self._row, entries)}.values())
        size = entries_a_request(PUT_AT_A_TIME, self._dimensions, BYTES_OF_A_NUMBER_IN_JSON)
        for batch in batched(rows, size):
            self._asked(self._client.put_vectors, **self._place, vectors=batch)
        return []

    def query(self, vector: Vector, where: Where, limit: int) -> list[Hit]:
        """Return as any index does, but approximately."""
        unit_vector = checked(vector, self._dimensions)
        if checked_limit(limit) == 0:
            return []
        request = self._place | {
            "topK": limit,
            "queryVector": {"float32": unit_vector.tolist()},
            "filter": _filter(where),
            # Before the search and not during it: a small subject among many is found whole.
            "queryMode": "ENHANCED",
            "returnMetadata": True,
            "returnDistance": True,
        }
        hits = []
        for page in self._pages(request):
            for row in page["vectors"]:
                entry = from_json(row["metadata"][_DOCUMENT], unit_vector)
                if entry.subject == where.subject:
                    similarity = float(np.clip(1.0 - row["distance"], -1.0, 1.0))
                    hits.append(Hit(entry.memory_id, entry.key, similarity, entry.version))
        return first_of(hits, limit)

    def fetch(self, subject: Subject, keys: Sequence[uuid.UUID]) -> list[Entry]:
        return [
            from_json(row["metadata"][_DOCUMENT], np.asarray(row["data"]["float32"], dtype=np.float32))
            for row in self._read(subject, keys, with_vectors=True)
        ]

    def versions(self, subject: Subject, keys: Sequence[uuid.UUID]) -> dict[uuid.UUID, int]:
        rows = self._read(subject, keys, with_vectors=False)
        documents = [json.loads(row["metadata"][_DOCUMENT]) for row in rows]
        return {uuid.UUID(document["key"]): document.get("version", 0) for document in documents}

    def delete(self, subject: Subject, keys: Sequence[uuid.UUID]) -> None:
        must_be_ready(self._dimensions)
        for batch in batched(_names(subject, keys), DELETE_AT_A_TIME):
            self._asked(self._client.delete_vectors, **self._place, keys=batch)

    def count(self) -> int:
        """Return how many entries there are in all: lists every key, a thousand a request."""
        must_be_ready(self._dimensions)
        pages = self._client.get_paginator("list_vectors").paginate(vectorBucketName=self._bucket, indexName=self._name)
        try:
            return sum(len(page["vectors"]) for page in pages)
        except AWS_FAILURES as error:
            raise self._unavailable(error) from error

    def check_health(self) -> Iterator[HealthCheck]:
        """Check whether each right that it needs is there: writes a vector that no subject's search finds, reads it,
        finds it and removes it again."""
        target: Any = self._place
        probe: PutInputVectorTypeDef = {
            "key": _PROBE,
            "data": {"float32": [1.0] + [0.0] * (self._dimensions - 1)},
            "metadata": {"subject": _PROBE},
        }
        calls: dict[str, Callable[[], object]] = {
            "PutVectors": lambda: self._client.put_vectors(**target, vectors=[probe]),
            "GetVectors": lambda: self._client.get_vectors(**target, keys=[_PROBE], returnData=True),
            "QueryVectors": lambda: self._client.query_vectors(
                **target,
                topK=1,
                queryMode="ENHANCED",
                queryVector=probe["data"],
                filter={"subject": {"$eq": _PROBE}},
                returnMetadata=True,
            ),
            "ListVectors": lambda: self._client.list_vectors(**target, maxResults=1),
            "DeleteVectors": lambda: self._client.delete_vectors(**target, keys=[_PROBE]),
        }
        refused = []
        for right, call in calls.items():
            try:
                call()
            except AWS_FAILURES as error:
                refused.append(f"s3vectors:{right} ({code_of(error)})")
        where = f"{self._name} in the bucket {self._bucket}"
        if refused:
            hint = "give the fleet's role the rights of deploy/iam/s3vectors.json, and look at the region"
            yield failed("index rights", f"{where} refuses {', '.join(refused)}", hint)
        else:
            yield fine("index rights", f"{where}: written, read, found and deleted; {self._dimensions} numbers")

    def close(self) -> None:
        self._client.close()

    def _read(self, subject: Subject, keys: Sequence[uuid.UUID], *, with_vectors: bool) -> list[Any]:
        must_be_ready(self._dimensions)
        rows: list[Any] = []
        for batch in batched(_names(subject, keys), GET_AT_A_TIME):
            answer = self._asked(
                self._client.get_vectors, **self._place, keys=batch, returnData=with_vectors, returnMetadata=True
            )
            rows += answer["vectors"]
        return rows

    def _found(self) -> dict[str, str]:
        try:
            index = self._client.get_index(vectorBucketName=self._bucket, indexName=self._name)["index"]
            tags = self._client.list_tags_for_resource(resourceArn=index["indexArn"])["tags"]
        except AWS_FAILURES as error:
            raise self._unavailable(error) from error
        return {
            "dimensions": str(index["dimension"]),
            "metric": index["distanceMetric"],
            "model": tags.get(_MODEL_TAG, "unknown"),
        }

    def _row(self, entry: Entry) -> PutInputVectorTypeDef:
        [name] = _names(entry.subject, [entry.key])
        return {
            "key": name,
            "data": {"float32": checked(entry.vector, self._dimensions).tolist()},
            "metadata": {_DOCUMENT: to_json(entry), **digests(entry, _MOST_TAGS)},
        }

    def _pages(self, request: dict[str, Any]) -> Iterator[Any]:
        """Yield the pages of an answer. Where the service does not page yet, the first 100 are all that can be had."""
        while True:
            try:
                page: Any = self._client.query_vectors(**request)
            except AWS_FAILURES as error:
                if code_of(error) != "ValidationException" or request["topK"] <= _FIRST_PAGE:
                    raise self._unavailable(error) from error
                request = request | {"topK": _FIRST_PAGE}
                continue
            yield page
            if "nextToken" not in page:
                return
            request = request | {"nextToken": page["nextToken"]}

    def _asked(self, call: Callable[..., T], **request: Any) -> T:
        try:
            return call(**request)
        except AWS_FAILURES as error:
            raise self._unavailable(error) from error

    def _unavailable(self, error: AwsFailure) -> IndexUnavailable:
        code = code_of(error)
        if code == "NotFoundException":
            return IndexRefused(
                f"S3 Vectors has no bucket {self._bucket}, or no index {self._name} in it ({code}); create the vector "
                f"bucket in the region of {variable_of('aws_region')}, or mend {variable_of('s3vectors_bucket')}"
            )
        kind = IndexUnavailable if is_passing(error) else IndexRefused
        return kind(
            f"S3 Vectors refuses or does not answer ({code}); are the AWS credentials, their rights "
            "(deploy/iam/s3vectors.json) and the region right?"
        )


def open_s3vectors_index(settings: Settings, name: str | None = None) -> S3VectorsIndex:
    """Return the index that the settings name, or the one beside it of another `name`.

    Raises:
        SettingsError: they name no bucket, or no region is known.
    """
    if not settings.s3vectors_bucket:
        raise SettingsError(
            f"{variable_of('s3vectors_bucket')}: {variable_of('index')}=s3vectors needs a vector bucket"
        )
    client = open_s3vectors(settings, connections=settings.worker_slots)
    return S3VectorsIndex(client, settings.s3vectors_bucket, name or settings.index_name)


def _names(subject: Subject, keys: Sequence[uuid.UUID]) -> list[str]:
    """Return what entries are called in the service: by subject and key, so that they are ordered as their keys are."""
    digest = subject_digest(subject)
    return [f"{digest}/{key}" for key in dict.fromkeys(keys)]


def _filter(where: Where) -> dict[str, Any]:
    clauses: list[dict[str, Any]] = [{"subject": {"$eq": subject_digest(where.subject)}}]
    clauses += _each(conditions(where, text_digest))
    if seen := [_joined("$and", _each(scope)) for scope in alternatives(where, text_digest)]:
        clauses.append(_joined("$or", seen))
    if where.created_since is not None:
        clauses.append({"created_at": {"$gte": microseconds(where.created_since)}})
    return _joined("$and", clauses)


def _each(named: Iterable[tuple[str, list[str]]]) -> list[dict[str, Any]]:
    # Of a list, $eq asks whether any item is equal.
    return [{name: {"$eq": values[0]} if len(values) == 1 else {"$in": values}} for name, values in named]


def _joined(operator: str, clauses: list[dict[str, Any]]) -> dict[str, Any]:
    return {operator: clauses} if len(clauses) > 1 else clauses[0]
