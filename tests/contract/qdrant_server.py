"""Qdrant over real sockets, as far as the index asks it: there is no such server to be had.

What it does with points is done by the local mode of qdrant-client, which its makers keep in step with the server. What
local mode lacks is added: payload indexes, without which nothing is filtered here, and limits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from threading import Lock
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray
from qdrant_client import QdrantClient, models
from qdrant_client.local import local_collection

from tests.contract.loopback import Answer, Request

_LARGEST = 32 * 1024 * 1024


class Refused(Exception):
    """A request that the server refuses, with its status."""

    def __init__(self, status: int, message: str = "") -> None:
        super().__init__(message)
        self.status = status


class QdrantServer:
    """Answers requests for `tests.contract.loopback`."""

    def __init__(self) -> None:
        # Row by row, as the server does it: a matrix product gives equal rows slightly unequal results.
        setattr(local_collection, "calculate_distance", _dot_products)  # noqa: B010
        self.indexed: dict[str, dict[str, Any]] = {}
        self.made: dict[str, dict[str, Any]] = {}
        self.tenant_fields: dict[str, list[str]] = {}
        self.points = QdrantClient(":memory:")
        self._lock = Lock()

    def __call__(self, request: Request) -> Answer:
        url = urlsplit(request.path)
        if url.path == "/":
            return Answer(body={"title": "qdrant - vector search engine", "version": "1.20.0"})
        [_, _, name, *path] = url.path.split("/")
        action = f"{request.method} {'/'.join(path)}".strip()
        try:
            with self._lock:
                if action.startswith("PUT points") or action in {"PUT index", "POST points/delete"}:
                    _require(url.query == "wait=true", 400, "on return every process must see it")
                if action != "PUT":
                    _require(name in self.made, 404, f"Collection `{name}` doesn't exist!")
                _require(request.size <= _LARGEST, 413)
                result = _ACTIONS[action](self, name, request.body)
        except Refused as refusal:
            return Answer(refusal.status, {"status": {"error": str(refusal)}, "time": 0.0})
        return Answer(body={"result": result, "status": "ok", "time": 0.0})

    def _create(self, name: str, body: dict[str, Any]) -> Any:
        _require(name not in self.made, 409, f"Collection `{name}` already exists!")
        vectors = models.VectorParams(**body["vectors"])
        self.points.create_collection(name, vectors_config=vectors, metadata=body.get("metadata"))
        self.made[name], self.indexed[name] = body, {}
        return True

    def _info(self, name: str, _body: dict[str, Any]) -> Any:
        info = self.points.get_collection(name).model_dump(mode="json")
        schema = {field: {"data_type": type_, "points": 0} for field, type_ in self.indexed[name].items()}
        return info | {"payload_schema": schema}

    def _index(self, name: str, body: dict[str, Any]) -> Any:
        schema = body["field_schema"]
        self.indexed[name][body["field_name"]] = schema if isinstance(schema, str) else schema["type"]
        if not isinstance(schema, str) and schema.get("is_tenant"):
            self.tenant_fields.setdefault(name, []).append(body["field_name"])
        return _DONE

    def _upsert(self, name: str, body: dict[str, Any]) -> Any:
        condition = body.get("update_filter")
        self.points.upsert(
            name,
            [models.PointStruct(**point) for point in body["points"]],
            update_filter=models.Filter(**condition) if condition else None,
        )
        return _DONE

    def _query(self, name: str, body: dict[str, Any]) -> Any:
        for key in _keys(body["filter"]):
            _require(key in self.indexed[name], 400, "a filter by what is not indexed")
        _require(body["params"]["exact"], 400, "this collection has no graph")
        found = self.points.query_points(
            name,
            query=body["query"]["nearest"],
            query_filter=models.Filter(**body["filter"]),
            limit=body["limit"],
            with_payload=body["with_payload"],
        )
        return found.model_dump(mode="json")

    def _retrieve(self, name: str, body: dict[str, Any]) -> Any:
        found = self.points.retrieve(name, body["ids"], body["with_payload"], body["with_vector"])
        return [point.model_dump(mode="json") for point in found]

    def _delete(self, name: str, body: dict[str, Any]) -> Any:
        self.points.delete(name, body["points"])
        return _DONE

    def _count(self, name: str, body: dict[str, Any]) -> Any:
        return {"count": self.points.count(name, exact=body["exact"]).count}


_DONE = {"operation_id": 0, "status": "completed"}
_ACTIONS: dict[str, Callable[[QdrantServer, str, dict[str, Any]], Any]] = {
    "PUT": QdrantServer._create,
    "GET": QdrantServer._info,
    "PUT index": QdrantServer._index,
    "PUT points": QdrantServer._upsert,
    "POST points": QdrantServer._retrieve,
    "POST points/query": QdrantServer._query,
    "POST points/delete": QdrantServer._delete,
    "POST points/count": QdrantServer._count,
}


def _keys(condition: dict[str, Any]) -> Iterator[str]:
    if "key" in condition:
        yield condition["key"]
    for part in (*(condition.get("must") or ()), *(condition.get("should") or ())):
        yield from _keys(part)


def _require(true: bool, status: int, message: str = "") -> None:
    if not true:
        raise Refused(status, message)


def _dot_products(query: NDArray[np.float32], vectors: NDArray[np.float32], _distance: str) -> NDArray[np.float64]:
    products: NDArray[np.float64] = vectors.astype(np.float64) * query.astype(np.float64)
    scores: NDArray[np.float64] = products.sum(axis=1)
    return scores
