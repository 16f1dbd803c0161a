"""Legal holds of a tenant over HTTP: what is under one, and to place and lift them."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from typing import Annotated, Any, Self

from fastapi import APIRouter, Query
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints, model_validator

from interfaces.http.credentials import Admin
from interfaces.http.idempotency import OnceOnly
from interfaces.http.query_parameters import Cursor
from interfaces.http.service import Opened
from memory.legal_holds import MAX_WHY_CHARS, set_legal_hold
from recall.legal_holds import LegalHold, list_legal_holds
from schema import Principal, Subject
from schema.base import NO_NUL
from schema.turn import Identifier

router = APIRouter(prefix="/api/v1/legal-holds", tags=["legal_holds"])


class HoldsIn(BaseModel):
    """Memories and documents of one subject, and why: a case and its number, say, and never what they say."""

    model_config = ConfigDict(extra="forbid")

    subject_id: Identifier
    memory_ids: Annotated[list[uuid.UUID], Field(max_length=100)] = []
    document_ids: Annotated[list[Identifier], Field(max_length=100)] = []
    why: Annotated[
        str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_WHY_CHARS, pattern=NO_NUL)
    ]

    @model_validator(mode="after")
    def _names_something(self) -> Self:
        if not self.memory_ids and not self.document_ids:
            raise ValueError("name a memory or a document")
        return self


class ChangedOut(BaseModel):
    """Those of which it was news; the others were as they were to be already."""

    memory_ids: list[uuid.UUID]
    document_ids: list[str]


class LegalHoldOut(BaseModel):
    """A memory, or a document, under legal hold: since when, by whom and why, as far as the audit says so."""

    subject_id: str
    memory_id: uuid.UUID | None
    document_id: str | None
    since: AwareDatetime | None
    by: str | None
    why: str | None


class LegalHoldsOut(BaseModel):
    """A page of what is under legal hold; `cursor` asks for the next one, and is null on the last."""

    items: list[LegalHoldOut]
    cursor: str | None


@router.get("", summary="List what is under legal hold")
def list_(
    principal: Admin,
    service: Opened,
    subject_id: Annotated[Identifier | None, Query(description="unset: of everybody of the tenant")] = None,
    cursor: Cursor = "",
    limit: Annotated[int, Query(ge=1, le=100)] = 50,
) -> LegalHoldsOut:
    """List memories, and then documents, under legal hold by whose they are. By its cursor a list is complete while
    others write: what is held all the time comes exactly once."""
    held, following = list_legal_holds(
        principal.tenant_id, service.context.catalog, subject_id=subject_id or "", cursor=cursor, limit=limit
    )
    return LegalHoldsOut(items=[_out(hold) for hold in held], cursor=following or None)


@router.post("", summary="Put memories and documents under legal hold")
def place(given: HoldsIn, principal: Admin, service: Opened, once: OnceOnly) -> ChangedOut:
    """Place a legal hold on all that is named, or on nothing: from now on nothing deletes it, and an erasure that would
    is refused (409). Placing it again changes nothing."""
    return ChangedOut.model_validate(once(lambda: _set(given, principal, service, holds=True)))


@router.post("/lift", summary="Lift legal holds")
def lift(given: HoldsIn, principal: Admin, service: Opened, once: OnceOnly) -> ChangedOut:
    """Lift the legal hold of all that is named, or of nothing: it fades, and may be erased, as any other. Lifting it
    again changes nothing."""
    return ChangedOut.model_validate(once(lambda: _set(given, principal, service, holds=False)))


def _set(given: HoldsIn, principal: Principal, service: Opened, *, holds: bool) -> dict[str, Any]:
    changed = set_legal_hold(
        Subject(tenant_id=principal.tenant_id, subject_id=given.subject_id),
        given.memory_ids,
        service.context,
        document_ids=given.document_ids,
        why=given.why,
        by=principal.key_id,
        now=datetime.now(UTC),
        holds=holds,
    )
    return {
        "memory_ids": [str(memory.id) for memory in changed.memories],
        "document_ids": [document.document_id for document in changed.documents],
    }


def _out(hold: LegalHold) -> LegalHoldOut:
    line = hold.line
    return LegalHoldOut(
        subject_id=hold.subject.subject_id,
        memory_id=hold.memory_id,
        document_id=hold.document_id,
        since=line and line.at,
        by=line and line.by,
        why=line and line.reason,
    )
