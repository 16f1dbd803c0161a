"""Prompts that a person may pick in a client: a question with what is known about it, and what is known about them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    EmbeddedResource,
    GetPromptResult,
    Prompt,
    PromptArgument,
    PromptMessage,
    TextContent,
)

from interfaces.mcp.resources import profile_uri, read
from recall.context_block import context_block
from recall.tools import ToolContext

_CONTEXT: Final = "context"
_KNOWN: Final = "what_is_known"
_MOST_CHARS: Final = 4_000
PROMPTS: Final = (
    Prompt(
        name=_CONTEXT,
        title="Ask with what is known",
        description="A question, after what is known from earlier conversations that bears on it.",
        arguments=[PromptArgument(name="question", description="What to ask.", required=True)],
    ),
    Prompt(
        name=_KNOWN,
        title="What do you know about me?",
        description="All that is known from earlier conversations, for the assistant to tell in its words.",
    ),
)


def prompt(name: str, arguments: Mapping[str, str], asking: ToolContext) -> GetPromptResult:
    """Return the messages of a prompt, with what the caller may see of the subject.

    Raises:
        MCPError: there is no such prompt, or it needs a question of at most 4,000 characters.
        NotAMember, NotAllowed: the caller may see nothing of the subject.
    """
    if name == _CONTEXT:
        return _with_context(arguments.get("question", "").strip(), asking)
    if name == _KNOWN:
        return _all_known(asking)
    raise MCPError(INVALID_PARAMS, f"there is no prompt {name!r}")


def _with_context(question: str, asking: ToolContext) -> GetPromptResult:
    if not 0 < len(question) <= _MOST_CHARS:
        raise MCPError(INVALID_PARAMS, f"question: ask something, in at most {_MOST_CHARS} characters")
    block = context_block(asking.principal, [asking.subject], question, asking.memory, now=asking.now)
    text = f"{block.text}\n\n{question}" if block.text else question
    return GetPromptResult(messages=[PromptMessage(role="user", content=TextContent(text=text))])


def _all_known(asking: ToolContext) -> GetPromptResult:
    profile = EmbeddedResource(resource=read(profile_uri(asking.subject), asking))
    question = "What do you know about me? Tell it in your own words, from this alone, and say how old it is."
    return GetPromptResult(
        messages=[
            PromptMessage(role="user", content=profile),
            PromptMessage(role="user", content=TextContent(text=question)),
        ]
    )
