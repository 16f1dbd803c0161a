"""Documents that agents keep for themselves, and the topic that one waits for a user to go on with.

Source: "VOS Memory System", "Agent Metadata". The document is the application's and goes as it came, past every
decision; the topic is what extraction keeps of a user who began to say something, and goes with their erasure.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from memory.context import MemoryContext
from memory.publish import publish
from memory.rights import require_writable, seen_of
from memory.statement_screening import NotKept, screened
from policies.access import require
from schema import Capability, Labels, OpenTopic, Principal, Subject, Visibility
from schema.errors import ConcurrentChange, Outdated
from stores.catalog import Changes
from stores.catalog.agents import AgentDocument

MAX_DOCUMENT_BYTES: Final = 64 * 1024
_SAID_IN: Final = "agent-metadata"
"""The turn of a topic that no turn left."""


@dataclass(frozen=True)
class AgentState:
    """An agent's document, and the topic that is open with a user: None where none is, or no user was named."""

    kept: AgentDocument
    topic: str | None


def read_agent(principal: Principal, agent_id: str, subject: Subject | None, context: MemoryContext) -> AgentState:
    """Return what an agent of the principal's tenant keeps, and the topic that is open with it and a subject.

    Raises:
        NotAllowed, NotAMember: the principal may not read, or nothing of the subject.
    """
    require(principal, Capability.READ)
    topic = None
    if subject is not None:
        seen_of(principal, subject, context.catalog)
        open_topics = context.catalog.open_topics(subject)
        topic = next((open_topic.text for open_topic, _ in open_topics if open_topic.agent_id == agent_id), None)
    return AgentState(context.catalog.agents.get(principal.tenant_id, agent_id), topic)


def replace_agent(
    principal: Principal,
    agent_id: str,
    document: Mapping[str, Any],
    context: MemoryContext,
    *,
    topics: Mapping[Subject, str | None],
    versions: Collection[int] | None,
    now: datetime,
) -> AgentDocument:
    """Put an agent's document in the place of the one that it keeps, with `versions` only while it is at one of those;
    and note the topics that it waits for subjects to go on with, None for no topic.

    Raises:
        NotAllowed, NotAMember: the principal may not write what is the agent's own, or nothing of a subject.
        NotKept: the document has more than 64 KiB as JSON, or a topic is on a blocked topic, a secret, or an order to
            the assistant; nothing was kept.
        Outdated: somebody else replaced the document; nothing was kept.
        ConcurrentChange: others go on replacing it; try again.
    """
    if Capability.WRITE not in principal.capabilities:
        require(principal, Capability.WRITE_OWN)
    size = len(json.dumps(document, ensure_ascii=False).encode())
    if size > MAX_DOCUMENT_BYTES:
        raise NotKept(f"an agent keeps at most {MAX_DOCUMENT_BYTES} bytes of JSON; this has {size}")
    opened = {subject: _topic(principal, agent_id, subject, topic, context) for subject, topic in topics.items()}
    store = context.catalog.agents
    stored = store.get(principal.tenant_id, agent_id)
    if versions is not None and stored.version not in versions:
        raise Outdated(f"the document is at version {stored.version}: read it again")
    try:
        kept = store.put(principal.tenant_id, agent_id, document, read=stored.version, now=now)
    except ConcurrentChange as error:
        if versions is not None:
            raise Outdated("somebody else has just replaced the document: read it again") from error
        raise
    for subject, topic in opened.items():
        publish(Changes(subject=subject, at=now, topics={agent_id: topic}), {}, context)
    return kept


def _topic(
    principal: Principal, agent_id: str, subject: Subject, text: str | None, context: MemoryContext
) -> OpenTopic | None:
    """Return a topic as it may be kept."""
    own = Labels(Visibility.INDIVIDUAL, subject.subject_id, principal.agent_id)
    shared = Labels(Visibility.PRIVATE, subject.subject_id, None)
    require_writable(principal, subject, own if principal.agent_id else shared, context.catalog)
    if text is None:
        return None
    kept = screened(text, context.catalog.preferences.of(subject), context)
    return OpenTopic(agent_id=agent_id, text=kept, turn_id=_SAID_IN)
