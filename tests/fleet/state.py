"""Compares what the stores hold with what a load must have left, and counts every kind of difference."""

from __future__ import annotations

import uuid
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from typing import Any

from schema import AuditAction, Memory, Status, Subject
from stores.catalog import Outcome, tables
from stores.catalog.engine import create_catalog_engine
from stores.catalog.rows import memory_of
from stores.queue import DEAD_LETTER_QUEUE, INGEST_QUEUE, NIGHTLY_QUEUE
from tests.fleet.fleet import Fleet
from tests.fleet.load import Said
from tests.fleet.oracle import Call

_KEPT_BY_CELERY = (b"_kombu", b"unacked", b"afterturn:beat:", INGEST_QUEUE.encode(), NIGHTLY_QUEUE.encode())


@dataclass(frozen=True)
class Tally:
    """How many turns were compared, and what was wrong with them. `examples` are a few of the differences."""

    turns: int
    lost: int = 0
    doubled: int = 0
    misordered: int = 0
    crossed: int = 0
    overlaps: int = 0
    not_indexed: int = 0
    examples: tuple[str, ...] = field(default=(), compare=False)


def tally(fleet: Fleet, *, dead: Collection[str] = (), frozen: Collection[int] = ()) -> Tally:
    """Compare everything with what all that was said must have left.

    Turns in `dead` are dead letters. Calls of processes in `frozen` do not count as overlapping, for nobody could know
    that they were not over.
    """
    stored, load = _Stored.of(fleet), fleet.said
    found = Counter[str]()
    examples = []
    for what, example in [*_differences(stored, load, set(dead)), *_overlaps(fleet.oracle.calls(), set(frozen))]:
        found[what] += 1
        if found[what] <= 3:
            examples.append(f"{what}: {example}")
    for example in _not_indexed(fleet, stored):
        found["not_indexed"] += 1
        examples.append(f"not indexed: {example}")
    return Tally(len(load), **found, examples=tuple(examples[:12]))


def assert_all_as_said(fleet: Fleet, *, dead: Collection[str] = (), frozen: Collection[int] = ()) -> None:
    """Everything is as what was said must leave it, mailboxes are empty and nothing stays in Redis for ever."""
    found = tally(fleet, dead=dead, frozen=frozen)
    assert found == Tally(len(fleet.said)), found
    assert left_in_mailboxes(fleet) == []
    assert lasting_keys(fleet) == ({DEAD_LETTER_QUEUE} if dead else set())
    assert fleet.redis.llen(DEAD_LETTER_QUEUE) >= len(dead)


def left_in_mailboxes(fleet: Fleet) -> list[str]:
    """The keys that stand only while turns are pending, in work or failing."""
    suffixes = ("order", "turns", "deliveries", "failures", "lease", "retry")
    keys = (key.decode() for key in fleet.redis.scan_iter("afterturn:mailbox:*", count=1000))
    return sorted(key for key in keys if key.endswith((*suffixes, "pending", "dirty")))


def lasting_keys(fleet: Fleet) -> set[str]:
    """The keys that never expire, but for those that Celery and beat must keep."""
    keys = [key for key in fleet.redis.scan_iter(count=1000) if not key.startswith(_KEPT_BY_CELERY)]
    pipeline = fleet.redis.pipeline(transaction=False)
    for key in keys:
        pipeline.ttl(key)
    return {key.decode() for key, seconds in zip(keys, pipeline.execute(), strict=True) if seconds == -1}


@dataclass(frozen=True)
class _Stored:
    """What the catalog holds, by subject and turn."""

    ledger: dict[tuple[Subject, str], str]
    memories: dict[uuid.UUID, Memory]
    sources: set[tuple[Subject, str]]
    audit: list[tuple[Subject, str, str | None, uuid.UUID | None]]

    @classmethod
    def of(cls, fleet: Fleet) -> _Stored:
        engine = create_catalog_engine(fleet.settings.effective_catalog_url)

        def whose(row: Any) -> Subject:
            return Subject(tenant_id=row.tenant_id, subject_id=row.subject_id)

        with closing(engine.connect()) as connection:
            memories = (memory_of(row.document) for row in connection.execute(tables.memories.select()))
            audit = connection.execute(tables.audit.select().order_by(tables.audit.c.id))
            stored = cls(
                {(whose(row), row.turn_id): row.outcome for row in connection.execute(tables.ledger.select())},
                {memory.id: memory for memory in memories},
                {(whose(row), row.turn_id) for row in connection.execute(tables.sources.select())},
                [(whose(row), row.action, row.turn_id, row.memory_id) for row in audit],
            )
        engine.dispose()
        return stored


