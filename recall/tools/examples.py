"""The tool of an orchestrator: how requests like the one it has are handled."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import BaseModel, Field, StringConstraints

from recall.examples import FEW, MOST, find_examples
from recall.tools.tool import Answer, Arguments, Effect, Tool, ToolContext


class SearchExamples(Arguments):
    request: Annotated[
        str,
        StringConstraints(strip_whitespace=True, min_length=1, max_length=2_000),
        Field(description="What the user asks for, in their own words."),
    ]
    limit: Annotated[int, Field(ge=1, le=MOST)] = FEW


class ExampleOut(BaseModel):
    """A request that is like it, and what is done then, in order; `similarity` from 0 to 1."""

    id: str
    input: str
    actions: list[str]
    similarity: float


class FoundExamples(Answer):
    examples: list[ExampleOut]


def search_examples(given: SearchExamples, context: ToolContext) -> FoundExamples:
    """Find how requests like one are handled."""
    subject = context.subject
    examples = find_examples(context.principal, subject.tenant_id, given.request, context.memory, limit=given.limit)
    return FoundExamples(
        examples=[
            ExampleOut(
                id=example.id,
                input=example.input,
                actions=list(example.actions),
                similarity=round(example.similarity, 4),
            )
            for example in examples
        ],
        message="" if examples else "No example is like it: decide by yourself",
    )


EXAMPLE_TOOLS: Final = (
    Tool(
        "search_examples",
        "Search examples of requests",
        "Find how requests like the user's are handled: which specialists are called, in which order. Search before "
        "handing a request on.",
        Effect.READS,
        SearchExamples,
        FoundExamples,
        search_examples,
    ),
)
