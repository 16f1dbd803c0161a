"""Resources that a client may read: a profile of a subject on one page, and a memory by its id."""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import Final
from urllib.parse import quote, unquote

from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, Resource, ResourceTemplate, TextResourceContents

from recall.profile import profile
from recall.tools import TOOLS, Failure, ToolContext, call
from schema import Subject

_SCHEME: Final = "memory://"
_PROFILE: Final = "profile"
TEMPLATE: Final = ResourceTemplate(
    uri_template=f"{_SCHEME}{{subject}}/{{memory_id}}",
    name="memory",
    title="A memory",
    description="One memory by its id, as JSON.",
    mime_type="application/json",
)


def profile_of(subject: Subject) -> Resource:
    """Return the resource that has all that is known of a subject."""
    return Resource(
        uri=profile_uri(subject),
        name=_PROFILE,
        title=f"What is known about {subject.subject_id}",
        description="All that is known from earlier conversations, by category, each with its id and day.",
        mime_type="text/markdown",
    )


def profile_uri(subject: Subject) -> str:
    return f"{_SCHEME}{quote(subject.subject_id, safe='')}/{_PROFILE}"


def read(uri: str, asking: ToolContext) -> TextResourceContents:
    """Return what a client asked to read, of a subject that it names: the principal decides what it sees of it.

    Raises:
        MCPError: there is no such resource, or none that the caller may see.
        NotAMember, NotAllowed: the same.
    """
    named, _, rest = uri.removeprefix(_SCHEME).partition("/")
    try:
        subject = Subject(tenant_id=asking.subject.tenant_id, subject_id=unquote(named))
        memory_id = None if rest == _PROFILE else uuid.UUID(rest)
    except ValueError as error:
        raise _no_such(uri) from error
    about = replace(asking, subject=subject)
    if memory_id is None:
        text = profile(about.principal, subject, about.memory)
        return TextResourceContents(uri=uri, mime_type="text/markdown", text=text)
    answer = call(TOOLS["get_memory"], {"memory_id": memory_id}, about)
    if isinstance(answer, Failure):
        raise _no_such(uri)
    memory = answer.model_dump_json(include={"memory"})
    return TextResourceContents(uri=uri, mime_type="application/json", text=memory)


def _no_such(uri: str) -> MCPError:
    return MCPError(INVALID_PARAMS, "there is no such resource", data={"uri": uri})
