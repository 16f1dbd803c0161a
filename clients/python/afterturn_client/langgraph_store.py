"""A LangGraph store whose items lie in an Afterturn service. Import it from `afterturn_client.langgraph`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final, TypeVar

from langgraph.store.base import (
    BaseStore,
    GetOp,
    InvalidNamespaceError,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
    get_text_at_path,
    tokenize_path,
    validate_op_namespace,
)

from afterturn_client import items, langgraph_memories
from afterturn_client.aio import AsyncClient
from afterturn_client.client import Client
from afterturn_client.errors import RequestFailed
from afterturn_client.langgraph_memories import Memories, Steps, memories_under
from afterturn_client.requests import Request

T = TypeVar("T")
_LONGEST_TEXT: Final = 20_000
_LONGEST_QUERY: Final = 4_000
"""Characters of each that the service takes: more than an embedder reads."""
_OPERATORS: Final = frozenset({"$eq", "$ne", "$gt", "$gte", "$lt", "$lte"})


class AfterturnStore(BaseStore):
    """LangGraph's long-term store, kept by an Afterturn service: in the user's export, and gone with their erasure.

    Whose an item is: `user_id` where one is given, and otherwise the label of its namespace at `user_at`, so that one
    store serves all users of a graph. To search or list without that label is refused: nobody's items are everybody's.

    `fields` are the paths of a value whose texts a query finds it by ("$": all of it), unless a put names others; what
    is put with `index=False` is found by no meaning. A `Client` serves sync and async graphs, an `AsyncClient` async
    ones.

    A value is kept as it is and becomes no memory. But under `(user, "memories", type)` and `(user, type)`, with
    `semantic`, `episodic` or `procedural`, lie the user's memories: a search with a query and a get read them, a put
    is remembered by the same decision as all else and its key stays its name, and a delete forgets.
    """

    supports_ttl = True

    def __init__(
        self,
        client: Client | AsyncClient,
        *,
        user_id: str | None = None,
        user_at: int = 0,
        fields: Sequence[str] = ("$",),
        ttl: TTLConfig | None = None,
    ) -> None:
        self._client = client
        self._user_id, self._user_at = user_id, user_at
        self._fields = tuple(fields)
        self.ttl_config = ttl

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Do several operations: what is read is as it was before anything is put.

        Raises:
            TypeError: the store has an `AsyncClient`: await `abatch`.
            ValueError: a namespace or a filter cannot be one, or names no user.
            RequestFailed: the service did not do it; the class says why.
        """
        if isinstance(self._client, AsyncClient):
            raise TypeError("this store has an AsyncClient: give it a Client, or await `aget`, `asearch`, `aput` ...")
        steps = _Planned(list(ops), self._whose, self._memories, self._fields).steps()
        answer: Callable[[], Request[Any]] = partial(next, steps)
        while True:
            try:
                request = answer()
            except StopIteration as done:
                results: list[Result] = done.value
                return results
            try:
                answer = partial(steps.send, self._client.send(request))
            except RequestFailed as error:
                answer = partial(steps.throw, error)

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Do what `batch` does, awaited."""
        if isinstance(self._client, Client):
            return await asyncio.to_thread(self.batch, list(ops))
        steps = _Planned(list(ops), self._whose, self._memories, self._fields).steps()
        answer: Callable[[], Request[Any]] = partial(next, steps)
        while True:
            try:
                request = answer()
            except StopIteration as done:
                results: list[Result] = done.value
                return results
            try:
                answer = partial(steps.send, await self._client.send(request))
            except RequestFailed as error:
                answer = partial(steps.throw, error)

    def _whose(self, namespace: Sequence[str]) -> str:
        if self._user_id is not None:
            return self._user_id
        if len(namespace) <= self._user_at or namespace[self._user_at] == "*":
            raise InvalidNamespaceError(
                f"label {self._user_at} of the namespace should be the user whose items are meant; a store with "
                "`user_id` needs none"
            )
        return namespace[self._user_at]

    def _memories(self, namespace: Sequence[str]) -> Memories | None:
        user_at = self._user_at if self._user_id is None else 0
        if len(namespace) <= user_at:
            return None
        return memories_under(namespace, self._user_id or namespace[user_at], user_at=user_at)


class _Planned:
    """The requests that a batch is made of, and its results."""

    def __init__(
        self,
        ops: Sequence[Op],
        whose: Callable[[Sequence[str]], str],
        memories_of: Callable[[Sequence[str]], Memories | None],
        fields: Sequence[str],
    ) -> None:
        self._results: list[Result] = [None] * len(ops)
        self._answers: dict[int, items.Answer] = {}
        self._ops, self._memories_of = ops, memories_of
        self._statements: dict[tuple[tuple[str, ...], str], tuple[Memories, PutOp]] = {}
        self._reads: dict[str, list[tuple[int, dict[str, Any]]]] = {}
        self._puts: dict[str, dict[tuple[tuple[str, ...], str], dict[str, Any]]] = {}
        for position, op in enumerate(ops):
            validate_op_namespace(op)
            match op:
                case PutOp() if memories := memories_of(op.namespace):
                    self._statements[(op.namespace, op.key)] = memories, langgraph_memories.checked(op)
                case PutOp():
                    last = self._puts.setdefault(whose(op.namespace), {})
                    last[(op.namespace, op.key)] = _put(op, fields)
                case GetOp():
                    self._read(whose(op.namespace), position, _get(op))
                case SearchOp() if memories_of(op.namespace_prefix):
                    pass
                case SearchOp():
                    self._read(whose(op.namespace_prefix), position, _search(op))
                case ListNamespacesOp():
                    self._read(whose(_beginning(op.match_conditions or ())), position, _listing(op))
                case _:
                    raise ValueError(f"Unknown operation type: {type(op)}")

    def steps(self) -> Steps[list[Result]]:
        """Yield the requests of the batch, each to be answered; returns the results."""
        for request, places in self._reads_of_items():
            answers = yield request
            self._answers |= dict(zip(places, answers, strict=True))
        for position, op in enumerate(self._ops):
            self._results[position] = yield from self._result(op, self._answers.get(position))
        yield from self._writes_of_items()
        for memories, statement in self._statements.values():
            yield from langgraph_memories.put(memories, statement)
        return self._results

    def _result(self, op: Op, answer: items.Answer) -> Steps[Result]:
        match op:
            case GetOp() if memories := self._memories_of(op.namespace):
                return (yield from langgraph_memories.read(memories, op.key, answer))
            case SearchOp() if memories := self._memories_of(op.namespace_prefix):
                return (yield from langgraph_memories.search(memories, op))
            case SearchOp() if isinstance(found := _result(answer), list):
                hits = [hit for hit in found if isinstance(hit, SearchItem)]
                return (yield from langgraph_memories.told(hits, self._memories_of))
        return _result(answer)

    def _reads_of_items(self) -> Iterable[tuple[Request[Sequence[items.Answer]], list[int]]]:
        """Yield what is to be read of whom, and where the answers belong."""
        for user, asked in self._reads.items():
            for start in range(0, len(asked), items.MOST_OPS):
                page = asked[start : start + items.MOST_OPS]
                yield items.read_items(user, [op for _, op in page]), [position for position, _ in page]

    def _writes_of_items(self) -> Iterable[Request[None]]:
        """Yield what is to be kept and deleted of whom."""
        for user, puts in self._puts.items():
            yield from items.writes_of(user, puts.values())

    def _read(self, user: str, position: int, asked: dict[str, Any]) -> None:
        self._reads.setdefault(user, []).append((position, asked))


def _put(op: PutOp, fields: Sequence[str]) -> dict[str, Any]:
    paths = () if op.index is False else fields if op.index is None else op.index
    value = None if op.value is None else _json(op.value)
    texts = [] if value is None else [text for path in paths for text in _texts(value, path)]
    return {"namespace": op.namespace, "key": op.key, "value": value, "ttl_minutes": op.ttl, "texts": texts}


def _json(value: Mapping[str, Any]) -> dict[str, Any]:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"the value cannot be written as JSON: {error}") from error
    return dict(value)


def _texts(value: Mapping[str, Any], path: str) -> list[str]:
    return [text[:_LONGEST_TEXT] for text in get_text_at_path(value, path if path == "$" else tokenize_path(path))]


def _get(op: GetOp) -> dict[str, Any]:
    return {"op": "get", "namespace": op.namespace, "key": op.key, "refresh_ttl": op.refresh_ttl}


def _search(op: SearchOp) -> dict[str, Any]:
    _check_filter(op.filter or {})
    return {
        "op": "search",
        "namespace_prefix": op.namespace_prefix,
        "query": op.query and op.query[:_LONGEST_QUERY],
        "filter": op.filter or {},
        "limit": op.limit,
        "offset": op.offset,
        "refresh_ttl": op.refresh_ttl,
    }


def _check_filter(wanted: Mapping[str, Any]) -> None:
    for value in wanted.values():
        if not isinstance(value, Mapping):
            continue
        if not any(key.startswith("$") for key in value):
            _check_filter(value)
        elif unknown := sorted(value.keys() - _OPERATORS):
            raise ValueError(f"Unsupported operator: {unknown[0]}")


def _listing(op: ListNamespacesOp) -> dict[str, Any]:
    conditions = [
        {"match_type": condition.match_type, "path": list(condition.path)} for condition in op.match_conditions or ()
    ]
    return {
        "op": "list_namespaces",
        "match_conditions": conditions,
        "max_depth": op.max_depth,
        "limit": op.limit,
        "offset": op.offset,
    }


def _beginning(conditions: Sequence[MatchCondition]) -> Sequence[str]:
    """Return the labels with which all that is listed begins, as far as the conditions say."""
    return next((tuple(condition.path) for condition in conditions if condition.match_type == "prefix"), ())


def _result(answer: items.Answer) -> Result:
    if isinstance(answer, items.Item):
        return Item(**_fields_of(answer))
    if answer is None:
        return None
    found = [part for part in answer if isinstance(part, items.Item)]
    if found:
        return [SearchItem(**_fields_of(item), score=item.score) for item in found]
    return [part for part in answer if isinstance(part, tuple)]


def _fields_of(item: items.Item) -> dict[str, Any]:
    return {
        "namespace": item.namespace,
        "key": item.key,
        "value": item.value,
        "created_at": item.created_at,
        "updated_at": item.updated_at,
    }
