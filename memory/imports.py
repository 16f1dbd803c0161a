"""Write what the lines of an export carry and the catalog does not have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, TypeGuard

from memory.context import MemoryContext
from memory.document_export import import_document
from memory.documents.put import DocumentRefused
from memory.export_lines import Carried, NotALine, document_on, item_on, memory_on, model_of, value_of
from memory.import_screening import ImportScreening, Refused
from memory.publish import publish
from schema import AuditAction, AuditEntry, Event, EventName, Preferences, Status, Subject
from stores.catalog import Changes
from stores.index.base import Family, Vector

_MEMORIES_AT_A_TIME: Final = 200
_ANNOUNCED: Final = (Status.ACTIVE, Status.PROVISIONAL)


@dataclass
class Imported:
    """How many memories, items of the store and documents were written, and how many were there already and stay as
    they are."""

    written: int = 0
    known: int = 0
    items: int = 0
    known_items: int = 0
    documents: int = 0
    known_documents: int = 0
    masked: int = 0
    """Memories of those written of which, or of whose raw turns, something is masked that may not be kept."""
    refused: int = 0
    """Memories that may not be kept."""
    refused_by: dict[str, int] = field(default_factory=dict)
    """How many by which rule."""
    refused_items: int = 0
    """Items of a subject who has withdrawn consent."""
    refused_documents: int = 0
    """Documents that may not be kept: their subject has withdrawn consent, or they are longer than settings allow."""


def import_lines(lines: Iterable[str], context: MemoryContext, *, by: str, now: datetime) -> Imported:
    """Write the memories of an export that the catalog does not have. Repeatable. Vectors of the settings' own embedder
    are used as they are; otherwise the summaries are embedded anew.

    Raises:
        NotALine: a line is none of an export, or has a memory that another subject has; what came before it is written.
        UnicodeDecodeError: the lines are no text from there on; so it is.
    """
    importing = _Import(context, by, now)
    try:
        for number, line in enumerate(lines, 1):
            if line.strip():
                importing.take(number, value_of(number, line))
    except (NotALine, UnicodeDecodeError):
        importing.write()
        raise
    importing.write()
    return importing.result


@dataclass
class _Import:
    """An import under way, with the memories of one subject that wait to be written together."""

    context: MemoryContext
    by: str
    now: datetime
    result: Imported = field(default_factory=Imported)
    model: str | None = None
    """Whose the vectors are."""
    waiting: list[Carried] = field(default_factory=list)

    def take(self, number: int, value: Mapping[str, Any]) -> None:
        if "document" in value:
            self._write_document(number, value)
        elif "item" in value:
            self._write_item(number, value)
        elif "afterturn" in value:
            self.model = model_of(number, value)
        else:
            ahead = timedelta(seconds=self.context.settings.max_ahead_seconds)
            self._wait(memory_on(number, value, self.now, ahead))

    def write(self) -> None:
        """Write the memories that wait, up to one that cannot be.

        Raises:
            NotALine: its id is that of another subject's memory.
        """
        waiting, self.waiting = self.waiting, []
        taken = self._first_taken(waiting)
        self._write_run(waiting[:taken])
        if taken is not None:
            raise NotALine(
                f"line {waiting[taken].number}: memory.id: another tenant or user has this memory here already: give "
                "it another id wherever the file names it, or erase it there first"
            )

    def _wait(self, carried: Carried) -> None:
        waiting = self.waiting
        if waiting and (waiting[0].memory.subject != carried.memory.subject or len(waiting) >= _MEMORIES_AT_A_TIME):
            self.write()
        self.waiting.append(carried)

    def _first_taken(self, waiting: Sequence[Carried]) -> int | None:
        """Return the place of the first memory whose id another subject's has, None if there is none."""
        if not waiting:
            return None
        ids = [carried.memory.id for carried in waiting]
        there = self.context.catalog.versions_of(Family.MEMORIES, ids).keys()
        taken = there - self.context.catalog.memories(waiting[0].memory.subject, there).keys()
        return next((place for place, id_ in enumerate(ids) if id_ in taken), None)

    def _write_run(self, waiting: Sequence[Carried]) -> None:
        if not waiting:
            return
        subject = waiting[0].memory.subject
        known = self.context.catalog.memories(subject, [carried.memory.id for carried in waiting])
        new = {carried.memory.id: carried for carried in waiting if carried.memory.id not in known}
        self.result.known += len(waiting) - len(new)
        kept = self._screened(subject, list(new.values()))
        if not kept:
            return
        turns = {turn.turn_id: turn for carried in kept for turn in carried.sources}
        memories = tuple(carried.memory for carried in kept)
        changes = Changes(
            subject=subject,
            at=self.now,
            created=memories,
            sources=tuple(turns.values()),
            audit=tuple(
                AuditEntry(
                    action=AuditAction.CREATED,
                    **subject.model_dump(),
                    at=self.now,
                    by=self.by,
                    reason="imported",
                    memory_id=memory.id,
                    policy_version=memory.policy_version,
                )
                for memory in memories
            ),
            events=tuple(
                Event.about(memory, EventName.CREATED, self.now) for memory in memories if memory.status in _ANNOUNCED
            ),
        )
        vectors = {carried.memory.id: carried.vector for carried in kept if self._is_usable(carried.vector)}
        publish(changes, vectors, self.context)
        self.result.written += len(kept)

    def _screened(self, subject: Subject, new: Sequence[Carried]) -> list[Carried]:
        """Return what may be kept, as it may be."""
        if not new:
            return []
        screening = ImportScreening(subject, self._preferences(subject), self.context)
        kept: list[Carried] = []
        for outcome in screening.screened(new):
            if isinstance(outcome, Refused):
                self.result.refused += 1
                self.result.refused_by[outcome.rule] = self.result.refused_by.get(outcome.rule, 0) + 1
            else:
                self.result.masked += outcome.is_masked
                kept.append(outcome.carried)
        return kept

    def _preferences(self, subject: Subject) -> Preferences:
        return self.context.catalog.preferences.of(subject)

    def _is_usable(self, vector: Vector | None) -> TypeGuard[Vector]:
        embedder = self.context.embedder
        return self.model == embedder.name and vector is not None and vector.shape == (embedder.dimensions,)

    def _write_item(self, number: int, value: Mapping[str, Any]) -> None:
        subject, item = item_on(number, value)
        if self._preferences(subject).consent == "withdrawn":
            self.result.refused_items += 1
            return
        new = self.context.catalog.items.import_new(subject, [item], self.now)
        self.result.items += new
        self.result.known_items += 1 - new

    def _write_document(self, number: int, value: Mapping[str, Any]) -> None:
        document, is_held = document_on(number, value)
        try:
            is_new = import_document(document, is_held=is_held, context=self.context, by=self.by, now=self.now)
        except DocumentRefused:
            # What is behind it in the file is no less worth keeping.
            self.result.refused_documents += 1
            return
        self.result.documents += is_new
        self.result.known_documents += not is_new
