"""Requests of the store: JSON that an application keeps about a user, under namespaces and keys of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from afterturn_client.requests import Request, body_of, subject_path

MOST_OPS: Final = 100
"""How many operations one request may have."""
_MOST_BYTES: Final = 512 * 1024
"""How much is written with one request: half of what the service takes of one unless it is set otherwise."""


@dataclass(frozen=True)
class Item:
    """An item that is kept under a key. `score` is the cosine to the query; None where meaning had no part. `etag`
    names what it says, for `if_match`."""

    namespace: tuple[str, ...]
    key: str
    value: dict[str, Any]
    created_at: datetime
    updated_at: datetime
    score: float | None
    etag: str


Answer = Item | list[Item] | list[tuple[str, ...]] | None


def read_items(subject_id: str, ops: Sequence[Mapping[str, Any]]) -> Request[Sequence[Answer]]:
    """Read items, search them and list namespaces: at most 100 at a time, each answer in its place.

    An op is `{"op": "get", "namespace", "key"}`, `{"op": "search", "namespace_prefix", "query"?, "filter"?, "limit"?,
    "offset"?}` or `{"op": "list_namespaces", "match_conditions"?, "max_depth"?, "limit"?, "offset"?}`.

    Raises:
        RequestFailed: the service did not do it; the class says why.
    """
    body = body_of({"ops": list(ops)})
    return Request("POST", subject_path(subject_id, "/store/read"), _answers_of, body=body, harmless=True)


def write_items(subject_id: str, puts: Sequence[Mapping[str, Any]]) -> Request[None]:
    """Keep and delete items, all or none: at most 100 at a time, the last of those under one key counts.

    A put is `{"namespace", "key", "value", "ttl_minutes"?, "texts"?, "if_match"?, "if_none_match"?}`; a value of None
    deletes, and `texts` are what a query finds it by. `if_match` is the `etag` of the item as it was read; with
    `if_none_match`, which is "*", nothing may be under the key.

    Raises:
        PreconditionFailed: what is under a key is not what its put names; nothing was written.
        Invalid: consent is withdrawn, or a value cannot be kept.
        RequestFailed: the service did not do it; the class says why.
    """
    body = body_of({"puts": list(puts)})
    return Request("POST", subject_path(subject_id, "/store/write"), lambda _body: None, body=body)


def writes_of(subject_id: str, puts: Iterable[Mapping[str, Any]]) -> Iterator[Request[None]]:
    """Yield the requests that write any number of items, each of which is done whole or not at all."""
    page: list[Mapping[str, Any]] = []
    size = 0
    for put in puts:
        length = len(body_of(put))
        if page and (len(page) == MOST_OPS or size + length > _MOST_BYTES):
            yield write_items(subject_id, page)
            page, size = [], 0
        page.append(put)
        size += length
    if page:
        yield write_items(subject_id, page)


def _answers_of(body: Any) -> list[Answer]:
    return [_answer_of(result) for result in body["results"]]


def _answer_of(result: Any) -> Answer:
    if result is None:
        return None
    if isinstance(result, list):
        if result and isinstance(result[0], list):
            return [tuple(namespace) for namespace in result]
        return [_item_of(answer) for answer in result]
    return _item_of(result)


def _item_of(fields: Mapping[str, Any]) -> Item:
    return Item(
        tuple(fields["namespace"]),
        fields["key"],
        fields["value"],
        datetime.fromisoformat(fields["created_at"]),
        datetime.fromisoformat(fields["updated_at"]),
        fields["score"],
        fields["etag"],
    )
