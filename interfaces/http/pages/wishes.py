"""What a person wants of their memory: what waits for them, pause, topics, export, forgetting."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Annotated, Final

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import RedirectResponse, StreamingResponse
from pydantic import ValidationError

import interfaces.http.pages.words as words
from interfaces.http.pages.entering import Me, MyForm, subject_of_me, zone_of
from interfaces.http.pages.problems import PageRoute
from interfaces.http.pages.rendering import page
from interfaces.http.pages.sessions import COOKIE, Session, end_session
from interfaces.http.service import Opened
from memory.erasure.subjects import erase_subject
from memory.export import export
from memory.preferences import TooManyTopics, set_preference
from memory.reviews import NotOpen, NotWanted, approve, asked_in, reject
from schema import Asker, Preference, PreferenceName, ReviewStatus
from schema.errors import NotFound

router = APIRouter(include_in_schema=False, route_class=PageRoute)
_FORGET: Final = "forget everything"
"""What a person types to have everything forgotten."""


@router.get("/me/reviews")
def reviews(me: Me, service: Opened, done: str = "") -> Response:
    """Show what waits for the person's decision."""
    subject, catalog = subject_of_me(me), service.context.catalog
    waiting = catalog.reviews.page(subject)
    return page(
        "reviews.html",
        me,
        zone=zone_of(catalog.preferences.of(subject)),
        reviews=[(review, asked_in(review, catalog)) for review in waiting],
        about=catalog.memories(subject, {id_ for review in waiting for id_ in review.links}),
        told=words.DONE.get(done, ""),
    )


@router.post("/me/reviews/{review_id}")
def decide(
    review_id: uuid.UUID, me: MyForm, service: Opened, decision: Annotated[str, Form(pattern="^(keep|drop)$")]
) -> Response:
    """Keep what waits, or drop it."""
    review = service.context.catalog.reviews.get(review_id)
    if review is None or review.subject != subject_of_me(me) or review.status is not ReviewStatus.OPEN:
        raise NotFound("there is no such open review")
    try:
        # To approve of what a wish to forget may have meant is to drop it.
        if (decision == "keep") is (review.asked_by is not Asker.FORGETTING):
            approve(review_id, service.context, by=me.principal.key_id, now=datetime.now(UTC))
        else:
            reject(review_id, service.context, by=me.principal.key_id, now=datetime.now(UTC))
    except (NotOpen, NotWanted) as error:
        return page("problem.html", me, code=HTTPStatus.CONFLICT, message=str(error) or "It was decided before.")
    return RedirectResponse(f"/me/reviews?done={decision}", HTTPStatus.SEE_OTHER)


@router.get("/me/wishes")
def wishes(me: Me, service: Opened, done: str = "") -> Response:
    """Show what the person wants of their memory."""
    return _wishes(me, service, told=words.DONE.get(done, ""))


@router.post("/me/wishes/pause")
def pause(me: MyForm, service: Opened, paused: Annotated[bool, Form()]) -> Response:
    """Pause remembering, or go on."""
    _want(me, service, PreferenceName.CONSENT, "withdrawn" if paused else "granted")
    return RedirectResponse(f"/me/wishes?done={'paused' if paused else 'resumed'}", HTTPStatus.SEE_OTHER)


@router.post("/me/wishes/topics")
def topic(
    me: MyForm, service: Opened, name: Annotated[str, Form(max_length=60)], blocked: Annotated[bool, Form()]
) -> Response:
    """Have a topic left alone, or talked about again."""
    try:
        _want(me, service, PreferenceName.BLOCKED_TOPIC, name, holds=blocked)
    except (ValidationError, TooManyTopics):
        message = "Name a topic in 2 to 60 letters; there can be 50 of them."
        return _wishes(me, service, problem=message, code=HTTPStatus.UNPROCESSABLE_ENTITY)
    return RedirectResponse(f"/me/wishes?done={'blocked' if blocked else 'unblocked'}", HTTPStatus.SEE_OTHER)


@router.get("/me/export")
def my_export(me: Me, service: Opened) -> Response:
    """Hand out all that is known with the words it came from."""
    lines = (f"{line.rstrip()}\n" for line in export(service.context, subject=subject_of_me(me)))
    headers = {"Content-Disposition": 'attachment; filename="what-is-known-about-me.jsonl"'}
    return StreamingResponse(lines, media_type="application/x-ndjson", headers=headers)


@router.post("/me/forget")
def forget(
    me: MyForm, request: Request, service: Opened, confirm: Annotated[str, Form(max_length=100)] = ""
) -> Response:
    """Erase all that is known, and show the proof."""
    if confirm.strip().lower() != _FORGET:
        problem = f"Nothing was forgotten: type “{_FORGET}” to confirm."
        return _wishes(me, service, problem=problem, code=HTTPStatus.UNPROCESSABLE_ENTITY)
    proof = erase_subject(subject_of_me(me), service.context, by=me.principal.key_id, now=datetime.now(UTC))
    end_session(request.cookies.get(COOKIE, ""), service.context.redis)
    return page("forgotten.html", None, proof=proof)


def _wishes(
    me: Session, service: Opened, *, problem: str = "", told: str = "", code: HTTPStatus = HTTPStatus.OK
) -> Response:
    preferences = service.context.catalog.preferences.of(subject_of_me(me))
    return page("wishes.html", me, code=code, preferences=preferences, problem=problem, told=told, forget=_FORGET)


def _want(me: Session, service: Opened, name: PreferenceName, value: str, *, holds: bool = True) -> None:
    wish = Preference(name=name, value=value)
    now = datetime.now(UTC)
    set_preference(subject_of_me(me), wish, service.context, by=me.principal.key_id, now=now, holds=holds)
