"""Amazon S3 Vectors as its guide describes it, over real sockets, with its limits: there is no such server to be had.

Requests are checked by boto3's own model of the service; neighbours are found exactly.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from typing import Any
from urllib.parse import unquote

import numpy as np
from botocore.validate import ParamValidator

from stores.aws import session
from tests.contract.loopback import Answer, Request

BUCKET = "memories"
PAGE = 100
_ARN = "arn:aws:s3vectors:eu-central-1:123456789012:bucket/memories/index/"


class Refused(Exception):
    """A request that the service refuses, with its code and status."""

    def __init__(self, code: str, status: int, message: str = "") -> None:
        super().__init__(message or code)
        self.code = code
        self.status = status


def invalid(message: str) -> Refused:
    return Refused("ValidationException", 400, message)


@dataclass
class _Index:
    made: dict[str, Any]
    vectors: dict[str, tuple[Any, dict[str, Any]]] = field(default_factory=dict)

    @property
    def not_filterable(self) -> list[str]:
        keys: list[str] = self.made["metadataConfiguration"]["nonFilterableMetadataKeys"]
        return keys


class S3VectorsServer:
    """Answers requests for `tests.contract.loopback`. `pages` is whether a query may ask for more than a page."""

    def __init__(self) -> None:
        self.indexes: dict[str, _Index] = {}
        self.pages = True
        self._lock = Lock()
        self._model = session().client("s3vectors", region_name="eu-central-1").meta.service_model
        self._operations: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
            "CreateIndex": self._create,
            "GetIndex": self._get_index,
            "PutVectors": self._put,
            "GetVectors": self._get,
            "DeleteVectors": self._delete,
            "ListVectors": self._list,
            "QueryVectors": self._query,
        }

    def __call__(self, request: Request) -> Answer:
        try:
            with self._lock:
                if request.path.startswith("/tags/"):
                    name = unquote(request.path).removeprefix(f"/tags/{_ARN}")
                    return Answer(body={"tags": self.indexes[name].made["tags"]})
                name = request.path.removeprefix("/")
                self._check(name, request)
                return Answer(body=self._operations[name](request.body))
        except Refused as refusal:
            return Answer(refusal.status, {"message": str(refusal)}, {"x-amzn-ErrorType": refusal.code})

    def _check(self, name: str, request: Request) -> None:
        body = request.body
        if request.size > 20 * 1024 * 1024:
            raise invalid("a request has at most 20 MiB")
        # Of many vectors one is enough here: boto3 has checked them all, which takes longer than all the rest.
        some = body | ({"vectors": body["vectors"][:1]} if "vectors" in body else {})
        shape = self._model.operation_model(name).input_shape
        assert shape is not None
        report = ParamValidator().validate(some, shape)
        if report.has_errors():
            raise invalid(report.generate_report())
        for list_, most in (("vectors", 500), ("keys", 100 if name == "GetVectors" else 500)):
            if len(body.get(list_, ())) > most:
                raise invalid(f"{list_}: at most {most}")
        if body["vectorBucketName"] != BUCKET:
            raise Refused("NotFoundException", 404)

    def _index(self, body: dict[str, Any]) -> _Index:
        if body["indexName"] not in self.indexes:
            raise Refused("NotFoundException", 404)
        return self.indexes[body["indexName"]]

    def _create(self, body: dict[str, Any]) -> dict[str, Any]:
        if body["indexName"] in self.indexes:
            raise Refused("ConflictException", 409)
        self.indexes[body["indexName"]] = _Index(body)
        return {"indexArn": _ARN + body["indexName"]}

    def _get_index(self, body: dict[str, Any]) -> dict[str, Any]:
        made = {name: value for name, value in self._index(body).made.items() if name != "tags"}
        return {"index": made | {"indexArn": _ARN + body["indexName"], "creationTime": 1}}

    def _put(self, body: dict[str, Any]) -> dict[str, Any]:
        index = self._index(body)
        made = {}
        for vector in body["vectors"]:
            numbers = np.array(vector["data"]["float32"], dtype=np.float32)
            if numbers.shape != (index.made["dimension"],) or not np.isfinite(numbers).all() or not numbers.any():
                raise invalid("a vector has the index's dimensions, and a direction")
            metadata = vector.get("metadata", {})
            filterable = {key: value for key, value in metadata.items() if key not in index.not_filterable}
            if len(metadata) > 50 or _size(metadata) > 40 * 1024 or _size(filterable) > 2 * 1024:
                raise invalid("metadata has at most 50 keys and 40 KB, 2 KB of them to filter by")
            made[vector["key"]] = (numbers, metadata)
        index.vectors |= made
        return {}

    def _get(self, body: dict[str, Any]) -> dict[str, Any]:
        vectors = self._index(body).vectors
        return {
            "vectors": [
                {"key": key, "data": {"float32": vectors[key][0].tolist()}, "metadata": vectors[key][1]}
                for key in body["keys"]
                if key in vectors
            ]
        }

    def _delete(self, body: dict[str, Any]) -> dict[str, Any]:
        for key in body["keys"]:
            self._index(body).vectors.pop(key, None)
        return {}

    def _list(self, body: dict[str, Any]) -> dict[str, Any]:
        keys = sorted(self._index(body).vectors)
        start = int(body.get("nextToken", "0"))
        end = start + body.get("maxResults", 500)
        page: dict[str, Any] = {"vectors": [{"key": key} for key in keys[start:end]]}
        return page | ({"nextToken": str(end)} if end < len(keys) else {})

    def _query(self, body: dict[str, Any]) -> dict[str, Any]:
        index = self._index(body)
        if body["topK"] > PAGE and not self.pages:
            raise invalid("topK is at most 100")
        if body["queryMode"] != "ENHANCED":
            raise invalid("filters must be applied before the search")
        seen = [key for key, (_, data) in index.vectors.items() if _matches(body["filter"], data, index.not_filterable)]
        if not seen:
            return {"vectors": [], "distanceMetric": "cosine"}
        matrix = np.stack([index.vectors[key][0] for key in seen]).astype(np.float64)
        query = np.array(body["queryVector"]["float32"], dtype=np.float64)
        # Added up row by row: a matrix product gives equal rows slightly unequal results.
        cosines = (matrix * query).sum(axis=1) / np.sqrt((matrix**2).sum(axis=1) * (query**2).sum())
        ranked = sorted(zip(1 - cosines, seen, strict=True))[: body["topK"]]
        start = int(body.get("nextToken", "0"))
        page: dict[str, Any] = {
            "distanceMetric": "cosine",
            "vectors": [
                {"key": key, "distance": float(distance), "metadata": index.vectors[key][1]}
                for distance, key in ranked[start : start + PAGE]
            ],
        }
        return page | ({"nextToken": str(start + PAGE)} if start + PAGE < len(ranked) else {})


def _size(metadata: dict[str, Any]) -> int:
    return len(json.dumps(metadata, ensure_ascii=False).encode())


def _matches(condition: dict[str, Any], metadata: dict[str, Any], not_filterable: list[str]) -> bool:
    [(name, wanted)] = condition.items()
    if name == "$and":
        return all(_matches(part, metadata, not_filterable) for part in wanted)
    if name == "$or":
        return any(_matches(part, metadata, not_filterable) for part in wanted)
    if name in not_filterable:
        raise invalid(f"{name} cannot be filtered by")
    [(operator, value)] = wanted.items()
    held = metadata.get(name)
    match operator:
        case "$eq":
            return value in held if isinstance(held, list) else held == value
        case "$in":
            return bool(set(held if isinstance(held, list) else [held]) & set(value))
        case "$gte":
            return isinstance(held, int | float) and not math.isnan(held) and held >= value
        case _:
            raise invalid(f"{operator} is not known here")
