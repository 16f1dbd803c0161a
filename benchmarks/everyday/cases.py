"""Everyday cases: what somebody said to an assistant, turn by turn, and what a memory should hold afterwards."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Final

from pydantic import AwareDatetime, BaseModel, Field, ValidationError

from benchmarks.everyday.recorded import Unanswered
from benchmarks.quality.house import House, spending, subject_of
from benchmarks.quality.runs import Answers, subject_fields
from schema import Message, Status, Turn

_CONVERSATION_ENDS: Final = timedelta(hours=1)
"""A turn that comes later than this after the one before begins a conversation of its own."""


class Saying(BaseModel):
    """A user's message with the assistant's reply, if there was one."""

    at: AwareDatetime
    text: str
    assistant: str = ""


class Case(BaseModel):
    """What one user said, and regular expressions for what should be known afterwards.

    A group of `keep` or `drop` is matched by a summary that matches every expression of the group.
    """

    id: str
    kind: str
    name: str | None = None
    said: Annotated[list[Saying], Field(min_length=1)]
    keep: list[list[str]] = []
    drop: list[list[str]] = []
    none: bool = False

    def heard(self) -> str:
        """Return all that either side said, a line a message."""
        return "\n".join(f"{one.text}\n{one.assistant}" for one in self.said)

    def turns(self) -> Iterator[Turn]:
        """Return the turns in order; those that follow one another within the hour are one conversation."""
        subject, conversation = subject_of("everyday", self.id), 0
        for number, saying in enumerate(self.said):
            if number and saying.at - self.said[number - 1].at > _CONVERSATION_ENDS:
                conversation += 1
            said = [Message(role="user", name=self.name, content=saying.text)]
            if saying.assistant:
                said.append(Message(role="assistant", content=saying.assistant))
            yield Turn(
                turn_id=f"{self.id}/{number}",
                **subject_fields(subject),
                conversation_id=f"{self.id}/{conversation}",
                messages=tuple(said),
                occurred_at=saying.at,
            )


@dataclass(frozen=True)
class Cases:
    """Some cases, each a user of its own whose turns are heard one by one."""

    cases: tuple[Case, ...]

    @property
    def size(self) -> int:
        return len(self.cases)

    def run(self, house: House) -> Answers:
        answers = Answers({"everyday": []})
        with spending(sum(len(case.said) for case in self.cases)) as spent:
            for case in self.cases:
                waits_for = _hear(case, house)
                active = house.memories(subject_of("everyday", case.id), (Status.ACTIVE,))
                answers.rows["everyday"].append({"id": case.id, "active": sorted(one.summary for one in active)})
                if waits_for:
                    answers.rows["everyday"][-1]["unanswered"] = waits_for
                answers.memories += len(active)
        answers.spent = spent
        return answers


def _hear(case: Case, house: House) -> str:
    """Have the turns of a case heard, up to the first prompt that nobody has answered: its name, or ""."""
    for turn in case.turns():
        try:
            house.hear([turn])
        except Unanswered as prompt:
            return str(prompt)
    return ""


def read_cases(file: Path, kinds: Sequence[str] = ()) -> list[Case]:
    """Read the cases of a file of JSON lines, in its order; only of `kinds` where any are named.

    Raises:
        ValueError: a line is no case; it says which and why.
    """
    found = []
    with file.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            try:
                case = Case.model_validate(json.loads(line))
            except (ValidationError, json.JSONDecodeError) as error:
                raise ValueError(f"{file}, line {number} is no everyday case: {error}") from error
            if not kinds or case.kind in kinds:
                found.append(case)
    return found
