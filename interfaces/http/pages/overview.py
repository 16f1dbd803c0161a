"""All that is known about the person before the page: grouped, searched, filtered, and told anew when it changes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from http import HTTPStatus
from itertools import groupby
from typing import Annotated, Final
from urllib.parse import urlencode

from fastapi import APIRouter, Header, Query, Request, Response
from fastapi.responses import RedirectResponse
from fastapi.sse import EventSourceResponse, ServerSentEvent

import interfaces.http.pages.wording as wording
from interfaces.http.events import heard_by
from interfaces.http.pages.language import gettext
from interfaces.http.pages.problems import NotADay, PageRoute
from interfaces.http.pages.sign_in import Me, session_here, subject_of_me
from interfaces.http.pages.subject_view import STAFF_ROOT, Shown, note_look
from interfaces.http.service import Opened
from memory.rights import seen_of
from recall.events import Listener, last_entry, listener_of
from recall.excerpts import Excerpt, find_excerpts
from recall.filters import Filters
from recall.listing import list_memories
from recall.registry import find_known, quotes_of
from recall.reviews import count_open_reviews
from schema import MemoryType, Status

router = APIRouter(include_in_schema=False, route_class=PageRoute)
_A_PAGE: Final = 50
_FOUND: Final = 20
"""Answers of a search that are shown."""
_EVERYTHING: Final = "everything"
_ENTRY: Final = r"^\d{1,20}-\d{1,20}$"
"""An entry of a stream."""
_SHOWN: Final = {
    Status.ACTIVE.value: (Status.ACTIVE,),
    Status.SUPERSEDED.value: (Status.SUPERSEDED,),
    Status.ARCHIVED.value: (Status.ARCHIVED,),
    _EVERYTHING: (Status.ACTIVE, Status.PROVISIONAL, Status.SUPERSEDED, Status.ARCHIVED),
}


@router.get("/")
def front() -> RedirectResponse:
    """Lead whoever opens the service's address in a browser to their memory."""
    return RedirectResponse("/me", status_code=HTTPStatus.SEE_OTHER)


@router.get("/me")
@router.get(STAFF_ROOT)
def overview(
    view: Shown,
    service: Opened,
    ask: Annotated[str, Query(max_length=500)] = "",
    kind: Annotated[str, Query(alias="type", max_length=20)] = "",
    state: Annotated[str, Query(alias="status", max_length=20)] = Status.ACTIVE.value,
    since: Annotated[str, Query(max_length=10)] = "",
    until: Annotated[str, Query(max_length=10)] = "",
    cursor: Annotated[str | None, Query(max_length=300)] = None,
    done: str = "",
) -> Response:
    """Show all that is known, by category, or what answers a question."""
    subject, stores, zone = view.subject, service.context, view.zone
    # Before anything is read: what is written meanwhile is told to the page once it listens.
    listens_from = "" if view.is_staff or cursor else last_entry(subject, stores.redis)
    note_look(view, service, "searched what is known" if ask.strip() else "listed what is known")
    state = state if state in _SHOWN else Status.ACTIVE.value
    filters = Filters(
        types=(MemoryType(kind),) if kind in set(MemoryType) else (),
        statuses=_SHOWN[state],
        since=begin_of_day(since, zone),
        until=begin_of_day(until, zone, days=1),
    )
    seen = seen_of(view.reader, subject, stores.catalog)
    following: str | None = None
    excerpts: Sequence[Excerpt] = ()
    if ask.strip():
        now = datetime.now(UTC)
        memories = find_known(view.reader, subject, ask, stores, filters=filters, limit=_FOUND, now=now)
        groups = [(gettext("What answers best"), memories)] if memories else []
        excerpts = find_excerpts(view.reader, [subject], ask, stores)
    else:
        listed = list_memories(view.reader, subject, stores, filters=filters, cursor=cursor, limit=_A_PAGE)
        memories, following = listed.memories, listed.cursor
        by_category = sorted(memories, key=lambda memory: memory.category)
        groups = [
            (name.replace("_", " "), list(in_category))
            for name, in_category in groupby(by_category, key=lambda memory: memory.category)
        ]
    wanted = {"ask": ask, "type": kind, "status": state, "since": since, "until": until}
    return view.page(
        "overview.html",
        groups=groups,
        shown=len(memories) + len(excerpts),
        excerpts=excerpts,
        quotes=quotes_of(view.reader, subject, memories, stores),
        wanted=wanted,
        is_filtered=bool(kind or since or until or state != Status.ACTIVE.value),
        states=[
            (name, gettext(wording.STATUS[Status(name)]) if name != _EVERYTHING else gettext("everything"))
            for name in _SHOWN
        ],
        following=following and urlencode({**wanted, "cursor": following}),
        is_first=cursor is None,
        listens_from=listens_from,
        waiting=count_open_reviews(seen, subject, stores.catalog),
        preferences=view.preferences,
        notice=wording.after(done),
    )


@router.get("/me/live", response_class=EventSourceResponse)
async def live(
    request: Request,
    _me: Me,
    service: Opened,
    after: Annotated[str | None, Query(pattern=_ENTRY)] = None,
    last_event_id: Annotated[str | None, Header(pattern=_ENTRY)] = None,
) -> AsyncIterator[ServerSentEvent]:
    """Tell the page that something changed behind the entry `after`, not what, until the person signs out.

    A browser that comes back to a broken stream names what it heard last in `Last-Event-ID`.
    """
    yield ServerSentEvent(comment="listening")

    def listening() -> Listener:
        me = session_here(request, service)
        return listener_of(me.principal, subject_of_me(me), None)

    async for event in heard_by(listening, last_event_id or after, service):
        if event is None:
            yield ServerSentEvent(comment="still here")
        else:
            yield ServerSentEvent(event="changed", id=event.id, data="")


def begin_of_day(text: str, zone: tzinfo = UTC, days: int = 0) -> datetime | None:
    """Return when, in UTC, a day begins where the person is, or the day some days after it; None where none is named.

    Raises:
        NotADay: the text is none.
    """
    if not text:
        return None
    try:
        day = date.fromisoformat(text) + timedelta(days=days)
        return datetime.combine(day, time(), zone).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise NotADay from error
