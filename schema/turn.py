"""A turn: one user message and the assistant's response, as a chat backend enqueues it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Annotated, Final, Literal, Self
from urllib.parse import quote, unquote

from pydantic import (
    AfterValidator,
    AwareDatetime,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)

from schema.base import Value

SCHEMA_VERSION: Final = 1
MAX_TURN_BYTES = 64 * 1024
"""How much text a turn may carry, in UTF-8 bytes."""

MAX_WHOLE_TURN_BYTES = 256 * 1024
"""How much a turn may be with all that is not its text."""
_ESCAPED: Final = 6
"""Characters of JSON that stand for one at most, as for a control character."""
_A_FIELD: Final = 128
"""Characters of JSON around one message, attachment or value, at most."""
_REST: Final = 16 * 1024
"""Of ids and a candidate, at most: every character of theirs escaped."""
MAX_MESSAGES = 500
MAX_HISTORY_MESSAGES = 100
_EARLIEST: Final = datetime(2, 1, 1, tzinfo=UTC)
_LATEST: Final = datetime(9998, 12, 31, tzinfo=UTC)
"""Between these moments every zone can tell a day, and the days about it."""
MAX_ATTACHMENTS = 100
MAX_METADATA = 32
MAX_METADATA_CHARS: Final = 1_000

Identifier = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]+$")]
Role = Literal["user", "assistant", "system", "tool"]
TurnSource = Literal["chat", "external", "instagram", "bank_api", "system", "agent"]
Consent = Literal["granted", "withdrawn"]


@lru_cache(maxsize=4096)
def _key(tenant_id: str, subject_id: str) -> str:
    return f"{quote(tenant_id, safe='')}:{quote(subject_id, safe='')}"


class Subject(Value):
    """The one whose memory it is: a user, a story archive or an organisation, inside one tenant."""

    tenant_id: Identifier
    subject_id: Identifier

    @property
    def key(self) -> str:
        """Return one string for both ids, unambiguous for any characters in them: the unit of order and of locks."""
        return _key(self.tenant_id, self.subject_id)

    @classmethod
    def from_key(cls, key: str) -> Self:
        """Return the subject whose `key` this is."""
        tenant_id, _, subject_id = key.partition(":")
        return cls(tenant_id=unquote(tenant_id), subject_id=unquote(subject_id))


def _within_time(moment: datetime) -> datetime:
    """Return the moment, or the nearest that every zone can tell: a day before the year 1 is none."""
    try:
        in_utc = moment.astimezone(UTC)
    except OverflowError:
        in_utc = datetime.min.replace(tzinfo=UTC) if moment.year == 1 else datetime.max.replace(tzinfo=UTC)
    return _EARLIEST if in_utc < _EARLIEST else _LATEST if in_utc > _LATEST else moment


Moment = Annotated[AwareDatetime, AfterValidator(_within_time)]
"""A moment that somebody tells us, with a zone: never one with which there is no reckoning."""


def _storable(text: str) -> str:
    """Return a text without characters of the code 0, which no text has and Postgres keeps none of.

    Raises:
        ValueError: it is no Unicode text.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("holds half a character (a lone surrogate)") from None
    return text.replace("\0", "")


_Storable = AfterValidator(_storable)


def _is_empty(value: tuple[Message, ...] | Mapping[str, MetadataValue]) -> bool:
    return not value


def _in_order(metadata: dict[str, MetadataValue]) -> dict[str, MetadataValue]:
    """Return them by their names, so that the same turn is the same bytes."""
    return dict(sorted(metadata.items()))


def _plain(value: object, read: ValidatorFunctionWrapHandler) -> object:
    """Return a plain value; what is wrong is told once, and not once for each kind that it might be.

    Raises:
        ValueError: it is none.
    """
    try:
        return read(value)
    except ValidationError:
        raise ValueError(
            f"should be a text of at most {MAX_METADATA_CHARS:,} characters, a number or a truth value"
        ) from None


MetadataValue = (
    Annotated[str, StringConstraints(max_length=MAX_METADATA_CHARS), _Storable]
    | bool
    | Annotated[int, Field(ge=-(2**63), lt=2**63)]
    | Annotated[float, Field(allow_inf_nan=False)]
)
Metadata = Annotated[
    dict[Identifier, Annotated[MetadataValue, WrapValidator(_plain)]],
    Field(max_length=MAX_METADATA),
    AfterValidator(_in_order),
]
"""An application's own data on a turn: a flat object of its own names."""


class Message(Value):
    """Message of one side of a conversation."""

    model_config = ConfigDict(extra="forbid")

    role: Role
    content: Annotated[str, _Storable]
    name: Identifier | None = None


class Attachment(Value):
    """A pointer to something that came with a turn; its content is never fetched."""

    model_config = ConfigDict(extra="forbid")

    uri: Annotated[str, StringConstraints(min_length=1, max_length=2048), _Storable]
    media_type: Annotated[str, StringConstraints(min_length=1, max_length=200), _Storable]
    title: Annotated[str, StringConstraints(max_length=300), _Storable] | None = None


