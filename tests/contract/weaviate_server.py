"""Weaviate over real sockets, REST and gRPC, as far as the index asks it: there is no such server to be had.

Messages are those of the protocol that the client ships. Neighbours are found exactly, as a flat index does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import grpc
import numpy as np
from weaviate.proto.v1 import aggregate_pb2, batch_delete_pb2, batch_pb2, properties_pb2, search_get_pb2, tenants_pb2
from weaviate.proto.v1 import base_pb2 as base
from weaviate.proto.v1 import weaviate_pb2_grpc as service

from tests.contract.loopback import Answer, Loopback, Request, loopback

MOST = 10_000
_DEFAULTS: dict[str, Any] = {
    "invertedIndexConfig": {
        "bm25": {"b": 0.75, "k1": 1.2},
        "cleanupIntervalSeconds": 60,
        "stopwords": {"preset": "en", "additions": None, "removals": None},
    },
    "replicationConfig": {"factor": 1},
    "shardingConfig": {
        **dict.fromkeys(("virtualPerPhysical", "desiredCount", "actualCount"), 1),
        **dict.fromkeys(("desiredVirtualCount", "actualVirtualCount"), 1),
        "key": "_id",
        "strategy": "hash",
        "function": "murmur3",
    },
}
_Tenant = dict[str, tuple[bytes, dict[str, Any]]]


class Refused(Exception):
    """A request that the server refuses, with a code of gRPC and a message."""


@dataclass
class _Collection:
    made: dict[str, Any]
    tenants: dict[str, _Tenant] = field(default_factory=dict)


class WeaviateServer(service.WeaviateServicer):
    """Answers requests over REST for `tests.contract.loopback`, and those over gRPC. `refuses` says with what
    code and message a call of the latter is refused, if it is."""

    def __init__(self) -> None:
        self.version = "1.34.0"
        self.collections: dict[str, _Collection] = {}
        self.calls: list[str] = []
        self.keys: set[str] = set()
        self.refuses: Callable[[str], str | None] = lambda _name: None
        self._lock = Lock()

    # --- REST ---

    def __call__(self, request: Request) -> Answer:
        [_, _, *path] = request.path.split("/")
        with self._lock:
            match request.method, path:
                case "GET", ["meta"]:
                    return Answer(body={"version": self.version})
                case "POST", ["schema"]:
                    return self._create(request.body)
                case "GET", ["schema", name]:
                    there = self.collections.get(name)
                    return Answer(body=there.made) if there else Answer(404)
                case "HEAD", ["schema", name, "tenants", tenant]:
                    return Answer(200 if tenant in self.collections[name].tenants else 404, b"")
                case "DELETE", ["schema", name, "tenants"]:
                    for gone in request.body:
                        self.collections[name].tenants.pop(gone, None)
                    return Answer(body=b"")
        return Answer(405)

    def _create(self, body: dict[str, Any]) -> Answer:
        if body["class"] in self.collections:
            return Answer(422, {"error": [{"message": f"class name {body['class']} already exists"}]})
        index = {"vectorCacheMaxObjects": 10**12, **body["vectorIndexConfig"]}
        made = {**_DEFAULTS, **body, "vectorIndexConfig": index}
        self.collections[body["class"]] = _Collection(made)
        return Answer(body=made)

    # --- gRPC ---

    def BatchObjects(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        errors = []
        with self._called("BatchObjects", context):
            for index, one in enumerate(request.objects):
                properties = dict(one.properties.non_ref_properties)
                properties |= {part.prop_name: list(part.values) for part in one.properties.text_array_properties}
                if "refused" in properties.get("document", ""):
                    errors.append(batch_pb2.BatchObjectsReply.BatchError(index=index, error="a secret: refused"))
                    continue
                tenant = self.collections[one.collection].tenants.setdefault(one.tenant, {})
                tenant[one.uuid] = (one.vector_bytes, properties)
        return batch_pb2.BatchObjectsReply(errors=errors)

    def Search(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        with self._called("Search", context):
            found = self._matching(request)
            if not 0 < request.limit <= MOST:
                raise Refused("UNKNOWN: query maximum results exceeded")
            distances: list[float | None] = [None] * len(found)
            if request.HasField("near_vector") and found:
                query = np.frombuffer(request.near_vector.vectors[0].vector_bytes, dtype="<f4").astype(np.float64)
                matrix = np.frombuffer(b"".join(vector for _, vector, _ in found), dtype="<f4").reshape(len(found), -1)
                # Added up row by row: a matrix product gives equal rows slightly unequal results.
                away = -(matrix.astype(np.float64) * query).sum(axis=1)
                order = np.argsort(away, kind="stable")
                found, distances = [found[i] for i in order], [float(away[i]) for i in order]
        results = [
            search_get_pb2.SearchResult(
                properties=search_get_pb2.PropertiesResult(non_ref_props=_fields(properties, request.properties)),
                metadata=search_get_pb2.MetadataResult(
                    id=id_,
                    distance=distance or 0.0,
                    distance_present=distance is not None,
                    vector_bytes=vector if request.metadata.vector else b"",
                ),
            )
            for (id_, vector, properties), distance in list(zip(found, distances, strict=True))[: request.limit]
        ]
        return search_get_pb2.SearchReply(results=results)

    def BatchDelete(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        with self._called("BatchDelete", context):
            found = self._matching(request)
            for id_, _, _ in found:
                del self.collections[request.collection].tenants[request.tenant][id_]
        return batch_delete_pb2.BatchDeleteReply(matches=len(found), successful=len(found))

    def Aggregate(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        with self._called("Aggregate", context):
            count = len(self._tenant(request))
        single = aggregate_pb2.AggregateReply.Single(objects_count=count)
        return aggregate_pb2.AggregateReply(single_result=single)

    def TenantsGet(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        with self._called("TenantsGet", context):
            names = list(self.collections[request.collection].tenants)
        hot = tenants_pb2.TenantActivityStatus.TENANT_ACTIVITY_STATUS_HOT
        return tenants_pb2.TenantsGetReply(
            tenants=[tenants_pb2.Tenant(name=name, activity_status=hot) for name in names]
        )

    @contextmanager
    def _called(self, name: str, context: grpc.ServicerContext) -> Iterator[None]:
        self.keys |= {str(value) for header, value in context.invocation_metadata() if header == "authorization"}
        self.calls.append(name)
        if refusal := self.refuses(name):
            _abort(context, refusal)
        try:
            with self._lock:
                yield
        except Refused as refused:
            _abort(context, str(refused))

    def _tenant(self, request: Any) -> _Tenant:
        tenants = self.collections[request.collection].tenants
        if request.tenant not in tenants:
            raise Refused(f'UNKNOWN: tenant not found: "{request.tenant}"')
        return tenants[request.tenant]

    def _matching(self, request: Any) -> list[tuple[str, bytes, dict[str, Any]]]:
        tenant = self._tenant(request)
        made = self.collections[request.collection].made["properties"]
        filterable = {one["name"] for one in made if one["indexFilterable"]} | {"_id"}
        lets_through = _filter(request.filters, filterable) if request.HasField("filters") else lambda _properties: True
        return [
            (id_, vector, properties)
            for id_, (vector, properties) in tenant.items()
            if lets_through({"_id": id_, **properties})
        ]


def _abort(context: grpc.ServicerContext, refusal: str) -> None:
    code, _, message = refusal.partition(": ")
    context.abort(getattr(grpc.StatusCode, code), message)


def _filter(asked: base.Filters, filterable: set[str]) -> Callable[[dict[str, Any]], bool]:
    operators = base.Filters.Operator
    if asked.operator in {operators.OPERATOR_AND, operators.OPERATOR_OR}:
        joined = all if asked.operator == operators.OPERATOR_AND else any
        parts = [_filter(part, filterable) for part in asked.filters]
        return lambda properties: joined(part(properties) for part in parts)
    name = asked.target.property
    if name not in filterable:
        raise Refused(f"INVALID_ARGUMENT: {name} has no filterable index")
    if asked.operator == operators.OPERATOR_CONTAINS_ANY:
        wanted = set(asked.value_text_array.values)
        return lambda properties: not wanted.isdisjoint(_listed(properties.get(name)))
    assert asked.operator == operators.OPERATOR_GREATER_THAN_EQUAL
    return lambda properties: properties.get(name, -1) >= asked.value_int


def _listed(held: Any) -> list[Any]:
    return held if isinstance(held, list) else [held]


def _fields(properties: dict[str, Any], wanted: Any) -> properties_pb2.Properties:
    texts = {name: str(properties[name]) for name in wanted.non_ref_properties if name in properties}
    return properties_pb2.Properties(
        fields={name: properties_pb2.Value(text_value=text) for name, text in texts.items()}
    )


@contextmanager
def weaviate_at_loopback() -> Iterator[tuple[WeaviateServer, Loopback, str]]:
    """A server, what it is asked over REST, and the URL of its gRPC, until the block ends."""
    server = WeaviateServer()
    channel = grpc.server(ThreadPoolExecutor(16))
    service.add_WeaviateServicer_to_server(server, channel)  # type: ignore[no-untyped-call]
    port = channel.add_insecure_port("127.0.0.1:0")
    channel.start()
    with loopback() as told:
        told.answer = server
        yield server, told, f"http://127.0.0.1:{port}"
    channel.stop(None).wait()
