"""Documents: which there are, what each says part by part, who may see it, and how it goes."""

from __future__ import annotations

from datetime import UTC, datetime
from http import HTTPStatus
from typing import Annotated, Final
from urllib.parse import unquote, urlencode

from fastapi import APIRouter, Depends, Path, Query, Response
from fastapi.responses import RedirectResponse

import interfaces.http.pages.wording as wording
from interfaces.http.pages.problems import PageRoute
from interfaces.http.pages.subject_view import STAFF_ROOT, Shown, ShownForm, note_look
from interfaces.http.query_parameters import Cursor
from interfaces.http.service import Opened
from memory.documents.delete import delete_document
from memory.documents.rights import visible_document
from memory.rights import require_deletable
from policies.access import shares
from recall.documents import list_documents, parts_of

router = APIRouter(include_in_schema=False, route_class=PageRoute)
_A_PAGE: Final = 50


def _named(document_id: Annotated[str, Path(max_length=2_000)]) -> str:
    return unquote(document_id)


Named = Annotated[str, Depends(_named)]
"""A document's id, of what `as_path` makes of it."""


@router.get("/me/documents")
@router.get(f"{STAFF_ROOT}/documents")
def listed(view: Shown, service: Opened, cursor: Cursor = "", done: str = "") -> Response:
    """List the documents, without what they say."""
    note_look(view, service, "listed documents")
    documents, following = list_documents(
        view.reader, view.subject, service.context.catalog, cursor=cursor, limit=_A_PAGE
    )
    return view.page(
        "documents.html",
        documents=documents,
        following=following and urlencode({"cursor": following}),
        is_first=not cursor,
        notice=wording.after(done),
    )


@router.get("/me/documents/{document_id}")
@router.get(f"{STAFF_ROOT}/documents/{{document_id}}")
def opened(
    document_id: Named, view: Shown, service: Opened, part: Annotated[int, Query(ge=1, le=1_000_000)] = 1
) -> Response:
    """Show a document with its parts marked, from the page on which one of them stands, and who may see it."""
    note_look(view, service, "opened a document", document_id=document_id)
    first = part - (part - 1) % _A_PAGE
    catalog = service.context.catalog
    shown = parts_of(view.reader, view.subject, document_id, catalog, first=first, limit=_A_PAGE)
    behind = first + _A_PAGE
    return view.page(
        "document.html",
        document=shown.document,
        parts=shown.parts,
        total=shown.total,
        members=[
            member for member in catalog.members.of(view.subject) if shares(member.role, shown.document.visibility)
        ],
        following=urlencode({"part": behind}) if behind <= shown.total else None,
        is_first=first == 1,
    )


@router.post("/me/documents/{document_id}/delete")
@router.post(f"{STAFF_ROOT}/documents/{{document_id}}/delete")
def delete(document_id: Named, view: ShownForm, service: Opened) -> Response:
    """Delete a document with all that is searchable of it."""
    document = visible_document(view.reader, view.subject, document_id, service.context.catalog)
    # On these pages the person keeps their own archive, of which they see no document that is another's alone.
    require_deletable(view.reader)
    reason = "deleted for its person" if view.is_staff else "deleted by its person"
    delete_document(document, service.context, by=view.by, reason=reason, now=datetime.now(UTC))
    return RedirectResponse(f"{view.root}/documents?done=delete", HTTPStatus.SEE_OTHER)
