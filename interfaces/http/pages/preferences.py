"""Pages of a person's preferences: reviews that wait for them, pause, topics, export, forgetting."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Annotated, Final

from fastapi import APIRouter, Form, Response
from fastapi.responses import RedirectResponse, StreamingResponse
from pydantic import ValidationError

import interfaces.http.pages.wording as wording
from interfaces.erasing import erase
from interfaces.http.pages.language import gettext, marked
from interfaces.http.pages.problems import PageRoute
from interfaces.http.pages.rendering import page
from interfaces.http.pages.sessions import end_sessions
from interfaces.http.pages.subject_view import STAFF_ROOT, Shown, ShownForm, View, note_look
from interfaces.http.query_parameters import Cursor
from interfaces.http.service import Opened
from memory.export import export
from memory.preferences import TooManyTopics, set_preference
from memory.reviews import NotOpen, NotWanted, approve, asked_in, hidden_by, is_for, reject
from memory.rights import seen_of
from policies.access import may_see
from recall.reviews import list_open_reviews
from schema import Asker, Preference, PreferenceName, Review, ReviewStatus
from schema.errors import NotFound
from schema.preferences import conversation_key
from schema.turn import Identifier

router = APIRouter(include_in_schema=False, route_class=PageRoute)
_FORGET: Final = marked("forget everything")
"""The words that a person types to have everything forgotten."""


@router.get("/me/reviews")
@router.get(f"{STAFF_ROOT}/reviews")
def reviews(view: Shown, service: Opened, cursor: Cursor = "", done: str = "") -> Response:
    """Show what waits for the person's decision."""
    note_look(view, service, "opened what waits")
    subject, catalog = view.subject, service.context.catalog
    seen = seen_of(view.reader, subject, catalog)
    waiting, following = list_open_reviews(seen, subject, catalog, cursor=cursor)
    about = catalog.memories(subject, {id_ for review in waiting for id_ in review.links})
    return view.page(
        "reviews.html",
        reviews=[
            (review, asked_in(review, catalog), hidden_by(review, catalog) if _is_wish(review) else [])
            for review in waiting
        ],
        about={id_: memory for id_, memory in about.items() if may_see(seen, memory.labels)},
        following=following,
        is_first=not cursor,
        notice=wording.after(done),
    )


@router.post("/me/reviews/{review_id}")
@router.post(f"{STAFF_ROOT}/reviews/{{review_id}}")
def decide(
    review_id: uuid.UUID,
    view: ShownForm,
    service: Opened,
    decision: Annotated[str, Form(pattern="^(keep|drop)$")],
    memory: Annotated[tuple[uuid.UUID, ...], Form()] = (),
) -> Response:
    """Keep what waits, or drop it; of what a wish to forget hid, the memories that are named, and keep the others."""
    catalog = service.context.catalog
    review = catalog.reviews.get(review_id)
    if (
        review is None
        or review.subject != view.subject
        or review.status is not ReviewStatus.OPEN
        or not is_for(seen_of(view.reader, view.subject, catalog), review, catalog)
    ):
        raise NotFound("there is no such open review")
    try:
        # To approve of what a wish to forget may have meant is to drop it.
        if _is_wish(review) and decision == "drop" and memory:
            approve(review_id, service.context, by=view.by, now=datetime.now(UTC), only=memory)
        elif not _is_wish(review) and decision == "keep":
            approve(review_id, service.context, by=view.by, now=datetime.now(UTC))
        else:
            reject(review_id, service.context, by=view.by, now=datetime.now(UTC))
    except (NotOpen, NotWanted) as error:
        return page(
            "problem.html",
            view.session,
            code=HTTPStatus.CONFLICT,
            message=str(error) or gettext("It was decided before."),
        )
    dropped = decision == "drop" and (memory or not _is_wish(review))
    return RedirectResponse(f"{view.root}/reviews?done={'drop' if dropped else 'keep'}", HTTPStatus.SEE_OTHER)


@router.get("/me/preferences")
@router.get(f"{STAFF_ROOT}/preferences")
def preferences(view: Shown, service: Opened, done: str = "") -> Response:
    """Show what the person wants of their memory."""
    note_look(view, service, "opened what they want")
    return _preferences_page(view, notice=wording.after(done))


