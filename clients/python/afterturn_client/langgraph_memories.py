"""The namespaces of a LangGraph store under which a user's memories are read and stated, in the place of items.

Source: "S3 Vectors Memory Implementation Plan (V1)" and the memory system's mechanics: `(user, "memories", type)`, or
`(user, type)`, with `semantic`, `episodic` or `procedural`; the fields of a value are that plan's.
"""

from __future__ import annotations

import math
import uuid
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from langgraph.store.base import Item, PutOp, SearchItem, SearchOp

from afterturn_client import items, requests
from afterturn_client.errors import NotFound
from afterturn_client.model import Hit, Memory, Remembered
from afterturn_client.requests import Request

T = TypeVar("T")
Steps = Generator[Request[Any], Any, T]
"""Requests that are sent one after the other, each answered before the next is asked for, and what comes of them."""

_KIND_OF: Final = {"semantic": "user_fact", "episodic": "conversation_context", "procedural": "agent_procedure"}
_PAGE: Final = 100
_STARS: Final = 5
_MEMORY_ID: Final = "memory_id"
"""Field of an item that says which memory was put under its key; it holds nothing that somebody said."""
_STATED: Final = frozenset({"summary", "content", "category", "tags", "importance", "pinned", "confidence"})
_TOLD: Final = frozenset({"id", "user_id", "type", "source", "created_at", "last_accessed"})
"""Fields of a value that was read and may come back with it; they are not the caller's to say."""


@dataclass(frozen=True)
class Memories:
    """The memories of one type of a user, and the namespace under which they are asked for."""

    namespace: tuple[str, ...]
    user: str
    type: str


def memories_under(namespace: Sequence[str], user: str, *, user_at: int) -> Memories | None:
    """Return which memories a namespace stands for; None where it is one of items."""
    match tuple(namespace[user_at:]):
        case (whose, "memories", type_) | (whose, type_) if whose == user and type_ in _KIND_OF:
            return Memories(tuple(namespace), user, type_)
    return None


def read(memories: Memories, key: str, alias: items.Answer) -> Steps[Item | None]:
    """Get the active memory that was put under a key, or that has it as its id; None where there is none."""
    memory_id = _id_of(key, alias)
    memory = None if memory_id is None else (yield from _get(memory_id, memories.user))
    if memory is None or memory.type != memories.type:
        return None
    return Item(**_fields(memory, memories, key))


def search(memories: Memories, op: SearchOp) -> Steps[list[SearchItem]]:
    """Find memories that answer a query, best first; an empty one finds nothing.

    Raises:
        ValueError: the filter is of another field than the category.
    """
    category = _category_in(op.filter or {})
    found: list[Hit] = []
    for start in range(0, op.limit if op.query and op.query.strip() else 0, _PAGE):
        size = min(_PAGE, op.limit - start)
        asked = requests.search(
            op.query or "",
            user_id=memories.user,
            type=[memories.type],
            category=category,
            limit=size,
            offset=op.offset + start,
        )
        page = yield asked
        found += page
        if len(page) < size:
            break
    return [SearchItem(**_fields(hit, memories, hit.memory_id), score=hit.similarity) for hit in found]


def told(
    found: Iterable[SearchItem], memories_of: Callable[[Sequence[str]], Memories | None]
) -> Steps[list[SearchItem]]:
    """Return what a search among all items found, with the memories themselves where items only name them."""
    shown = []
    for item in found:
        memories = memories_of(item.namespace)
        if memories is None:
            shown.append(item)
            continue
        memory = yield from _get(str(item.value.get(_MEMORY_ID)), memories.user)
        if memory is not None:
            shown.append(SearchItem(**_fields(memory, memories, item.key), score=item.score))
    return shown


