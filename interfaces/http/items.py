"""The store: JSON that an application keeps about a subject under namespaces and keys of its own."""

from __future__ import annotations

from datetime import UTC, datetime
from http import HTTPStatus
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Response
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from interfaces.http.service import Opened
from interfaces.http.subjects import About
from memory.items import Answer, Get, ListNamespaces, Scored, Search, read_items, write_items
from policies.items import check_depth, check_filter, checked_json
from schema.item import Minutes, NamespaceMatch, Put

router = APIRouter(prefix="/api/v1/subjects/{subject_id}/store", tags=["store"])


def _checked_filter(wanted: dict[str, Any]) -> dict[str, Any]:
    check_depth(wanted)
    check_filter(wanted)
    return wanted


Label = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^.\x00]+$")]
Path = Annotated[list[Label], Field(max_length=20)]
Key = Annotated[str, Field(max_length=1_000, pattern=r"^[^\x00]*$")]
Text = Annotated[str, Field(max_length=20_000)]
Limit = Annotated[int, Field(ge=0, le=1_000)]
Offset = Annotated[int, Field(ge=0, le=1_000_000)]


class _In(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class GetIn(_In):
    """Asks for what is under a key."""

    op: Literal["get"]
    namespace: Path
    key: Key
    refresh_ttl: bool = True


class SearchIn(_In):
    """Asks for items under a namespace, by a filter and by meaning."""

    op: Literal["search"]
    namespace_prefix: Path = Field(default_factory=list)
    query: Annotated[str, Field(max_length=4_000)] | None = None
    filter: Annotated[dict[str, Any], AfterValidator(_checked_filter)] = Field(
        default_factory=dict, description="what a value has under its keys; $eq, $ne, $gt, $gte, $lt, $lte compare"
    )
    limit: Limit = 10
    offset: Offset = 0
    refresh_ttl: bool = True


class MatchIn(_In):
    """How a namespace begins or ends."""

    match_type: Literal["prefix", "suffix"]
    path: Path = Field(description="labels; * is any one label")


class ListNamespacesIn(_In):
    """Asks for the namespaces in which something is."""

    op: Literal["list_namespaces"]
    match_conditions: Annotated[list[MatchIn], Field(max_length=20)] = Field(default_factory=list)
    max_depth: Annotated[int, Field(ge=1, le=20)] | None = None
    limit: Limit = 100
    offset: Offset = 0


class ReadIn(_In):
    """Items to read, all as they are at one time."""

    ops: Annotated[
        list[Annotated[GetIn | SearchIn | ListNamespacesIn, Field(discriminator="op")]],
        Field(min_length=1, max_length=100),
    ]


class PutIn(_In):
    """An item to keep under a key; a value of null deletes it."""

    namespace: Annotated[list[Label], Field(min_length=1, max_length=20)]
    key: Key
    value: Annotated[dict[str, Any], AfterValidator(checked_json)] | None
    ttl_minutes: Minutes | None = Field(
        default=None, description="it expires so long after it was last written or read"
    )
    texts: Annotated[list[Text], Field(max_length=100)] = Field(
        default_factory=list, description="what a query finds it by; without any it is found by no meaning"
    )
    if_match: str | None = Field(
        default=None, description="the `etag` that was read, or `*` for any: else 412, and nothing is written"
    )
    if_none_match: Literal["*"] | None = Field(
        default=None, description="`*`: 412 where something is under the key, and nothing is written"
    )


class WriteIn(_In):
    """Items to keep and to delete, all or none; the last of those under one key counts."""

    puts: Annotated[list[PutIn], Field(min_length=1, max_length=100)]


class ItemOut(BaseModel):
    """An item that is kept under a key."""

    namespace: list[str]
    key: str
    value: dict[str, Any]
    created_at: datetime
    updated_at: datetime
    etag: str = Field(description="for `if_match`: another one as soon as it says something else")
    score: float | None = Field(description="the cosine to the query; null where meaning had no part")


class ReadOut(BaseModel):
    """The answers, each in the place of its request: an item or null, items, or namespaces."""

    results: list[ItemOut | list[ItemOut] | list[list[str]] | None]


@router.post("/read", summary="Get and search what an application keeps about a subject")
def read(asked: ReadIn, about: About, service: Opened) -> ReadOut:
    """Get items, search them, and list namespaces. Items without a query come with the latest change first."""
    answers = read_items(
        about.principal, about.subject, [_asked_of(op) for op in asked.ops], service.context, now=datetime.now(UTC)
    )
    return ReadOut(results=[_out(answer) for answer in answers])


@router.post(
    "/write",
    status_code=HTTPStatus.NO_CONTENT,
    summary="Keep and delete what an application says",
    responses={HTTPStatus.PRECONDITION_FAILED: {}},
)
def write(given: WriteIn, about: About, service: Opened) -> Response:
    """Keep and delete items as they are; no memory comes of them (`POST /memories/`).

    `if_match` and `if_none_match` of an item mean what the headers of these names mean of a resource (RFC 9110).
    """
    write_items(
        about.principal, about.subject, [_put_of(put) for put in given.puts], service.context, now=datetime.now(UTC)
    )
    return Response(status_code=HTTPStatus.NO_CONTENT)


def _put_of(put: PutIn) -> Put:
    return Put(
        tuple(put.namespace),
        put.key,
        put.value,
        put.ttl_minutes,
        _texts(put),
        if_match=None if put.if_match is None else frozenset({put.if_match}),
        if_absent=put.if_none_match is not None,
    )


def _texts(put: PutIn) -> tuple[str, ...]:
    # What is blank means nothing.
    return tuple(dict.fromkeys(text for text in put.texts if text.strip()))


def _asked_of(op: GetIn | SearchIn | ListNamespacesIn) -> Get | Search | ListNamespaces:
    match op:
        case GetIn():
            return Get(tuple(op.namespace), op.key, op.refresh_ttl)
        case SearchIn():
            query = op.query if op.query and op.query.strip() else None
            return Search(tuple(op.namespace_prefix), query, op.filter, op.limit, op.offset, op.refresh_ttl)
        case ListNamespacesIn():
            conditions = tuple(
                NamespaceMatch(condition.match_type, tuple(condition.path)) for condition in op.match_conditions
            )
            return ListNamespaces(conditions, op.max_depth, op.limit, op.offset)


def _out(answer: Answer) -> ItemOut | list[ItemOut] | list[list[str]] | None:
    if isinstance(answer, list):
        return [_item(element) if isinstance(element, Scored) else list(element) for element in answer]  # type: ignore[return-value]
    return None if answer is None else _item(answer)


def _item(scored: Scored) -> ItemOut:
    item = scored.item
    return ItemOut(
        namespace=list(item.namespace),
        key=item.key,
        value=item.value,
        created_at=item.created_at,
        updated_at=item.updated_at,
        etag=item.etag,
        score=scored.score,
    )
