"""The way in for examples of how requests are handled: a file that developers keep, loaded whole."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated

from pydantic import ConfigDict, Field, StringConstraints, ValidationError

from schema import Document, Subject, Visibility
from schema.base import Value
from schema.errors import Refused
from schema.turn import Identifier
from schema.wrong_fields import wrong_fields
from stores.plugin import needs_extra

with needs_extra("fleet", "producers.examples"):
    from memory.context import MemoryContext
    from memory.documents.delete import delete_document
    from producers.documents import put_document

_PAGE = 100
Line = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=300, pattern=r"^[^\r\n]*$")]


class InvalidExamples(Refused):
    """The file is no list of examples. The message says which line, and why; nothing was loaded."""


class Example(Value):
    """A message that a user might say, and what is done then, in order."""

    model_config = ConfigDict(extra="forbid")

    input: Line
    actions: Annotated[tuple[Line, ...], Field(min_length=1, max_length=10)]
    id: Identifier | None = None
    """By which it is known when it is loaded again; that of its input unless it is given."""

    @property
    def name(self) -> str:
        return self.id or hashlib.sha256(self.input.encode()).hexdigest()[:16]


def read_examples(file: Path) -> list[Example]:
    """Return the examples of a file of JSON lines.

    Raises:
        InvalidExamples: a line is no example, or two have one id.
        OSError: the file cannot be read.
    """
    examples = [_example(number, line) for number, line in enumerate(file.read_bytes().splitlines(), 1) if line.strip()]
    twice = [name for name, times in Counter(example.name for example in examples).items() if times > 1]
    if twice:
        same = next(example for example in examples if example.name == twice[0])
        raise InvalidExamples(f'two examples have the id {same.name} or say "{same.input}": leave one out')
    return examples


def _example(number: int, line: bytes) -> Example:
    try:
        return Example.model_validate(json.loads(line))
    except ValidationError as error:
        raise InvalidExamples(f"line {number}: {wrong_fields(error)}") from error
    except ValueError as error:
        raise InvalidExamples(f"line {number}: not JSON: {error}") from error


def load_examples(
    examples: Sequence[Example], whose: Subject, context: MemoryContext, *, by: str, now: datetime
) -> Counter[str]:
    """Put the examples in the place of those that are there, and return how many of them came to what: what is there
    already is no work, and what is not among them any more is deleted. Workers make them searchable.

    Raises:
        DocumentRefused, UnderLegalHold, ConcurrentChange: see `memory.documents`; what was put until then stays.
    """
    outcomes: Counter[str] = Counter()
    for example in examples:
        document = Document(
            document_id=example.name,
            **whose.model_dump(),
            content="\n\n".join([example.input, "\n".join(example.actions)]),
            visibility=Visibility.PUBLIC,
        )
        outcomes[put_document(None, document, context, context.celery, now=now).outcome] += 1
    names = {example.name for example in examples}
    for kept in [kept for kept in context.catalog.documents.every(whose) if kept.document_id not in names]:
        delete_document(kept, context, by=by, reason="no example of the loaded file", now=now)
        outcomes["deleted"] += 1
    return outcomes
