"""Preferences of a subject, over HTTP: consent, time zone, topics, paused conversations."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Literal

from fastapi import APIRouter, Response
from pydantic import BaseModel, ConfigDict, computed_field

from interfaces.http.etags import IfMatch, TellETag, etag_of, names_in
from interfaces.http.service import Opened
from interfaces.http.subjects import About, require_write
from memory.preferences import set_preferences
from memory.rights import require_person, require_shared
from schema import Preference, PreferenceName, Preferences
from schema.preferences import TimeZone, Topic, conversation_key
from schema.turn import Identifier

router = APIRouter(prefix="/api/v1/subjects/{subject_id}", tags=["subjects"])


class WantedIn(BaseModel):
    """The subject's preferences from now on; what is left out stays as it is."""

    model_config = ConfigDict(extra="forbid")

    consent: Literal["granted", "withdrawn"] | None = None
    time_zone: TimeZone | None = None


class PreferencesOut(Preferences):
    """All that a subject wants, as far as it is known; its `etag` is what a change may name in If-Match."""

    @computed_field  # type: ignore[prop-decorator]
    @property
    def etag(self) -> str:
        return super().etag


@router.get("/preferences", summary="What a subject wants of their memory")
def preferences(about: About, service: Opened, tell_etag: TellETag) -> PreferencesOut:
    """Tell consent, blocked topics and time zone, as far as they are known: to those who see what members share."""
    require_shared(about.principal, about.subject, service.context.catalog)
    wanted = PreferencesOut(**dict(service.context.catalog.preferences.of(about.subject)))
    tell_etag(wanted.etag)
    return wanted


@router.patch("/preferences", summary="Give or withdraw consent, or say where the subject lives")
def change_preferences(
    given: WantedIn, about: About, service: Opened, response: Response, if_match: IfMatch = None
) -> PreferencesOut:
    """Set consent or the time zone, or both at once; with If-Match only while what is wanted is what was read. While
    consent is withdrawn nothing is kept."""
    named = (PreferenceName.CONSENT, given.consent), (PreferenceName.TIME_ZONE, given.time_zone)
    wanted = [Preference(name=name, value=value) for name, value in named if value is not None]
    return _set(about, wanted, service, response, holds=True, if_match=if_match)


@router.put("/topics/{topic}", summary="Keep and tell nothing on a topic from now on")
def block_topic(
    topic: Topic, about: About, service: Opened, response: Response, if_match: IfMatch = None
) -> PreferencesOut:
    """Block a topic. What is known of it stays and is not told; erase it if it should go."""
    return _set(about, [_blocked(topic)], service, response, holds=True, if_match=if_match)


@router.delete("/topics/{topic}", summary="Let a topic be kept and told again")
def unblock_topic(
    topic: Topic, about: About, service: Opened, response: Response, if_match: IfMatch = None
) -> PreferencesOut:
    """Unblock a topic."""
    return _set(about, [_blocked(topic)], service, response, holds=False, if_match=if_match)


@router.put("/paused-conversations/{conversation_id}", summary="Keep nothing of a conversation from now on")
def pause_conversation(
    conversation_id: Identifier, about: About, service: Opened, response: Response, if_match: IfMatch = None
) -> PreferencesOut:
    """Pause remembering for one conversation. What is known of it stays; what is said in others is kept as ever."""
    return _set(about, [_paused(conversation_id)], service, response, holds=True, if_match=if_match)


@router.delete("/paused-conversations/{conversation_id}", summary="Let a conversation be remembered again")
def resume_conversation(
    conversation_id: Identifier, about: About, service: Opened, response: Response, if_match: IfMatch = None
) -> PreferencesOut:
    """Go on remembering what is said in a conversation."""
    return _set(about, [_paused(conversation_id)], service, response, holds=False, if_match=if_match)


def _blocked(topic: str) -> Preference:
    return Preference(name=PreferenceName.BLOCKED_TOPIC, value=topic)


def _paused(conversation_id: str) -> Preference:
    return Preference(name=PreferenceName.PAUSED_CONVERSATION, value=conversation_key(conversation_id))


def _set(
    about: About, wanted: list[Preference], service: Opened, response: Response, *, holds: bool, if_match: IfMatch
) -> PreferencesOut:
    require_write(about, service)
    require_person(about.principal)
    preferences = set_preferences(
        about.subject,
        wanted,
        service.context,
        by=about.principal.key_id,
        now=datetime.now(UTC),
        holds=holds,
        etags=names_in(if_match),
    )
    response.headers["ETag"] = etag_of(preferences.etag)
    return PreferencesOut(**dict(preferences))
