"""Query parameters of routes: who asks about whose memories, and which of them are wanted."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Query
from pydantic import BaseModel, ConfigDict, StringConstraints

from interfaces.http.credentials import Asker, subject_of
from policies.access import acting
from recall.cursors import MOST_CHARS
from recall.filters import Filters
from recall.memory_out import VISIBILITIES_OF, Scope
from schema import Capability, Kind, MemoryType, Principal, Subject
from schema.base import NO_NUL
from schema.turn import Identifier, Moment

UserId = Annotated[Identifier | None, Query(description="whose memory; unset: the key's user")]
SubjectId = Annotated[Identifier | None, Query(description="a subject that is not the user, such as a story archive")]
WroteIt = Annotated[
    Identifier | None,
    Query(
        description="what this agent wrote; a key with the capability act_as asks as that agent, and so finds what it "
        "keeps for itself"
    ),
]
_Text = Annotated[str, StringConstraints(pattern=NO_NUL)]

Cursor = Annotated[str, Query(max_length=MOST_CHARS, description="where the page before ended; unset: the first")]


class Asked(BaseModel):
    """Who asks about whom."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    principal: Principal
    subject: Subject


async def _asked(
    principal: Asker,
    user_id: UserId = None,
    subject_id: SubjectId = None,
    agent_id: Annotated[Identifier | None, Query(description="which agent asks, with the capability act_as")] = None,
) -> Asked:
    asker = acting(principal, user_id, agent_id)
    return Asked(principal=asker, subject=subject_of(asker, subject_id or user_id))


async def _asked_of_many(
    principal: Asker,
    user_id: UserId = None,
    subject_id: SubjectId = None,
    agent_id: WroteIt = None,
    as_agent: Annotated[Identifier | None, Query(description="which agent asks, with the capability act_as")] = None,
) -> Asked:
    may_name_it = principal.agent_id is None and Capability.ACT_AS in principal.capabilities
    asker = acting(principal, user_id, as_agent or (agent_id if may_name_it else None))
    return Asked(principal=asker, subject=subject_of(asker, subject_id or user_id))


async def _filters(
    memory_type: Annotated[list[Kind], Query(description="any of these")] = [],  # noqa: B006
    type: Annotated[list[MemoryType], Query(description="any of these")] = [],  # noqa: B006
    category: Annotated[list[_Text], Query(description="any of these")] = [],  # noqa: B006
    scope: Scope | None = None,
    tags: Annotated[str, Query(description="with commas between: all of them")] = "",
    agent_id: WroteIt = None,
    min_importance: Annotated[float, Query(ge=0, le=1)] = 0.0,
    min_confidence: Annotated[float, Query(ge=0, le=1)] = 0.0,
    since: Annotated[Moment | None, Query(description="said at this moment or later")] = None,
    until: Annotated[Moment | None, Query(description="said before this moment")] = None,
) -> Filters:
    return Filters(
        kinds=tuple(memory_type),
        types=tuple(type),
        categories=tuple(category),
        visibilities=VISIBILITIES_OF[scope],
        tags=tuple(tag.strip().lower() for tag in tags.split(",") if tag.strip()),
        agent_ids=() if agent_id is None else (agent_id,),
        min_importance=min_importance,
        min_confidence=min_confidence,
        since=since,
        until=until,
    )


About = Annotated[Asked, Depends(_asked)]
"""A route's parameter: who asks about whom, for one memory."""
AboutMany = Annotated[Asked, Depends(_asked_of_many)]
"""A route's parameter: who asks about whom, for a search or a list, where `agent_id` says what is wanted."""
Wanted = Annotated[Filters, Depends(_filters)]
"""A route's parameter: which memories are wanted."""
