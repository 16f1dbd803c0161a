"""Documents that agents keep for themselves, over HTTP.

Source: "VOS Memory System", "Agent Metadata", whose routes and field these are.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, Final

from fastapi import APIRouter, Body, Query, Response
from fastapi.exceptions import RequestValidationError
from pydantic import AfterValidator, StringConstraints, TypeAdapter, ValidationError

from interfaces.http.credentials import Asker
from interfaces.http.etags import IfMatch, TellETag, etag_of, versions_in
from interfaces.http.service import Opened
from memory.agents import read_agent, replace_agent
from policies.access import acting
from policies.items import checked_json
from schema import Principal, Subject
from schema.context import MAX_TOPIC_CHARS
from schema.turn import Identifier

router = APIRouter(prefix="/api/v1/agents/{agent_id}/metadata", tags=["agents"])

_TOPIC: Final = "memory_creator_wait_topic"
_topics: Final[TypeAdapter[str | None]] = TypeAdapter(
    Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_TOPIC_CHARS)] | None
)
User = Annotated[Identifier | None, Query(description="with whom a topic is open; unset: the key's user")]
Metadata = Annotated[
    dict[str, Any],
    AfterValidator(checked_json),
    Body(
        description=f"at most 64 KiB; `{_TOPIC}` is what the agent waits for the user to go on with (null: for "
        "nothing), and stays as it is where it is left out"
    ),
]


@router.get("", summary="What an agent keeps for itself")
def read(
    agent_id: Identifier, principal: Asker, service: Opened, tell_etag: TellETag, user_id: User = None
) -> dict[str, Any]:
    """Return the document of an agent, empty where it keeps none, and the topic that is open with it and a user."""
    asker = acting(principal, user_id, agent_id)
    state = read_agent(asker, agent_id, _subject(asker), service.context)
    tell_etag(state.kept.version)
    return {**state.kept.document, _TOPIC: state.topic}


@router.put("", summary="Replace what an agent keeps for itself")
def replace(
    agent_id: Identifier,
    given: Metadata,
    principal: Asker,
    service: Opened,
    response: Response,
    user_id: User = None,
    if_match: IfMatch = None,
) -> dict[str, Any]:
    """Replace the document of an agent; with If-Match only while it is at that version, else 412."""
    asker = acting(principal, user_id, agent_id)
    subject, now = _subject(asker), datetime.now(UTC)
    document = {name: value for name, value in given.items() if name != _TOPIC}
    versions = versions_in(if_match)
    topic = _topic_in(given, subject)
    topics = {subject: topic} if _TOPIC in given and subject is not None else {}
    kept = replace_agent(asker, agent_id, document, service.context, topics=topics, versions=versions, now=now)
    response.headers["ETag"] = etag_of(kept.version)
    return {**kept.document, _TOPIC: read_agent(asker, agent_id, subject, service.context).topic}


def _subject(asker: Principal) -> Subject | None:
    return Subject(tenant_id=asker.tenant_id, subject_id=asker.user_id) if asker.user_id else None


def _topic_in(given: dict[str, Any], subject: Subject | None) -> str | None:
    try:
        topic = _topics.validate_python(given.get(_TOPIC))
    except ValidationError as error:
        wrong = [{**detail, "loc": ("body", _TOPIC)} for detail in error.errors(include_input=False)]
        raise RequestValidationError(wrong) from None
    if topic is not None and subject is None:
        wrong = [{"loc": ("query", "user_id"), "msg": "say with whom the topic is open", "type": "missing"}]
        raise RequestValidationError(wrong)
    return topic
