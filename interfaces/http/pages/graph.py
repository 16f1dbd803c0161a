"""How what is known hangs together: entities and facts as a picture and a table, and a fact through its changes."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Final
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Response

import interfaces.http.pages.wording as wording
from interfaces.http.pages.graph_drawing import draw, draw_bars
from interfaces.http.pages.problems import PageRoute
from interfaces.http.pages.subject_view import STAFF_ROOT, Shown, note_look
from interfaces.http.service import Opened
from recall.registry import changes_of, facts_of
from schema.errors import NotFound

router = APIRouter(include_in_schema=False, route_class=PageRoute)
_USER: Final = "user"


@router.get("/me/graph")
@router.get(f"{STAFF_ROOT}/graph")
def graph(
    view: Shown,
    service: Opened,
    about: Annotated[str, Query(max_length=300)] = "",
    cursor: Annotated[str, Query(max_length=300)] = "",
) -> Response:
    """Show the latest facts, or those about a name."""
    note_look(view, service, "looked at how it hangs together")
    whose = view.subject.subject_id if view.is_staff else ""
    stated, following = facts_of(view.reader, view.subject, service.context, about=about.strip(), cursor=cursor)
    return view.page(
        "graph.html",
        about=about.strip(),
        stated=stated,
        drawing=draw(stated, about.strip() or _USER, lambda name: wording.named(name, whose)),
        is_first=not cursor,
        following=following and urlencode({"about": about, "cursor": following}),
    )


@router.get("/me/timeline")
@router.get(f"{STAFF_ROOT}/timeline")
def timeline(
    view: Shown,
    service: Opened,
    entity: Annotated[str, Query(min_length=1, max_length=300)],
    attribute: Annotated[str, Query(min_length=1, max_length=60)],
) -> Response:
    """Show what a fact was, one after the other."""
    note_look(view, service, "looked at a fact through time")
    spans = changes_of(view.reader, view.subject, entity, attribute, service.context)
    if not spans:
        raise NotFound("no such fact is known")
    return view.page(
        "timeline.html",
        entity=entity,
        attribute=attribute,
        bars=draw_bars(spans, datetime.now(UTC)),
    )
