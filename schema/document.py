"""A document: a longer text with an owner, cut into chunks instead of being extracted."""

from __future__ import annotations

import hashlib
import json
import uuid
from datetime import UTC
from enum import StrEnum
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, AwareDatetime, ConfigDict, Field, StringConstraints, field_validator

from schema.base import NO_NUL, Value, etag_of
from schema.memory import Labels, Visibility
from schema.turn import Identifier, Moment, Subject

MAX_DOCUMENT_BYTES: Final = 5_000_000
"""How much text a document may have, in UTF-8 bytes, whatever the settings say."""

BLOCKED_TOPIC: Final = "blocked_topic"
"""Why a document was refused."""

_PUT: Final = {"incarnation", "digest", "visibility", "author_id", "source_ref", "occurred_at"}

MediaType = Literal["text/plain", "text/markdown"]


def _checked_content(content: str) -> str:
    """Return a content that a document may have.

    Raises:
        ValueError: it is blank, too long, or no Unicode text.
    """
    try:
        size = len(content.encode())
    except UnicodeEncodeError:
        raise ValueError("the content is no Unicode text: it has half of a pair of surrogates") from None
    if size > MAX_DOCUMENT_BYTES:
        raise ValueError(f"the content has {size:,} bytes and at most {MAX_DOCUMENT_BYTES:,} are taken")
    if "\0" in content:
        raise ValueError("the content has a character of the code 0, which no text has")
    if not content.strip():
        raise ValueError("the content is blank")
    return content


def checked_pages(pages: tuple[int, ...]) -> tuple[int, ...]:
    """Return where pages begin, if pages can begin there.

    Raises:
        ValueError: the first does not begin at 0, or one begins before the one before it.
    """
    if pages and (pages[0] != 0 or list(pages) != sorted(pages)):
        raise ValueError("pages begin at 0 and follow each other")
    return pages


Content = Annotated[str, StringConstraints(min_length=1), AfterValidator(_checked_content)]
"""A text that a document may have: not blank, and not too long."""
Pages = Annotated[tuple[Annotated[int, Field(ge=0)], ...], AfterValidator(checked_pages)]
"""Where pages begin, in characters of the content: the first at 0."""


class Document(Value):
    """A text as somebody hands it in; `document_id` is its idempotency key within its subject.

    `pages` says at which characters of the content pages begin, where it came of something with pages: the first is 0.
    `author_id` is whose it is where it is personal; the subject's own id unless it is given.
    """

    model_config = ConfigDict(extra="forbid")

    schema_version: Literal[1] = 1
    document_id: Identifier
    tenant_id: Identifier
    subject_id: Identifier
    title: Annotated[str, StringConstraints(strip_whitespace=True, max_length=300, pattern=NO_NUL)] | None = None
    content: Content
    media_type: MediaType = "text/plain"
    visibility: Visibility = Visibility.PRIVATE
    author_id: Identifier | None = None
    source_ref: Annotated[str, StringConstraints(min_length=1, max_length=2048, pattern=NO_NUL)] | None = None
    occurred_at: Moment | None = None
    pages: Pages = ()

    @field_validator("visibility")
    @classmethod
    def _is_for_people(cls, visibility: Visibility) -> Visibility:
        if visibility is Visibility.INDIVIDUAL:
            raise ValueError("a document is public, private or personal")
        return visibility

    @property
    def subject(self) -> Subject:
        return Subject(tenant_id=self.tenant_id, subject_id=self.subject_id)

    @property
    def labels(self) -> Labels:
        """Return what decides who may see it."""
        return Labels(self.visibility, self.author_id or self.subject_id)

    def content_digest(self) -> str:
        """Return the SHA-256 of what is embedded and shown: the content, its form, its pages and the title."""
        whole = json.dumps([self.content, self.media_type, self.pages, self.title])
        return hashlib.sha256(whole.encode()).hexdigest()


class DocumentState(StrEnum):
    WAITING = "waiting"
    """It is kept, and a worker has yet to make this version searchable."""
    SEARCHABLE = "searchable"
    QUARANTINED = "quarantined"
    """It has what looks like an instruction to the assistant, and waits for a person."""
    FAILED = "failed"
    """Workers have given it up: `afterturn documents backfill` has them try again."""
    REFUSED = "refused"
    """It is on a topic on which the subject wants nothing kept: its content is gone."""


class KeptDocument(Document):
    """A document as the catalog has it: masked, at a version that each write raises.

    `indexed_version` is the one that is searchable, 0 before the first. `incarnation` tells it from another one that
    had its id before. `failure` says why workers have given it up, if they have.
    """

    model_config = ConfigDict(extra="ignore")

    content: str
    incarnation: uuid.UUID
    version: Annotated[int, Field(ge=1)] = 1
    digest: str
    indexed_version: int = 0
    indexed_digest: str = ""
    approved_digest: str = ""
    """Of the content that a person let pass although it looks like an instruction."""
    chunk_count: int = 0
    embedding_model: str | None = None
    quarantined: bool = False
    legal_hold: bool = False
    """True where it stays, with what it says, whatever its author or an operator does."""
    tries: int = 0
    failure: str | None = None
    created_at: AwareDatetime
    updated_at: AwareDatetime
    indexed_at: AwareDatetime | None = None

    @property
    def state(self) -> DocumentState:
        """Return where it stands."""
        if self.failure == BLOCKED_TOPIC:
            return DocumentState.REFUSED
        if self.quarantined:
            return DocumentState.QUARANTINED
        if self.indexed_version == self.version:
            return DocumentState.SEARCHABLE
        return DocumentState.FAILED if self.failure else DocumentState.WAITING

    @property
    def etag(self) -> str:
        """Return the name of what was put: another one after each put that changes something, and after no more than
        that."""
        # The catalog reads a moment back in UTC.
        in_utc = self.occurred_at and self.occurred_at.astimezone(UTC)
        return etag_of(self.model_copy(update={"occurred_at": in_utc}).model_dump_json(include=_PUT))

    @property
    def is_screened(self) -> bool:
        """Return whether a worker has masked what may not be kept of its content; until then it is told to nobody."""
        return self.quarantined or self.indexed_digest == self.digest

    def page_of(self, start: int) -> int | None:
        """Return the number of the page, from 1, on which a character stands; None of what has no pages."""
        return sum(page <= start for page in self.pages) or None


class Chunk(Value):
    """A part of a document: the characters from `start` to `end` of its content, and what decides who may see it."""

    id: uuid.UUID
    tenant_id: Identifier
    subject_id: Identifier
    document_id: Identifier
    number: Annotated[int, Field(ge=0)]
    """Its place in the document, from 0."""
    start: int
    end: int
    page: int | None = None
    content: str
    tokens: int
    version: int
    """The document's, when it was written."""
    visibility: Visibility
    author_id: Identifier
    created_at: AwareDatetime

    @property
    def subject(self) -> Subject:
        return Subject(tenant_id=self.tenant_id, subject_id=self.subject_id)

    @property
    def labels(self) -> Labels:
        """Return what decides who may see it."""
        return Labels(self.visibility, self.author_id)

    @property
    def index_key(self) -> uuid.UUID:
        """Return where it lies in the index."""
        return self.id


def chunk_id(document: KeptDocument, number: int) -> uuid.UUID:
    """Return the id of a document's chunk with this number: the same in every version, so that a newer one takes its
    place, and never that of another document which had the same id before."""
    return uuid.uuid5(document.incarnation, str(number))
