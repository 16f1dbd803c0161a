"""Documents over HTTP: put, read, list, delete, and what of them answers a question."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Response
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from interfaces.http.credentials import Asker, subject_of
from interfaces.http.etags import IfMatch, IfNoneMatch, TellETag, etag_of, names_in, names_known_in
from interfaces.http.query_parameters import About, Cursor
from interfaces.http.service import Opened
from memory.documents.delete import delete_document
from memory.documents.put import PutOutcome
from memory.documents.rights import require_removable, visible_document
from policies.access import acting, require
from producers.documents import put_document
from recall.documents import list_documents
from recall.excerpts import find_excerpts
from schema import Capability, Document, DocumentState, KeptDocument, Visibility
from schema.base import NO_NUL
from schema.document import Content, MediaType, checked_pages
from schema.errors import NotAllowed
from schema.turn import Identifier, Moment

router = APIRouter(prefix="/api/v1/documents", tags=["documents"])
DocumentId = Annotated[Identifier, Path(description="the caller's own id of the document")]


class DocumentIn(BaseModel):
    """A document as its owner sends it."""

    model_config = ConfigDict(extra="forbid")

    content: Content
    title: Annotated[str, Field(max_length=300, pattern=NO_NUL)] | None = None
    media_type: MediaType = "text/plain"
    visibility: Literal["public", "private", "personal"] = "private"
    author_id: Identifier | None = Field(None, description="whose text it is; unset: the key's user, or the subject")
    source_ref: Annotated[str, Field(min_length=1, max_length=2048, pattern=NO_NUL)] | None = None
    occurred_at: Moment | None = None
    pages: Annotated[
        tuple[Annotated[int, Field(ge=0)], ...], Field(max_length=10_000), AfterValidator(checked_pages)
    ] = Field((), description="at which characters of the content its pages begin, the first at 0; for citing")
    user_id: Identifier | None = Field(None, description="for whom the request is made, with the capability act_as")
    subject_id: Identifier | None = Field(None, description="whose document it is, where that is not the user")


class DocumentOut(BaseModel):
    """A document and where it stands; `content` is null until a worker has masked what may not be kept. `etag` names
    what was put: with it in If-Match another put takes no newer one's place."""

    document_id: str
    subject_id: str
    title: str | None
    media_type: str
    visibility: Visibility
    author_id: str | None
    source_ref: str | None
    state: DocumentState
    version: int
    chunk_count: int
    created_at: datetime
    updated_at: datetime
    indexed_at: datetime | None
    etag: str
    content: str | None = None


class PutOut(BaseModel):
    """Outcome of putting a document."""

    outcome: PutOutcome
    document: DocumentOut


class DocumentsOut(BaseModel):
    """A page of documents in the order of their ids; `cursor` asks for the next one, and is null on the last."""

    items: list[DocumentOut]
    cursor: str | None


class DeletedOut(BaseModel):
    """A document that is gone, with so many chunks."""

    success: Literal[True] = True
    chunks_deleted: int


class ExcerptOut(BaseModel):
    """A part of a document that answers a question."""

    document_id: str
    subject_id: str
    title: str | None
    source_ref: str | None
    page: int | None
    content: str
    chunk_ids: list[uuid.UUID]
    score: float
    similarity: float
    is_textbook: bool


@router.get("/excerpts", summary="Find what of documents answers a question")
def excerpts(
    about: About,
    service: Opened,
    query: Annotated[str, Query(min_length=1, max_length=2_000, pattern=r"\S")],
    limit: Annotated[int, Query(ge=1, le=50)] = 5,
) -> list[ExcerptOut]:
    """Find the parts of documents that answer a question best, those that follow each other joined; a question about
    nothing that is told there gets none."""
    matching = find_excerpts(about.principal, [about.subject], query, service.context, limit=limit)
    return [ExcerptOut.model_validate(excerpt, from_attributes=True) for excerpt in matching]


@router.get("/", summary="List documents")
def list_(
    about: About,
    service: Opened,
    cursor: Cursor = "",
    limit: Annotated[int, Query(ge=1, le=100)] = 50,
) -> DocumentsOut:
    """List the documents that the key may see, without what they say."""
    items, following = list_documents(
        about.principal, about.subject, service.context.catalog, cursor=cursor, limit=limit
    )
    return DocumentsOut(
        items=[_document_out(document, with_content=False) for document in items], cursor=following or None
    )


@router.put(
    "/{document_id}",
    status_code=HTTPStatus.ACCEPTED,
    responses={HTTPStatus.OK: {"model": PutOut, "description": "It is there already, as it was sent"}},
    summary="Put a document, to be made searchable after the response",
)
def put(
    document_id: DocumentId,
    given: DocumentIn,
    principal: Asker,
    service: Opened,
    response: Response,
    if_match: IfMatch = None,
    if_none_match: IfNoneMatch = None,
) -> PutOut:
    """Put a document, in the place of what has its id, with If-Match only while that is as it was read, with
    `If-None-Match: *` only while nothing has that id: 202 where a
    worker makes it searchable, 200 where it is there already. An author is who sends it, unless the key is no
    user's."""
    asker = acting(principal, given.user_id)
    subject = subject_of(asker, given.subject_id or given.user_id)
    if asker.user_id is not None and given.author_id not in {None, asker.user_id}:
        raise NotAllowed(Capability.ACT_AS)
    document = Document(
        document_id=document_id,
        **subject.model_dump(),
        title=given.title,
        content=given.content,
        media_type=given.media_type,
        visibility=Visibility(given.visibility),
        author_id=given.author_id or asker.user_id,
        source_ref=given.source_ref,
        occurred_at=given.occurred_at,
        pages=given.pages,
    )
    accepted = put_document(
        asker,
        document,
        service.context,
        service.context.celery,
        now=datetime.now(UTC),
        etags=names_in(if_match),
        unless_etags=names_known_in(if_none_match),
    )
    response.headers["ETag"] = etag_of(accepted.document.etag)
    if accepted.outcome is PutOutcome.UNCHANGED:
        response.status_code = HTTPStatus.OK
    return PutOut(outcome=accepted.outcome, document=_document_out(accepted.document, with_content=False))


@router.get("/{document_id}", summary="Read one document")
def read(document_id: DocumentId, about: About, service: Opened, tell_etag: TellETag) -> DocumentOut:
    """Read a document with where it stands; its ETag is what a put or a delete is to name in If-Match."""
    document = visible_document(about.principal, about.subject, document_id, service.context.catalog)
    tell_etag(document.etag)
    return _document_out(document, with_content=True)


@router.delete("/{document_id}", summary="Delete a document with all its chunks and vectors")
def delete(document_id: DocumentId, about: About, service: Opened, if_match: IfMatch = None) -> DeletedOut:
    """Delete a document, its chunks, and their vectors and words; with If-Match only while it is as it was read. A
    line without content stays in the audit."""
    require(about.principal, Capability.DOCUMENTS)
    document = visible_document(about.principal, about.subject, document_id, service.context.catalog)
    require_removable(about.principal, document, service.context.catalog)
    gone = delete_document(
        document,
        service.context,
        by=about.principal.key_id,
        reason="deleted over HTTP",
        now=datetime.now(UTC),
        etags=names_in(if_match),
    )
    return DeletedOut(chunks_deleted=gone)


def _document_out(document: KeptDocument, *, with_content: bool) -> DocumentOut:
    return DocumentOut(
        **document.model_dump(include=set(DocumentOut.model_fields) - {"content"}),
        etag=document.etag,
        state=document.state,
        content=document.content if with_content and document.is_screened else None,
    )