def _differences(stored: _Stored, load: Sequence[Said], dead: set[str]) -> Iterator[tuple[str, str]]:
    alive = [said for said in load if said.turn_id not in dead]
    yield from _of_turns(stored, load, dead)
    yield from _of_memories(stored, alive)
    yield from _of_audit(stored, alive)


def _of_turns(stored: _Stored, load: Sequence[Said], dead: set[str]) -> Iterator[tuple[str, str]]:
    due = {(said.subject, said.turn_id) for said in load}
    for key in due:
        outcome = stored.ledger.get(key)
        if outcome != (Outcome.DEAD if key[1] in dead else Outcome.KEPT):
            yield "lost", f"turn {key[1]} is {outcome} in the ledger"
        if (key in stored.sources) != (key[1] not in dead):
            yield "lost", f"the source of turn {key[1]}"
    for _, turn_id in stored.ledger.keys() - due:
        yield "crossed", f"turn {turn_id} is in the ledger of somebody else"
    for _, turn_id in stored.sources - due:
        yield "crossed", f"turn {turn_id} is a source of somebody else"


def _of_memories(stored: _Stored, alive: Sequence[Said]) -> Iterator[tuple[str, str]]:
    for id_ in stored.memories.keys() - {said.memory_id for said in alive}:
        yield "doubled", f"nobody said {stored.memories[id_].facts}"
    by_value = sorted(alive, key=lambda said: (said.tenant, said.user, said.attribute, said.number))
    for _, of_attribute in groupby(by_value, key=lambda said: (said.tenant, said.user, said.attribute)):
        chain = list(of_attribute)
        for before, said, after in zip([None, *chain[:-1]], chain, [*chain[1:], None], strict=True):
            memory = stored.memories.get(said.memory_id)
            if memory is None:
                yield "lost", f"the memory of turn {said.turn_id}"
                continue
            [told] = memory.facts or [None]
            if memory.subject != said.subject or told is None or told.entity != said.user:
                yield "crossed", f"turn {said.turn_id} made a memory of {memory.subject} about {memory.facts}"
            if (
                memory.source_turn_ids != (said.turn_id,)
                or memory.access_count
                or told is None
                or (
                    told.attribute,
                    told.object,
                )
                != (said.attribute, said.value)
            ):
                yield "doubled", f"the memory of turn {said.turn_id} was merged with {memory.source_turn_ids}"
            links = (memory.supersedes, memory.superseded_by, memory.status)
            if links != (
                (before.memory_id,) if before else (),
                after.memory_id if after else None,
                Status.SUPERSEDED if after else Status.ACTIVE,
            ):
                yield "misordered", f"{said.attribute} {said.value} of {said.user} is {links}"


def _of_audit(stored: _Stored, alive: Sequence[Said]) -> Iterator[tuple[str, str]]:
    number = {(said.subject, said.turn_id): said.number for said in alive}
    created: dict[Subject, list[int]] = defaultdict(list)
    seen = Counter((action, memory_id) for _, action, _, memory_id in stored.audit)
    for (action, memory_id), times in seen.items():
        if times > 1 or action not in (AuditAction.CREATED, AuditAction.SUPERSEDED):
            yield "doubled", f"{times} times {action} of {memory_id}"
    for subject, action, turn_id, _ in stored.audit:
        if action == AuditAction.CREATED and turn_id is not None and (subject, turn_id) in number:
            created[subject].append(number[subject, turn_id])
    for subject, numbers in created.items():
        for one, following in pairwise(numbers):
            if following < one:
                yield "misordered", f"turn {one} of {subject.key} was written before turn {following}"


def _overlaps(calls: Sequence[Call], frozen: set[int]) -> Iterator[tuple[str, str]]:
    running: dict[str, Call] = {}
    for call in calls:
        if call.process in frozen or call.end is None:
            continue
        before = running.get(call.subject)
        if before is not None and before.end is not None and before.end > call.start:
            seconds = before.end - call.start
            yield "overlaps", f"two calls of {call.subject} for {seconds:.3f} s: {before} and {call}"
        running[call.subject] = call


def _not_indexed(fleet: Fleet, stored: _Stored) -> Iterator[str]:
    index = fleet.stores.index
    by_subject: dict[Subject, list[Memory]] = defaultdict(list)
    for memory in stored.memories.values():
        by_subject[memory.subject].append(memory)
    for subject, memories in by_subject.items():
        entries = {entry.key: entry.status for entry in index.fetch(subject, [memory.index_key for memory in memories])}
        for memory in memories:
            if entries.get(memory.index_key) != memory.status:
                yield f"{memory.facts} is {entries.get(memory.index_key)} in the index and {memory.status}"
    if (extra := index.count() - len(stored.memories)) > 0:
        yield f"{extra} that the catalog does not know"
