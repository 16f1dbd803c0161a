"""Tools of an agent, their caller, and the end of a call: with an answer or a failure, never with an exception
that the agent could not act on."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Any, Final, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from memory.context import MemoryContext
from memory.metrics import count_denied
from memory.rights import NO_SUCH
from policies.access import may_use_any
from recall.audience import audiences
from schema import Capability, Memory, Principal, Status, Subject
from schema.errors import Denied, NotAMember, NotFound, Refused, Transient
from schema.wrong_fields import wrong_fields


class Arguments(BaseModel):
    """The arguments of a tool. What it does not know is refused, so that a misspelt one is not lost."""

    model_config = ConfigDict(extra="forbid")


class Answer(BaseModel):
    """How a call ends that did what was asked."""

    status: Literal["SUCCESS"] = "SUCCESS"
    message: str = ""


FailureCode = Literal["not_found", "forbidden", "invalid", "refused", "busy"]


class Failure(BaseModel):
    """How a call ends that did not. The message says what to do, and never what a memory holds."""

    status: Literal["ERROR"] = "ERROR"
    code: FailureCode
    message: str


class Effect(Enum):
    """The effect of a tool on what is known."""

    READS = "reads"
    ADDS = "adds"
    CHANGES = "changes"
    ERASES = "erases"


_NEEDS: Final[dict[Effect, frozenset[Capability]]] = {
    Effect.READS: frozenset({Capability.READ}),
    Effect.ADDS: frozenset({Capability.WRITE, Capability.WRITE_OWN}),
    Effect.CHANGES: frozenset({Capability.WRITE, Capability.WRITE_OWN}),
    Effect.ERASES: frozenset({Capability.DELETE}),
}
"""Any one of them lets a principal call such a tool; what it may do it to is asked again in each call."""


@dataclass(frozen=True)
class ToolContext:
    """Who calls a tool, about whom, when, and what it works with. The principal comes from a credential, and the
    subject never from the arguments."""

    principal: Principal
    subject: Subject
    memory: MemoryContext
    now: datetime


A = TypeVar("A", bound=Arguments)


@dataclass(frozen=True)
class Tool(Generic[A]):
    """A tool as an agent is offered it: `title` is for people, `description` for the model that chooses."""

    name: str
    title: str
    description: str
    effect: Effect
    arguments: type[A]
    answer: type[Answer]
    do: Callable[[A, ToolContext], Answer]

    def input_schema(self) -> dict[str, Any]:
        """Return the JSON schema of the arguments."""
        return self.arguments.model_json_schema()

    def output_schema(self) -> dict[str, Any]:
        """Return the JSON schema of an answer, as it is when a call did what was asked."""
        return self.answer.model_json_schema(mode="serialization")

    def is_for(self, principal: Principal) -> bool:
        """Return whether a principal may call it at all."""
        return may_use_any(principal, _NEEDS[self.effect])


def call(tool: Tool[Any], arguments: Mapping[str, Any], context: ToolContext) -> Answer | Failure:
    """Call a tool, and return its answer, or a failure that says what to do.

    Raises:
        OperatorError: a person must mend something.
    """
    try:
        return tool.do(tool.arguments.model_validate(arguments), context)
    except ValidationError as error:
        return Failure(code="invalid", message=wrong_fields(error, tool.arguments))
    except Refused as error:
        return _refusal(tool, error)
    except Transient:
        return Failure(code="busy", message="it cannot be done just now, and nothing was: try again in a moment")


def _refusal(tool: Tool[Any], error: Refused) -> Failure:
    if isinstance(error, Denied):
        count_denied(error)
    # Whoever may not write somewhere is told so; that there is something to read is told to nobody.
    hidden = isinstance(error, NotAMember) and tool.effect is not Effect.ADDS
    if isinstance(error, NotFound) or hidden:
        return Failure(code="not_found", message=NO_SUCH)
    return Failure(code="forbidden" if isinstance(error, Denied) else "refused", message=str(error))


def mentioned(memory_id: uuid.UUID, context: ToolContext) -> Memory:
    """Return a memory, whatever its status, that may be spoken of to who calls.

    Raises:
        NotFound: there is none, none that they see, or one that is suppressed or on a blocked topic.
        NotAMember, NotAllowed: they may see nothing of the subject.
    """
    memories = all_mentioned([memory_id], context)
    if not memories:
        raise NotFound(NO_SUCH)
    return memories[0]


def all_mentioned(memory_ids: Sequence[uuid.UUID], context: ToolContext) -> list[Memory]:
    """Return those of the memories, in their order and whatever their status, that may be spoken of to who calls.

    Raises:
        NotAMember, NotAllowed: they may see nothing of the subject.
    """
    [audience] = audiences(context.principal, [context.subject], context.memory)
    memories = context.memory.catalog.memories(context.subject, memory_ids)
    return [
        memory
        for id_ in memory_ids
        if (memory := memories.get(id_)) and memory.status is not Status.DELETED and audience.may_be_mentioned(memory)
    ]
