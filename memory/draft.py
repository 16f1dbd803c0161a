"""The changes that a batch of turns makes, while they are being decided.

A draft is a view of the subject's memories in which every decision so far is done, so that the next candidate of the
same batch is compared with what the one before it left.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from time import monotonic
from typing import Any, Final

import numpy as np

from memory.metrics import QUOTAS
from policies.dedup import Neighbour
from policies.limits import UNBOUNDED, Room, Scope
from schema import (
    AuditAction,
    AuditEntry,
    Event,
    EventName,
    Memory,
    MemoryType,
    Preference,
    Review,
    ReviewStatus,
    Settlement,
    Status,
    Subject,
    Turn,
)
from stores.catalog import Changes
from stores.index.base import Vector

OVER_QUOTA: Final = "over the quota of"
REVIEW: Final = "review"
"""The detail of a line of the audit that names what waits for a person."""
_HELD: Final = frozenset(set(Status) - {Status.SUPERSEDED})
"""The statuses that count as held, against a quota of memories too."""


@dataclass
class Draft:
    """Memories of a subject with the batch's changes on top."""

    subject: Subject
    now: datetime
    policy_version: str
    by: str
    read: dict[uuid.UUID, Memory] = field(default_factory=dict)
    """Memories as the catalog has them."""
    current: dict[uuid.UUID, Memory] = field(default_factory=dict)
    """Memories as they stand after the decisions so far; deleted ones are absent."""
    vectors: dict[uuid.UUID, Vector] = field(default_factory=dict)
    """Vectors of memories that the index does not have yet."""
    audit: list[AuditEntry] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    changed: dict[uuid.UUID, None] = field(default_factory=dict)
    reviews: list[Review] = field(default_factory=list)
    """Candidates that a person must decide on first."""
    settled: list[Settlement] = field(default_factory=list)
    withdrawn: list[uuid.UUID] = field(default_factory=list)
    """Reviews of the catalog that the subject wants forgotten."""
    hidden: dict[str, set[str]] = field(default_factory=dict)
    """Names of other people that are left out of what is kept of a turn, by its id."""
    gone: dict[str, list[str]] = field(default_factory=dict)
    """The summaries of memories that were removed, or are on a blocked topic, by the ids of the turns that they came
    of."""
    reduced: dict[str, Turn] = field(default_factory=dict)
    """Raw turns of the catalog as they stay for the sake of other memories."""
    preferred: dict[Preference, None] = field(default_factory=dict)
    unpreferred: dict[Preference, None] = field(default_factory=dict)
    consent_given_at: datetime | None = None
    """When the consent among them was given or withdrawn."""
    begun: float = field(default_factory=monotonic)
    name: str | None = None
    """The user's name, where it is known."""
    made_by: dict[str, str | int] = field(default_factory=dict)
    """The author of what is decided here, for the audit: extractor or model, prompt, tokens of the batch's call."""
    room: Room = UNBOUNDED
    """The room that quotas left when the draft was begun."""
    forgot: set[str] = field(default_factory=set)
    """The ids of the turns that had something erased, as they asked."""
    hid: set[str] = field(default_factory=set)
    """The ids of the turns that may have wished something forgotten, which is hidden until a person decides."""
    over_quota: set[str] = field(default_factory=set)
    """The ids of the turns of which a quota kept a memory out."""

    def time(self) -> datetime:
        """Return `now` and as long as the draft has taken since: what was decided may have waited for a model."""
        return self.now + timedelta(seconds=monotonic() - self.begun)

    def load(self, memories: Iterable[Memory]) -> None:
        """Take in memories as they were read; those that are known stay as they are."""
        for memory in memories:
            if memory.id not in self.read:
                self.read[memory.id] = memory
                self.current[memory.id] = memory

    def neighbours(
        self,
        types: Collection[MemoryType],
        similarities: Mapping[uuid.UUID, float],
        vector: Vector,
        others: Sequence[tuple[Memory, Vector]] = (),
    ) -> list[Neighbour]:
        """Return active memories of some types near a vector, best first: those that the index found, those that it
        cannot know yet, and `others`."""
        near = dict(similarities)
        if self.vectors:
            ids = list(self.vectors)
            cosines = np.stack([self.vectors[id_] for id_ in ids]) @ vector
            near |= {id_: float(cosine) for id_, cosine in zip(ids, cosines, strict=True)}
        near_memories = [(memory, cosine) for id_, cosine in near.items() if (memory := self.current.get(id_))]
        neighbours = [
            Neighbour(memory, similarity)
            for memory, similarity in (
                *near_memories,
                *((memory, float(other_vector @ vector)) for memory, other_vector in others),
            )
            if memory.type in types and memory.status is Status.ACTIVE
        ]
        return sorted(neighbours, key=lambda neighbour: (-neighbour.similarity, neighbour.memory.id))

    def with_attributes(self, pairs: set[tuple[str, str]], others: Iterable[Memory] = ()) -> list[Memory]:
        """Return active memories, of the draft and of `others`, with a fact of one of these (entity, attribute) pairs,
        entities in lower case."""
        return [
            memory
            for memory in (*self.current.values(), *others)
            if memory.status is Status.ACTIVE
            and any((fact.entity.casefold(), fact.attribute) in pairs for fact in memory.facts)
        ]

    def create(self, memory: Memory, vector: Vector, reason: str) -> None:
        """Add a memory with the vector of its summary."""
        self._put(memory)
        self.vectors[memory.id] = vector
        self._note(AuditAction.CREATED, memory, reason)
        self._announce(EventName.CREATED, memory)

    def update(
        self, memory: Memory, vector: Vector | None, reason: str, action: AuditAction = AuditAction.UPDATED
    ) -> None:
        """Replace a memory; `vector` is its summary's where that changed."""
        self._put(memory)
        if vector is not None:
            self.vectors[memory.id] = vector
        self._note(action, memory, reason)
        self._announce(EventName.UPDATED, memory)

    def reword(self, memory: Memory, reason: str) -> None:
        """Replace a memory by other words, edited or without what was forgotten: what was announced of it is void."""
        self._put(memory)
        self._note(AuditAction.UPDATED, memory, reason)
        self.events = [event for event in self.events if event.payload.get("id") != str(memory.id)]
        anew = {"anew": True} if memory.consolidated_from else {}
        self.events.append(Event.about(memory, EventName.UPDATED, self.now, **anew))

    def supersede(self, old: Memory, by: Memory, reason: str) -> None:
        """Mark a memory as replaced by a later one, which is announced as a changed fact."""
        self._put(old)
        self._note(AuditAction.SUPERSEDED, old, reason)
        self._announce(EventName.CHANGED_FACT, by, {"from": str(old.id), "into": str(by.id)})

    def note(self, memory: Memory, vector: Vector | None, reason: str) -> None:
        """Add what the hot path noted, which nobody has decided on yet."""
        self._put(memory)
        if vector is not None:
            self.vectors[memory.id] = vector
        self._note(AuditAction.CREATED, memory, reason)
        created_at = memory.created_at.isoformat()
        self.events.append(Event.about(memory, EventName.CANDIDATE, self.now, created_at=created_at))

    def take_over(self, noted: Memory, by: Memory) -> None:
        """Let a memory take over what the hot path noted, which is gone then."""
        self.current.pop(noted.id, None)
        self.vectors.pop(noted.id, None)
        self.changed[noted.id] = None
        self._put(by.model_copy(update={"merged_from": (*by.merged_from, noted.id)}))
        self._note(AuditAction.DELETED, noted, f"settled as {by.id}")
        merged = {"id": str(by.id), "from": str(noted.id), "into": str(by.id)}
        self.events.append(self._event(EventName.MERGED, merged))

    def refresh(self, memory: Memory) -> None:
        """Replace a memory in which nothing changed but when and how often it was used: nobody is told."""
        self._put(memory)

    def set_legal_hold(self, memory: Memory, holds: bool, reason: str) -> None:
        """Put a memory under legal hold, or lift it."""
        self._put(memory.model_copy(update={"legal_hold": holds}))
        self._note(AuditAction.HELD if holds else AuditAction.LIFTED, memory, reason)
        self.events.append(Event.about(memory, EventName.UPDATED, self.now, legal_hold=holds))

    def archive(self, memory: Memory, reason: str) -> None:
        """Take a memory out of what is recalled, and keep it."""
        self._put(memory.model_copy(update={"status": Status.ARCHIVED, "updated_at": self.now}))
        self._note(AuditAction.ARCHIVED, memory, reason)
        self.events.append(self._event(EventName.ARCHIVED, {"id": str(memory.id)}))

    def delete(self, memory: Memory, reason: str) -> None:
        """Remove a memory, and what this draft would announce of it."""
        self.current.pop(memory.id, None)
        self.vectors.pop(memory.id, None)
        self.changed[memory.id] = None
        # What was said of it in this batch would outlive it.
        self.events = [event for event in self.events if event.payload.get("id") != str(memory.id)]
        for turn_id in memory.source_turn_ids:
            self.gone.setdefault(turn_id, []).append(memory.summary)
        self._note(AuditAction.DELETED, memory, reason)
        self.events.append(self._event(EventName.DELETED, {"id": str(memory.id)}))

    def emit(self, name: EventName, payload: dict[str, str]) -> None:
        """Announce something that is no change of a memory."""
        self.events.append(self._event(name, payload))

    def audit_refusal(
        self, action: AuditAction, turn_id: str, reason: str, *, memory_id: uuid.UUID | None = None
    ) -> None:
        """Leave a line that something of a turn was not kept, or not done to a memory, and by which rule."""
        self.audit.append(self._entry(action, reason, memory_id=memory_id, turn_id=turn_id))

    @property
    def gained(self) -> int:
        """Return how many more memories are held than the catalog has."""
        now = sum(id_ in self.current and self.current[id_].status in _HELD for id_ in self.changed)
        before = sum(id_ in self.read and self.read[id_].status in _HELD for id_ in self.changed)
        return now - before

    @property
    def is_full(self) -> bool:
        """Return whether a quota has no room for one memory more; one that takes another's place needs none."""
        return self.room.memories is not None and self.gained >= self.room.memories

    def refuse_by_quota(self, turn_id: str, quota: str, scope: Scope) -> None:
        """Say in the audit and in an event that a quota bit: of `memories`, `turns` or `sources`."""
        QUOTAS.labels(quota, scope).inc()
        self.audit_refusal(AuditAction.REFUSED, turn_id, f"{OVER_QUOTA} {quota} of the {scope}")
        message = f"the {scope} is over the quota of {quota}"
        self.emit(EventName.ERROR, {"turn_id": turn_id, "code": "quota", "message": message, "scope": scope})

    def queue_review(self, review: Review) -> None:
        """Have a person decide on a candidate, or on what may be forgotten; the audit's line names the review."""
        line = self._entry(AuditAction.QUARANTINED, review.reason, turn_id=review.said_in)
        line.details[REVIEW] = str(review.id)
        self.audit.append(line)
        self.reviews.append(review)

    def close_review(
        self, review: Review, status: ReviewStatus, memory: Memory | None, reason: str | None = None
    ) -> None:
        """End a review, with a line of what was decided; the reason is the review's own unless another is given."""
        self.settled.append(Settlement(review_id=review.id, status=status, by=self.by))
        if status is ReviewStatus.REJECTED:
            self._announce_dropped(review)
        id_ = memory.id if memory else None
        became = {"id": str(id_)} if id_ else {}
        # Behind what drops all that was told of it before.
        self.emit(EventName.REVIEW_DECIDED, {"review": str(review.id), "status": status.value, **became})
        line = self._entry(AuditAction(status.value), reason or review.reason, memory_id=id_, turn_id=review.said_in)
        self.audit.append(line)

    def withdraw_review(self, review: Review, reason: str) -> None:
        """Drop what waits for a person."""
        if review in self.reviews:
            self.reviews.remove(review)
        else:
            self.withdrawn.append(review.id)
            self._announce_dropped(review)
        self.audit.append(self._entry(AuditAction.DELETED, reason, turn_id=review.said_in))

    def set_preference(self, preference: Preference, turn_id: str, reason: str) -> None:
        """Note what the subject wants of their memory from now on."""
        if preference.stands_alone:
            self.preferred = {preferred: None for preferred in self.preferred if preferred.name is not preference.name}
        self.unpreferred.pop(preference, None)
        self.preferred[preference] = None
        self.audit.append(self._entry(AuditAction.PREFERENCE, reason, turn_id=turn_id))

    def unset_preference(self, preference: Preference, turn_id: str, reason: str) -> None:
        """Note what the subject no longer wants."""
        self.preferred.pop(preference, None)
        self.unpreferred[preference] = None
        self.audit.append(self._entry(AuditAction.PREFERENCE, reason, turn_id=turn_id))

    def created(self) -> tuple[Memory, ...]:
        """Return the memories that the catalog does not have yet."""
        return tuple(
            memory.model_copy(update={"version": 1})
            for id_ in self.changed
            if id_ not in self.read and (memory := self.current.get(id_))
        )

    def updated(self) -> tuple[Memory, ...]:
        """Return the memories that were changed, at the version that the write makes."""
        # However often a batch touched a memory, the catalog sees one write of it.
        return tuple(
            memory.model_copy(update={"version": before.version + 1})
            for id_ in self.changed
            if (before := self.read.get(id_)) and (memory := self.current.get(id_))
        )

    def deleted(self) -> tuple[Memory, ...]:
        """Return the memories that were removed, as the catalog has them."""
        return tuple(self.read[id_] for id_ in self.changed if id_ in self.read and id_ not in self.current)

    def changes(self, fence: int | None = None) -> Changes:
        """Return all that was decided, to be written under a lease's token where there is one."""
        return Changes(
            subject=self.subject,
            at=self.now,
            fence=fence,
            created=self.created(),
            updated=self.updated(),
            deleted=self.deleted(),
            reduced=tuple(self.reduced.values()),
            audit=tuple(self.audit),
            events=tuple(self.events),
            reviews=tuple(self.reviews),
            settled=tuple(self.settled),
            withdrawn=tuple(self.withdrawn),
            preferred=tuple(self.preferred),
            unpreferred=tuple(self.unpreferred),
            consent_given_at=self.consent_given_at,
        )

    def _put(self, memory: Memory) -> None:
        if (before := self.current.get(memory.id)) and before.summary != memory.summary:
            self.vectors.pop(memory.id, None)
        self.current[memory.id] = memory
        self.changed[memory.id] = None

    def _note(self, action: AuditAction, memory: Memory, reason: str) -> None:
        turn_id = memory.source_turn_ids[-1] if memory.source_turn_ids else None
        self.audit.append(self._entry(action, reason, memory_id=memory.id, turn_id=turn_id))

    def _entry(
        self, action: AuditAction, reason: str, *, memory_id: uuid.UUID | None = None, turn_id: str | None = None
    ) -> AuditEntry:
        return AuditEntry(
            action=action,
            **self.subject.model_dump(),
            at=self.now,
            by=self.by,
            reason=reason,
            memory_id=memory_id,
            turn_id=turn_id,
            policy_version=self.policy_version,
            details=dict(self.made_by),
        )

    def _announce(self, name: EventName, memory: Memory, links: dict[str, str] | None = None) -> None:
        self.events.append(Event.about(memory, name, self.now, **(links or {})))

    def _announce_dropped(self, review: Review) -> None:
        self.events.append(self._event(EventName.DELETED, {"review": str(review.id)}))

    def _event(self, name: EventName, payload: dict[str, Any]) -> Event:
        return Event(name=name, **self.subject.model_dump(), at=self.now, payload=payload)