class HotPathCandidate(Value):
    """Candidate that the hot path already announced, so that the worker can settle it."""

    model_config = ConfigDict(extra="forbid")

    id: Identifier
    summary: Annotated[str, StringConstraints(min_length=1, max_length=1000), _Storable]
    type: Literal["semantic", "episodic", "procedural"] = "semantic"
    category: Annotated[str, StringConstraints(min_length=1, max_length=60), _Storable] = "Other"


class Turn(Value):
    """One exchange, immutable; `turn_id` is its idempotency key.

    `occurred_at` needs a time zone. All text together may be at most `MAX_TURN_BYTES` bytes of UTF-8. `history` is what
    was said before it in its conversation, oldest first: the turn is understood by it, and nothing of it is kept.
    `metadata` is the application's own: nothing is read off it, and it is kept with the turn. Both came with version 2;
    a turn of version 1 has none.

    Raises:
        pydantic.ValidationError: a field is missing, unknown, too long, or without a time zone.
    """

    model_config = ConfigDict(extra="forbid")

    schema_version: Literal[1, 2] = 1
    turn_id: Identifier
    tenant_id: Identifier
    user_id: Identifier
    agent_id: Identifier | None = None
    conversation_id: Identifier
    sequence: Annotated[int, Field(ge=0, lt=2**63)] | None = None
    messages: Annotated[tuple[Message, ...], Field(min_length=1, max_length=MAX_MESSAGES)]
    occurred_at: Moment
    source: TurnSource = "chat"
    attachments: Annotated[tuple[Attachment, ...], Field(max_length=MAX_ATTACHMENTS)] = ()
    candidate: HotPathCandidate | None = None
    consent: Consent | None = None
    # Left out where there is none: a worker that knows version 1 alone takes what has no history, and the digest of a
    # turn is what it was.
    history: Annotated[tuple[Message, ...], Field(max_length=MAX_HISTORY_MESSAGES, exclude_if=_is_empty)] = ()
    metadata: Annotated[Metadata, Field(exclude_if=_is_empty)] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _of_its_version(self) -> Self:
        if (self.history or self.metadata) and self.schema_version < 2:
            raise ValueError("a turn with a history or metadata is one of schema_version 2; say so")
        return self

    @model_validator(mode="after")
    def _within_size(self) -> Self:
        size = sum(len(message.content.encode()) for message in (*self.messages, *self.history))
        if size > MAX_TURN_BYTES:
            raise ValueError(
                f"the turn has {size:,} bytes of text and at most {MAX_TURN_BYTES:,} are taken; "
                "send a longer text as a document"
            )
        pointers = sum(
            len(attachment.uri) + len(attachment.media_type) + len(attachment.title or "")
            for attachment in self.attachments
        )
        names = sum(len(message.name or "") for message in (*self.messages, *self.history))
        known = sum(len(name) + len(str(value)) for name, value in self.metadata.items())
        if size + 4 * (pointers + names + known) > MAX_WHOLE_TURN_BYTES:
            raise ValueError(
                "attachments, names and metadata are too long: with its text a turn may have "
                f"{MAX_WHOLE_TURN_BYTES:,} bytes"
            )
        fields = len(self.messages) + len(self.history) + len(self.attachments) + len(self.metadata)
        # A control character is six in JSON: only where that may be too much the turn is written out to know.
        if _ESCAPED * (size + pointers + names + known) + _A_FIELD * fields + _REST > MAX_WHOLE_TURN_BYTES:
            whole = len(self.canonical_json().encode())
            if whole > MAX_WHOLE_TURN_BYTES:
                raise ValueError(
                    f"the turn has {whole:,} bytes as JSON and at most {MAX_WHOLE_TURN_BYTES:,} are taken: it has many "
                    "short messages, or characters that no text has"
                )
        return self

    @property
    def subject(self) -> Subject:
        return Subject(tenant_id=self.tenant_id, subject_id=self.user_id)

    def canonical_json(self) -> str:
        """Return the turn as JSON, the same bytes for the same turn however it was built."""
        return self.model_dump_json(exclude_none=True)

    def digest(self) -> str:
        """Return the SHA-256 of the canonical JSON but for `occurred_at`: tells the same turn sent again from another
        turn under the same id. Who sends a turn need not say when it was said, and each who takes it in then says so by
        their own clock."""
        timeless = self.model_dump_json(exclude_none=True, exclude={"occurred_at"})
        return hashlib.sha256(timeless.encode()).hexdigest()

    def dated_digest(self) -> str:
        """Return the SHA-256 of the whole canonical JSON. Earlier revisions tell turns apart by it: what they wrote is
        known by it, and what they read is written with it."""
        return hashlib.sha256(self.canonical_json().encode()).hexdigest()

    def is_known_by(self, digest: str) -> bool:
        """Return whether a digest that was written down, by this revision or an earlier one, is of this turn."""
        return digest == self.digest() or digest == self.dated_digest()

    def text_of(self, role: Role) -> str:
        """Return all that one role said in the turn, a line a message."""
        return "\n".join(message.content for message in self.messages if message.role == role)

    def user_name(self) -> str | None:
        """Return the name that the user's messages carry, if any does: the one that is their id, or else the first."""
        names = [message.name for message in self.messages if message.role == "user" and message.name]
        own = (name for name in names if name.casefold() == self.user_id.casefold())
        return next(own, names[0] if names else None)