def checked(op: PutOp) -> PutOp:
    """Return a put of a memory that can be one.

    Raises:
        ValueError: it says nothing, or a field that is no memory's; or it is to expire, which memories do by rules.
    """
    if op.value is None:
        return op
    if unknown := sorted(op.value.keys() - _STATED - _TOLD):
        raise ValueError(
            f"a memory has no field {unknown[0]!r}; what is to be kept as it is goes into another namespace"
        )
    if not _summary(op.value):
        raise ValueError("a memory needs a `summary` of one or two sentences")
    if op.ttl is not None:
        raise ValueError("a memory does not expire after a while: put it without `ttl`")
    return op


def put(memories: Memories, op: PutOp) -> Steps[None]:
    """Remember what a value says, by the same decision as all else; change or forget what was put under its key."""
    [alias] = yield items.read_items(memories.user, [{"op": "get", "namespace": op.namespace, "key": op.key}])
    memory_id = _id_of(op.key, alias)
    known = None if memory_id is None else (yield from _get(memory_id, memories.user))
    if op.value is None:
        if known is not None:
            yield requests.forget(known.memory_id, user_id=memories.user)
        if alias is not None:
            yield _alias(memories, op.key, None)
        return
    said = _said(op.value)
    pinned = op.value.get("pinned")
    if known is not None:
        yield requests.edit(known.memory_id, version=None, user_id=memories.user, content=_summary(op.value), **said)
        if pinned is not None and pinned is not known.pinned:
            turn = requests.pin if pinned else requests.unpin
            yield turn(known.memory_id, user_id=memories.user)
        return
    stated = requests.remember(
        _summary(op.value),
        user_id=memories.user,
        memory_type=_KIND_OF[memories.type],
        pinned=bool(pinned),
        **said,
    )
    remembered: Remembered = yield stated
    if remembered.memory is not None:
        yield _alias(memories, op.key, remembered.memory.memory_id)


def _alias(memories: Memories, key: str, memory_id: str | None) -> Request[None]:
    value = None if memory_id is None else {_MEMORY_ID: memory_id}
    return items.write_items(memories.user, [{"namespace": memories.namespace, "key": key, "value": value}])


def _get(memory_id: str, user: str) -> Steps[Memory | None]:
    try:
        memory: Memory = yield requests.get(memory_id, user_id=user)
    except NotFound:
        return None
    return memory if memory.status == "active" and not memory.suppressed else None


def _id_of(key: str, alias: items.Answer) -> str | None:
    if isinstance(alias, items.Item):
        return str(alias.value[_MEMORY_ID])
    try:
        return str(uuid.UUID(key))
    except ValueError:
        return None


def _summary(value: Mapping[str, Any]) -> str:
    return str(value.get("summary") or value.get("content") or "").strip()


def _said(value: Mapping[str, Any]) -> dict[str, Any]:
    fields = {name: value[name] for name in ("category", "tags", "confidence") if value.get(name) is not None}
    stars = value.get("importance")
    return fields if stars is None else {**fields, "importance": stars / _STARS}


def _category_in(wanted: Mapping[str, Any]) -> Sequence[str]:
    category = wanted.get("category")
    if wanted.keys() - {"category"} or not isinstance(category, str | None):
        raise ValueError("memories are filtered by their `category` alone")
    return () if category is None else [category]


def _fields(memory: Memory, memories: Memories, key: str) -> dict[str, Any]:
    value = {
        "id": memory.memory_id,
        "user_id": memories.user,
        "type": memory.type,
        "category": memory.category,
        "summary": memory.content,
        "tags": list(memory.tags),
        "source": memory.source,
        "importance": min(_STARS, max(1, math.floor(memory.importance * _STARS + 0.5))),
        "pinned": memory.pinned,
        "created_at": memory.created_at.isoformat(),
        "last_accessed": memory.last_accessed.isoformat(),
    }
    return {
        "namespace": memories.namespace,
        "key": key,
        "value": value,
        "created_at": memory.created_at,
        "updated_at": memory.updated_at,
    }