@router.post("/me/preferences/pause")
@router.post(f"{STAFF_ROOT}/preferences/pause")
def pause(view: ShownForm, service: Opened, paused: Annotated[bool, Form()]) -> Response:
    """Pause remembering, or go on."""
    _set(view, service, PreferenceName.CONSENT, "withdrawn" if paused else "granted")
    return RedirectResponse(f"{view.root}/preferences?done={'paused' if paused else 'resumed'}", HTTPStatus.SEE_OTHER)


@router.post("/me/preferences/conversations")
@router.post(f"{STAFF_ROOT}/preferences/conversations")
def conversation(
    view: ShownForm, service: Opened, name: Annotated[Identifier, Form()], paused: Annotated[bool, Form()]
) -> Response:
    """Pause remembering for one conversation, or go on with it."""
    try:
        _set(view, service, PreferenceName.PAUSED_CONVERSATION, conversation_key(name), holds=paused)
    except TooManyTopics as error:
        return _preferences_page(view, problem=f"{error}.".capitalize(), code=HTTPStatus.UNPROCESSABLE_ENTITY)
    return RedirectResponse(f"{view.root}/preferences?done={'quiet' if paused else 'heard'}", HTTPStatus.SEE_OTHER)


@router.post("/me/preferences/topics")
@router.post(f"{STAFF_ROOT}/preferences/topics")
def topic(
    view: ShownForm, service: Opened, name: Annotated[str, Form(max_length=60)], blocked: Annotated[bool, Form()]
) -> Response:
    """Have a topic left alone, or talked about again."""
    try:
        _set(view, service, PreferenceName.BLOCKED_TOPIC, name, holds=blocked)
    except (ValidationError, TooManyTopics):
        message = gettext("Name a topic in 2 to 60 letters; there can be 50 of them.")
        return _preferences_page(view, problem=message, code=HTTPStatus.UNPROCESSABLE_ENTITY)
    return RedirectResponse(
        f"{view.root}/preferences?done={'blocked' if blocked else 'unblocked'}", HTTPStatus.SEE_OTHER
    )


@router.get("/me/export")
@router.get(f"{STAFF_ROOT}/export")
def my_export(view: Shown, service: Opened) -> Response:
    """Hand out all that is known with the words it came from."""
    note_look(view, service, "exported all that is known")
    seen = seen_of(view.reader, view.subject, service.context.catalog)
    lines = (f"{line.rstrip()}\n" for line in export(service.context, subject=view.subject, seen=seen))
    headers = {"Content-Disposition": 'attachment; filename="what-is-known.jsonl"'}
    return StreamingResponse(lines, media_type="application/x-ndjson", headers=headers)


@router.post("/me/forget")
@router.post(f"{STAFF_ROOT}/forget")
def forget(view: ShownForm, service: Opened, confirm: Annotated[str, Form(max_length=100)] = "") -> Response:
    """Erase all that is known, and show the proof."""
    if confirm.strip().lower() != gettext(_FORGET).lower():
        problem = gettext("Nothing was forgotten: type “%(words)s” to confirm.") % {"words": gettext(_FORGET)}
        return _preferences_page(view, problem=problem, code=HTTPStatus.UNPROCESSABLE_ENTITY)
    proof = erase(view.subject, service.context, by=view.by)
    end_sessions(view.subject.tenant_id, view.subject.subject_id, service.context.redis)
    if view.is_staff:
        return page("forgotten.html", view.session, proof=proof)
    return page("forgotten.html", None, proof=proof)


def _is_wish(review: Review) -> bool:
    return review.asked_by is Asker.FORGETTING


def _preferences_page(view: View, *, problem: str = "", notice: str = "", code: HTTPStatus = HTTPStatus.OK) -> Response:
    return view.page(
        "preferences.html",
        code=code,
        preferences=view.preferences,
        problem=problem,
        notice=notice,
        forget=gettext(_FORGET),
    )


def _set(view: View, service: Opened, name: PreferenceName, value: str, *, holds: bool = True) -> None:
    preference = Preference(name=name, value=value)
    now = datetime.now(UTC)
    set_preference(view.subject, preference, service.context, by=view.by, now=now, holds=holds)
