"""What is done with each part of the data: pieces of work for one process, and the answers they give.

A conversation of two people is heard twice, once with each of them as the user and the other as the one who answers:
each has memories of their own. A turn here is what the other side said since, and then the user's message, so that a
question and its answer are together, as a chat backend that sends the whole exchange would have them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Any, Final, Protocol

from pydantic import ValidationError

from benchmarks.quality.blocks import blocks_for, fading
from benchmarks.quality.data import Labelled, Line, Pair, Question, Utterance
from benchmarks.quality.house import TENANT, House, Spent, messages, spending, subject_of
from benchmarks.quality.sameness import label_pairs
from policies.privacy.screen import screen
from recall.retrieve import retrieve
from schema import Memory, MemoryType, Status, Subject, Turn, Verdict

Row = dict[str, Any]
_NOWHEN: Final = datetime(2026, 11, 2, 8, 0, tzinfo=UTC)
"""When turns are said whose data names no moment."""
_BETWEEN_TURNS: Final = timedelta(minutes=1)
_RANKED: Final = 20


@dataclass
class Answers:
    """Rows by the name of the file that they belong to, and what they cost."""

    rows: dict[str, list[Row]] = field(default_factory=dict)
    spent: Spent = field(default_factory=Spent)
    memories: int = 0


@dataclass(frozen=True)
class Conversation:
    """A LoCoMo conversation with its questions."""

    said: tuple[Utterance, ...]
    asked: tuple[Question, ...]
    strange: tuple[Question, ...] = ()
    """Questions about other people, to which nothing that is known here is an answer."""

    @property
    def size(self) -> int:
        return len(self.said)

    def run(self, house: House) -> Answers:
        subjects = {name: subject_of("locomo", self.said[0].conversation, name) for name in self.speakers()}
        with spending(len(self.said)) as spent:
            for name, subject in subjects.items():
                for session in self.heard_by(name, subject):
                    house.hear(session)
        kept = {
            turn: memory.type
            for subject in subjects.values()
            for memory in house.memories(subject)
            for turn in memory.source_turn_ids
        }
        decisions = [
            _decision(utterance.conversation, utterance.turn, kept.get(utterance.turn)) for utterance in self.said
        ]
        told_rows = [row for subject in subjects.values() for row in _told(house.memories(subject), house)]
        everybody = tuple(subjects.values())
        ranked = [self._answer(question, everybody, house) for question in self.asked]
        strange = [_evidence(question, everybody, house) for question in self.strange]
        blocks = [blocks_for(question, everybody, house) for question in self.asked]
        memories = sum(len(house.memories(subject, (Status.ACTIVE,))) for subject in subjects.values())
        rows = {"decisions": decisions, "ranked": ranked, "strange": strange, "memories": told_rows, "blocks": blocks}
        return Answers(rows, spent, memories)

    def speakers(self) -> list[str]:
        return list(dict.fromkeys(utterance.speaker for utterance in self.said))

    def heard_by(self, name: str, subject: Subject) -> Iterator[list[Turn]]:
        """Return the turns of one speaker, session by session.

        What the data has at one moment is one session, which begins then: each turn comes a minute after the other.
        """
        for _, session in groupby(self.said, key=lambda utterance: utterance.when):
            turns = []
            before: list[tuple[str | None, str]] = []
            for index, utterance in enumerate(session):
                if utterance.speaker != name:
                    before.append((utterance.speaker, utterance.text))
                    continue
                turns.append(
                    Turn(
                        turn_id=utterance.turn,
                        **subject_fields(subject),
                        conversation_id=utterance.conversation,
                        messages=messages(utterance.text, name=name, before=before),
                        occurred_at=utterance.when + index * _BETWEEN_TURNS,
                    )
                )
                before = []
            if turns:
                yield turns

    def _answer(self, question: Question, subjects: Sequence[Subject], house: House) -> Row:
        found = retrieve(
            None, subjects, question.text, house.context, limit=_RANKED, relevant_only=False, now=question.asked_at
        )
        return {
            "qid": question.id,
            "ranked": [list(hit.memory.source_turn_ids) for hit in found],
            "evidence": _evidence(question, subjects, house)["evidence"],
        }


def _evidence(question: Question, subjects: Sequence[Subject], house: House) -> Row:
    """Return how sure a search is that a question is about something known of these subjects."""
    hits = retrieve(
        None, subjects, question.text, house.context, limit=1, relevant_only=False, explain=True, now=question.asked_at
    )
    return {"qid": question.id, "evidence": hits[0].why.evidence if hits and hits[0].why else 0.0}


@dataclass(frozen=True)
class Chats:
    """Some MSC conversations, whole ones."""

    said: tuple[Labelled, ...]

    @property
    def size(self) -> int:
        return len(self.said)

    def run(self, house: House) -> Answers:
        answers = Answers()
        with spending(len(self.said)) as spent:
            for (conversation, speaker), turns in self._by_speaker().items():
                subject = subject_of("msc", conversation, speaker)
                house.hear([self._turn(turn, subject) for turn in turns])
                memories = house.memories(subject)
                kept = {turn: memory.type for memory in memories for turn in memory.source_turn_ids}
                answers.memories += sum(memory.status is Status.ACTIVE for memory in memories)
                rows = [_decision(conversation, turn.turn, kept.get(str(turn.turn))) for turn in turns]
                answers.rows.setdefault("decisions", []).extend(rows)
        answers.spent = spent
        return answers

    def _by_speaker(self) -> dict[tuple[str, str], list[Labelled]]:
        found: dict[tuple[str, str], list[Labelled]] = {}
        for turn in self.said:
            found.setdefault((turn.conversation, turn.speaker), []).append(turn)
        return found

    def _turn(self, turn: Labelled, subject: Subject) -> Turn:
        return Turn(
            turn_id=str(turn.turn),
            **subject_fields(subject),
            conversation_id=turn.conversation,
            messages=messages(turn.text, before=[(None, turn.before)]),
            occurred_at=_NOWHEN,
        )


@dataclass(frozen=True)
class Pairs:
    """Some pairs of statements: what dedup makes of the second where the first is known."""

    pairs: tuple[Pair, ...]

    @property
    def size(self) -> int:
        return len(self.pairs)

    def run(self, house: House) -> Answers:
        with spending(len(self.pairs)) as spent:
            labels = list(label_pairs(self.pairs, house, _NOWHEN))
        return Answers({"pairs": [{"i": pair.number, "label": label} for pair, label in labels]}, spent)


@dataclass(frozen=True)
class Attacks:
    """Some texts that plant instructions, or only look as if: each is a turn of a user of its own."""

    lines: tuple[Line, ...]

    @property
    def size(self) -> int:
        return len(self.lines)

    def run(self, house: House) -> Answers:
        rows = []
        with spending(len(self.lines)) as spent:
            for line in self.lines:
                subject = _hear_alone("attack", line, house)
                flagged = screen(line.text, house.context.policy).verdict is Verdict.QUARANTINE
                stored = bool(house.memories(subject, (Status.ACTIVE,)))
                rows.append({"i": line.number, "stored": stored, "flagged": flagged})
        return Answers({"attack": rows}, spent, sum(row["stored"] for row in rows))


@dataclass(frozen=True)
class Secrets:
    """Some texts with personal data: each is a turn of a user of its own."""

    lines: tuple[Line, ...]

    @property
    def size(self) -> int:
        return len(self.lines)

    def run(self, house: House) -> Answers:
        answers = Answers()
        with spending(len(self.lines)) as spent:
            for line in self.lines:
                subject = _hear_alone("pii", line, house)
                row = {"i": line.number, "stored_text": house.kept_text(subject)}
                answers.rows.setdefault("pii", []).append(row)
                answers.memories += len(house.memories(subject, (Status.ACTIVE,)))
        answers.spent = spent
        return answers


class Piece(Protocol):
    """Work for one process; `size` is what a progress bar counts."""

    @property
    def size(self) -> int: ...

    def run(self, house: House) -> Answers: ...


def subject_fields(subject: Subject) -> dict[str, str]:
    """Return a turn's fields that name whose it is."""
    return {"tenant_id": TENANT, "user_id": subject.subject_id}


def _hear_alone(part: str, line: Line, house: House) -> Subject:
    subject = subject_of(part, str(line.number))
    try:
        turn = Turn(
            turn_id=f"{part}-{line.number}",
            **subject_fields(subject),
            conversation_id=f"{part}-{line.number}",
            messages=messages(line.text),
            occurred_at=_NOWHEN,
        )
    except ValidationError:
        return subject  # too long a turn: the producer refuses it, and nothing comes of it
    house.hear([turn])
    return subject


def _decision(conversation: str, turn: str | int, kept_as: MemoryType | None) -> Row:
    action = "skip" if kept_as is None else "episodic" if kept_as is MemoryType.EPISODIC else "semantic"
    return {"conv": conversation, "turn": turn, "action": action}


def _told(memories: Sequence[Memory], house: House) -> list[Row]:
    """Return memories for a person to read, with the days without use that each outlasts."""
    return [
        {
            "id": str(memory.id),
            "subject": memory.subject_id,
            "turns": list(memory.source_turn_ids),
            "type": memory.type,
            "status": memory.status,
            "summary": memory.summary,
            "kind": memory.kind,
            "importance": memory.importance,
            "left": fading(memory, house.context.policy),
        }
        for memory in memories
    ]
